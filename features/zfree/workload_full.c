// SPDX-License-Identifier: GPL-2.0-only
/*
 * zram is at its limit, full to the page, and one page of that waits for the worker:
 * who writes one gets its place, and does not stand in its own way (ZS9).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "crew.h"
#include "inject.h"
#include "job.h"
#include "lull.h"
#include "slots.h"
#include "util.h"
#include "worker.h"
#include "workload.h"
#include "zram.h"

/* Pages that do not compress: each is an object of a page. */
#define FILLED 8

/* Pages of their own, as direct I/O wants them. */
static struct scene {
	struct slot_page some, zeroes;
} *scene;

static struct zram zram = ZRAM_NONE;
static cpu_set_t everywhere;
static int device = -1;

static int put(unsigned int slot, uint64_t seed)
{
	slot_fill(&scene->some, seed, SLOT_WORDS);
	return slot_write(device, &scene->some, slot) ?
		       0 :
		       fail(STATUS_FAILED, "zram", "slot %u is not written: %s", slot,
			    strerror(errno));
}

/* A page of zeroes has no object, and what the slot had is freed. */
static int clear(unsigned int slot)
{
	return slot_write(device, &scene->zeroes, slot) ?
		       0 :
		       fail(STATUS_FAILED, "zram", "slot %u is not cleared: %s", slot,
			    strerror(errno));
}

static int free_some(uint64_t round)
{
	return put(0, round) < 0 ? -1 : clear(0);
}

static int fill_to_the_page(void)
{
	struct zram_stat stat;

	for (unsigned int i = 0; i < FILLED; i++) {
		if (put(i, i) < 0)
			return -1;
	}
	if (clear(0) < 0 || zram_stat(&zram, &stat) < 0 ||
	    slots_limit(&zram, stat.mem_used_total) < 0)
		return -1;
	if (worker_left() != 1 || stat.mem_used_total != FILLED * PAGE_BYTES)
		return fail(STATUS_UNMET, "full", "%" PRIu64 " objects wait, %" PRIu64
			    " bytes in use", worker_left(), stat.mem_used_total);
	return 0;
}

static int full_round(const struct job_case *c, const char *mode, struct sample *s)
{
	struct zram_options options = { .kb = SLOTS_MB << 10, .algorithm = "lzo-rle" };
	bool taken;

	(void)mode;
	(void)s;
	if (!scene)
		scene = crew_memory(sizeof(*scene));
	if (!scene || lull_stats_clear("zfree") < 0 || zram_start(&zram, &options) < 0 ||
	    zram_swap_off(&zram) < 0)
		return -1;
	device = slots_open(&zram);
	if (device < 0 || worker_keep_away(free_some) < 0 || fill_to_the_page() < 0)
		return -1;
	slot_fill(&scene->some, FILLED, SLOT_WORDS);
	taken = slot_write(device, &scene->some, FILLED);
	return inject_statement(c, "ZS9", taken,
				taken ? "the page at the limit is taken" :
					"the page at the limit is refused, while one waits");
}

static int full_setup(const struct job_case *c)
{
	/* Each CPU has a ring of its own: what is freed elsewhere is freed at once. */
	if (sched_getaffinity(0, sizeof(everywhere), &everywhere) < 0)
		return fail(STATUS_FAILED, "sched_getaffinity", "%s", strerror(errno));
	return pin_cpu(0) < 0 ? -1 : inject_case(c);
}

static void full_teardown(void)
{
	if (device >= 0)
		close(device);
	device = -1;
	zram_stop(&zram);
	sched_setaffinity(0, sizeof(everywhere), &everywhere);
}

static const struct workload_param params[] = {
	INJECT_PARAMS,
	{ "delay_ms", "0" },
	{ "broken", "none" },
	{ 0 },
};

static const struct workload full = {
	.feature = "zfree",
	.name = "full",
	.text = "a page is written to a device that is full to the page, while one waits",
	.params = params,
	.setup = full_setup,
	.round = full_round,
	.teardown = full_teardown,
};

WORKLOAD(full);
