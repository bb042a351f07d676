/* SPDX-License-Identifier: GPL-2.0-only */
/* What /proc says of a task. */
#ifndef LULL_TASK_H
#define LULL_TASK_H

#include <stdint.h>
#include <sys/types.h>

/* The letter of /proc/PID/stat, or 0 where there is no such task. */
char task_state(pid_t pid);
/* How often it has given up the CPU to sleep: who is not woken does not again. */
uint64_t task_sleeps(pid_t pid);

#endif
