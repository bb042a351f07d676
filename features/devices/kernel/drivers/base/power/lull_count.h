/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The phase under way: its devices, who has claimed which, and how many each has
 * to wait for. Part of main.c, by way of lull_devices.h.
 */
#ifndef _DRIVERS_BASE_POWER_LULL_COUNT_H
#define _DRIVERS_BASE_POWER_LULL_COUNT_H

#include <linux/hash.h>
#include <linux/lull_devices.h>

#include "lull_wait.h"

static void lull_suspend(struct device *dev, bool async)
{
	device_suspend(dev, pm_transition, async);
}

static void lull_suspend_late(struct device *dev, bool async)
{
	device_suspend_late(dev, pm_transition, async);
}

static void lull_suspend_noirq(struct device *dev, bool async)
{
	device_suspend_noirq(dev, pm_transition, async);
}

static void lull_resume_noirq(struct device *dev, bool async)
{
	device_resume_noirq(dev, pm_transition, async);
}

static void lull_resume_early(struct device *dev, bool async)
{
	device_resume_early(dev, pm_transition, async);
}

static void lull_resume(struct device *dev, bool async)
{
	device_resume(dev, pm_transition, async);
}

/**
 * struct lull_dpm_phase - what a phase goes through, and how
 * @from: the devices, all of which are on
 * @to: when they were walked over
 * @down: children and consumers come first, and the walk begins at the end
 * @handle: for each device, once
 */
struct lull_dpm_phase {
	struct list_head *from, *to;
	bool down;
	void (*handle)(struct device *dev, bool async);
};

static const struct lull_dpm_phase lull_dpm_phases[] = {
	[LULL_DEVICES_SUSPEND] = {
		&dpm_prepared_list, &dpm_suspended_list, true, lull_suspend
	},
	[LULL_DEVICES_SUSPEND_LATE] = {
		&dpm_suspended_list, &dpm_late_early_list, true, lull_suspend_late
	},
	[LULL_DEVICES_SUSPEND_NOIRQ] = {
		&dpm_late_early_list, &dpm_noirq_list, true, lull_suspend_noirq
	},
	[LULL_DEVICES_RESUME_NOIRQ] = {
		&dpm_noirq_list, &dpm_late_early_list, false, lull_resume_noirq
	},
	[LULL_DEVICES_RESUME_EARLY] = {
		&dpm_late_early_list, &dpm_suspended_list, false, lull_resume_early
	},
	[LULL_DEVICES_RESUME] = {
		&dpm_suspended_list, &dpm_prepared_list, false, lull_resume
	},
};

/*
 * The phase under way: there is one at a time. Set while nobody is started, and
 * read by who is.
 */
static struct {
	const struct lull_dpm_phase *phase;
	enum lull_devices_mode mode;
	/* What a device's claim is while nobody handles it; a multiple of 4. */
	unsigned int free;
	/* Async devices that nobody handles yet; a hint. */
	atomic_t unclaimed;
	/* Those of LULL_ROOM. */
	atomic_t waiting;
	/* The walk has passed over one that nobody handled; its own. */
	bool passed;
	/* How many it has handled itself; its own. */
	unsigned int here;
} lull_walk;

/* The walk, while it waits for others to start. */
static DECLARE_WAIT_QUEUE_HEAD(lull_walker);

/* It stays so: nobody changes the flag of a device that is prepared. */
static bool lull_may_be_async(struct device *dev)
{
	bool strict;

	/* In a test of its test: some that are not, to dpm_wait(). */
	if (!lull_devices_guarded(LULL_DEVICES_FLAG) && hash_ptr(dev, 1))
		return true;
	strict = lull_devices_guarded(LULL_DEVICES_STRICT);
	/* In the middle of a phase others may write other bits of that word. */
	return data_race(strict ? is_async(dev) : dev->power.async_suspend);
}

/* Of one that is in the phase. */
static bool lull_is_async(struct device *dev)
{
	return dev->power.lull.async;
}

static bool lull_in_phase(struct device *dev)
{
	return (READ_ONCE(dev->power.lull.claim) & ~3U) == lull_walk.free;
}

/* After a full barrier, the partner of which is in wait_event(). */
static void lull_wake_walker(void)
{
	/* What the walk looks at was written before that barrier. */
	if (waitqueue_active(&lull_walker))
		wake_up(&lull_walker);
}

static bool lull_claim_as(struct device *dev, unsigned int how)
{
	unsigned int free = lull_walk.free;

	return try_cmpxchg(&dev->power.lull.claim, &free, free | how) ||
	       (!lull_devices_guarded(LULL_DEVICES_CLAIM) && lull_in_phase(dev));
}

/* One of those that try may handle @dev in this phase. */
static bool lull_claim(struct device *dev)
{
	return lull_claim_as(dev, 1);
}

