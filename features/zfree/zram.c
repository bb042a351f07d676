// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/swap.h>
#include <unistd.h>

#include "knob.h"
#include "pages.h"
#include "util.h"
#include "zram.h"

#define ZSWAP "/sys/module/zswap/parameters/"
#define CONTROL "/sys/class/zram-control/"
#define DEVICE_WAIT_MS 20000

/* The first page of a swap area, as far as swapon() looks at it. */
struct swap_header {
	uint8_t boot[1024];
	uint32_t version, last_page, nr_badpages;
	uint8_t rest[PAGE_BYTES - 1024 - 3 * 4 - 10];
	char magic[10];
} __attribute__((packed));

_Static_assert(sizeof(struct swap_header) == PAGE_BYTES, "a page");

void zram_device(char *path, size_t size, const struct zram *zram)
{
	snprintf(path, size, "/dev/zram%d", zram->number);
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

static int write_header(const struct zram *zram, uint64_t bytes)
{
	struct swap_header header = {
		.version = 1,
		.last_page = (uint32_t)(bytes / PAGE_BYTES - 1),
	};
	char path[64];
	int fd = -1;

	memcpy(header.magic, "SWAPSPACE2", sizeof(header.magic));
	zram_device(path, sizeof(path), zram);
	/* devtmpfs, or udev, makes it a little later than hot_add says. */
	for (int ms = 0; fd < 0 && ms < DEVICE_WAIT_MS; ms += 10) {
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			sleep_ms(10);
	}
	if (fd < 0)
		return fail(STATUS_LACKING, path, "cannot open it: %s", strerror(errno));
	if (write(fd, &header, sizeof(header)) != sizeof(header)) {
		fail(STATUS_FAILED, path, "cannot write it: %s", strerror(errno));
		close(fd);
		return -1;
	}
	close(fd);
	return 0;
}

static int swap_on(struct zram *zram)
{
	char path[64];

	zram_device(path, sizeof(path), zram);
	/* Before any swap the machine has. */
	if (swapon(path, SWAP_FLAG_PREFER | SWAP_FLAG_PRIO_MASK) < 0)
		return fail(STATUS_FAILED, path, "swapon: %s", strerror(errno));
	zram->swaps = true;
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
	uint64_t number = read_number(CONTROL "hot_add", UINT64_MAX);

	if (number == UINT64_MAX) {
		fail(STATUS_LACKING, CONTROL "hot_add", "no zram device to be had: %s",
		     strerror(errno));
		return fail_hint("a kernel with CONFIG_ZRAM, or: modprobe zram");
	}
	zram->number = (int)number;
	if (configure(zram, options) < 0 || write_header(zram, options->kb << 10) < 0)
		return -1;
	return swap_on(zram);
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

int zram_swap_off(struct zram *zram)
{
	char path[64];

	if (!zram->swaps)
		return 0;
	zram->swaps = false;
	zram_device(path, sizeof(path), zram);
	if (swapoff(path) < 0)
		return fail(STATUS_FAILED, path, "swapoff: %s", strerror(errno));
	return 0;
}

void zram_stop(struct zram *zram)
{
	char number[16];

	if (zram->number < 0)
		return;
	zram_swap_off(zram);
	snprintf(number, sizeof(number), "%d", zram->number);
	if (write_file(CONTROL "hot_remove", number) < 0)
		fail(STATUS_FAILED, CONTROL "hot_remove", "zram%s stays: %s", number,
		     strerror(errno));
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
