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
/* How long all stay frozen, at first and at most: a slow machine takes long to load a program. */
#define WINDOW_MS 500
#define WINDOW_MAX_MS 8000

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

#define FILES(_where) _where "_hold", DEBUGFS "inject/" _where "_hold", _where "_held"

/* Who is held where, until when, and what begins it. */
struct late {
	const char *hold, *file, *held;
	unsigned int until;
	int (*begin)(void);
};

static int freeze_with(const struct job_case *c, const struct late *late, unsigned int window_ms,
		       struct sample *s)
{
	if (race_begin(c) < 0 || inject_number("freeze", "window_ms", window_ms) < 0 ||
	    inject_number("freeze", late->hold, late->until) < 0 || late->begin() < 0 ||
	    lull_check_wait("freeze", late->held, 1) < 0 || freezer_cycle(s, false) < 0)
		return -1;
	if (read_number(late->file, LET_GO) != LET_GO)
		return fail(STATUS_FAILED, late->held, "who was held was never let go");
	/* It was, and may be slow to notice: the next one is to be held in its turn. */
	race_wait_none(late->held);
	race_end();
	return 0;
}

/*
 * With more time for it where nothing of what is waited for was seen while all were
 * frozen, be it an escape or that value.
 */
static int freeze_until(const struct job_case *c, const struct late *late, const char *mode,
			struct sample *s, const char *wanted)
{
	bool seen = false;

	for (unsigned int ms = WINDOW_MS; !seen && ms <= WINDOW_MAX_MS; ms *= 2) {
		if (freeze_with(c, late, ms, s) < 0)
			return -1;
		seen = !wanted || lull_check("freeze", wanted) || lull_check("freeze", "escapes");
	}
	return race_verdict(c, "FZ5", mode, lull_check("freeze", "escapes"));
}

/* Who escapes is seen when it has come to its program, or into user mode. */
static const char *escapes(const struct job_case *c)
{
	return job_number(c, "expect") ? "escapes" : NULL;
}

static int call_helper(void)
{
	if (!helper_call(HELPER_LONG))
		return 0;
	return fail(STATUS_LACKING, "uevent", "the kernel calls no helper: %s", strerror(errno));
}

/* A helper that nobody waits for, which is a child of kthreadd. */
static int exec_frozen_round(const struct job_case *c, const char *mode, struct sample *s)
{
	static const struct late late = { FILES("exec"), UNTIL_FROZEN, call_helper };

	if (freeze_until(c, &late, mode, s, escapes(c) ?: "loaded") < 0)
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

static int start_exec(void)
{
	return race_start(HOLD, exec_busily);
}

/* One that is not, so that the kernel phase does not come across it. */
static int exec_between_round(const struct job_case *c, const char *mode, struct sample *s)
{
	static const struct late late = { FILES("exec"), UNTIL_BETWEEN, start_exec };

	return freeze_until(c, &late, mode, s, escapes(c));
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

static int start_fork(void)
{
	return race_start(HOLD, fork_busily);
}

static int fork_between_round(const struct job_case *c, const char *mode, struct sample *s)
{
	static const struct late late = { FILES("fork"), UNTIL_BETWEEN, start_fork };

	return freeze_until(c, &late, mode, s, escapes(c));
}

RACE(fork_between, "a child that comes after the first walk", race_setup);
RACE(exec_frozen, "a helper held in exec until all are frozen", exec_setup);
RACE(exec_between, "a task held in exec until after the first walk", race_setup);
