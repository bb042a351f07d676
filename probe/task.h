/* SPDX-License-Identifier: GPL-2.0-only */
/* What /proc says of a task, and what becomes of a child. */
#ifndef LULL_TASK_H
#define LULL_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The letter of /proc/PID/stat, or 0 where there is no such task. */
char task_state(pid_t pid);
/* How often it has given up the CPU to sleep: who is not woken does not again. */
uint64_t task_sleeps(pid_t pid);
/* Does task_state() come to one of those letters within so many sleeps of a ms? */
bool task_comes_to(pid_t pid, const char *letters, unsigned int ms);
/* Does the child end within so many? Then it is reaped, and *pid 0, which is nobody. */
bool task_ends(pid_t *pid, unsigned int ms);

#endif
