// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>

#include "crew.h"
#include "latency.h"

struct latencies *latencies_make(uint32_t room)
{
	struct latencies *l = crew_memory(sizeof(*l) + room * sizeof(l->ns[0]));

	if (l)
		l->room = room;
	return l;
}

void latencies_clear(struct latencies *l)
{
	l->n = 0;
}

void latencies_add(struct latencies *l, uint64_t ns)
{
	uint32_t i = __atomic_fetch_add(&l->n, 1, __ATOMIC_RELAXED);

	if (i < l->room)
		l->ns[i] = ns;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint32_t sort(struct latencies *l)
{
	uint32_t n = l->n < l->room ? l->n : l->room;

	qsort(l->ns, n, sizeof(l->ns[0]), by_size);
	return n;
}

static void add(struct sample *s, const char *name, const char *what, double value)
{
	char metric[48];

	snprintf(metric, sizeof(metric), "%s_%s", name, what);
	sample_add(s, metric, value);
}

void latencies_report(struct latencies *l, const char *name, struct sample *s)
{
	uint32_t n = sort(l);

	if (!n)
		return;
	add(s, name, "p50", (double)l->ns[n / 2]);
	add(s, name, "p99", (double)l->ns[(uint64_t)n * 99 / 100]);
}

static unsigned int bucket_of(uint64_t ns)
{
	unsigned int log = ns ? 63 - (unsigned int)__builtin_clzll(ns) : 0;

	if (log < LATENCY_FIRST)
		return LATENCY_FIRST;
	return log < LATENCY_LAST ? log : LATENCY_LAST;
}

void latencies_report_tail(struct latencies *l, const char *name, struct sample *s)
{
	uint32_t n = sort(l), slow = 0, count[LATENCY_LAST + 1] = { 0 };
	char what[8];

	latencies_report(l, name, s);
	if (!n)
		return;
	add(s, name, "p999", (double)l->ns[(uint64_t)n * 999 / 1000]);
	add(s, name, "max", (double)l->ns[n - 1]);
	for (uint32_t i = 0; i < n; i++)
		count[bucket_of(l->ns[i])]++;
	for (unsigned int log = LATENCY_FIRST; log <= LATENCY_LAST; log++) {
		snprintf(what, sizeof(what), "h%u", log);
		add(s, name, what, count[log]);
		slow += log < LATENCY_SLOW ? 0 : count[log];
	}
	add(s, name, "slow", slow * 1000.0 / n);
}
