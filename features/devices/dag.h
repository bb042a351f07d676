/* SPDX-License-Identifier: GPL-2.0-only */
/* Descriptions of small random trees, of what the job's seed gives. */
#ifndef LULL_DEVICES_DAG_H
#define LULL_DEVICES_DAG_H

#include <stdint.h>

/* Devices are called d0, d1, ... To be freed; without memory fail() was called. */
char *dag_make(unsigned int n, unsigned int sync_percent);

#endif
