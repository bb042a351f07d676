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
#define ROOM (ROOM_KB / 4)
/* LULL_ZFREE_BATCH: who frees waits at the last slot of a group. */
#define GROUP_SLOTS 64
/* As long as a slow host needs to come to the pause, and less than all of them take. */
#define BEGUN_MS 100
#define READY_STEP_MS 2

static struct zram zram = ZRAM_NONE;
static pid_t owner;
static char *page;
static volatile struct shared {
	bool out, go, stuck;
	uint64_t gone_ns;
} *shared;

static int lingers_setup(const struct job_case *c)
{
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

/* Whose memory it is. */
static void owner_main(void)
{
	struct pages pages = { .start = in_one_table(), .bytes = BYTES, .seed = 1 };

	if (pages.start)
		pages_fill(&pages);
	shared->stuck = !pages.start || pages_out(&pages) < 0;
	shared->out = true;
	while (!shared->go)
		sleep_ms(READY_STEP_MS);
	pages_unmap(&pages);
	shared->gone_ns = now_ns();
	for (;;)
		pause();
}

/* Has the slot a page that is not all zeroes? */
static bool has_page(int fd, off_t slot)
{
	return pread(fd, page, PAGE_BYTES, slot * PAGE_BYTES) == PAGE_BYTES &&
	       (page[0] || memcmp(page, page + 1, PAGE_BYTES - 1));
}

/* The one where the wait is that comes first: slots are freed in their order. */
static off_t first_slot(int fd)
{
	off_t slot = GROUP_SLOTS - 1;

	while (slot < ROOM && !has_page(fd, slot))
		slot += GROUP_SLOTS;
	return slot;
}

/* The same that comes last; there is the first. */
static off_t last_slot(int fd, off_t first)
{
	off_t slot = ROOM - 1;

	while (slot > first && !has_page(fd, slot))
		slot -= GROUP_SLOTS;
	return slot;
}

/*
 * Is one left? Of the first group that is what there is to see. On a slow host the mode
 * is another so late that it has gone, and only the last is left.
 */
static bool is_left(int fd, off_t first, off_t last)
{
	return has_page(fd, first) || has_page(fd, last);
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
static int was_tried(off_t slot, bool found, uint64_t other_ns)
{
	const char *what = slot >= ROOM ? "no slot has a page" :
			   lull_stat("zfree", "ranges") != 1 ||
			   lull_stat("zfree", "slots") != BYTES / PAGE_BYTES ?
				"the slots were not freed in one range" :
			   !found && shared->gone_ns < other_ns ?
				"the memory was gone before the mode changed" : NULL;

	return what ? fail(STATUS_UNMET, "lingers", "%s", what) : check_interrupted();
}

static int try_once(int fd, const char *mode, bool *found)
{
	uint64_t switch_ns = 0, begin;
	off_t slot, last;

	owner = crew_fork(NULL);
	if (!owner)
		owner_main();
	if (owner < 0)
		return -1;
	while (!shared->out && check_interrupted() >= 0)
		sleep_ms(READY_STEP_MS);
	if (shared->stuck)
		return fail(STATUS_UNMET, "lingers", "the memory did not go out");
	slot = first_slot(fd);
	last = slot < ROOM ? last_slot(fd, slot) : slot;
	if (measure_switch(mode, &switch_ns) < 0 || lull_stats_clear("zfree") < 0)
		return -1;
	shared->go = true;
	sleep_ms(BEGUN_MS);
	begin = now_ns();
	if (write_file(SWITCH, "stock") < 0)
		return fail(STATUS_FAILED, SWITCH, "%s", strerror(errno));
	*found = is_left(fd, slot, last);
	while (!shared->gone_ns && check_interrupted() >= 0)
		sleep_ms(READY_STEP_MS);
	write_file(SWITCH, mode);
	return was_tried(slot, *found, begin + switch_ns);
}

static int lingers_round(const struct job_case *c, const char *mode, struct sample *s)
{
	struct zram_options options = { .kb = ROOM_KB, .algorithm = "lzo-rle" };
	char path[ZRAM_PATH], text[120];
	bool found = false;
	int fd, ret;

	(void)s;
	memset((void *)shared, 0, sizeof(*shared));
	if (zram_start(&zram, &options) < 0)
		return -1;
	zram_device(path, sizeof(path), &zram);
	fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		return fail(STATUS_FAILED, path, "%s", strerror(errno));
	ret = try_once(fd, mode, &found);
	close(fd);
	crew_end(&owner);
	zram_stop(&zram);
	if (ret < 0)
		return -1;
	snprintf(text, sizeof(text), "%s: %s", mode,
		 found ? "a slot was read while its group was freed" :
			 "who frees a group is waited for");
	return report_check(c, "ZS11", !found, text);
}

static void lingers_teardown(void)
{
	crew_end(&owner);
	zram_stop(&zram);
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
