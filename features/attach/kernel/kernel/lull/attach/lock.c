// SPDX-License-Identifier: GPL-2.0-only
/*
 * The locks of one thread group: who forks, execs or exits holds it, and who
 * moves the group waits until nobody does.
 *
 * All of this happens inside of the read side of cgroup_threadgroup_rwsem, or
 * under cgroup_mutex for a writer, of whom there is one at a time in the whole
 * system. Modes change under both, so nobody sees one mode on the way in and
 * another on the way out.
 */
#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/lull_attach.h>
#include <linux/rcuwait.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/spinlock.h>

#include "internal.h"

/*
 * In holders while the group is locked for writing. There are fewer tasks than
 * this, so the sum with them is negative then, and nothing overflows.
 */
#define WRITER (INT_MIN / 2)

/* The writer that waits until nobody holds the group. */
static struct rcuwait writer = __RCUWAIT_INITIALIZER(writer);

/* A task that wants to hold a group that is locked. */
struct waiter {
	struct hlist_node node;
	struct task_struct *task;	/* NULL once it holds the group */
};

/*
 * Of the waiters of all groups: who adds one, or gives a group to all of its own,
 * is done soon. A writer gives it to them before it can take it again.
 */
static DEFINE_SPINLOCK(waiters_lock);

#ifdef CONFIG_DEBUG_LOCK_ALLOC
/*
 * All groups are one lock to lockdep: a holder waits for one at a time, and who
 * waits for many is the only writer.
 */
static struct lockdep_map group_dep_map =
	STATIC_LOCKDEP_MAP_INIT("lull_attach_group", &group_dep_map);
#endif

/*
 * Undo an increment. @group stays what it is: it is current's, or its task has
 * not run yet.
 */
static __always_inline void leave(struct lull_attach_group *group)
{
	/* Pairs with the acquire in group_is_free(): what was done is visible. */
	if (unlikely(atomic_add_negative_release(-1, &group->holders)))
		/*
		 * Maybe the writer waits for just this. The barrier in here is
		 * between the count and the look at who waits; it pairs with
		 * the one of rcuwait_wait_event().
		 */
		rcuwait_wake_up(&writer);
}

/* A writer was there: give way until it is gone. */
static noinline void wait_for_writer(struct lull_attach_group *group)
{
	struct waiter w = { .task = current };

	spin_lock(&waiters_lock);
	/* The lock orders this after what a writer did that has left since. */
	if (atomic_read(&group->holders) >= 0) {
		spin_unlock(&waiters_lock);
		return;
	}
	hlist_add_head(&w.node, &group->waiters);
	leave(group);
	spin_unlock(&waiters_lock);

	lull_attach_count(LULL_ATTACH_WAITS);
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		/* Pairs with the release in give(). */
		if (!smp_load_acquire(&w.task))
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
}

/**
 * lull_attach_holders_hold - keep @tsk's thread group where it is
 * @tsk: current
 */
void lull_attach_holders_hold(struct task_struct *tsk)
{
	struct lull_attach_group *group = &tsk->signal->lull_attach;

	if (!lull_attach_guarded(LULL_ATTACH_READERS))
		return;
	rwsem_acquire_read(&group_dep_map, 0, 0, _RET_IP_);
	/* Pairs with the release in group_release(). */
	if (unlikely(atomic_add_negative_acquire(1, &group->holders)))
		wait_for_writer(group);
}

/**
 * lull_attach_holders_release - let @tsk's thread group be moved
 * @tsk: current
 */
void lull_attach_holders_release(struct task_struct *tsk)
{
	if (!lull_attach_guarded(LULL_ATTACH_READERS))
		return;
	leave(&tsk->signal->lull_attach);
	rwsem_release(&group_dep_map, _RET_IP_);
}

/* From one place, so that lockdep sees one class. */
static void sem_init(struct lull_attach_group *group)
{
	init_rwsem(&group->sem);
}

/**
 * lull_attach_sem_init_all - make the locks of the mode "threadgroup"
 *
 * Of all processes there are, with forks, execs and exits locked out: those that
 * come later get theirs while they are made. In other modes nobody needs one.
 */
void lull_attach_sem_init_all(void)
{
	struct task_struct *p;

	read_lock(&tasklist_lock);
	for_each_process(p)
		sem_init(&p->signal->lull_attach);
	read_unlock(&tasklist_lock);
}

/**
 * lull_attach_sem_hold - the same in the mode "threadgroup"
 * @tsk: current
 */
