// SPDX-License-Identifier: GPL-2.0-only
/*
 * For test kernels: a checker that sees any task escape a completed freeze,
 * and injections that widen the windows in which one could.
 */
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/freezer.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/suspend.h>
#include <linux/task_work.h>
#include <trace/events/sched.h>
#include <trace/events/syscalls.h>

#include "internal.h"

/* The injections hold, and thaw, tasks of these names only. */
#define HOLD_COMM "lull-hold"
#define THAW_COMM "lull-thaw"

/*
 * How long a task is held, or waited for, that should have gone on by itself:
 * where it spins for less than a CPU may be kept busy, else for as long as a
 * slow machine takes until the freezer comes.
 */
#define SPIN_LIMIT_MS 15000
#define HOLD_LIMIT_MS 60000

/* The same for who waits until many others have come, which may take minutes. */
#define QUEUE_LIMIT_MS 600000

/* How long a task that exits goes on being held when it was waited for once. */
#define LINGER_MS 1000

/* How long a child that was held takes to the refrigerator. */
#define LOITER_MS 300

/*
 * How many rounds of the freezer either takes at least, while it has time: one that does
 * not wait for it has come to its end before, on a slow machine as well.
 */
#define LONG_ROUNDS 40

/* Until when a task is held; what user space writes to the hold's file. */
enum hold_until {
	HOLD_OFF,
	HOLD_UNTIL_FROZEN,	/* the freeze is complete */
	HOLD_UNTIL_BETWEEN,	/* the freezer's first round is over, and waits */
	HOLD_UNTIL_TOLD,	/* user space writes HOLD_OFF */
};

/* Holds one task at a time. */
struct hold {
	u32 until;
	struct task_struct *who;
};

LULL_DEFINE_SAFEGUARDS(FREEZE, freeze);

static u32 exit_queue_us;
static u32 exit_queue_wakeup;
static u32 window_ms;
static u32 thaw_between;

/* The task that suspends, from the end of freezing to the start of thawing. */
static struct task_struct *window_task;

static atomic_t windows, escapes, helpers, unlisted;
static atomic_t held_at_end, thawed_between, loaded, interrupted;
static atomic_t queued, gone, rounds;
/* Holds that nobody has let go: what they were for has not been tried. */
static atomic_t overdue;
static struct hold exit_hold, dying_hold, left_hold, exec_hold, fork_hold;
static struct hold fail_hold;
static char last_escape[TASK_COMM_LEN + 32];

static void escaped(struct task_struct *p, const char *how)
{
	if (atomic_inc_return(&escapes) == 1)
		scnprintf(last_escape, sizeof(last_escape), "%s/%d(%s)",
			  p->comm, task_pid_nr(p), how);
}

/* Made by the kernel: its parent is kthreadd, or a worker that waits for it. */
static bool is_helper(struct task_struct *p)
{
	bool ret;

	rcu_read_lock();
	ret = rcu_dereference(p->real_parent)->flags & PF_KTHREAD;
	rcu_read_unlock();
	return ret;
}

/* @p runs, or is about to, while everybody should be at rest. */
static void judge(struct task_struct *p, const char *how)
{
	if (is_idle_task(p) || (p->flags & PF_KTHREAD) || p == window_task)
		return;

	if (p->exit_state && !pid_alive(p)) {
		/*
		 * Reaped itself and left the list: no freezer sees it, and
		 * nobody keeps its parent for it.
		 */
		atomic_inc(&unlisted);
	} else if ((p->flags & PF_NOFREEZE) || is_helper(p)) {
		/*
		 * On its way to its program, or from there to the refrigerator.
		 * A system call would show that it has reached user mode.
		 */
		atomic_inc(&helpers);
	} else {
		escaped(p, how);
	}
}

static void on_switch(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state)
{
	/*
	 * Who is frozen and gets a CPU was preempted between taking that state
	 * and schedule(), and goes there. Who leaves the state is seen where it
	 * does that (FZ7), and when it is switched to after that, or calls.
	 */
	if (READ_ONCE(window_task) && !frozen(next))
		judge(next, "switch");
}

static void on_syscall(void *data, struct pt_regs *regs, long id)
{
	struct task_struct *suspender = READ_ONCE(window_task);

	if (suspender && current != suspender)
		escaped(current, "syscall");
}

