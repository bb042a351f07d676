// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mode that the others are compared with, and that nobody is to use; and the
 * steps of "lull", which can be compared with each other.
 */
#include <linux/freezer.h>
#include <linux/init.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "internal.h"

/**
 * freeze_exit_state_pass - what the thread proposed, in either phase
 *
 * Stock's walk but for one test, which is true for tasks that still run, sleep
 * and do I/O: unsafe (FZ1), and here to be compared with.
 *
 * Return: how many tasks are still to be waited for.
 */
unsigned int freeze_exit_state_pass(void)
{
	struct task_struct *g, *p;
	unsigned int todo = 0;

	read_lock(&tasklist_lock);
	for_each_process_thread(g, p) {
		if (p == current || p->exit_state || !freeze_task(p))
			continue;

		todo++;
	}
	lull_freeze_walked();
	read_unlock(&tasklist_lock);

	return todo;
}

LULL_DEFINE_STEPS(FREEZE, freeze);

void __init freeze_steps_init(struct dentry *dir)
{
	lull_choice_file("steps", dir, &lull_freeze_step_choice);
}
