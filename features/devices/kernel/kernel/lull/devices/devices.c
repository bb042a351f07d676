// SPDX-License-Identifier: GPL-2.0-only
/*
 * The feature `devices`: its modes and counters. How devices are started is in
 * drivers/base/power/lull_devices.h.
 */
#include <linux/debugfs.h>
#include <linux/export.h>
#include <linux/lull.h>
#include <linux/lull_devices.h>

#include "internal.h"

#define CREATE_TRACE_POINTS
#include <trace/events/lull_devices.h>

DEFINE_STATIC_KEY_FALSE(lull_devices_key);
bool lull_devices_on;

static const char * const devices_modes[] = {
	[LULL_DEVICES_STOCK]	= "stock",
	[LULL_DEVICES_PARENTS]	= "parents",
	[LULL_DEVICES_LINKS]	= "links",
	[LULL_DEVICES_LULL]	= "lull",
};

static const char * const devices_counters[] = {
	[LULL_DEVICES_UPFRONT]	= "upfront",
	[LULL_DEVICES_MET]	= "met",
	[LULL_DEVICES_REACHED]	= "reached",
	[LULL_DEVICES_CHAINED]	= "chained",
	[LULL_DEVICES_QUIET]	= "quiet",
	[LULL_DEVICES_SYNC]	= "sync",
	[LULL_DEVICES_OVERDUE]	= "overdue",
	[LULL_DEVICES_FAILED]	= "failed",
};

/*
 * A phase looks at the mode once, when it begins: what a write changes in the
 * middle of one is for the next. All modes leave the same lists and flags.
 */
static enum lull_devices_mode devices_mode;

static int devices_switch_mode(struct lull_feature *f, unsigned int mode)
{
	lull_devices_take_steps();
	WRITE_ONCE(devices_mode, mode);
	if (mode == LULL_DEVICES_STOCK)
		static_branch_disable(&lull_devices_key);
	else
		static_branch_enable(&lull_devices_key);
	return 0;
}

LULL_FEATURE(devices, devices_modes, devices_switch_mode, devices_counters);

/**
 * devices_set_mode - switch, for tests that do so in the middle of a phase
 * @mode: which
 *
 * Return: 0, or -EINVAL where there is no such mode.
 */
int devices_set_mode(unsigned int mode)
{
	int ret = -EINVAL;

	kernel_param_lock(THIS_MODULE);
	if (mode < lull_devices.nr_modes)
		ret = devices_switch_mode(&lull_devices, mode);
	if (!ret)
		WRITE_ONCE(lull_devices.mode, mode);
	kernel_param_unlock(THIS_MODULE);
	return ret;
}

/**
 * lull_devices_mode - the mode that a phase which begins now is in
 *
 * Return: the mode.
 */
enum lull_devices_mode lull_devices_mode(void)
{
	return READ_ONCE(devices_mode);
}

/**
 * lull_devices_count - add to a counter of the feature
 * @counter: which
 * @n: how many
 */
void lull_devices_count(enum lull_devices_counter counter, unsigned int n)
{
	lull_count(&lull_devices, counter, n);
}

#ifdef CONFIG_LULL_COMPARE
LULL_DEFINE_STEPS(DEVICES, devices);

/* Comes after the late_initcall() that makes the folder. */
static int __init devices_steps_init(void)
{
	lull_choice_file("steps", lull_devices.dir, &lull_devices_step_choice);
	return 0;
}
late_initcall_sync(devices_steps_init);
#endif

/* Comes after the late_initcall() that makes the folder. */
static int __init devices_files_init(void)
{
	if (IS_ENABLED(CONFIG_LULL_DEBUG))
		devices_debug_files(debugfs_create_dir("inject", lull_devices.dir));
	if (IS_ENABLED(CONFIG_LULL_DEVICES_TREE))
		tree_files(lull_devices.dir);
	return 0;
}
late_initcall_sync(devices_files_init);
