/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lull

#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE lull_thaw

#if !defined(_TRACE_LULL_THAW_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_LULL_THAW_H

#include <linux/tracepoint.h>

/* A frozen task was woken, rather than put back to the sleep it was in. */
TRACE_EVENT(thaw_woken,

	TP_PROTO(struct task_struct *p),

	TP_ARGS(p),

	TP_STRUCT__entry(
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
	),

	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid = p->pid;
	),

	TP_printk("pid=%d comm=%s", __entry->pid, __entry->comm)
);

/* The end of the mode lull's walk; what it did with those it visited. */
TRACE_EVENT(thaw_walk,

	TP_PROTO(unsigned int visited, u64 restored, u64 woken, s64 nsecs),

	TP_ARGS(visited, restored, woken, nsecs),

	TP_STRUCT__entry(
		__field(unsigned int, visited)
		__field(u64, restored)
		__field(u64, woken)
		__field(s64, nsecs)
	),

	TP_fast_assign(
		__entry->visited = visited;
		__entry->restored = restored;
		__entry->woken = woken;
		__entry->nsecs = nsecs;
	),

	TP_printk("visited=%u restored=%llu woken=%llu nsecs=%lld",
		  __entry->visited, __entry->restored, __entry->woken,
		  __entry->nsecs)
);

#endif /* _TRACE_LULL_THAW_H */

#include <trace/define_trace.h>
