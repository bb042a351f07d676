/* SPDX-License-Identifier: GPL-2.0-only */
/* A task that was killed and cannot end, so far in its exit that no cgroup finds it. */
#ifndef LULL_EXITING_H
#define LULL_EXITING_H

#include <stdbool.h>

#include "cgroup.h"

/*
 * Such a one is in a v1 cgroup that is frozen; PM freezes and thaws all, then the cgroup
 * is thawed. Does the task end within so many ms of what it has waited for? The caller
 * has had suspend_prepare(). -1 with fail() called.
 */
int exiting_try(struct cgroup *cgroup, unsigned int ms, bool *ended);

#endif
