// SPDX-License-Identifier: GPL-2.0-only
/*
 * The feature `freeze`: its modes, its session, and what the hooks call. The
 * walks are in walk.c, the wait for the last task to come to rest in arrive.c.
 */
#include <linux/freezer.h>
#include <linux/ktime.h>
#include <linux/lull.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <linux/sched/task.h>

#include "internal.h"

#define CREATE_TRACE_POINTS
#include <trace/events/lull_freeze.h>

DEFINE_STATIC_KEY_FALSE(lull_freeze_on);

static const char * const freeze_modes[] = {
	[FREEZE_STOCK]		= "stock",
	[FREEZE_EXIT_STATE]	= LULL_COMPARED("exit_state"),
	[FREEZE_LULL]		= "lull",
};

static const char * const freeze_counters[] = {
	[FREEZE_WALKS]		= "walks",
	[FREEZE_PARTIAL]	= "partial_walks",
	[FREEZE_VISITED]	= "visited",
	[FREEZE_USER_NS]	= "user_ns",
	[FREEZE_KERNEL_NS]	= "kernel_ns",
	[FREEZE_WAITS]		= "waits",
	[FREEZE_WAIT_NS]	= "wait_ns",
	[FREEZE_WOKEN]		= "woken",
	[FREEZE_REFUSED]	= "refused",
	[FREEZE_FULL_FORKS]	= "full_forks",
	[FREEZE_FULL_THAWS]	= "full_thaws",
	[FREEZE_FULL_ROOM]	= "full_room",
};

static int freeze_switch_mode(struct lull_feature *f, unsigned int mode);

LULL_FEATURE(freeze, freeze_modes, freeze_switch_mode, freeze_counters);

/*
 * Held while a session runs, and while the mode changes: the hooks must not
 * come or go while a proof relies on what they count.
 */
static DEFINE_MUTEX(session_lock);
static enum freeze_mode next_mode;
static struct freeze_session freeze_session;

/* How long a change of mode waits for tasks that leave the refrigerator. */
#define LEAVE_TIMEOUT_MS 1000

unsigned long lull_freeze_thaws;

/* What was counted when the phase began. */
static u64 phase_walks, phase_visited;

void freeze_count(enum freeze_counter counter, u64 n)
{
	lull_count(&lull_freeze, counter, n);
}

/*
 * A task that went through __refrigerator() before the mode came into force
 * may still be TASK_FROZEN on its way out, without having been told to leave
 * that state under freezer_lock (FZ7). Wait until there is none: it is on a
 * CPU or ready to be, one that stays is neither.
 */
static bool somebody_leaves(void)
{
	struct task_struct *g, *p;
	bool ret = false;

	read_lock(&tasklist_lock);
	for_each_process_thread(g, p) {
		if (frozen(p) && task_is_runnable(p)) {
			ret = true;
			goto out;
		}
	}
out:
	read_unlock(&tasklist_lock);
	return ret;
}

/* The hooks are on: returns whether TASK_FROZEN can be believed from now on. */
static bool all_have_left(void)
{
	unsigned long end = jiffies + msecs_to_jiffies(LEAVE_TIMEOUT_MS);

	/* On the command line: interrupts are off, and nobody is frozen. */
	if (system_state == SYSTEM_BOOTING)
		return true;

	/* Whoever takes the lock from here on sees the branch. */
	spin_lock_irq(&freezer_lock);
	spin_unlock_irq(&freezer_lock);
	while (somebody_leaves()) {
		if (time_after(jiffies, end))
			return false;
		usleep_range(500, 1000);
	}
	return true;
}

