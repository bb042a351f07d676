// SPDX-License-Identifier: GPL-2.0-only
/*
 * One process and its memory in zram: it unmaps it (the thread's second test), or
 * reads it back, for what freeing must not cost others.
 */
#include "job.h"
#include "layout.h"
#include "lull.h"
#include "mark.h"
#include "pages.h"
#include "perturb.h"
#include "util.h"
#include "worker.h"
#include "workload.h"
#include "zram.h"

static struct zram zram = ZRAM_NONE;
static struct pages pages;

static int one_setup(const struct job_case *c)
{
	return zram_start_for(&zram, c, job_number(c, "mb"));
}

static void one_teardown(void)
{
	pages_unmap(&pages);
	zram_stop(&zram);
}

/* Memory in zram; returns the number of pages, or 0 with fail() called. */
static double go_out(const struct job_case *c, struct sample *s)
{
	double count;
	uint64_t begin;

	if (pages_make(&pages, job_number(c, "mb") << 20, perturb_below(UINT32_MAX)) < 0)
		return 0;
	if (layout_begin(&zram, job_param(c, "slots"), pages.bytes) < 0)
		return 0;
	count = (double)(pages.bytes / PAGE_BYTES);
	perturb_phase();
	begin = now_ns();
	if (layout_out(&pages, job_param(c, "slots")) < 0)
		return 0;
	sample_add(s, "swapout_page", (double)(now_ns() - begin) / count);
	if (layout_measure(&pages, s) < 0)
		return 0;
	pages_settle();
	return count;
}

static int munmap_round(const struct job_case *c, const char *mode, struct sample *s)
{
	double count = go_out(c, s);
	struct zram_stat stat;
	struct work work;
	uint64_t ns;

	if (!count || work_begin(&work, mode) < 0)
		return -1;
	ns = now_ns();
	pages_unmap(&pages);
	ns = now_ns() - ns;
	if (zram_stat(&zram, &stat) < 0 || work_end(&work, count, s) < 0)
		return -1;

	sample_add(s, "munmap", (double)ns);
	sample_add(s, "munmap_page", (double)ns / count);
	/* The header of the swap area is a page of its own. */
	sample_add(s, "held", (double)stat.mem_used_total - PAGE_BYTES);
	return 0;
}

static int swapin_round(const struct job_case *c, const char *mode, struct sample *s)
{
	double count = go_out(c, s);
	uint64_t begin, end, wrong;

	(void)mode;
	if (!count)
		return -1;
	begin = now_ns();
	mark_begin();
	pages_touch(&pages);
	mark_end();
	end = now_ns();

	sample_add(s, "pages", count);
	sample_add(s, "swapin_page", (double)(end - begin) / count);
	wrong = pages_wrong(&pages);
	pages_unmap(&pages);
	if (wrong)
		return fail(STATUS_CHECK_FAILED, "zram", "%llu pages came back wrong",
			    (unsigned long long)wrong);
	return 0;
}

static const struct workload_param one_params[] = {
	{ "mb", "64" },
	{ "algorithm", "lzo-rle" },
	{ "zswap", "0" },
	{ "slots", "rows" },
	{ 0 },
};

#define ONE(_name, _text)                                                          \
	static const struct workload _name##_workload = {                          \
		.feature = "zfree",                                                \
		.name = #_name,                                                    \
		.text = _text,                                                     \
		.params = one_params,                                              \
		.setup = one_setup,                                                \
		.round = _name##_round,                                            \
		.teardown = one_teardown,                                          \
	};                                                                         \
	WORKLOAD(_name##_workload)

ONE(munmap, "one process unmaps memory that is in zram");
ONE(swapin, "memory goes out to zram, and each page is read back");
