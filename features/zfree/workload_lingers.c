// SPDX-License-Identifier: GPL-2.0-only
/*
 * A group of slots is being freed when the mode becomes "stock", and then one of them
 * is read from the device: nobody may read it while it is freed (ZS11).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "crew.h"
#include "inject.h"
#include "job.h"
#include "layout.h"
#include "lull.h"
#include "pages.h"
#include "util.h"
#include "workload.h"
#include "zram.h"

#define SWITCH "/sys/module/lull/parameters/zfree"
#define ROOM_KB 4096
#define BYTES ((size_t)1 << 20)
/* What one page table maps. */
#define TABLE ((size_t)2 << 20)
/* LULL_ZFREE_BATCH: who frees waits at the last slot of a group. */
#define GROUP_SLOTS 64
#define STEP_MS 1
#define LIMIT_MS 60000
#define OUT_TRIES 10

static struct zram zram = ZRAM_NONE;
static pid_t owner;
static char *page;
static volatile struct shared {
	bool out, go, gone;
	long slot;		/* of the first page; all lie one after the other, or -1 */
	uint64_t gone_ns;
} *shared;

static int lingers_setup(const struct job_case *c)
{
	/* Where nobody frees. */
	if (pin_begin(0) < 0)
		return -1;
	if (!shared)
		shared = crew_memory(sizeof(*shared));
	if (!page && posix_memalign((void **)&page, PAGE_BYTES, PAGE_BYTES))
		return fail(STATUS_FAILED, "lingers", "no memory for a page");
	return shared ? inject_case(c) : -1;
}

/*
 * In one page table: its slots are then freed without a pause of RCU between them, which
 * would let the mode become another in the middle.
 */
