/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The locks of thread groups of Lull's feature `attach`, for those headers that
 * are in everything: see <linux/lull_attach.h> for the rest.
 */
#ifndef _LINUX_LULL_ATTACH_GROUP_H
#define _LINUX_LULL_ATTACH_GROUP_H

#include <linux/atomic.h>
#include <linux/jump_label.h>
#include <linux/rwsem.h>
#include <linux/types.h>

struct task_struct;

#ifdef CONFIG_LULL_ATTACH

/**
 * struct lull_attach_group - what excludes changes of a thread group
 * @sem: the lock of the mode "threadgroup"; not initialised in other modes
 * @waiters: in the mode "lull", who wants to change the group while a writer is
 *	there
 * @holders: the lock of the mode "lull": how many tasks are changing the
 *	group, negative while a writer is there
 *
 * In signal_struct. Who moves the group writes, holding cgroup_mutex; its own
 * threads read while they fork, exec or exit, inside of the read side of
 * cgroup_threadgroup_rwsem.
 */
struct lull_attach_group {
	struct rw_semaphore sem;
	struct hlist_head waiters;
	atomic_t holders;
};

#define LULL_ATTACH_GROUP_INIT(name) { .sem = __RWSEM_INITIALIZER((name).sem), }

/* On in the mode "threadgroup". */
DECLARE_STATIC_KEY_FALSE(lull_attach_sem_key);
/* On in the mode "lull". */
DECLARE_STATIC_KEY_FALSE(lull_attach_holders_key);

void lull_attach_sem_hold(struct task_struct *tsk);
void lull_attach_sem_release(struct task_struct *tsk);
void lull_attach_holders_hold(struct task_struct *tsk);
void lull_attach_holders_release(struct task_struct *tsk);

/* @tsk, which is current, is about to fork, exec or exit. */
static inline void lull_attach_hold(struct task_struct *tsk)
{
	if (static_branch_unlikely(&lull_attach_holders_key))
		lull_attach_holders_hold(tsk);
	else if (static_branch_unlikely(&lull_attach_sem_key))
		lull_attach_sem_hold(tsk);
}

static inline void lull_attach_release(struct task_struct *tsk)
{
	if (static_branch_unlikely(&lull_attach_holders_key))
		lull_attach_holders_release(tsk);
	else if (static_branch_unlikely(&lull_attach_sem_key))
		lull_attach_sem_release(tsk);
}

#else /* !CONFIG_LULL_ATTACH */

struct lull_attach_group { };

static inline void lull_attach_hold(struct task_struct *tsk) { }
static inline void lull_attach_release(struct task_struct *tsk) { }

#endif /* CONFIG_LULL_ATTACH */

#endif /* _LINUX_LULL_ATTACH_GROUP_H */
