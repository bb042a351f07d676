// SPDX-License-Identifier: GPL-2.0-only
/*
 * The feature `attach`: its modes and counters. The locks are in lock.c, what a
 * write to cgroup.procs does in kernel/cgroup/lull_attach.h.
 */
#include <linux/cgroup.h>
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/lull.h>
#include <linux/lull_attach.h>
#include <linux/percpu-rwsem.h>

#include "internal.h"

DEFINE_STATIC_KEY_FALSE(lull_attach_sem_key);
DEFINE_STATIC_KEY_FALSE(lull_attach_holders_key);

enum attach_mode {
	ATTACH_STOCK,
	ATTACH_THREADGROUP,
	ATTACH_LULL,
};

static const char * const attach_modes[] = {
	[ATTACH_STOCK]		= "stock",
	[ATTACH_THREADGROUP]	= "threadgroup",
	[ATTACH_LULL]		= "lull",
};

static const char * const attach_counters[] = {
	[LULL_ATTACH_GLOBAL]	= "global",
	[LULL_ATTACH_GRACE]	= "grace",
	[LULL_ATTACH_GROUP]	= "group",
	[LULL_ATTACH_ALONE]	= "alone",
	[LULL_ATTACH_THERE]	= "there",
	[LULL_ATTACH_LOOKED]	= "looked",
	[LULL_ATTACH_BATCHES]	= "batches",
	[LULL_ATTACH_AGAIN]	= "again",
	[LULL_ATTACH_WAITS]	= "waits",
};

static void set_key(struct static_key_false *key, bool on)
{
	if (on)
		static_branch_enable_cpuslocked(key);
	else
		static_branch_disable_cpuslocked(key);
}

static void set_keys(unsigned int mode)
{
	set_key(&lull_attach_sem_key, mode == ATTACH_THREADGROUP);
	set_key(&lull_attach_holders_key, mode == ATTACH_LULL);
}

/*
 * Who has a group's lock for reading is inside of cgroup_threadgroup_rwsem, and
 * who has it for writing has cgroup_mutex. With both for writing, the locks of
 * all groups are free, whichever kind they are, and whoever comes next takes
 * the new kind.
 */
static int attach_switch_mode(struct lull_feature *f, unsigned int mode)
{
	bool exclude = lull_attach_guarded(LULL_ATTACH_SWITCH) &&
		       system_state != SYSTEM_BOOTING;

	/* On the command line: there is one task, and it forks later. */
	if (exclude)
		cgroup_lock();
	cpus_read_lock();
	if (exclude)
		percpu_down_write(&cgroup_threadgroup_rwsem);
	if (mode == ATTACH_THREADGROUP)
		lull_attach_sem_init_all();
	lull_attach_take_steps();
	set_keys(mode);
	if (exclude)
		percpu_up_write(&cgroup_threadgroup_rwsem);
	cpus_read_unlock();
	if (exclude)
		cgroup_unlock();
	return 0;
}

LULL_FEATURE(attach, attach_modes, attach_switch_mode, attach_counters);

/**
 * lull_attach_count - add one to a counter of the feature
 * @counter: which
 */
void lull_attach_count(enum lull_attach_counter counter)
{
	lull_count(&lull_attach, counter, 1);
}

/**
 * lull_attach_global - cgroup_threadgroup_rwsem is taken for writing, or not
 * @lock: what is asked for
 *
 * Return: @lock, but in a test of a test.
 */
bool lull_attach_global(bool lock)
{
	if (!lock)
		return false;
	lull_attach_count(LULL_ATTACH_GLOBAL);
	rcu_read_lock();
	/* Readers are on their fast way; to end that takes a grace period. */
	if (rcu_sync_is_idle(&cgroup_threadgroup_rwsem.rss))
		lull_attach_count(LULL_ATTACH_GRACE);
	rcu_read_unlock();
	return lull_attach_guarded(LULL_ATTACH_HIERARCHY);
}

#ifdef CONFIG_LULL_COMPARE
LULL_DEFINE_STEPS(ATTACH, attach);

/* Comes after the late_initcall() that makes the folder. */
static int __init attach_steps_init(void)
{
	lull_choice_file("steps", lull_attach.dir, &lull_attach_step_choice);
	return 0;
}
late_initcall_sync(attach_steps_init);
#endif

#ifdef CONFIG_LULL_DEBUG
/* Comes after the late_initcall() that makes the folder. */
static int __init attach_debug_init(void)
{
	attach_debug_files(debugfs_create_dir("inject", lull_attach.dir));
	return 0;
}
late_initcall_sync(attach_debug_init);
#endif
