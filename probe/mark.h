/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the profile instrument counts: whatever all CPUs execute between the
 * two. It finds them by their addresses; they do nothing.
 */
#ifndef LULL_MARK_H
#define LULL_MARK_H

void mark_begin(void);
void mark_end(void);

#endif
