/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lull

#if !defined(_TRACE_LULL_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_LULL_H

#include <linux/tracepoint.h>

TRACE_EVENT(lull_mode,

	TP_PROTO(const char *feature, const char *mode),

	TP_ARGS(feature, mode),

	TP_STRUCT__entry(
		__string(feature, feature)
		__string(mode, mode)
	),

	TP_fast_assign(
		__assign_str(feature);
		__assign_str(mode);
	),

	TP_printk("feature=%s mode=%s", __get_str(feature), __get_str(mode))
);

#endif /* _TRACE_LULL_H */

#include <trace/define_trace.h>
