// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "knob.h"
#include "pages.h"
#include "util.h"
#include "zram.h"
#include "zram_swap.h"

#define ZSWAP "/sys/module/zswap/parameters/"
/* SWAP_CLUSTER_COLS clusters of 2 MB: 6.12 interleaves those of a larger area. */
#define ORDERED_MB 64
#define ORDERED_SPARE_MB 8

void zram_device(char *path, size_t size, const struct zram *zram)
{
	zram_swap_node(path, size, zram->number);
}

void zram_path(char *path, const struct zram *zram, const char *name)
{
	snprintf(path, ZRAM_PATH, "/sys/block/zram%d/%s", zram->number, name);
}

int zram_set(const struct zram *zram, const char *name, const char *value)
{
	char path[ZRAM_PATH];

	zram_path(path, zram, name);
	if (write_file(path, value) < 0)
		return fail(STATUS_LACKING, path, "does not take '%s': %s", value,
			    strerror(errno));
	return 0;
}

static int configure(const struct zram *zram, const struct zram_options *options)
{
	char text[64];

	if (zram_set(zram, "comp_algorithm", options->algorithm) < 0)
		return -1;
	snprintf(text, sizeof(text), "algo=%s priority=1", options->second);
	if (options->second && zram_set(zram, "recomp_algorithm", text) < 0)
		return -1;
	if (options->backing && zram_set(zram, "backing_dev", options->backing) < 0)
		return -1;
	if (options->rotates && zram_set(zram, "queue/rotational", "1") < 0)
		return -1;
	snprintf(text, sizeof(text), "%" PRIu64, options->kb << 10);
	return zram_set(zram, "disksize", text);
}

int zram_start(struct zram *zram, const struct zram_options *options)
{
	zram->number = zram_swap_add();
	if (zram->number < 0 || configure(zram, options) < 0 ||
	    zram_swap_begin(zram->number, options->kb << 10) < 0)
		return -1;
	zram->swaps = true;
	return 0;
}

int zswap_start(const char *algorithm)
{
	/* Kernels that have other pools. It is made anew with each: the last counts. */
	if (!access(ZSWAP "zpool", F_OK) && knob_write(ZSWAP "zpool", "zsmalloc") < 0)
		return -1;
	if (knob_write(ZSWAP "compressor", algorithm) < 0 ||
	    knob_write(ZSWAP "max_pool_percent", "50") < 0)
		return -1;
	return knob_write(ZSWAP "enabled", "Y");
}

int zram_start_for(struct zram *zram, const struct job_case *c, uint64_t mb)
{
	struct zram_options options = {
		.kb = (mb + SLOTS_MB) << 10,
		.algorithm = job_param(c, "algorithm"),
	};

	if (job_number(c, "zswap") && zswap_start(options.algorithm) < 0)
		return -1;
	return zram_start(zram, &options);
}

int zram_in_order(struct zram *zram, uint64_t mb)
{
	if (mb > ORDERED_MB - ORDERED_SPARE_MB)
		return fail(STATUS_USAGE, "mb", "at most %d where slots=shifted",
			    ORDERED_MB - ORDERED_SPARE_MB);
	if (zram_swap_off(zram) < 0 ||
	    zram_swap_begin(zram->number, ORDERED_MB << 20) < 0)
		return -1;
	zram->swaps = true;
	return 0;
}

int zram_swap_off(struct zram *zram)
{
	if (!zram->swaps)
		return 0;
	if (zram_swap_end(zram->number) < 0)
		return -1;
	zram->swaps = false;
	return 0;
}

void zram_stop(struct zram *zram)
{
	if (zram->number < 0)
		return;
	zram_swap_off(zram);
	zram_swap_remove(zram->number);
	zram->number = -1;
}

int zram_stat(const struct zram *zram, struct zram_stat *stat)
{
	char path[ZRAM_PATH], text[256];

	zram_path(path, zram, "mm_stat");
	if (read_file(path, text, sizeof(text)) <= 0 ||
	    sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &stat->orig_data_size,
		   &stat->compr_data_size, &stat->mem_used_total) != 3)
		return fail(STATUS_FAILED, path, "no three numbers in it");
	return 0;
}

int zram_missed(const struct zram *zram, uint64_t *missed)
{
	char path[ZRAM_PATH], text[256], *line;

	zram_path(path, zram, "debug_stat");
	/* "version: 1", then writestall and miss_free. */
	if (read_file(path, text, sizeof(text)) <= 0 || !(line = strchr(text, '\n')) ||
	    sscanf(line, " %*u %" SCNu64, missed) != 1)
		return fail(STATUS_FAILED, path, "no miss_free in it");
	return 0;
}
