/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A crew is the processes of a workload: a boss, which is a child of the probe
 * and has its own process group, and whomever it starts. The boss does orders
 * one at a time and sleeps in a pipe between them.
 */
#ifndef LULL_CREW_H
#define LULL_CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct crew {
	pid_t boss;
	int orders, answers;
};

/* An order's outcome, from the boss. */
struct crew_answer {
	uint64_t done;
	int error;		/* an errno, or 0 */
	char doing[60];		/* what failed */
};

typedef void (*crew_fn)(uint64_t order, void *arg, struct crew_answer *answer);

/* The boss runs fn for every order it gets. */
int crew_start(struct crew *crew, crew_fn fn, void *arg);
/* Give an order and wait for it; fails when it was not wholly done. */
int crew_do(struct crew *crew, uint64_t order);
/* Kill all of them and wait until they are gone. */
void crew_stop(struct crew *crew);
/*
 * In a child of the boss, or of whoever else starts processes: end with it,
 * whatever happens to it.
 */
void crew_member(pid_t boss);
/*
 * fork() for a child of the probe, which ends with it; it has that name, where
 * there is one. -1 with fail() called.
 */
pid_t crew_fork(const char *name);
/*
 * Until a child has set what it shares with the caller, who sleeps meanwhile: the child
 * may need his CPU for it. -1 with fail() called, also where the child ends before.
 */
int crew_ready(const volatile bool *ready, pid_t pid, const char *who);
/* SIGKILL for a child, and it is gone; resets the PID. Nothing where it is none. */
void crew_end(pid_t *pid);
/* Zeroed memory that children share; NULL with fail() called. */
void *crew_memory(size_t size);

#endif
