/* SPDX-License-Identifier: GPL-2.0-only */
/* The control groups of the feature's workloads, and how processes get there. */
#ifndef LULL_ATTACH_GROUPS_H
#define LULL_ATTACH_GROUPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cgroup.h"
#include "job.h"

/*
 * One that the others are in, with the controllers that a container host has,
 * as far as this kernel does; v1's is in the freezer's hierarchy.
 */
int groups_start(const struct job_case *c);
/*
 * v2's favordynmods, where the parameter of that name asks for it: moves wait for no
 * grace period, and each fork, exec and exit pays. Only where the probe is init:
 * a remount drops the other options that a machine has mounted its hierarchy with.
 */
int groups_favor_dynmods(const struct job_case *c);
/* A new one in it; groups_stop() removes what is left. */
int group_make(struct cgroup *cg, const char *name);
/* An errno, or 0; for a group that comes and goes in a round. */
int group_mkdir(struct cgroup *cg, const struct cgroup *in, const char *name);
const struct cgroup *groups_top(void);
void groups_stop(void);

/* cgroup.procs, or another file, for writing; -1 with errno. */
int group_open(const struct cgroup *cg, const char *file);
/* One write of a PID: 0, or an errno. */
int group_write_pid(int fd, pid_t pid);
/* One write of a text to one of its files: bytes, or minus an errno. */
int64_t group_write(const struct cgroup *cg, const char *file, const char *text);
/* A number in one of its files, or `other`. */
uint64_t group_number(const struct cgroup *cg, const char *file, uint64_t other);
/* Is the process in it, by what /proc says of it? */
bool group_has(const struct cgroup *cg, pid_t pid);

#endif
