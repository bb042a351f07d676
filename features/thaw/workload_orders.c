// SPDX-License-Identifier: GPL-2.0-only
/*
 * FZ9: a task may be frozen by its v1 cgroup and by PM at once. In every order
 * in which the two come and go it rests while one of them is left, and no longer;
 * and a wakeup is not lost, whenever it was sent. All the same where the mode is
 * another one by then than when PM froze it.
 */
#include <stdio.h>
#include <string.h>

#include "crowd.h"
#include "inject.h"
#include "lull.h"
#include "safety.h"
#include "snapshot.h"
#include "util.h"
#include "workload.h"

/*
 * c and C: the cgroup freezes, and thaws; p and P: so does PM. All twelve orders
 * in which P comes after p; where C comes before c, the cgroup is frozen at first.
 */
static const char *const orders[] = {
	"cCpP", "cpCP", "cpPC", "pcCP", "pcPC", "pPcC",
	"CcpP", "CpcP", "CpPc", "pCcP", "pCPc", "pPCc",
};

#define EVENTS 4
#define NEVER EVENTS

static struct crowd crowd;

/* The round's mode, and the one that is left for while PM has all frozen, or NULL. */
static const char *own_mode, *other_mode;

/* What went wrong so far: the first of it in words. */
struct faults {
	unsigned int steps, n;
	bool lost;
	char first[120];
};

/* Who is frozen by what, and whether everybody was poked and may not answer. */
struct now {
	const char *order;
	unsigned int at;
	bool cgroup, pm, poked;
};

static void fault(struct faults *f, const struct now *now, unsigned int n, const char *name,
		  const char *what)
{
	if (!f->n)
		snprintf(f->first, sizeof(f->first), "%s %s, order %s after %c", name, what,
			 now->order, now->at < EVENTS ? now->order[now->at] : '-');
	f->n += n;
}

static void check_still(struct faults *f, const struct now *now)
{
	const char *name;
	unsigned int moved;

	sleep_ms(CROWD_STILL_MS);
	moved = crowd_moved(&crowd, &name);
	if (moved)
		fault(f, now, moved, name, "ran though to be frozen");
}

static int check_runs(struct faults *f, struct now *now)
{
	const char *name;

	if (!now->poked && crowd_poke(&crowd) < 0)
		return -1;
	now->poked = false;
	name = crowd_lost(&crowd);
	if (!name)
		return crowd_asleep(&crowd);
	f->lost = true;
	fault(f, now, 1, name, "never ran again");
	return check_interrupted();
}

static int pm_freeze(bool freeze)
{
	if ((freeze ? snapshot_freeze() : snapshot_thaw()) < 0)
		return -1;
	return other_mode ? lull_switch("thaw", freeze ? other_mode : own_mode) : 0;
}

static int happen(struct now *now, char event)
{
	switch (event) {
	case 'c':
	case 'C':
		now->cgroup = event == 'c';
		return crowd_freeze(&crowd, now->cgroup);
	case 'p':
	case 'P':
		now->pm = event == 'p';
		return pm_freeze(now->pm);
	default:
		return -1;
	}
}

static int step(struct faults *f, struct now *now, bool poke)
{
	f->steps++;
	if (!now->cgroup && !now->pm)
		return check_runs(f, now);
	crowd_settled(&crowd);
	if (poke) {
		if (crowd_poke(&crowd) < 0)
			return -1;
		now->poked = true;
	}
	if (now->poked)
		check_still(f, now);
	return check_interrupted();
}

static bool thaws_first(const char *order)
{
	return strchr(order, 'C') < strchr(order, 'c');
}

/* Whether anything freezes them after that event. */
static bool rests_at(const char *order, unsigned int at)
{
	bool cgroup = thaws_first(order), pm = false;

	for (unsigned int i = 0; i <= at; i++) {
		if (order[i] == 'c' || order[i] == 'C')
			cgroup = order[i] == 'c';
		else
			pm = order[i] == 'p';
	}
	return cgroup || pm;
}

/* One order, with a wakeup to all after that event. */
static int run_order(struct faults *f, const char *order, unsigned int poke_at)
{
	struct now now = { .order = order };

	if (thaws_first(order)) {
		if (happen(&now, 'c') < 0)
			return -1;
		crowd_settled(&crowd);
	}
	for (; now.at < EVENTS && !f->lost; now.at++) {
		if (happen(&now, order[now.at]) < 0 || step(f, &now, now.at == poke_at) < 0)
			return -1;
	}
	if (f->lost || !now.cgroup)
		return 0;
	return happen(&now, 'C') < 0 ? -1 : step(f, &now, false);
}

static int orders_round(const struct job_case *c, const char *mode, struct sample *s)
{
	struct faults f = { 0 };
	unsigned int tasks;
	/* Whom stock freezes in place has stock's fault where stock thaws. */
	int ret = crowd_start(&crowd, other_mode ? crowd_pm_kinds : NULL);

	own_mode = mode;
	for (unsigned int i = 0; i < ARRAY_SIZE(orders); i++) {
		for (unsigned int at = 0; at <= NEVER && !ret && !f.n; at++) {
			if (at == NEVER || rests_at(orders[i], at))
				ret = run_order(&f, orders[i], at);
		}
	}
	if (ret < 0)
		return ret;
	tasks = crowd.n;
	crowd_stop(&crowd);
	sample_add(s, "steps", f.steps);
	sample_add(s, "faults", f.n);
	return inject_verdict(c, "FZ9", mode, !f.n, ": %u tasks, %u steps, %u faults%s%s", tasks,
			      f.steps, f.n, f.n ? ": " : "", f.first);
}

static int orders_setup(const struct job_case *c)
{
	other_mode = job_param(c, "leave_for");
	if (!strcmp(other_mode, INJECT_NONE))
		other_mode = NULL;
	return trial_setup_alone(c) < 0 ? -1 : crowd_group(&crowd);
}

static void orders_teardown(void)
{
	snapshot_end();
	crowd_stop(&crowd);
}

static const struct workload_param params[] = {
	TRIAL_PARAMS,
	/* Another mode, once PM has frozen all and until it has thawed them. */
	{ "leave_for", INJECT_NONE },
	{ 0 },
};

static const struct workload workload_orders = {
	.feature = "thaw",
	.name = "orders",
	.text = "cgroup freeze and thaw around, within and across PM's, in every order",
	.params = params,
	.setup = orders_setup,
	.round = orders_round,
	.teardown = orders_teardown,
};
WORKLOAD(workload_orders);
