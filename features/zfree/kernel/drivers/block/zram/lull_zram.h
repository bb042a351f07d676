/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For drivers/block/zram/zram_drv.c: swap frees many slots in a row. Each is
 * emptied as by zram_free_page(), under its lock or with its group claimed; handles
 * and statistics are gathered and settled once for all.
 */
#include <linux/lull_zfree.h>
#include <linux/swap.h>
#include <linux/swapops.h>

#ifdef CONFIG_LULL_ZFREE

struct zram_freed {
	u64 size;
	unsigned int stored, same, huge, missed;
	unsigned int nr;
	unsigned long handles[LULL_ZFREE_BATCH];
};

static void free_handles(struct zram *zram, struct zram_freed *freed)
{
	if (lull_zfree_in_bulk()) {
		zs_free_bulk(zram->mem_pool, freed->handles, freed->nr);
	} else {
		for (unsigned int i = 0; i < freed->nr; i++)
			zs_free(zram->mem_pool, freed->handles[i]);
	}
	freed->stored += freed->nr;
	freed->nr = 0;
}

/* Nobody else is at the slot; what it held may be freed when that is dropped (ZS5). */
static __always_inline void empty_slot(struct zram *zram, u32 index,
				       struct zram_freed *freed)
{
	struct zram_table_entry *slot = &zram->table[index];
	unsigned int flags = slot->flags;
	unsigned long handle = slot->handle;

	if (unlikely(flags & BIT(ZRAM_WB))) {
		zram_free_page(zram, index);
		return;
	}
#ifdef CONFIG_ZRAM_TRACK_ENTRY_ACTIME
	slot->ac_time = 0;
#endif
	/* Gone at once: IDLE, HUGE, INCOMPRESSIBLE, SAME, priority, and the size. */
	slot->flags = lull_zfree_guarded(LULL_ZFREE_UNDER_WB) ?
		      flags & BIT(ZRAM_UNDER_WB) : 0;
	if (lull_zfree_guarded(LULL_ZFREE_DETACH))
		slot->handle = 0;
	if (unlikely(flags & (BIT(ZRAM_HUGE) | BIT(ZRAM_SAME)))) {
		freed->huge += !!(flags & BIT(ZRAM_HUGE));
		/* The word that fills it is where a handle would be. */
		if (flags & BIT(ZRAM_SAME)) {
			freed->same++;
			return;
		}
	}
	if (handle) {
		freed->handles[freed->nr++] = handle;
		freed->size += flags & (BIT(ZRAM_FLAG_SHIFT) - 1);
	}
}

/* A slot that somebody is at keeps what it has until it is written anew. */
static __always_inline void try_slot(struct zram *zram, u32 index, struct zram_freed *freed)
{
	if (zram_slot_trylock(zram, index)) {
		empty_slot(zram, index, freed);
		zram_slot_unlock(zram, index);
	} else if (lull_zfree_guarded(LULL_ZFREE_SLOT_LOCK)) {
		freed->missed++;
	} else {
		empty_slot(zram, index, freed);
	}
}

/*
 * All of them are of one group, which is claimed (lull_zram_group.h). The key does
 * not change meanwhile.
 */
static __always_inline bool try_group(struct zram *zram, unsigned long begin,
				      unsigned long end, struct zram_freed *freed)
{
	if (!lull_zfree_groups() || !lull_claim_group(zram, begin))
		return false;
	for (unsigned long index = begin; index < end; index++) {
		if (lull_slot_is_locked(zram, index) &&
		    lull_zfree_guarded(LULL_ZFREE_SLOT_LOCK)) {
			freed->missed++;
			continue;
		}
		if (index == end - 1)
			lull_zfree_pause(LULL_ZFREE_AT_GROUP);
		empty_slot(zram, index, freed);
	}
	lull_leave_group(zram);
	return true;
}

static void begin_freeing(struct zram_freed *freed)
{
	if (!lull_zfree_guarded(LULL_ZFREE_ATOMIC))
		might_sleep();
	/* Not the handles, which are half a KiB. */
	memset(freed, 0, offsetof(struct zram_freed, handles));
}

static void settle_freed(struct zram *zram, const struct zram_freed *freed,
			 unsigned int nr)
{
	atomic64_add(nr, &zram->stats.notify_free);
	if (!lull_zfree_guarded(LULL_ZFREE_SETTLE))
		return;
	atomic64_sub(freed->size, &zram->stats.compr_data_size);
	atomic64_sub(freed->stored + freed->same, &zram->stats.pages_stored);
	if (freed->same)
		atomic64_sub(freed->same, &zram->stats.same_pages);
	if (freed->huge)
		atomic64_sub(freed->huge, &zram->stats.huge_pages);
	if (freed->missed)
		atomic64_add(freed->missed, &zram->stats.miss_free);
}

static void zram_slots_free_notify(struct block_device *bdev,
				   unsigned long index, unsigned int nr)
{
	struct zram *zram = bdev->bd_disk->private_data;
	struct zram_freed freed;
	unsigned long end = index + nr, until;

	begin_freeing(&freed);
	for (; index < end; index = until) {
		until = min(end, round_down(index, LULL_ZFREE_BATCH) + LULL_ZFREE_BATCH);
		if (!try_group(zram, index, until, &freed)) {
			for (unsigned long i = index; i < until; i++)
				try_slot(zram, i, &freed);
		}
		free_handles(zram, &freed);
	}
	settle_freed(zram, &freed, nr);
}

/* The same for slots that lie anywhere, LULL_ZFREE_BATCH of them at most. */
static void zram_entries_free_notify(struct block_device *bdev,
				     const swp_entry_t *entries,
				     unsigned int nr)
{
	struct zram *zram = bdev->bd_disk->private_data;
	struct zram_freed freed;
	unsigned int i;

	if (WARN_ON_ONCE(nr > LULL_ZFREE_BATCH))
		return;
	begin_freeing(&freed);
	for (i = 0; i < nr; i++)
		try_slot(zram, swp_offset(entries[i]), &freed);
	free_handles(zram, &freed);
	settle_freed(zram, &freed, nr);
}

#endif /* CONFIG_LULL_ZFREE */
