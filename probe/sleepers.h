/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A crowd: live processes asleep in a mix of the calls that programs really sleep
 * in. There is one at a time.
 */
#ifndef LULL_SLEEPERS_H
#define LULL_SLEEPERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "waits.h"

/*
 * What the next crowd consists of: the name of a mix, or NAME:WEIGHT of waits,
 * separated by commas. Only the first `known` of the waits are.
 */
int sleepers_mix(const char *mix, unsigned int known);
/* Start n of them, and wait until all are asleep. */
int sleepers_start(uint64_t n);
/* Whether each is in the call that it is to sleep in, where the kernel tells. */
int sleepers_look(void);
/* Whether nobody has come back but with EINTR; else fail() was called. */
int sleepers_check(void);
void sleepers_stop(void);

/* Waits are counted as in waits[]. Is this one in the mix? */
bool sleepers_has(unsigned int wait);
/* How often a call has returned EINTR, all sleepers of that wait together. */
uint64_t sleepers_eintr(unsigned int wait);
/* Sleepers are counted from 0. Which has that PID, or -1; and what does it wait in? */
int sleepers_find(pid_t pid);
unsigned int sleepers_wait(unsigned int sleeper);

#endif
