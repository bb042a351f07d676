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

/*
 * Safeguards to do without, by name; and the limit, for those who are not to come:
 * counted in sleeps of a ms that the guest has done, and never less than what is
 * needed by who does come.
 */
#define TRIAL_PARAMS { "disable", "none" }, { "limit", "30000" }

/* Ready for suspend_once(), with the case's safeguards off. */
int trial_setup(const struct job_case *c);
/* The same, with freeze in `stock`: in its own mode it would refuse what thaw refuses, too. */
int trial_setup_alone(const struct job_case *c);
/*
 * With `swap` a host that stands still is given up by the lab, not by the freezer, which
 * waits for who reclaims memory as for anybody.
 */
int trial_patient(const struct job_case *c);
/* The case's limit, in ms. */
unsigned int trial_limit_ms(void);
/* From now on it stays frozen for so long; where it is no debug kernel, whole seconds. */
int trial_window(uint64_t ms);

/* Of a cycle, in CLOCK_MONOTONIC: nobody in user space runs between the two. */
struct trial_times {
	uint64_t frozen, thaw;
};

/* suspend_once(), and when that was. */
int trial_timed_cycle(struct trial_times *times);

/* A child of the probe, which ends with it; a PID, or -1 with fail() called. */
pid_t trial_fork(const char *name, void (*body)(void *arg), void *arg);
/* Wait until task_state() is one of those letters; fails when it never is. */
int trial_state_wait(pid_t pid, const char *letters);
/* Kill it, and wait no longer than that: who has lost a wakeup does not come. */
void trial_end(pid_t *pid);
/* A word that others write comes to be at least that, within the limit. */
bool trial_reaches(const volatile uint32_t *word, uint32_t at_least);

#endif
