// SPDX-License-Identifier: GPL-2.0-only
/* Out to zram and back, for what freeing must not cost others. */
#include "job.h"
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

static int swapin_setup(const struct job_case *c)
{
	return zram_start(&zram, job_param(c, "algorithm"), (job_number(c, "mb") + 64) << 20);
}

static int swapin_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t begin, end, wrong;
	double count;

	(void)mode;
	if (pages_make(&pages, job_number(c, "mb") << 20, perturb_below(UINT32_MAX)) < 0)
		return -1;
	count = (double)(pages.bytes / PAGE);
	perturb_phase();
	begin = now_ns();
	if (pages_out(&pages) < 0)
		return -1;
	end = now_ns();
	sample_add(s, "pages", count);
	sample_add(s, "swapout_page", (double)(end - begin) / count);
	sleep_ms(SETTLE_MS);

	begin = now_ns();
	mark_begin();
	pages_touch(&pages);
	mark_end();
	end = now_ns();
	sample_add(s, "swapin_page", (double)(end - begin) / count);

	wrong = pages_wrong(&pages);
	pages_unmap(&pages);
	if (wrong)
		return fail(STATUS_CHECK_FAILED, "zram", "%llu pages came back wrong",
			    (unsigned long long)wrong);
	return 0;
}

static void swapin_teardown(void)
{
	pages_unmap(&pages);
	zram_stop(&zram);
}

static const struct workload_param swapin_params[] = {
	{ "mb", "64" },
	{ "algorithm", "lzo-rle" },
	{ 0 },
};

static const struct workload swapin = {
	.feature = "zfree",
	.name = "swapin",
	.text = "memory goes out to zram, and each page is read back",
	.params = swapin_params,
	.setup = swapin_setup,
	.round = swapin_round,
	.teardown = swapin_teardown,
};

WORKLOAD(swapin);
