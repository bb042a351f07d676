/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nobody to wait for, seen without going through them. Part of main.c, which has
 * included ../base.h. Who comes after the look could as well have come after
 * everybody had been gone through.
 */
#ifndef _DRIVERS_BASE_POWER_LULL_WAIT_H
#define _DRIVERS_BASE_POWER_LULL_WAIT_H

#include <linux/device.h>
#include <linux/lull_devices.h>

static inline bool lull_is_childless(struct device *dev)
{
	return !dev->p || list_empty(&dev->p->klist_children.k_list);
}

#ifdef CONFIG_LULL_DEVICES

/* A walk of the feature is under way; of that thread, and of who has dpm_list_mtx. */
static bool lull_walking;

/* Who waits looks so often whether it still has to. */
#define LULL_LOOK_AGAIN	msecs_to_jiffies(50)

/*
 * Somebody was moved in the lists of the phase since it began, or since the walk last
 * looked for them. Written with dpm_list_mtx.
 */
static bool lull_has_moved;

/* The same, and since the phase began: what it had counted then may not hold. */
static bool lull_ever_moved;

/*
 * Whom the walk is at, and that it was removed meanwhile: then it is held for the walk
 * by who has removed it. With dpm_list_mtx.
 */
static struct device *lull_at;
static bool lull_at_is_held;

static void lull_moved(struct device *dev);
static void lull_gone(struct device *dev);
static bool lull_was_handled(struct device *dev);

/*
 * All that @dev comes after in the phase was sync when it began, and still is, but for a
 * parent that had ended when the walk came to @dev.
 */
static inline bool lull_is_alone(struct device *dev)
{
	return dev->power.lull.alone && !READ_ONCE(lull_ever_moved);
}

/*
 * What the order of a phase rests on is asked here, and stays as it was when the
 * phase began: the key is switched at any time.
 */
static inline bool lull_is_on(void)
{
	if (!lull_devices_guarded(LULL_DEVICES_LATCH))
		return static_branch_unlikely(&lull_devices_key);
	return lull_devices_on;
}

/*
 * All that @dev comes after, by @links as well, has ended. One that is handled as an
 * async device was seen to be so when it was taken on, and waits for nobody who has come
 * since: who handles it may have others to see to, or a walk to go on with.
 */
static inline bool lull_is_free(struct device *dev, bool async,
				struct list_head *links)
{
	/* In a phase that began with the feature on: it rests on it to the end. */
	if (async)
		return lull_is_on() && dev->power.lull.alone;
	return static_branch_unlikely(&lull_devices_key) && lull_walking &&
	       lull_is_alone(dev) && list_empty(links);
}

static inline bool lull_no_superior(struct device *dev, bool async)
{
	return lull_is_free(dev, async, &dev->links.suppliers);
}

static inline bool lull_no_subordinate(struct device *dev, bool async)
{
	return lull_is_free(dev, async, &dev->links.consumers);
}

/*
 * A superior may be started long before the last that it waits for; one that the
 * walk handles is not to lose its runtime PM while those below it keep theirs.
 */
static inline bool lull_waits_first(void)
{
	return lull_is_on();
}

/*
 * The walk goes on after an @error, to devices that stock would not come to: of them
 * runtime PM is not disabled, which would cancel what is pending.
 */
static inline bool lull_leaves_alone(struct device *dev, int error)
{
	dev->power.lull.left = lull_is_on() && error &&
			       lull_devices_guarded(LULL_DEVICES_REQUESTS);
	if (!dev->power.lull.left)
		dev->power.lull.disabled = true;
	return dev->power.lull.left;
}

/*
 * Once, and in every mode: it may have been switched since. Stock enables who was moved to
 * where the walk of this phase comes to it, and that of the late one had not.
 */
static inline bool lull_was_left_alone(struct device *dev)
{
	bool left = lull_is_on() ? !dev->power.lull.disabled : dev->power.lull.left;

	dev->power.lull.left = false;
	dev->power.lull.disabled = false;
	return left;
}

/*
 * Such a link delays a sync_state() callback, and nothing else. It may contradict
 * dpm_list and the other links: stock passes a device by that it has not come to,
 * which here may have been started, or counted on.
 */
static inline bool lull_orders_nothing(struct device_link *link)
{
	u32 flags = READ_ONCE(link->flags);

	/* The others only say where the link comes from. */
	flags &= ~(DL_FLAG_INFERRED | DL_FLAG_CYCLE | DL_FLAG_MANAGED);
	return lull_is_on() && flags == DL_FLAG_SYNC_STATE_ONLY;
}

/*
 * Nobody waits for whoever is at the other end, which may have been handled, and told
 * its own superiors, or be at it: its bit fields are not ours.
 */
static inline bool lull_resumes_nothing(struct device_link *link)
{
	return lull_orders_nothing(link) &&
	       lull_devices_guarded(LULL_DEVICES_MUST_RESUME);
}

/*
 * @superior has been handled before one that was moved below it since, or is linked to it
 * since. Who is in no list of the phase, or was let go, has not.
 */
static inline bool lull_is_past(struct device *superior)
{
	return lull_is_on() && lull_was_handled(superior) &&
	       lull_devices_guarded(LULL_DEVICES_MOVED);
}

/*
 * With dpm_list_mtx, by who still holds it: who goes away while a walk begins is handled
 * by nobody; whom the walk is at has to stay for it.
 */
static inline void lull_removed(struct device *dev)
{
	if (lull_is_on()) {
		complete_all(&dev->power.completion);
		lull_gone(dev);
	}
	if (dev == lull_at && !lull_at_is_held &&
	    lull_devices_guarded(LULL_DEVICES_HOLD)) {
		get_device(dev);
		lull_at_is_held = true;
	}
}

