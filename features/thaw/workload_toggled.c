// SPDX-License-Identifier: GPL-2.0-only
/*
 * FZ9 where nobody chooses the order: somebody freezes and thaws a v1 cgroup at
 * random moments before, while and after PM freezes the machine, that task too.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "crew.h"
#include "crowd.h"
#include "inject.h"
#include "lull.h"
#include "safety.h"
#include "suspend.h"
#include "unrest.h"
#include "util.h"
#include "workload.h"

/* The most that it does in one cycle, and waits before each. */
#define TOGGLES 6
#define PAUSE_US 2000

static struct crowd crowd;
static pid_t toggler;

/* Shared with it: up to which cycle it may go, where it is, what it wrote last. */
static struct turns {
	volatile uint32_t may, done;
	volatile uint32_t frozen;
} *turns;

static void toggle(void *arg)
{
	(void)arg;
	srandom(1);
	for (;;) {
		while (turns->done == turns->may)
			usleep(200);
		for (long n = random() % TOGGLES; n; n--) {
			usleep((useconds_t)(random() % PAUSE_US));
			if (crowd_freeze(&crowd, !turns->frozen) < 0)
				_exit(1);
			turns->frozen = !turns->frozen;
		}
		turns->done++;
	}
}

/* What went wrong so far: the first of it in words. */
struct found {
	unsigned int faults, rested;
	const char *name, *what;
};

static void found(struct found *f, unsigned int n, const char *name, const char *what)
{
	if (!f->faults) {
		f->name = name;
		f->what = what;
	}
	f->faults += n;
}

/* The cgroup is left as the last cycle has found, or made, it. */
static int look(struct found *f)
{
	const char *name;
	unsigned int moved;

	if (turns->frozen) {
		f->rested++;
		crowd_settled(&crowd);
	}
	if (crowd_poke(&crowd) < 0)
		return -1;
	if (turns->frozen) {
		sleep_ms(CROWD_STILL_MS);
		moved = crowd_moved(&crowd, &name);
		if (moved)
			found(f, moved, name, "ran though its cgroup is frozen");
		turns->frozen = 0;
		if (crowd_freeze(&crowd, false) < 0)
			return -1;
	}
	name = crowd_lost(&crowd);
	if (!name)
		return crowd_asleep(&crowd);
	found(f, 1, name, "never ran again");
	return check_interrupted();
}

static void toggled_end(void)
{
	unrest_stop();
	crew_end(&toggler);
	crowd_stop(&crowd);
}

static int toggled_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t cycles = job_number(c, "cycles");
	struct found f = { 0 };
	uint64_t i;

	if (crowd_start(&crowd, NULL) < 0)
		return -1;
	*turns = (struct turns){ 0 };
	toggler = trial_fork("lull-toggler", toggle, NULL);
	if (toggler < 0 || unrest_start(c) < 0)
		return -1;
	for (i = 0; unrest_goes_on(i, cycles, true) && !f.faults; i++) {
		turns->may++;
		if (suspend_once() < 0)
			return -1;
		if (!trial_reaches(&turns->done, turns->may))
			return fail(STATUS_FAILED, "toggled", "who toggles does not go on");
		if (look(&f) < 0)
			return -1;
		unrest_step();
	}
	crew_end(&toggler);
	crowd_stop(&crowd);
	sample_add(s, "rested", f.rested);
	if (!f.faults && !f.rested)
		return fail(STATUS_UNMET, "toggled", "in no cycle was the cgroup frozen after it");
	return unrest_end(inject_verdict(
		c, "FZ9", mode, !f.faults,
		": %llu cycles, %u with the cgroup frozen after it%s%s%s %s", (unsigned long long)i,
		f.rested, unrest_text(), f.faults ? ": " : "", f.faults ? f.name : "",
		f.faults ? f.what : ""));
}

static int toggled_setup(const struct job_case *c)
{
	if (!turns)
		turns = crew_memory(sizeof(*turns));
	if (!turns || trial_setup(c) < 0 || trial_patient(c) < 0)
		return -1;
	return lull_switch("freeze", "stock") < 0 ? -1 : crowd_group(&crowd);
}

static const struct workload_param params[] = {
	TRIAL_PARAMS,
	UNREST_PARAMS,
	{ "cycles", "30" },
	{ 0 },
};

static const struct workload workload_toggled = {
	.feature = "thaw",
	.name = "toggled",
	.text = "a cgroup freezes and thaws at random moments of PM's cycles",
	.params = params,
	.setup = toggled_setup,
	.round = toggled_round,
	.teardown = toggled_end,
};
WORKLOAD(workload_toggled);
