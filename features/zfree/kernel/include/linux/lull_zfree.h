/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What swap, zram and zsmalloc call of Lull's feature `zfree`.
 *
 * The hooks sit in mm/{swapfile,zsmalloc}.c and drivers/block/zram/zram_drv.c.
 * Each is nothing where the option is off, and a static branch not taken where
 * the mode is "stock".
 */
#ifndef _LINUX_LULL_ZFREE_H
#define _LINUX_LULL_ZFREE_H

#include <linux/jump_label.h>
#include <linux/mm_types.h>
#include <linux/types.h>

struct zs_pool;

/* Handles that are freed at once, at most; they are gathered on the stack. */
#define LULL_ZFREE_BATCH 64

enum lull_zfree_counter {
	LULL_ZFREE_SLOTS,	/* slots freed in ranges */
	LULL_ZFREE_RANGES,	/* how many ranges that were */
	LULL_ZFREE_HANDLES,	/* handles freed in batches */
	LULL_ZFREE_RUNS,	/* class locks taken for them */
	LULL_ZFREE_ZSPAGES,	/* zspages that became empty by it */
	LULL_ZFREE_NR_COUNTERS,
};

/* Safeguards that a test kernel can switch off, to see their tests fail. */
enum lull_zfree_safeguard {
	LULL_ZFREE_DETACH,	/* ZS1: no handle stays in a slot that is free */
};

#ifdef CONFIG_LULL_ZFREE

/* A class is found by the object's own bits, without migrate_lock. */
DECLARE_STATIC_KEY_FALSE(lull_zfree_class_key);
/* Slots of a range are freed together. */
DECLARE_STATIC_KEY_FALSE(lull_zfree_range_key);

static inline bool lull_zfree_by_class(void)
{
	return static_branch_unlikely(&lull_zfree_class_key);
}

static inline bool lull_zfree_ranges(void)
{
	return static_branch_unlikely(&lull_zfree_range_key);
}

void lull_zfree_count(enum lull_zfree_counter counter, u64 n);

#else /* !CONFIG_LULL_ZFREE */

static inline bool lull_zfree_by_class(void) { return false; }
static inline bool lull_zfree_ranges(void) { return false; }
static inline void lull_zfree_count(enum lull_zfree_counter counter, u64 n) { }

#endif /* CONFIG_LULL_ZFREE */

#if defined(CONFIG_LULL_ZFREE) && defined(CONFIG_LULL_DEBUG)
bool lull_zfree_guarded(enum lull_zfree_safeguard guard);
#else
static inline bool lull_zfree_guarded(enum lull_zfree_safeguard guard)
{
	return true;
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
