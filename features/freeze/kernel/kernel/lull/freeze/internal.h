/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_FREEZE_INTERNAL_H
#define _LULL_FREEZE_INTERNAL_H

#include <linux/lull_debug.h>
#include <linux/lull_freeze.h>
#include <linux/spinlock.h>

struct dentry;

enum freeze_mode {
	FREEZE_STOCK,
	FREEZE_EXIT_STATE,	/* with CONFIG_LULL_COMPARE */
	FREEZE_LULL,
};

enum freeze_counter {
	FREEZE_WALKS,		/* walks over all tasks */
	FREEZE_PARTIAL,		/* walks over pending tasks or kthreads only */
	FREEZE_VISITED,		/* tasks looked at, in both kinds */
	FREEZE_USER_NS,
	FREEZE_KERNEL_NS,
	FREEZE_WAITS,
	FREEZE_WAIT_NS,
	FREEZE_WOKEN,		/* waits that an arrival ended */
	FREEZE_REFUSED,		/* tasks that a phase was given up for */
	FREEZE_FULL_FORKS,	/* full walks because a task was created, */
	FREEZE_FULL_THAWS,	/* because one was thawed, */
	FREEZE_FULL_ROOM,	/* because more were pending than there is room */
	FREEZE_NR_COUNTERS,
};

/**
 * struct freeze_session - one suspend, from lull_freeze_begin() to _end()
 * @owner: the task that suspends; NULL when there is no session
 * @mode: the mode it runs in; fixed while it lasts
 * @walked: the snapshot below is valid: every task was visited since
 * @forks: total_forks before the walk
 * @thaws: lull_freeze_thaws before the walk
 * @pending: tasks that may still move, each with a reference
 * @nr: how many
 * @room: how many fit
 * @overflow: some did not
 */
struct freeze_session {
	struct task_struct *owner;
	enum freeze_mode mode;
	bool walked;
	bool overflow;
	unsigned long forks;
	unsigned long thaws;
	struct task_struct **pending;
	unsigned int nr;
	unsigned int room;
};

/*
 * How often a task was taken out of the frozen state, or left it by itself;
 * under freezer_lock.
 */
extern unsigned long lull_freeze_thaws;

void freeze_count(enum freeze_counter counter, u64 n);

unsigned int freeze_user_pass(struct freeze_session *s);
unsigned int freeze_kernel_pass(struct freeze_session *s);
unsigned int freeze_exit_state_pass(void);
void freeze_make_room(struct freeze_session *s);
void freeze_release(struct freeze_session *s);
void freeze_show_unlisted(struct freeze_session *s);

void freeze_arrivals_reset(void);
void freeze_arrive(void);
bool freeze_wait_for_arrivals(unsigned int todo, int usecs);

/* Safeguards that a test kernel can switch off, to see their tests fail. */
LULL_SAFEGUARDS(FREEZE, freeze, {
	LULL_FREEZE_REST,	/* FZ7: RUNNING before freezer_lock drops */
	LULL_FREEZE_FORKS,	/* FZ6 (i) */
	LULL_FREEZE_THAWS,	/* FZ6 (ii) */
	LULL_FREEZE_EXEC,	/* FZ6 (iii): exec of a helper freezes itself */
	LULL_FREEZE_WATCH,	/* revisit tasks that are not freezing yet */
	LULL_FREEZE_REVISIT,	/* FZ5: revisit pending tasks at all */
	LULL_FREEZE_REASONS,	/* FZ9: thaw nobody who has a reason left */
	LULL_FREEZE_EXITING,	/* FZ8: thaw who may be hidden from its cgroup */
	LULL_FREEZE_LOOK,	/* FZ13: look at wakeups and the time meanwhile */
	LULL_FREEZE_UNLISTED,	/* FZ1: keep who has left the list and runs */
	LULL_FREEZE_LATE,	/* FZ6 (iii): ask when the program is loaded */
	LULL_FREEZE_OVER,	/* FZ13: a thaw ends the session */
	LULL_FREEZE_THREADS,	/* FZ3: a dead leader's threads are visited */
});

/*
 * What the mode "lull" consists of. With none of them it is stock's walk and
 * stock's wait, and what the hooks see to (FZ7, FZ9, helpers).
 */
LULL_STEPS(FREEZE, freeze, {
	LULL_FREEZE_BY_DEAD,	/* pass over TASK_DEAD without a lock */
	LULL_FREEZE_BY_EVENT,	/* wait for the last to come, do not poll */
	LULL_FREEZE_BY_ARRAY,	/* one walk, then those that were not at rest */
	LULL_FREEZE_BY_KTHREADS, /* the kernel phase's are kthreadd's children */
});

#ifdef CONFIG_LULL_COMPARE
void freeze_steps_init(struct dentry *dir);
#else
static inline void freeze_steps_init(struct dentry *dir) { }
#endif

#ifdef CONFIG_LULL_DEBUG
void freeze_debug_between(void);
void freeze_debug_loaded(void);
void __init freeze_debug_init(struct dentry *dir);
#else
static inline void freeze_debug_between(void) { }
static inline void freeze_debug_loaded(void) { }
static inline void freeze_debug_init(struct dentry *dir) { }
#endif

#endif /* _LULL_FREEZE_INTERNAL_H */