/* The walk is to come back to it. */
static void lull_unclaim(struct device *dev)
{
	if (lull_is_async(dev))
		atomic_inc(&lull_walk.unclaimed);
	/* Pairs with the claim of whoever is next. */
	smp_store_release(&dev->power.lull.claim, lull_walk.free);
}

/* With dpm_list_mtx: it has been taken off its list for good. */
static bool lull_is_removed(struct device *dev)
{
	return list_empty(&dev->power.entry);
}

static void lull_hold(struct device *dev)
{
	if (lull_devices_guarded(LULL_DEVICES_HOLD))
		get_device(dev);
}

static void lull_put(struct device *dev)
{
	if (lull_devices_guarded(LULL_DEVICES_HOLD))
		put_device(dev);
}

/* To start somebody; whoever is started waits for links in every mode. */
static bool lull_heeds_links(void)
{
	return lull_walk.mode != LULL_DEVICES_PARENTS;
}

typedef void (*lull_dpm_fn)(struct device *dev, void *arg);

/*
 * Dormant links are among them: nobody waits for these, but a consumer takes
 * direct_complete from its supplier by way of them, and has to be there first.
 */
static void lull_each_supplier(struct device *dev, lull_dpm_fn fn, void *arg)
{
	struct device_link *link;
	int idx;

	if (list_empty(&dev->links.suppliers))
		return;
	idx = device_links_read_lock();
	list_for_each_entry_rcu_locked(link, &dev->links.suppliers, c_node)
		if (!lull_orders_nothing(link))
			fn(link->supplier, arg);
	device_links_read_unlock(idx);
}

static void lull_each_consumer(struct device *dev, lull_dpm_fn fn, void *arg)
{
	struct device_link *link;
	int idx;

	if (list_empty(&dev->links.consumers))
		return;
	idx = device_links_read_lock();
	list_for_each_entry_rcu_locked(link, &dev->links.consumers, s_node)
		if (!lull_orders_nothing(link))
			fn(link->consumer, arg);
	device_links_read_unlock(idx);
}

static bool lull_are_sync(struct device *dev, struct device *superior)
{
	if (lull_is_async(dev))
		return false;
	/* What is left of an earlier phase is of no account. */
	return lull_in_phase(superior) ? !lull_is_async(superior) :
					 !lull_may_be_async(superior);
}

/*
 * Down, a superior comes after who is below it; up, before. A sync device is not
 * started by anybody, and counts nobody.
 */
static inline void lull_depend(struct device *dev, struct device *superior)
{
	struct device *first = dev, *then = superior;

	/*
	 * In no phase, or behind it in the list, against the order: it is counted by nobody.
	 * Down, who is not alone waits for it, which may be for good: the walk of stock would
	 * have come to the superior first.
	 */
	if (!lull_in_phase(superior)) {
		dev->power.lull.alone = false;
		return;
	}
	if (!lull_walk.phase->down)
		swap(first, then);
	if (lull_is_async(then)) {
		first->power.lull.heirs = true;
		atomic_inc(&then->power.lull.missing);
	} else if (lull_is_async(first)) {
		then->power.lull.alone = false;
	}
}

static void lull_one_more(struct device *superior, void *arg)
{
	struct device *dev = arg;

	if (!lull_are_sync(dev, superior))
		lull_depend(dev, superior);
}

/* One that is @late counts for nobody, and may have to wait for anybody. */
static void lull_enter(struct device *dev, bool late)
{
	reinit_completion(&dev->power.completion);
	atomic_set(&dev->power.lull.missing, late);
	dev->power.lull.heirs = false;
	dev->power.lull.room = false;
	dev->power.lull.passed = false;
	dev->power.lull.async = lull_may_be_async(dev);
	dev->power.lull.alone = !dev->power.lull.async && !late;
	/* Pairs with the claim of whoever is first. */
	smp_store_release(&dev->power.lull.claim, lull_walk.free);
}

/*
 * With dpm_list_mtx: what is on the list has its parent. Parents and suppliers are
 * before it, and have been entered. Those that are async come onto @async, in the
 * order of the walk.
 */
static void lull_enter_all(struct list_head *async)
{
	struct list_head *from = lull_walk.phase->from;
	bool down = lull_walk.phase->down;
	struct device *dev;
	int nr = 0;

	list_for_each_entry(dev, from, power.entry) {
		lull_enter(dev, false);
		if (lull_is_async(dev)) {
			nr++;
			if (down)
				list_add(&dev->power.lull.node, async);
			else
				list_add_tail(&dev->power.lull.node, async);
		}
		if (dev->parent && !lull_are_sync(dev, dev->parent))
			lull_depend(dev, dev->parent);
		if (lull_heeds_links())
			lull_each_supplier(dev, lull_one_more, dev);
	}
	atomic_set(&lull_walk.unclaimed, nr);
}

#endif /* _DRIVERS_BASE_POWER_LULL_COUNT_H */
