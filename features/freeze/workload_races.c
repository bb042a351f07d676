// SPDX-License-Identifier: GPL-2.0-only
/* Tasks that pass for frozen, or lose that state behind the freezer's back. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "exiting.h"
#include "freezer.h"
#include "inject.h"
#include "lull.h"
#include "race.h"
#include "suspend.h"
#include "task.h"
#include "util.h"

/* Who does not end within that time is kept. */
#define ENDS_MS 5000

/* FZ1: a task is held between exit_notify() and TASK_DEAD. */
static int fz1_round(const struct job_case *c, const char *mode, struct sample *s)
{
	int ret;

	if (race_begin(c) < 0 || race_hold(c, "dying_hold") < 0 ||
	    race_start(HOLD, race_at_once) < 0 || lull_check_wait("freeze", "held", 1) < 0)
		return -1;
	ret = freezer_cycle(s, false);
	if (!ret)
		ret = race_verdict(c, "FZ1", mode, lull_check("freeze", "held_at_end"));
	/* The next round's task must be the only one that is held. */
	race_wait_none("held");
	race_end();
	return ret;
}

/*
 * FZ1: a thread that nobody traces reaps itself in exit_notify(). The first walk
 * saw it; it is off the list, and held, when the second begins. A thaw meanwhile
 * has everybody visited anew.
 */
static int fz1_thread_round(const struct job_case *c, const char *mode, struct sample *s)
{
	bool thaw = job_number(c, "thaw");
	pid_t other = -1;
	int ret;

	if (race_begin(c) < 0 || race_hold(c, "dying_hold") < 0 ||
	    inject_number("freeze", "exit_hold", UNTIL_BETWEEN) < 0 ||
	    inject_number("freeze", "thaw_between", thaw) < 0 ||
	    race_start(HOLD, race_by_thread) < 0 ||
	    lull_check_wait("freeze", "exit_held", 1) < 0)
		return -1;
	other = crew_fork(THAW);
	if (other < 0)
		return -1;
	if (!other)
		race_in_naps();
	ret = race_runs() < 0 ? -1 : freezer_cycle(s, false);
	if (!ret && thaw && !lull_check("freeze", "thawed_between"))
		ret = fail(STATUS_UNMET, "FZ1", "nobody was thawed: the test tested nothing");
	if (!ret)
		ret = race_verdict(c, "FZ1", mode, lull_check("freeze", "held_at_end"));
	inject_number("freeze", "thaw_between", 0);
	/* Whatever came of it, nobody is to be held any longer. */
	inject_number("freeze", "dying_hold", LET_GO);
	race_wait_none("held");
	race_end();
	crew_end(&other);
	return ret;
}

/* FZ3: a process whose leader has ended, and whose one thread wakes in the window. */
static int fz3_round(const struct job_case *c, const char *mode, struct sample *s)
{
	int ret = -1;

	if (race_begin(c) < 0 || inject_number("freeze", "window_ms", 200) < 0 ||
	    race_start("lull-leader", race_without_leader) < 0)
		return -1;
	if (!task_comes_to(race_victim, "Z", ENDS_MS))
		ret = fail(STATUS_UNMET, "FZ3", "the leader does not end");
	else if (race_runs() == 0 && freezer_cycle(s, false) == 0)
		ret = race_verdict(c, "FZ3", mode, lull_check("freeze", "escapes"));
	race_end();
	return ret;
}

/*
 * FZ6: a task that was frozen in place is thawed between two walks, as v1
 * cgroups do it, and nobody signals it.
 */
static int fz6_one(const struct job_case *c, struct sample *s, bool company)
{
	pid_t self = getpid(), other = -1;
	int ret;

	if (race_begin(c) < 0 || inject_number("freeze", "window_ms", 200) < 0 ||
	    inject_number("freeze", "thaw_between", 1) < 0 ||
	    race_start(THAW, race_in_naps) < 0 || race_runs() < 0)
		return -1;
	/*
	 * With somebody who runs and has to be waited for, the first wait is in
	 * the user phase; else in the kernel phase.
	 */
	if (company) {
		other = fork();
		if (!other) {
			crew_member(self);
			race_busily();
		}
	}
	sleep_ms(50);
	ret = freezer_cycle(s, false);
	inject_number("freeze", "thaw_between", 0);
	crew_end(&other);
	race_end();
	if (!ret && !lull_check("freeze", "thawed_between"))
		ret = fail(STATUS_UNMET, "FZ6", "nobody was thawed: the test tested nothing");
	return ret;
}

static int fz6_round(const struct job_case *c, const char *mode, struct sample *s)
{
	/* A nap that ends just then has its task signalled, and nobody escapes. */
	int tries = job_number(c, "expect") ? 6 : 1;

	for (int company = 0; company < 2; company++) {
		uint64_t escapes = 0;

		for (int i = 0; i < tries && !escapes; i++) {
			if (fz6_one(c, s, company) < 0)
				return -1;
			escapes = lull_check("freeze", "escapes");
		}
		if (race_verdict(c, "FZ6", mode, escapes) < 0)
			return -1;
	}
	return 0;
}

/*
 * FZ7: a task leaves a v1 cgroup's refrigerator, found no request, and is
 * TASK_FROZEN still when the freezer comes.
 */
