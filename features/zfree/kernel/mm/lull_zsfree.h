/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For mm/zsmalloc.c: freeing by the class in an object's location.
 *
 * Migration and compaction change where an object is under its class->lock, and
 * an object never changes its class. So the class is read without a lock, and
 * the rest of the location again under class->lock (ZS2).
 */

#ifdef CONFIG_LULL_ZFREE

/*
 * Under class->lock: take an empty zspage out of reach, so that its pages can
 * be freed when the lock is dropped (ZS3). Nobody finds it on a list, and who
 * came to one of its pages waits for the page's lock.
 */
static bool detach_zspage(struct zs_pool *pool, struct size_class *class,
			  struct zspage *zspage)
{
	if (!trylock_zspage(zspage) &&
	    lull_zfree_guarded(LULL_ZFREE_PAGE_LOCKS)) {
		kick_deferred_free(pool);
		return false;
	}
	remove_zspage(class, zspage);
	class_stat_sub(class, ZS_OBJS_ALLOCATED, class->objs_per_zspage);
	return true;
}

static void free_detached_zspage(struct zs_pool *pool, struct size_class *class,
				 struct zspage *zspage)
{
	free_zspage_pages(pool, zspage);
	atomic_long_sub(class->pages_per_zspage, &pool->pages_allocated);
}

/*
 * obj_free(), but it tells the zspage, which it had to find anyway. The zspage's
 * group is as yet what it was. Inlined, and so is the next: they are most of what
 * an object costs.
 */
static __always_inline struct zspage *put_obj(struct size_class *class, unsigned long obj)
{
	struct link_free *link;
	struct zspage *zspage;
	struct page *page;
	unsigned int nr;
	void *vaddr;

	obj_to_location(obj, &page, &nr);
	zspage = get_zspage(page);
	if (unlikely(zspage->huge)) {
		page->index = 0;
	} else {
		vaddr = kmap_local_page(page);
		link = vaddr + offset_in_page(class->size * nr);
		link->next = get_freeobj(zspage) << OBJ_TAG_BITS;
		kunmap_local(vaddr);
	}
	set_freeobj(zspage, nr);
	mod_zspage_inuse(zspage, -1);
	return zspage;
}

/* Put it into its new group; true where it is empty now, and the caller's. */
static __always_inline bool settle_zspage(struct zs_pool *pool,
					  struct size_class *class,
					  struct zspage *zspage)
{
	return fix_fullness_group(class, zspage) == ZS_INUSE_RATIO_0 &&
	       detach_zspage(pool, class, zspage);
}

static void zs_free_by_class(struct zs_pool *pool, unsigned long handle)
{
	unsigned long obj = handle_to_obj(handle);
	struct size_class *class = pool->size_class[obj_class_idx(obj)];
	struct zspage *zspage;
	bool emptied;

	lull_zfree_pause(LULL_ZFREE_AT_FREE);
	spin_lock(&class->lock);
	if (lull_zfree_guarded(LULL_ZFREE_REREAD))
		obj = handle_to_obj(handle);
	zspage = put_obj(class, obj);
	class_stat_sub(class, ZS_OBJS_INUSE, 1);
	emptied = settle_zspage(pool, class, zspage);
	spin_unlock(&class->lock);

	if (emptied)
		free_detached_zspage(pool, class, zspage);
	cache_free_handle(pool, handle);
}

/* The handles of a batch, chained by their class. */
struct runs {
	u8 head[ZS_SIZE_CLASSES];
	u8 next[LULL_ZFREE_BATCH];
	u16 classes[LULL_ZFREE_BATCH];
	unsigned int nr;
};

#define RUN_END U8_MAX
static_assert(LULL_ZFREE_BATCH <= RUN_END);

static void find_runs(struct runs *runs, const unsigned long *handles,
		      unsigned int nr)
{
	memset(runs->head, RUN_END, sizeof(runs->head));
	runs->nr = 0;
	/* Backwards, so that each chain is in the order of the handles. */
	while (nr--) {
		unsigned int idx = obj_class_idx(handle_to_obj(handles[nr]));

		if (runs->head[idx] == RUN_END)
			runs->classes[runs->nr++] = idx;
		runs->next[nr] = runs->head[idx];
		runs->head[idx] = nr;
	}
}

/* Free a chain of handles, all of @class. */
static void free_run(struct zs_pool *pool, struct size_class *class,
		     const unsigned long *handles, const struct runs *runs)
{
	struct zspage *zspage, *tmp, *last = NULL;
	unsigned int freed = 0, nr_emptied = 0, i;
	LIST_HEAD(emptied);

	spin_lock(&class->lock);
	for (i = runs->head[class->index]; i != RUN_END; i = runs->next[i]) {
		zspage = put_obj(class, handle_to_obj(handles[i]));
		/* Neighbours were often stored one after the other. */
		if (last && zspage != last && settle_zspage(pool, class, last))
			list_add(&last->list, &emptied);
		last = zspage;
		freed++;
	}
	if (settle_zspage(pool, class, last))
		list_add(&last->list, &emptied);
	class_stat_sub(class, ZS_OBJS_INUSE, freed);
	spin_unlock(&class->lock);

	list_for_each_entry_safe(zspage, tmp, &emptied, list) {
		free_detached_zspage(pool, class, zspage);
		nr_emptied++;
	}
	lull_zfree_count(LULL_ZFREE_ZSPAGES, nr_emptied);
}

/**
 * zs_free_bulk - free many handles
 * @pool: their pool
 * @handles: the handles; none is NULL, and the array is not kept
 * @nr: how many; at most LULL_ZFREE_BATCH
 *
 * One class->lock for all of a class. Context: atomic, with interrupts enabled.
 */
void zs_free_bulk(struct zs_pool *pool, unsigned long *handles, unsigned int nr)
{
	struct runs runs;
	unsigned int i;

	if (!nr)
		return;
	if (!OBJ_HAS_CLASS || WARN_ON_ONCE(nr > LULL_ZFREE_BATCH)) {
		for (i = 0; i < nr; i++)
			zs_free(pool, handles[i]);
		return;
	}
	find_runs(&runs, handles, nr);
	for (i = 0; i < runs.nr; i++)
		free_run(pool, pool->size_class[runs.classes[i]], handles,
			 &runs);
	kmem_cache_free_bulk(pool->handle_cachep, nr, (void **)handles);
	lull_zfree_count(LULL_ZFREE_RUNS, runs.nr);
	lull_zfree_count(LULL_ZFREE_HANDLES, nr);
}
EXPORT_SYMBOL_GPL(zs_free_bulk);

#else /* !CONFIG_LULL_ZFREE */

static inline void zs_free_by_class(struct zs_pool *pool, unsigned long handle)
{
}

#endif /* CONFIG_LULL_ZFREE */
