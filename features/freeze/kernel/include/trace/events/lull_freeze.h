/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lull

#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE lull_freeze

#if !defined(_TRACE_LULL_FREEZE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_LULL_FREEZE_H

#include <linux/tracepoint.h>

/*
 * The end of a phase. @nsecs is what the kernel's own "elapsed" line rounds
 * to milliseconds; walks and visited count this phase's alone.
 */
TRACE_EVENT(freeze_phase,

	TP_PROTO(bool user, s64 nsecs, unsigned int todo, u64 walks,
		 u64 visited),

	TP_ARGS(user, nsecs, todo, walks, visited),

	TP_STRUCT__entry(
		__field(bool, user)
		__field(s64, nsecs)
		__field(unsigned int, todo)
		__field(u64, walks)
		__field(u64, visited)
	),

	TP_fast_assign(
		__entry->user = user;
		__entry->nsecs = nsecs;
		__entry->todo = todo;
		__entry->walks = walks;
		__entry->visited = visited;
	),

	TP_printk("phase=%s nsecs=%lld todo=%u walks=%llu visited=%llu",
		  __entry->user ? "user" : "kernel", __entry->nsecs,
		  __entry->todo, __entry->walks, __entry->visited)
);

#endif /* _TRACE_LULL_FREEZE_H */

#include <trace/define_trace.h>
