/* SPDX-License-Identifier: GPL-2.0-only */
/* A zram device of our own, and swap on it. */
#ifndef LULL_ZFREE_ZRAM_H
#define LULL_ZFREE_ZRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job.h"

struct zram {
	int number;		/* of /dev/zramN; -1 where there is none */
	bool swaps;
};

#define ZRAM_NONE { .number = -1 }

/* What the caches of swap slots hold back from those who page out, at most. */
#define SLOTS_MB 64

/* What is NULL, or 0, the device goes without. */
struct zram_options {
	uint64_t kb;
	const char *algorithm;
	const char *second;	/* the compressor for recompression */
	const char *backing;	/* the block device for writeback */
	bool rotates;		/* to swap it is a disk, which has no clusters there */
};

/* Add a device, and swap on all of it. */
int zram_start(struct zram *zram, const struct zram_options *options);
/* Its node in /dev. */
void zram_device(char *path, size_t size, const struct zram *zram);
/* A file of the device in sysfs; `path` has room for ZRAM_PATH. */
#define ZRAM_PATH 128
void zram_path(char *path, const struct zram *zram, const char *name);
int zram_set(const struct zram *zram, const char *name, const char *value);
/*
 * The same for a workload: its parameter `algorithm`, room for `mb` and for what
 * the caches of slots hold, and with `zswap` zswap before it, which then takes
 * all of it.
 */
int zram_start_for(struct zram *zram, const struct job_case *c, uint64_t mb);
/* zswap for what goes out from now on, until the probe ends. */
int zswap_start(const char *algorithm);
/*
 * Swap anew, on an area that gives its clusters one after the other: those that were used
 * come as they were freed, and on 6.12 those of a larger area are interleaved from the
 * beginning. Room for `mb`, and for what the caches of slots hold where few threads page
 * out; -1 with fail() called, also where that is more than such an area has.
 */
int zram_in_order(struct zram *zram, uint64_t mb);
/* Everything comes back into memory, or is freed. */
int zram_swap_off(struct zram *zram);
/* Swap off, reset, remove; what remains of a failed start, too. */
void zram_stop(struct zram *zram);

/* mm_stat, from Documentation/admin-guide/blockdev/zram.rst. */
struct zram_stat {
	uint64_t orig_data_size, compr_data_size, mem_used_total;
};

int zram_stat(const struct zram *zram, struct zram_stat *stat);
/* Slots whose freeing was missed since the device was made. */
int zram_missed(const struct zram *zram, uint64_t *missed);

#endif
