/* SPDX-License-Identifier: GPL-2.0-only */
/* The system calls that programs sleep in, each with nothing that would end it. */
#ifndef LULL_WAITS_H
#define LULL_WAITS_H

#include <stdbool.h>

struct wait {
	const char *name;
	/* What it waits for, made by who is to wait; -1 with errno. NULL: all share it. */
	int (*open)(void);
	/* Sleeps; who comes back has been disturbed: -1 and an errno. */
	long (*sleep)(void);
	long call;		/* the number of the system call that it sleeps in */
	bool net;		/* over loopback, which has to be up */
};

#define WAITS_NR 18
/* The five that come first are in every Linux, and each has no fd but the shared. */
#define WAITS_FIRST 5

extern const struct wait waits[WAITS_NR];

/* What they share, with a futex word of 0 that nobody changes; -1 with errno. */
int waits_open(unsigned int *never);
void waits_close(void);

#endif
