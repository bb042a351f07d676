/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lull

#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE lull_devices

#if !defined(_TRACE_LULL_DEVICES_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_LULL_DEVICES_H

#include <linux/device.h>
#include <linux/tracepoint.h>

/* A device is given to a worker: why, as the feature's counters call it. */
TRACE_EVENT(device_start,

	TP_PROTO(const struct device *dev, const char *why),

	TP_ARGS(dev, why),

	TP_STRUCT__entry(
		__string(device, dev_name(dev))
		__string(why, why)
	),

	TP_fast_assign(
		__assign_str(device);
		__assign_str(why);
	),

	TP_printk("device=%s why=%s", __get_str(device), __get_str(why))
);

#endif /* _TRACE_LULL_DEVICES_H */

#include <trace/define_trace.h>
