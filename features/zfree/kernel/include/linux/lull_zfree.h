/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What swap, zram and zsmalloc call of Lull's feature `zfree`.
 *
 * The hooks sit in mm/{swapfile,zsmalloc,zswap,zpool}.c and in
 * drivers/block/zram/zram_drv.c. Each does nothing where the option is off, and
 * is a static branch not taken where the mode is "stock".
 */
#ifndef _LINUX_LULL_ZFREE_H
#define _LINUX_LULL_ZFREE_H

#include <linux/jump_label.h>
#include <linux/lull_debug.h>
#include <linux/mm_types.h>
#include <linux/types.h>

struct workqueue_struct;
struct zs_pool;

/* Handles that are freed at once, at most; they are gathered on the stack. */
#define LULL_ZFREE_BATCH 64

enum lull_zfree_counter {
	LULL_ZFREE_SLOTS,	/* slots freed in ranges */
	LULL_ZFREE_RANGES,	/* how many ranges that were */
	LULL_ZFREE_CUTS,	/* runs that were cut where a cluster ends */
	LULL_ZFREE_BATCHED,	/* slots that were freed one by one, together */
	LULL_ZFREE_BATCHES,	/* in how many batches */
	LULL_ZFREE_WAITS,	/* how often a slot was locked while its group was freed */
	LULL_ZFREE_HANDLES,	/* handles freed in batches */
	LULL_ZFREE_RUNS,	/* class locks taken for them */
	LULL_ZFREE_ZSPAGES,	/* zspages that became empty by it */
	LULL_ZFREE_QUEUED,	/* handles left to the worker */
	LULL_ZFREE_DRAINED,	/* of those, freed since, by whomever */
	LULL_ZFREE_FULL,	/* handles freed at once: there was no room */
	LULL_ZFREE_KICKS,	/* how often the worker was called */
	LULL_ZFREE_FLUSHES,	/* how often a pool was drained at a limit */
	LULL_ZFREE_NR_COUNTERS,
};

/* Safeguards that a test kernel can switch off, to see their tests fail. */
LULL_SAFEGUARDS(ZFREE, zfree, {
	LULL_ZFREE_DETACH,	/* ZS1: no handle stays in a slot that is free */
	LULL_ZFREE_HOLD,	/* ZS1: si->lock is held until a batch is done */
	LULL_ZFREE_PIECES,	/* ZS1: a run's pieces have no slot in common */
	LULL_ZFREE_REREAD,	/* ZS2: a location is read again under the lock */
	LULL_ZFREE_PAGE_LOCKS,	/* ZS3: pages that others hold are left alone */
	LULL_ZFREE_SETTLE,	/* ZS4: what was freed is subtracted */
	LULL_ZFREE_LAST,	/* ZS4: a node's last shadow takes the node along */
	LULL_ZFREE_UNDER_WB,	/* ZS5: a slot under writeback stays marked */
	LULL_ZFREE_ATOMIC,	/* ZS6: nothing sleeps under si->lock */
	LULL_ZFREE_PUBLISH,	/* ZS7: a handle is there before it is counted */
	LULL_ZFREE_DESTROY,	/* ZS8: a pool that goes is drained first */
	LULL_ZFREE_POSSIBLE,	/* ZS8: CPUs that went offline are drained, too */
	LULL_ZFREE_LIMIT,	/* ZS9: no limit is hit by what is queued */
	LULL_ZFREE_SIZE,	/* ZS9: an object has room for what goes there */
	LULL_ZFREE_PRESSURE,	/* ZS9: the shrinker drains */
	LULL_ZFREE_SLOT_LOCK,	/* ZS11: a slot that is being read is missed */
	LULL_ZFREE_GROUP,	/* ZS11: nobody reads a slot while its group is freed */
	LULL_ZFREE_LINGER,	/* ZS11: who locks slots looks until no group is freed */
	LULL_ZFREE_RINGS,	/* there is memory for the worker's rings */
});

/*
 * What the mode "lull" consists of. With none of them each slot of a range is
 * done by itself, as on stock.
 */
