/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A pair of every kind, and wakeups at random moments. Two wakers run all the
 * time: one is older than the sleepers and comes before them in the freezer's
 * walks, the other comes after them. So some are woken when they are frozen
 * already, and some before they are thawed. In between only timers can wake.
 */
#ifndef LULL_THAW_STORM_H
#define LULL_THAW_STORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct storm_count {
	uint64_t wakeups, wrong, interrupted;
	/* Sent before a thaw and acknowledged after it; sent when all were frozen. */
	uint64_t held, in_window;
	uint64_t least, least_held;	/* of any kind */
	unsigned int kinds;
};

/*
 * All are there and wait; the wakers are at their gate. `pads` are tasks in
 * between that make walks longer.
 */
int storm_start(unsigned int pads);
void storm_stop(void);

void storm_open(void);
/* No wakeup is sent from now on. False where one that was sent is lost. */
bool storm_settles(void);
/* Every sleeper is asleep in its call; for after that. */
int storm_wait_asleep(void);

/* One cycle, and whom it held up; fails where a sleeper's or a waker's call does. */
int storm_cycle(void);

void storm_count(struct storm_count *count);
/* Has any kind not come any further for long? */
bool storm_stalls(void);
/* The kinds that wait for what was sent, or those that were interrupted. */
void storm_list_lost(char *text, size_t size);
void storm_list_interrupted(char *text, size_t size);

#endif
