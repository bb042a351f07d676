/* SPDX-License-Identifier: GPL-2.0-only */
/* How long each of many operations took, gathered by several processes. */
#ifndef LULL_LATENCY_H
#define LULL_LATENCY_H

#include <stdint.h>

#include "workload.h"

struct latencies {
	uint32_t n, room;
	uint64_t ns[];
};

/* In memory that children share, for so many; NULL with fail() called. */
struct latencies *latencies_make(uint32_t room);
void latencies_clear(struct latencies *l);
/* From any thread of any process; what there is no room for is left out. */
void latencies_add(struct latencies *l, uint64_t ns);

/* NAME_p50 and NAME_p99; nothing where there are none. Sorts them. */
void latencies_report(struct latencies *l, const char *name, struct sample *s);
/*
 * NAME_p999 and NAME_max as well; NAME_slow, how many of 1,000 took a millisecond
 * (2^20 ns) or more; and the histogram: NAME_hN is how many took from 2^N to
 * 2^(N+1) ns, those below LATENCY_FIRST in its own.
 */
void latencies_report_tail(struct latencies *l, const char *name, struct sample *s);

#define LATENCY_FIRST 10
#define LATENCY_SLOW 20
#define LATENCY_LAST 27

#endif
