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
 * Who tries a slot's lock need not look: only who frees does, and a device is one
 * area's.
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

/* Its lock was taken: have it when nobody frees its group. */
static noinline void lull_get_slot(struct zram *zram, u32 index)
	__must_hold(&zram->table[index].lock)
{
	while (lull_group_is_freed(zram, index)) {
		lull_zfree_count(LULL_ZFREE_WAITS, 1);
		spin_unlock(&zram->table[index].lock);
		/* Not with the slot locked, which would be missed. */
		smp_cond_load_relaxed(&zram->lull_group,
				      lull_group_of(index) != VAL);
		spin_lock(&zram->table[index].lock);
	}
}

#ifdef CONFIG_PREEMPT_RT

/* Who has claimed a group could be preempted. */
static bool lull_claim_group(struct zram *zram, unsigned long index) { return false; }
static bool lull_slot_is_locked(struct zram *zram, u32 index) { return true; }

#else /* !CONFIG_PREEMPT_RT */

static __always_inline bool lull_claim_group(struct zram *zram, unsigned long index)
{
	/* Fully ordered; pairs with smp_mb__after_spinlock() above. */
	return cmpxchg(&zram->lull_group, 0, lull_group_of(index)) == 0;
}

static __always_inline bool lull_slot_is_locked(struct zram *zram, u32 index)
{
	if (raw_spin_is_locked(spinlock_check(&zram->table[index].lock)))
		return true;
	/* Pairs with the release of whoever let it go: what they wrote is seen. */
	smp_acquire__after_ctrl_dep();
	return false;
}

#endif /* CONFIG_PREEMPT_RT */

static __always_inline void lull_leave_group(struct zram *zram)
{
	/* Pairs with smp_load_acquire() in lull_group_is_freed(). */
	smp_store_release(&zram->lull_group, 0);
}

#else /* !CONFIG_LULL_ZFREE */

static inline void lull_get_slot(struct zram *zram, u32 index) { }

#endif /* CONFIG_LULL_ZFREE */
