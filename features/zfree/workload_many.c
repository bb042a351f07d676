// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several processes at once unmap memory that is in zram, or die with it: the
 * thread's first test, and what a low-memory killer does.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "job.h"
#include "lull.h"
#include "mark.h"
#include "pages.h"
#include "perturb.h"
#include "util.h"
#include "workload.h"
#include "zram.h"

#define PROCS_MAX 16

static struct zram zram = ZRAM_NONE;
static pid_t procs[PROCS_MAX];
static unsigned int nprocs;

/* What the processes report; shared with the probe. */
static struct report {
	uint64_t ns[PROCS_MAX];
	uint64_t failed;
} *reports;

/* They wait in the one until the probe writes, and the probe in the other. */
static int start_pipe[2] = { -1, -1 }, ready_pipe[2] = { -1, -1 };

static void close_pipe(int *fds)
{
	for (int i = 0; i < 2; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}

static void stop_all(void)
{
	for (unsigned int i = 0; i < nprocs; i++) {
		if (procs[i] <= 0)
			continue;
		kill(procs[i], SIGKILL);
		waitpid(procs[i], NULL, 0);
		procs[i] = 0;
	}
	close_pipe(start_pipe);
	close_pipe(ready_pipe);
}

static void process(unsigned int number, size_t bytes, uint64_t seed)
{
	struct pages pages;
	uint64_t begin;
	char byte = 0;

	if (pages_make(&pages, bytes, seed) < 0 || pages_out(&pages) < 0) {
		__atomic_add_fetch(&reports->failed, 1, __ATOMIC_RELAXED);
		byte = 1;
	}
	if (write(ready_pipe[1], &byte, 1) != 1 || read(start_pipe[0], &byte, 1) != 1)
		_exit(1);
	begin = now_ns();
	pages_unmap(&pages);
	reports->ns[number] = now_ns() - begin;
	_exit(0);
}

static int start_all(size_t bytes)
{
	pid_t probe = getpid();
	char byte;

	if (pipe2(start_pipe, O_CLOEXEC) < 0 || pipe2(ready_pipe, O_CLOEXEC) < 0)
		return fail(STATUS_FAILED, "pipe", "%s", strerror(errno));
	memset(reports, 0, sizeof(*reports));
	for (unsigned int i = 0; i < nprocs; i++) {
		uint64_t seed = perturb_below(UINT32_MAX);

		procs[i] = fork();
		if (procs[i] < 0)
			return fail(STATUS_FAILED, "fork", "%s", strerror(errno));
		if (!procs[i]) {
			crew_member(probe);
			process(i, bytes, seed);
		}
	}
	for (unsigned int i = 0; i < nprocs; i++) {
		if (read(ready_pipe[0], &byte, 1) != 1 || check_interrupted() < 0)
			return fail(STATUS_FAILED, "zram", "a process is gone");
	}
	if (reports->failed)
		return fail(STATUS_FAILED, "zram", "%llu processes could not page out",
			    (unsigned long long)reports->failed);
	return 0;
}

static int wait_all(void)
{
	int status, bad = 0;

	for (unsigned int i = 0; i < nprocs; i++) {
		bad |= waitpid(procs[i], &status, 0) != procs[i];
		procs[i] = 0;
	}
	return bad ? fail(STATUS_FAILED, "waitpid", "%s", strerror(errno)) : 0;
}

/* Let them unmap, or kill them; until the last of them is gone. */
static int one(const struct job_case *c, struct sample *s, bool kills)
{
	char bytes[PROCS_MAX] = { 0 };
	double pages, sum = 0;
	uint64_t begin, end;
	int ret;

	if (start_all(job_number(c, "mb") << 20) < 0 || lull_stats_clear("zfree") < 0)
		return -1;
	pages_settle();

	begin = now_ns();
	mark_begin();
	if (!kills && write(start_pipe[1], bytes, nprocs) != (ssize_t)nprocs)
		return fail(STATUS_FAILED, "pipe", "%s", strerror(errno));
	for (unsigned int i = 0; kills && i < nprocs; i++)
		kill(procs[i], SIGKILL);
	ret = wait_all();
	mark_end();
	end = now_ns();

	pages = (double)((job_number(c, "mb") << 20) / PAGE_BYTES);
	sample_add(s, "pages", pages * nprocs);
	sample_add(s, "all", (double)(end - begin));
	for (unsigned int i = 0; !kills && i < nprocs; i++)
		sum += (double)reports->ns[i];
	if (!kills)
		sample_add(s, "munmap_page", sum / nprocs / pages);
	lull_stats_add("zfree", s);
	stop_all();
	return ret;
}

static int many_setup(const struct job_case *c)
{
	nprocs = (unsigned int)job_number(c, "procs");
	if (!nprocs || nprocs > PROCS_MAX)
		return fail(STATUS_USAGE, "procs", "1 to %d processes", PROCS_MAX);
	if (!reports)
		reports = crew_memory(sizeof(*reports));
	if (!reports)
		return -1;
	return zram_start(&zram, job_param(c, "algorithm"),
			  nprocs * job_number(c, "mb") + SLOTS_MB);
}

static int many_round(const struct job_case *c, const char *mode, struct sample *s)
{
	(void)mode;
	return one(c, s, false);
}

static int exit_round(const struct job_case *c, const char *mode, struct sample *s)
{
	(void)mode;
	return one(c, s, true);
}

static void many_teardown(void)
{
	stop_all();
	zram_stop(&zram);
}

static const struct workload_param many_params[] = {
	{ "procs", "2" },
	{ "mb", "64" },
	{ "algorithm", "lzo-rle" },
	{ 0 },
};

static const struct workload many = {
	.feature = "zfree",
	.name = "munmap-many",
	.text = "processes that unmap memory in zram, all at once",
	.params = many_params,
	.setup = many_setup,
	.round = many_round,
	.teardown = many_teardown,
};

WORKLOAD(many);

static const struct workload exit_workload = {
	.feature = "zfree",
	.name = "exit",
	.text = "processes with memory in zram are killed",
	.params = many_params,
	.setup = many_setup,
	.round = exit_round,
	.teardown = many_teardown,
};

WORKLOAD(exit_workload);
