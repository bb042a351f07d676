/* SPDX-License-Identifier: GPL-2.0-only */
/* The worker of the mode "deferred", and what all CPUs work until it is done. */
#ifndef LULL_ZFREE_WORKER_H
#define LULL_ZFREE_WORKER_H

#include <stdint.h>

#include "workload.h"

/* Until nothing is left to it; in the other modes that is at once. */
int worker_wait(void);
/*
 * It makes its rings when first something is left to it, which free_some() does in a
 * round of that number; until it has freed that.
 */
int worker_begin(int (*free_some)(uint64_t round));
/*
 * And then it stays away for as long as a test takes, and at least `enough` objects wait
 * for it, which free_some() leaves it.
 */
int worker_keep_away(int (*free_some)(uint64_t round), uint64_t enough);
/* How many objects wait for it. */
uint64_t worker_left(void);

/* A measured operation that may leave something to the worker. */
struct work {
	const char *mode;
	uint64_t begin, cpu;
};

/*
 * The counters are cleared, and the marks of the profile are around begin and
 * end. end() waits for the worker, and adds `done_page`, `cpu_page` and the
 * counters to the sample; `pages` is by how many the two are divided.
 */
int work_begin(struct work *work, const char *mode);
int work_end(const struct work *work, double pages, struct sample *s);

#endif
