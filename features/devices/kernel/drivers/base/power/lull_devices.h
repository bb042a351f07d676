/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the modes of Lull's feature `devices` go through a phase: part of main.c,
 * whose lists, locks and device_suspend() and so on it uses.
 *
 * To start a device is no more than a hint. Whoever handles one waits for what
 * it depends on, as ever, and the walk comes to each in the order of the list:
 * a hint that is wrong costs time. README.md of the feature has the argument.
 */
#include <linux/lull_devices.h>

#include "lull_count.h"
#include "lull_start.h"
#include "lull_wait.h"

/* How long the end of the walk waits for starts before it sees to them itself. */
#define LULL_PATIENCE msecs_to_jiffies(50)

/* In the walk, which must not wait for anybody out of its order: these do not. */
static void lull_see_to(struct lull_end *end)
{
	struct device *dev;

	while ((dev = lull_next(end))) {
		lull_devices_count(LULL_DEVICES_QUIET, 1);
		lull_handle(dev, true);
		lull_ended(dev, end);
		lull_put(dev);
	}
}

static bool lull_is_unclaimed(struct device *dev)
{
	return READ_ONCE(dev->power.lull.claim) == lull_walk.free;
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

/* Hardly any has heirs: the others are not to make room for a list. */
static noinline void lull_tell_heirs(struct device *dev)
{
	struct lull_end end = {
		.why = LULL_DEVICES_MET,
		.name = "met",
		.todo = LIST_HEAD_INIT(end.todo),
	};

	lull_ended(dev, &end);
	lull_see_to(&end);
}

/* In the walk: @dev, which is claimed and stays, as if there were no workers. */
static inline void lull_handle_here(struct device *dev)
{
	lull_handle(dev, false);
	if (dev->power.lull.heirs)
		lull_tell_heirs(dev);
}

/* With dpm_list_mtx; @how as in struct lull_dpm. */
static bool lull_claim_counted(struct device *dev, unsigned int how)
{
	if (!lull_is_unclaimed(dev) || !lull_claim_as(dev, how))
		return false;
	/* A full barrier, as the look at the walker's queue needs. */
	if (lull_is_async(dev) && atomic_dec_and_test(&lull_walk.unclaimed))
		lull_wake_walker();
	return true;
}

/*
 * With dpm_list_mtx: @dev, which the walk has left behind or will not come to, gets a
 * worker, also if it is sync, unless all are to go one after the other. False: nobody has
 * it, as there is none to be had.
 */
static bool lull_overdue(struct device *dev)
{
	if (!lull_is_unclaimed(dev))
		return true;
	if (!lull_is_async(dev) && (!pm_async_enabled || pm_trace_is_enabled()))
		return false;
	if (!lull_claim_counted(dev, 1))
		return true;
	lull_hold(dev);
	/* By a worker it waits for all. */
	dev->power.lull.alone = false;
	if (lull_queue_if_room(dev, lull_has_missing(dev), LULL_DEVICES_OVERDUE,
			       "overdue"))
		return true;
	lull_unclaim(dev);
	lull_put(dev);
	return false;
}

/* With dpm_list_mtx. The first of @list that gets no worker, in the order of the walk. */
static struct device *lull_overdue_of(struct list_head *list)
{
	struct device *dev;

	if (lull_walk.phase->down) {
		list_for_each_entry_reverse(dev, list, power.entry)
			if (!lull_overdue(dev))
				return dev;
	} else {
		list_for_each_entry(dev, list, power.entry)
			if (!lull_overdue(dev))
				return dev;
	}
	return NULL;
}

/*
 * With dpm_list_mtx: nobody handles @dev, as on stock, which does not come to it; nobody
 * waits for it, and nobody starts it.
 */
static void lull_let_go(struct device *dev)
{
	if (lull_claim_counted(dev, 3))
		complete_all(&dev->power.completion);
}

static bool lull_is_let_go(struct device *dev)
{
	return READ_ONCE(dev->power.lull.claim) == (lull_walk.free | 3);
}

static bool lull_is_listed(struct device *dev, struct list_head *list)
{
	struct device *other;

	list_for_each_entry(other, list, power.entry)
		if (other == dev)
			return true;
	return false;
}

/*
 * With dpm_list_mtx: does the walk down neither come to @dev any more, nor has it come to
 * it and left it to others?
 */
static bool lull_is_out_of_way(struct device *dev)
{
	const struct lull_dpm_phase *phase = lull_walk.phase;

	if (lull_is_listed(dev, phase->from))
		return false;
	return !dev->power.lull.passed || !lull_is_listed(dev, phase->to);
}

/*
 * With dpm_list_mtx. Whom the walk has left behind gets a worker, and on the way up all
 * that are async do, as stock has given them one; who is sync and was moved out of the
 * way of the walk, which stock would leave asleep, does, too.
 */
static void lull_start_rest(void)
{
	const struct lull_dpm_phase *phase = lull_walk.phase;
	struct device *dev;

	lull_overdue_of(phase->to);
	if (phase->down)
		return;
	/* Others may wait for them, more than there are workers at once. */
	lull_overdue_of(&dpm_list);
	list_for_each_entry(dev, phase->from, power.entry)
		if (lull_is_async(dev))
			lull_overdue(dev);
}

/*
 * With dpm_list_mtx, which who moves @dev has, or gives it another parent. What has been
 * counted may be wrong from here on, and whom the walk comes to next may wait for one
 * that nobody starts: so the rest of the phase is as on stock. What lies where the walk
 * down does not come to it is let go, before who has ended starts it, unless the walk
 * had passed it over: then it is started now.
 */
static void lull_moved(struct device *dev)
{
	const struct lull_dpm_phase *phase = lull_walk.phase;

	if (!lull_devices_guarded(LULL_DEVICES_MOVED))
		return;
	WRITE_ONCE(lull_has_moved, true);
	WRITE_ONCE(lull_ever_moved, true);
	if (!lull_walking)
		return;
	/* Wherever it lies now: one above it that is sync may have the walk wait for it. */
	if (phase->down && dev->power.lull.passed)
		lull_overdue(dev);
	if (phase->down && lull_is_out_of_way(dev))
		lull_let_go(dev);
	else if (lull_is_let_go(dev) &&
		 (phase->down || lull_is_listed(dev, phase->from)))
		lull_enter(dev, true);
	lull_start_rest();
}

/*
 * With dpm_list_mtx: @dev is on no list any more, and may come to be on dpm_list before
 * the phase is over. Stock has started it on the way up, and else does not come to it.
 * Those that count it are told nothing by it.
 */
static void lull_gone(struct device *dev)
{
	if (!lull_walking || !lull_in_phase(dev) ||
	    !lull_devices_guarded(LULL_DEVICES_MOVED))
		return;
	if (lull_walk.phase->down || !lull_is_async(dev))
		lull_let_go(dev);
	else
		lull_overdue(dev);
	if (dev->power.lull.heirs && !lull_ever_moved) {
		WRITE_ONCE(lull_ever_moved, true);
		lull_start_rest();
	}
}

/*
 * Who was given back since it was moved to dpm_list. The phase that undoes this one
 * does not come to it.
 */
static void lull_let_all_go(void)
{
	struct device *dev;

	list_for_each_entry(dev, &dpm_list, power.entry)
		lull_let_go(dev);
}

/*
 * With dpm_list_mtx, on the way up: the same of dpm_list. While the walk is at a device
 * it handles nobody here who may wait for one that it has yet to come to.
 */
static struct device *lull_overdue_moved(void)
{
	struct device *dev;

	list_for_each_entry(dev, &dpm_list, power.entry) {
		if (lull_overdue(dev))
			continue;
		if (!lull_at || lull_is_ready_below(dev, dev->parent))
			return dev;
		WRITE_ONCE(lull_has_moved, true);
	}
	return NULL;
}

/*
 * With dpm_list_mtx: start what the walk has left behind and nobody else has started,
 * in its order, up to the first that gets no worker, which is claimed and held. Up, who
 * was moved to dpm_list is asleep and has to be handled.
 */
static struct device *lull_next_overdue(void)
{
	struct device *dev;

	if (lull_walk.phase->down)
		lull_let_all_go();
	dev = lull_overdue_of(lull_walk.phase->to);
	if (!dev && !lull_walk.phase->down)
		dev = lull_overdue_moved();
	if (dev) {
		lull_claim_counted(dev, 1);
		lull_hold(dev);
	}
	return dev;
}

/*
 * From here on it is as if the walk had passed over nobody. Those that are behind one
 * that it handles here may start by themselves meanwhile.
 */
static void lull_start_overdue(void)
{
	struct device *dev;

	mutex_lock(&dpm_list_mtx);
	lull_walk.passed = false;
	WRITE_ONCE(lull_has_moved, false);
	while ((dev = lull_next_overdue())) {
		mutex_unlock(&dpm_list_mtx);
		lull_walk.here++;
		lull_handle_here(dev);
		lull_put(dev);
		mutex_lock(&dpm_list_mtx);
	}
	mutex_unlock(&dpm_list_mtx);
}

/*
 * Is anybody behind the walk, whom it would have to look for? Those it has passed over,
 * and in all modes devices that were moved out of its way. Who is moved after this look
 * could as well have been moved after the walk had looked for them.
 */
static bool lull_leaves_behind(void)
{
	return lull_walk.passed || READ_ONCE(lull_has_moved);
}

/*
 * May @dev wait for one that the walk has left behind? In "parents" nobody is counted
 * by links.
 */
static bool lull_may_need_overdue(struct device *dev)
{
	struct list_head *links = lull_walk.phase->down ? &dev->links.consumers :
							  &dev->links.suppliers;

	if (!lull_leaves_behind())
		return false;
	if (lull_is_alone(dev) && list_empty(links))
		return false;
	return !lull_is_ready(dev);
}

/* @dev, which is claimed, and which the walk is at, gets a worker, and is held for it. */
static bool lull_hand_over(struct device *dev)
{
	lull_hold(dev);
	if (lull_queue_if_room(dev, lull_has_missing(dev), LULL_DEVICES_REACHED,
			       "reached"))
		return true;
	lull_put(dev);
	return false;
}

/*
 * The walk is at @dev, which is claimed. Before it waits for anybody it makes sure that
 * all it has left behind are started.
 */
static void lull_reach(struct device *dev)
{
	if (lull_is_async(dev) && lull_hand_over(dev))
		return;
	if (lull_may_need_overdue(dev))
		lull_start_overdue();
	lull_walk.here++;
	lull_handle_here(dev);
}

/*
 * With dpm_list_mtx, which is dropped where @dev was removed while the walk was at it:
 * to hold each for that, and let it go again, would be a tenth of what a device without
 * callbacks takes.
 */
static void lull_leave(struct device *dev)
{
	lull_at = NULL;
	if (!lull_at_is_held)
		return;
	lull_at_is_held = false;
	mutex_unlock(&dpm_list_mtx);
	put_device(dev);
	mutex_lock(&dpm_list_mtx);
}

/*
 * With dpm_list_mtx: somebody handles @dev, or will; unless somebody was moved, and what
 * was counted may be wrong.
 */
static bool lull_passes_over(struct device *dev)
{
	if (READ_ONCE(dev->power.lull.claim) == (lull_walk.free | 1))
		return true;
	if (lull_walk.mode != LULL_DEVICES_LULL || !lull_is_async(dev) ||
	    lull_ever_moved)
		return false;
	dev->power.lull.passed = true;
	lull_walk.passed = true;
	return true;
}

/*
 * With dpm_list_mtx, under which it has its parent: on the way up that may be async, and
 * have ended when the walk comes to @dev. To find that without this lock it would have to
 * be held.
 */
static void lull_look_up(struct device *dev)
{
	if (!lull_walk.phase->down && !dev->power.lull.alone &&
	    lull_has_ended(dev->parent))
		dev->power.lull.alone = true;
}

/* With dpm_list_mtx: has the walk to see to @dev? Then it is claimed. */
static bool lull_comes_to(struct device *dev)
{
	unsigned int claim = READ_ONCE(dev->power.lull.claim);

	/* Whoever else claims one that is sync has dpm_list_mtx, too. */
	if (claim == lull_walk.free && !lull_is_async(dev)) {
		WRITE_ONCE(dev->power.lull.claim, claim | 1);
		lull_look_up(dev);
		return true;
	}
	/* It came to the list since. */
	if (!lull_in_phase(dev))
		lull_enter(dev, true);
	else if (lull_passes_over(dev))
		return false;
	return lull_claim(dev);
}

/* In a test of its test: as if the phase ended with the first error. */
static void lull_leave_rest(void)
{
	struct device *dev;

	list_for_each_entry(dev, lull_walk.phase->from, power.entry)
		complete_all(&dev->power.completion);
}

/* With dpm_list_mtx, which is dropped for each that is handled here. */
static void lull_walk_list(void)
{
	struct list_head *from = lull_walk.phase->from, *to = lull_walk.phase->to;
	bool down = lull_walk.phase->down;

	while (!list_empty(from)) {
		struct device *dev = to_device(down ? from->prev : from->next);

		if (READ_ONCE(async_error) &&
		    !lull_devices_guarded(LULL_DEVICES_ABORT)) {
			lull_leave_rest();
			break;
		}
		if (down)
			list_move(&dev->power.entry, to);
		else
			list_move_tail(&dev->power.entry, to);
		if (!lull_comes_to(dev))
			continue;
		lull_at = dev;
		mutex_unlock(&dpm_list_mtx);
		lull_reach(dev);
		mutex_lock(&dpm_list_mtx);
		lull_leave(dev);
	}
}

static bool lull_is_asleep(struct device *dev, enum lull_devices_phase nr)
{
	const struct dev_pm_info *power = &dev->power;

	/* One that was added meanwhile has bits in that word, too, which its driver writes. */
	return data_race(nr == LULL_DEVICES_RESUME_NOIRQ ?
			 power->is_noirq_suspended || power->is_late_suspended :
			 nr == LULL_DEVICES_RESUME_EARLY ? power->is_late_suspended :
							   power->is_suspended);
}

/*
 * With dpm_list_mtx, before the early phase, which has @dev not in it: of who is left as it
 * is device_suspend_late() has disabled runtime PM, and called nothing. It may have done so
 * before the walk came to @dev.
 */
static void lull_enable(struct device *dev)
{
	if (!dev->power.lull.disabled || !lull_devices_guarded(LULL_DEVICES_ENABLED))
		return;
	pm_runtime_enable(dev);
	dev->power.lull.disabled = false;
}

/*
 * With dpm_list_mtx, before a way up: who was suspended and moved to dpm_list since, which
 * may have been before the walk came to it, is in the phase where it lies. Stock leaves it
 * asleep, and those below it.
 */
static bool lull_enter_moved(enum lull_devices_phase nr)
{
	struct device *dev;
	bool found = false;

	if (lull_walk.phase->down || !lull_devices_guarded(LULL_DEVICES_MOVED))
		return false;
	list_for_each_entry(dev, &dpm_list, power.entry) {
		if (!lull_is_asleep(dev, nr)) {
			if (nr == LULL_DEVICES_RESUME_EARLY)
				lull_enable(dev);
			continue;
		}
		lull_enter(dev, true);
		found = true;
	}
	return found;
}

/*
 * With dpm_list_mtx: others may wait for them, and they for one that the walk comes to
 * late. One that gets no worker is looked for.
 */
static void lull_start_moved(void)
{
	WRITE_ONCE(lull_ever_moved, true);
	if (lull_overdue_of(&dpm_list))
		WRITE_ONCE(lull_has_moved, true);
}

/**
 * __lull_devices_walk - go through a phase in a mode other than "stock"
 * @nr: the phase
 *
 * Called and left with dpm_list_mtx held. All that were on the phase's list are
 * on the next one when this is back, in their order, and all are handled once
 * async_synchronize_full() is. An error stops nobody from being walked over:
 * device_suspend() and the others see it and call nothing, so that the way back
 * finds each device as it would if the walk had come to it.
 */
void __lull_devices_walk(enum lull_devices_phase nr)
{
	bool clear = lull_devices_guarded(LULL_DEVICES_CLEAR), moved;
	LIST_HEAD(async);
	struct lull_end end = {
		.why = LULL_DEVICES_UPFRONT,
		.name = "upfront",
		.todo = LIST_HEAD_INIT(end.todo),
	};

	lull_walk.mode = lull_devices_mode();
	if (lull_walk.mode == LULL_DEVICES_STOCK) {
		lull_devices_on = false;
		return;
	}
	lull_walk.phase = &lull_dpm_phases[nr];
	lull_walk.free += 4;
	lull_walk.passed = false;
	lull_walk.here = 0;
	WRITE_ONCE(lull_has_moved, false);
	WRITE_ONCE(lull_ever_moved, false);
	lull_walking = true;
	moved = lull_enter_moved(nr);
	lull_enter_all(&async);
	if (moved)
		lull_start_moved();
	lull_start_all(&async, &end);
	mutex_unlock(&dpm_list_mtx);

	lull_see_to(&end);
	lull_devices_hop();
	mutex_lock(&dpm_list_mtx);
	if (!clear)
		lull_enter_all(&async);
	lull_walk_list();
	mutex_unlock(&dpm_list_mtx);

	/*
	 * Those that were passed over start by themselves, unless a counter is
	 * wrong. The barrier in wait_event() pairs with that in lull_take().
	 */
	if (lull_walk.passed && !READ_ONCE(lull_ever_moved))
		wait_event_timeout(lull_walker,
				   atomic_read(&lull_walk.unclaimed) <= 0,
				   LULL_PATIENCE);
	if (lull_leaves_behind())
		lull_start_overdue();
	lull_devices_count(LULL_DEVICES_SYNC, lull_walk.here);
	mutex_lock(&dpm_list_mtx);
	lull_walking = false;
}
