/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Children that share what their parent has in swap, and let go of it before or
 * after it does. The counts of all parents together are kept.
 */
#ifndef LULL_ZFREE_SHARERS_H
#define LULL_ZFREE_SHARERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pages.h"

/* Before those that share are started; -1 with fail() called. */
int sharers_begin(void);

/*
 * A child in place of the one before, which is waited for. It lives for a moment, or
 * until it has read the area back by `read`.
 */
void sharers_fork(pid_t *child, const struct pages *area,
		  void (*read)(const struct pages *area));
/* The parent is about to unmap what is in swap: at random, the child ends before. */
void sharers_choose(pid_t *child);
/* And has just done so. */
void sharers_let_go(pid_t *child);

/* Were slots shared, and let go by the parent first, and by the child first? */
bool sharers_enough(void);
/* What there was of it. */
void sharers_text(char *text, size_t size);

#endif
