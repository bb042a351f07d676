/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What drivers/base/power/main.c calls of Lull's feature `devices`.
 *
 * There is one hook for each phase, and in the mode "stock" it is a static
 * branch not taken. drivers/base/power/lull_devices.h has what is behind it.
 */
#ifndef _LINUX_LULL_DEVICES_H
#define _LINUX_LULL_DEVICES_H

#include <linux/jump_label.h>
#include <linux/lull_debug.h>
#include <linux/types.h>

enum lull_devices_mode {
	LULL_DEVICES_STOCK,
	LULL_DEVICES_PARENTS,
	LULL_DEVICES_LINKS,
	LULL_DEVICES_LULL,
};

/* In the order in which a suspend and the resume after it go through them. */
enum lull_devices_phase {
	LULL_DEVICES_SUSPEND,
	LULL_DEVICES_SUSPEND_LATE,
	LULL_DEVICES_SUSPEND_NOIRQ,
	LULL_DEVICES_RESUME_NOIRQ,
	LULL_DEVICES_RESUME_EARLY,
	LULL_DEVICES_RESUME,
	LULL_DEVICES_NR_PHASES,
};

enum lull_devices_counter {
	LULL_DEVICES_UPFRONT,	/* started before the list is walked */
	LULL_DEVICES_MET,	/* started when a dependency had ended */
	LULL_DEVICES_REACHED,	/* started when the walk came to it */
	LULL_DEVICES_CHAINED,	/* handled by who had handled a dependency */
	LULL_DEVICES_QUIET,	/* of no callbacks, handled without a worker */
	LULL_DEVICES_SYNC,	/* handled by the walk: not async, or no worker */
	LULL_DEVICES_OVERDUE,	/* passed over, and not started for a long time */
	LULL_DEVICES_FAILED,	/* no memory for a worker's order */
	LULL_DEVICES_NR_COUNTERS,
};

/* Safeguards that a test kernel can switch off, to see their tests fail. */
LULL_SAFEGUARDS(DEVICES, devices, {
	LULL_DEVICES_WAITS,	/* PM1, PM6: who is started waits for the rest */
	LULL_DEVICES_CLAIM,	/* PM2: one of those that start it handles it */
	LULL_DEVICES_CLEAR,	/* PM3: all are made ready before any is started */
	LULL_DEVICES_ABORT,	/* PM4: after an error the walk goes on to the end */
	LULL_DEVICES_FALLBACK,	/* PM5: who cannot be queued is handled anyway */
	LULL_DEVICES_HOLD,	/* PM7: who is started is held until handled */
	LULL_DEVICES_STRICT,	/* PM8: pm_async=0 is heeded */
	LULL_DEVICES_ROOM,	/* PM10: only so many are started to wait */
	LULL_DEVICES_FLAG,	/* PM11: nobody is async who is not for dpm_wait() */
	LULL_DEVICES_WORD,	/* PM9: what several write is written as an atomic */
	LULL_DEVICES_WALK_ROOM,	/* PM10: also of those that the walk starts */
	LULL_DEVICES_MUST_RESUME,	/* PM6: what orders nothing resumes nobody */
	LULL_DEVICES_MOVED,	/* PM7: who is moved in a phase is not lost */
	LULL_DEVICES_REQUESTS,	/* PM4: an error leaves runtime PM of the rest alone */
	LULL_DEVICES_LATCH,	/* a phase keeps to the mode in which it began */
	LULL_DEVICES_ENABLED,	/* PM7: and its runtime PM is not left disabled */
	LULL_DEVICES_ADDED,	/* PM7: who is added in a phase is complete for all */
});

/*
 * What the mode "lull" does beside counting what a device waits for, which is what
 * it stands on. Each is asked once for a device that nobody is left to wait for, so
 * that they may change in the middle of a phase.
 */
LULL_STEPS(DEVICES, devices, {
	LULL_DEVICES_BY_CHAIN,	/* a worker goes on with one that it was the last for */
	LULL_DEVICES_BY_QUIET,	/* without callbacks: by whoever gets to it */
});

#ifdef CONFIG_LULL_DEVICES

DECLARE_STATIC_KEY_FALSE(lull_devices_key);

/*
 * The phase under way, or the last one, is in a mode other than "stock". With
 * dpm_list_mtx, or by who handles a device.
 */
extern bool lull_devices_on;

enum lull_devices_mode lull_devices_mode(void);
void lull_devices_count(enum lull_devices_counter counter, unsigned int n);
void __lull_devices_walk(enum lull_devices_phase nr);

/*
 * Handle all devices in the phase's list, and leave it empty. With dpm_list_mtx
 * held, before and after; it is dropped meanwhile.
 */
static inline void lull_devices_walk(enum lull_devices_phase nr)
{
	lull_devices_on = static_branch_unlikely(&lull_devices_key);
	if (lull_devices_on)
		__lull_devices_walk(nr);
}

#else /* !CONFIG_LULL_DEVICES */

static inline void lull_devices_walk(enum lull_devices_phase nr) { }

#endif /* CONFIG_LULL_DEVICES */

#if defined(CONFIG_LULL_DEVICES) && defined(CONFIG_LULL_DEBUG)
bool lull_devices_no_memory(struct device *dev);
void lull_devices_hop(void);
#else
static inline bool lull_devices_no_memory(struct device *dev)
{
	return false;
}

static inline void lull_devices_hop(void) { }
#endif

#endif /* _LINUX_LULL_DEVICES_H */
