/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For mm/zsmalloc.c: the mode "deferred", in which zs_free() puts a handle into
 * a ring of its CPU, and a worker frees it.
 *
 * A ring has one producer, the tasks of its CPU with preemption off, and one
 * drainer at a time, whoever holds drain_lock. Each writes an index of its own
 * and reads the other's; the barriers are commented where they are, and
 * the feature's litmus tests have both directions.
 *
 * The worker is called once for many handles: armed says that it will come. It
 * comes again until it has found nothing, and then goes to rest in a way that
 * misses nobody (deferred_work()).
 */

#ifdef CONFIG_LULL_ZFREE

#define DEFERRED_SIZE	8192U	/* handles in a ring; a power of two */
#define DEFERRED_MS	10	/* how long a handle may wait for company */
#define DEFERRED_RETRY_MS 1000	/* until memory for a ring is asked for again */

struct deferred_ring {
	/* NULL until the worker has made it, because it was wanted. */
	unsigned long *handles;
	bool wanted;
	/* Both only grow; what they differ by is what is queued. */
	unsigned int head;				/* of the producer */
	unsigned int tail ____cacheline_aligned_in_smp;	/* of the drainer */
};

struct zs_deferred {
	struct zs_pool *pool;
	struct deferred_ring __percpu *rings;
	struct delayed_work work;
	/* Not a bool: not all machines exchange single bytes. */
	int armed;
	/* The grace period that begins when armed is cleared. */
	unsigned long cleared;
	/* A ring was made: until then nothing can wait here. */
	bool used;
	/* One drainer at a time; also while it frees what it took. */
	spinlock_t drain_lock;
	struct list_head all;
};

/* Once any ring was made: until then nothing can wait anywhere. */
static bool deferred_used;
static LIST_HEAD(deferred_all);
/* Whoever reclaims memory may take it: nothing is allocated under it. */
static DEFINE_MUTEX(deferred_all_lock);

static void kick_worker(struct zs_deferred *d, bool soon)
{
	unsigned int ms = lull_zfree_delay_ms(soon ? 0 : DEFERRED_MS);

	if (!xchg(&d->armed, 1))
		queue_delayed_work(lull_zfree_wq, &d->work, msecs_to_jiffies(ms));
	else if (soon)
		mod_delayed_work(lull_zfree_wq, &d->work, msecs_to_jiffies(ms));
	else
		return;
	lull_zfree_count(LULL_ZFREE_KICKS, 1);
}

/* Leave @handle to the worker; where that cannot be, the caller frees it. */
static bool zs_defer(struct zs_pool *pool, unsigned long handle)
{
	struct zs_deferred *d = pool->deferred;
	unsigned long *handles;
	struct deferred_ring *ring;
	unsigned int queued = 0;
	bool ret = false;

	/* An interrupt would be a second producer. */
	if (!d || !in_task())
		return false;

	preempt_disable();
	ring = this_cpu_ptr(d->rings);
	/* Pairs with the release in make_rings(). */
	handles = smp_load_acquire(&ring->handles);
	if (unlikely(!handles)) {
		WRITE_ONCE(ring->wanted, true);
	} else {
		/*
		 * Pairs with the release in drain_batch(): what was in a place
		 * has been read before something else is put there.
		 */
		queued = ring->head - smp_load_acquire(&ring->tail);
		ret = queued < DEFERRED_SIZE;
	}
	if (ret) {
		unsigned int head = ring->head;

		if (!lull_zfree_guarded(LULL_ZFREE_PUBLISH)) {
			/* Too early: what the test of ZS7 has to notice. */
			smp_store_release(&ring->head, head + 1);
			lull_zfree_pause(LULL_ZFREE_AT_PUBLISH);
		}
		handles[head % DEFERRED_SIZE] = handle;
		/* Pairs with the acquire in drain_batch(). */
		smp_store_release(&ring->head, head + 1);
	}
	/*
	 * After the store of head, and with preemption off for both: see
	 * deferred_work(). Half full is seen once on the way up.
	 */
	if (!READ_ONCE(d->armed) || queued == DEFERRED_SIZE / 2)
		kick_worker(d, !handles || queued >= DEFERRED_SIZE / 2);
	preempt_enable();

	lull_zfree_count(ret ? LULL_ZFREE_QUEUED : LULL_ZFREE_FULL, 1);
	return ret;
}

