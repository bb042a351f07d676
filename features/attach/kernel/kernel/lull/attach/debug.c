// SPDX-License-Identifier: GPL-2.0-only
/*
 * For test kernels: safeguards that can be switched off, waits that widen the
 * windows between steps, and a kernel thread that joins a process's cgroups as
 * vhost's workers do.
 */
#include <linux/cgroup.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/lull_attach.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/string.h>

#include "internal.h"

/* The waits are for tasks of this name; but for the writer's, which is any. */
#define PAUSE_COMM "lull-pause"

LULL_DEFINE_SAFEGUARDS(ATTACH, attach);
LULL_DEFINE_POINTS(ATTACH, attach);

static u32 pause_us = 200;

/**
 * lull_attach_pause - wait, where a test asked for it
 * @point: where this is
 */
void lull_attach_pause(enum lull_attach_point point)
{
	if (!lull_attach_pauses_at(point))
		return;
	if ((point <= LULL_ATTACH_AT_VISIBLE || point == LULL_ATTACH_AT_EXIT) &&
	    strcmp(current->comm, PAUSE_COMM))
		return;
	usleep_range(READ_ONCE(pause_us), READ_ONCE(pause_us) * 2);
}

static DEFINE_MUTEX(worker_lock);
static struct task_struct *worker;

struct worker_order {
	struct task_struct *from;
	struct completion done;
	int ret;
};

static int worker_fn(void *data)
{
	struct worker_order *order = data;

	order->ret = cgroup_attach_task_all(order->from, current);
	complete(&order->done);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ / 10);
	return 0;
}

static void worker_stop(void)
{
	if (worker)
		kthread_stop_put(worker);
	worker = NULL;
}

static int worker_start(pid_t pid)
{
	struct worker_order order = { };

	init_completion(&order.done);
	order.from = find_get_task_by_vpid(pid);
	if (!order.from)
		return -ESRCH;
	worker = kthread_create(worker_fn, &order, "lull-worker");
	if (IS_ERR(worker)) {
		order.ret = PTR_ERR(worker);
		worker = NULL;
	} else {
		get_task_struct(worker);
		wake_up_process(worker);
		wait_for_completion(&order.done);
	}
	put_task_struct(order.from);
	return order.ret;
}

/* A PID: a worker joins its cgroups. 0: it ends. */
static int worker_set(void *data, u64 pid)
{
	int ret = 0;

	mutex_lock(&worker_lock);
	worker_stop();
	if (pid)
		ret = worker_start(pid);
	mutex_unlock(&worker_lock);
	return ret;
}

static int worker_get(void *data, u64 *pid)
{
	mutex_lock(&worker_lock);
	*pid = worker ? task_pid_vnr(worker) : 0;
	mutex_unlock(&worker_lock);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(worker_fops, worker_get, worker_set, "%llu\n");

/**
 * attach_debug_files - make the files that set all this
 * @dir: for them
 */
void __init attach_debug_files(struct dentry *dir)
{
	lull_choice_file("disable", dir, &lull_attach_safeguard_choice);
	lull_choice_file("pause", dir, &lull_attach_point_choice);
	debugfs_create_u32("pause_us", 0644, dir, &pause_us);
	debugfs_create_file("worker", 0644, dir, NULL, &worker_fops);
}
