// SPDX-License-Identifier: GPL-2.0-only
/*
 * zram is at its limit, full to the last object, and one of these waits for the worker:
 * who writes another gets its place, also where that is in a page that is in use, and
 * does not stand in its own way (ZS9). So it is where the mode has become another since;
 * once nothing waits in that one, nobody looks for it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
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

/* Words of a page that do not repeat: many of what comes of it share a page. */
#define FEW 12
/* Of such objects a zspage has fewer. */
#define MANY 1024
#define REST_NS 60000000000ull
#define REST_STEP_MS 50
/* So many in a row: one may be refused by something else. */
#define ENOUGH 3

/* Pages of their own, as direct I/O wants them. */
static struct scene {
	struct slot_page some, zeroes;
} *scene;

static struct zram zram = ZRAM_NONE;
static int device = -1;
static size_t distinct;

static int put(unsigned int slot, uint64_t seed)
{
	slot_fill(&scene->some, seed, distinct);
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

static int in_use(uint64_t *bytes)
{
	struct zram_stat stat;

	if (zram_stat(&zram, &stat) < 0)
		return -1;
	*bytes = stat.mem_used_total;
	return 0;
}

/* Two zspages of the same number of objects, to the last one; returns how many that are. */
static int fill_two(void)
{
	uint64_t one, two, now;
	unsigned int first, n = 1;

	if (put(0, 0) < 0 || in_use(&one) < 0)
		return -1;
	do {
		if (put(n, n) < 0 || in_use(&two) < 0)
			return -1;
	} while (two == one && ++n < MANY);
	/* Slot n is the first one in the second. */
	first = n;
	while (++n < 2 * first) {
		if (put(n, n) < 0)
			return -1;
	}
	if (in_use(&now) < 0)
		return -1;
	if (two != 2 * one || now != two)
		return fail(STATUS_UNMET, "full", "%u and %u objects take %" PRIu64 " bytes, not "
			    "%" PRIu64, first, first, now, 2 * one);
	return (int)n;
}

static int keep_away(int (*free_one)(uint64_t round))
{
	return worker_keep_away(free_one, 0);
}

/* A device that is empty, and its worker has come or was kept away. */
static int begin(int (*worker)(int (*free_some)(uint64_t round)))
{
	struct zram_options options = { .kb = SLOTS_MB << 10, .algorithm = "lzo-rle" };

	if (!scene)
		scene = crew_memory(sizeof(*scene));
	if (!scene || lull_stats_clear("zfree") < 0 || zram_start(&zram, &options) < 0 ||
	    zram_swap_off(&zram) < 0)
		return -1;
	device = slots_open(&zram);
	return device < 0 ? -1 : worker(free_some);
}

/* To the last object, which is the limit; returns how many there are. */
static int fill(void)
{
	int n = fill_two();
	uint64_t bytes;

	return n < 0 || in_use(&bytes) < 0 || slots_limit(&zram, bytes) < 0 ? -1 : n;
}

static bool is_taken(int slot)
{
	slot_fill(&scene->some, (uint64_t)slot, distinct);
	return slot_write(device, &scene->some, (unsigned int)slot);
}

static int switch_from(const char *mode, const char *then)
{
	return strcmp(then, mode) ? lull_switch("zfree", then) : 0;
}

static int with_one_that_waits(const struct job_case *c, const char *mode)
{
	const char *then = job_param(c, "then");
	uint64_t waited, queued;
	int next;
	bool taken;
	char text[160];

	if (begin(keep_away) < 0)
		return -1;
	next = fill();
	if (next < 0 || clear(0) < 0)
		return -1;
	waited = worker_left();
	queued = lull_stat("zfree", "queued");
	if (switch_from(mode, then) < 0)
		return -1;
	taken = is_taken(next);
	if (waited != 1)
		return fail(STATUS_UNMET, "full", "%" PRIu64 " objects waited", waited);
	/* Who is refused at the limit has an object by then, and leaves it to the worker. */
	if (!taken && !strcmp(then, mode) && lull_stat("zfree", "queued") == queued)
		return fail(STATUS_UNMET, "full", "the write failed by something else");
	snprintf(text, sizeof(text),
		 "with %d objects zram is full, one waits, the mode is %s, and another is %s", next,
		 then, taken ? "taken" : "refused");
	return report_check(c, "ZS9", taken, text);
}

/* Until some are refused without a look: the worker may need a while to come to rest. */
static int with_none(const struct job_case *c, const char *mode)
{
	const char *then = job_param(c, "then");
	unsigned int refused = 0, without = 0;
	uint64_t flushes, begun;
	int next;
	char text[160];

	if (begin(worker_begin) < 0)
		return -1;
	next = fill();
	if (next < 0)
		return -1;
	if (is_taken(next) || !lull_stat("zfree", "flushes"))
		return fail(STATUS_UNMET, "full", "nobody was refused who had looked");
	if (switch_from(mode, then) < 0)
		return -1;
	begun = now_ns();
	do {
		if (check_interrupted() < 0)
			return -1;
		flushes = lull_stat("zfree", "flushes");
		if (is_taken(next))
			return fail(STATUS_UNMET, "full", "the limit is gone");
		refused++;
		without = lull_stat("zfree", "flushes") == flushes ? without + 1 : 0;
		sleep_ms(REST_STEP_MS);
	} while (without < ENOUGH && (refused < ENOUGH || now_ns() - begun < REST_NS));
	snprintf(text, sizeof(text),
		 "zram is full, the mode is %s, none waits, %u are refused, the last %u without a "
		 "look for what waits", then, refused, without);
	return report_check(c, "ZS9", without >= ENOUGH, text);
}

static int full_round(const struct job_case *c, const char *mode, struct sample *s)
{
	(void)s;
	distinct = job_number(c, "shared") ? FEW : SLOT_WORDS;
	return job_number(c, "rest") ? with_none(c, mode) : with_one_that_waits(c, mode);
}

static int full_setup(const struct job_case *c)
{
	/* Each CPU has a ring of its own: what is freed elsewhere is freed at once. */
	return pin_begin(0) < 0 ? -1 : inject_case(c);
}

static void full_teardown(void)
{
	if (device >= 0)
		close(device);
	device = -1;
	zram_stop(&zram);
	pin_end();
}

static const struct workload_param params[] = {
	INJECT_PARAMS,
	{ "shared", "0" },
	{ "then", "deferred" },
	{ "rest", "0" },
	{ "delay_ms", "0" },
	{ 0 },
};

static const struct workload full = {
	.feature = "zfree",
	.name = "full",
	.text = "a page is written to a device that is full, while an object waits",
	.params = params,
	.setup = full_setup,
	.round = full_round,
	.teardown = full_teardown,
};

WORKLOAD(full);