/* Free what is queued up to @end, at most a batch; 0 when there is nothing. */
static unsigned int drain_batch(struct zs_deferred *d, struct deferred_ring *ring,
				unsigned int end)
{
	unsigned long batch[LULL_ZFREE_BATCH];
	unsigned int tail, nr, i;

	/* Held while they are freed: who finds a ring empty finds them gone. */
	spin_lock(&d->drain_lock);
	tail = ring->tail;
	/* Signed: another drainer may have been past @end. */
	nr = clamp((int)(end - tail), 0, LULL_ZFREE_BATCH);
	for (i = 0; i < nr; i++)
		batch[i] = ring->handles[(tail + i) % DEFERRED_SIZE];
	/* Pairs with the acquire of tail in zs_defer(). */
	smp_store_release(&ring->tail, tail + nr);
	zs_free_bulk(d->pool, batch, nr);
	spin_unlock(&d->drain_lock);
	return nr;
}

/* Free all that was queued when this began. */
static unsigned long drain_rings(struct zs_deferred *d)
{
	unsigned long drained = 0;
	unsigned int nr;
	int cpu;

	/* Handles do not leave with their CPU. */
	for_each_possible_cpu(cpu) {
		struct deferred_ring *ring = per_cpu_ptr(d->rings, cpu);
		/* Pairs with the release in zs_defer(). */
		unsigned int end = smp_load_acquire(&ring->head);

		if (!cpu_online(cpu) && !lull_zfree_guarded(LULL_ZFREE_POSSIBLE))
			continue;
		while ((nr = drain_batch(d, ring, end))) {
			drained += nr;
			cond_resched();
		}
	}
	lull_zfree_count(LULL_ZFREE_DRAINED, drained);
	return drained;
}

static unsigned long nr_deferred(struct zs_deferred *d)
{
	unsigned long nr = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct deferred_ring *ring = per_cpu_ptr(d->rings, cpu);

		/* tail first, so that it is not the larger one. */
		unsigned int tail = smp_load_acquire(&ring->tail);

		nr += READ_ONCE(ring->head) - tail;
	}
	return nr;
}

/* For the CPUs that want one; false where memory was short. */
static bool make_rings(struct zs_deferred *d)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct deferred_ring *ring = per_cpu_ptr(d->rings, cpu);
		unsigned long *handles;

		if (ring->handles || !READ_ONCE(ring->wanted))
			continue;
		if (!lull_zfree_guarded(LULL_ZFREE_RINGS))
			return false;
		handles = kvmalloc_array(DEFERRED_SIZE, sizeof(*handles),
					 GFP_KERNEL | __GFP_NOWARN);
		if (!handles)
			return false;
		WRITE_ONCE(d->used, true);
		WRITE_ONCE(deferred_used, true);
		/* Pairs with the acquire in zs_defer(): all of it, or NULL. */
		smp_store_release(&ring->handles, handles);
	}
	return true;
}

static void run_again(struct zs_deferred *d, unsigned int ms)
{
	queue_delayed_work(lull_zfree_wq, &d->work, msecs_to_jiffies(ms));
}

/*
 * To rest without a handle left behind: clear armed, and look once more when a
 * grace period is over. Whoever was between its store of head and its look at
 * armed has preemption off, so that the grace period has waited for it, and its
 * handle is found. Whoever comes later finds armed cleared, and calls.
 *
 * The grace period is asked for and not waited for: it may take as long as a CPU
 * is busy in the kernel, and a ring is full sooner.
 */
static void deferred_work(struct work_struct *work)
{
	struct zs_deferred *d = container_of(to_delayed_work(work),
					     struct zs_deferred, work);
	/* Before memory is asked for, which may take its time. */
	unsigned long drained = drain_rings(d);
	bool lacking = lull_zfree_deferred() && !make_rings(d);
	unsigned int usual = lull_zfree_delay_ms(DEFERRED_MS);

	if (drained) {
		WRITE_ONCE(d->armed, 1);
		run_again(d, usual);
	} else if (lacking) {
		run_again(d, DEFERRED_RETRY_MS);
	} else if (READ_ONCE(d->armed)) {
		WRITE_ONCE(d->armed, 0);
		d->cleared = start_poll_synchronize_rcu();
		run_again(d, usual);
	} else if (!poll_state_synchronize_rcu(d->cleared)) {
		run_again(d, usual);
	} else if (nr_deferred(d)) {
		run_again(d, 0);
	}
}

