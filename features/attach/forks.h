/* SPDX-License-Identifier: GPL-2.0-only */
/* A loop of fork and exit on the other CPU: who is kept from forking, says so. */
#ifndef LULL_ATTACH_FORKS_H
#define LULL_ATTACH_FORKS_H

#include "workload.h"

#define WRITER_CPU 0
#define FORK_CPU 1

/* Memory for what it reports; once. */
int forks_init(void);
/* Back when it is forking. */
int forks_start(void);
/* Ends it, and adds what it did: forks a second, latency of fork and of exit. */
int forks_stop(struct sample *s);
/* At any time. */
void forks_kill(void);

#endif
