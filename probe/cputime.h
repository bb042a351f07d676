/* SPDX-License-Identifier: GPL-2.0-only */
/* What the whole machine has worked, the kernel's own threads included. */
#ifndef LULL_CPUTIME_H
#define LULL_CPUTIME_H

#include <stdint.h>

/*
 * The CPU time, in ns, of all processes that live and of all children that the
 * caller has waited for. A difference of two is the work of all CPUs between
 * them, but for interrupts of the idle task and for processes of others that
 * ended.
 */
uint64_t cpu_ns(void);

#endif
