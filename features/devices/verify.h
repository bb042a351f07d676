/* SPDX-License-Identifier: GPL-2.0-only */
/* Does what the callbacks of a cycle did keep the order, and is it whole? */
#ifndef LULL_DEVICES_VERIFY_H
#define LULL_DEVICES_VERIFY_H

#include <stdbool.h>

#include "tree.h"

struct faults {
	unsigned int early;	/* began before one that they depend on had ended */
	unsigned int twice;	/* were called more than once in a phase */
	unsigned int missing;	/* were not called, and should have been */
	unsigned int wrong;	/* were called, and should not have been */
	unsigned int order;	/* one by one, and not in the order of the list */
	unsigned int flags;	/* devices that are left otherwise than they should be */
};

/*
 * Of a cycle that went through: all of it, and what tree_state() has read, by what
 * drivers/base/power/main.c says of direct_complete and must_resume.
 */
void verify_whole(const struct tree *tree, struct faults *f);
/*
 * Of one that was aborted: who was suspended is resumed, and nobody else; runtime PM is
 * as it was.
 */
void verify_aborted(const struct tree *tree, struct faults *f);
/* Of one in which devices went away: order, and nobody twice. */
void verify_torn(const struct tree *tree, struct faults *f);
/* With /sys/power/pm_async off: one after the other in the order of the list. */
void verify_serial(const struct tree *tree, struct faults *f);

/*
 * By what tree_state() has read: is runtime PM disabled once too often, or too seldom?
 * The first time is when a device is made, where it has no runtime PM.
 */
bool verify_is_depth_wrong(const struct node *node);

bool verify_good(const struct faults *f);

#endif
