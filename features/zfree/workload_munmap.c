// SPDX-License-Identifier: GPL-2.0-only
/* One process unmaps memory that is all in zram: the thread's second test. */
#include <stdio.h>

#include "job.h"
#include "lull.h"
#include "mark.h"
#include "pages.h"
#include "perturb.h"
#include "util.h"
#include "workload.h"
#include "zram.h"

#define PAGE 4096
#define SETTLE_MS 50

static struct zram zram = ZRAM_NONE;
static struct pages pages;

static int munmap_setup(const struct job_case *c)
{
	/* Room for what the caches of swap slots hold back. */
	return zram_start(&zram, job_param(c, "algorithm"), (job_number(c, "mb") + 64) << 20);
}

static int munmap_round(const struct job_case *c, const char *mode, struct sample *s)
{
	double count;
	uint64_t begin, end;

	(void)mode;
	if (pages_make(&pages, job_number(c, "mb") << 20, perturb_below(UINT32_MAX)) < 0 ||
	    pages_out(&pages) < 0 || lull_stats_clear("zfree") < 0)
		return -1;
	count = (double)(pages.bytes / PAGE);
	/* Until what was written is written. */
	sleep_ms(SETTLE_MS);
	perturb_phase();

	begin = now_ns();
	mark_begin();
	pages_unmap(&pages);
	mark_end();
	end = now_ns();

	sample_add(s, "pages", count);
	sample_add(s, "munmap", (double)(end - begin));
	sample_add(s, "munmap_page", (double)(end - begin) / count);
	lull_stats_add("zfree", s);
	return 0;
}

static void munmap_teardown(void)
{
	pages_unmap(&pages);
	zram_stop(&zram);
}

static const struct workload_param munmap_params[] = {
	{ "mb", "256" },
	{ "algorithm", "lzo-rle" },
	{ 0 },
};

static const struct workload munmap_workload = {
	.feature = "zfree",
	.name = "munmap",
	.text = "one process unmaps memory that is in zram",
	.params = munmap_params,
	.setup = munmap_setup,
	.round = munmap_round,
	.teardown = munmap_teardown,
};

WORKLOAD(munmap_workload);
