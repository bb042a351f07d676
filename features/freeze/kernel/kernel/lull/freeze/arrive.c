// SPDX-License-Identifier: GPL-2.0-only
/* The wait for the last task to come to rest, which that task ends. */
#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "internal.h"

/* Stock's longest sleep: whoever freezes looks at the rest at least so often. */
#define LONGEST_WAIT_US (8 * USEC_PER_MSEC)

/*
 * Who waits for the others to come to rest. Innermost but for what a wakeup
 * takes: it nests in freezer_lock and is raw, since an exiting task takes it
 * with preemption off.
 */
static DEFINE_RAW_SPINLOCK(arrival_lock);
static struct task_struct *arrival_waiter;
static atomic_t arrivals;
static unsigned int arrivals_wanted = UINT_MAX;

/**
 * freeze_arrivals_reset - count arrivals anew; before tasks are asked to rest
 */
void freeze_arrivals_reset(void)
{
	WRITE_ONCE(arrivals_wanted, UINT_MAX);
	atomic_set(&arrivals, 0);
}

/**
 * freeze_arrive - one more task came to rest or died
 *
 * The count is a hint: too many cost a look, too few cost the wait that stock
 * has.
 */
void freeze_arrive(void)
{
	unsigned long flags;
	unsigned int came;

	/*
	 * A full barrier, and thus before the next line, which the compiler may
	 * not take first; pairs with the one in the wait.
	 */
	came = atomic_inc_return(&arrivals);
	if (came < READ_ONCE(arrivals_wanted))
		return;

	raw_spin_lock_irqsave(&arrival_lock, flags);
	if (arrival_waiter)
		wake_up_process(arrival_waiter);
	raw_spin_unlock_irqrestore(&arrival_lock, flags);
}

static void set_arrival_waiter(struct task_struct *p)
{
	raw_spin_lock_irq(&arrival_lock);
	WRITE_ONCE(arrival_waiter, p);
	raw_spin_unlock_irq(&arrival_lock);
}

/**
 * freeze_wait_for_arrivals - sleep until tasks have come to rest
 * @todo: how many
 * @usecs: stock's back-off: the wait ends when none came for so long, since
 *	who is still busy freezing is not to be signalled again meanwhile
 *
 * While some do come it goes on, but not for longer than stock ever sleeps:
 * wakeup events and the time limit are the caller's to look at.
 *
 * Return: whether all of them came.
 */
bool freeze_wait_for_arrivals(unsigned int todo, int usecs)
{
	ktime_t exp = ns_to_ktime((u64)usecs * NSEC_PER_USEC / 2);
	unsigned int laps = LONGEST_WAIT_US / usecs;
	unsigned int came, before = 0;
	int left = 1;

	set_arrival_waiter(current);
	for (;;) {
		/* Before the count is read: a wakeup from here on counts. */
		set_current_state(TASK_UNINTERRUPTIBLE);
		WRITE_ONCE(arrivals_wanted, todo);
		/*
		 * wanted before arrivals; pairs with atomic_inc_return() in
		 * freeze_arrive(): either that sees what is wanted, or this sees
		 * that it came.
		 */
		smp_mb();
		came = atomic_read(&arrivals);
		if (came >= todo)
			break;
		/* Who does not look waits at any pace: a slow machine shows it. */
		if (lull_freeze_guarded(LULL_FREEZE_LOOK) &&
		    (!laps || (!left && came == before)))
			break;
		laps--;
		before = came;
		left = schedule_hrtimeout_range(&exp,
						(u64)usecs * NSEC_PER_USEC / 2,
						HRTIMER_MODE_REL);
	}
	__set_current_state(TASK_RUNNING);
	set_arrival_waiter(NULL);
	return came >= todo;
}
