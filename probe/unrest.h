/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What goes on beside a random workload whose statement is not to care: CPU 1 goes
 * offline and comes back, and whatever is in memory goes out to compressed swap and
 * comes back. Whoever asks for it is told that it happened, or has no verdict.
 */
#ifndef LULL_UNREST_H
#define LULL_UNREST_H

#include <stdbool.h>
#include <stdint.h>

#include "job.h"

#define UNREST_PARAMS { "cpus", "0" }, { "swap", "0" }

/* For a round; what the case asks for. */
int unrest_start(const struct job_case *c);
/* After each operation: what it met. */
void unrest_step(void);
/* Has all that was asked for happened, while something was done? */
bool unrest_enough(void);
/*
 * One more, after `done` of at least `n`? Also while too little of what was asked to go
 * on beside them was met: `met` is false, or unrest_enough(). Not for ever: operations
 * count on a slow host, time on one that is fast.
 */
bool unrest_goes_on(uint64_t done, uint64_t n, bool met);
/* To be added to a verdict, before unrest_stop(); empty where nothing was asked for. */
const char *unrest_text(void);
/* At any time; all CPUs and all pages are there again. */
void unrest_stop(void);
/*
 * The same at the end of a round: no verdict where it did not happen, whatever good the
 * workload says of itself. What was found wrong stays found.
 */
int unrest_end(int ret);

/* Pages of all since boot: "pswpin" and "pswpout". */
uint64_t unrest_pages(const char *name);

#endif
