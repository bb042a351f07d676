// SPDX-License-Identifier: GPL-2.0-only
/* Freezes that fail, as they should, and what the kernel's log says. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "crew.h"
#include "freezer.h"
#include "inject.h"
#include "knob.h"
#include "lull.h"
#include "race.h"
#include "util.h"

/* The one that was held is gone; are others frozen still? */
static int fz13_report(const struct job_case *c, const char *mode, const char *what,
		       const struct attempt *a, bool says)
{
	bool again, good;
	char text[240];

	/* Who does not refuse for as long is no reason to refuse it. */
	if (race_in_time("FZ13") < 0 || inject_number("freeze", "dying_hold", LET_GO) < 0)
		return -1;
	race_wait_none("held");
	race_end();
	if (race_start(THAW, race_in_naps) < 0)
		return -1;
	again = race_moves(RACE_LIMIT_MS);
	race_end();

	good = job_number(c, "expect") ? !a->err : a->err == EBUSY && says;
	snprintf(text, sizeof(text), "%s, %s: %s (%s), %s, %s", mode, what,
		 a->err ? "refused" : "not refused", a->err ? strerror(a->err) : "no error",
		 says ? "said why" : "did not say why",
		 again ? "everybody runs again" : "somebody does not run again");
	return report_check(c, "FZ13", good && again, text);
}

/* FZ13, first half: a task that refuses for longer than the timeout. */
static int fz13_timeout(const struct job_case *c, const char *mode)
{
	/* Who passes over the task has all the time that a slow host takes. */
	const char *limit = job_number(c, "expect") ? FREEZER_TIMEOUT_DEFAULT : "300";
	struct attempt a;
	bool says;

	if (knob_write(FREEZER_TIMEOUT, limit) < 0 ||
	    inject_number("freeze", "dying_hold", UNTIL_FROZEN) < 0 ||
	    race_start(HOLD, race_at_once) < 0 || lull_check_wait("freeze", "held", 1) < 0 ||
	    race_attempt(&a) < 0)
		return -1;
	says = race_log_has(&a, "refusing to freeze") && race_log_has(&a, HOLD);
	if (knob_write(FREEZER_TIMEOUT, FREEZER_TIMEOUT_DEFAULT) < 0)
		return -1;
	return fz13_report(c, mode, "a task that refuses", &a, says);
}

/* Second half: a wakeup that is pending when the freezer would wait. */
static int fz13_wakeup(const struct job_case *c, const char *mode)
{
	struct attempt a;
	char count[32];

	if (read_file("/sys/power/wakeup_count", count, sizeof(count)) <= 0)
		return fail(STATUS_LACKING, "/sys/power/wakeup_count", "cannot read it");
	if (inject_number("freeze", "dying_hold", UNTIL_FROZEN) < 0 ||
	    race_start(HOLD, race_at_once) < 0 || lull_check_wait("freeze", "held", 1) < 0)
		return -1;
	if (write_file("/sys/power/wakeup_count", count) < 0 ||
	    write_file("/sys/power/wake_lock", "lull") < 0)
		return fail(STATUS_LACKING, "/sys/power/wake_lock", "cannot write it: %s",
			    strerror(errno));
	if (race_attempt(&a) < 0)
		return -1;
	write_file("/sys/power/wake_unlock", "lull");
	return fz13_report(c, mode, "a pending wakeup", &a, race_log_has(&a, "aborted"));
}

static int fz13_round(const struct job_case *c, const char *mode, struct sample *s)
{
	if (race_begin(c) < 0 || fz13_timeout(c, mode) < 0)
		return -1;
	/* A mode that does not wait for that task does not see a wakeup either. */
	if (!job_number(c, "expect") && fz13_wakeup(c, mode) < 0)
		return -1;
	/* What was refused is granted now: nothing was left behind. */
	return freezer_cycle(s, false);
}

/* A thread that refuses, and is on no list when the kernel says who did. */
static int fz13_thread_round(const struct job_case *c, const char *mode, struct sample *s)
{
	struct attempt a;
	bool says;

	if (race_begin(c) < 0 || knob_write(FREEZER_TIMEOUT, "300") < 0 ||
	    inject_number("freeze", "dying_hold", UNTIL_FROZEN) < 0 ||
	    inject_number("freeze", "exit_hold", UNTIL_BETWEEN) < 0 ||
	    race_start(HOLD, race_by_thread) < 0 ||
	    lull_check_wait("freeze", "exit_held", 1) < 0 || race_attempt(&a) < 0)
		return -1;
	if (race_still_held())
		return race_no_time("FZ13");
	says = race_log_has(&a, "refusing to freeze") && race_log_has(&a, "task:" HOLD);
	if (knob_write(FREEZER_TIMEOUT, FREEZER_TIMEOUT_DEFAULT) < 0 ||
	    fz13_report(c, mode, "a thread that refuses", &a, says) < 0)
		return -1;
	return freezer_cycle(s, false);
}

/* Who was thawed by a freeze that failed writes to the switch, and lets it return. */
static void switch_while_held(const char *mode, volatile int *error)
{
	const char *other = strcmp(mode, "stock") ? "stock" : "lull";

	if (lull_check_wait("freeze", "fail_held", 1) < 0)
		_exit(1);
	if (write_file(SWITCH, other) < 0 || write_file(SWITCH, mode) < 0)
		*error = errno;
	else
		*error = 0;
	write_file(DEBUGFS "inject/fail_hold", "0");
	for (;;)
		pause();
}

static int switch_failed_round(const struct job_case *c, const char *mode, struct sample *s)
{
	static volatile int *error;
	struct attempt a;
	pid_t writer;

	(void)s;
	if (!error)
		error = crew_memory(sizeof(*error));
	if (!error || race_begin(c) < 0 || knob_write(FREEZER_TIMEOUT, "300") < 0 ||
	    inject_number("freeze", "dying_hold", UNTIL_FROZEN) < 0 ||
	    inject_number("freeze", "fail_hold", UNTIL_TOLD) < 0)
		return -1;
	*error = -1;
	writer = crew_fork(NULL);
	if (!writer)
		switch_while_held(mode, error);
	if (writer < 0 || race_start(HOLD, race_at_once) < 0 ||
	    lull_check_wait("freeze", "held", 1) < 0 || race_attempt(&a) < 0)
		return -1;
	crew_end(&writer);
	if (inject_number("freeze", "dying_hold", LET_GO) < 0)
		return -1;
	race_wait_none("held");
	race_end();
	if (knob_write(FREEZER_TIMEOUT, FREEZER_TIMEOUT_DEFAULT) < 0)
		return -1;
	if (race_in_time("switch") < 0)
		return -1;
	if (a.err != EBUSY || *error < 0)
		return fail(STATUS_UNMET, "switch", "no freeze failed, or nobody was thawed");
	return inject_verdict(c, "switch", mode, !*error, ": who is thawed may switch: %s",
			      strerror(*error));
}

/* Not a race: the lab has to see what the kernel's log says. */
static int warn_round(const struct job_case *c, const char *mode, struct sample *s)
{
	(void)c;
	(void)mode;
	if (write_file(DEBUGFS "inject/warn", "1") < 0)
		return fail(STATUS_FAILED, DEBUGFS "inject/warn", "cannot write it: %s",
			    strerror(errno));
	sample_add(s, "warned", 1);
	return 0;
}

RACE(fz13, "a task that refuses, and a pending wakeup", race_setup);
RACE(fz13_thread, "a thread that refuses and is on no list", race_setup);
RACE(switch_failed, "a switch while a freeze that failed is not over", race_setup);
RACE(warn, "a warning in the kernel's log", race_setup);