LULL_STEPS(ZFREE, zfree, {
	LULL_ZFREE_BY_CLASS,	/* the class by the object's own bits */
	LULL_ZFREE_BY_CLUSTERS,	/* a run that crosses clusters is cut there */
	LULL_ZFREE_BY_BATCH,	/* slots of a CPU's cache are freed together */
	LULL_ZFREE_BY_SLOTS,	/* zram empties the slots of a range in one go */
	LULL_ZFREE_BY_GROUPS,	/* a word keeps others from them, not each's lock */
	LULL_ZFREE_BY_BULK,	/* one class lock for all handles of a class */
	LULL_ZFREE_BY_SHADOWS,	/* a node's shadows are cleared together */
	LULL_ZFREE_BY_ZEROMAP,	/* a bit is cleared where it is set */
	LULL_ZFREE_BY_ZSWAP,	/* zswap is asked once for a range */
});

/* Where a test kernel can be made to wait, so that others meet it there. */
LULL_POINTS(ZFREE, zfree, {
	LULL_ZFREE_AT_FREE,	/* class known, its lock not taken yet */
	LULL_ZFREE_AT_BATCH,	/* a batch's counts are gone, its slots' pages not */
	LULL_ZFREE_AT_MIGRATE,	/* page locked, no other lock taken yet */
	LULL_ZFREE_AT_PUBLISH,	/* between a handle and its count */
	LULL_ZFREE_AT_READ,	/* slot locked, its handle read and not used yet */
	LULL_ZFREE_AT_GROUP,	/* the last slot of a piece of a group unlocked, not emptied */
	LULL_ZFREE_AT_LIMIT,	/* drained at a limit, not compressed again yet */
});

/*
 * Ask once: a caller may find another answer when the mode has changed. Handles in
 * bulk are told apart by their class.
 */
static inline bool lull_zfree_in_bulk(void)
{
	return lull_zfree_by(LULL_ZFREE_BY_CLASS) &&
	       lull_zfree_by(LULL_ZFREE_BY_BULK);
}

#ifdef CONFIG_LULL_ZFREE

/* A class is found by the object's own bits, without migrate_lock. */
DECLARE_STATIC_KEY_FALSE(lull_zfree_class_key);
/* Slots of a range are freed together. */
DECLARE_STATIC_KEY_FALSE(lull_zfree_range_key);
/* Who locks a slot of zram looks whether its group is being freed. */
DECLARE_STATIC_KEY_FALSE(lull_zfree_group_key);
/* Handles are left to a worker. */
DECLARE_STATIC_KEY_FALSE(lull_zfree_defer_key);

/* Where the worker of "deferred" runs. */
extern struct workqueue_struct *lull_zfree_wq;

static inline bool lull_zfree_by_class(void)
{
	return static_branch_unlikely(&lull_zfree_class_key);
}

static inline bool lull_zfree_ranges(void)
{
	return static_branch_unlikely(&lull_zfree_range_key);
}

static inline bool lull_zfree_groups(void)
{
	return static_branch_unlikely(&lull_zfree_group_key);
}

static inline bool lull_zfree_deferred(void)
{
	return static_branch_unlikely(&lull_zfree_defer_key);
}

void lull_zfree_count(enum lull_zfree_counter counter, u64 n);
bool zs_flush_deferred(struct zs_pool *pool);

#else /* !CONFIG_LULL_ZFREE */

static inline bool lull_zfree_by_class(void) { return false; }
static inline bool lull_zfree_ranges(void) { return false; }
static inline bool lull_zfree_groups(void) { return false; }
static inline bool lull_zfree_deferred(void) { return false; }
static inline bool zs_flush_deferred(struct zs_pool *pool) { return false; }
static inline void lull_zfree_count(enum lull_zfree_counter counter, u64 n) { }

#endif /* CONFIG_LULL_ZFREE */

#if defined(CONFIG_LULL_ZFREE) && defined(CONFIG_LULL_DEBUG)
void lull_zfree_pause(enum lull_zfree_point point);
unsigned int lull_zfree_delay_ms(unsigned int usual);
#else
static inline void lull_zfree_pause(enum lull_zfree_point point) { }
static inline unsigned int lull_zfree_delay_ms(unsigned int usual)
{
	return usual;
}
#endif

void zs_free_bulk(struct zs_pool *pool, unsigned long *handles,
		  unsigned int nr);

#ifdef CONFIG_ZSWAP
void zswap_invalidate_range(swp_entry_t swp, unsigned int nr);
#else
static inline void zswap_invalidate_range(swp_entry_t swp, unsigned int nr) { }
#endif

#endif /* _LINUX_LULL_ZFREE_H */
