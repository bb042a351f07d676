// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that share memory in zram, as fork() leaves it, unmap it one after the
 * other: a zygote's children, say, and then the zygote. Only the last of them frees
 * anything; the others give a reference to each slot back.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "crew.h"
#include "job.h"
#include "layout.h"
#include "pages.h"
#include "perturb.h"
#include "util.h"
#include "worker.h"
#include "workload.h"
#include "zram.h"

#define SHARERS_MAX 16

static struct zram zram = ZRAM_NONE;
static struct pages pages;
static pid_t sharers[SHARERS_MAX];
static uint64_t nsharers;

/* They wait in the one until the probe writes, and it in the other for the time. */
static int go_pipe[2] = { -1, -1 }, took_pipe[2] = { -1, -1 };

static void close_pipe(int *fds)
{
	for (int i = 0; i < 2; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}

static uint64_t timed_unmap(void)
{
	uint64_t begin = now_ns();

	pages_unmap(&pages);
	return now_ns() - begin;
}

static void sharer(void)
{
	uint64_t ns;
	char byte;

	if (read(go_pipe[0], &byte, 1) != 1)
		_exit(1);
	ns = timed_unmap();
	if (write(took_pipe[1], &ns, sizeof(ns)) != sizeof(ns))
		_exit(1);
	/* Its end is no part of the round: it is killed after it. */
	for (;;)
		pause();
}

static int start_sharers(void)
{
	if (pipe2(go_pipe, O_CLOEXEC) < 0 || pipe2(took_pipe, O_CLOEXEC) < 0)
		return fail(STATUS_FAILED, "pipe", "%s", strerror(errno));
	for (uint64_t i = 0; i < nsharers; i++) {
		sharers[i] = crew_fork(NULL);
		if (sharers[i] < 0)
			return -1;
		if (!sharers[i])
			sharer();
	}
	return 0;
}

static void stop_sharers(void)
{
	for (uint64_t i = 0; i < nsharers; i++)
		crew_end(&sharers[i]);
	close_pipe(go_pipe);
	close_pipe(took_pipe);
}

static int shared_setup(const struct job_case *c)
{
	nsharers = job_number(c, "sharers");
	if (!nsharers || nsharers > SHARERS_MAX) {
		nsharers = 0;
		return fail(STATUS_USAGE, "sharers", "1 to %d processes", SHARERS_MAX);
	}
	return zram_start_for(&zram, c, job_number(c, "mb"));
}

/* One after the other; the sum of what their munmap() took, in ns. */
static int unmap_shared(uint64_t *ns)
{
	uint64_t took;

	*ns = 0;
	for (uint64_t i = 0; i < nsharers; i++) {
		if (write(go_pipe[1], "", 1) != 1 ||
		    read(took_pipe[0], &took, sizeof(took)) != sizeof(took))
			return fail(STATUS_FAILED, "pipe", "a sharer is gone");
		*ns += took;
	}
	return 0;
}

static int shared_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t shared_ns, last_ns;
	struct work work;
	double count;

	if (pages_make(&pages, job_number(c, "mb") << 20, perturb_below(UINT32_MAX)) < 0 ||
	    layout_begin(&zram, job_param(c, "slots"), pages.bytes) < 0 ||
	    layout_out(&pages, job_param(c, "slots")) < 0 ||
	    layout_measure(&pages, s) < 0 || start_sharers() < 0)
		return -1;
	count = (double)(pages.bytes / PAGE_BYTES);
	pages_settle();
	if (work_begin(&work, mode) < 0 || unmap_shared(&shared_ns) < 0)
		return -1;
	last_ns = timed_unmap();
	if (work_end(&work, count * (double)(nsharers + 1), s) < 0)
		return -1;

	sample_add(s, "shared_page", (double)shared_ns / count / (double)nsharers);
	sample_add(s, "last_page", (double)last_ns / count);
	sample_add(s, "munmap_page",
		   (double)(shared_ns + last_ns) / count / (double)(nsharers + 1));
	stop_sharers();
	return 0;
}

static void shared_teardown(void)
{
	stop_sharers();
	pages_unmap(&pages);
	zram_stop(&zram);
}

static const struct workload_param shared_params[] = {
	{ "sharers", "1" },
	{ "mb", "16" },
	{ "algorithm", "lzo-rle" },
	{ "zswap", "0" },
	{ "slots", "rows" },
	{ 0 },
};

static const struct workload shared = {
	.feature = "zfree",
	.name = "munmap-shared",
	.text = "processes that share memory in zram since a fork unmap it, one by one",
	.params = shared_params,
	.setup = shared_setup,
	.round = shared_round,
	.teardown = shared_teardown,
};

WORKLOAD(shared);
