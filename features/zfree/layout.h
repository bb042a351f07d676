/* SPDX-License-Identifier: GPL-2.0-only */
/* Which page is in which slot of the swap area: what freeing many at once is for. */
#ifndef LULL_ZFREE_LAYOUT_H
#define LULL_ZFREE_LAYOUT_H

#include "pages.h"
#include "workload.h"
#include "zram.h"

/* Before layout_out() of so many bytes: the area, which has nothing else. */
int layout_begin(struct zram *zram, const char *slots, size_t bytes);
/*
 * Page all of it out, so that its slots lie as the name says; -1 with fail() called.
 *
 *	rows		one after the other, and a page table's in one cluster (on 7.3 in
 *			two of a fresh area, whose first slot is taken)
 *	shifted		the same, but a page table's begin in one cluster and end in
 *			the next
 *	mix		in runs as a compiler's memory has them, see layout.c
 *	shuffled	no two pages beside each other
 */
int layout_out(const struct pages *pages, const char *slots);
/* The same as far as it goes; nothing yet for "rows", which madvise() of all does. */
int layout_try_out(const struct pages *pages, const char *slots);
/* The first page's slot, where the others' come one after the other; -1 where not. */
long layout_in_order(const struct pages *pages);
/*
 * How many slots each free of an munmap() covers, from the page tables as they are:
 * the mean, `covers`, and the histogram `free_hN`. -1 with fail() called.
 */
int layout_measure(const struct pages *pages, struct sample *s);

#endif
