// SPDX-License-Identifier: GPL-2.0-only
/*
 * The races that a freezer can lose, one workload each, with the window held
 * open by the injections of a debug kernel. A workload says what it expects
 * (param expect: 0 nobody escapes, 1 somebody does), so that the variant that
 * lacks a safeguard (param disable: bits of enum freeze_safeguard) is seen to
 * fail by the same test.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroup.h"
#include "cycle.h"
#include "knob.h"
#include "lull.h"
#include "util.h"

#define DEBUGFS "/sys/kernel/debug/lull/freeze/"
#define POWER_STATE "/sys/power/state"

/* Names that the injections look for. */
#define HOLD "lull-hold"
#define THAW "lull-thaw"

#define WAIT_LIMIT_MS 10000
/* Longer than a nap: who does not move for so long is frozen. */
#define STILL_MS 200

/* What a victim counts while it runs; shared with the probe. */
static volatile uint64_t *beats;
static pid_t victim = -1;
static struct cgroup cg;

static uint64_t check_value(const char *name)
{
	char text[1024], line[64];
	const char *at;

	if (read_file(DEBUGFS "check", text, sizeof(text)) <= 0)
		return 0;
	snprintf(line, sizeof(line), "%s ", name);
	at = strstr(text, line);
	return at ? strtoull(at + strlen(line), NULL, 10) : 0;
}

static int inject(const char *file, uint64_t value)
{
	char path[128], text[24];

	snprintf(path, sizeof(path), DEBUGFS "inject/%s", file);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return knob_write(path, text);
}

static int wait_check(const char *name, uint64_t at_least)
{
	for (int ms = 0; check_value(name) < at_least; ms++) {
		if (ms > WAIT_LIMIT_MS)
			return fail(STATUS_FAILED, DEBUGFS "check", "'%s' never came to %llu",
				    name, (unsigned long long)at_least);
		sleep_ms(1);
	}
	return 0;
}

static int race_prepare(void)
{
	if (!path_exists(DEBUGFS "check")) {
		fail(STATUS_LACKING, DEBUGFS "check", "this kernel has no injections");
		return fail_hint("boot the debug arm: lull kernel build --arm debug");
	}
	if (!beats)
		beats = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			     -1, 0);
	if (beats == MAP_FAILED)
		return fail(STATUS_FAILED, "mmap", "no memory: %s", strerror(errno));
	return freeze_prepare();
}

static int start(const char *name, void (*body)(void))
{
	pid_t parent = getpid();

	victim = fork();
	if (victim < 0)
		return fail(STATUS_FAILED, "fork", "no process: %s", strerror(errno));
	if (!victim) {
		prctl(PR_SET_NAME, name);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			body();
		_exit(0);
	}
	return 0;
}

static void end(void)
{
	if (victim > 0) {
		kill(victim, SIGKILL);
		waitpid(victim, NULL, 0);
	}
	victim = -1;
}

static void race_teardown(void)
{
	char path[300];

	/* A frozen task does not die of a signal. */
	if (cg.path[0]) {
		snprintf(path, sizeof(path), "%s/freezer.state", cg.path);
		write_file(path, "THAWED");
	}
	end();
}

static void at_once(void)
{
}

static void busily(void)
{
	for (;;) {
		getppid();
		++*beats;
	}
}

/* Sleeps in a state that is frozen in place, and wakes often. */
static void in_naps(void)
{
	struct timespec nap = { .tv_nsec = 50000000 };

	for (;;) {
		nanosleep(&nap, NULL);
		++*beats;
	}
}

static bool moves(unsigned int ms)
{
	uint64_t before = *beats;

	for (; ms; ms--) {
		sleep_ms(1);
		if (*beats != before)
			return true;
	}
	return false;
}

static int verdict(const struct job_case *c, const char *name, const char *mode, uint64_t got)
{
	bool expected = job_number(c, "expect");
	char text[200];

	snprintf(text, sizeof(text), "%s, safeguards off %s: %llu seen, %s expected", mode,
		 job_param(c, "disable"), (unsigned long long)got, expected ? "some" : "none");
	return report_check(c, name, !!got == expected, text);
}

/* FZ1: a task is held between exit_notify() and TASK_DEAD. */
static int fz1_round(const struct job_case *c, const char *mode, struct sample *s)
{
	int ret;

	if (lull_check_clear("freeze") < 0 || inject("exit_hold_ms", 1000) < 0 ||
	    start(HOLD, at_once) < 0 || wait_check("held", 1) < 0)
		return -1;
	ret = freeze_cycle(s, false);
	if (!ret)
		ret = verdict(c, "FZ1", mode, check_value("held_at_end"));
	/* The next round's task must be the only one that is held. */
	while (check_value("held") && check_interrupted() >= 0)
		sleep_ms(5);
	end();
	return ret;
}

