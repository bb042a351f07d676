/* SPDX-License-Identifier: GPL-2.0-only */
/* Sets of PIDs: add whatever comes, sort, then ask. */
#ifndef LULL_THAW_PIDS_H
#define LULL_THAW_PIDS_H

#include <stddef.h>
#include <sys/types.h>

struct pids {
	pid_t *pid;
	size_t n, room;
};

void pids_add(struct pids *set, pid_t pid);
/* Each once, in order. */
void pids_sort(struct pids *set);
/* Of sorted ones: how many are in one of the two alone? */
size_t pids_differ(const struct pids *a, const struct pids *b);
void pids_free(struct pids *set);

#endif
