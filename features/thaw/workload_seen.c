// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whoever traces a switch sees who waits in a call as asleep, and as nothing else:
 * the kernel's monitor wwnr starts to watch a task when that is all it is told, and
 * tells of what happens to it from then on.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crowd.h"
#include "knob.h"
#include "safety.h"
#include "task.h"
#include "trace.h"
#include "util.h"
#include "workload.h"

#define MONITOR "/sys/kernel/tracing/rv/monitors/wwnr/enable"
/* For whoever else sleeps meanwhile. */
#define ROOM_KB "1024"

static struct crowd crowd;
static bool watched[PAIR_KINDS_MAX];
static uint64_t sleeps[PAIR_KINDS_MAX];

/* "PID: state x event -> state", where a task is watched. */
static int note_watched(const struct trace_event *ev, void *arg)
{
	pid_t pid = (pid_t)strtol(ev->text, NULL, 10);

	(void)arg;
	for (unsigned int i = 0; i < crowd.n; i++) {
		if (crowd.pids[i] == pid)
			watched[i] = true;
	}
	return 0;
}

static void count_sleeps(void)
{
	for (unsigned int i = 0; i < crowd.n; i++)
		sleeps[i] = task_sleeps(crowd.pids[i]);
}

/* All have been switched away from since then: to be in a state of sleep is not enough. */
static int wait_switched(void)
{
	for (unsigned int i = 0, ms = 0; i < crowd.n; ms++) {
		if (task_sleeps(crowd.pids[i]) > sleeps[i]) {
			i++;
			continue;
		}
		if (check_interrupted() < 0)
			return -1;
		if (ms > TRIAL_LIMIT_MS)
			return fail(STATUS_FAILED, crowd.pairs[i].kind->name,
				    "the task never slept again");
		sleep_ms(1);
	}
	return 0;
}

/* The names of those that were not. */
static unsigned int unwatched(char *names, size_t size)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < crowd.n; i++) {
		if (watched[i])
			continue;
		n++;
		snprintf(names + strlen(names), size - strlen(names), " %s",
			 crowd.pairs[i].kind->name);
	}
	return n;
}

static int watch(void)
{
	memset(watched, 0, sizeof(watched));
	/* Anew in each round: it forgets whom it watched. */
	if (knob_write(MONITOR, "1") < 0 || trace_clear() < 0 || trace_on() < 0)
		return -1;
	/* They fall asleep after the first poke; the second is what it tells of. */
	count_sleeps();
	if (crowd_poke(&crowd) < 0 || crowd_asleep(&crowd) < 0 || wait_switched() < 0 ||
	    crowd_poke(&crowd) < 0 || crowd_asleep(&crowd) < 0 || trace_off() < 0)
		return -1;
	return knob_write(MONITOR, "0") < 0 ? -1 : trace_each(note_watched, NULL);
}

static int seen_round(const struct job_case *c, const char *mode, struct sample *s)
{
	char text[300], names[200] = "";
	unsigned int n, tasks;

	if (crowd_start(&crowd, crowd_pm_kinds) < 0 || watch() < 0)
		return -1;
	n = unwatched(names, sizeof(names));
	tasks = crowd.n;
	crowd_stop(&crowd);
	sample_add(s, "unwatched", n);
	snprintf(text, sizeof(text), "%s: %u tasks, not seen to fall asleep:%s", mode, tasks,
		 n ? names : " none");
	return report_check(c, "seen", !n, text);
}

static int seen_setup(const struct job_case *c)
{
	if (trial_setup(c) < 0)
		return -1;
	if (!path_exists(MONITOR))
		return fail(STATUS_LACKING, MONITOR, "this kernel has no monitor wwnr");
	return trace_room(ROOM_KB) < 0 ? -1 : trace_enable("rv", "event_wwnr");
}

static void seen_teardown(void)
{
	crowd_stop(&crowd);
}

static const struct workload_param params[] = { TRIAL_PARAMS, { 0 } };

static const struct workload workload_seen = {
	.feature = "thaw",
	.name = "seen",
	.text = "whether a monitor that compares states as a whole knows who sleeps",
	.params = params,
	.setup = seen_setup,
	.round = seen_round,
	.teardown = seen_teardown,
};
WORKLOAD(workload_seen);
