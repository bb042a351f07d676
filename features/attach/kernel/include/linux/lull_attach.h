/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What cgroups, fork, exec and exit call of Lull's feature `attach`.
 *
 * The hooks sit in kernel/cgroup/, init/init_task.c and
 * include/linux/{cgroup-defs,sched/signal}.h. Each does nothing where the
 * option is off, and is a static branch not taken where the mode is "stock".
 */
#ifndef _LINUX_LULL_ATTACH_H
#define _LINUX_LULL_ATTACH_H

#include <linux/lull_attach_group.h>
#include <linux/lull_debug.h>
#include <linux/types.h>

struct cgroup;
struct kernfs_open_file;

enum lull_attach_counter {
	LULL_ATTACH_GLOBAL,	/* the lock of all taken for writing */
	LULL_ATTACH_GRACE,	/* of those, had to wait for a grace period */
	LULL_ATTACH_GROUP,	/* locks of one thread group taken for writing */
	LULL_ATTACH_ALONE,	/* a task joined another's cgroups and took none */
	LULL_ATTACH_THERE,	/* was there already, and nothing was locked */
	LULL_ATTACH_LOOKED,	/* threads looked at, under css_set_lock, to know that */
	LULL_ATTACH_BATCHES,	/* writes of more than one PID */
	LULL_ATTACH_AGAIN,	/* lookups that were repeated: the PID changed */
	LULL_ATTACH_WAITS,	/* forks, execs and exits that met a writer */
	LULL_ATTACH_NR_COUNTERS,
};

/* Safeguards that a test kernel can switch off, to see their tests fail. */
LULL_SAFEGUARDS(ATTACH, attach, {
	LULL_ATTACH_READERS,	/* CG1, 3, 5: fork, exec and exit hold the group */
	LULL_ATTACH_CHILD,	/* CG2: a child's group is held while it is made */
	LULL_ATTACH_LINKED,	/* CG2: who is in no list yet is nowhere */
	LULL_ATTACH_LEADER,	/* CG4: the PID is looked up again under the lock */
	LULL_ATTACH_TRIES,	/* CG4: who lost often locks out everybody */
	LULL_ATTACH_HIERARCHY,	/* CG6: whole hierarchies exclude everybody */
	LULL_ATTACH_PUT,	/* CG7: unlock first, then drop the reference */
	LULL_ATTACH_SWITCH,	/* CG8: modes change while nobody is inside */
	LULL_ATTACH_SINGLE,	/* CG9: only a single thread needs no lock to move itself */
	LULL_ATTACH_CAP,	/* C5: one write takes so many PIDs and no more */
});

/*
 * What the mode "lull" does beside counting who holds a group, which is what it
 * stands on: "threadgroup" is what that is compared with. With none of these each
 * write names one PID and locks its group.
 */
LULL_STEPS(ATTACH, attach, {
	LULL_ATTACH_BY_THERE,	/* C3: who is there already is not locked */
	LULL_ATTACH_BY_MANY,	/* C5: one write takes many PIDs */
});

/* Where a test kernel can be made to wait, so that others meet it there. */
LULL_POINTS(ATTACH, attach, {
	LULL_ATTACH_AT_FORK,	/* parent locked, child not visible yet */
	LULL_ATTACH_AT_VISIBLE,	/* child visible, not in its cgroup yet */
	LULL_ATTACH_AT_LOCK,	/* looked up, not locked yet */
	LULL_ATTACH_AT_EXECUTE,	/* tasks gathered, not moved yet */
	LULL_ATTACH_AT_UNLOCK,	/* moved, not unlocked yet */
	LULL_ATTACH_AT_EXIT,	/* exiting, still in its cgroup */
});

#ifdef CONFIG_LULL_ATTACH

void lull_attach_count(enum lull_attach_counter counter);
bool lull_attach_global(bool lock);

void __lull_attach_child_hold(struct lull_attach_group *group);
void __lull_attach_child_release(struct lull_attach_group *group);

void lull_attach_group_lock(struct lull_attach_group *group);
void lull_attach_group_unlock(struct lull_attach_group *group);
void lull_attach_round_begin(void);
void lull_attach_round_end(void);

bool __lull_attach_joins(struct task_struct *from, struct task_struct *tsk);
ssize_t lull_attach_write(struct kernfs_open_file *of, struct cgroup *dst,
			  char *buf, bool threadgroup);

/* The mode is one that locks a thread group; stable under cgroup_mutex. */
static inline bool lull_attach_on(void)
{
	return static_branch_unlikely(&lull_attach_holders_key) ||
	       static_branch_unlikely(&lull_attach_sem_key);
}

/* It is "lull": moves that need no lock take none, and a write has many PIDs. */
static inline bool lull_attach_less(void)
{
	return static_branch_unlikely(&lull_attach_holders_key);
}

/* Of a process that is not visible yet, and not to be moved until released. */
static inline void lull_attach_child_hold(struct lull_attach_group *group)
{
	/* All of a new signal_struct is zero, which will do but for @sem. */
	if (lull_attach_on())
		__lull_attach_child_hold(group);
}

static inline void lull_attach_child_release(struct lull_attach_group *group)
{
	if (lull_attach_on())
		__lull_attach_child_release(group);
}

/* Needs @tsk, which joins all cgroups of @from, no lock? Under cgroup_mutex. */
static inline bool lull_attach_joins(struct task_struct *from,
				     struct task_struct *tsk)
{
	return lull_attach_less() && __lull_attach_joins(from, tsk);
}

#else /* !CONFIG_LULL_ATTACH */

static inline bool lull_attach_on(void) { return false; }
static inline bool lull_attach_global(bool lock) { return lock; }
static inline void lull_attach_child_hold(struct lull_attach_group *group) { }
static inline void lull_attach_child_release(struct lull_attach_group *group)
{
}

static inline bool lull_attach_joins(struct task_struct *from,
				     struct task_struct *tsk)
{
	return false;
}

static inline ssize_t lull_attach_write(struct kernfs_open_file *of,
					struct cgroup *dst, char *buf,
					bool threadgroup)
{
	return -EOPNOTSUPP;
}

#endif /* CONFIG_LULL_ATTACH */

#if defined(CONFIG_LULL_ATTACH) && defined(CONFIG_LULL_DEBUG)
void lull_attach_pause(enum lull_attach_point point);
#else
static inline void lull_attach_pause(enum lull_attach_point point) { }
#endif

#endif /* _LINUX_LULL_ATTACH_H */
