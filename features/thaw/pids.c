// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "pids.h"

void pids_add(struct pids *set, pid_t pid)
{
	if (set->n == set->room) {
		set->room = set->room ? 2 * set->room : 256;
		set->pid = realloc(set->pid, set->room * sizeof(*set->pid));
		if (!set->pid)
			abort();
	}
	set->pid[set->n++] = pid;
}

static int by_number(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

void pids_sort(struct pids *set)
{
	size_t kept = 0;

	if (!set->n)
		return;
	qsort(set->pid, set->n, sizeof(*set->pid), by_number);
	for (size_t i = 1; i < set->n; i++) {
		if (set->pid[i] != set->pid[kept])
			set->pid[++kept] = set->pid[i];
	}
	set->n = kept + 1;
}

size_t pids_differ(const struct pids *a, const struct pids *b)
{
	size_t i = 0, k = 0, both = 0;

	while (i < a->n && k < b->n) {
		pid_t x = a->pid[i], y = b->pid[k];

		both += x == y;
		i += x <= y;
		k += y <= x;
	}
	return a->n + b->n - 2 * both;
}

void pids_free(struct pids *set)
{
	free(set->pid);
	memset(set, 0, sizeof(*set));
}
