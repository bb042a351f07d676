/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the modes of Lull's feature `devices` go through a phase: part of main.c,
 * whose lists, locks and device_suspend() and so on it uses.
 *
 * To start a device is no more than a hint. Whoever handles one waits for what
 * it depends on, as ever, and the walk comes to each in the order of the list:
 * a hint that is wrong costs time. README.md of the feature has the argument.
 */
#include <linux/hash.h>
#include <linux/lull_devices.h>
#include <linux/workqueue.h>

#include <trace/events/lull_devices.h>

#include "lull_wait.h"

/*
 * So many that may have to wait can be started ahead of the walk at once: whom
 * they wait for may be behind them in the queue. The rest of WQ_DFL_ACTIVE, which
 * async_wq runs at least, is for those that the walk starts, in its order.
 */
#define LULL_ROOM (WQ_DFL_ACTIVE / 2)

/* How long the end of the walk waits for starts before it sees to them itself. */
#define LULL_PATIENCE msecs_to_jiffies(50)

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
	struct lull_dpm_phase phase;
	enum lull_devices_mode mode;
	/* What a device's claim is while nobody handles it; even. */
	unsigned int free;
	/* Async devices that nobody handles yet; a hint. */
	atomic_t unclaimed;
	/* Those of LULL_ROOM. */
	atomic_t ahead;
	/* The walk has passed over one that nobody handled; its own. */
	bool passed;
} lull_walk;

/* The walk, while it waits for others to start. */
static DECLARE_WAIT_QUEUE_HEAD(lull_walker);

static_assert(sizeof_field(struct lull_dpm, claim) >= sizeof(u32) &&
	      sizeof_field(struct lull_dpm, missing) >= sizeof(u32),
	      "fields that several CPUs write need words of their own");

static bool lull_is_async(struct device *dev)
{
	/* In a test of its test: some that are not, to dpm_wait(). */
	if (!lull_devices_guarded(LULL_DEVICES_FLAG) && hash_ptr(dev, 1))
		return true;
	if (!lull_devices_guarded(LULL_DEVICES_STRICT))
		return dev->power.async_suspend;
	return is_async(dev);
}

static bool lull_in_phase(struct device *dev)
{
	return (READ_ONCE(dev->power.lull.claim) & ~1U) == lull_walk.free;
}

/* After a full barrier, the partner of which is in wait_event(). */
static void lull_wake_walker(void)
{
	/* What the walk looks at was written before that barrier. */
	if (waitqueue_active(&lull_walker))
		wake_up(&lull_walker);
}

/* One of those that try may handle @dev in this phase. */
static bool lull_claim(struct device *dev)
{
	unsigned int free = lull_walk.free;

	return try_cmpxchg(&dev->power.lull.claim, &free, free | 1) ||
	       (!lull_devices_guarded(LULL_DEVICES_CLAIM) && lull_in_phase(dev));
}

