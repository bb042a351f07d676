/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the freezer calls of Lull's feature `freeze`.
 *
 * The hooks sit in kernel/power/{suspend,process}.c, kernel/freezer.c,
 * kernel/sched/core.c, kernel/exit.c and kernel/umh.c. Each is nothing where the
 * option is off, and a static branch not taken where the mode is "stock".
 */
#ifndef _LINUX_LULL_FREEZE_H
#define _LINUX_LULL_FREEZE_H

#include <linux/delay.h>
#include <linux/jump_label.h>
#include <linux/sched.h>
#include <linux/spinlock_types.h>

/* kernel/freezer.c; protects freezing and frozen transitions. */
extern spinlock_t freezer_lock;

#ifdef CONFIG_LULL_FREEZE

/* On in the mode "lull". */
DECLARE_STATIC_KEY_FALSE(lull_freeze_on);

void lull_freeze_begin(void);
void lull_freeze_end(int error);
void lull_freeze_thaw(void);
bool lull_freeze_pass(bool user_only, unsigned int *todo);
void lull_freeze_walked(void);
void lull_freeze_wait(unsigned int todo, int usecs);
void lull_freeze_phase(bool user_only, s64 nsecs, unsigned int todo);
void lull_freeze_show(void);
void __lull_freeze_rest(bool freeze);
bool __lull_freeze_may_thaw(struct task_struct *p);
void __lull_freeze_dead(void);
void __lull_freeze_exec(void);

/* In __refrigerator(), under freezer_lock, with @current TASK_FROZEN. */
static inline void lull_freeze_rest(bool freeze)
{
	if (static_branch_unlikely(&lull_freeze_on))
		__lull_freeze_rest(freeze);
}

/*
 * In __thaw_task(), under freezer_lock, for a task that is frozen: false where
 * another reason to be frozen remains.
 */
static inline bool lull_freeze_may_thaw(struct task_struct *p)
{
	if (static_branch_unlikely(&lull_freeze_on))
		return __lull_freeze_may_thaw(p);
	return true;
}

/* In do_task_dead(), with @current TASK_DEAD and preemption off. */
static inline void lull_freeze_dead(void)
{
	if (static_branch_unlikely(&lull_freeze_on))
		__lull_freeze_dead();
}

/* In a helper whose program is loaded: it has no PF_NOFREEZE any more. */
static inline void lull_freeze_exec(void)
{
	if (static_branch_unlikely(&lull_freeze_on))
		__lull_freeze_exec();
}

#else /* !CONFIG_LULL_FREEZE */

static inline void lull_freeze_begin(void) { }
static inline void lull_freeze_end(int error) { }
static inline void lull_freeze_thaw(void) { }
static inline bool lull_freeze_pass(bool user_only, unsigned int *todo)
{
	return false;
}

static inline void lull_freeze_walked(void) { }
static inline void lull_freeze_wait(unsigned int todo, int usecs)
{
	usleep_range(usecs / 2, usecs);
}

static inline void lull_freeze_phase(bool user_only, s64 nsecs,
				     unsigned int todo) { }
static inline void lull_freeze_show(void) { }
static inline void lull_freeze_rest(bool freeze) { }
static inline bool lull_freeze_may_thaw(struct task_struct *p)
{
	return true;
}

static inline void lull_freeze_dead(void) { }
static inline void lull_freeze_exec(void) { }

#endif /* CONFIG_LULL_FREEZE */

/* Widened race windows and the escape checker of test kernels. */
#if defined(CONFIG_LULL_FREEZE) && defined(CONFIG_LULL_DEBUG)
void lull_freeze_debug_frozen(void);
void lull_freeze_debug_failed(void);
void lull_freeze_debug_thaw(void);
void lull_freeze_debug_exit(void);
void lull_freeze_debug_exiting(void);
void lull_freeze_debug_left(void);
void lull_freeze_debug_exec(void);
void lull_freeze_debug_execed(void);
void lull_freeze_debug_forking(struct task_struct *p);
#else
static inline void lull_freeze_debug_frozen(void) { }
static inline void lull_freeze_debug_failed(void) { }
static inline void lull_freeze_debug_thaw(void) { }
static inline void lull_freeze_debug_exit(void) { }
static inline void lull_freeze_debug_exiting(void) { }
static inline void lull_freeze_debug_left(void) { }
static inline void lull_freeze_debug_exec(void) { }
static inline void lull_freeze_debug_execed(void) { }
static inline void lull_freeze_debug_forking(struct task_struct *p) { }
#endif

#endif /* _LINUX_LULL_FREEZE_H */
