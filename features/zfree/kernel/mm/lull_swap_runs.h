/* SPDX-License-Identifier: GPL-2.0-only */
/* For mm/swapfile.c, before free_swap_and_cache_nr(). */
#ifdef CONFIG_LULL_ZFREE

/*
 * On cgroup v1 a slot's cgroup is written down when its folio leaves the swap
 * cache, which may be while the piece before is freed: what was a run when the
 * page table was read may be of several cgroups by then.
 */
#ifdef CONFIG_MEMCG
#define LULL_SWAP_IDS_STAY	cgroup_subsys_on_dfl(memory_cgrp_subsys)
#else
#define LULL_SWAP_IDS_STAY	true
#endif

/* A run that crosses into another cluster. */
static inline bool lull_swap_is_cut(swp_entry_t entry, int nr)
{
	return lull_zfree_ranges() && lull_zfree_by(LULL_ZFREE_BY_CLUSTERS) &&
	       nr > SWAPFILE_CLUSTER - swp_offset(entry) % SWAPFILE_CLUSTER &&
	       LULL_SWAP_IDS_STAY;
}

/*
 * It is not for stock's quick way, which would free all of it slot by slot: go
 * cluster by cluster, with pieces that cross nowhere and do not come here again.
 * No lock is held from one to the next, as between two runs: the slots of the
 * rest are still ours, and of the cgroup that they were read with.
 */
static noinline void lull_swap_free_pieces(swp_entry_t entry, int nr)
{
	unsigned long offset = swp_offset(entry), end = offset + nr, next;
	unsigned int type = swp_type(entry);

	lull_zfree_count(LULL_ZFREE_CUTS, (end - 1) / SWAPFILE_CLUSTER -
					  offset / SWAPFILE_CLUSTER);
	for (; offset < end; offset = next) {
		next = min(end, ALIGN(offset + 1, SWAPFILE_CLUSTER));
		free_swap_and_cache_nr(swp_entry(type, offset), next - offset);
		if (!lull_zfree_guarded(LULL_ZFREE_PIECES) && next < end)
			free_swap_and_cache_nr(swp_entry(type, next - 1), 1);
	}
}

#else /* !CONFIG_LULL_ZFREE */

static inline bool lull_swap_is_cut(swp_entry_t entry, int nr)
{
	return false;
}

static inline void lull_swap_free_pieces(swp_entry_t entry, int nr) { }

#endif /* CONFIG_LULL_ZFREE */
