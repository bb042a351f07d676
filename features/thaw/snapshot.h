/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User space's own freezer, /dev/snapshot: everybody is frozen but the caller,
 * who goes on in user mode, and may do then what nobody could in a suspend. No
 * forks meanwhile: children would inherit that nobody may freeze them.
 */
#ifndef LULL_THAW_SNAPSHOT_H
#define LULL_THAW_SNAPSHOT_H

/* 0, or -1 with fail() called. */
int snapshot_freeze(void);
int snapshot_thaw(void);
/* Thaws if need be; for a teardown. */
void snapshot_end(void);

#endif
