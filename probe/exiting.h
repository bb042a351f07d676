/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A child that was killed and cannot end: the first of a PID namespace waits, so far
 * in its exit that its cgroup does not find it, until all others were reaped.
 */
#ifndef LULL_EXITING_H
#define LULL_EXITING_H

#include <stdbool.h>
#include <sys/types.h>

struct exiting {
	/* It, and the other, a child as well. Not above 0 is nobody. */
	pid_t pid, other;
};

/* Both live. */
int exiting_start(struct exiting *e);
/* Kill it, and return when it waits in its exit. */
int exiting_kill(struct exiting *e);
/* Reap the other; does it end within so many ms? Then both are gone. */
bool exiting_ends(struct exiting *e, unsigned int ms);
/* However far it got; who is frozen for good stays. */
void exiting_stop(struct exiting *e);

#endif
