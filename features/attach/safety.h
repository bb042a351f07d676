/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the workloads share that try the numbered statements: the injections of
 * a debug kernel, and somebody who changes the mode all the time.
 */
#ifndef LULL_ATTACH_SAFETY_H
#define LULL_ATTACH_SAFETY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cgroup.h"
#include "inject.h"
#include "job.h"

/* Whom the waits in fork are for. */
#define PAUSE_NAME "lull-pause"

#define SAFETY_PARAMS { "v1", "0" }, { "switchers", "0" }, INJECT_PARAMS

/* groups_start(), and all of this. */
int safety_start(const struct job_case *c);
/* What unrest_start() began ends, too. */
void safety_stop(void);

/* At the begin of a round: a write is held up as long as the case says. */
int safety_round(const struct job_case *c);
/*
 * To be told of each try in vain to meet others while a write is held up: after `n` of
 * them it is for twice as long, since on a slow host they take longer. Fails as
 * inject_number() does.
 */
int safety_in_vain(const struct job_case *c, uint64_t n);

/* A child of the probe that runs fn, called as the waits want it, or fail(). */
pid_t safety_fork(void (*fn)(void));
/* For it: nothing, until it is killed. */
void safety_sleep(void) __attribute__((noreturn));

/* Holds up those that pass by it; in memory that they share. */
struct gate {
	volatile int closed, waiting;
};

void gate_pass(struct gate *gate);
/* Back when so many wait at it. */
void gate_close(struct gate *gate, int n);
void gate_open(struct gate *gate);

/* Is pids.current, once all that exit have done so, what is listed? Gives both. */
bool safety_is_exact(const struct cgroup *cg, uint64_t *says, unsigned int *listed);
/* Write the PID to the group's file: 0 or an errno. */
int safety_move(const struct cgroup *to, const char *file, pid_t pid);
/* Lines in one of the group's files. */
unsigned int safety_lines(const struct cgroup *cg, const char *file);
/* Until no thread is in it: those that exit need a moment. */
bool safety_empties(const struct cgroup *cg, bool v1);

#endif
