// SPDX-License-Identifier: GPL-2.0-only
/* The feature `thaw`: its modes, its walk, and what the freezer's hooks call. */
#include <linux/freezer.h>
#include <linux/ktime.h>
#include <linux/lull.h>
#include <linux/lull_freeze.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "internal.h"

#define CREATE_TRACE_POINTS
#include <trace/events/lull_thaw.h>

/* One of the states: who asks for any finds it. */
static_assert(TASK_FREEZABLE_PM & TASK_ANY);

DEFINE_STATIC_KEY_FALSE(lull_thaw_on);

static const char * const thaw_modes[] = {
	[THAW_STOCK]	= "stock",
	[THAW_WAKE_ALL]	= LULL_COMPARED("wake_all"),
	[THAW_LULL]	= "lull",
};

static const char * const thaw_counters[] = {
	[THAW_VISITED]	= "visited",
	[THAW_SKIPPED]	= "skipped",
	[THAW_RESTORED]	= "restored",
	[THAW_WOKEN]	= "woken",
	[THAW_KEPT]	= "kept",
	[THAW_LEFT]	= "left",
	[THAW_RESTED]	= "rested",
};

/*
 * Whoever is frozen in one mode can be thawed in any other: what a frozen task
 * carries, its state and its saved_state, is stock's, and a bit in its state
 * tells who is frozen in place as in no other mode. So nothing has to wait.
 */
static int thaw_switch_mode(struct lull_feature *f, unsigned int mode)
{
	static_branch_disable(&lull_thaw_on);
	lull_thaw_take_steps();
	if (IS_ENABLED(CONFIG_LULL_COMPARE))
		static_branch_disable(&lull_thaw_all);
	if (mode == THAW_LULL)
		static_branch_enable(&lull_thaw_on);
	else if (IS_ENABLED(CONFIG_LULL_COMPARE) && mode == THAW_WAKE_ALL)
		static_branch_enable(&lull_thaw_all);
	return 0;
}

LULL_FEATURE(thaw, thaw_modes, thaw_switch_mode, thaw_counters);

/*
 * freeze_task() has found that somebody wants @p frozen. If its cgroup does,
 * whether PM does or not, it has to leave the queue that it waits in: the
 * others there may be free to run.
 */
bool __lull_thaw_may_rest(struct task_struct *p)
{
	lockdep_assert_held(&freezer_lock);

	if (cgroup_freezing(p) && lull_thaw_guarded(LULL_THAW_PM_ONLY))
		return false;
	lull_count(&lull_thaw, THAW_RESTED, 1);
	return true;
}

/* As freeze_task() asks: a kthread would keep the signal for ever. */
static void ask_to_freeze(struct task_struct *p)
{
	if (!(p->flags & PF_KTHREAD))
		set_tsk_thread_flag(p, TIF_SIGPENDING);
}

/*
 * Who has left the refrigerator meanwhile may be about to sleep in such a wait,
 * and then its state is its own. The flag comes first: from here on anybody may
 * wake it, and it is not to get to user mode by that.
 */
static int end_wait(struct task_struct *p, void *arg)
{
	if (!lull_thaw_rests(p))
		return 0;
	if (lull_thaw_guarded(LULL_THAW_FLAG))
		ask_to_freeze(p);
	WRITE_ONCE(p->__state, TASK_INTERRUPTIBLE);
	p->saved_state = TASK_RUNNING;
	return 1;
}

/*
 * PM has frozen @p in a wait, and does not want it frozen any longer, but a
 * cgroup does. Let it leave the wait and go to the refrigerator, with what it
 * was woken for, if it was.
 */
static void leave_wait(struct task_struct *p)
{
	if (!task_call_func(p, end_wait, NULL))
		return;
	thaw_debug_left(p);
	if (!lull_thaw_guarded(LULL_THAW_FLAG))
		ask_to_freeze(p);
	wake_up_state(p, TASK_INTERRUPTIBLE);
	trace_thaw_woken(p);
	lull_count(&lull_thaw, THAW_LEFT, 1);
}