/* Returns until when it is to be; HOLD_OFF where it is not. */
static enum hold_until begin_hold(struct hold *h)
{
	u32 until = READ_ONCE(h->until);

	return until && !cmpxchg(&h->who, NULL, current) ? until : HOLD_OFF;
}

static void stay(struct hold *h, enum hold_until until, unsigned int limit_ms,
		 bool spins)
{
	unsigned long end = jiffies + msecs_to_jiffies(limit_ms);

	while (READ_ONCE(h->until) == until) {
		if (time_after(jiffies, end)) {
			atomic_inc(&overdue);
			break;
		}
		if (spins)
			cpu_relax();
		else
			usleep_range(500, 1000);
	}
}

static void hold_for(struct hold *h, unsigned int limit_ms)
{
	enum hold_until until = begin_hold(h);

	if (until)
		stay(h, until, limit_ms, false);
}

static void hold(struct hold *h)
{
	hold_for(h, HOLD_LIMIT_MS);
}

static void hold_is_over(struct hold *h)
{
	cmpxchg(&h->who, current, NULL);
}

/*
 * Once it was let go: while a freeze goes on, so long and so many of its rounds, but
 * for no more than a quarter of the time that the freezer has: it may be late already.
 */
static void dawdle(unsigned int ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(ms);
	unsigned long limit = jiffies + msecs_to_jiffies(freeze_timeout_msecs / 4);
	int before = atomic_read(&rounds);

	while (time_before(jiffies, end) ||
	       (READ_ONCE(pm_freezing) && time_before(jiffies, limit) &&
		atomic_read(&rounds) - before < LONG_ROUNDS))
		usleep_range(500, 1000);
}

static void let_go(struct hold *h, enum hold_until when)
{
	if (h->until == when)
		WRITE_ONCE(h->until, HOLD_OFF);
}

/* The same, and wait until the hold is over. */
static void let_pass(struct hold *h, enum hold_until when)
{
	unsigned long end = jiffies + msecs_to_jiffies(HOLD_LIMIT_MS);

	if (h->until != when)
		return;
	let_go(h, when);
	while (READ_ONCE(h->who) && time_before(jiffies, end))
		usleep_range(500, 1000);
}

/* The end of a freeze that succeeded: from here on nobody may run. */
void lull_freeze_debug_frozen(void)
{
	int cpu;

	atomic_inc(&windows);
	if (READ_ONCE(dying_hold.who))
		atomic_inc(&held_at_end);
	let_go(&dying_hold, HOLD_UNTIL_FROZEN);

	WRITE_ONCE(window_task, current);
	cpus_read_lock();
	rcu_read_lock();
	for_each_online_cpu(cpu) {
		struct task_struct *p = cpu_curr_snapshot(cpu);

		if (!frozen(p) && READ_ONCE(p->__state) != TASK_DEAD)
			judge(p, "running");
	}
	rcu_read_unlock();
	cpus_read_unlock();

	let_go(&exec_hold, HOLD_UNTIL_FROZEN);
	let_pass(&left_hold, HOLD_UNTIL_FROZEN);
	if (window_ms)
		msleep(window_ms);
}

/*
 * The end of one that failed: tasks are thawed, and the writer has not come to
 * what else ends a session.
 */
void lull_freeze_debug_failed(void)
{
	hold(&fail_hold);
	hold_is_over(&fail_hold);
}

void lull_freeze_debug_thaw(void)
{
	WRITE_ONCE(window_task, NULL);
}

/* In do_exit(), before exit_notify(). */
void lull_freeze_debug_exit(void)
{
	if (READ_ONCE(dying_hold.until) && !strcmp(current->comm, HOLD_COMM))
		hold(&exit_hold);
}

/*
 * They go one at a time, so that some arrive all along, and with one of them
 * comes a wakeup event (FZ13).
 */
static void exit_in_turn(void)
{
	static DEFINE_MUTEX(turn);

	atomic_inc(&queued);
	mutex_lock(&turn);
	hold_for(&exit_hold, QUEUE_LIMIT_MS);
	hold_is_over(&exit_hold);
	usleep_range(exit_queue_us, exit_queue_us + 100);
	if (atomic_inc_return(&gone) == exit_queue_wakeup)
		pm_system_wakeup();
	mutex_unlock(&turn);
	atomic_dec(&queued);
}

