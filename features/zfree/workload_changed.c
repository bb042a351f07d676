// SPDX-License-Identifier: GPL-2.0-only
/*
 * A slot whose page is being written back is freed, written anew and marked
 * idle: writeback must not take the new page for the old one (ZS5).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "inject.h"
#include "job.h"
#include "lull.h"
#include "pages.h"
#include "perturb.h"
#include "util.h"
#include "workload.h"
#include "zram.h"

/* So few slots that the same ones are taken again, and no cache of them is used. */
#define SLOTS_KB 128
#define PAGES 28
#define SLOW_DEVICE "/dev/nullb0"
/* The device takes 30 ms: by then the write has begun, and has not ended. */
#define BEGUN_MS 5

static struct zram zram = ZRAM_NONE;
static struct pages pages;

static int changed_setup(const struct job_case *c)
{
	return lull_inject(c);
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

static int cycle(uint64_t number, uint64_t *wrong)
{
	pid_t pid;

	if (out(2 * number) < 0)
		return -1;
	/* The child must not have the pages, or they would not be freed. */
	madvise(pages.start, pages.bytes, MADV_DONTFORK);
	pid = write_back(1 + perturb_below(PAGES));
	if (pid < 0)
		return -1;
	sleep_ms(BEGUN_MS);
	pages_unmap(&pages);
	if (out(2 * number + 1) < 0 || zram_set(&zram, "idle", "all") < 0)
		return -1;
	waitpid(pid, NULL, 0);
	*wrong += pages_wrong(&pages);
	pages_unmap(&pages);
	return check_interrupted();
}

static int changed_round(const struct job_case *c, const char *mode, struct sample *s)
{
	struct zram_options options = {
		.kb = SLOTS_KB,
		.algorithm = "lzo-rle",
		.backing = SLOW_DEVICE,
	};
	uint64_t wrong = 0, written = 0;
	char text[120];

	(void)s;
	if (zram_start(&zram, &options) < 0)
		return -1;
	for (uint64_t i = 0; i < job_number(c, "cycles"); i++) {
		if (cycle(i, &wrong) < 0)
			return -1;
	}
	if (zram_written_back(&zram, &written) < 0)
		return -1;
	zram_stop(&zram);
	snprintf(text, sizeof(text), "%s: %" PRIu64 " pages written back, %" PRIu64 " wrong", mode,
		 written, wrong);
	return report_statement(c, "ZS5", written && !wrong, text);
}

static void changed_teardown(void)
{
	pages_unmap(&pages);
	zram_stop(&zram);
}

static const struct workload_param changed_params[] = {
	{ "cycles", "40" },
	INJECT_PARAMS,
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
