// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whom a thaw wakes, by the recipe that the thread has for it, beside the count by
 * the events of Lull: two means that know nothing of each other, in one cycle. The
 * recipe has a trace instance, triggers and a reader of its own, so that a fault of
 * the probe's is not in both.
 *
 * The recipe counts every wakeup in that time. A task that was thawed with something
 * to do may wake another, whom thawing has not woken; in the crowd nobody does
 * anything but to sleep again, so there both have to find the same.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "freezer.h"
#include "knob.h"
#include "sleepers.h"
#include "util.h"
#include "woken.h"

#define TRACEFS "/sys/kernel/tracing/instances"
#define RECIPE TRACEFS "/lull-recipe"

static int echo(const char *value, const char *file)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), RECIPE "/%s", file);
	/* As the shell opens it: that empties the trace, and the events. */
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		fail(STATUS_FAILED, path, "cannot write '%s' to %s: %s", value, path,
		     strerror(errno));
	else
		return close(fd);
	if (fd >= 0)
		close(fd);
	return fail_hint("triggers of trace events need CONFIG_EVENT_TRACING");
}

/* The thread's lines, but for the name of the instance. */
static int set_up(void)
{
	static const struct {
		const char *value, *file;
	} lines[] = {
		{ "0", "tracing_on" },
		{ "\n", "trace" },
		{ "power:suspend_resume", "set_event" },
		{ "enable_event:sched:sched_wakeup"
		  " if action == \"thaw_processes\" && start == 1",
		  "events/power/suspend_resume/trigger" },
		{ "traceoff if action == \"thaw_processes\" && start == 0",
		  "events/power/suspend_resume/trigger" },
		{ "1", "tracing_on" },
	};

	/* One that a killed probe left would have its triggers. */
	rmdir(RECIPE);
	if (knob_mkdir(RECIPE) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		if (echo(lines[i].value, lines[i].file) < 0)
			return -1;
	}
	return 0;
}

/* grep sched_wakeup | grep -o "pid=[0-9]*" | sort -u */
static int count(struct pids *all, struct pids *crowd)
{
	char *text = read_whole(RECIPE "/trace"), *rest = text, *line;
	unsigned int ends = 0;

	if (!text)
		return fail(STATUS_FAILED, RECIPE "/trace", "cannot read it: %s", strerror(errno));
	while ((line = strsep(&rest, "\n"))) {
		char *at = strstr(line, "sched_wakeup:");
		pid_t pid;

		ends += !!strstr(line, "thaw_processes[0]");
		at = at ? strstr(at, "pid=") : NULL;
		if (!at)
			continue;
		pid = (pid_t)strtol(at + strlen("pid="), NULL, 10);
		pids_add(all, pid);
		if (sleepers_find(pid) >= 0)
			pids_add(crowd, pid);
	}
	free(text);
	pids_sort(all);
	pids_sort(crowd);
	/* Where there is more than it holds, the first lines are gone. */
	return ends == 2 ? 0 : fail(STATUS_FAILED, RECIPE "/trace",
				    "%u lines of thaw_processes instead of begin and end", ends);
}

static int compare(const struct job_case *c, const char *mode, const struct pids *recipe,
		   const struct pids *events, struct sample *s)
{
	size_t differ = pids_differ(recipe, events);
	char text[160];

	sample_add(s, "event_woken", (double)events->n);
	sample_add(s, "differ", (double)differ);
	snprintf(text, sizeof(text), "%s: the recipe finds %zu woken, events %zu, %zu differ", mode,
		 recipe->n, events->n, differ);
	return report_check(c, "FZ10", !differ, text);
}

static int recipe_setup(const struct job_case *c)
{
	uint64_t n = job_number(c, "sleepers");

	if (sleepers_mix(job_param(c, "mix"), WAITS_NR) < 0)
		return -1;
	if (!path_exists(TRACEFS)) {
		fail(STATUS_LACKING, TRACEFS, "no tracefs with instances is mounted there");
		return fail_hint("mount -t tracefs tracefs /sys/kernel/tracing");
	}
	if (freezer_prepare() < 0 || woken_prepare() < 0 || freezer_make_room(n) < 0)
		return -1;
	/*
	 * All on the CPU that thaws. Another one may be sent an interrupt to do the
	 * wakeup itself, and come to it after the end of thawing.
	 */
	if (pin_begin(0) < 0)
		return -1;
	return sleepers_start(n) < 0 ? -1 : sleepers_look();
}

static int recipe_round(const struct job_case *c, const char *mode, struct sample *s)
{
	struct pids all = { 0 }, crowd = { 0 };
	unsigned int mark = knob_mark();
	struct woken woken = { 0 };
	int ret = -1;

	if (!set_up() && !woken_cycle(&woken, 0) && !count(&all, &crowd)) {
		sample_add(s, "recipe_woken", (double)crowd.n);
		sample_add(s, "recipe_all", (double)all.n);
		/* Without Lull the events are the recipe's, and agree for nothing. */
		ret = woken_is_told() ? compare(c, mode, &crowd, &woken.crowd, s) : 0;
	}
	woken_free(&woken);
	pids_free(&all);
	pids_free(&crowd);
	if (knob_restore(mark) < 0)
		return -1;
	return ret < 0 ? -1 : sleepers_check();
}

static void recipe_teardown(void)
{
	sleepers_stop();
	pin_end();
}

static const struct workload_param recipe_params[] = {
	{ "sleepers", "400" },
	{ "mix", "desktop" },
	{ 0 },
};

static const struct workload recipe = {
	.feature = "thaw",
	.name = "thread-recipe",
	.text = "whom a thaw wakes, by the thread's recipe and by Lull's events",
	.params = recipe_params,
	.setup = recipe_setup,
	.round = recipe_round,
	.teardown = recipe_teardown,
};

WORKLOAD(recipe);
