// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several processes at once unmap memory that is in zram, or die with it: the
 * thread's first test, and what a low-memory killer does.
 */
#include <stdbool.h>

#include "job.h"
#include "pages.h"
#include "procs.h"
#include "util.h"
#include "worker.h"
#include "workload.h"
#include "zram.h"

static struct zram zram = ZRAM_NONE;

static int many_setup(const struct job_case *c)
{
	if (procs_init(job_number(c, "procs")) < 0)
		return -1;
	return zram_start_for(&zram, c, job_number(c, "procs") * job_number(c, "mb"));
}

/* Let them unmap, or kill them; until the last of them is gone. */
static int one(const struct job_case *c, const char *mode, struct sample *s, bool kills)
{
	size_t bytes = job_number(c, "mb") << 20;
	double pages = (double)(bytes / PAGE_BYTES);
	struct work work;
	uint64_t end;
	int ret;

	if (procs_start(bytes, 0) < 0)
		return -1;
	pages_settle();
	if (work_begin(&work, mode) < 0)
		return -1;
	if (kills)
		procs_kill();
	else if (procs_unmap() < 0)
		return -1;
	ret = procs_wait();
	end = now_ns();
	if (ret < 0 || work_end(&work, pages * (double)job_number(c, "procs"), s) < 0)
		return -1;

	sample_add(s, "all", (double)(end - work.begin));
	if (!kills) {
		sample_add(s, "munmap", procs_mean_ns());
		sample_add(s, "munmap_page", procs_mean_ns() / pages);
	}
	procs_stop();
	return 0;
}

static int many_round(const struct job_case *c, const char *mode, struct sample *s)
{
	return one(c, mode, s, false);
}

static int exit_round(const struct job_case *c, const char *mode, struct sample *s)
{
	return one(c, mode, s, true);
}

static void many_teardown(void)
{
	procs_stop();
	zram_stop(&zram);
}

static const struct workload_param many_params[] = {
	{ "procs", "2" },
	{ "mb", "64" },
	{ "algorithm", "lzo-rle" },
	{ "zswap", "0" },
	{ 0 },
};

static const struct workload many = {
	.feature = "zfree",
	.name = "munmap-many",
	.text = "processes that unmap memory in zram, all at once",
	.params = many_params,
	.setup = many_setup,
	.round = many_round,
	.teardown = many_teardown,
};

WORKLOAD(many);

static const struct workload exit_workload = {
	.feature = "zfree",
	.name = "exit",
	.text = "processes with memory in zram are killed",
	.params = many_params,
	.setup = many_setup,
	.round = exit_round,
	.teardown = many_teardown,
};

WORKLOAD(exit_workload);
