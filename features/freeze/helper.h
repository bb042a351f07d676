/* SPDX-License-Identifier: GPL-2.0-only */
/* User mode helpers that the kernel starts and does not wait for. */
#ifndef LULL_FREEZE_HELPER_H
#define LULL_FREEZE_HELPER_H

enum helper_life {
	HELPER_SHORT,	/* a few system calls */
	HELPER_LONG,	/* system calls for as long as a freeze takes */
};

/* The probe is the kernel's uevent helper; the journal takes that back. */
int helper_install(void);
/* Have the kernel start one: 0, or -1 with errno. */
int helper_call(enum helper_life life);

#endif
