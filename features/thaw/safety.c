// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "crew.h"
#include "freezer.h"
#include "inject.h"
#include "knob.h"
#include "lull.h"
#include "safety.h"
#include "suspend.h"
#include "task.h"
#include "trace.h"
#include "util.h"

#define DEBUG_DIR "/sys/kernel/debug/lull/"
#define WINDOW DEBUG_DIR "freeze/inject/window_ms"
/* Of pm_test, where no kernel of ours can do better; in seconds. */
#define DELAY "/sys/module/suspend/parameters/pm_test_delay"
#define PATIENT_MS "120000"

static unsigned int limit_ms = TRIAL_LIMIT_MS;

int trial_setup(const struct job_case *c)
{
	limit_ms = (unsigned int)job_number(c, "limit");
	if (suspend_prepare("freezer") < 0 || inject_case(c) < 0)
		return -1;
	if (trace_has("lull", "freeze_phase"))
		return trace_enable("lull", "freeze_phase");
	return 0;
}

int trial_setup_alone(const struct job_case *c)
{
	return trial_setup(c) < 0 ? -1 : lull_switch("freeze", "stock");
}

int trial_patient(const struct job_case *c)
{
	return job_number(c, "swap") ? knob_write(FREEZER_TIMEOUT, PATIENT_MS) : 0;
}

unsigned int trial_limit_ms(void)
{
	return limit_ms;
}

static int note_times(const struct trace_event *ev, void *arg)
{
	struct trial_times *times = arg;

	/* The window that a debug kernel holds open is before the end of the span. */
	if (!strcmp(ev->name, "freeze_phase") ||
	    (!times->frozen && !strcmp(ev->text, "freeze_processes[0] end")))
		times->frozen = ev->ns;
	else if (!strcmp(ev->text, "thaw_processes[0] begin"))
		times->thaw = ev->ns;
	return 0;
}

int trial_timed_cycle(struct trial_times *times)
{
	memset(times, 0, sizeof(*times));
	if (trace_clear() < 0 || trace_on() < 0 || suspend_once() < 0 || trace_off() < 0 ||
	    trace_each(note_times, times) < 0)
		return -1;
	if (times->frozen && times->thaw)
		return 0;
	return fail(STATUS_FAILED, "tracefs", "the trace does not tell when all were frozen");
}

int trial_window(uint64_t ms)
{
	char text[24];

	if (path_exists(WINDOW))
		return inject_number("freeze", "window_ms", ms);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)(ms + 999) / 1000);
	return knob_write(DELAY, text);
}

pid_t trial_fork(const char *name, void (*body)(void *arg), void *arg)
{
	pid_t pid = crew_fork(name);

	if (pid)
		return pid;
	body(arg);
	_exit(0);
}

int trial_state_wait(pid_t pid, const char *letters)
{
	if (task_comes_to(pid, letters, TRIAL_LIMIT_MS))
		return 0;
	return fail(STATUS_FAILED, "/proc", "task %d is in state %c, not in one of %s", pid,
		    task_state(pid) ?: '-', letters);
}

void trial_end(pid_t *pid)
{
	if (*pid <= 0)
		return;
	kill(*pid, SIGKILL);
	task_ends(pid, limit_ms);
	*pid = 0;
}

bool trial_reaches(const volatile uint32_t *word, uint32_t at_least)
{
	for (unsigned int ms = 0; ms < limit_ms && check_interrupted() >= 0; ms++) {
		if (*word >= at_least)
			return true;
		sleep_ms(1);
	}
	return false;
}
