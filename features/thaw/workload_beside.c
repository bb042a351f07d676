// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two wait exclusively for the same, and the first in the queue is in a frozen
 * v1 cgroup while the other is free: the other one is to get what comes. A task
 * that was left frozen in its wait would swallow the wakeup.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "crew.h"
#include "crowd.h"
#include "inject.h"
#include "lull.h"
#include "safety.h"
#include "snapshot.h"
#include "util.h"
#include "workload.h"

static const char *const kinds[] = {
	"pipe-read", "udp", "unix-dgram", "tcp-accept", "unix-accept", NULL,
};

/*
 * When the cgroup freezes, by events as in workload_orders.c: while nothing else
 * does; while PM has frozen both; the same, with a first wakeup before the thaw.
 */
static const struct when {
	const char *check, *events, *text;
} whens[] = {
	{ "FZ8", "c", "cgroup frozen" },
	{ "FZ9", "pcP", "cgroup frozen within PM's freeze" },
	{ "FZ9", "pcwP", "cgroup frozen, and a wakeup, within PM's freeze" },
};

/* The first waits in the cgroup. Both look where the first one does. */
static struct pair *pairs;
static pid_t pids[2];
static struct cgroup cgroup;

static int wake(void)
{
	struct pair *p = &pairs[0];

	if (p->kind->wake(p, ++p->sent) < 0)
		return fail(STATUS_FAILED, p->kind->name, "cannot wake who waits in %s: %s",
			    p->kind->name, strerror(errno));
	return 0;
}

static int happen(char event)
{
	switch (event) {
	case 'c':
		return cgroup_set(&cgroup, "freezer.state", "FROZEN");
	case 'p':
		return snapshot_freeze();
	case 'P':
		return snapshot_thaw();
	default:
		return wake();
	}
}

static int start(unsigned int i)
{
	pids[i] = trial_fork("lull-beside", crowd_member, &pairs[i]);
	if (pids[i] < 0)
		return -1;
	return pair_wait_asleep(&pairs[i]);
}

/*
 * In this order, which is that of the queue. Each on a CPU that is not the one of who
 * thaws, which may stand still.
 */
static int start_both(const char *kind)
{
	if (pair_open(&pairs[0], pair_kind_named(kind)) < 0 || pin_begin(1) < 0)
		return -1;
	pairs[1] = pairs[0];
	if (start(0) < 0 || cgroup_attach(&cgroup, pids[0]) < 0 || start(1) < 0)
		return -1;
	return pin_cpu(0);
}

static void end_both(void)
{
	snapshot_end();
	/* A frozen task does not die of a signal. */
	if (cgroup.path[0])
		cgroup_set(&cgroup, "freezer.state", "THAWED");
	crew_end(&pids[0]);
	crew_end(&pids[1]);
	if (pairs)
		pair_close(&pairs[0]);
	pin_end();
}

/* Once the other one is gone, the first has the queue to itself. */
static int last_look(bool *lives)
{
	crew_end(&pids[1]);
	if (cgroup_set(&cgroup, "freezer.state", "THAWED") < 0)
		return -1;
	/* What nobody has taken is for it; else this is. */
	*lives = pairs[0].acked || (wake() == 0 && trial_reaches(&pairs[0].acked, 1));
	return check_interrupted();
}

static int try_one(const char *kind, const struct when *when, bool *got, bool *lives)
{
	if (start_both(kind) < 0)
		return -1;
	for (const char *event = when->events; *event; event++) {
		if (happen(*event) < 0)
			return -1;
	}
	/* In the refrigerator; a thaw has let go whom it wakes. */
	if (trial_state_wait(pids[0], "D") < 0 || trial_state_wait(pids[1], "S") < 0 ||
	    wake() < 0)
		return -1;
	*got = trial_reaches(&pairs[1].acked, 1) && !pairs[0].acked;
	if (last_look(lives) < 0)
		return -1;
	end_both();
	return 0;
}

/* 1, or 0 where a wakeup was swallowed. */
static int try_all(const struct job_case *c, const struct when *when, const char *mode)
{
	char bad[120] = "";
	bool got, lives;
	int ret;

	for (const char *const *kind = kinds; *kind; kind++) {
		if (try_one(*kind, when, &got, &lives) < 0)
			return -1;
		if (got && lives)
			continue;
		/* One is enough: each takes the whole limit. */
		snprintf(bad, sizeof(bad), "%s%s", *kind, got ? " (never woke again)" : "");
		break;
	}
	ret = inject_verdict(c, when->check, mode, !*bad, ", %s: a wakeup was swallowed in %s",
			     when->text, *bad ? bad : "none");
	return ret < 0 ? ret : !*bad;
}

static int beside_round(const struct job_case *c, const char *mode, struct sample *s)
{
	int ret = 1;

	if (job_number(c, "early") && lull_check_clear("thaw") < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(whens) && ret > 0; i++)
		ret = try_all(c, &whens[i], mode);
	if (ret < 0)
		return -1;
	/* In each kind of wait, while PM had it frozen, and with a wakeup before that. */
	if (ret > 0 && job_number(c, "early") &&
	    lull_check("thaw", "woken") < 2 * (ARRAY_SIZE(kinds) - 1))
		return fail(STATUS_UNMET, "early", "not all were woken before their turn");
	sample_add(s, "tries", ARRAY_SIZE(whens) * (ARRAY_SIZE(kinds) - 1));
	return 0;
}

static int beside_setup(const struct job_case *c)
{
	if (!pairs)
		pairs = crew_memory(2 * sizeof(*pairs));
	return !pairs || trial_setup(c) < 0 || lull_switch("freeze", "stock") < 0 ? -1 :
	       cgroup_make(&cgroup, CGROUP_V1_FREEZER, "lull-beside");
}

static const struct workload_param params[] = { TRIAL_PARAMS, { "early", "0" }, { 0 } };

static const struct workload workload_beside = {
	.feature = "thaw",
	.name = "beside",
	.text = "an exclusive waiter in a frozen cgroup, and a free one beside it",
	.params = params,
	.setup = beside_setup,
	.round = beside_round,
	.teardown = end_both,
};
WORKLOAD(workload_beside);
