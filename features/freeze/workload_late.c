// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is held in fork or exec, where the freezer cannot ask it yet, and goes on
 * when the freezer has passed (FZ6 i and iii).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "freezer.h"
#include "helper.h"
#include "inject.h"
#include "lull.h"
#include "race.h"
#include "util.h"

#define EXECED "lull-execed"

static bool is_execed(int argc, char **argv)
{
	return argc > 0 && !strcmp(argv[0], EXECED);
}

static int run_execed(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (;;)
		getppid();
	return 0;
}

static const struct applet execed = { .claims = is_execed, .run = run_execed };

APPLET(execed);

static void exec_busily(void)
{
	char *argv[] = { (char *)EXECED, NULL };

	execv("/proc/self/exe", argv);
}

static int exec_setup(const struct job_case *c)
{
	return race_setup(c) < 0 ? -1 : helper_install();
}

static int hold(const struct job_case *c, const char *where, unsigned int until)
{
	return race_begin(c) < 0 || inject_number("freeze", "window_ms", 500) < 0 ?
	       -1 : inject_number("freeze", where, until);
}

static int freeze_with(const struct job_case *c, const char *held, const char *mode,
		       struct sample *s)
{
	if (lull_check_wait("freeze", held, 1) < 0 || freezer_cycle(s, false) < 0)
		return -1;
	if (lull_check("freeze", held))
		return fail(STATUS_FAILED, held, "who was held was never let go");
	return race_verdict(c, "FZ5", mode, lull_check("freeze", "escapes"));
}

/* A helper that nobody waits for, which is a child of kthreadd. */
static int exec_frozen_round(const struct job_case *c, const char *mode, struct sample *s)
{
	if (hold(c, "exec_hold", UNTIL_FROZEN) < 0)
		return -1;
	if (helper_call(HELPER_LONG) < 0)
		return fail(STATUS_LACKING, "uevent", "the kernel calls no helper: %s",
			    strerror(errno));
	if (freeze_with(c, "exec_held", mode, s) < 0)
		return -1;
	/* Who does not ask it to freeze sends it no signal either. */
	if (job_number(c, "expect"))
		return 0;
	if (!lull_check("freeze", "loaded"))
		return fail(STATUS_UNMET, "load", "no program was loaded while all were frozen");
	/* Who reads its program may be a server that takes a signal for an interrupt. */
	return inject_verdict(c, "load", mode, !lull_check("freeze", "interrupted"),
			      ": no signal is pending while the program is loaded");
}

/* One that is not, so that the kernel phase does not come across it. */
static int exec_between_round(const struct job_case *c, const char *mode, struct sample *s)
{
	int ret;

	if (hold(c, "exec_hold", UNTIL_BETWEEN) < 0 || race_start(HOLD, exec_busily) < 0)
		return -1;
	ret = freeze_with(c, "exec_held", mode, s);
	race_end();
	return ret;
}

static void fork_busily(void)
{
	pid_t self = getpid();

	if (!fork()) {
		crew_member(self);
		race_busily();
	}
	wait(NULL);
}

static int fork_between_round(const struct job_case *c, const char *mode, struct sample *s)
{
	int ret;

	if (hold(c, "fork_hold", UNTIL_BETWEEN) < 0 || race_start(HOLD, fork_busily) < 0)
		return -1;
	ret = freeze_with(c, "fork_held", mode, s);
	race_end();
	return ret;
}

RACE(fork_between, "a child that comes after the first walk", race_setup);
RACE(exec_frozen, "a helper held in exec until all are frozen", exec_setup);
RACE(exec_between, "a task held in exec until after the first walk", race_setup);
