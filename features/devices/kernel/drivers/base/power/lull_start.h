/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who is started, by whom and on which thread, when those that it waits for have
 * ended. Part of main.c, by way of lull_devices.h.
 */
#ifndef _DRIVERS_BASE_POWER_LULL_START_H
#define _DRIVERS_BASE_POWER_LULL_START_H

#include <linux/workqueue.h>

#include <trace/events/lull_devices.h>

#include "lull_count.h"

/*
 * So many that may have to wait can have a worker at once: whom they wait for may be
 * behind them in the queue, or in another one, for async_wq has one for each
 * last-level cache. The rest of WQ_DFL_ACTIVE, which it runs at least on each node,
 * is for those that need not wait.
 */
#define LULL_ROOM (WQ_DFL_ACTIVE / 2)

/* In a test of its test: a word that all who handle a device write at once. */
static void lull_write_plainly(void)
{
	static unsigned int handled;

	for (int i = 0; i < 1000; i++) {
		handled++;
		barrier();
	}
}

static void lull_handle(struct device *dev, bool async)
{
	if (!lull_devices_guarded(LULL_DEVICES_WORD))
		lull_write_plainly();
	lull_walk.phase->handle(dev, async);
	/* It was so for this phase. */
	if (async)
		dev->power.lull.alone = false;
}

/* A device that is on no list any more may have lost its parent. */
static struct device *lull_get_parent(struct device *dev)
{
	struct device *parent = NULL;

	mutex_lock(&dpm_list_mtx);
	if (!lull_is_removed(dev))
		parent = get_device(dev->parent);
	mutex_unlock(&dpm_list_mtx);
	return parent;
}

/* In the phase, or there is nobody. */
static bool lull_has_ended(struct device *dev)
{
	return !dev || completion_done(&dev->power.completion);
}

/* Not one that was let go, or that another phase has completed. */
static bool lull_was_handled(struct device *dev)
{
	unsigned int claim;

	/* Pairs with the claim's barrier, before which the completion is made ready. */
	claim = smp_load_acquire(&dev->power.lull.claim);
	return claim == (lull_walk.free | 1) && lull_has_ended(dev);
}

static int lull_is_open(struct device *dev, void *arg)
{
	return !lull_has_ended(dev);
}

static void lull_add_open(struct device *dev, void *arg)
{
	int *open = arg;

	*open += lull_is_open(dev, NULL);
}

static bool lull_is_ready_below(struct device *dev, struct device *parent)
{
	int open = 0;

	if (lull_walk.phase->down) {
		open = device_for_each_child(dev, NULL, lull_is_open);
		lull_each_consumer(dev, lull_add_open, &open);
	} else {
		lull_add_open(parent, &open);
		lull_each_supplier(dev, lull_add_open, &open);
	}
	return !open;
}

/* Nothing is left to wait for: the counter is no more than a hint. */
static bool lull_is_ready(struct device *dev)
{
	struct device *parent = NULL;
	bool ready;

	if (!lull_walk.phase->down)
		parent = lull_get_parent(dev);
	ready = lull_is_ready_below(dev, parent);
	put_device(parent);
	return ready;
}

/*
 * With dpm_list_mtx, under which @dev, which is claimed and on a list, has its parent and
 * its children: it waits for nobody any more, whoever comes to be there.
 */
static bool lull_takes_on(struct device *dev)
{
	dev->power.lull.alone = lull_is_ready_below(dev, dev->parent);
	return dev->power.lull.alone;
}

/* Are there links that it is started without heeding, and has to wait for? */
static bool lull_has_open_links(struct device *dev)
{
	int open = 0;

	if (lull_walk.phase->down)
		lull_each_consumer(dev, lull_add_open, &open);
	else
		lull_each_supplier(dev, lull_add_open, &open);
	return open;
}

static bool lull_may_wait(struct device *dev, int missing)
{
	return missing > 0 || (!lull_heeds_links() && lull_has_open_links(dev));
}

static bool lull_has_missing(struct device *dev)
{
	return lull_may_wait(dev, atomic_read(&dev->power.lull.missing));
}

static bool lull_take_room(enum lull_devices_safeguard guard)
{
	if (atomic_inc_return(&lull_walk.waiting) <= LULL_ROOM ||
	    !lull_devices_guarded(guard))
		return true;
	atomic_dec(&lull_walk.waiting);
	return false;
}

static void lull_leave_room(struct device *dev)
{
	if (dev->power.lull.room)
		atomic_dec(&lull_walk.waiting);
	dev->power.lull.room = false;
}

/*
 * Nothing is called for it, and runtime PM of it does nothing either: to handle
 * it takes less than to wake a worker.
 */
static bool lull_is_quiet(struct device *dev)
{
	bool called;

	/* One below it that was not counted may write other bits of that word. */
	called = data_race(!dev->power.no_pm_callbacks);
	return lull_walk.mode == LULL_DEVICES_LULL &&
	       lull_devices_by(LULL_DEVICES_BY_QUIET) &&
	       !called && !pm_runtime_enabled(dev);
}

static void lull_async(void *data, async_cookie_t cookie);

/* A worker gets @dev, which is claimed and held, and may be gone at once. */
static bool lull_queue(struct device *dev, enum lull_devices_counter why,
		       const char *name)
{
	trace_device_start(dev, name);
	if (lull_devices_no_memory(dev) ||
	    !async_schedule_dev_nocall(lull_async, dev)) {
		lull_devices_count(LULL_DEVICES_FAILED, 1);
		return false;
	}
	lull_devices_count(why, 1);
	return true;
}

