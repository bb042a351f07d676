// SPDX-License-Identifier: GPL-2.0-only
/*
 * The feature `zfree`: its modes and counters. What it does is where the data
 * is: mm/lull_zsfree.h, mm/lull_zsdefer.h, mm/lull_swap.h, mm/lull_swap_batch.h,
 * mm/lull_swap_runs.h, mm/lull_zswap.h, and lull_zram.h and lull_zram_group.h in
 * drivers/block/zram.
 * zsmalloc and zram may be modules: what they take of it is exported.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/lull.h>
#include <linux/lull_zfree.h>
#include <linux/math64.h>
#include <linux/rcupdate.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

DEFINE_STATIC_KEY_FALSE(lull_zfree_range_key);
DEFINE_STATIC_KEY_FALSE(lull_zfree_class_key);
EXPORT_SYMBOL_GPL(lull_zfree_class_key);
DEFINE_STATIC_KEY_FALSE(lull_zfree_group_key);
EXPORT_SYMBOL_GPL(lull_zfree_group_key);
DEFINE_STATIC_KEY_FALSE(lull_zfree_defer_key);
EXPORT_SYMBOL_GPL(lull_zfree_defer_key);

enum zfree_mode {
	ZFREE_STOCK,
	ZFREE_LOCKS,
	ZFREE_DEFERRED,
	ZFREE_LULL,
};

static const char * const zfree_modes[] = {
	[ZFREE_STOCK]	= "stock",
	[ZFREE_LOCKS]	= "locks",
	[ZFREE_DEFERRED] = "deferred",
	[ZFREE_LULL]	= "lull",
};

static const char * const zfree_counters[] = {
	[LULL_ZFREE_SLOTS]	= "slots",
	[LULL_ZFREE_RANGES]	= "ranges",
	[LULL_ZFREE_CUTS]	= "cuts",
	[LULL_ZFREE_BATCHED]	= "batched",
	[LULL_ZFREE_BATCHES]	= "batches",
	[LULL_ZFREE_WAITS]	= "waits",
	[LULL_ZFREE_HANDLES]	= "handles",
	[LULL_ZFREE_RUNS]	= "runs",
	[LULL_ZFREE_ZSPAGES]	= "zspages",
	[LULL_ZFREE_QUEUED]	= "queued",
	[LULL_ZFREE_DRAINED]	= "drained",
	[LULL_ZFREE_FULL]	= "full",
	[LULL_ZFREE_KICKS]	= "kicks",
	[LULL_ZFREE_FLUSHES]	= "flushes",
};

/*
 * At any time, under load: what is stored does not depend on the mode, every
 * way of freeing excludes every other by the same locks, and by a word of zram's
 * where those are only looked at, and each decides once which way it goes. The
 * worker comes for what was left to it.
 */
static void set_key(struct static_key_false *key, bool on)
{
	if (on)
		static_branch_enable(key);
	else
		static_branch_disable(key);
}

static int zfree_switch_mode(struct lull_feature *f, unsigned int mode)
{
	bool class, groups;

	/*
	 * Ranges are decided on under a spinlock: nobody is at one after that. A batch
	 * of slots may be, which takes their locks as in any mode, and no group's.
	 */
	if (static_key_enabled(&lull_zfree_range_key)) {
		set_key(&lull_zfree_range_key, false);
		if (lull_zfree_guarded(LULL_ZFREE_LINGER))
			synchronize_rcu();
	}
	lull_zfree_take_steps();
	class = mode != ZFREE_LULL || lull_zfree_by(LULL_ZFREE_BY_CLASS);
	groups = mode == ZFREE_LULL && lull_zfree_by(LULL_ZFREE_BY_GROUPS);

	set_key(&lull_zfree_class_key, mode != ZFREE_STOCK && class);
	set_key(&lull_zfree_group_key, groups);
	set_key(&lull_zfree_defer_key, mode == ZFREE_DEFERRED);
	/* Who has locked a slot without a look at its group lets it go first. */
	if (groups)
		synchronize_rcu();
	set_key(&lull_zfree_range_key, mode == ZFREE_LULL);
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
EXPORT_SYMBOL_GPL(lull_zfree_count);

/* Of the mode "deferred": here, since a module has one initcall. */
struct workqueue_struct *lull_zfree_wq;
EXPORT_SYMBOL_GPL(lull_zfree_wq);

static int __init zfree_make_wq(void)
{
	lull_zfree_wq = alloc_workqueue("zs_deferred",
					WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return lull_zfree_wq ? 0 : -ENOMEM;
}
subsys_initcall(zfree_make_wq);

#ifdef CONFIG_LULL_COMPARE
LULL_DEFINE_STEPS(ZFREE, zfree);

/* Comes after the late_initcall() that makes the folder. */
static int __init zfree_steps_init(void)
{
	lull_choice_file("steps", lull_zfree.dir, &lull_zfree_step_choice);
	return 0;
}
late_initcall_sync(zfree_steps_init);
#endif /* CONFIG_LULL_COMPARE */

#ifdef CONFIG_LULL_DEBUG
LULL_DEFINE_SAFEGUARDS(ZFREE, zfree);
LULL_DEFINE_POINTS(ZFREE, zfree);

#define PAUSE_PIECE_US 1000u

static u32 pause_us = 200;
/* How often somebody has come to where he waits. */
static atomic_t paused = ATOMIC_INIT(0);
/* Instead of the time after which the worker comes; 0 changes nothing. */
static u32 delay_ms;

/**
 * lull_zfree_pause - wait, where a test asked for it
 * @point: where this is
 *
 * In short pieces: who has done meanwhile what he came for may write a shorter time.
 * It is the clock's, as on a busy host a piece takes longer.
 */
void lull_zfree_pause(enum lull_zfree_point point)
{
	u64 start, waited;
	u32 us;

	if (!lull_zfree_pauses_at(point))
		return;
	start = ktime_get_mono_fast_ns();
	atomic_inc(&paused);
	for (;;) {
		waited = div_u64(ktime_get_mono_fast_ns() - start, NSEC_PER_USEC);
		us = READ_ONCE(pause_us);
		if (waited >= us)
			break;
		udelay(min(us - (u32)waited, PAUSE_PIECE_US));
	}
}

/**
 * lull_zfree_delay_ms - after how long the worker comes
 * @usual: without a test that wants to be there before it
 */
unsigned int lull_zfree_delay_ms(unsigned int usual)
{
	return READ_ONCE(delay_ms) ?: usual;
}

/* Comes after the late_initcall() that makes the folder. */
static int __init zfree_debug_init(void)
{
	struct dentry *inject = debugfs_create_dir("inject", lull_zfree.dir);

	lull_choice_file("disable", inject, &lull_zfree_safeguard_choice);
	lull_choice_file("pause", inject, &lull_zfree_point_choice);
	debugfs_create_u32("pause_us", 0644, inject, &pause_us);
	debugfs_create_atomic_t("paused", 0444, inject, &paused);
	debugfs_create_u32("delay_ms", 0644, inject, &delay_ms);
	return 0;
}
late_initcall_sync(zfree_debug_init);
#endif /* CONFIG_LULL_DEBUG */
