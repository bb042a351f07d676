// SPDX-License-Identifier: GPL-2.0-only
/*
 * For test kernels: safeguards that can be switched off, and a task that can be
 * held where thawing may miss it.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/freezer.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "internal.h"

/* The task to hold has this name. */
#define HOLD_COMM "lull-hold"

/* How long one is held, or waited for, that should have gone on by itself. */
#define HOLD_LIMIT_MS 60000

LULL_DEFINE_SAFEGUARDS(THAW, thaw);

/* Hold the next task of that name; written by user space. */
static u32 hold;

/* Who is held, from before it is TASK_FROZEN until it was looked for. */
static struct task_struct *held_task;
/* Who the walk is to believe not frozen: what it saw too early. */
static struct task_struct *seen_running;

static atomic_t held, passed, woken;

/* Wake who is sent out of its wait before its turn, as anybody might. */
static u32 early;

/* How long the one that does the sending then stands still. */
#define EARLY_MS 100
#define EARLY_LIMIT_MS 5000

/*
 * In __set_task_frozen(), under @p's pi_lock, with its state in saved_state.
 * Without the safeguard, nothing a wakeup would match is left there.
 */
void lull_thaw_debug_saved(struct task_struct *p)
{
	if ((p->saved_state & TASK_FREEZABLE_PM) &&
	    !lull_thaw_guarded(LULL_THAW_SAVED))
		p->saved_state = TASK_FREEZABLE_PM;
}

/* In __restore_freezer_state(): the sleep goes on all the same. */
void lull_thaw_debug_restore(struct task_struct *p)
{
	if (p->saved_state == TASK_FREEZABLE_PM)
		p->saved_state |= TASK_INTERRUPTIBLE;
}

/* In __refrigerator(), before the task is TASK_FROZEN. */
void lull_thaw_debug_hold(void)
{
	unsigned long end = jiffies + msecs_to_jiffies(HOLD_LIMIT_MS);

	if (!READ_ONCE(hold) || strcmp(current->comm, HOLD_COMM))
		return;
	if (cmpxchg(&held_task, NULL, get_task_struct(current))) {
		put_task_struct(current);
		return;
	}
	atomic_inc(&held);
	while (READ_ONCE(hold) && time_before(jiffies, end))
		usleep_range(500, 1000);
}

static bool rests(struct task_struct *p)
{
	return frozen(p) && !READ_ONCE(p->on_cpu) && !task_is_runnable(p);
}

/*
 * In thaw_processes(), before pm_freezing is cleared. The held task goes on,
 * finds the request, and stays. A CPU that has not been told to order the two
 * may have looked at its state before that, as here, and clear pm_freezing only
 * now.
 */
void lull_thaw_debug_begin(void)
{
	unsigned long end = jiffies + msecs_to_jiffies(HOLD_LIMIT_MS);
	struct task_struct *p = READ_ONCE(held_task);

	if (!p)
		return;
	if (!lull_thaw_guarded(LULL_THAW_SETTLE))
		WRITE_ONCE(seen_running, p);
	WRITE_ONCE(hold, 0);
	while (!rests(p) && time_before(jiffies, end))
		usleep_range(500, 1000);
	WRITE_ONCE(held_task, NULL);
	put_task_struct(p);
}

bool thaw_debug_passes(struct task_struct *p)
{
	if (p != READ_ONCE(seen_running))
		return false;
	WRITE_ONCE(seen_running, NULL);
	atomic_inc(&passed);
	return true;
}

/* Neither on a CPU nor on its way there. */
static bool sleeps(struct task_struct *p)
{
	unsigned int state = READ_ONCE(p->__state);

	return state != TASK_RUNNING && state != TASK_WAKING &&
	       !READ_ONCE(p->on_cpu) && !task_is_runnable(p);
}

/*
 * Between end_wait() and its wakeup, under freezer_lock. Until it sleeps again, which
 * who asks for that lock does not; without the safeguard it does, and is waited for.
 */
void thaw_debug_left(struct task_struct *p)
{
	unsigned int ms = lull_thaw_guarded(LULL_THAW_FLAG) ? EARLY_MS : EARLY_LIMIT_MS;

	if (!READ_ONCE(early))
		return;
	if (wake_up_state(p, TASK_INTERRUPTIBLE))
		atomic_inc(&woken);
	while (ms-- && !sleeps(p))
		mdelay(1);
}

static int check_show(struct seq_file *m, void *v)
{
	seq_printf(m, "held %d\n", atomic_read(&held));
	seq_printf(m, "passed %d\n", atomic_read(&passed));
	seq_printf(m, "woken %d\n", atomic_read(&woken));
	return 0;
}

static int check_open(struct inode *inode, struct file *file)
{
	return single_open(file, check_show, inode->i_private);
}

static ssize_t check_write(struct file *file, const char __user *buf,
			   size_t count, loff_t *ppos)
{
	atomic_set(&held, 0);
	atomic_set(&passed, 0);
	atomic_set(&woken, 0);
	return count;
}

static const struct file_operations check_fops = {
	.owner = THIS_MODULE,
	.open = check_open,
	.read = seq_read,
	.write = check_write,
	.llseek = seq_lseek,
	.release = single_release,
};

void __init thaw_debug_init(struct dentry *dir)
{
	struct dentry *inject = debugfs_create_dir("inject", dir);

	debugfs_create_file("check", 0644, dir, NULL, &check_fops);
	lull_choice_file("disable", inject, &lull_thaw_safeguard_choice);
	debugfs_create_u32("hold", 0644, inject, &hold);
	debugfs_create_u32("early", 0644, inject, &early);
}