void lull_attach_sem_hold(struct task_struct *tsk)
{
	if (lull_attach_guarded(LULL_ATTACH_READERS))
		down_read(&tsk->signal->lull_attach.sem);
}

/**
 * lull_attach_sem_release - the same in the mode "threadgroup"
 * @tsk: current
 */
void lull_attach_sem_release(struct task_struct *tsk)
{
	if (lull_attach_guarded(LULL_ATTACH_READERS))
		up_read(&tsk->signal->lull_attach.sem);
}

/**
 * __lull_attach_child_hold - keep a process where it is while it is made
 * @group: of a child that nobody can find yet
 *
 * Once its PID is visible it can be written to cgroup.procs, and would be moved
 * before cgroup_post_fork() has put it where it belongs. It has no other
 * threads, nor a writer: a plain store will do, which its PID's publication
 * orders before whoever finds it.
 */
void __lull_attach_child_hold(struct lull_attach_group *group)
{
	if (!lull_attach_less())
		sem_init(group);
	if (!lull_attach_guarded(LULL_ATTACH_CHILD))
		return;
	if (lull_attach_less())
		atomic_set(&group->holders, 1);
	else
		down_read_nested(&group->sem, SINGLE_DEPTH_NESTING);
}

/**
 * __lull_attach_child_release - let a process be moved that has been made
 * @group: of a child that is in its cgroup, or never to be seen
 */
void __lull_attach_child_release(struct lull_attach_group *group)
{
	if (!lull_attach_guarded(LULL_ATTACH_CHILD))
		return;
	if (lull_attach_less())
		leave(group);
	else
		up_read(&group->sem);
}

static bool group_is_free(struct lull_attach_group *group)
{
	/* Pairs with the release in leave(). */
	return atomic_read_acquire(&group->holders) == WRITER;
}

/**
 * lull_attach_round_begin - before locks of groups are taken for writing
 */
void lull_attach_round_begin(void)
{
	lockdep_assert_held(&cgroup_mutex);
	if (lull_attach_less())
		rwsem_acquire(&group_dep_map, 0, 0, _RET_IP_);
}

/**
 * lull_attach_round_end - after all of them were given back
 */
void lull_attach_round_end(void)
{
	if (lull_attach_less())
		rwsem_release(&group_dep_map, _RET_IP_);
}

/**
 * lull_attach_group_lock - keep a thread group from changing
 * @group: of a task that the caller has a reference to
 *
 * Once this is back, no task of the group forks, execs or begins to exit. In
 * the mode "lull" a group that was locked before in this round is left alone.
 */
void lull_attach_group_lock(struct lull_attach_group *group)
{
	lull_attach_count(LULL_ATTACH_GROUP);
	if (!lull_attach_less()) {
		down_write(&group->sem);
		return;
	}
	/* There is no other writer: this one is only seen to be ours. */
	if (atomic_read(&group->holders) < 0)
		return;
	/* Holders that come from now on see it and wait. */
	atomic_fetch_add(WRITER, &group->holders);
	if (!group_is_free(group))
		rcuwait_wait_event(&writer, group_is_free(group),
				   TASK_UNINTERRUPTIBLE);
}

/* @w holds the group from now on, and may be gone at once. */
static void give(struct waiter *w)
{
	struct task_struct *task = get_task_struct(w->task);

	hlist_del(&w->node);
	/* Pairs with the acquire in wait_for_writer(). */
	smp_store_release(&w->task, NULL);
	wake_up_process(task);
	put_task_struct(task);
}

/*
 * Who waits has the group before anybody can lock it again: writers that come
 * one after the other keep nobody from forking.
 */
static void group_release(struct lull_attach_group *group)
{
	struct hlist_node *next;
	struct waiter *w;
	int holders = 0;

	spin_lock(&waiters_lock);
	hlist_for_each_entry(w, &group->waiters, node)
		holders++;
	/* Pairs with the acquire where the group is held. */
	atomic_fetch_add_release(holders - WRITER, &group->holders);
	hlist_for_each_entry_safe(w, next, &group->waiters, node)
		give(w);
	spin_unlock(&waiters_lock);
}

/**
 * lull_attach_group_unlock - let a thread group change again
 * @group: was locked; a second call for it in the same round does nothing
 */
void lull_attach_group_unlock(struct lull_attach_group *group)
{
	if (!lull_attach_less())
		up_write(&group->sem);
	else if (atomic_read(&group->holders) < 0)
		group_release(group);
}
