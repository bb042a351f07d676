// SPDX-License-Identifier: GPL-2.0-only
/*
 * The walks of the mode "lull": who has to be looked at, and what proves
 * that everybody rests. The argument is in the feature's README.
 */
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/sched/debug.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "internal.h"

/* Room to start with, at most: one allocation of 64 KiB. */
#define FREEZE_ROOM 8192U
/* Tasks that may come between counting them and walking them. */
#define FREEZE_SLACK 64U

static unsigned long thaws_now(void)
{
	unsigned long thaws;

	spin_lock_irq(&freezer_lock);
	thaws = lull_freeze_thaws;
	spin_unlock_irq(&freezer_lock);
	return thaws;
}

static void drop_pending(struct freeze_session *s)
{
	while (s->nr)
		put_task_struct(s->pending[--s->nr]);
}

/**
 * freeze_make_room - get the array of pending tasks, before anyone is frozen
 * @s: the session
 *
 * No room, for want of memory, means full walks and nothing worse. Nobody is
 * frozen, but file systems may be, which only this task will thaw: no I/O.
 */
void freeze_make_room(struct freeze_session *s)
{
	s->room = min(FREEZE_ROOM, READ_ONCE(nr_threads) + FREEZE_SLACK);
	s->pending = kvmalloc_array(s->room, sizeof(*s->pending),
				    GFP_NOIO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	if (!s->pending)
		s->room = 0;
}

/* More live tasks than room: try to have enough for the next walk. */
static void grow_room(struct freeze_session *s)
{
	unsigned int room = READ_ONCE(nr_threads) + FREEZE_ROOM;
	struct task_struct **more;

	if (room <= s->room)
		return;
	/*
	 * A frozen server of a file system would never finish our I/O, and an
	 * allocator that does not give up would never look at the timeout.
	 */
	more = kvmalloc_array(room, sizeof(*more),
			      GFP_NOIO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	if (!more)
		return;
	if (s->nr)
		memcpy(more, s->pending, s->nr * sizeof(*more));
	kvfree(s->pending);
	s->pending = more;
	s->room = room;
}

/**
 * freeze_release - drop what a session holds
 * @s: the session
 */
void freeze_release(struct freeze_session *s)
{
	drop_pending(s);
	kvfree(s->pending);
	s->pending = NULL;
	s->room = 0;
}

/*
 * A task that rests stays at rest until somebody thaws it, which
 * lull_freeze_thaws shows. freezing() has to be looked at as well: a task
 * whose request was withdrawn may be TASK_FROZEN on its way out.
 */
static bool at_rest(struct task_struct *p)
{
	return freezing(p) && frozen(p);
}

/*
 * Reaped between exit_notify() and TASK_DEAD, by itself or by its parent: it
 * still runs, and nobody finds it who has no reference (FZ1).
 */
static bool unlisted(struct task_struct *p)
{
	return !pid_alive(p) && READ_ONCE(p->__state) != TASK_DEAD;
}

static unsigned int visit_unlisted(struct freeze_session *s)
{
	unsigned int i, todo = 0;

	for (i = 0; i < s->nr; i++)
		if (unlisted(s->pending[i]))
			todo += freeze_task(s->pending[i]);
	return todo;
}

/*
 * Before a walk over all, which finds the others again. Under tasklist_lock,
 * so that none of these leaves the list in between.
 */
static void keep_unlisted(struct freeze_session *s)
{
	unsigned int i, keep = 0;

	for (i = 0; i < s->nr; i++) {
		struct task_struct *p = s->pending[i];

		if (unlisted(p) && lull_freeze_guarded(LULL_FREEZE_UNLISTED))
			s->pending[keep++] = p;
		else
			put_task_struct(p);
	}
	s->nr = keep;
}

/**
 * freeze_show_unlisted - say who refuses and is on no list
 * @s: the session
 */
void freeze_show_unlisted(struct freeze_session *s)
{
	unsigned int i;

	for (i = 0; i < s->nr; i++)
		if (unlisted(s->pending[i]))
			sched_show_task(s->pending[i]);
}

static void keep_pending(struct freeze_session *s, struct task_struct *p)
{
	/* Nor who is dead, whether that is looked at first or not. */
	if (!lull_freeze_by(LULL_FREEZE_BY_ARRAY) ||
	    (!lull_freeze_by(LULL_FREEZE_BY_DEAD) &&
	     READ_ONCE(p->__state) == TASK_DEAD))
		return;
	if (s->nr == s->room) {
		s->overflow = true;
		return;
	}
	get_task_struct(p);
	s->pending[s->nr++] = p;
}

/* Returns 1 where the task has to be waited for. */
static unsigned int visit_user(struct freeze_session *s, struct task_struct *p)
{
	bool todo;

	/*
	 * Terminal: such a task never runs again (FZ2). freeze_task() asks nobody
	 * who is dead, either, at the price of its lock.
	 */
	if (lull_freeze_by(LULL_FREEZE_BY_DEAD) &&
	    READ_ONCE(p->__state) == TASK_DEAD)
		return 0;
	/* Their time is the kernel phase. The flag never changes. */
	if (p == current || (p->flags & PF_KTHREAD))
		return 0;

	todo = freeze_task(p);
	/*
	 * Not asked to freeze is no state to rely on: helpers of user mode on
	 * their way to exec and victims of the OOM killer change it. They are
	 * looked at again for as long as others are.
	 */
	if (todo || (!at_rest(p) && lull_freeze_guarded(LULL_FREEZE_WATCH)))
		keep_pending(s, p);
	return todo;
}

static unsigned int visit_dead_users_too(struct freeze_session *s)
{
	struct task_struct *g, *p;
	unsigned int todo = 0;
	unsigned int visited = 0;

	for_each_process_thread(g, p) {
		visited++;
		todo += visit_user(s, p);
	}

	freeze_count(FREEZE_WALKS, 1);
	freeze_count(FREEZE_VISITED, visited);
	return todo;
}

/* Not inlined: the loop over all processes is of little but zombies then. */
static noinline unsigned int visit_group(struct freeze_session *s, struct task_struct *g,
					 unsigned int *live)
{
	struct task_struct *p;
	unsigned int todo = 0;

	for_each_thread(g, p) {
		(*live)++;
		todo += visit_user(s, p);
	}
	return todo;
}

/*
 * The caller holds tasklist_lock or is in an RCU read-side section; in the
 * latter case the snapshot was taken before, so that a task which the walk
 * can miss has changed total_forks by the time it is compared.
 */
static unsigned int visit_all_users(struct freeze_session *s)
{
	struct task_struct *g;
	unsigned int todo = 0;
	unsigned int live = 0, dead = 0;

	/* Not in the loop: a zombie is cheaper than to ask for each. */
	if (!lull_freeze_by(LULL_FREEZE_BY_DEAD))
		return visit_dead_users_too(s);

	for_each_process(g) {
		/*
		 * The common zombie, at the price of four words of its own.
		 * A dead leader with live threads takes the long way (FZ3).
		 */
		if (READ_ONCE(g->__state) == TASK_DEAD &&
		    (thread_group_empty(g) ||
		     !lull_freeze_guarded(LULL_FREEZE_THREADS)))
			dead++;
		else
			todo += visit_group(s, g, &live);
	}

	freeze_count(FREEZE_WALKS, 1);
	freeze_count(FREEZE_VISITED, live + dead);
	return todo;
}

/*
 * Before a walk over all. Taking freezer_lock after pm_freezing was set orders
 * the walk against __refrigerator(): a task that found no request under that
 * lock has left TASK_FROZEN before it released it (FZ7), one that comes later
 * finds the request. From here on TASK_FROZEN can be believed.
 */
static void start_walk(struct freeze_session *s)
{
	if (s->overflow)
		grow_room(s);
	s->overflow = false;
	s->thaws = thaws_now();
	/*
	 * pm_freezing before flags: pairs with the barrier in
	 * __lull_freeze_exec(), so that a task whose PF_NOFREEZE is seen here
	 * sees pm_freezing there.
	 */
	smp_mb();
}

/* The first walk: forks go on meanwhile, and total_forks tells. */
static unsigned int walk_users(struct freeze_session *s)
{
	unsigned int todo;

	start_walk(s);

	/* Whoever is counted is on the list: both happen under the lock. */
	read_lock(&tasklist_lock);
	s->forks = total_forks;
	read_unlock(&tasklist_lock);

	rcu_read_lock();
	todo = visit_all_users(s);
	rcu_read_unlock();

	s->walked = true;
	return todo;
}

/* Stock's walk: the list holds still, so finding nobody is a proof. */
static unsigned int walk_users_locked(struct freeze_session *s)
{
	unsigned int todo;

	start_walk(s);

	read_lock(&tasklist_lock);
	s->forks = total_forks;
	keep_unlisted(s);
	todo = visit_unlisted(s);
	todo += visit_all_users(s);
	read_unlock(&tasklist_lock);

	return todo;
}

/* Look again at those that were not at rest, and forget those that are. */
static unsigned int walk_pending(struct freeze_session *s)
{
	unsigned int i, keep = 0, todo = 0;

	freeze_count(FREEZE_PARTIAL, 1);
	freeze_count(FREEZE_VISITED, s->nr);

	for (i = 0; i < s->nr; i++) {
		struct task_struct *p = s->pending[i];

		if (READ_ONCE(p->__state) != TASK_DEAD) {
			if (freeze_task(p)) {
				todo++;
				s->pending[keep++] = p;
				continue;
			}
			if (!at_rest(p)) {
				s->pending[keep++] = p;
				continue;
			}
		}
		put_task_struct(p);
	}
	s->nr = keep;
	return todo;
}

/* Under tasklist_lock. */
static bool nobody_new(struct freeze_session *s)
{
	if (s->forks == total_forks || !lull_freeze_guarded(LULL_FREEZE_FORKS))
		return true;
	freeze_count(FREEZE_FULL_FORKS, 1);
	return false;
}

static bool nobody_thawed(struct freeze_session *s)
{
	if (s->thaws == thaws_now() || !lull_freeze_guarded(LULL_FREEZE_THAWS))
		return true;
	freeze_count(FREEZE_FULL_THAWS, 1);
	return false;
}

/*
 * Under tasklist_lock: the array vouches for those that are not in it, or what
 * speaks against that is counted.
 */
static bool array_holds(struct freeze_session *s)
{
	if (s->overflow) {
		freeze_count(FREEZE_FULL_ROOM, 1);
		return false;
	}
	return nobody_new(s) && nobody_thawed(s);
}

static bool array_holds_now(struct freeze_session *s)
{
	bool holds;

	read_lock(&tasklist_lock);
	holds = array_holds(s);
	read_unlock(&tasklist_lock);
	return holds;
}

/**
 * freeze_user_pass - bring user tasks closer to rest
 * @s: the session
 *
 * Zero is a proof: every task that existed when total_forks was read was seen
 * dead or at rest, or is in the array and not to be waited for just now; none
 * came since, and none of them was thawed since (FZ6).
 *
 * Return: how many tasks are still to be waited for.
 */
unsigned int freeze_user_pass(struct freeze_session *s)
{
	unsigned int todo;

	freeze_arrivals_reset();

	/* Stock's proof: a walk that finds nobody while the list holds still. */
	if (!lull_freeze_by(LULL_FREEZE_BY_ARRAY))
		return walk_users_locked(s);

	if (!s->walked)
		todo = walk_users(s);
	else if (array_holds_now(s))
		todo = walk_pending(s);
	else
		return walk_users_locked(s);

	if (!lull_freeze_guarded(LULL_FREEZE_REVISIT))
		return 0;
	if (!todo && !array_holds_now(s))
		todo = walk_users_locked(s);
	return todo;
}

/* Returns 1 where the task, of either kind, has to be waited for. */
static unsigned int visit_any(struct task_struct *p)
{
	if (p == current || (lull_freeze_by(LULL_FREEZE_BY_DEAD) &&
			     READ_ONCE(p->__state) == TASK_DEAD))
		return 0;
	return freeze_task(p);
}

/*
 * Helpers of user mode are children of kthreadd, too: as everybody of their
 * kind they are at rest, or in the array, where they are counted already.
 */
static unsigned int visit_kthreads(void)
{
	struct task_struct *p;
	unsigned int todo = 0;
	unsigned int visited = 0;

	list_for_each_entry(p, &kthreadd_task->children, sibling) {
		visited++;
		if (p->flags & PF_KTHREAD)
			todo += visit_any(p);
	}

	freeze_count(FREEZE_PARTIAL, 1);
	freeze_count(FREEZE_VISITED, visited);
	return todo;
}

static unsigned int visit_everybody(void)
{
	struct task_struct *g, *p;
	unsigned int todo = 0;
	unsigned int visited = 0;

	for_each_process_thread(g, p) {
		visited++;
		todo += visit_any(p);
	}

	freeze_count(FREEZE_WALKS, 1);
	freeze_count(FREEZE_VISITED, visited);
	return todo;
}

/* What the array does not vouch for, only a walk over everybody does. */
static bool kthreads_suffice(void)
{
	return lull_freeze_by(LULL_FREEZE_BY_KTHREADS) &&
	       lull_freeze_by(LULL_FREEZE_BY_ARRAY);
}

/**
 * freeze_kernel_pass - bring freezable kthreads closer to rest
 * @s: the session
 *
 * Every kthread is a child of kthreadd and stays one. Of the other tasks,
 * while none was created or thawed since the user phase, those in the array
 * alone can have moved: a helper of user mode comes to its program, a victim
 * of the OOM killer becomes freezable when it gave up its memory, and then does
 * I/O until it is dead.
 *
 * Return: how many tasks are still to be waited for.
 */
unsigned int freeze_kernel_pass(struct freeze_session *s)
{
	unsigned int todo;

	freeze_arrivals_reset();

	if (!kthreads_suffice()) {
		read_lock(&tasklist_lock);
		todo = visit_everybody() + visit_unlisted(s);
		read_unlock(&tasklist_lock);
		return todo;
	}

	todo = lull_freeze_guarded(LULL_FREEZE_REVISIT) ? walk_pending(s) : 0;
	read_lock(&tasklist_lock);
	todo += visit_kthreads();
	/*
	 * A thaw after this comparison is one after the walk, which stock
	 * would not see either. This walk vouches for nobody: one that is not
	 * waited for, a helper on its way to exec, is not at rest.
	 */
	if (!array_holds(s))
		todo = visit_everybody() + visit_unlisted(s);
	read_unlock(&tasklist_lock);

	return todo;
}