bool __lull_thaw_may_thaw(struct task_struct *p)
{
	lockdep_assert_held(&freezer_lock);

	if (!lull_thaw_guarded(LULL_THAW_VICTIM) && cgroup_freezing(p))
		return false;
	/* Not freezing() is also who shall die: TIF_MEMDIE (FZ11). */
	if (!freezing(p) || !lull_thaw_guarded(LULL_THAW_REASONS))
		return true;

	if (READ_ONCE(pm_freezing))
		return false;
	/* PM has begun to thaw since freezing() was asked. */
	if (!cgroup_freezing(p))
		return true;
	/*
	 * Who exits may be hidden from its cgroup already, which then would never
	 * thaw it. Nobody asks whether that is so: it does not get back to user mode.
	 */
	if ((p->flags & PF_EXITING) && lull_thaw_guarded(LULL_THAW_LEAVE))
		return true;
	lull_count(&lull_thaw, THAW_KEPT, 1);
	if (lull_thaw_guarded(LULL_THAW_LEAVE))
		leave_wait(p);
	return false;
}

void __lull_thaw_restored(void)
{
	lull_count(&lull_thaw, THAW_RESTORED, 1);
}

/**
 * lull_thaw_wake - wake a frozen task
 * @p: the task; the caller holds freezer_lock
 */
void lull_thaw_wake(struct task_struct *p)
{
	if (!wake_up_state(p, TASK_FROZEN))
		return;
	trace_thaw_woken(p);
	if (static_branch_unlikely(&lull_thaw_on))
		lull_count(&lull_thaw, THAW_WOKEN, 1);
}

/*
 * Taking freezer_lock after pm_freezing was cleared orders the walk against
 * __refrigerator(): a task that found the request under that lock had stored
 * TASK_FROZEN before, and is seen (FZ8); one that takes the lock later finds no
 * request and does not stay. Nobody else freezes for PM: that is this task.
 */
static void settle(void)
{
	if (!lull_thaw_guarded(LULL_THAW_SETTLE))
		return;
	spin_lock_irq(&freezer_lock);
	spin_unlock_irq(&freezer_lock);
}

static void visit(struct task_struct *p)
{
	/* No other thread should have PF_SUSPEND_TASK set, as stock has it. */
	WARN_ON(p != current && (data_race(p->flags) & PF_SUSPEND_TASK));

	if (!frozen(p) || thaw_debug_passes(p))
		lull_count(&lull_thaw, THAW_SKIPPED, 1);
	else
		__thaw_task(p);
}

/**
 * lull_thaw_walk - thaw every task that PM has frozen
 *
 * In place of the walk of thaw_processes(). Under RCU: a task that is frozen
 * neither exits nor execs, so that it stays on the list, where it was before
 * the walk began.
 *
 * Return: false in other modes, and without this step; nothing was done then.
 */
bool lull_thaw_walk(void)
{
	struct task_struct *g, *p;
	unsigned int visited = 0;
	u64 restored, woken;
	ktime_t start;

	if (!static_branch_unlikely(&lull_thaw_on) ||
	    !lull_thaw_by(LULL_THAW_BY_WALK))
		return false;

	start = ktime_get();
	restored = lull_counter(&lull_thaw, THAW_RESTORED);
	woken = lull_counter(&lull_thaw, THAW_WOKEN);

	settle();
	rcu_read_lock();
	for_each_process_thread(g, p) {
		visit(p);
		visited++;
	}
	rcu_read_unlock();

	lull_count(&lull_thaw, THAW_VISITED, visited);
	trace_thaw_walk(visited,
			lull_counter(&lull_thaw, THAW_RESTORED) - restored,
			lull_counter(&lull_thaw, THAW_WOKEN) - woken,
			ktime_to_ns(ktime_sub(ktime_get(), start)));
	return true;
}

static int __init thaw_init(void)
{
	thaw_debug_init(lull_thaw.dir);
	thaw_steps_init(lull_thaw.dir);
	return 0;
}
late_initcall(thaw_init);
