/* SPDX-License-Identifier: GPL-2.0-only */
#ifdef CONFIG_LULL_ZFREE
/*
 * For mm/swapfile.c: what has to be undone for each slot of a range that is
 * freed, done once for all of them. Under si->lock, as in swap_range_free(): the
 * slots cannot be allocated before it is done (ZS1).
 */

/*
 * The bits of a slot are written by its owner alone, which is us; the atomic
 * operation is for the other bits of its word. A word without any is common:
 * few pages are all zeroes.
 */
static void clear_zeromap(unsigned long *zeromap, unsigned long begin,
			  unsigned long end)
{
	if (!lull_zfree_by(LULL_ZFREE_BY_ZEROMAP)) {
		for (; begin <= end; begin++)
			clear_bit(begin, zeromap);
		return;
	}
	for_each_set_bit_from(begin, zeromap, end + 1)
		clear_bit(begin, zeromap);
}

/*
 * Clear the values in the node that @xas is in, from there to @last, and leave
 * the last of them to xas_store(): it tells the shadow LRU and frees the node.
 */
static void clear_node_values(struct xa_state *xas, unsigned long last)
{
	struct xa_node *node = xas->xa_node;
	unsigned int final = xas->xa_offset, cleared = 0, i;
	unsigned int end = min_t(unsigned long, XA_CHUNK_MASK,
				 final + (last - xas->xa_index));

	for (i = final + 1; i <= end; i++) {
		if (!xa_is_value(xa_entry_locked(xas->xa, node, i)))
			continue;
		/* Readers under RCU find the shadow, or none: both are true. */
		RCU_INIT_POINTER(node->slots[final], NULL);
		cleared++;
		final = i;
	}
	node->count -= cleared;
	node->nr_values -= cleared;
	xas->xa_index += final - xas->xa_offset;
	xas->xa_offset = final;
	xas_store(xas, NULL);
}

static void clear_shadows(unsigned int type, unsigned long begin,
			  unsigned long end)
{
	struct address_space *space = swap_address_space(swp_entry(type, begin));
	unsigned long last = end & SWAP_ADDRESS_SPACE_MASK;
	XA_STATE(xas, &space->i_pages, begin & SWAP_ADDRESS_SPACE_MASK);
	void *old;

	xas_set_update(&xas, workingset_update_node);
	xa_lock_irq(&space->i_pages);
	xas_for_each(&xas, old, last) {
		if (!xa_is_value(old))
			continue;
		if (xas.xa_node && !xas.xa_node->shift &&
		    lull_zfree_by(LULL_ZFREE_BY_SHADOWS))
			clear_node_values(&xas, last);
		else
			xas_store(&xas, NULL);
	}
	xa_unlock_irq(&space->i_pages);
}

static void lull_swap_range_free(struct swap_info_struct *si,
				 unsigned long begin, unsigned int nr)
{
	const struct block_device_operations *fops = NULL;
	unsigned long end = begin + nr - 1, i;

	if (si->flags & SWP_BLKDEV)
		fops = si->bdev->bd_disk->fops;

	clear_zeromap(si->zeromap, begin, end);
	for (i = begin; i <= end; i++)
		arch_swap_invalidate_page(si->type, i);
	if (fops && fops->swap_slots_free_notify &&
	    lull_zfree_by(LULL_ZFREE_BY_SLOTS)) {
		fops->swap_slots_free_notify(si->bdev, begin, nr);
	} else if (fops && fops->swap_slot_free_notify) {
		for (i = begin; i <= end; i++)
			fops->swap_slot_free_notify(si->bdev, i);
	}

	/* A range is inside one cluster, and that inside one address space. */
	clear_shadows(si->type, begin, end);
	lull_zfree_count(LULL_ZFREE_RANGES, 1);
	lull_zfree_count(LULL_ZFREE_SLOTS, nr);
}

#else /* !CONFIG_LULL_ZFREE */

static inline void lull_swap_range_free(struct swap_info_struct *si,
					unsigned long begin, unsigned int nr)
{
}

#endif /* CONFIG_LULL_ZFREE */