static int fz7_round(const struct job_case *c, const char *mode, struct sample *s)
{
	int error;

	if (race_begin(c) < 0 || race_start(HOLD, race_busily) < 0 ||
	    cgroup_attach(&race_cgroup, race_victim) < 0 || cgroup_freeze(&race_cgroup) < 0)
		return -1;
	if (race_hold(c, "left_hold") < 0 ||
	    cgroup_set(&race_cgroup, "freezer.state", "THAWED") < 0 ||
	    lull_check_wait("freeze", "left_held", 1) < 0)
		return -1;
	/* No measured cycle: to clear the trace waits for who is held. */
	error = suspend_cycle();
	sample_add(s, "windows", lull_check("freeze", "windows"));
	inject_number("freeze", "left_hold", LET_GO);
	race_end();
	return error ? suspend_failed(error) :
		       race_verdict(c, "FZ7", mode, lull_check("freeze", "escapes"));
}

/* What became of the task, and whether its cgroup has frozen it where it slept. */
struct fz9 {
	bool in_place, stayed, went;
};

/* FZ9: cgroup freeze, PM freeze, PM thaw, cgroup thaw; the task lives on. */
static int fz9_try(const struct job_case *c, struct sample *s, void (*body)(void),
		   bool thaw_between, struct fz9 *got)
{
	uint64_t sleeps;

	if (race_begin(c) < 0 || race_start(THAW, body) < 0 ||
	    cgroup_attach(&race_cgroup, race_victim) < 0 || race_runs() < 0)
		return -1;
	/* Who naps has just woken, and is to be asleep again. */
	sleep_ms(10);
	sleeps = task_sleeps(race_victim);
	if (cgroup_freeze(&race_cgroup) < 0)
		return -1;
	/* Who was awake, or woken to go to the refrigerator, has slept once more. */
	got->in_place = task_sleeps(race_victim) == sleeps;
	if (inject_number("freeze", "thaw_between", thaw_between) < 0 ||
	    freezer_cycle(s, false) < 0)
		return -1;
	inject_number("freeze", "thaw_between", 0);
	if (thaw_between && !lull_check("freeze", "thawed_between"))
		return fail(STATUS_UNMET, "FZ9", "nobody was thawed: the test tested nothing");
	/* A thaw behind the cgroup's back is none of the task's doing. */
	got->stayed = thaw_between || !race_moves(4 * race_nap_ms);
	/* Who was on its way to the refrigerator has come there. */
	if (!job_number(c, "expect"))
		got->in_place &= task_sleeps(race_victim) == sleeps;
	if (cgroup_set(&race_cgroup, "freezer.state", "THAWED") < 0)
		return -1;
	got->went = race_moves(RACE_LIMIT_MS);
	race_end();
	return 0;
}

static int fz9_one(const struct job_case *c, const char *mode, struct sample *s,
		   void (*body)(void), const char *how, bool thaw_between)
{
	bool naps = body == race_in_naps;
	/* Only who was frozen in place can go on without noticing. */
	bool escapes = job_number(c, "expect") && naps && !thaw_between;
	struct fz9 got = { .stayed = true, .went = true };
	/* One that happens to be awake is signalled, and is not: naps become longer. */
	int tries = naps ? 6 : 1;

	race_nap_ms = RACE_NAP_MS;
	for (; tries && got.stayed && got.went && (escapes || !got.in_place); tries--) {
		if (fz9_try(c, s, body, thaw_between, &got) < 0)
			return -1;
		race_nap_ms *= 2;
	}
	race_nap_ms = RACE_NAP_MS;
	/* Nor did it show, where it is to: who lacks a safeguard may have been lucky. */
	if (naps && got.stayed && got.went && (escapes || !got.in_place))
		return fail(STATUS_UNMET, "FZ9", "%s: nobody was frozen in place, or moved", mode);
	return inject_verdict(c, "FZ9", mode, got.stayed != escapes && got.went, ", %s%s: %s, %s",
			      how, thaw_between ? ", thawed meanwhile" : "",
			      got.stayed ? "stayed frozen" :
					   "ran although its cgroup is frozen",
			      got.went ? "ran again" : "never ran again");
}

static int fz9_round(const struct job_case *c, const char *mode, struct sample *s)
{
	for (int between = 0; between < 2; between++) {
		if (fz9_one(c, mode, s, race_busily, "in the refrigerator", between) < 0 ||
		    fz9_one(c, mode, s, race_in_naps, "frozen in place", between) < 0)
			return -1;
	}
	return 0;
}

/*
 * FZ8: a task is in its exit when its v1 cgroup is frozen, and so far that the cgroup
 * does not find it, neither then nor when it is thawed. PM freezes it in between.
 */
static int fz8_exiting_round(const struct job_case *c, const char *mode, struct sample *s)
{
	bool ended;

	(void)s;
	if (race_begin(c) < 0 || exiting_try(&race_cgroup, ENDS_MS, &ended) < 0)
		return -1;
	return race_verdict(c, "FZ8", mode, !ended);
}

RACE(fz1, "a task held between exit_notify() and TASK_DEAD", race_setup);
RACE(fz1_thread, "a thread that has reaped itself, held before TASK_DEAD", race_setup);
RACE(fz3, "a thread that has outlived its leader", race_setup);
RACE(fz6, "a task thawed between two walks", race_setup);
RACE(fz7, "a task held on its way out of the refrigerator", race_cgroup_setup);
RACE(fz8_exiting, "a task in its exit whose cgroup is frozen meanwhile", race_cgroup_setup);
RACE(fz9, "cgroup freeze around PM freeze", race_cgroup_setup);
