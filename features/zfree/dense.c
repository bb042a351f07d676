// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "dense.h"
#include "knob.h"
#include "pages.h"
#include "util.h"
#include "zram.h"

#define PARAMETERS "/sys/module/zswap/parameters/"
#define DEBUG "/sys/kernel/debug/zswap/"
#define OUT_TRIES 20
/*
 * Words that do not repeat. What comes of such a page is less than a page, and too
 * much for two of them to share one, however long zsmalloc's chains are.
 */
#define DISTINCT 492

int dense_start(void)
{
	if (zswap_start("lzo-rle") < 0 || knob_write(PARAMETERS "max_pool_percent", "1") < 0)
		return -1;
	return knob_write(PARAMETERS "accept_threshold_percent", "100");
}

int dense_stat(struct dense_stat *stat)
{
	uint64_t bytes = read_number(DEBUG "pool_total_size", UINT64_MAX);

	if (bytes == UINT64_MAX)
		return fail(STATUS_LACKING, DEBUG, "%s", strerror(errno));
	stat->pages = bytes / PAGE_BYTES;
	stat->stored = read_number(DEBUG "stored_pages", 0);
	stat->refused = read_number(DEBUG "pool_limit_hit", 0);
	return 0;
}

char *dense_map(unsigned int pages)
{
	size_t bytes = (size_t)pages * PAGE_BYTES;
	char *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (start == MAP_FAILED) {
		fail(STATUS_FAILED, "mmap", "no memory: %s", strerror(errno));
		return NULL;
	}
	/* None is part of a larger one; a kernel that has no such does not know the word. */
	madvise(start, bytes, MADV_NOHUGEPAGE);
	return start;
}

void dense_unmap(char *start, unsigned int pages)
{
	munmap(start, (size_t)pages * PAGE_BYTES);
}

static void fill(uint64_t *words, uint64_t state)
{
	for (unsigned int i = 0; i < DISTINCT; i++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		words[i] = state;
	}
}

int dense_out(char *start, unsigned int pages, uint64_t seed)
{
	struct dense_stat before, after;
	uint64_t done = 0;

	if (dense_stat(&before) < 0)
		return -1;
	for (unsigned int i = 0; i < pages; i++)
		fill((uint64_t *)(start + (size_t)i * PAGE_BYTES), seed << 32 | i);
	/* As in pages_try_out(); what is out is not asked a second time. */
	for (int tries = 0; done < pages && tries < OUT_TRIES; tries++) {
		if (tries)
			sleep_ms(10);
		if (madvise(start, (size_t)pages * PAGE_BYTES, MADV_PAGEOUT) < 0)
			return fail(STATUS_FAILED, "MADV_PAGEOUT", "%s", strerror(errno));
		if (dense_stat(&after) < 0)
			return -1;
		done = after.stored + after.refused - before.stored - before.refused;
	}
	if (done == pages)
		return 0;
	return fail(STATUS_UNMET, "zswap", "%" PRIu64 " of %u pages were stored or refused", done,
		    pages);
}
