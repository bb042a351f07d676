/* SPDX-License-Identifier: GPL-2.0-only */
/* For mm/zswap.c: swap frees many slots in a row. */

/* Erase the entries of the range under one lock, and free them after it. */
static void invalidate_at_once(struct xarray *tree, pgoff_t first, pgoff_t last)
{
	struct zswap_entry *entries[LULL_ZFREE_BATCH];
	struct zswap_entry *entry;
	XA_STATE(xas, tree, first);
	unsigned long index = first;
	unsigned int nr, i;

	do {
		nr = 0;
		xas_lock(&xas);
		xas_for_each(&xas, entry, last) {
			entries[nr++] = entry;
			index = xas.xa_index;
			xas_store(&xas, NULL);
			if (nr == LULL_ZFREE_BATCH)
				break;
		}
		xas_unlock(&xas);
		/*
		 * Not xas_pause(): where the store has freed the node, it would
		 * step over all that the parent's next slot has.
		 */
		xas_set(&xas, index + 1);
		for (i = 0; i < nr; i++)
			zswap_entry_free(entries[i]);
	} while (nr == LULL_ZFREE_BATCH);
}

/**
 * zswap_invalidate_range - drop what zswap holds for slots that are freed
 * @swp: the first slot
 * @nr: how many; all in one cluster, and so in one tree
 */
void zswap_invalidate_range(swp_entry_t swp, unsigned int nr)
{
	pgoff_t offset = swp_offset(swp);
	unsigned int i;

	if (!lull_zfree_ranges()) {
		for (i = 0; i < nr; i++)
			zswap_invalidate(swp_entry(swp_type(swp), offset + i));
		return;
	}
	/*
	 * An entry of ours was stored before its slot got to us, so that an
	 * empty tree has none, whatever others store meanwhile.
	 */
	if (!xa_empty(swap_zswap_tree(swp)))
		invalidate_at_once(swap_zswap_tree(swp), offset,
				   offset + nr - 1);
}
