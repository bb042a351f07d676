// SPDX-License-Identifier: GPL-2.0-only
/*
 * What waits for the worker of the mode "deferred", and what may happen to it
 * meanwhile (ZS8, ZS9). The worker is kept away for the time of the test, except
 * where it is what is tested.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dense.h"
#include "fair_server.h"
#include "inject.h"
#include "job.h"
#include "knob.h"
#include "lull.h"
#include "pages.h"
#include "util.h"
#include "worker.h"
#include "workload.h"
#include "zram.h"

#define FAIL "/sys/kernel/debug/failslab/"
#define AREA_BYTES ((size_t)2 << 20)
/* Slots that are freed one by one are zram's until 64 have come together. */
#define CACHED ((uint64_t)64 * PAGE_BYTES)
#define CPU 1
#define CPU_ONLINE "/sys/devices/system/cpu/cpu1/online"
/* More than zs_create_pool() and what zram does before it allocate. */
#define ALLOCATIONS 400
/* Of zswap's pool: they wait, less than that is written then, and the rest fills it. */
#define FREED_PAGES 512
#define ANEW_PAGES 256
#define REST_PAGES 12288
#define REST_STEP 16

static struct zram zram = ZRAM_NONE;
static struct pages pages;

static int start(void)
{
	struct zram_options options = { .kb = SLOTS_MB << 10, .algorithm = "lzo-rle" };

	return zram_start(&zram, &options);
}

/* In swap, and then unmapped. */
static int cycle(uint64_t seed)
{
	if (pages_make(&pages, AREA_BYTES, seed) < 0 || pages_out(&pages) < 0)
		return -1;
	pages_unmap(&pages);
	return 0;
}

static int keep_away(void)
{
	return worker_keep_away(cycle, 0);
}

static uint64_t waiting(void)
{
	return worker_left();
}

static int verdict(const struct job_case *c, const char *name, bool ok, const char *what,
		   uint64_t before, uint64_t after)
{
	char text[160];

	/* Neither held nor broken. */
	if (!before)
		return fail(STATUS_UNMET, what, "no object waited");
	snprintf(text, sizeof(text), "%s: %" PRIu64 " objects waited, %" PRIu64 " after it", what,
		 before, after);
	return report_check(c, name, ok, text);
}

static int drained_by(const struct job_case *c, const char *name, const char *what,
		      uint64_t before)
{
	uint64_t after = waiting();

	return verdict(c, name, !after, what, before, after);
}

static int on_destroy(const struct job_case *c)
{
	uint64_t before;

	if (keep_away() < 0 || cycle(100) < 0)
		return -1;
	before = waiting();
	zram_stop(&zram);
	return drained_by(c, "ZS8", "the device was reset", before);
}

static int on_pressure(const struct job_case *c)
{
	uint64_t before;

	if (keep_away() < 0 || cycle(100) < 0)
		return -1;
	before = waiting();
	/* All shrinkers; nothing else that would free objects. */
	if (write_file("/proc/sys/vm/drop_caches", "2") < 0)
		return fail(STATUS_LACKING, "drop_caches", "%s", strerror(errno));
	return drained_by(c, "ZS9", "memory was short", before);
}

static int on_offline(const struct job_case *c)
{
	uint64_t waited;

	if (fair_server_off() < 0 || pin_cpu(CPU) < 0 || keep_away() < 0 || cycle(100) < 0)
		return -1;
	waited = waiting();
	if (pin_cpu(0) < 0 || knob_write(CPU_ONLINE, "0") < 0)
		return -1;
	/* The pool's end drains all rings there are. */
	zram_stop(&zram);
	return drained_by(c, "ZS8", "its CPU is off", waited);
}

/* Nobody else drains here: the worker itself has to come. */
static int on_worker(const struct job_case *c)
{
	uint64_t before = 0;

	for (uint64_t i = 0; i < 20 && !before; i++) {
		if (cycle(i) < 0)
			return -1;
		before = lull_stat("zfree", "queued");
	}
	if (worker_wait() < 0)
		return -1;
	return drained_by(c, "ZS8", "the worker came", before);
}

