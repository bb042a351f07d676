/* SPDX-License-Identifier: GPL-2.0-only */
/* For mm/swapfile.c, before swapcache_free_entries(). */
#ifdef CONFIG_LULL_ZFREE

static bool is_last_in(const struct xa_node *node)
{
	return node->count == 1 && lull_zfree_guarded(LULL_ZFREE_LAST);
}

/*
 * The shadow of a slot. Where its node keeps another entry, it stays on the
 * list of shadow nodes or off it, as it was: one value less leaves "all of them
 * are values" as true as before. The last goes through xas_store(), which frees
 * the node.
 */
static void clear_one_shadow(struct xa_state *xas)
{
	struct xa_node *node;

	if (!xa_is_value(xas_load(xas)))
		return;
	node = xas->xa_node;
	if (!node || node->shift || !lull_zfree_by(LULL_ZFREE_BY_SHADOWS) ||
	    is_last_in(node)) {
		xas_store(xas, NULL);
		return;
	}
	/* Readers under RCU find the shadow, or none: both are true. */
	RCU_INIT_POINTER(node->slots[xas->xa_offset], NULL);
	node->count--;
	node->nr_values--;
}

static void clear_shadows_of(const swp_entry_t *entries, unsigned int nr)
{
	struct address_space *space;
	XA_STATE(xas, NULL, 0);
	unsigned int first, i;

	xas_set_update(&xas, workingset_update_node);
	for (first = 0; first < nr; first = i) {
		space = swap_address_space(entries[first]);
		xas.xa = &space->i_pages;
		xa_lock_irq(&space->i_pages);
		for (i = first; i < nr &&
		     swap_address_space(entries[i]) == space; i++) {
			xas_set(&xas, swap_cache_index(entries[i]));
			clear_one_shadow(&xas);
		}
		xa_unlock_irq(&space->i_pages);
	}
}

static void notify_of(struct swap_info_struct *si, const swp_entry_t *entries,
		      unsigned int nr)
{
	const struct block_device_operations *fops;
	unsigned int i;

	if (!(si->flags & SWP_BLKDEV))
		return;
	fops = si->bdev->bd_disk->fops;
	if (fops->swap_entries_free_notify &&
	    lull_zfree_by(LULL_ZFREE_BY_SLOTS)) {
		fops->swap_entries_free_notify(si->bdev, entries, nr);
	} else if (fops->swap_slot_free_notify) {
		for (i = 0; i < nr; i++)
			fops->swap_slot_free_notify(si->bdev,
						    swp_offset(entries[i]));
	}
}

/* Of an area that has clusters; false where the slot is not ours to free. */
static bool take_slot(struct swap_info_struct *si, unsigned long offset)
{
	struct swap_cluster_info *ci =
		si->cluster_info + offset / SWAPFILE_CLUSTER;
	bool ours;

	spin_lock(&ci->lock);
	ours = si->swap_map[offset] == SWAP_HAS_CACHE;
	/* Neither free nor the cache's: as wrong as in swap_entry_range_free(). */
	VM_WARN_ON_ONCE(!ours && si->swap_map[offset]);
	if (likely(ours)) {
		si->swap_map[offset] = 0;
		dec_cluster_info_page(si, ci, 1);
	}
	spin_unlock(&ci->lock);
	return ours;
}

/*
 * Under si->lock: no slot can be allocated before all is done for it (ZS1).
 *
 * Shadows come first. Nobody can put a folio there, as the slots are still
 * SWAP_HAS_CACHE; and whoever has called with interrupts disabled gets them
 * enabled by that, as on stock by its first slot, so that they are for the
 * rest, and for handles in bulk.
 */
static unsigned int take_batch(struct swap_info_struct *si,
			       swp_entry_t *entries, unsigned int nr)
{
	unsigned long low = ULONG_MAX, high = 0, offset;
	unsigned int i, freed = 0;

	clear_shadows_of(entries, nr);
	for (i = 0; i < nr; i++) {
		offset = swp_offset(entries[i]);
		if (unlikely(!take_slot(si, offset))) {
			/* It is there twice: complains of it. */
			_swap_info_get(entries[i]);
			continue;
		}

		/* Slots that lie anywhere are of any cgroup. */
		mem_cgroup_uncharge_swap(entries[i], 1);
		if (!lull_zfree_by(LULL_ZFREE_BY_ZEROMAP) ||
		    test_bit(offset, si->zeromap))
			clear_bit(offset, si->zeromap);
		arch_swap_invalidate_page(si->type, offset);
		low = min(low, offset);
		high = max(high, offset);
		entries[freed++] = entries[i];
	}
	swap_range_widen(si, low, high);
	return freed;
}

/* A disk that rotates has no clusters, nor has a file without a device. */
static void free_one_by_one(struct swap_info_struct *si,
			    const swp_entry_t *entries, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (_swap_info_get(entries[i]))
			swap_entry_range_free(si, entries[i], 1);
}

/* Is there such a slot? Whether it is to be freed is seen under si->lock. */
static bool is_slot_of(const struct swap_info_struct *si, swp_entry_t entry)
{
	return entry.val && swp_type(entry) == si->type &&
	       swp_offset(entry) < si->max;
}

/*
 * Slots that were freed one by one, as a CPU has gathered them: those of one
 * area together. False where the caller is to free them. The array is used up.
 */
static bool lull_swap_free_entries(swp_entry_t *entries, int n)
{
	struct swap_info_struct *si;
	unsigned int nr;
	int i, first;

	if (n < 2 || !lull_zfree_ranges() ||
	    !lull_zfree_by(LULL_ZFREE_BY_BATCH))
		return false;

	for (first = 0; first < n; first = i) {
		i = first + 1;
		si = _swap_info_get(entries[first]);
		if (!si)
			continue;
		while (i < n && i - first < LULL_ZFREE_BATCH &&
		       is_slot_of(si, entries[i]))
			i++;
		spin_lock(&si->lock);
		if (!si->cluster_info) {
			free_one_by_one(si, entries + first, i - first);
			spin_unlock(&si->lock);
			continue;
		}
		nr = take_batch(si, entries + first, i - first);
		if (lull_zfree_guarded(LULL_ZFREE_HOLD)) {
			lull_zfree_pause(LULL_ZFREE_AT_BATCH);
			notify_of(si, entries + first, nr);
		} else {
			spin_unlock(&si->lock);
			lull_zfree_pause(LULL_ZFREE_AT_BATCH);
			notify_of(si, entries + first, nr);
			spin_lock(&si->lock);
		}
		swap_range_settle(si, nr);
		spin_unlock(&si->lock);
		lull_zfree_count(LULL_ZFREE_BATCHES, 1);
		lull_zfree_count(LULL_ZFREE_BATCHED, nr);
	}
	return true;
}

#else /* !CONFIG_LULL_ZFREE */

static inline bool lull_swap_free_entries(swp_entry_t *entries, int n)
{
	return false;
}

#endif /* CONFIG_LULL_ZFREE */
