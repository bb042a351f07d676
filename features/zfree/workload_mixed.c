// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process with half of its memory in zram is killed: how fast does free memory
 * come back? As a curve, from the kill on.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "pages.h"
#include "perturb.h"
#include "procs.h"
#include "util.h"
#include "worker.h"
#include "workload.h"
#include "zram.h"

static const unsigned int curve_ms[] = { 1, 2, 5, 10, 20, 50, 100 };

static struct zram zram = ZRAM_NONE;

static int mixed_setup(const struct job_case *c)
{
	if (procs_init(1) < 0)
		return -1;
	return zram_start_for(&zram, c, job_number(c, "mb") / 2);
}

/*
 * What can be allocated: in the allocator's free lists and in those of the CPUs,
 * which hold tens of MiB back and are not in MemFree.
 */
static uint64_t free_bytes(void)
{
	char *text = read_whole("/proc/zoneinfo"), *rest = text, *line;
	unsigned long long n;
	uint64_t sum = 0;

	while (rest && (line = strsep(&rest, "\n"))) {
		if (sscanf(line, " nr_free_pages %llu", &n) == 1 ||
		    sscanf(line, " count: %llu", &n) == 1)
			sum += n;
	}
	free(text);
	return sum * PAGE_BYTES;
}

static int mixed_round(const struct job_case *c, const char *mode, struct sample *s)
{
	size_t half = job_number(c, "mb") << 19;
	uint64_t begin, before;
	char name[32];
	int ret;

	(void)mode;
	if (worker_wait() < 0 || procs_start(half, half) < 0)
		return -1;
	pages_settle();
	before = free_bytes();
	begin = now_ns();
	procs_kill();
	for (unsigned int i = 0; i < ARRAY_SIZE(curve_ms); i++) {
		uint64_t at = begin + curve_ms[i] * 1000000ull, now = now_ns();

		if (now < at)
			sleep_ns(at - now);
		snprintf(name, sizeof(name), "regained_%ums", curve_ms[i]);
		sample_add(s, name, (double)free_bytes() - (double)before);
	}
	ret = procs_wait();
	procs_stop();
	return ret;
}

static void mixed_teardown(void)
{
	procs_stop();
	zram_stop(&zram);
}

static const struct workload_param mixed_params[] = {
	{ "mb", "256" },
	{ "algorithm", "lzo-rle" },
	{ "zswap", "0" },
	{ 0 },
};

static const struct workload mixed = {
	.feature = "zfree",
	.name = "mixed",
	.text = "a process with half its memory in zram is killed",
	.params = mixed_params,
	.setup = mixed_setup,
	.round = mixed_round,
	.teardown = mixed_teardown,
};

WORKLOAD(mixed);