/*
 * FZ6: a task that was frozen in place is thawed between two walks, as v1
 * cgroups do it, and nobody signals it.
 */
static int fz6_one(const struct job_case *c, struct sample *s, bool company)
{
	pid_t other = -1;
	int ret;

	if (lull_check_clear("freeze") < 0 || inject("disable", job_number(c, "disable")) < 0 ||
	    inject("window_ms", 200) < 0 || inject("thaw_between", 1) < 0 ||
	    start(THAW, in_naps) < 0)
		return -1;
	/*
	 * With somebody who runs and has to be waited for, the first wait is in
	 * the user phase; else in the kernel phase.
	 */
	if (company) {
		other = fork();
		if (!other) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			busily();
		}
	}
	sleep_ms(50);
	ret = freeze_cycle(s, false);
	inject("thaw_between", 0);
	if (other > 0) {
		kill(other, SIGKILL);
		waitpid(other, NULL, 0);
	}
	end();
	if (!ret && !check_value("thawed_between"))
		ret = fail(STATUS_FAILED, "FZ6", "nobody was thawed: the test tested nothing");
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
			escapes = check_value("escapes");
		}
		if (verdict(c, "FZ6", mode, escapes) < 0)
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
	int ret;

	if (lull_check_clear("freeze") < 0 || inject("disable", job_number(c, "disable")) < 0 ||
	    inject("window_ms", 1200) < 0 || start(HOLD, busily) < 0 ||
	    cgroup_attach(&cg, victim) < 0 || cgroup_set(&cg, "freezer.state", "FROZEN") < 0)
		return -1;
	while (moves(STILL_MS) && check_interrupted() >= 0)
		;
	if (inject("left_hold_ms", 600) < 0 ||
	    cgroup_set(&cg, "freezer.state", "THAWED") < 0 || wait_check("left_held", 1) < 0)
		return -1;
	/* No measured cycle: to clear the trace waits for who is held. */
	ret = write_file(POWER_STATE, "freeze");
	if (ret)
		fail(STATUS_FAILED, POWER_STATE, "the freeze failed: %s", strerror(errno));
	sample_add(s, "left_held", check_value("left_held"));
	inject("left_hold_ms", 0);
	end();
	return ret ? ret : verdict(c, "FZ7", mode, check_value("escapes"));
}

static int in_cgroup_setup(const struct job_case *c)
{
	(void)c;
	return race_prepare() < 0 ? -1 : cgroup_make(&cg, CGROUP_V1_FREEZER, "race");
}

static int race_setup(const struct job_case *c)
{
	(void)c;
	return race_prepare();
}

/* FZ9: cgroup freeze, PM freeze, PM thaw, cgroup thaw; the task lives on. */
static int fz9_one(const struct job_case *c, const char *mode, struct sample *s,
		   void (*body)(void), const char *how, bool thaw_between)
{
	bool stayed, went, escapes;
	char text[200];

	if (lull_check_clear("freeze") < 0 || inject("disable", job_number(c, "disable")) < 0 ||
	    start(THAW, body) < 0 || cgroup_attach(&cg, victim) < 0)
		return -1;
	if (!moves(2000))
		return fail(STATUS_FAILED, "FZ9", "the task does not run at all");
	if (cgroup_set(&cg, "freezer.state", "FROZEN") < 0)
		return -1;
	while (moves(STILL_MS) && check_interrupted() >= 0)
		;
	if (inject("thaw_between", thaw_between) < 0 || freeze_cycle(s, false) < 0)
		return -1;
	inject("thaw_between", 0);
	/* A thaw behind the cgroup's back is none of the task's doing. */
	stayed = thaw_between || !moves(200);
	if (cgroup_set(&cg, "freezer.state", "THAWED") < 0)
		return -1;
	went = moves(2000);
	end();
	/* Only who was frozen in place can go on without noticing. */
	escapes = job_number(c, "expect") && body == in_naps && !thaw_between;
	snprintf(text, sizeof(text), "%s, safeguards off %s, %s%s: %s, %s", mode,
		 job_param(c, "disable"), how, thaw_between ? ", thawed meanwhile" : "",
		 stayed ? "stayed frozen" : "ran although its cgroup is frozen",
		 went ? "ran again" : "never ran again");
	return report_check(c, "FZ9", stayed != escapes && went, text);
}

