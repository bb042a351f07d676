// SPDX-License-Identifier: GPL-2.0-only
/* What the mode "wake_all" has of its own, and the steps of "lull". */
#include <linux/init.h>
#include <linux/sched.h>

#include "internal.h"

DEFINE_STATIC_KEY_FALSE(lull_thaw_all);

/*
 * As before there was a saved_state: only stops are put back, for which the
 * task's own loop does not look.
 */
void __lull_thaw_forget(struct task_struct *p)
{
	if (!(p->saved_state & (__TASK_STOPPED | __TASK_TRACED)))
		p->saved_state = TASK_RUNNING;
}

LULL_DEFINE_STEPS(THAW, thaw);

void __init thaw_steps_init(struct dentry *dir)
{
	lull_choice_file("steps", dir, &lull_thaw_step_choice);
}
