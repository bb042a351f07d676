// SPDX-License-Identifier: GPL-2.0-only
/*
 * The feature `zfree`: its modes and counters. What it does is where the data
 * is: mm/lull_zsfree.h, mm/lull_swap.h and drivers/block/zram/lull_zram.h.
 */
#include <linux/debugfs.h>
#include <linux/lull.h>
#include <linux/lull_zfree.h>

DEFINE_STATIC_KEY_FALSE(lull_zfree_class_key);
DEFINE_STATIC_KEY_FALSE(lull_zfree_range_key);

enum zfree_mode {
	ZFREE_STOCK,
	ZFREE_LOCKS,
	ZFREE_LULL,
};

static const char * const zfree_modes[] = {
	[ZFREE_STOCK]	= "stock",
	[ZFREE_LOCKS]	= "locks",
	[ZFREE_LULL]	= "lull",
};

static const char * const zfree_counters[] = {
	[LULL_ZFREE_SLOTS]	= "slots",
	[LULL_ZFREE_RANGES]	= "ranges",
	[LULL_ZFREE_HANDLES]	= "handles",
	[LULL_ZFREE_RUNS]	= "runs",
	[LULL_ZFREE_ZSPAGES]	= "zspages",
};

/*
 * At any time, under load: what is stored does not depend on the mode, every
 * way of freeing excludes every other by the same locks, and each decides once
 * which way it goes.
 */
static int zfree_switch_mode(struct lull_feature *f, unsigned int mode)
{
	if (mode == ZFREE_STOCK)
		static_branch_disable(&lull_zfree_class_key);
	else
		static_branch_enable(&lull_zfree_class_key);
	if (mode == ZFREE_LULL)
		static_branch_enable(&lull_zfree_range_key);
	else
		static_branch_disable(&lull_zfree_range_key);
	return 0;
}

LULL_FEATURE(zfree, zfree_modes, zfree_switch_mode, zfree_counters);

/**
 * lull_zfree_count - add to a counter of the feature
 * @counter: which
 * @n: how much
 */
void lull_zfree_count(enum lull_zfree_counter counter, u64 n)
{
	lull_count(&lull_zfree, counter, n);
}

#ifdef CONFIG_LULL_DEBUG
/* Bits of enum lull_zfree_safeguard that are switched off. */
static u32 disabled;

/**
 * lull_zfree_guarded - is a safeguard on? Always, but in a test of its test
 * @guard: which
 */
bool lull_zfree_guarded(enum lull_zfree_safeguard guard)
{
	return !(READ_ONCE(disabled) & BIT(guard));
}

/* Comes after the late_initcall() that makes the folder. */
static int __init zfree_debug_init(void)
{
	struct dentry *inject = debugfs_create_dir("inject", lull_zfree.dir);

	debugfs_create_x32("disable", 0644, inject, &disabled);
	return 0;
}
late_initcall_sync(zfree_debug_init);
#endif /* CONFIG_LULL_DEBUG */
