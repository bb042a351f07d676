// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "knob.h"
#include "lull.h"
#include "safety.h"
#include "suspend.h"
#include "trace.h"
#include "util.h"

#define DEBUG_DIR "/sys/kernel/debug/lull/"
#define WINDOW DEBUG_DIR "freeze/inject/window_ms"
/* Of pm_test, where no kernel of ours can do better; in seconds. */
#define DELAY "/sys/module/suspend/parameters/pm_test_delay"

int trial_setup(const struct job_case *c)
{
	if (suspend_prepare("freezer") < 0 || lull_inject(c) < 0)
		return -1;
	if (trace_has("lull", "freeze_phase"))
		return trace_enable("lull", "freeze_phase");
	return 0;
}

int trial_cycle(void)
{
	int error = suspend_cycle();

	if (check_interrupted() < 0)
		return -1;
	return error ? suspend_failed(error) : 0;
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
	if (trace_clear() < 0 || trace_on() < 0 || trial_cycle() < 0 || trace_off() < 0 ||
	    trace_each(note_times, times) < 0)
		return -1;
	if (times->frozen && times->thaw)
		return 0;
	return fail(STATUS_FAILED, "tracefs", "the trace does not tell when all were frozen");
}

static int set_number(const char *path, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return knob_write(path, text);
}

int trial_window(uint64_t ms)
{
	if (path_exists(WINDOW))
		return set_number(WINDOW, ms);
	return set_number(DELAY, (ms + 999) / 1000);
}

int trial_inject(const char *file, uint64_t value)
{
	char path[128];

	snprintf(path, sizeof(path), DEBUG_DIR "thaw/inject/%s", file);
	if (path_exists(path))
		return set_number(path, value);
	fail(STATUS_LACKING, path, "this kernel has no injections");
	return fail_hint("boot the debug arm: lull kernel build --arm debug");
}

int trial_check_clear(void)
{
	return lull_check_clear("thaw") < 0 ? -1 : 0;
}

uint64_t trial_check(const char *name)
{
	char text[1024], line[64];
	const char *at = text;

	if (read_file(DEBUG_DIR "thaw/check", text, sizeof(text)) <= 0)
		return 0;
	snprintf(line, sizeof(line), "%s ", name);
	/* At the start of a line: names are parts of others. */
	while (strncmp(at, line, strlen(line))) {
		at = strchr(at, '\n');
		if (!at++)
			return 0;
	}
	return strtoull(at + strlen(line), NULL, 10);
}

int trial_check_wait(const char *name, uint64_t at_least)
{
	for (int ms = 0; trial_check(name) < at_least; ms++) {
		if (ms > TRIAL_LIMIT_MS)
			return fail(STATUS_FAILED, DEBUG_DIR "thaw/check",
				    "'%s' never came to %llu", name, (unsigned long long)at_least);
		if (check_interrupted() < 0)
			return -1;
		sleep_ms(1);
	}
	return 0;
}

pid_t trial_fork(const char *name, void (*body)(void *arg), void *arg)
{
	pid_t probe = getpid(), pid = fork();

	if (pid < 0)
		return fail(STATUS_FAILED, "fork", "no process: %s", strerror(errno));
	if (pid)
		return pid;
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	prctl(PR_SET_NAME, name);
	crew_member(probe);
	body(arg);
	_exit(0);
}

int trial_freeze(const struct cgroup *cg)
{
	char path[300], state[16];

	if (cgroup_set(cg, "freezer.state", "FROZEN") < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/freezer.state", cg->path);
	for (int ms = 0; ms < TRIAL_LIMIT_MS; ms++) {
		if (check_interrupted() < 0)
			return -1;
		if (read_file(path, state, sizeof(state)) > 0 && !strcmp(state, "FROZEN\n"))
			return 0;
		sleep_ms(1);
	}
	return fail(STATUS_FAILED, path, "the cgroup never comes to be FROZEN");
}

void trial_thaw(const struct cgroup *cg)
{
	char path[300];

	if (!cg->path[0])
		return;
	snprintf(path, sizeof(path), "%s/freezer.state", cg->path);
	write_file(path, "THAWED");
}

/* What follows the name, which may itself have spaces and brackets. */
static const char *stat_fields(pid_t pid, char *text, size_t size)
{
	char path[64], *paren;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (read_file(path, text, size) <= 0)
		return NULL;
	paren = strrchr(text, ')');
	return paren && paren[1] == ' ' ? paren + 2 : NULL;
}

char trial_state(pid_t pid)
{
	char text[1024];
	const char *fields = stat_fields(pid, text, sizeof(text));

	return fields ? *fields : 0;
}

bool trial_comes_to(pid_t pid, const char *letters)
{
	for (int ms = 0; ms < TRIAL_LIMIT_MS && check_interrupted() >= 0; ms++) {
		char state = trial_state(pid);

		if (state && strchr(letters, state))
			return true;
		sleep_ms(1);
	}
	return false;
}

int trial_state_wait(pid_t pid, const char *letters)
{
	if (trial_comes_to(pid, letters))
		return 0;
	return fail(STATUS_FAILED, "/proc", "task %d is in state %c, not in one of %s", pid,
		    trial_state(pid) ?: '-', letters);
}

bool trial_dies(pid_t *pid)
{
	for (int ms = 0; ms < TRIAL_LIMIT_MS && check_interrupted() >= 0; ms++) {
		if (waitpid(*pid, NULL, WNOHANG) == *pid) {
			*pid = 0;
			return true;
		}
		sleep_ms(1);
	}
	return false;
}

void trial_end(pid_t *pid)
{
	if (*pid <= 0)
		return;
	kill(*pid, SIGKILL);
	trial_dies(pid);
	*pid = 0;
}

bool trial_reaches(const volatile uint32_t *word, uint32_t at_least)
{
	for (int ms = 0; ms < TRIAL_LIMIT_MS && check_interrupted() >= 0; ms++) {
		if (*word >= at_least)
			return true;
		sleep_ms(1);
	}
	return false;
}

uint64_t trial_sleeps(pid_t pid)
{
	static const char key[] = "\nvoluntary_ctxt_switches:";
	char path[64], text[4096];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (read_file(path, text, sizeof(text)) <= 0)
		return 0;
	at = strstr(text, key);
	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}