static int freeze_switch_mode(struct lull_feature *f, unsigned int mode)
{
	int ret = 0;

	/*
	 * Not mutex_lock(): a task that waits here would keep the freezer
	 * waiting, which would keep it waiting.
	 */
	if (!mutex_trylock(&session_lock))
		return -EBUSY;

	if (mode == FREEZE_LULL) {
		static_branch_enable(&lull_freeze_on);
		if (!all_have_left())
			ret = -EBUSY;
	}
	if (mode != FREEZE_LULL || ret)
		static_branch_disable(&lull_freeze_on);

	if (!ret) {
		next_mode = mode;
		lull_freeze_take_steps();
	}

	mutex_unlock(&session_lock);
	return ret;
}

/**
 * lull_freeze_begin - a suspend is about to freeze processes
 *
 * Called where user and kernel phase follow each other back to back. Others
 * that freeze (hibernation, /dev/snapshot, kexec jump) do not come here and
 * are served as by stock.
 */
void lull_freeze_begin(void)
{
	struct freeze_session *s = &freeze_session;

	mutex_lock(&session_lock);
	lull_clear_counters(&lull_freeze);
	phase_walks = 0;
	phase_visited = 0;

	memset(s, 0, sizeof(*s));
	/* Not the feature's mode: that is written after the lock is dropped. */
	s->mode = next_mode;
	if (s->mode == FREEZE_LULL)
		freeze_make_room(s);
	WRITE_ONCE(s->owner, current);
}

/* Others may freeze meanwhile, without a session: Xen takes no lock for it. */
static bool in_session(void)
{
	return READ_ONCE(freeze_session.owner) == current;
}

static void end_session(void)
{
	if (!in_session())
		return;
	WRITE_ONCE(freeze_session.owner, NULL);
	/* Nobody is waited for: arrivals from here on want nothing. */
	freeze_arrivals_reset();
	freeze_release(&freeze_session);
	mutex_unlock(&session_lock);
}

/**
 * lull_freeze_end - the freezing of a suspend is over
 * @error: how it ended
 */
void lull_freeze_end(int error)
{
	if (error)
		lull_freeze_debug_failed();
	end_session();
	if (!error)
		lull_freeze_debug_frozen();
}

/**
 * lull_freeze_thaw - tasks are about to be thawed
 *
 * That is also how freezing fails: who is thawed then may switch the mode.
 */
void lull_freeze_thaw(void)
{
	lull_freeze_debug_thaw();
	if (lull_freeze_guarded(LULL_FREEZE_OVER))
		end_session();
}

static bool in_lull_session(void)
{
	return in_session() && freeze_session.mode == FREEZE_LULL;
}

/**
 * lull_freeze_pass - one round of the freezer
 * @user_only: user phase, else kernel phase
 * @todo: set to how many tasks are still to be waited for
 *
 * Return: false where the mode leaves that to the stock walk.
 */
bool lull_freeze_pass(bool user_only, unsigned int *todo)
{
	struct freeze_session *s = &freeze_session;

	if (!in_session() || s->mode == FREEZE_STOCK)
		return false;

	if (IS_ENABLED(CONFIG_LULL_COMPARE) && s->mode == FREEZE_EXIT_STATE)
		*todo = freeze_exit_state_pass();
	else
		*todo = user_only ? freeze_user_pass(s) : freeze_kernel_pass(s);
	return true;
}

/**
 * lull_freeze_walked - the stock walk is at its end, under tasklist_lock
 */
void lull_freeze_walked(void)
{
	if (!in_session())
		return;
	freeze_count(FREEZE_WALKS, 1);
	/* All on the list, counted without a cost to each visit. */
	freeze_count(FREEZE_VISITED, nr_threads);
}

/**
 * lull_freeze_wait - between two rounds of the freezer
 * @todo: tasks to wait for, work queues not counted
 * @usecs: how long at most; stock's back-off, kept as the bound
 */
void lull_freeze_wait(unsigned int todo, int usecs)
{
	ktime_t start = ktime_get();

	freeze_debug_between();
	if (!in_lull_session() || !todo ||
	    !lull_freeze_by(LULL_FREEZE_BY_EVENT))
		usleep_range(usecs / 2, usecs);
	else if (freeze_wait_for_arrivals(todo, usecs))
		freeze_count(FREEZE_WOKEN, 1);

	if (!in_session())
		return;
	freeze_count(FREEZE_WAITS, 1);
	freeze_count(FREEZE_WAIT_NS, ktime_to_ns(ktime_sub(ktime_get(), start)));
}