static int fz9_round(const struct job_case *c, const char *mode, struct sample *s)
{
	for (int between = 0; between < 2; between++) {
		if (fz9_one(c, mode, s, busily, "in the refrigerator", between) < 0 ||
		    fz9_one(c, mode, s, in_naps, "frozen in place", between) < 0)
			return -1;
	}
	return 0;
}

/* Suspend in the expectation that it fails; true when it did. */
static bool refused(int *err)
{
	*err = 0;
	if (!write_file(POWER_STATE, "freeze"))
		return false;
	*err = errno;
	return true;
}

static bool log_has(const char *text)
{
	char log[6000];

	kernel_log_tail(log, sizeof(log), 60);
	return strstr(log, text) != NULL;
}

static int fz13_report(const struct job_case *c, const char *mode, const char *what,
		       bool refuses, bool says, bool again, int err)
{
	char text[240];

	snprintf(text, sizeof(text), "%s, %s: %s (%s), %s, %s", mode, what,
		 refuses ? "refused" : "not refused", err ? strerror(err) : "no error",
		 says ? "said why" : "did not say why",
		 again ? "everybody runs again" : "somebody does not run again");
	return report_check(c, "FZ13", refuses && says && again, text);
}

/* FZ13, first half: a task that refuses for longer than the timeout. */
static int fz13_timeout(const struct job_case *c, const char *mode)
{
	bool refuses, says, again;
	int err;

	if (knob_write("/sys/power/pm_freeze_timeout", "300") < 0 ||
	    inject("exit_hold_ms", 2500) < 0 || start(HOLD, at_once) < 0 ||
	    wait_check("held", 1) < 0)
		return -1;
	refuses = refused(&err) && err == EBUSY;
	says = log_has("refusing to freeze") && log_has(HOLD);
	while (check_value("held") && check_interrupted() >= 0)
		sleep_ms(5);
	end();
	if (knob_write("/sys/power/pm_freeze_timeout", "20000") < 0 || start(THAW, in_naps) < 0)
		return -1;
	again = moves(2000);
	end();
	return fz13_report(c, mode, "a task that refuses", refuses, says, again, err);
}

/* Second half: a wakeup that is pending when the freezer would wait. */
static int fz13_wakeup(const struct job_case *c, const char *mode)
{
	bool refuses, says, again;
	char count[32];
	int err;

	if (read_file("/sys/power/wakeup_count", count, sizeof(count)) <= 0)
		return fail(STATUS_LACKING, "/sys/power/wakeup_count", "cannot read it");
	if (inject("exit_hold_ms", 500) < 0 || start(HOLD, at_once) < 0 ||
	    wait_check("held", 1) < 0)
		return -1;
	if (write_file("/sys/power/wakeup_count", count) < 0 ||
	    write_file("/sys/power/wake_lock", "lull") < 0)
		return fail(STATUS_LACKING, "/sys/power/wake_lock", "cannot write it: %s",
			    strerror(errno));
	refuses = refused(&err) && err == EBUSY;
	says = log_has("aborted");
	write_file("/sys/power/wake_unlock", "lull");
	while (check_value("held") && check_interrupted() >= 0)
		sleep_ms(5);
	end();
	if (start(THAW, in_naps) < 0)
		return -1;
	again = moves(2000);
	end();
	return fz13_report(c, mode, "a pending wakeup", refuses, says, again, err);
}

static int fz13_round(const struct job_case *c, const char *mode, struct sample *s)
{
	if (fz13_timeout(c, mode) < 0 || fz13_wakeup(c, mode) < 0)
		return -1;
	/* What was refused twice is granted now: nothing was left behind. */
	return freeze_cycle(s, false);
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

static const struct workload_param race_params[] = {
	{ "disable", "0" },
	{ "expect", "0" },
	{ 0 },
};

#define RACE(_name, _text, _setup)                                                 \
	static const struct workload _name = {                                     \
		.feature = "freeze",                                               \
		.name = #_name,                                                    \
		.text = _text,                                                     \
		.params = race_params,                                             \
		.setup = _setup,                                                   \
		.round = _name##_round,                                            \
		.teardown = race_teardown,                                         \
	};                                                                         \
	WORKLOAD(_name)

RACE(fz1, "a task held between exit_notify() and TASK_DEAD (debug kernel)", race_setup);
RACE(fz6, "a task thawed between two walks (debug kernel)", race_setup);
RACE(fz7, "a task held on its way out of the refrigerator (debug kernel)", in_cgroup_setup);
RACE(fz9, "cgroup freeze around PM freeze (debug kernel)", in_cgroup_setup);
RACE(fz13, "a task that refuses, and a pending wakeup (debug kernel)", race_setup);
RACE(warn, "a warning in the kernel's log (debug kernel)", race_setup);
