/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes with memory in swap, which then unmap it or are killed. */
#ifndef LULL_ZFREE_PROCS_H
#define LULL_ZFREE_PROCS_H

#include <stddef.h>
#include <stdint.h>

#define PROCS_MAX 16

/* Before anything else; -1 with fail() called for a number that is too large. */
int procs_init(uint64_t n);
/* Start them; back when all have `out` bytes in swap and `in` in memory. */
int procs_start(size_t out, size_t in);
/* Let all of them unmap what they have, at once. */
int procs_unmap(void);
void procs_kill(void);
/* Until all have ended. */
int procs_wait(void);
/* The mean time, in ns, that their munmap() of what is in swap took. */
double procs_mean_ns(void);
/* At any time; kills those that are left. */
void procs_stop(void);

#endif
