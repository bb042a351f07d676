// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process with many threads is moved, and moved again to where it is: stock's
 * event both times, and no more looks at its threads than it takes to know (C3).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crew.h"
#include "groups.h"
#include "job.h"
#include "lull.h"
#include "safety.h"
#include "trace.h"
#include "util.h"
#include "workload.h"

#define STACK 32768
#define START_MS 20000

static struct cgroup dst;
static unsigned int threads;
static pid_t process;

/* What one write did. */
struct write_done {
	int error;
	unsigned int events;
	uint64_t looked, locked;
};

static void *thread_main(void *arg)
{
	safety_sleep();
	return arg;
}

static void process_main(void)
{
	pthread_attr_t attr;
	pthread_t id;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (unsigned int i = 0; i < threads; i++) {
		if (pthread_create(&id, &attr, thread_main, NULL))
			_exit(1);
	}
	safety_sleep();
}

static int count_event(const struct trace_event *ev, void *arg)
{
	unsigned int *events = arg;
	uint64_t pid;

	if (!strcmp(ev->name, "cgroup_attach_task") && trace_field_u64(ev->text, "pid", &pid))
		*events += pid == (uint64_t)process;
	return 0;
}

static int write_once(struct write_done *w)
{
	memset(w, 0, sizeof(*w));
	if (lull_stats_clear("attach") < 0 || trace_clear() < 0 || trace_on() < 0)
		return -1;
	w->error = safety_move(&dst, "cgroup.procs", process);
	if (trace_off() < 0)
		return -1;
	w->looked = lull_stat("attach", "looked");
	w->locked = lull_stat("attach", "group");
	return trace_each(count_event, &w->events);
}

static bool done_as(const struct write_done *w, uint64_t looked, uint64_t locked)
{
	return !w->error && w->events == 1 && w->looked == looked && w->locked == locked;
}

static int there_setup(const struct job_case *c)
{
	threads = (unsigned int)job_number(c, "threads");
	if (safety_start(c) < 0 || group_make(&dst, "dst") < 0 || trace_open() < 0)
		return -1;
	return trace_enable("cgroup", "cgroup_attach_task");
}

static unsigned int count_threads(void)
{
	char path[64], text[2000], *at;

	snprintf(path, sizeof(path), "/proc/%d/status", process);
	if (read_file(path, text, sizeof(text)) < 0)
		return 0;
	at = strstr(text, "\nThreads:");
	return at ? (unsigned int)strtoul(at + strlen("\nThreads:"), NULL, 10) : 0;
}

static int start_process(void)
{
	process = safety_fork(process_main);
	if (process < 0)
		return -1;
	for (unsigned int ms = 0; count_threads() <= threads; ms++) {
		if (ms == START_MS)
			return fail(STATUS_FAILED, "there", "%u of %u threads after %u ms",
				    count_threads(), threads + 1, ms);
		sleep_ms(1);
	}
	return 0;
}

static int there_round(const struct job_case *c, const char *mode, struct sample *s)
{
	bool lull = !strcmp(mode, "lull"), ours = strcmp(mode, "stock");
	struct write_done moved, same;
	char text[250];
	bool ok;

	(void)s;
	if (start_process() < 0 || write_once(&moved) < 0 || write_once(&same) < 0)
		return -1;
	crew_end(&process);
	/* On v2 one look at the leader, for which nothing is locked. */
	ok = done_as(&moved, lull && job_number(c, "v1"), ours) &&
	     done_as(&same, lull ? threads + 1 : 0, ours && !lull);
	snprintf(text, sizeof(text),
		 "%s: moved: errno %d, %u events, %" PRIu64 " threads looked at, %" PRIu64
		 " groups locked; to where it is: errno %d, %u, %" PRIu64 ", %" PRIu64,
		 mode, moved.error, moved.events, moved.looked, moved.locked, same.error,
		 same.events, same.looked, same.locked);
	return report_check(c, "there", ok, text);
}

static void there_teardown(void)
{
	crew_end(&process);
	trace_disable("cgroup", "cgroup_attach_task");
	safety_stop();
}

static const struct workload_param there_params[] = {
	{ "threads", "30" },
	SAFETY_PARAMS,
	{ 0 },
};

static const struct workload there = {
	.feature = "attach",
	.name = "there",
	.text = "what is where it is to go, or not, and how little it takes to know",
	.params = there_params,
	.setup = there_setup,
	.round = there_round,
	.teardown = there_teardown,
};

WORKLOAD(there);
