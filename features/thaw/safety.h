/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the workloads share that try the numbered statements: cycles, tasks to
 * try them on, and the injections of a debug kernel.
 */
#ifndef LULL_THAW_SAFETY_H
#define LULL_THAW_SAFETY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cgroup.h"
#include "job.h"

/* The name that the kernel's injection holds. */
#define TRIAL_HOLD "lull-hold"
/* Longer than whatever a host delays; who needs as long never comes. */
#define TRIAL_LIMIT_MS 30000

/* Safeguards to do without, bits of the kernel's inject/disable. */
#define TRIAL_PARAMS { "disable", "0" }

/* Ready for trial_cycle(), with the case's safeguards off. */
int trial_setup(const struct job_case *c);
/* One freeze and thaw of the whole machine. */
int trial_cycle(void);
/* From now on it stays frozen for so long; where it is no debug kernel, whole seconds. */
int trial_window(uint64_t ms);

/* Of a cycle, in CLOCK_MONOTONIC: nobody in user space runs between the two. */
struct trial_times {
	uint64_t frozen, thaw;
};

/* trial_cycle(), and when that was. */
int trial_timed_cycle(struct trial_times *times);

/* Set one of the injections of thaw; the journal takes it back. */
int trial_inject(const char *file, uint64_t value);
/* Forget what the check file says. */
int trial_check_clear(void);
/* A value of it, 0 where it has none. */
uint64_t trial_check(const char *name);
/* Wait until it is that large; fails when it never is. */
int trial_check_wait(const char *name, uint64_t at_least);

/* A child of the probe, which ends with it; a PID, or -1 with fail() called. */
pid_t trial_fork(const char *name, void (*body)(void *arg), void *arg);
/* Freeze a v1 cgroup, until it says that it is; thaw it, if there is one. */
int trial_freeze(const struct cgroup *cg);
void trial_thaw(const struct cgroup *cg);
/* The letter of /proc/PID/stat, or 0 where there is no such task. */
char trial_state(pid_t pid);
/* Wait until it is one of those letters; fails when it never is. */
int trial_state_wait(pid_t pid, const char *letters);
/* The same without a problem: false when it is none of them in time. */
bool trial_comes_to(pid_t pid, const char *letters);
/* Does the child die within the limit? Then it is reaped, and *pid 0. */
bool trial_dies(pid_t *pid);
/* Kill it, and wait no longer than that: who has lost a wakeup does not come. */
void trial_end(pid_t *pid);
/* A word that others write comes to be at least that, within the limit. */
bool trial_reaches(const volatile uint32_t *word, uint32_t at_least);
/* How often the task has gone to sleep: who is not woken does not again. */
uint64_t trial_sleeps(pid_t pid);

#endif
