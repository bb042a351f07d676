/* SPDX-License-Identifier: GPL-2.0-only */
/* A program to execute, which says when it began and ends. */
#ifndef LULL_ATTACH_PROGRAM_H
#define LULL_ATTACH_PROGRAM_H

#include <stdint.h>

/* Where it says so: a pipe that programs inherit. */
int program_open(void);
void program_close(void);
/* In the child: become the program; back only with an error. */
void program_exec(void);
/* When the last program began, in ns of the monotonic clock; 0 if none did. */
uint64_t program_began(void);

#endif