/*
 * For the walk: @dev, which is claimed and held, gets a worker unless it may have to
 * wait there, for which it needs @room, and too many do. Since somebody was moved all
 * get one, as on stock: whom the walk handles may have to wait for one that it has yet
 * to come to.
 */
static bool lull_queue_if_room(struct device *dev, bool room,
			       enum lull_devices_counter why, const char *name)
{
	if (READ_ONCE(lull_ever_moved))
		room = false;
	if (room && !lull_take_room(LULL_DEVICES_WALK_ROOM))
		return false;
	dev->power.lull.room = room;
	if (lull_queue(dev, why, name))
		return true;
	lull_leave_room(dev);
	return false;
}

/**
 * struct lull_end - a device has been handled, or none has yet
 * @worker: the caller is a worker, which has time for one more
 * @why: for the counters, and @name for the trace
 * @todo: what the caller handles itself, claimed and held
 */
struct lull_end {
	bool worker;
	enum lull_devices_counter why;
	const char *name;
	struct list_head todo;
};

/*
 * With dpm_list_mtx. A worker of "lull" goes on with one itself. It takes time: the quiet
 * ones come first. None of them waits for anybody, who might wait for one behind it.
 */
static bool lull_keeps(struct device *dev, struct lull_end *end)
{
	bool quiet = lull_is_quiet(dev);

	if (!quiet && (lull_walk.mode != LULL_DEVICES_LULL || !end->worker ||
		       !lull_devices_by(LULL_DEVICES_BY_CHAIN)))
		return false;
	if (!lull_takes_on(dev))
		return false;
	if (quiet) {
		list_add(&dev->power.lull.node, &end->todo);
	} else {
		end->worker = false;
		list_add_tail(&dev->power.lull.node, &end->todo);
	}
	return true;
}

/*
 * With dpm_list_mtx, so that the walk does not pass over one that is given back. A
 * worker that cannot be got leaves it to the walk; in "lull", where it has nobody to
 * wait for, to a worker that is there.
 */
static void lull_take(struct device *dev, int missing, struct lull_end *end)
{
	bool room = lull_may_wait(dev, missing);

	if (room && !lull_take_room(LULL_DEVICES_ROOM))
		return;
	if (!lull_claim(dev)) {
		if (room)
			atomic_dec(&lull_walk.waiting);
		return;
	}
	dev->power.lull.room = room;
	lull_hold(dev);
	/* A full barrier, as the look at the walker's queue needs. */
	if (atomic_dec_and_test(&lull_walk.unclaimed))
		lull_wake_walker();
	if (lull_keeps(dev, end) || lull_queue(dev, end->why, end->name))
		return;
	if (lull_walk.mode == LULL_DEVICES_LULL && current_is_async() &&
	    lull_takes_on(dev)) {
		list_add_tail(&dev->power.lull.node, &end->todo);
		return;
	}
	lull_leave_room(dev);
	if (lull_devices_guarded(LULL_DEVICES_FALLBACK))
		lull_unclaim(dev);
	else
		complete_all(&dev->power.completion);
	lull_put(dev);
}

/*
 * One that @dev depends on has ended. Where that was the last one, or in other
 * modes the first, @dev is claimed and held.
 */
static void lull_one_less(struct device *dev, void *arg)
{
	int missing;

	/* Who has been removed is handled by nobody. */
	if (!lull_in_phase(dev) || !lull_is_async(dev) || lull_is_removed(dev))
		return;
	missing = atomic_dec_return(&dev->power.lull.missing);
	if (lull_walk.mode != LULL_DEVICES_LULL || missing <= 0)
		lull_take(dev, missing, arg);
}

static int lull_one_less_child(struct device *dev, void *arg)
{
	lull_one_less(dev, arg);
	return 0;
}

static void lull_ended_up(struct device *dev, struct lull_end *end)
{
	device_for_each_child(dev, end, lull_one_less_child);
	if (lull_heeds_links())
		lull_each_consumer(dev, lull_one_less, end);
}

/* Who is on no list any more may have lost its parent. */
static void lull_ended_down(struct device *dev, struct lull_end *end)
{
	if (dev->parent && !lull_is_removed(dev))
		lull_one_less(dev->parent, end);
	if (lull_heeds_links())
		lull_each_supplier(dev, lull_one_less, end);
}

/* @dev has been handled: those that it was the last for are started. */
static void lull_ended(struct device *dev, struct lull_end *end)
{
	if (!dev->power.lull.heirs)
		return;
	mutex_lock(&dpm_list_mtx);
	if (lull_walk.phase->down)
		lull_ended_down(dev, end);
	else
		lull_ended_up(dev, end);
	mutex_unlock(&dpm_list_mtx);
}

static struct device *lull_next(struct lull_end *end)
{
	struct device *dev;

	dev = list_first_entry_or_null(&end->todo, struct device, power.lull.node);
	if (dev)
		list_del(&dev->power.lull.node);
	return dev;
}

/* In a worker: @dev, and whoever can only be handled now that it has been. */
static void lull_async(void *data, async_cookie_t cookie)
{
	struct device *dev = data;
	struct lull_end end = {
		.why = LULL_DEVICES_MET,
		.name = "met",
		.todo = LIST_HEAD_INIT(end.todo),
	};

	while (dev) {
		lull_handle(dev, true);
		lull_leave_room(dev);
		if (list_empty(&end.todo))
			end.worker = true;
		lull_ended(dev, &end);
		lull_put(dev);
		dev = lull_next(&end);
		if (dev)
			lull_devices_count(LULL_DEVICES_CHAINED, 1);
	}
}

#endif /* _DRIVERS_BASE_POWER_LULL_START_H */