/**
 * lull_freeze_phase - a phase of freezing is over
 * @user_only: which
 * @nsecs: how long it took
 * @todo: tasks that refused
 */
void lull_freeze_phase(bool user_only, s64 nsecs, unsigned int todo)
{
	u64 walks, visited;

	if (!in_session())
		return;

	freeze_count(user_only ? FREEZE_USER_NS : FREEZE_KERNEL_NS, nsecs);
	freeze_count(FREEZE_REFUSED, todo);
	walks = lull_counter(&lull_freeze, FREEZE_WALKS) +
		lull_counter(&lull_freeze, FREEZE_PARTIAL);
	visited = lull_counter(&lull_freeze, FREEZE_VISITED);
	trace_freeze_phase(user_only, nsecs, todo, walks - phase_walks,
			   visited - phase_visited);
	phase_walks = walks;
	phase_visited = visited;
}

/**
 * lull_freeze_show - those who refuse to freeze have been shown, by the list
 */
void lull_freeze_show(void)
{
	if (in_lull_session())
		freeze_show_unlisted(&freeze_session);
}

void __lull_freeze_rest(bool freeze)
{
	lockdep_assert_held(&freezer_lock);

	if (freeze) {
		freeze_arrive();
	} else if (lull_freeze_guarded(LULL_FREEZE_REST)) {
		/*
		 * Nobody may take this task for frozen any more (FZ7). It may
		 * have been, and not freezing() any more is what the OOM
		 * killer did without a thaw.
		 */
		__set_current_state(TASK_RUNNING);
		lull_freeze_thaws++;
	}
}

/*
 * Who exits may be hidden from its cgroup already, which then would never thaw it.
 * Nobody asks whether that is so: it does not get back to user mode, and a suspend
 * that ends lets it go.
 */
static bool may_be_hidden(struct task_struct *p)
{
	return !pm_freezing && (p->flags & PF_EXITING) &&
	       lull_freeze_guarded(LULL_FREEZE_EXITING);
}

/*
 * A task may be frozen for a v1 cgroup and for suspend at once, and whoever
 * withdraws one of the two thaws it. A sleeper that was frozen in place would
 * then go on, unsignalled, while the other reason stands (FZ9). Both take
 * freezer_lock after they have withdrawn theirs, so that the second of them
 * finds no reason left and thaws.
 */
bool __lull_freeze_may_thaw(struct task_struct *p)
{
	lockdep_assert_held(&freezer_lock);

	if (freezing(p) && lull_freeze_guarded(LULL_FREEZE_REASONS) && !may_be_hidden(p))
		return false;
	lull_freeze_thaws++;
	return true;
}

void __lull_freeze_dead(void)
{
	if (READ_ONCE(freeze_session.owner))
		freeze_arrive();
}

void __lull_freeze_exec(void)
{
	freeze_debug_loaded();
	if (!lull_freeze_guarded(LULL_FREEZE_EXEC))
		return;
	/*
	 * flags before pm_freezing: pairs with the barrier in start_walk().
	 * A helper whose PF_NOFREEZE that walk saw sees the request here and
	 * goes to the refrigerator before it reaches user mode. Its program is
	 * loaded: no wait in there is told of a signal that nobody sent.
	 */
	smp_mb();
	if (freezing(current))
		set_thread_flag(TIF_SIGPENDING);
}

/* Comes after the late_initcall() that makes the folder. */
static int __init freeze_init(void)
{
	freeze_debug_init(lull_freeze.dir);
	freeze_steps_init(lull_freeze.dir);
	return 0;
}
late_initcall_sync(freeze_init);
