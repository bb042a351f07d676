// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that map memory, have the kernel fill it, fork, write to all of it and unmap
 * it again, more of it than there is: who is in mm_populate(), in a fork of many pages or
 * in reclaim comes to the refrigerator late, and the freezer may run out of time. How
 * late, and how often, in each mode.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "features/freeze/race.h"
#include "features/zfree/pages.h"
#include "features/zfree/zram.h"
#include "freezer.h"
#include "knob.h"
#include "lid.h"
#include "suspend.h"
#include "trace.h"
#include "unrest.h"
#include "util.h"

/* What they get to be in the middle of it again after a thaw. */
#define BUSY_MS 20

static struct crew crew;
static struct zram zram = ZRAM_NONE;

static void *filled(size_t size, bool shared)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE,
		    (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
}

/* Where memory is short the next one tries. */
static void fill_and_unmap(size_t size)
{
	void *p = filled(size, false);

	if (p != MAP_FAILED)
		munmap(p, size);
}

static void fill(size_t size, bool shared)
{
	void *held = filled(size, shared);
	struct pages pages = { .start = held, .bytes = size, .seed = now_ns() };
	pid_t self = getpid(), pid = fork();

	if (!pid) {
		crew_member(self);
		/* Pages of one value would take no room in zram. */
		if (held != MAP_FAILED)
			pages_fill(&pages);
		fill_and_unmap(size);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (held != MAP_FAILED)
		munmap(held, size);
}

static void start_all(uint64_t order, void *arg, struct crew_answer *answer)
{
	const struct job_case *c = arg;
	pid_t boss = getpid();

	(void)order;
	for (uint64_t i = 0; i < job_number(c, "procs"); i++) {
		pid_t pid = fork();

		if (!pid) {
			crew_member(boss);
			for (;;)
				fill(job_number(c, "mb") << 20, i < job_number(c, "shared"));
		}
		if (pid < 0) {
			answer->error = errno;
			strcpy(answer->doing, "fork");
			return;
		}
		answer->done++;
	}
}

static int pressure_setup(const struct job_case *c)
{
	struct zram_options options = {
		.kb = job_number(c, "swap_mb") << 10,
		.algorithm = "lzo-rle",
	};

	if (freezer_prepare() < 0 ||
	    knob_write(FREEZER_TIMEOUT, job_param(c, "limit_ms")) < 0)
		return -1;
	if (options.kb && zram_start(&zram, &options) < 0)
		return -1;
	if (crew_start(&crew, start_all, (void *)c) < 0 || crew_do(&crew, 0) < 0)
		return -1;
	sleep_ms(BUSY_MS);
	return 0;
}

static void one_span(const char *name, uint64_t ns, void *arg)
{
	struct sample *s = arg;

	if (!strcmp(name, "freeze_processes"))
		sample_add(s, name, (double)ns);
}

static int pressure_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t out = unrest_pages("pswpout");
	struct attempt a;

	(void)c;
	(void)mode;
	if (trace_clear() < 0)
		return -1;
	sleep_ms(BUSY_MS);
	if (trace_on() < 0 || race_attempt(&a) < 0 || trace_off() < 0)
		return -1;
	if (a.err && !race_log_has(&a, "refusing to freeze"))
		return suspend_failed(a.err);
	sample_add(s, "refused", a.err != 0);
	sample_add(s, "paged_out", (double)(unrest_pages("pswpout") - out));
	return suspend_spans(one_span, s);
}

static void pressure_teardown(void)
{
	crew_stop(&crew);
	zram_stop(&zram);
}

static const struct workload_param pressure_params[] = {
	{ "procs", "8" },
	{ "mb", "32" },
	/* So many of them fill memory that they share with their child. */
	{ "shared", "0" },
	{ "swap_mb", "0" },
	/* When the freezer gives up. */
	{ "limit_ms", FREEZER_TIMEOUT_DEFAULT },
	{ 0 },
};

static const struct workload pressure = {
	.feature = "lid",
	.name = "pressure",
	.text = "processes that fill memory and fork while they are frozen",
	.params = pressure_params,
	.switches = lid_switches,
	.setup = pressure_setup,
	.round = pressure_round,
	.teardown = pressure_teardown,
};

WORKLOAD(pressure);
