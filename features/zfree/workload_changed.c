// SPDX-License-Identifier: GPL-2.0-only
/*
 * A slot whose page is being written back is freed, written anew and marked
 * idle: writeback must not take the new page for the old one (ZS5).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "inject.h"
#include "job.h"
#include "knob.h"
#include "pages.h"
#include "perturb.h"
#include "util.h"
#include "workload.h"
#include "zram.h"

/* So few slots that the same ones are taken again, and no cache of them is used. */
#define SLOTS_KB 128
#define PAGES 28
/* A device in memory that takes its time: null_blk's, by a timer. */
#define CONFIGFS "/sys/kernel/config"
#define SLOW CONFIGFS "/nullb/slow"
#define SLOW_DEVICE "/dev/slow"
/*
 * As long as everything takes that is to happen meanwhile. On a slow host that is
 * longer: where so many were late the device gets twice as slow.
 */
#define SLOW_NS 500000000ull
#define SLOWEST_NS (16 * SLOW_NS)
#define LATE 3
#define BEGUN_STEP_MS 2

static struct zram zram = ZRAM_NONE;
static struct pages pages;
/* For all rounds: the host stays as slow as it is. */
static uint64_t slow_ns = SLOW_NS;

struct tally {
	/* Slots that were changed while their old page was on its way, and after that. */
	unsigned int changed, late;
	uint64_t wrong;
	unsigned int cycles;
};

static int changed_setup(const struct job_case *c)
{
	if (knob_mount("configfs", CONFIGFS, "configfs", NULL) < 0 || knob_mkdir(SLOW) < 0 ||
	    knob_write(SLOW "/size", "16") < 0 || knob_write(SLOW "/memory_backed", "1") < 0 ||
	    knob_write(SLOW "/irqmode", "2") < 0)
		return -1;
	return inject_case(c);
}

/* It cannot be changed while it is there. */
static int take_time(void)
{
	char ns[24];

	snprintf(ns, sizeof(ns), "%" PRIu64, slow_ns);
	return knob_write(SLOW "/power", "0") < 0 ||
	       knob_write(SLOW "/completion_nsec", ns) < 0 ||
	       knob_write(SLOW "/power", "1") < 0 ? -1 : 0;
}

/* There is a page on its way to the device. */
static bool being_written(void)
{
	unsigned int writes = 0;
	char text[64];

	/* Reads, and writes. */
	if (read_file("/sys/block/slow/inflight", text, sizeof(text)) > 0)
		sscanf(text, "%*u %u", &writes);
	return writes;
}

static int out(uint64_t seed)
{
	if (pages_make(&pages, PAGES * PAGE_BYTES, seed) < 0)
		return -1;
	/* Not all of them have to find a slot. */
	madvise(pages.start, pages.bytes, MADV_PAGEOUT);
	return 0;
}

/* One slot is written back by a child; -1 or its PID. */
static pid_t write_back(uint64_t slot)
{
	pid_t probe = getpid(), pid = fork();
	char what[32];

	if (pid)
		return pid < 0 ? fail(STATUS_FAILED, "fork", "%s", strerror(errno)) : pid;
	crew_member(probe);
	snprintf(what, sizeof(what), "page_index=%" PRIu64, slot);
	zram_set(&zram, "writeback", what);
	_exit(0);
}

static int cycle(unsigned int number, struct tally *tally)
{
	bool begun;
	pid_t pid;

	if (out(2 * number) < 0)
		return -1;
	/* The child must not have the pages, or they would not be freed. */
	madvise(pages.start, pages.bytes, MADV_DONTFORK);
	pid = write_back(1 + perturb_below(PAGES));
	if (pid < 0)
		return -1;
	/* It ends at once where the slot has no page. */
	while (!(begun = being_written()) && !waitpid(pid, NULL, WNOHANG))
		sleep_ms(BEGUN_STEP_MS);
	pages_unmap(&pages);
	if (out(2 * number + 1) < 0 || zram_set(&zram, "idle", "all") < 0)
		return -1;
	if (being_written())
		tally->changed++;
	else
		tally->late += begun;
	/* Or it is gone already. */
	waitpid(pid, NULL, 0);
	tally->wrong += pages_wrong(&pages);
	pages_unmap(&pages);
	return check_interrupted();
}

static bool goes_on(const struct job_case *c, const struct tally *tally)
{
	return tally->changed < job_number(c, "changes") && !tally->wrong &&
	       tally->cycles < job_number(c, "cycles");
}

/* Until enough were changed, a page is wrong, or so many in a row were late. */
static int cycles(const struct job_case *c, struct tally *tally)
{
	struct zram_options options = {
		.kb = SLOTS_KB,
		.algorithm = "lzo-rle",
		.backing = SLOW_DEVICE,
	};
	unsigned int before = tally->changed;

	if (take_time() < 0 || zram_start(&zram, &options) < 0)
		return -1;
	for (tally->late = 0; goes_on(c, tally) && tally->late < LATE; tally->cycles++) {
		if (cycle(tally->cycles, tally) < 0)
			return -1;
		if (tally->changed != before)
			tally->late = 0;
		before = tally->changed;
	}
	zram_stop(&zram);
	return 0;
}

static int changed_round(const struct job_case *c, const char *mode, struct sample *s)
{
	struct tally tally = { 0 };
	char text[120];

	(void)s;
	for (;;) {
		if (cycles(c, &tally) < 0)
			return -1;
		if (!goes_on(c, &tally) || slow_ns >= SLOWEST_NS)
			break;
		slow_ns *= 2;
	}
	if (tally.changed < job_number(c, "changes") && !tally.wrong) {
		fail(STATUS_UNMET, "changed", "%u slots changed in time, in %u cycles",
		     tally.changed, tally.cycles);
		return fail_hint("is the host too slow for writes of %" PRIu64 " ns?", slow_ns);
	}
	snprintf(text, sizeof(text), "%s: %u slots changed meanwhile, %" PRIu64 " pages wrong",
		 mode, tally.changed, tally.wrong);
	return report_check(c, "ZS5", !tally.wrong, text);
}

static void changed_teardown(void)
{
	pages_unmap(&pages);
	zram_stop(&zram);
}

static const struct workload_param changed_params[] = {
	{ "changes", "12" },
	{ "cycles", "200" },
	INJECT_PARAMS,
	{ "delay_ms", "0" },
	{ 0 },
};

static const struct workload changed = {
	.feature = "zfree",
	.name = "changed",
	.text = "slots are written anew while writeback has their old pages on the way",
	.params = changed_params,
	.setup = changed_setup,
	.round = changed_round,
	.teardown = changed_teardown,
};

WORKLOAD(changed);
