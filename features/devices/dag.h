/* SPDX-License-Identifier: GPL-2.0-only */
/* Descriptions of small random trees, of what the job's seed gives. */
#ifndef LULL_DEVICES_DAG_H
#define LULL_DEVICES_DAG_H

#include "tree.h"

/* Devices are called d0, d1, ... To be freed; without memory fail() was called. */
char *dag_make(unsigned int n, unsigned int sync_percent);
/*
 * Of a tree of these, so many percent of the devices may be skipped on the way up, and
 * so many have runtime PM.
 */
int dag_mark(struct tree *tree, unsigned int percent_of_it);

#endif
