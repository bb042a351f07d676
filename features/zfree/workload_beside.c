// SPDX-License-Identifier: GPL-2.0-only
/*
 * What others notice while memory in zram is unmapped: on the same CPU somebody
 * who has to run at once, on the other one somebody who pages out.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "crew.h"
#include "job.h"
#include "latency.h"
#include "pages.h"
#include "perturb.h"
#include "util.h"
#include "worker.h"
#include "workload.h"
#include "zram.h"

#define PERIOD_NS 50000
#define OUT_MB 16
#define OUT_MAX (OUT_MB * ((1 << 20) / PAGE_BYTES))

#define UNMAP_CPU 0
#define OUT_CPU 1

/* What the two report; shared with the probe. */
static struct notes {
	volatile int soon, go, stop;
	volatile bool sleeps, outs;
	uint64_t late_max;
} *notes;
static struct latencies *outs;

static struct zram zram = ZRAM_NONE;
static struct pages pages;
static pid_t sleeper, outer;

/* Out of the way until the memory is where it has to be. */
static void wait_soon(volatile bool *ready)
{
	*ready = true;
	while (!notes->soon && !notes->stop)
		sleep_ms(1);
}

/* Sleeps for a moment again and again, before everybody else on its CPU. */
static void sleep_beside(void)
{
	struct sched_param param = { .sched_priority = 50 };
	struct timespec at;
	uint64_t due, now;

	if (pin_cpu(UNMAP_CPU) < 0 || sched_setscheduler(0, SCHED_FIFO, &param) < 0)
		_exit(1);
	wait_soon(&notes->sleeps);
	due = now_ns();
	while (!notes->stop) {
		due += PERIOD_NS;
		at.tv_sec = (time_t)(due / 1000000000ull);
		at.tv_nsec = (long)(due % 1000000000ull);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		now = now_ns();
		if (notes->go && now > due && now - due > notes->late_max)
			notes->late_max = now - due;
		/* What it was late for is over. */
		if (now > due)
			due = now;
	}
	_exit(0);
}

/* Pages out a page at a time. */
static void out_beside(uint64_t seed)
{
	struct pages mine;

	if (pin_cpu(OUT_CPU) < 0 || pages_make(&mine, (size_t)OUT_MB << 20, seed) < 0)
		_exit(1);
	wait_soon(&notes->outs);
	/* Not asleep: it has to be there from the start. */
	while (!notes->go && !notes->stop)
		spin_ns(1000);
	for (unsigned int i = 0; i < OUT_MAX && !notes->stop; i++) {
		uint64_t begin = now_ns();

		madvise(mine.start + (size_t)i * PAGE_BYTES, PAGE_BYTES, MADV_PAGEOUT);
		latencies_add(outs, now_ns() - begin);
	}
	_exit(0);
}

static void stop(void)
{
	if (notes)
		notes->stop = 1;
	if (sleeper > 0)
		waitpid(sleeper, NULL, 0);
	if (outer > 0)
		waitpid(outer, NULL, 0);
	sleeper = outer = 0;
}

static int start(const struct job_case *c)
{
	uint64_t seed = perturb_below(UINT32_MAX);
	pid_t probe = getpid();

	memset(notes, 0, sizeof(*notes));
	latencies_clear(outs);
	sleeper = job_number(c, "sleeper") ? fork() : 0;
	if (job_number(c, "sleeper") && !sleeper) {
		crew_member(probe);
		sleep_beside();
	}
	outer = job_number(c, "outer") ? fork() : 0;
	if (job_number(c, "outer") && !outer) {
		crew_member(probe);
		out_beside(seed);
	}
	if (sleeper < 0 || outer < 0)
		return fail(STATUS_FAILED, "fork", "%s", strerror(errno));
	if (sleeper && crew_ready(&notes->sleeps, sleeper, "who sleeps beside") < 0)
		return -1;
	return outer ? crew_ready(&notes->outs, outer, "who pages out beside") : 0;
}

static int beside_setup(const struct job_case *c)
{
	if (!notes)
		notes = crew_memory(sizeof(*notes));
	if (!outs)
		outs = latencies_make(OUT_MAX);
	if (!notes || !outs)
		return -1;
	return zram_start_for(&zram, c, job_number(c, "mb") + OUT_MB);
}

static int beside_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t ns;

	(void)mode;
	if (worker_wait() < 0)
		return -1;
	/* Started first: a child would have the memory, too, and keep it. */
	if (start(c) < 0 || pin_begin(UNMAP_CPU) < 0 ||
	    pages_make(&pages, job_number(c, "mb") << 20, perturb_below(UINT32_MAX)) < 0 ||
	    pages_out(&pages) < 0)
		return -1;
	notes->soon = 1;
	pages_settle();
	notes->go = 1;
	ns = now_ns();
	pages_unmap(&pages);
	ns = now_ns() - ns;
	stop();
	pin_end();
	sample_add(s, "beside", (double)ns);
	if (job_number(c, "sleeper"))
		sample_add(s, "late_max", (double)notes->late_max);
	if (!job_number(c, "outer"))
		return worker_wait();
	if (!outs->n)
		return fail(STATUS_FAILED, "beside", "nothing was paged out meanwhile");

	sample_add(s, "outs", outs->n);
	latencies_report(outs, "out", s);
	return worker_wait();
}

static void beside_teardown(void)
{
	stop();
	pages_unmap(&pages);
	zram_stop(&zram);
	pin_end();
}

static const struct workload_param beside_params[] = {
	{ "mb", "128" },
	{ "sleeper", "1" },
	{ "outer", "1" },
	{ "algorithm", "lzo-rle" },
	{ "zswap", "0" },
	{ 0 },
};

static const struct workload beside = {
	.feature = "zfree",
	.name = "beside",
	.text = "memory in zram is unmapped beside somebody who pages out",
	.params = beside_params,
	.setup = beside_setup,
	.round = beside_round,
	.teardown = beside_teardown,
};

WORKLOAD(beside);
