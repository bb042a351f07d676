/* SPDX-License-Identifier: GPL-2.0-only */
/* What Lull's feature `devices` keeps in a device's struct dev_pm_info. */
#ifndef _LINUX_LULL_DEVICES_INFO_H
#define _LINUX_LULL_DEVICES_INFO_H

#include <linux/atomic.h>
#include <linux/types.h>

/**
 * struct lull_dpm - a device in the phase that is under way
 * @node: in the list of those that a thread starts or handles next
 * @missing: of an async device, dependencies that have not ended; a hint
 * @heirs: there are async devices whose @missing it is counted in
 * @claim: number of the phase; 1 more once somebody handles it, 3 if nobody will
 * @room: of who has claimed it: it may have to wait, and is counted
 * @async: it may be handled by a worker; power.async_suspend shares its word
 *	with bits that whoever handles the device writes
 * @alone: sync: all it comes after are, too, or had ended; async: all had
 * @left: an error has kept device_suspend_late() from it: device_resume_early()
 *	has nothing to undo
 * @disabled: device_suspend_late() has disabled its runtime PM, and nobody has enabled
 *	it since
 * @passed: the walk has come to it, and left it to who will have started it
 *
 * Several CPUs write these at once, each in one access: none is a bit field, nor
 * shares a word with one of those around them.
 */
struct lull_dpm {
#ifdef CONFIG_LULL_DEVICES
	struct list_head node;
	atomic_t missing;
	unsigned int claim;
	bool heirs;
	bool room;
	bool async;
	bool alone;
	bool left;
	bool disabled;
	bool passed;
#endif
};

#endif /* _LINUX_LULL_DEVICES_INFO_H */
