/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's side of Lull: modes and figures, where the kernel has them. */
#ifndef LULL_LULL_H
#define LULL_LULL_H

#include <stdbool.h>

#include "workload.h"

#define MODES_MAX 16

struct modes {
	char names[MODES_MAX][JOB_NAME_MAX];
	unsigned int n;
};

/* The modes this kernel has for a feature; without Lull it is "stock" alone. */
void lull_modes(const char *feature, struct modes *modes);
/* Switch; the mode found first is put back at the end. */
int lull_switch(const char *feature, const char *mode);

/* The same for whatever a workload switches: it has the modes that all of them have. */
void lull_workload_modes(const struct workload *w, struct modes *modes);
bool lull_workload_has_mode(const struct workload *w, const char *mode);
int lull_workload_switch(const struct workload *w, const char *mode);

/* Of a feature's mode "lull" single steps: whether this kernel can be told which. */
bool lull_has_steps(const char *feature);
/* Switch to that mode with these, by name with a comma between, or "none". */
int lull_switch_steps(const char *feature, const char *steps);

/* Figures of the last operation; kernels without them add none. */
int lull_stats_clear(const char *feature);
void lull_stats_add(const char *feature, struct sample *s);
/* One of them; 0 where there is none. */
uint64_t lull_stat(const char *feature, const char *name);

/*
 * The debug arm's check file: 1 and the values when it is there, 0 when not,
 * -1 on an error. `last` names the culprit, or is empty.
 */
int lull_check_clear(const char *feature);
int lull_check_read(const char *feature, uint64_t *escapes, char *last, unsigned int size);
/* A value of it, 0 where it has none. */
uint64_t lull_check(const char *feature, const char *name);
/* Wait until it is that large; where it never is, there is no verdict. */
int lull_check_wait(const char *feature, const char *name, uint64_t at_least);

#endif
