/* SPDX-License-Identifier: GPL-2.0-only */
/* Control groups of our own, in the v2 hierarchy or the v1 freezer's. */
#ifndef LULL_CGROUP_H
#define LULL_CGROUP_H

#include <sys/types.h>

enum cgroup_kind { CGROUP_V2, CGROUP_V1_FREEZER };

struct cgroup {
	char path[256];
};

/* Makes `name` below the root of its hierarchy, which is mounted if need be. */
int cgroup_make(struct cgroup *cg, enum cgroup_kind kind, const char *name);
/* One write to cgroup.procs, as a container manager does it. */
int cgroup_attach(const struct cgroup *cg, pid_t pid);
int cgroup_set(const struct cgroup *cg, const char *file, const char *value);
/* Freeze one of the v1 freezer's, until it says that it is. */
int cgroup_freeze(const struct cgroup *cg);
/* Thaw it, if there is one: a frozen task does not die of a signal. */
void cgroup_thaw(const struct cgroup *cg);
/* Must be empty; knob_restore() removes what is still there. */
int cgroup_remove(const struct cgroup *cg);

#endif