/* In do_exit(), between exit_notify() and TASK_DEAD (FZ1). */
void lull_freeze_debug_exiting(void)
{
	enum hold_until until;

	if (strcmp(current->comm, HOLD_COMM))
		return;
	if (exit_queue_us)
		exit_in_turn();
	until = begin_hold(&dying_hold);
	/* Who lets it pass there finds it here. */
	hold_is_over(&exit_hold);
	if (!until)
		return;
	stay(&dying_hold, until, HOLD_LIMIT_MS, false);
	/* Who would not wait for it has time to show that. */
	if (until == HOLD_UNTIL_BETWEEN)
		dawdle(LINGER_MS);
	hold_is_over(&dying_hold);
}

/*
 * In __refrigerator(), after it found no request and dropped freezer_lock
 * (FZ7). Spins, for the state must stay what it is.
 */
void lull_freeze_debug_left(void)
{
	enum hold_until until;

	if (!READ_ONCE(left_hold.until) || strcmp(current->comm, HOLD_COMM))
		return;
	until = begin_hold(&left_hold);
	if (!until)
		return;
	stay(&left_hold, until, SPIN_LIMIT_MS, true);
	/* The freezer took it for frozen, and it runs. */
	if (READ_ONCE(window_task))
		escaped(current, "left");
	hold_is_over(&left_hold);
}

/*
 * In begin_new_exec(), while a helper has PF_NOFREEZE still (FZ6 iii). A task
 * of the name to hold gets the flag, and stands for a helper that is no child
 * of kthreadd: one whose waiter was killed.
 */
void lull_freeze_debug_exec(void)
{
	if (!READ_ONCE(exec_hold.until))
		return;
	if (!strcmp(current->comm, HOLD_COMM))
		current->flags |= PF_NOFREEZE;
	if (current->flags & PF_NOFREEZE)
		hold(&exec_hold);
}

/* In begin_new_exec(), when the flag is gone. */
void lull_freeze_debug_execed(void)
{
	if (!lull_freeze_guarded(LULL_FREEZE_LATE) && freezing(current))
		set_thread_flag(TIF_SIGPENDING);
	hold_is_over(&exec_hold);
}

/* In a helper whose program is loaded. */
void freeze_debug_loaded(void)
{
	if (!READ_ONCE(window_task))
		return;
	atomic_inc(&loaded);
	if (signal_pending(current))
		atomic_inc(&interrupted);
}

/* A child freezes itself on its way to user mode: make that way a long one. */
static void loiter(struct callback_head *work)
{
	dawdle(LOITER_MS);
}

/*
 * In copy_process(), past its look at signals and before the child @p is on
 * the list (FZ6 i).
 */
void lull_freeze_debug_forking(struct task_struct *p)
{
	static struct callback_head work;

	if (!READ_ONCE(fork_hold.until) || strcmp(current->comm, HOLD_COMM))
		return;
	init_task_work(&work, loiter);
	task_work_add(p, &work, TWA_RESUME);
	hold(&fork_hold);
	hold_is_over(&fork_hold);
}

/*
 * What a v1 cgroup does to tasks that leave a frozen one, for instance when
 * cpuset's hotplug work moves them (FZ6).
 */
static void thaw_some_between(void)
{
	struct task_struct *g, *p;
	bool once = false;

	if (!thaw_between)
		return;

	rcu_read_lock();
	for_each_process_thread(g, p) {
		if (strcmp(p->comm, THAW_COMM) || !frozen(p))
			continue;
		__thaw_task(p);
		atomic_inc(&thawed_between);
		once = true;
	}
	rcu_read_unlock();
	/* Once: a freezer that is right would never come to an end. */
	if (once)
		thaw_between = 0;
}

/* Between two rounds of the freezer. */
void freeze_debug_between(void)
{
	atomic_inc(&rounds);
	thaw_some_between();
	/* The one who comes there now is seen by the next round first. */
	if (READ_ONCE(dying_hold.who))
		let_go(&dying_hold, HOLD_UNTIL_BETWEEN);
	let_pass(&left_hold, HOLD_UNTIL_BETWEEN);
	let_pass(&exec_hold, HOLD_UNTIL_BETWEEN);
	let_pass(&fork_hold, HOLD_UNTIL_BETWEEN);
	let_pass(&exit_hold, HOLD_UNTIL_BETWEEN);
}