/*
 * With dpm_list_mtx, where the kernel completes a new device for one wait alone. Who is
 * added in a phase is handled in none before the next cycle, and each that is moved below
 * it waits for itself. It may be just before the first phase.
 */
static inline void lull_added(struct device *dev)
{
	if (!static_branch_unlikely(&lull_devices_key) && !lull_is_on())
		return;
	if (lull_devices_guarded(LULL_DEVICES_ADDED))
		complete_all(&dev->power.completion);
}

static inline bool lull_no_children(struct device *dev)
{
	return static_branch_unlikely(&lull_devices_key) &&
	       lull_is_childless(dev);
}

/* A child that has not ended is held. */
static int lull_find_open(struct device *dev, void *arg)
{
	struct device **open = arg;

	if (completion_done(&dev->power.completion) ||
	    !lull_devices_guarded(LULL_DEVICES_WAITS))
		return 0;
	*open = get_device(dev);
	return 1;
}

static int lull_find_open_async(struct device *dev, void *arg)
{
	bool is_async;

	/* As dpm_wait(), which reads this beside who writes other bits of its word, too. */
	is_async = data_race(pm_async_enabled && dev->power.async_suspend);
	return is_async ? lull_find_open(dev, arg) : 0;
}

/* A child that is waited for, and has not ended, is held. */
static struct device *lull_open_child(struct device *dev, bool async)
{
	struct device *open = NULL;

	if (!lull_is_childless(dev))
		device_for_each_child(dev, &open,
				      async ? lull_find_open :
					      lull_find_open_async);
	return open;
}

/* The same of consumers. */
static struct device *lull_open_consumer(struct device *dev, bool async)
{
	struct device *open = NULL;
	struct device_link *link;
	int idx;

	if (list_empty(&dev->links.consumers))
		return NULL;
	idx = device_links_read_lock();
	list_for_each_entry_srcu(link, &dev->links.consumers, s_node,
				 device_links_read_lock_held()) {
		if (READ_ONCE(link->status) == DL_STATE_DORMANT ||
		    lull_orders_nothing(link))
			continue;
		if (async ? lull_find_open(link->consumer, &open) :
			    lull_find_open_async(link->consumer, &open))
			break;
	}
	device_links_read_unlock(idx);
	return open;
}

/* Who goes away keeps its parent; who moves it writes this with dpm_list_mtx. */
static bool lull_is_child(struct device *dev, struct device *parent)
{
	return READ_ONCE(dev->parent) == parent;
}

/* A link that becomes dormant is no reason to go on; see dpm_wait_for_consumers(). */
static bool lull_is_consumer(struct device *dev, struct device *supplier)
{
	struct device_link *link;
	bool found = false;
	int idx;

	idx = device_links_read_lock();
	list_for_each_entry_srcu(link, &supplier->links.consumers, s_node,
				 device_links_read_lock_held())
		found = found || (link->consumer == dev && !lull_orders_nothing(link));
	device_links_read_unlock(idx);
	return found;
}

/*
 * Who moves a child has dpm_list_mtx until no iteration is at it; and who waits for that
 * child may have been started before the walk came to it, or before the worker did that
 * has it next, both of which need the mutex first. So nobody is in an iteration while it
 * waits. And who is waited for may be moved away from @dev, to where the walk comes to it
 * after one that waits for @dev: then it is waited for no more. Who has ended stays so,
 * but for one that was let go and moved back, and each time around there is one more of
 * those.
 */
static inline bool lull_waits_apart(struct device *dev, bool async)
{
	bool (*is_below)(struct device *dev, struct device *superior);
	struct device *open;

	if (!lull_is_on() || !lull_devices_guarded(LULL_DEVICES_MOVED))
		return false;
	while (true) {
		is_below = lull_is_child;
		open = lull_open_child(dev, async);
		if (!open) {
			is_below = lull_is_consumer;
			open = lull_open_consumer(dev, async);
		}
		if (!open)
			return true;
		while (!wait_for_completion_timeout(&open->power.completion,
						    LULL_LOOK_AGAIN) &&
		       is_below(open, dev))
			;
		put_device(open);
	}
}

static inline bool lull_no_suppliers(struct device *dev)
{
	return static_branch_unlikely(&lull_devices_key) &&
	       list_empty(&dev->links.suppliers);
}

static inline bool lull_no_consumers(struct device *dev)
{
	return static_branch_unlikely(&lull_devices_key) &&
	       list_empty(&dev->links.consumers);
}

#else /* !CONFIG_LULL_DEVICES */

static inline bool lull_is_on(void) { return false; }
static inline bool lull_no_superior(struct device *dev, bool async)
{
	return false;
}

static inline bool lull_no_subordinate(struct device *dev, bool async)
{
	return false;
}

static inline bool lull_waits_first(void) { return false; }
static inline bool lull_leaves_alone(struct device *dev, int error)
{
	return false;
}

static inline bool lull_was_left_alone(struct device *dev) { return false; }
static inline bool lull_orders_nothing(struct device_link *link)
{
	return false;
}

static inline bool lull_resumes_nothing(struct device_link *link)
{
	return false;
}

static inline bool lull_is_past(struct device *superior) { return false; }
static inline void lull_moved(struct device *dev) { }
static inline void lull_removed(struct device *dev) { }
static inline void lull_added(struct device *dev) { }
static inline bool lull_no_children(struct device *dev) { return false; }
static inline bool lull_waits_apart(struct device *dev, bool async)
{
	return false;
}

static inline bool lull_no_suppliers(struct device *dev) { return false; }
static inline bool lull_no_consumers(struct device *dev) { return false; }

#endif /* CONFIG_LULL_DEVICES */

#endif /* _DRIVERS_BASE_POWER_LULL_WAIT_H */
