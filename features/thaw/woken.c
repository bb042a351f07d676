// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "freezer.h"
#include "sleepers.h"
#include "suspend.h"
#include "trace.h"
#include "util.h"
#include "woken.h"

/* Some events of 60 bytes for each of some thousand tasks, while frozen and after. */
#define ROOM_KB "4096"

struct reader {
	struct woken *woken;
	bool thawing, thawed;
};

int woken_prepare(void)
{
	return trace_room(ROOM_KB);
}

bool woken_is_told(void)
{
	return trace_has("lull", "thaw_woken");
}

static void one_wakeup(struct reader *r, pid_t pid, bool told)
{
	bool in_crowd = sleepers_find(pid) >= 0;

	/*
	 * Nobody else wakes the crowd, and another CPU may come to one of its
	 * wakeups only when thawing has ended: it counts whenever it is.
	 */
	if (in_crowd)
		pids_add(&r->woken->crowd, pid);
	if (in_crowd || told || !r->thawed)
		pids_add(&r->woken->all, pid);
}

static int one_event(const struct trace_event *ev, void *arg)
{
	struct reader *r = arg;
	uint64_t pid, ns;

	if (!strcmp(ev->name, "suspend_resume")) {
		r->thawing = r->thawing || !strcmp(ev->text, "thaw_processes[0] begin");
		r->thawed = r->thawed || !strcmp(ev->text, "thaw_processes[0] end");
		return 0;
	}
	if (!r->thawing || !trace_field_u64(ev->text, "pid", &pid))
		return 0;
	if (!strcmp(ev->name, "thaw_woken"))
		one_wakeup(r, (pid_t)pid, true);
	else if (!strcmp(ev->name, "sched_wakeup"))
		one_wakeup(r, (pid_t)pid, false);
	else if (sleepers_find((pid_t)pid) >= 0 && trace_field_u64(ev->text, "runtime", &ns))
		r->woken->cpu_ns += ns;
	return 0;
}

static int read_events(struct woken *woken)
{
	struct reader r = { .woken = woken };

	if (trace_each(one_event, &r) < 0)
		return -1;
	if (!r.thawed)
		return fail(STATUS_FAILED, "tracefs", "the trace of a suspend lacks the end");
	pids_sort(&woken->all);
	pids_sort(&woken->crowd);
	return 0;
}

static int switch_events(int (*set)(const char *system, const char *event))
{
	bool told = woken_is_told();

	if (set(told ? "lull" : "sched", told ? "thaw_woken" : "sched_wakeup") < 0)
		return -1;
	return set("sched", "sched_stat_runtime");
}

int woken_cycle(struct woken *woken, unsigned int after_ms)
{
	memset(woken, 0, sizeof(*woken));
	if (switch_events(trace_enable) < 0 || freezer_traced(true, after_ms) < 0 ||
	    switch_events(trace_disable) < 0)
		return -1;
	return read_events(woken);
}

void woken_free(struct woken *woken)
{
	pids_free(&woken->all);
	pids_free(&woken->crowd);
}

void woken_add(const struct woken *woken, struct sample *s)
{
	unsigned int by_wait[WAITS_NR] = { 0 };
	char name[48];

	for (size_t i = 0; i < woken->crowd.n; i++)
		by_wait[sleepers_wait((unsigned int)sleepers_find(woken->crowd.pid[i]))]++;
	sample_add(s, "woken", (double)woken->crowd.n);
	sample_add(s, "woken_all", (double)woken->all.n);
	for (unsigned int i = 0; i < WAITS_NR; i++) {
		snprintf(name, sizeof(name), "woken_%s", waits[i].name);
		if (sleepers_has(i))
			sample_add(s, name, by_wait[i]);
	}
}