static int check_show(struct seq_file *m, void *v)
{
	seq_printf(m, "windows %d\n", atomic_read(&windows));
	seq_printf(m, "escapes %d\n", atomic_read(&escapes));
	seq_printf(m, "helpers %d\n", atomic_read(&helpers));
	seq_printf(m, "unlisted %d\n", atomic_read(&unlisted));
	seq_printf(m, "held %d\n", !!READ_ONCE(dying_hold.who));
	seq_printf(m, "held_at_end %d\n", atomic_read(&held_at_end));
	seq_printf(m, "left_held %d\n", !!READ_ONCE(left_hold.who));
	seq_printf(m, "exec_held %d\n", !!READ_ONCE(exec_hold.who));
	seq_printf(m, "fork_held %d\n", !!READ_ONCE(fork_hold.who));
	seq_printf(m, "overdue %d\n", atomic_read(&overdue));
	seq_printf(m, "exit_held %d\n", !!READ_ONCE(exit_hold.who));
	seq_printf(m, "fail_held %d\n", !!READ_ONCE(fail_hold.who));
	seq_printf(m, "queued %d\n", atomic_read(&queued));
	seq_printf(m, "loaded %d\n", atomic_read(&loaded));
	seq_printf(m, "interrupted %d\n", atomic_read(&interrupted));
	seq_printf(m, "thawed_between %d\n", atomic_read(&thawed_between));
	seq_printf(m, "last_escape %s\n",
		   atomic_read(&escapes) ? last_escape : "-");
	return 0;
}

static int check_open(struct inode *inode, struct file *file)
{
	return single_open(file, check_show, inode->i_private);
}

static ssize_t check_write(struct file *file, const char __user *buf,
			   size_t count, loff_t *ppos)
{
	atomic_set(&windows, 0);
	atomic_set(&escapes, 0);
	atomic_set(&helpers, 0);
	atomic_set(&unlisted, 0);
	atomic_set(&held_at_end, 0);
	atomic_set(&overdue, 0);
	atomic_set(&thawed_between, 0);
	atomic_set(&gone, 0);
	atomic_set(&loaded, 0);
	atomic_set(&interrupted, 0);
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

/* A warning on demand, to see that the lab fails a run for it. */
static ssize_t warn_write(struct file *file, const char __user *buf,
			  size_t count, loff_t *ppos)
{
	WARN(1, "lull: a warning on demand\n");
	return count;
}

static const struct file_operations warn_fops = {
	.owner = THIS_MODULE,
	.write = warn_write,
};

void __init freeze_debug_init(struct dentry *dir)
{
	struct dentry *inject = debugfs_create_dir("inject", dir);

	debugfs_create_file("check", 0644, dir, NULL, &check_fops);
	debugfs_create_file("warn", 0200, inject, NULL, &warn_fops);
	lull_choice_file("disable", inject, &lull_freeze_safeguard_choice);
	debugfs_create_u32("exit_queue_us", 0644, inject, &exit_queue_us);
	debugfs_create_u32("exit_queue_wakeup", 0644, inject,
			   &exit_queue_wakeup);
	debugfs_create_u32("exit_hold", 0644, inject, &exit_hold.until);
	debugfs_create_u32("dying_hold", 0644, inject, &dying_hold.until);
	debugfs_create_u32("fail_hold", 0644, inject, &fail_hold.until);
	debugfs_create_u32("exec_hold", 0644, inject, &exec_hold.until);
	debugfs_create_u32("fork_hold", 0644, inject, &fork_hold.until);
	debugfs_create_u32("left_hold", 0644, inject, &left_hold.until);
	debugfs_create_u32("thaw_between", 0644, inject, &thaw_between);
	debugfs_create_u32("window_ms", 0644, inject, &window_ms);

	if (register_trace_sched_switch(on_switch, NULL) ||
	    register_trace_sys_enter(on_syscall, NULL))
		pr_warn("lull: freeze: no escape checker\n");
}
