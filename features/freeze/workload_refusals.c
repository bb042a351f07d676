// SPDX-License-Identifier: GPL-2.0-only
/* Freezes that fail, as they should, and what the kernel's log says. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "freezer.h"
#include "inject.h"
#include "knob.h"
#include "lull.h"
#include "race.h"
#include "suspend.h"
#include "util.h"

/* Suspend in the expectation that it fails; true when it did. */
#define TIMEOUT "/sys/power/pm_freeze_timeout"

/* Only what the kernel says from here on answers the next question. */
static int log_mark(char *mark, size_t size)
{
	static unsigned int number;

	snprintf(mark, size, "lull-probe: mark %u", ++number);
	if (write_file("/dev/kmsg", mark) < 0)
		return fail(STATUS_FAILED, "/dev/kmsg", "cannot write it: %s", strerror(errno));
	return 0;
}

static bool log_has(const char *mark, const char *text)
{
	char log[16000];
	const char *since;

	kernel_log_tail(log, sizeof(log), 200);
	since = strstr(log, mark);
	return since && strstr(since, text);
}

/* How a suspend went that should have failed. */
struct attempt {
	const char *what;
	char mark[40];
	int err;	/* an errno, 0 where it was not refused */
	bool says;	/* why, in the log */
};

static int attempt(struct attempt *a)
{
	if (log_mark(a->mark, sizeof(a->mark)) < 0)
		return -1;
	a->err = suspend_cycle();
	return 0;
}

/* The one that was held is gone; are others frozen still? */
static int fz13_report(const struct job_case *c, const char *mode, const struct attempt *a)
{
	bool again, good;
	char text[240];

	if (inject_number("freeze", "exit_hold", LET_GO) < 0)
		return -1;
	race_wait_none("held");
	race_end();
	if (race_start(THAW, race_in_naps) < 0)
		return -1;
	again = race_moves(2000);
	race_end();

	good = job_number(c, "expect") ? !a->err : a->err == EBUSY && a->says;
	snprintf(text, sizeof(text), "%s, %s: %s (%s), %s, %s", mode, a->what,
		 a->err ? "refused" : "not refused", a->err ? strerror(a->err) : "no error",
		 a->says ? "said why" : "did not say why",
		 again ? "everybody runs again" : "somebody does not run again");
	return report_check(c, "FZ13", good && again, text);
}

/* FZ13, first half: a task that refuses for longer than the timeout. */
static int fz13_timeout(const struct job_case *c, const char *mode)
{
	struct attempt a = { .what = "a task that refuses" };

	if (knob_write(TIMEOUT, "300") < 0 || inject_number("freeze", "exit_hold", UNTIL_FROZEN) < 0 ||
	    race_start(HOLD, race_at_once) < 0 || lull_check_wait("freeze", "held", 1) < 0 ||
	    attempt(&a) < 0)
		return -1;
	a.says = log_has(a.mark, "refusing to freeze") && log_has(a.mark, HOLD);
	if (knob_write(TIMEOUT, "20000") < 0)
		return -1;
	return fz13_report(c, mode, &a);
}

/* Second half: a wakeup that is pending when the freezer would wait. */
static int fz13_wakeup(const struct job_case *c, const char *mode)
{
	struct attempt a = { .what = "a pending wakeup" };
	char count[32];

	if (read_file("/sys/power/wakeup_count", count, sizeof(count)) <= 0)
		return fail(STATUS_LACKING, "/sys/power/wakeup_count", "cannot read it");
	if (inject_number("freeze", "exit_hold", UNTIL_FROZEN) < 0 ||
	    race_start(HOLD, race_at_once) < 0 || lull_check_wait("freeze", "held", 1) < 0)
		return -1;
	if (write_file("/sys/power/wakeup_count", count) < 0 ||
	    write_file("/sys/power/wake_lock", "lull") < 0)
		return fail(STATUS_LACKING, "/sys/power/wake_lock", "cannot write it: %s",
			    strerror(errno));
	if (attempt(&a) < 0)
		return -1;
	a.says = log_has(a.mark, "aborted");
	write_file("/sys/power/wake_unlock", "lull");
	return fz13_report(c, mode, &a);
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
RACE(warn, "a warning in the kernel's log", race_setup);
