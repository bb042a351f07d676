/* SPDX-License-Identifier: GPL-2.0-only */
/* A device's slots, read and written past the page cache. */
#ifndef LULL_ZFREE_SLOTS_H
#define LULL_ZFREE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pages.h"
#include "zram.h"

#define SLOT_WORDS (PAGE_BYTES / sizeof(uint64_t))

/* A page of a slot; memory for one that is written or read has to be aligned to a page. */
struct slot_page {
	uint64_t words[SLOT_WORDS];
};

/* The first words do not repeat, the others are as the last of them. */
void slot_fill(struct slot_page *page, uint64_t seed, size_t distinct);
/* For direct I/O; -1 with fail() called. */
int slots_open(const struct zram *zram);
bool slot_write(int fd, const struct slot_page *page, unsigned int slot);
bool slot_read(int fd, struct slot_page *page, unsigned int slot);
/* The device takes no more memory than so many bytes. */
int slots_limit(const struct zram *zram, uint64_t bytes);

#endif
