// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "pages.h"
#include "perturb.h"
#include "procs.h"
#include "util.h"

static pid_t procs[PROCS_MAX];
static unsigned int nprocs;

/* What they report; shared with the probe. */
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

int procs_init(uint64_t n)
{
	if (!n || n > PROCS_MAX)
		return fail(STATUS_USAGE, "procs", "1 to %d processes", PROCS_MAX);
	nprocs = (unsigned int)n;
	if (!reports)
		reports = crew_memory(sizeof(*reports));
	return reports ? 0 : -1;
}

static void process(unsigned int number, size_t out, size_t in, uint64_t seed)
{
	struct pages gone, there = { 0 };
	uint64_t begin;
	char byte = 0;

	if (pages_make(&gone, out, seed) < 0 || pages_out(&gone) < 0 ||
	    (in && pages_make(&there, in, seed + 1) < 0)) {
		__atomic_add_fetch(&reports->failed, 1, __ATOMIC_RELAXED);
		byte = 1;
	}
	if (write(ready_pipe[1], &byte, 1) != 1 || read(start_pipe[0], &byte, 1) != 1)
		_exit(1);
	begin = now_ns();
	pages_unmap(&gone);
	reports->ns[number] = now_ns() - begin;
	_exit(0);
}

int procs_start(size_t out, size_t in)
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
			process(i, out, in, seed);
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

int procs_unmap(void)
{
	char bytes[PROCS_MAX] = { 0 };

	if (write(start_pipe[1], bytes, nprocs) != (ssize_t)nprocs)
		return fail(STATUS_FAILED, "pipe", "%s", strerror(errno));
	return 0;
}

void procs_kill(void)
{
	for (unsigned int i = 0; i < nprocs; i++)
		kill(procs[i], SIGKILL);
}

int procs_wait(void)
{
	int status, bad = 0;

	for (unsigned int i = 0; i < nprocs; i++) {
		bad |= waitpid(procs[i], &status, 0) != procs[i];
		procs[i] = 0;
	}
	return bad ? fail(STATUS_FAILED, "waitpid", "%s", strerror(errno)) : 0;
}

double procs_mean_ns(void)
{
	double sum = 0;

	for (unsigned int i = 0; i < nprocs; i++)
		sum += (double)reports->ns[i];
	return sum / nprocs;
}

void procs_stop(void)
{
	for (unsigned int i = 0; i < nprocs; i++)
		crew_end(&procs[i]);
	close_pipe(start_pipe);
	close_pipe(ready_pipe);
}
