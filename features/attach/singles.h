/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Single threads of a process that are moved in a threaded subtree, while others
 * move the whole of it: some move themselves, which takes no lock, and somebody
 * else moves those that come and go.
 */
#ifndef LULL_ATTACH_SINGLES_H
#define LULL_ATTACH_SINGLES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cgroup.h"

#define SINGLES_MAX 8

/*
 * Two cgroups in a threaded subtree, with the controllers that can be there; and
 * what gives these back, before safety_stop().
 */
int singles_setup(struct cgroup *left, struct cgroup *right);
void singles_teardown(void);

/* For a round with so many that move themselves. */
void singles_begin(unsigned int n);
/* In the process: these begin. */
int singles_spawn(void);
/* And who moves others of the process; -1 with fail() called. */
int singles_start(pid_t process);
/* Back when none of them moves anybody; and on again. */
void singles_hold(void);
void singles_release(void);
/* Around a move of the whole process, after which nobody is where it said. */
void singles_whole_begins(void);
void singles_whole_ended(void);
void singles_end(void);

/* Did both happen, and not only once? */
bool singles_enough(void);
/* Was each where it had moved itself to, without an error? With what there was of it. */
bool singles_good(char *text, size_t size);

#endif
