/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lull

#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE lull_attach

#if !defined(_TRACE_LULL_ATTACH_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_LULL_ATTACH_H

#include <linux/tracepoint.h>

/*
 * The end of a write to cgroup.procs, cgroup.threads or tasks in a mode that
 * locks thread groups: how many PIDs it had, and how many were locked.
 */
TRACE_EVENT(attach_write,

	TP_PROTO(u64 cgroup, unsigned int nr, unsigned int locked, ssize_t ret),

	TP_ARGS(cgroup, nr, locked, ret),

	TP_STRUCT__entry(
		__field(u64, cgroup)
		__field(unsigned int, nr)
		__field(unsigned int, locked)
		__field(ssize_t, ret)
	),

	TP_fast_assign(
		__entry->cgroup = cgroup;
		__entry->nr = nr;
		__entry->locked = locked;
		__entry->ret = ret;
	),

	TP_printk("cgroup=%llu nr=%u locked=%u ret=%zd", __entry->cgroup,
		  __entry->nr, __entry->locked, __entry->ret)
);

#endif /* _TRACE_LULL_ATTACH_H */

#include <trace/define_trace.h>
