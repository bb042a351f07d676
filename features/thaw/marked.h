/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A task that has something to do at thaw: its timer is due all the time. It is
 * the last of the task list, as who was started last is in front of the user,
 * and the last to be thawed.
 */
#ifndef LULL_THAW_MARKED_H
#define LULL_THAW_MARKED_H

#include <stdint.h>

int marked_start(void);
/* From now on its timer is due; it is frozen sooner or later. */
int marked_arm(void);
/*
 * When it ran for the first time after `at` (CLOCK_MONOTONIC), when it was frozen;
 * with that its timer rests. Exact to the timer's period, 0.2 ms: where nothing but
 * the timer wakes it, that may not have been due.
 */
int marked_ran(uint64_t at, uint64_t *when);
void marked_stop(void);

#endif
