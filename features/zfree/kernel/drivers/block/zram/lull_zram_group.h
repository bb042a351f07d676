/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For drivers/block/zram/zram_drv.c: swap frees many slots in a row, and hardly ever
 * is one of them locked by somebody: who writes it out, compresses it anew, marks it
 * idle, or reads or discards the device itself. So its lock is not taken for each, but
 * a group of slots is claimed by one word of the device, and then each slot's lock is
 * looked at:
 *
 *   who frees                           who locks a slot
 *     zram->lull_group = group            its lock is taken
 *     full barrier                        full barrier
 *     is the slot's lock taken?           is zram->lull_group its group?
 *
 * One of them sees the other, or both do. Who frees leaves a slot that is locked as
 * it is, as where a trylock fails. Who locks a slot of the group lets it go, and waits
 * until the group is free: who frees waits for nobody meanwhile, and cannot be
 * preempted, for it holds the lock of its swap area; nor does an interrupt lock slots.
 */
#include <linux/bits.h>
#include <linux/log2.h>
#include <linux/lull_zfree.h>

#define LULL_GROUP_SHIFT ilog2(LULL_ZFREE_BATCH)
static_assert(BIT(LULL_GROUP_SHIFT) == LULL_ZFREE_BATCH);

#ifdef CONFIG_LULL_ZFREE

/* The word of the group that @index is in; 0 is none. */
static inline unsigned long lull_group_of(unsigned long index)
{
	return (index >> LULL_GROUP_SHIFT) + 1;
}

static bool lull_group_is_freed(struct zram *zram, u32 index)
{
	if (!lull_zfree_guarded(LULL_ZFREE_GROUP))
		return false;
	/* Pairs with cmpxchg() in lull_claim_group(). */
	smp_mb__after_spinlock();
	/* Pairs with smp_store_release() in lull_leave_group(). */
	return smp_load_acquire(&zram->lull_group) == lull_group_of(index);
}

/* Its lock was got by a trylock: false, and let go, where it is not to be had. */
static noinline bool lull_keep_slot(struct zram *zram, u32 index)
{
	if (!lull_group_is_freed(zram, index))
		return true;
	spin_unlock(&zram->table[index].lock);
	return false;
}

/* Its lock was taken: have it when nobody frees its group. */
static noinline void lull_get_slot(struct zram *zram, u32 index)
{
	while (!lull_keep_slot(zram, index)) {
		lull_zfree_count(LULL_ZFREE_WAITS, 1);
		/* Not with the slot locked, which would be missed. */
		smp_cond_load_relaxed(&zram->lull_group,
				      VAL != lull_group_of(index));
		spin_lock(&zram->table[index].lock);
	}
}

static __always_inline bool lull_claim_group(struct zram *zram, unsigned long index)
{
	/* Fully ordered; pairs with smp_mb__after_spinlock() above. */
	return cmpxchg(&zram->lull_group, 0, lull_group_of(index)) == 0;
}

static __always_inline bool lull_slot_is_locked(struct zram *zram, u32 index)
{
	if (spin_is_locked(&zram->table[index].lock))
		return true;
	/* Pairs with the release of whoever let it go: what they wrote is seen. */
	smp_acquire__after_ctrl_dep();
	return false;
}

static __always_inline void lull_leave_group(struct zram *zram)
{
	smp_store_release(&zram->lull_group, 0);
}

#else /* !CONFIG_LULL_ZFREE */

static inline bool lull_keep_slot(struct zram *zram, u32 index) { return true; }
static inline void lull_get_slot(struct zram *zram, u32 index) { }

#endif /* CONFIG_LULL_ZFREE */
