/* SPDX-License-Identifier: GPL-2.0-only */
/* For mm/zswap.c: swap frees many slots in a row. */

/*
 * What zswap_entry_free() settles for each entry, for @nr of them: all of one
 * pool and of one objcg.
 */
static void settle_entries(struct zswap_pool *pool, struct obj_cgroup *objcg,
			   size_t length, unsigned int nr)
{
	percpu_ref_put_many(&pool->ref, nr);
#ifdef CONFIG_MEMCG
	if (!objcg)
		return;
	if (cgroup_subsys_on_dfl(memory_cgrp_subsys)) {
		struct mem_cgroup *memcg;

		obj_cgroup_uncharge(objcg, length);
		rcu_read_lock();
		memcg = obj_cgroup_memcg(objcg);
		mod_memcg_state(memcg, MEMCG_ZSWAP_B, -length);
		mod_memcg_state(memcg, MEMCG_ZSWAPPED, -nr);
		rcu_read_unlock();
	}
	percpu_ref_put_many(&objcg->refcnt, nr);
#endif
}

/* Entries that are in no tree any more. */
static void free_entries(struct zswap_entry **entries, unsigned int nr)
{
	unsigned long handles[LULL_ZFREE_BATCH];
	unsigned int i, first;

	for (first = 0; first < nr; first = i) {
		struct zswap_pool *pool = entries[first]->pool;
		struct obj_cgroup *objcg = entries[first]->objcg;
		size_t length = 0;

		for (i = first; i < nr && entries[i]->pool == pool &&
		     entries[i]->objcg == objcg; i++) {
			zswap_lru_del(&zswap_list_lru, entries[i]);
			handles[i - first] = entries[i]->handle;
			length += entries[i]->length;
		}
		if (lull_zfree_in_bulk()) {
			zpool_free_bulk(pool->zpool, handles, i - first);
		} else {
			for (unsigned int k = 0; k < i - first; k++)
				zpool_free(pool->zpool, handles[k]);
		}
		settle_entries(pool, objcg, length, i - first);
	}
	kmem_cache_free_bulk(zswap_entry_cache, nr, (void **)entries);
	atomic_sub(nr, &zswap_stored_pages);
}

/* Erase the entries of the range under one lock, and free them after it. */
static void invalidate_at_once(struct xarray *tree, pgoff_t first, pgoff_t last)
{
	struct zswap_entry *entries[LULL_ZFREE_BATCH];
	struct zswap_entry *entry;
	XA_STATE(xas, tree, first);
	unsigned long index = first;
	unsigned int nr;

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
		if (nr)
			free_entries(entries, nr);
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

	if (!lull_zfree_ranges() || !lull_zfree_by(LULL_ZFREE_BY_ZSWAP)) {
		for (i = 0; i < nr; i++)
			zswap_invalidate(swp_entry(swp_type(swp), offset + i));
		return;
	}
	/*
	 * An entry of ours was stored before its slot got to us, so that an
	 * empty tree has none, whatever others store meanwhile.
	 */
	if (!data_race(xa_empty(swap_zswap_tree(swp))))
		invalidate_at_once(swap_zswap_tree(swp), offset,
				   offset + nr - 1);
}
