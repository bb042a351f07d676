// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loops that make, replace, stop and start processes while the freezer runs:
 * whoever it could miss is born here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "freezer.h"
#include "helper.h"
#include "inject.h"
#include "knob.h"
#include "lull.h"
#include "race.h"
#include "unrest.h"
#include "util.h"

#define EXEC_NAME "lull-storm-exec"
#define STORM_LIMIT_MS "120000"

static struct crew crew;

static void loop_forks(void)
{
	for (;;) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

static void *thread_main(void *arg)
{
	return arg;
}

static void loop_threads(void)
{
	pthread_t thread;

	for (;;) {
		if (!pthread_create(&thread, NULL, thread_main, NULL))
			pthread_join(thread, NULL);
	}
}

static void exec_again(void)
{
	char *argv[] = { (char *)EXEC_NAME, NULL };

	execv("/proc/self/exe", argv);
	_exit(1);
}

/* One that runs all the time, to be stopped and continued. */
static void loop_stops(void)
{
	pid_t self = getpid(), pid = fork();

	if (!pid) {
		crew_member(self);
		for (;;)
			sched_yield();
	}
	for (;;) {
		kill(pid, SIGSTOP);
		sched_yield();
		kill(pid, SIGCONT);
		sched_yield();
	}
}

static void loop_umh(void)
{
	/*
	 * The kernel does not wait for these helpers, so nothing but time keeps
	 * them from piling up without a limit.
	 */
	for (;;) {
		helper_call(HELPER_SHORT);
		sleep_ms(1);
	}
}

/* Another reads and writes the switch while the freezer runs: EBUSY is fine. */
static void loop_switches(void)
{
	for (;;) {
		write_file(SWITCH, "stock");
		write_file(SWITCH, "lull");
		sched_yield();
	}
}

static bool is_exec(int argc, char **argv)
{
	return argc > 0 && !strcmp(argv[0], EXEC_NAME);
}

static int run_exec(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	exec_again();
	return 1;
}

static const struct applet exec_applet = { .claims = is_exec, .run = run_exec };

APPLET(exec_applet);

static const struct loop {
	const char *param;
	void (*run)(void);
} loops[] = {
	{ "forks", loop_forks },
	{ "threads", loop_threads },
	{ "execs", exec_again },
	{ "stops", loop_stops },
	{ "umh", loop_umh },
	{ "switchers", loop_switches },
};

static void start_loops(uint64_t order, void *arg, struct crew_answer *answer)
{
	const struct job_case *c = arg;
	pid_t boss = getpid();

	(void)order;
	for (size_t i = 0; i < ARRAY_SIZE(loops); i++) {
		for (uint64_t k = job_number(c, loops[i].param); k; k--, answer->done++) {
			pid_t pid = fork();

			if (!pid) {
				crew_member(boss);
				loops[i].run();
			}
			if (pid > 0)
				continue;
			answer->error = errno;
			strcpy(answer->doing, "starting a loop");
			return;
		}
	}
}

static int storm_setup(const struct job_case *c)
{
	if (!job_number(c, "cycles"))
		return fail(STATUS_USAGE, "cycles", "a storm takes at least one cycle");
	if (freezer_prepare() < 0)
		return -1;
	if (job_number(c, "umh") && helper_install() < 0)
		return -1;
	if (inject_case(c) < 0)
		return -1;
	/* In a trial a host that stands still is given up by the lab, not by the freezer. */
	if ((job_number(c, "window") || job_number(c, "swap")) &&
	    knob_write(FREEZER_TIMEOUT, STORM_LIMIT_MS) < 0)
		return -1;
	if (job_number(c, "window") &&
	    inject_number("freeze", "window_ms", job_number(c, "window")) < 0)
		return -1;
	if (crew_start(&crew, start_loops, (void *)c) < 0 || crew_do(&crew, 0) < 0)
		return -1;
	/* All of them are in their loops by then. */
	sleep_ms(50);
	return 0;
}

/* FZ5: nobody runs between the end of freezing and the start of thawing. */
static int report_escapes(const struct job_case *c, const char *mode, uint64_t cycles)
{
	uint64_t escapes = 0;
	char last[128], text[600];
	int there;

	there = lull_check_read("freeze", &escapes, last, sizeof(last));
	if (there <= 0)
		return there;
	snprintf(text, sizeof(text), "%s: %llu cycles, %llu escapes%s%s%s", mode,
		 (unsigned long long)cycles, (unsigned long long)escapes, *last ? ", last " : "",
		 last, unrest_text());
	return report_check(c, "FZ5", !escapes, text);
}

static int storm_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t cycles = job_number(c, "cycles"), i;

	if (unrest_start(c) < 0 || lull_check_clear("freeze") < 0)
		return -1;
	for (i = 0; unrest_goes_on(i, cycles, true); i++) {
		if (freezer_cycle(s, false) < 0 || check_interrupted() < 0)
			return -1;
		unrest_step();
	}
	return unrest_end(report_escapes(c, mode, i));
}

static void storm_teardown(void)
{
	unrest_stop();
	crew_stop(&crew);
}

static const struct workload_param storm_params[] = {
	{ "forks", "1" },
	{ "threads", "1" },
	{ "execs", "1" },
	{ "stops", "0" },
	{ "umh", "0" },
	{ "switchers", "0" },
	{ "cycles", "1" },
	/* 1: a CPU goes and comes, memory goes out and comes back meanwhile. */
	UNREST_PARAMS,
	/* Debug kernels: safeguards to do without, and how long to stay frozen. */
	{ "disable", "none" },
	{ "window", "0" },
	{ 0 },
};

static const struct workload storm = {
	.feature = "freeze",
	.name = "storm",
	.text = "fork, thread, exec, stop and helper loops that go on while freezing",
	.params = storm_params,
	.setup = storm_setup,
	.round = storm_round,
	.teardown = storm_teardown,
};

WORKLOAD(storm);
