/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A task in each kind of wait that a wakeup can end, one that runs and one that
 * naps. All are poked at once, and answer where they may run.
 */
#ifndef LULL_THAW_CROWD_H
#define LULL_THAW_CROWD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cgroup.h"
#include "pair.h"

/* Who could run answers within that, where the guest is not very slow. */
#define CROWD_STILL_MS 200

struct crowd {
	struct pair *pairs;
	pid_t pids[PAIR_KINDS_MAX];
	unsigned int n;
	/* Theirs, a v1 freezer's; its path is empty where they have none. */
	struct cgroup cgroup;
};

/* Those that PM freezes in place by TASK_FREEZABLE_PM alone; NULL at the end. */
extern const char *const crowd_pm_kinds[];

/* The body of such a task, for trial_fork(): it answers for ever. */
void crowd_member(void *pair);

/* A cgroup for them, for a setup; the journal removes it when they are gone. */
int crowd_group(struct crowd *crowd);
/* All of them, or those of these kinds (the list ends with a NULL), for a round. */
int crowd_start(struct crowd *crowd, const char *const *names);
void crowd_stop(struct crowd *crowd);

/* Their cgroup's freezer.state. */
int crowd_freeze(const struct crowd *crowd, bool freeze);

/* All have answered and are asleep, as far as they ever are. */
int crowd_asleep(const struct crowd *crowd);
/* Nobody is on the way into the refrigerator any more. */
void crowd_settled(const struct crowd *crowd);
int crowd_poke(struct crowd *crowd);
/* Who has answered the last poke: how many, and the name of one. */
unsigned int crowd_moved(const struct crowd *crowd, const char **name);
/* Wait until all have; the name of one who never does, or NULL. */
const char *crowd_lost(const struct crowd *crowd);

#endif
