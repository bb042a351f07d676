// SPDX-License-Identifier: GPL-2.0-only
/* What the race workloads share: a victim, injections, a verdict. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "crew.h"
#include "freezer.h"
#include "knob.h"
#include "lull.h"
#include "race.h"
#include "util.h"

#define WAIT_LIMIT_MS 10000

pid_t race_victim = -1;
struct cgroup race_cgroup;

/* What a victim counts while it runs; shared with the probe. */
static volatile uint64_t *beats;

const struct workload_param race_params[] = {
	{ "disable", "0" },
	{ "expect", "0" },
	{ 0 },
};

uint64_t race_value(const char *name)
{
	char text[1024], line[64];
	const char *at;

	if (read_file(DEBUGFS "check", text, sizeof(text)) <= 0)
		return 0;
	snprintf(line, sizeof(line), "%s ", name);
	at = strstr(text, line);
	return at ? strtoull(at + strlen(line), NULL, 10) : 0;
}

int race_inject(const char *file, uint64_t value)
{
	char path[128], text[24];

	snprintf(path, sizeof(path), DEBUGFS "inject/%s", file);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return knob_write(path, text);
}

int race_wait(const char *name, uint64_t at_least)
{
	for (int ms = 0; race_value(name) < at_least; ms++) {
		if (ms > WAIT_LIMIT_MS)
			return fail(STATUS_FAILED, DEBUGFS "check", "'%s' never came to %llu",
				    name, (unsigned long long)at_least);
		sleep_ms(1);
	}
	return 0;
}

void race_wait_none(const char *name)
{
	while (race_value(name) && check_interrupted() >= 0)
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
	       race_inject("disable", job_number(c, "disable"));
}

int race_start(const char *name, void (*body)(void))
{
	pid_t parent = getpid();

	race_victim = fork();
	if (race_victim < 0)
		return fail(STATUS_FAILED, "fork", "no process: %s", strerror(errno));
	if (!race_victim) {
		prctl(PR_SET_NAME, name);
		crew_member(parent);
		body();
		_exit(0);
	}
	return 0;
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
	char path[300];

	/* A frozen task does not die of a signal. */
	if (race_cgroup.path[0]) {
		snprintf(path, sizeof(path), "%s/freezer.state", race_cgroup.path);
		write_file(path, "THAWED");
	}
	race_end();
}

void race_at_once(void)
{
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
	struct timespec nap = { .tv_nsec = 50000000 };

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

void race_wait_still(void)
{
	while (race_moves(STILL_MS) && check_interrupted() >= 0)
		;
}

int race_verdict(const struct job_case *c, const char *name, const char *mode, uint64_t got)
{
	bool expected = job_number(c, "expect");
	char text[200];

	snprintf(text, sizeof(text), "%s, safeguards off %s: %llu seen, %s expected", mode,
		 job_param(c, "disable"), (unsigned long long)got, expected ? "some" : "none");
	return report_check(c, name, !!got == expected, text);
}
