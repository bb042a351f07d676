// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a manager does with processes that are there already: moves many of them to
 * and fro, or writes again who is where it is to be.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "crew.h"
#include "groups.h"
#include "job.h"
#include "lull.h"
#include "mark.h"
#include "util.h"
#include "workload.h"

/* What one write takes in `lull`. */
#define PIDS_MAX 64
#define THREADS_MAX 1000
#define STACK 32768
#define TEXT (PIDS_MAX * 12)

static struct cgroup groups[2];
static pid_t pids[PIDS_MAX];
static unsigned int nr, threads;
/* ns in what moved them. */
static uint64_t spent;
/* Who of them has all of its threads. */
static volatile bool *ready;

static void *thread_main(void *arg)
{
	pause();
	return arg;
}

static void process_main(unsigned int i)
{
	pthread_attr_t attr;
	pthread_t id;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (unsigned int k = 1; k < threads; k++) {
		if (pthread_create(&id, &attr, thread_main, NULL))
			_exit(1);
	}
	ready[i] = true;
	for (;;)
		pause();
}

static int process_start(unsigned int i)
{
	ready[i] = false;
	pids[i] = crew_fork(NULL);
	if (!pids[i])
		process_main(i);
	if (pids[i] < 0)
		return -1;
	return crew_ready(&ready[i], pids[i], "one to be moved");
}

static int moves_setup(const struct job_case *c)
{
	nr = (unsigned int)job_number(c, "pids");
	threads = (unsigned int)job_number(c, "threads");
	if (!nr || nr > PIDS_MAX || !threads || threads > THREADS_MAX)
		return fail(STATUS_USAGE, "moves", "1 to %d pids, 1 to %d threads", PIDS_MAX,
			    THREADS_MAX);
	if (!ready)
		ready = crew_memory(PIDS_MAX * sizeof(*ready));
	if (!ready || groups_start(c) < 0)
		return -1;
	if (group_make(&groups[0], "here") < 0)
		return -1;
	return group_make(&groups[1], "there");
}

static void end_all(void)
{
	for (unsigned int i = 0; i < nr; i++)
		crew_end(&pids[i]);
}

/* One write if the kernel takes it, as a manager would try, else one each. */
static int move_all(int fd, const struct cgroup *to, const char *text, uint64_t *written)
{
	ssize_t n = -1;
	int error;

	if (nr > 1) {
		n = write(fd, text, strlen(text));
		++*written;
	}
	if (n == (ssize_t)strlen(text))
		return 0;
	if (n >= 0 || (nr > 1 && errno != EINVAL))
		return fail(STATUS_FAILED, to->path, "a write of %u PIDs: %zd", nr, n);
	for (unsigned int i = 0; i < nr; i++) {
		error = group_write_pid(fd, pids[i]);
		++*written;
		if (error)
			return fail(STATUS_FAILED, to->path, "%s", strerror(error));
	}
	return 0;
}

static int move_once(const struct cgroup *to, const char *text, uint64_t gap_us,
		     uint64_t *written)
{
	int fd = group_open(to, "cgroup.procs"), ret;
	uint64_t begin;

	if (fd < 0)
		return fail(STATUS_FAILED, to->path, "%s", strerror(errno));
	/* Beyond a grace period, or the lock of all is fast still. */
	sleep_ns(gap_us * 1000);
	begin = now_ns();
	ret = move_all(fd, to, text, written);
	spent += now_ns() - begin;
	close(fd);
	return ret < 0 ? -1 : check_interrupted();
}

static int moves_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t n = job_number(c, "moves"), gap = job_number(c, "gap_us"), written = 0;
	const struct cgroup *other = &groups[!job_number(c, "there")];
	char text[TEXT];
	size_t len = 0;

	(void)mode;
	for (unsigned int i = 0; i < nr; i++) {
		if (process_start(i) < 0)
			return -1;
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%d\n", pids[i]);
	}
	/* To where they begin. */
	if (move_once(&groups[0], text, 0, &written) < 0 || lull_stats_clear("attach") < 0)
		return -1;
	spent = written = 0;
	mark_begin();
	for (uint64_t i = 0; i < n; i++) {
		if (move_once(i & 1 ? &groups[0] : other, text, gap, &written) < 0)
			return -1;
	}
	mark_end();
	for (unsigned int i = 0; i < nr; i++) {
		if (!group_has(n & 1 ? other : &groups[0], pids[i]))
			return fail(STATUS_FAILED, "moves", "PID %d is not where it was put",
				    pids[i]);
	}
	end_all();
	sample_add(s, "move", (double)spent / (double)(n * nr));
	sample_add(s, "writes", (double)written);
	lull_stats_add("attach", s);
	return 0;
}

static void moves_teardown(void)
{
	end_all();
	groups_stop();
}

static const struct workload_param moves_params[] = {
	{ "pids", "64" },
	{ "threads", "1" },
	/* 1: to where they are. */
	{ "there", "0" },
	{ "moves", "20" },
	{ "gap_us", "30000" },
	{ "v1", "0" },
	{ 0 },
};

static const struct workload moves = {
	.feature = "attach",
	.name = "moves",
	.text = "processes are moved together, or written to where they are",
	.params = moves_params,
	.setup = moves_setup,
	.round = moves_round,
	.teardown = moves_teardown,
};

WORKLOAD(moves);
