// SPDX-License-Identifier: GPL-2.0-only
/* What the race workloads share: a victim, injections, a verdict. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "crew.h"
#include "freezer.h"
#include "inject.h"
#include "lull.h"
#include "race.h"
#include "suspend.h"
#include "util.h"

pid_t race_victim = -1;
unsigned int race_nap_ms = RACE_NAP_MS;
struct cgroup race_cgroup;

/* What a victim counts while it runs; shared with the probe. */
static volatile uint64_t *beats;

const struct workload_param race_params[] = {
	{ "disable", "none" },
	{ "expect", "0" },
	{ "thaw", "0" },
	{ 0 },
};

void race_wait_none(const char *name)
{
	while (lull_check("freeze", name) && check_interrupted() >= 0)
		sleep_ms(5);
}

int race_setup(const struct job_case *c)
{
	(void)c;
	if (!path_exists(DEBUGFS "check")) {
		fail(STATUS_LACKING, DEBUGFS "check", "this kernel has no injections");
		return fail_hint("boot the debug arm: lull kernel build --arm debug");
	}
	if (!beats)
		beats = crew_memory(sizeof(*beats));
	return beats ? freezer_prepare() : -1;
}

int race_cgroup_setup(const struct job_case *c)
{
	return race_setup(c) < 0 ? -1 : cgroup_make(&race_cgroup, CGROUP_V1_FREEZER, "race");
}

int race_begin(const struct job_case *c)
{
	return lull_check_clear("freeze") < 0 ? -1 :
	       inject_text("freeze", "disable", job_param(c, "disable"));
}

int race_start(const char *name, void (*body)(void))
{
	race_victim = crew_fork(name);
	if (race_victim)
		return race_victim < 0 ? -1 : 0;
	body();
	_exit(0);
}

void race_end(void)
{
	if (race_victim > 0) {
		kill(race_victim, SIGKILL);
		waitpid(race_victim, NULL, 0);
	}
	race_victim = -1;
}

void race_teardown(void)
{
	cgroup_thaw(&race_cgroup);
	race_end();
	race_nap_ms = RACE_NAP_MS;
}

void race_at_once(void)
{
}

static void *thread_at_once(void *name)
{
	prctl(PR_SET_NAME, name);
	return NULL;
}

/* Nobody waits for it: it reaps itself. It alone has the name that is held. */
void race_by_thread(void)
{
	pthread_t thread;

	prctl(PR_SET_NAME, "lull-leader");
	if (pthread_create(&thread, NULL, thread_at_once, (void *)HOLD))
		return;
	for (;;)
		pause();
}

static void *thread_in_naps(void *name)
{
	prctl(PR_SET_NAME, name);
	race_in_naps();
	return NULL;
}

void race_without_leader(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, thread_in_naps, "lull-orphan"))
		syscall(SYS_exit, 0);
}

void race_busily(void)
{
	for (;;) {
		getppid();
		++*beats;
	}
}

/* Sleeps in a state that is frozen in place, and wakes often. */
void race_in_naps(void)
{
	struct timespec nap = timespec_of(race_nap_ms * 1000000ull);

	for (;;) {
		nanosleep(&nap, NULL);
		++*beats;
	}
}

bool race_moves(unsigned int ms)
{
	uint64_t before = *beats;

	for (; ms; ms--) {
		sleep_ms(1);
		if (*beats != before)
			return true;
	}
	return false;
}

int race_runs(void)
{
	return race_moves(RACE_LIMIT_MS) ? 0 :
	       fail(STATUS_FAILED, "race", "the task does not run at all");
}

int race_hold(const struct job_case *c, const char *where)
{
	return inject_number("freeze", where,
			     job_number(c, "expect") ? UNTIL_FROZEN : UNTIL_BETWEEN);
}

/* Only what the kernel says from here on answers the next question. */
static int log_mark(char *mark, size_t size)
{
	static unsigned int number;

	snprintf(mark, size, "lull-probe: mark %u", ++number);
	if (write_file("/dev/kmsg", mark) < 0)
		return fail(STATUS_FAILED, "/dev/kmsg", "cannot write it: %s", strerror(errno));
	return 0;
}

bool race_log_has(const struct attempt *a, const char *text)
{
	char log[16000];
	const char *since;

	kernel_log_tail(log, sizeof(log), 200);
	since = strstr(log, a->mark);
	return since && strstr(since, text);
}

int race_attempt(struct attempt *a)
{
	if (log_mark(a->mark, sizeof(a->mark)) < 0)
		return -1;
	a->err = suspend_cycle();
	return 0;
}

int race_in_time(const char *name)
{
	return lull_check("freeze", "overdue") ?
	       fail(STATUS_UNMET, name, "who was held was not let go in time") : 0;
}

bool race_still_held(void)
{
	return lull_check("freeze", "exit_held");
}

int race_no_time(const char *name)
{
	return fail(STATUS_UNMET, name, "the first round took all of the time");
}

int race_verdict(const struct job_case *c, const char *name, const char *mode, uint64_t got)
{
	bool expected = job_number(c, "expect");

	/* Who lacks a safeguard may have been lucky: that is no verdict. */
	if (expected && !got)
		return fail(STATUS_UNMET, name, "%s: nothing of what was expected", mode);
	/* Who ran though nobody may is one who did, however late others were. */
	if ((expected || !got) && race_in_time(name) < 0)
		return -1;
	return inject_verdict(c, name, mode, !!got == expected, ": %llu seen, %s expected",
			      (unsigned long long)got, expected ? "some" : "none");
}
