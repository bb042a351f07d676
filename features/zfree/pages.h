/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages of distinct, compressible data, and their way into swap. */
#ifndef LULL_ZFREE_PAGES_H
#define LULL_ZFREE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#define PAGE_BYTES 4096

struct pages {
	char *start;
	size_t bytes;
	uint64_t seed;
};

/* Map anonymous memory and fill it; -1 with fail() called. */
int pages_make(struct pages *pages, size_t bytes, uint64_t seed);
/* The same for memory that is there: write all of it. */
void pages_fill(const struct pages *pages);
/* Page all of it out; not all of it may go, then it fails. */
int pages_out(const struct pages *pages);
/* The same as far as it goes; returns how many bytes of the process are out. */
uint64_t pages_try_out(const struct pages *pages);
/* What the process has in swap, in KiB. */
uint64_t pages_swapped_kb(void);
/* How many pages are not what pages_make() wrote. Reads all of them. */
uint64_t pages_wrong(const struct pages *pages);
/* Read a word of each page. */
void pages_touch(const struct pages *pages);
void pages_unmap(struct pages *pages);
/* Before a measurement: what was written is written, the tick's phase is moved. */
void pages_settle(void);

#endif