/*
 * The mode is another, the worker will not come again, or only to look once more, and the
 * rings are empty. What was in them then may have been taken out just now, and not be free
 * yet: nothing but a lock would tell.
 */
static bool is_at_rest(struct zs_deferred *d)
{
	return !lull_zfree_deferred() && !READ_ONCE(d->armed) && !nr_deferred(d);
}

/*
 * Whether there may have been anything. It takes drain_lock for each ring: what others
 * have taken out is gone then, too.
 */
static bool flush_pool(struct zs_deferred *d)
{
	if (!READ_ONCE(d->used) || is_at_rest(d))
		return false;
	lull_zfree_count(LULL_ZFREE_FLUSHES, 1);
	drain_rings(d);
	return true;
}

/**
 * zs_flush_deferred - free what zs_free() has left to the worker
 * @pool: of this pool; NULL: of all pools
 *
 * What is queued meanwhile may remain. Context: process; may sleep.
 *
 * Return: false where the mode is another, and nothing is left from this one. Else who had
 * counted what pools hold has to count again, for it may be gone since then, by others or
 * now.
 */
bool zs_flush_deferred(struct zs_pool *pool)
{
	struct zs_deferred *d;
	bool ret = false;

	if (pool)
		return pool->deferred && flush_pool(pool->deferred);

	if (!READ_ONCE(deferred_used))
		return false;
	mutex_lock(&deferred_all_lock);
	list_for_each_entry(d, &deferred_all, all)
		ret |= flush_pool(d);
	mutex_unlock(&deferred_all_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(zs_flush_deferred);

/* A pool can do without: then everything is freed at once. */
static void init_deferred(struct zs_pool *pool)
{
	struct zs_deferred *d;

	if (!OBJ_HAS_CLASS || !lull_zfree_wq)
		return;
	d = kzalloc(sizeof(*d), GFP_KERNEL);
	if (!d)
		return;
	d->rings = alloc_percpu(struct deferred_ring);
	if (!d->rings) {
		kfree(d);
		return;
	}
	d->pool = pool;
	INIT_DELAYED_WORK(&d->work, deferred_work);
	spin_lock_init(&d->drain_lock);
	mutex_lock(&deferred_all_lock);
	list_add(&d->all, &deferred_all);
	mutex_unlock(&deferred_all_lock);
	pool->deferred = d;
}

/* Nobody frees to the pool any more, so that nobody calls the worker. */
static void destroy_deferred(struct zs_pool *pool)
{
	struct zs_deferred *d = pool->deferred;
	int cpu;

	if (!d)
		return;
	mutex_lock(&deferred_all_lock);
	list_del(&d->all);
	mutex_unlock(&deferred_all_lock);
	cancel_delayed_work_sync(&d->work);
	if (lull_zfree_guarded(LULL_ZFREE_DESTROY))
		drain_rings(d);
	for_each_possible_cpu(cpu)
		kvfree(per_cpu_ptr(d->rings, cpu)->handles);
	free_percpu(d->rings);
	kfree(d);
	pool->deferred = NULL;
}

/* For the pool's shrinker: objects, of which it takes some to make a page. */
static unsigned long count_deferred(struct zs_pool *pool)
{
	struct zs_deferred *d = pool->deferred;

	if (!d || !READ_ONCE(d->armed) ||
	    !lull_zfree_guarded(LULL_ZFREE_PRESSURE))
		return 0;
	return nr_deferred(d);
}

/* Memory is short: returns the pages that this gave back, about. */
static unsigned long shrink_deferred(struct zs_pool *pool)
{
	unsigned long before = zs_get_total_pages(pool), after;

	if (!count_deferred(pool))
		return 0;
	drain_rings(pool->deferred);
	after = zs_get_total_pages(pool);
	return before > after ? before - after : 0;
}

#else /* !CONFIG_LULL_ZFREE */

static inline bool zs_defer(struct zs_pool *pool, unsigned long handle)
{
	return false;
}

static inline void init_deferred(struct zs_pool *pool) { }
static inline void destroy_deferred(struct zs_pool *pool) { }
static inline unsigned long count_deferred(struct zs_pool *pool) { return 0; }
static inline unsigned long shrink_deferred(struct zs_pool *pool) { return 0; }

#endif /* CONFIG_LULL_ZFREE */
