/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_THAW_INTERNAL_H
#define _LULL_THAW_INTERNAL_H

#include <linux/lull_thaw.h>

struct dentry;

enum thaw_mode {
	THAW_STOCK,
	THAW_WAKE_ALL,	/* with CONFIG_LULL_COMPARE */
	THAW_LULL,
};

enum thaw_counter {
	THAW_VISITED,	/* tasks that the walk looked at */
	THAW_SKIPPED,	/* of these, not frozen: no lock taken */
	THAW_RESTORED,	/* put back to the sleep they were in */
	THAW_WOKEN,
	THAW_KEPT,	/* a v1 cgroup has them frozen still; */
	THAW_LEFT,	/* of these, sent from a wait to the refrigerator */
	THAW_RESTED,	/* frozen in place by TASK_FREEZABLE_PM */
};

#ifdef CONFIG_LULL_COMPARE
void thaw_steps_init(struct dentry *dir);
#else
static inline void thaw_steps_init(struct dentry *dir) { }
#endif

#ifdef CONFIG_LULL_DEBUG
bool thaw_debug_passes(struct task_struct *p);
void thaw_debug_left(struct task_struct *p);
void __init thaw_debug_init(struct dentry *dir);
#else
static inline bool thaw_debug_passes(struct task_struct *p) { return false; }
static inline void thaw_debug_left(struct task_struct *p) { }
static inline void thaw_debug_init(struct dentry *dir) { }
#endif

#endif /* _LULL_THAW_INTERNAL_H */