static char *in_one_table(void)
{
	char *start = mmap(NULL, 2 * TABLE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (start == MAP_FAILED)
		return NULL;
	start += -(uintptr_t)start & (TABLE - 1);
	return mprotect(start, BYTES, PROT_READ | PROT_WRITE) < 0 ? NULL : start;
}

/* Whose memory it is. On one CPU, as each gives its own slots, and has its own new pages. */
static void owner_main(void)
{
	struct pages pages = { .start = in_one_table(), .bytes = BYTES, .seed = 1 };

	if (!pages.start || pin_cpu(1) < 0)
		_exit(1);
	pages_fill(&pages);
	shared->slot = pages_out(&pages) < 0 ? -1 : layout_in_order(&pages);
	shared->out = true;
	while (!shared->go)
		sleep_ms(STEP_MS);
	pages_unmap(&pages);
	shared->gone_ns = now_ns();
	shared->gone = true;
	for (;;)
		pause();
}

/*
 * Is the slot there at which who frees waits first, as one that is not all zeroes? Slots
 * are freed in their order; -1 with fail() called.
 */
static int is_left(int fd)
{
	off_t slot = shared->slot | (GROUP_SLOTS - 1);

	if (pread(fd, page, PAGE_BYTES, slot * PAGE_BYTES) != PAGE_BYTES)
		return fail(STATUS_FAILED, "zram", "cannot read a slot: %s", strerror(errno));
	return page[0] || memcmp(page, page + 1, PAGE_BYTES - 1);
}

/* How long it takes, while nobody frees, until the mode is another. */
static int measure_switch(const char *mode, uint64_t *ns)
{
	uint64_t begin = now_ns();

	if (write_file(SWITCH, "stock") < 0)
		return fail(STATUS_FAILED, SWITCH, "%s", strerror(errno));
	*ns = now_ns() - begin;
	if (write_file(SWITCH, mode) < 0)
		return fail(STATUS_FAILED, SWITCH, "%s", strerror(errno));
	return 0;
}

/*
 * All have to be freed in one range, or one that is left may be of another, which was not
 * begun; and where none was left, that one has to end when the mode is another.
 */
static int was_tried(int found, uint64_t other_ns)
{
	const char *what = lull_stat("zfree", "ranges") != 1 ||
			   lull_stat("zfree", "slots") != BYTES / PAGE_BYTES ?
				"the slots were not freed in one range" :
			   !found && shared->gone_ns < other_ns ?
				"the memory was gone before the mode changed" : NULL;

	return what ? fail(STATUS_UNMET, "lingers", "%s", what) : check_interrupted();
}

static void stop(void)
{
	crew_end(&owner);
	zram_stop(&zram);
}

/* A new device, and the owner's memory on it, in order. */
static int start(void)
{
	struct zram_options options = { .kb = ROOM_KB, .algorithm = "lzo-rle" };

	for (unsigned int i = 0; i < OUT_TRIES; i++) {
		memset((void *)shared, 0, sizeof(*shared));
		if (inject_number("zfree", "pause_us", 0) < 0 || zram_start(&zram, &options) < 0)
			return -1;
		owner = crew_fork(NULL);
		if (!owner)
			owner_main();
		if (owner < 0 || crew_ready(&shared->out, owner, "whose memory it is") < 0)
			return -1;
		if (shared->slot >= 0)
			return 0;
		stop();
	}
	return fail(STATUS_UNMET, "lingers", "the memory did not go out in order");
}

/* Returns when it waits in its first group, or has gone through all. */
static int begin_freeing(const struct job_case *c)
{
	uint64_t paused = inject_count("zfree", "paused");

	if (inject_number("zfree", "pause_us", job_number(c, "pause_us")) < 0)
		return -1;
	shared->go = true;
	for (unsigned int ms = 0; inject_count("zfree", "paused") == paused && !shared->gone; ms++) {
		if (check_interrupted() < 0)
			return -1;
		if (ms == LIMIT_MS)
			return fail(STATUS_UNMET, "lingers", "nobody frees");
		sleep_ms(STEP_MS);
	}
	return 0;
}

static int try_once(const struct job_case *c, int fd, const char *mode, int *found)
{
	uint64_t switch_ns = 0, begin;

	if (measure_switch(mode, &switch_ns) < 0 || lull_stats_clear("zfree") < 0)
		return -1;
	*found = is_left(fd);
	if (*found <= 0)
		return *found ? -1 : fail(STATUS_UNMET, "lingers", "the slot has no page");
	if (begin_freeing(c) < 0)
		return -1;
	begin = now_ns();
	if (write_file(SWITCH, "stock") < 0)
		return fail(STATUS_FAILED, SWITCH, "%s", strerror(errno));
	*found = is_left(fd);
	if (*found < 0 || crew_ready(&shared->gone, owner, "who frees") < 0)
		return -1;
	write_file(SWITCH, mode);
	return was_tried(*found, begin + switch_ns);
}

static int lingers_round(const struct job_case *c, const char *mode, struct sample *s)
{
	char path[ZRAM_PATH], text[120];
	int found = 0, fd, ret;

	(void)s;
	if (start() < 0)
		return -1;
	zram_device(path, sizeof(path), &zram);
	fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		return fail(STATUS_FAILED, path, "%s", strerror(errno));
	ret = try_once(c, fd, mode, &found);
	close(fd);
	stop();
	if (ret < 0)
		return -1;
	snprintf(text, sizeof(text), "%s: %s", mode,
		 found ? "a slot was read while its group was freed" :
			 "who frees a group is waited for");
	return report_check(c, "ZS11", !found, text);
}

static void lingers_teardown(void)
{
	stop();
	pin_end();
}

static const struct workload_param lingers_params[] = {
	INJECT_PARAMS,
	{ "delay_ms", "0" },
	{ 0 },
};

static const struct workload lingers = {
	.feature = "zfree",
	.name = "lingers",
	.text = "the mode changes while slots are freed, and one of them is read",
	.params = lingers_params,
	.setup = lingers_setup,
	.round = lingers_round,
	.teardown = lingers_teardown,
};

WORKLOAD(lingers);
