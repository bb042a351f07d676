// SPDX-License-Identifier: GPL-2.0-only
/*
 * A child is moved the instant that its PID can be found (CG2): somebody writes
 * the number that comes next again and again, until it is one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "groups.h"
#include "job.h"
#include "safety.h"
#include "unrest.h"
#include "util.h"
#include "workload.h"

static struct shared {
	/* The newest child, and the newest that was moved. */
	volatile pid_t newest, moved;
	volatile int stop;
	volatile uint64_t early;
} *shared;

static struct cgroup src, dst;
static pid_t forker;

/* Until it was moved. */
static int child_main(void *forker_pid)
{
	pid_t self = getpid();

	crew_member(*(pid_t *)forker_pid);
	while (shared->moved != self && !shared->stop)
		usleep(20);
	_exit(0);
}

/* One child at a time, until it was moved; who it is is known only afterwards. */
static void forker_main(void)
{
	static char stack[16384] __attribute__((aligned(16)));
	pid_t self = getpid(), pid;

	while (!shared->stop) {
		/* In our memory: a copy of it would be half of the time, and tell nothing. */
		pid = clone(child_main, stack + sizeof(stack), CLONE_VM | SIGCHLD, &self);
		if (pid < 0)
			_exit(1);
		/* Nobody else knew it, but for one who was there before us. */
		if (shared->moved == pid)
			shared->early++;
		shared->newest = pid;
		if (waitpid(pid, NULL, 0) != pid)
			_exit(1);
	}
	_exit(0);
}

static int visible_setup(const struct job_case *c)
{
	if (!shared)
		shared = crew_memory(sizeof(*shared));
	if (!shared || safety_start(c) < 0)
		return -1;
	if (group_make(&src, "src") < 0 || group_make(&dst, "dst") < 0)
		return -1;
	if (!strcmp(job_param(c, "to"), "root"))
		snprintf(dst.path, sizeof(dst.path), "%s", "/sys/fs/cgroup");
	return 0;
}

/* Whoever has a PID from `last` on, moved; 0 if nobody had within that time. */
static pid_t move_next(int fd, pid_t last)
{
	uint64_t end = now_ns() + 2000000000ull;

	for (unsigned int i = 1; now_ns() < end; i++) {
		/* Now and then one further on: others fork, too. */
		pid_t pid = last + 1 + (i % 64 ? 0 : (i / 64) % 4);

		if (!group_write_pid(fd, pid))
			return pid;
		/* Where CPUs take turns, the forker has its turn now. */
		if (i % 8 == 0)
			sleep_ns(1000);
	}
	return 0;
}

static bool is_where(const struct job_case *c, pid_t pid)
{
	char path[64], text[300];

	if (strcmp(job_param(c, "to"), "root"))
		return group_has(&dst, pid);
	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	return read_file(path, text, sizeof(text)) > 0 && strstr(text, "0::/\n");
}

/* Its own PID is the last that there was. */
static pid_t last_pid(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, &status, 0);
	return pid;
}

static int visible_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t children = job_number(c, "children"), astray = 0, lost = 0, moved = 0;
	uint64_t most_lost = children / 10 < 100 ? children / 10 : 100;
	uint64_t there, left;
	char text[500];
	pid_t last, pid;
	int fd;

	(void)s;
	memset(shared, 0, sizeof(*shared));
	fd = group_open(&dst, "cgroup.procs");
	/* Who is forked for it is none of the children. */
	if (unrest_start(c) < 0)
		return -1;
	last = last_pid();
	forker = safety_fork(forker_main);
	if (fd < 0 || forker < 0)
		return fail(STATUS_FAILED, dst.path, "%s", strerror(errno));
	if (safety_move(&src, "cgroup.procs", forker))
		return fail(STATUS_FAILED, src.path, "cannot move to it");
	last = forker > last ? forker : last;
	for (; unrest_goes_on(moved, children, true) && check_interrupted() == 0; moved++) {
		pid = move_next(fd, last);
		if (!pid) {
			/* Others fork, too: begin where it is now. */
			lost++;
			pid = shared->newest;
			if (lost > most_lost || !pid)
				break;
		} else if (pid != forker) {
			astray += !is_where(c, pid);
		}
		last = pid;
		shared->moved = pid;
		unrest_step();
	}
	shared->stop = 1;
	waitpid(forker, NULL, 0);
	forker = 0;
	close(fd);
	there = strcmp(job_param(c, "to"), "root") ? group_number(&dst, "pids.current", 99) : 0;
	left = group_number(&src, "pids.current", 99);
	/* Neither held nor broken. */
	if (!astray && !there && !left && (moved < children || !shared->early))
		return fail(STATUS_UNMET, "visible",
			    "%" PRIu64 " of %" PRIu64 " children moved, %" PRIu64
			    " before fork() was back, %" PRIu64 " lost", moved, children,
			    (uint64_t)shared->early, lost);
	snprintf(text, sizeof(text),
		 "%s: %" PRIu64 " children, %" PRIu64 " moved before fork() was back; %" PRIu64
		 " not where they belong, pids.current %" PRIu64 " and %" PRIu64 ", %" PRIu64 " lost%s",
		 mode, moved, (uint64_t)shared->early, astray, left, there, lost, unrest_text());
	return unrest_end(report_check(
		c, "CG2", moved >= children && !astray && !there && !left, text));
}

static void visible_teardown(void)
{
	crew_end(&forker);
	safety_stop();
}

static const struct workload_param visible_params[] = {
	{ "children", "1000" },
	{ "to", "group" },
	UNREST_PARAMS,
	SAFETY_PARAMS,
	{ 0 },
};

static const struct workload visible = {
	.feature = "attach",
	.name = "visible",
	.text = "a child is moved as soon as it can be found",
	.params = visible_params,
	.setup = visible_setup,
	.round = visible_round,
	.teardown = visible_teardown,
};

WORKLOAD(visible);
