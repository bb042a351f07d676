/* SPDX-License-Identifier: GPL-2.0-only */
/* A zram device of our own, and swap on it. */
#ifndef LULL_ZFREE_ZRAM_H
#define LULL_ZFREE_ZRAM_H

#include <stdbool.h>
#include <stdint.h>

struct zram {
	int number;		/* of /dev/zramN; -1 where there is none */
	bool swaps;
};

#define ZRAM_NONE { .number = -1 }

/* What the caches of swap slots hold back from those who page out, at most. */
#define SLOTS_MB 64

/* Add a device of that size with the compressor, and swap on all of it. */
int zram_start(struct zram *zram, const char *algorithm, uint64_t mb);
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