/* What waits must not stand in the way of what is written. */
static int on_limit(const struct job_case *c)
{
	struct zram_stat fresh, stat;
	uint64_t before, more;
	char limit[32];

	if (keep_away() < 0 || zram_stat(&zram, &fresh) < 0 || pages_make(&pages, AREA_BYTES, 100) < 0 ||
	    pages_out(&pages) < 0 || zram_stat(&zram, &stat) < 0)
		return -1;
	/* An eighth more, since other pages compress to other sizes. */
	snprintf(limit, sizeof(limit), "%" PRIu64, stat.mem_used_total * 9 / 8);
	if (zram_set(&zram, "mem_limit", limit) < 0)
		return -1;
	pages_unmap(&pages);
	before = waiting();
	if (pages_make(&pages, AREA_BYTES, 200) < 0)
		return -1;
	if (pages_out(&pages) < 0 || zram_stat(&zram, &stat) < 0)
		return -1;
	pages_unmap(&pages);
	/* A page that was refused is out of the process, and still in memory. */
	more = stat.orig_data_size - fresh.orig_data_size;
	/* A CPU's cache may keep other slots of before than of these: nobody can tell. */
	if (more != AREA_BYTES && more + CACHED >= AREA_BYTES && more <= AREA_BYTES + CACHED)
		return fail(STATUS_UNMET, "limit", "%" PRIu64 " bytes taken, of which some may be "
			    "cached slots", more);
	return verdict(c, "ZS9", more == AREA_BYTES, "bytes taken at the limit", before, more);
}

/* Until it refuses: that is at its limit and not beyond, as each page takes one. */
static int fill_zswap(char *start, struct dense_stat *full)
{
	struct dense_stat before;

	if (dense_stat(&before) < 0)
		return -1;
	for (unsigned int i = 0; i < REST_PAGES; i += REST_STEP) {
		if (dense_out(start + (size_t)i * PAGE_BYTES, REST_STEP, i) < 0 ||
		    dense_stat(full) < 0)
			return -1;
		if (full->pages - before.pages != full->stored - before.stored)
			return fail(STATUS_UNMET, "zswap", "pages take more than one, or less");
		if (full->refused > before.refused)
			return 0;
	}
	return fail(STATUS_UNMET, "zswap", "takes %d pages, and is not full", REST_PAGES);
}

/*
 * The same of zswap, which is full to the page. Its worker shrinks nothing: at the
 * threshold it looks at one entry each time, and spares those it had not looked at.
 * Who has freed is off: without that ring a drain does nothing.
 */
static int on_zswap_limit(const struct job_case *c)
{
	char *freed = dense_map(FREED_PAGES), *anew = dense_map(ANEW_PAGES);
	char *rest = dense_map(REST_PAGES);
	struct dense_stat full, before, after;
	uint64_t waited, taken;
	char text[160];

	if (!freed || !anew || !rest || fair_server_off() < 0 || pin_cpu(CPU) < 0 || dense_start() < 0 ||
	    keep_away() < 0 || dense_out(freed, FREED_PAGES, REST_PAGES) < 0 ||
	    fill_zswap(rest, &full) < 0)
		return -1;
	dense_unmap(freed, FREED_PAGES);
	if (pin_cpu(0) < 0 || knob_write(CPU_ONLINE, "0") < 0 || dense_stat(&before) < 0)
		return -1;
	waited = waiting();
	if (waited < ANEW_PAGES || before.pages != full.pages)
		return fail(STATUS_UNMET, "zswap",
			    "%" PRIu64 " objects waited, %" PRIu64 " of %" PRIu64 " pages in use",
			    waited, before.pages, full.pages);
	if (dense_out(anew, ANEW_PAGES, REST_PAGES + 1) < 0 || dense_stat(&after) < 0)
		return -1;
	taken = after.stored - before.stored;
	snprintf(text, sizeof(text),
		 "zswap at its limit of %" PRIu64 " pages, %" PRIu64 " objects waited: "
		 "%" PRIu64 " of %d pages taken, %" PRIu64 " refused",
		 full.pages, waited, taken, ANEW_PAGES, after.refused - before.refused);
	dense_unmap(anew, ANEW_PAGES);
	dense_unmap(rest, REST_PAGES);
	return report_check(c, "ZS9", taken == ANEW_PAGES, text);
}

