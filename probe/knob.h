/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything of the machine that the probe changes goes through here, and is
 * put back, last change first, when the probe ends in whatever way it can see.
 */
#ifndef LULL_KNOB_H
#define LULL_KNOB_H

#include <stdint.h>

/* Write a sysfs or procfs file whose old value is put back at the end. */
int knob_write(const char *path, const char *value);
/* The same where the value only has to be at least this. */
int knob_raise(const char *path, uint64_t value);
/* A directory or a mount that is removed at the end. */
int knob_mkdir(const char *path);
int knob_mount(const char *source, const char *target, const char *type, const char *data);

/* Where the journal stands; knob_restore() undoes what came after a mark. */
unsigned int knob_mark(void);
/* 0, or -1 when something could not be put back (all are tried). */
int knob_restore(unsigned int mark);

#endif