/* The walk is to come back to it. */
static void lull_unclaim(struct device *dev)
{
	atomic_inc(&lull_walk.unclaimed);
	/* Pairs with the claim of whoever is next. */
	smp_store_release(&dev->power.lull.claim, lull_walk.free);
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

/*
 * A dormant link is not waited for, but a consumer takes direct_complete from its
 * supplier by way of it, and has to be there first.
 */
static bool lull_link_counts(struct device_link *link)
{
	return !device_link_test(link, DL_FLAG_SYNC_STATE_ONLY);
}

/* To start somebody; whoever is started waits for links in every mode. */
static bool lull_heeds_links(void)
{
	return lull_walk.mode != LULL_DEVICES_PARENTS;
}

typedef void (*lull_dpm_fn)(struct device *dev, void *arg);

static void lull_each_supplier(struct device *dev, lull_dpm_fn fn, void *arg)
{
	struct device_link *link;
	int idx;

	if (list_empty(&dev->links.suppliers))
		return;
	idx = device_links_read_lock();
	list_for_each_entry_rcu_locked(link, &dev->links.suppliers, c_node)
		if (lull_link_counts(link))
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
		if (lull_link_counts(link))
			fn(link->consumer, arg);
	device_links_read_unlock(idx);
}

/*
 * Down, a superior comes after who is below it; up, before. A sync device is not
 * started by anybody, and counts nobody.
 */
static void lull_one_more(struct device *superior, void *arg)
{
	struct device *dev = arg, *first = dev, *then = superior;

	if (!lull_in_phase(superior))
		return;
	if (!lull_walk.phase.down)
		swap(first, then);
	if (lull_is_async(then)) {
		first->power.lull.heirs++;
		atomic_inc(&then->power.lull.missing);
	} else if (lull_is_async(first)) {
		then->power.lull.alone = false;
	}
}

static void lull_enter(struct device *dev)
{
	reinit_completion(&dev->power.completion);
	atomic_set(&dev->power.lull.missing, 0);
	dev->power.lull.heirs = 0;
	dev->power.lull.room = false;
	dev->power.lull.alone = !lull_is_async(dev);
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
	struct device *dev;
	int nr = 0;

	list_for_each_entry(dev, lull_walk.phase.from, power.entry) {
		lull_enter(dev);
		if (lull_is_async(dev)) {
			nr++;
			if (lull_walk.phase.down)
				list_add(&dev->power.lull.node, async);
			else
				list_add_tail(&dev->power.lull.node, async);
		}
		if (dev->parent)
			lull_one_more(dev->parent, dev);
		if (lull_heeds_links())
			lull_each_supplier(dev, lull_one_more, dev);
	}
	atomic_set(&lull_walk.unclaimed, nr);
}

static void lull_handle(struct device *dev, bool async)
{
	lull_walk.phase.handle(dev, async);
}

/* A device that is on no list any more may have lost its parent. */
static struct device *lull_get_parent(struct device *dev)
{
	struct device *parent = NULL;

	mutex_lock(&dpm_list_mtx);
	if (device_pm_initialized(dev))
		parent = get_device(dev->parent);
	mutex_unlock(&dpm_list_mtx);
	return parent;
}

static int lull_is_open(struct device *dev, void *arg)
{
	return !completion_done(&dev->power.completion);
}

static void lull_add_open(struct device *dev, void *arg)
{
	int *open = arg;

	*open += lull_is_open(dev, NULL);
}

/* Nothing is left to wait for: the counter is no more than a hint. */
static bool lull_is_ready(struct device *dev)
{
	struct device *parent;
	int open = 0;

	if (lull_walk.phase.down) {
		open = device_for_each_child(dev, NULL, lull_is_open);
		lull_each_consumer(dev, lull_add_open, &open);
		return !open;
	}
	parent = lull_get_parent(dev);
	if (parent)
		lull_add_open(parent, &open);
	put_device(parent);
	lull_each_supplier(dev, lull_add_open, &open);
	return !open;
}

/* Are there links that it is started without heeding, and has to wait for? */
static bool lull_has_open_links(struct device *dev)
{
	int open = 0;

	if (lull_walk.phase.down)
		lull_each_consumer(dev, lull_add_open, &open);
	else
		lull_each_supplier(dev, lull_add_open, &open);
	return open;
}

/* Those of "lull" are started when there is nobody left to wait for. */
static bool lull_may_wait(struct device *dev, int missing)
{
	if (lull_walk.mode == LULL_DEVICES_LULL)
		return false;
	return missing > 0 || (!lull_heeds_links() && lull_has_open_links(dev));
}

static bool lull_take_room(void)
{
	if (atomic_inc_return(&lull_walk.ahead) <= LULL_ROOM ||
	    !lull_devices_guarded(LULL_DEVICES_ROOM))
		return true;
	atomic_dec(&lull_walk.ahead);
	return false;
}

static void lull_leave_room(struct device *dev)
{
	if (dev->power.lull.room)
		atomic_dec(&lull_walk.ahead);
	dev->power.lull.room = false;
}

/*
 * Nothing is called for it, and runtime PM of it does nothing either: to handle
 * it takes less than to wake a worker.
 */
static bool lull_is_quiet(struct device *dev)
{
	return lull_walk.mode == LULL_DEVICES_LULL &&
	       dev->power.no_pm_callbacks && !pm_runtime_enabled(dev);
}

static void lull_async(void *data, async_cookie_t cookie);

/* A worker gets @dev, which is claimed and held, and may be gone at once. */
static bool lull_queue(struct device *dev, enum lull_devices_counter why,
		       const char *name)
{
	trace_device_start(dev, name);
	if (lull_devices_no_memory() ||
	    !async_schedule_dev_nocall(lull_async, dev)) {
		lull_devices_count(LULL_DEVICES_FAILED);
		return false;
	}
	lull_devices_count(why);
	return true;
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
 * A worker of "lull" goes on with one itself. It takes time: the quiet ones come
 * first.
 */
static bool lull_keeps(struct device *dev, struct lull_end *end)
{
	if (lull_is_quiet(dev)) {
		list_add(&dev->power.lull.node, &end->todo);
		return true;
	}
	if (lull_walk.mode != LULL_DEVICES_LULL || !end->worker)
		return false;
	end->worker = false;
	list_add_tail(&dev->power.lull.node, &end->todo);
	return true;
}

/*
 * With dpm_list_mtx, so that whoever sees the claim of one that a worker gets, and
 * starts another behind it, finds it in the queue. A worker that cannot be got
 * leaves it to the walk; in "lull", where it has nobody to wait for, to a worker
 * that is there.
 */
static void lull_take(struct device *dev, int missing, struct lull_end *end)
{
	bool room = lull_may_wait(dev, missing);

	if (room && !lull_take_room())
		return;
	if (!lull_claim(dev)) {
		if (room)
			atomic_dec(&lull_walk.ahead);
		return;
	}
	dev->power.lull.room = room;
	lull_hold(dev);
	/* A full barrier, as the look at the walker's queue needs. */
	if (atomic_dec_and_test(&lull_walk.unclaimed))
		lull_wake_walker();
	if (lull_keeps(dev, end) || lull_queue(dev, end->why, end->name))
		return;
	if (lull_walk.mode == LULL_DEVICES_LULL && current_is_async()) {
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
	if (!lull_is_async(dev) || !lull_in_phase(dev) ||
	    !device_pm_initialized(dev))
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
	if (dev->parent && device_pm_initialized(dev))
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
	if (lull_walk.phase.down)
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
			lull_devices_count(LULL_DEVICES_CHAINED);
	}
}

/*
 * In the walk, which must not wait for anybody out of its order. What is quiet and
 * may not be ready goes to a worker, or back to the walk.
 */
static void lull_see_to(struct lull_end *end)
{
	struct device *dev;

	while ((dev = lull_next(end))) {
		if (lull_is_ready(dev)) {
			lull_devices_count(LULL_DEVICES_QUIET);
			lull_handle(dev, true);
			lull_ended(dev, end);
		} else if (lull_queue(dev, end->why, end->name)) {
			continue;
		} else {
			lull_unclaim(dev);
		}
		lull_put(dev);
	}
}

static bool lull_is_unclaimed(struct device *dev)
{
	return READ_ONCE(dev->power.lull.claim) == lull_walk.free;
}

/* The next of @list in the order of the walk. */
static struct device *lull_first(struct list_head *list)
{
	return to_device(lull_walk.phase.down ? list->prev : list->next);
}

/* With dpm_list_mtx. Those that depend on nobody in the phase. */
static void lull_start_all(struct list_head *async, struct lull_end *end)
{
	struct device *dev, *next;

	list_for_each_entry_safe(dev, next, async, power.lull.node) {
		list_del(&dev->power.lull.node);
		if (!atomic_read(&dev->power.lull.missing))
			lull_take(dev, 0, end);
	}
}

static void lull_tell_heirs(struct device *dev)
{
	struct lull_end end = {
		.why = LULL_DEVICES_MET,
		.name = "met",
		.todo = LIST_HEAD_INIT(end.todo),
	};

	lull_ended(dev, &end);
	lull_see_to(&end);
}

/* In the walk: @dev, which is claimed and held, as if there were no workers. */
static void lull_handle_here(struct device *dev)
{
	lull_handle(dev, false);
	if (dev->power.lull.heirs)
		lull_tell_heirs(dev);
}

static void lull_overdue(struct device *dev, struct list_head *todo)
{
	if (!lull_claim(dev))
		return;
	lull_hold(dev);
	atomic_dec(&lull_walk.unclaimed);
	if (lull_queue(dev, LULL_DEVICES_OVERDUE, "overdue"))
		return;
	list_add_tail(&dev->power.lull.node, todo);
}

static void lull_overdue_of(struct list_head *list, struct list_head *todo)
{
	struct device *dev;

	if (lull_walk.phase.down) {
		list_for_each_entry_reverse(dev, list, power.entry)
			if (lull_is_unclaimed(dev))
				lull_overdue(dev, todo);
	} else {
		list_for_each_entry(dev, list, power.entry)
			if (lull_is_unclaimed(dev))
				lull_overdue(dev, todo);
	}
}

/*
 * Start all that the walk has passed over and nobody else has started, in its
 * order: from here on it is as if it had not. They wait for whom they have to. A
 * device that was moved in the list meanwhile may have come to dpm_list.
 */
static void lull_start_overdue(void)
{
	struct device *dev;
	LIST_HEAD(todo);

	mutex_lock(&dpm_list_mtx);
	if (lull_walk.passed)
		lull_overdue_of(lull_walk.phase.to, &todo);
	lull_walk.passed = false;
	lull_overdue_of(&dpm_list, &todo);
	mutex_unlock(&dpm_list_mtx);

	while (!list_empty(&todo)) {
		dev = list_first_entry(&todo, struct device, power.lull.node);
		list_del(&dev->power.lull.node);
		lull_handle_here(dev);
		lull_put(dev);
	}
}

/*
 * The walk has come to @dev, which is claimed and held. Before it waits for anybody
 * it makes sure that all it has passed over are started.
 */
static void lull_reach(struct device *dev)
{
	if (lull_is_async(dev) &&
	    lull_queue(dev, LULL_DEVICES_REACHED, "reached"))
		return;
	if (lull_walk.passed && !dev->power.lull.alone && !lull_is_ready(dev))
		lull_start_overdue();
	lull_devices_count(LULL_DEVICES_SYNC);
	lull_handle_here(dev);
	lull_put(dev);
}

/* With dpm_list_mtx: somebody handles @dev, or will. */
static bool lull_passes_over(struct device *dev)
{
	if (READ_ONCE(dev->power.lull.claim) == (lull_walk.free | 1))
		return true;
	if (lull_walk.mode != LULL_DEVICES_LULL || !lull_is_async(dev))
		return false;
	lull_walk.passed = true;
	return true;
}

/* In a test of its test: as if the phase ended with the first error. */
static void lull_leave_rest(void)
{
	struct device *dev;

	list_for_each_entry(dev, lull_walk.phase.from, power.entry)
		complete_all(&dev->power.completion);
}

/* With dpm_list_mtx, which is dropped for each that is handled here. */
static void lull_walk_list(void)
{
	const struct lull_dpm_phase *phase = &lull_walk.phase;

	while (!list_empty(phase->from)) {
		struct device *dev = lull_first(phase->from);

		if (READ_ONCE(async_error) &&
		    !lull_devices_guarded(LULL_DEVICES_ABORT)) {
			lull_leave_rest();
			break;
		}
		if (phase->down)
			list_move(&dev->power.entry, phase->to);
		else
			list_move_tail(&dev->power.entry, phase->to);
		/* It came to the list since, and counts for nobody. */
		if (!lull_in_phase(dev))
			lull_enter(dev);
		else if (lull_passes_over(dev))
			continue;
		if (!lull_claim(dev))
			continue;
		lull_hold(dev);
		mutex_unlock(&dpm_list_mtx);
		lull_reach(dev);
		mutex_lock(&dpm_list_mtx);
	}
}

/**
 * __lull_devices_walk - go through a phase in a mode other than "stock"
 * @nr: the phase
 *
 * Called and left with dpm_list_mtx held. All that were on the phase's list are
 * on the next one when this is back, in the same order, and all are handled once
 * async_synchronize_full() is. An error stops nobody from being walked over:
 * device_suspend() and the others see it and call nothing, so that the way back
 * finds each device as it would if the walk had come to it.
 */
void __lull_devices_walk(enum lull_devices_phase nr)
{
	bool clear = lull_devices_guarded(LULL_DEVICES_CLEAR);
	LIST_HEAD(async);
	struct lull_end end = {
		.why = LULL_DEVICES_UPFRONT,
		.name = "upfront",
		.todo = LIST_HEAD_INIT(end.todo),
	};

	lull_walk.mode = lull_devices_mode();
	if (lull_walk.mode == LULL_DEVICES_STOCK)
		return;
	lull_walk.phase = lull_dpm_phases[nr];
	lull_walk.free += 2;
	lull_walk.passed = false;
	lull_walking = true;
	lull_enter_all(&async);
	lull_start_all(&async, &end);
	mutex_unlock(&dpm_list_mtx);

	lull_see_to(&end);
	mutex_lock(&dpm_list_mtx);
	if (!clear)
		lull_enter_all(&async);
	lull_walk_list();
	mutex_unlock(&dpm_list_mtx);

	/*
	 * Those that were passed over start by themselves, unless a counter is
	 * wrong. The barrier in wait_event() pairs with that in lull_take().
	 */
	if (lull_walk.passed)
		wait_event_timeout(lull_walker,
				   atomic_read(&lull_walk.unclaimed) <= 0,
				   LULL_PATIENCE);
	lull_start_overdue();
	mutex_lock(&dpm_list_mtx);
	lull_walking = false;
}