static int set_fail(const char *name, const char *value)
{
	char path[80];

	snprintf(path, sizeof(path), FAIL "%s", name);
	return knob_write(path, value);
}

/* Each allocation in making a pool fails once; then it is used. */
static int on_failslab(const struct job_case *c)
{
	uint64_t refused = 0;
	char text[80], space[16];

	zram_stop(&zram);
	if (set_fail("task-filter", "Y") < 0 || set_fail("probability", "100") < 0 ||
	    set_fail("interval", "1") < 0 || set_fail("verbose", "0") < 0 ||
	    set_fail("ignore-gfp-wait", "N") < 0)
		return -1;
	for (unsigned int i = 0; i < ALLOCATIONS; i++) {
		snprintf(space, sizeof(space), "%u", i * 64);
		if (write_file(FAIL "space", space) < 0 || write_file(FAIL "times", "1") < 0 ||
		    write_file("/proc/self/make-it-fail", "1") < 0)
			return fail(STATUS_LACKING, FAIL, "%s", strerror(errno));
		refused += start() < 0;
		write_file("/proc/self/make-it-fail", "0");
		memset(&problem, 0, sizeof(problem));
		if (zram.swaps && cycle(i) < 0)
			return -1;
		zram_stop(&zram);
		memset(&problem, 0, sizeof(problem));
	}
	snprintf(text, sizeof(text), "%" PRIu64 " of %d devices could not be made", refused,
		 ALLOCATIONS);
	/* Some have to be refused, or nothing was injected, and not all of them. */
	return report_check(c, "failslab", refused && refused < ALLOCATIONS, text);
}

/* Without memory for rings everything is freed at once. */
static int on_no_rings(const struct job_case *c)
{
	uint64_t full;
	char text[80];

	for (uint64_t i = 0; i < 4; i++) {
		if (cycle(i) < 0)
			return -1;
		sleep_ms(50);
	}
	full = lull_stat("zfree", "full");
	snprintf(text, sizeof(text), "%" PRIu64 " objects freed at once, %" PRIu64 " queued", full,
		 lull_stat("zfree", "queued"));
	return report_check(c, "rings", full && !lull_stat("zfree", "queued"), text);
}

static const struct event {
	const char *name;
	int (*run)(const struct job_case *c);
} events[] = {
	{ "destroy", on_destroy },
	{ "offline", on_offline },
	{ "worker", on_worker },
	{ "limit", on_limit },
	{ "zswap-limit", on_zswap_limit },
	{ "pressure", on_pressure },
	{ "failslab", on_failslab },
	{ "no-rings", on_no_rings },
};

static int queue_setup(const struct job_case *c)
{
	/* Each CPU has a ring only after it wanted one: what is freed elsewhere is gone. */
	return pin_begin(0) < 0 ? -1 : inject_case(c);
}

static int queue_round(const struct job_case *c, const char *mode, struct sample *s)
{
	const char *name = job_param(c, "event");

	(void)mode;
	(void)s;
	if (lull_stats_clear("zfree") < 0 || start() < 0)
		return -1;
	for (unsigned int i = 0; i < ARRAY_SIZE(events); i++) {
		if (!strcmp(events[i].name, name))
			return events[i].run(c);
	}
	return fail(STATUS_USAGE, "event", "no event '%s'", name);
}

static void queue_teardown(void)
{
	pages_unmap(&pages);
	zram_stop(&zram);
	pin_end();
}

static const struct workload_param queue_params[] = {
	{ "event", "destroy" },
	INJECT_PARAMS,
	{ "delay_ms", "0" },
	{ 0 },
};

static const struct workload queue = {
	.feature = "zfree",
	.name = "queue",
	.text = "what happens to objects that wait for the worker",
	.params = queue_params,
	.setup = queue_setup,
	.round = queue_round,
	.teardown = queue_teardown,
};

WORKLOAD(queue);
