/* SPDX-License-Identifier: GPL-2.0-only */
/* zswap, filled to its limit with pages of which each takes a page of its pool. */
#ifndef LULL_ZFREE_DENSE_H
#define LULL_ZFREE_DENSE_H

#include <stdint.h>

/* Of zswap's pools, from its debugfs. */
struct dense_stat {
	uint64_t pages;		/* that they take */
	uint64_t stored;	/* that are in them */
	uint64_t refused;	/* so far, at the limit */
};

/* Its limit is a hundredth of memory, and below that it takes what it is given. */
int dense_start(void);
int dense_stat(struct dense_stat *stat);
/* Map so many pages, write to none; NULL with fail() called. */
char *dense_map(unsigned int pages);
/* Fill them and page them out: each is either stored or refused, or it fails. */
int dense_out(char *start, unsigned int pages, uint64_t seed);
void dense_unmap(char *start, unsigned int pages);

#endif
