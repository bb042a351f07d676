/* SPDX-License-Identifier: GPL-2.0-only */
/* The deadline server of fair tasks, for who takes a CPU away. */
#ifndef LULL_FAIR_SERVER_H
#define LULL_FAIR_SERVER_H

/*
 * Off on each CPU, until the machine ends, where the kernel has one; 0 or -1. 6.12's
 * sched_cpu_dying() stops the server of the CPU that goes whether it runs or not: of one
 * that had stopped by itself the bandwidth is taken away twice, and inactive_task_timer()
 * warns (dl_rq->running_bw > old). On a host that is busy that happens, and is no fault
 * of what is tried. Without runtime a server is neither started nor stopped.
 */
int fair_server_off(void);

#endif
