// SPDX-License-Identifier: GPL-2.0-only
/*
 * FZ11: who gets SIGKILL while it is frozen does not run before the thaw, and
 * dies after it. So does who got it just before.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "crew.h"
#include "inject.h"
#include "lull.h"
#include "pair.h"
#include "safety.h"
#include "suspend.h"
#include "task.h"
#include "util.h"
#include "workload.h"

#define WINDOW_MS 400
#define TRIES 6
#define LONG_NS (3600 * 1000000000ull)

/* Frozen in place by Lull, by stock, and in the refrigerator. */
static const char *const kinds[] = { "epoll", "pipe-read", "io_uring", "futex", "busy" };

/* In memory that all share. */
struct victim {
	struct pair pair;
	volatile uint64_t due;	/* of the SIGKILL that it sends itself */
	volatile uint32_t ready;
	volatile int error;
	uint64_t in_ns;
	bool busy;
	pid_t pid;
};

static struct victim *victims;

static int arm(struct victim *v)
{
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
	struct itimerspec at = { 0 };
	timer_t timer;

	v->due = now_ns() + v->in_ns;
	at.it_value = timespec_of(v->due);
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer) < 0)
		return -1;
	return timer_settime(timer, TIMER_ABSTIME, &at, NULL);
}

static void victim_main(void *arg)
{
	struct victim *v = arg;

	if (arm(v) < 0)
		v->error = errno;
	if (!v->busy)
		pair_start(&v->pair);
	v->ready = 1;
	for (;;) {
		if (v->busy)
			getppid();
		else
			v->pair.kind->wait(&v->pair, -1);
	}
}

static int start_victim(struct victim *v, const char *name, uint64_t in_ns)
{
	const struct pair_kind *kind;

	memset(v, 0, sizeof(*v));
	v->in_ns = in_ns;
	v->busy = !strcmp(name, "busy");
	if (!v->busy) {
		kind = pair_kind_named(name);
		if (!kind || pair_open(&v->pair, kind) < 0)
			return -1;
	}
	v->pid = trial_fork(name, victim_main, v);
	return v->pid < 0 ? -1 : 0;
}

static void stop_victims(void)
{
	for (size_t i = 0; victims && i < ARRAY_SIZE(kinds); i++) {
		trial_end(&victims[i].pid);
		pair_close(&victims[i].pair);
	}
}

/* Its timer may come before it has begun, where the machine is busy. */
static bool begins(const struct victim *v)
{
	for (int ms = 0; ms < TRIAL_LIMIT_MS && check_interrupted() >= 0; ms++) {
		if (v->ready || task_state(v->pid) == 'Z')
			break;
		sleep_ms(1);
	}
	return v->ready;
}

/* Returns 1 where they wait, 0 where one was killed before it did. */
static int start_victims(uint64_t in_ns)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (start_victim(&victims[i], kinds[i], in_ns) < 0)
			return -1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct victim *v = &victims[i];

		if (!begins(v) && task_state(v->pid) == 'Z')
			return 0;
		if (!v->ready || v->error)
			return fail(STATUS_FAILED, kinds[i], "the victim did not start: %s",
				    strerror(v->error));
		/* One that is on its way is signalled, and not frozen in place. */
		while (!v->busy && task_state(v->pid) != 'S' && now_ns() < v->due)
			sleep_ms(1);
	}
	return 1;
}

static bool hit(const struct trial_times *times)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (victims[i].due <= times->frozen || victims[i].due >= times->thaw)
			return false;
	}
	return true;
}

/* Names those that do not die. */
static void reap(char *alive, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t len = strlen(alive);

		/* One is enough to wait for: the others have had as long. */
		if (len ? task_state(victims[i].pid) == 'Z' :
			  task_ends(&victims[i].pid, trial_limit_ms()))
			continue;
		snprintf(alive + len, size - len, "%s%s", len ? ", " : "", kinds[i]);
	}
}

/* Whether all is well. */
static int report(const struct job_case *c, const char *mode, const char *when)
{
	char alive[160] = "", last[64] = "";
	uint64_t escapes = 0;

	/* Of freeze's checker: whoever runs before the thaw. */
	if (lull_check_read("freeze", &escapes, last, sizeof(last)) < 0)
		return -1;
	reap(alive, sizeof(alive));
	if (check_interrupted() < 0)
		return -1;
	if (inject_verdict(c, "FZ11", mode, !escapes && !*alive,
			   ", killed %s: %" PRIu64 " ran before the thaw%s%s; alive after it: %s",
			   when, escapes, escapes ? ", last " : "", escapes ? last : "",
			   *alive ? alive : "none") < 0)
		return -1;
	return !escapes && !*alive;
}

/* By a timer, which does not freeze. */
static int while_frozen(const struct job_case *c, const char *mode)
{
	uint64_t window_ms = WINDOW_MS, begin = now_ns(), freeze_ns;
	struct trial_times times;

	if (trial_window(0) < 0 || start_victims(LONG_NS) < 0 || trial_timed_cycle(&times) < 0)
		return -1;
	freeze_ns = times.frozen - begin;
	stop_victims();
	for (int i = 0; i < TRIES; i++, window_ms *= 2) {
		int started;

		if (trial_window(window_ms) < 0 || lull_check_clear("freeze") < 0)
			return -1;
		started = start_victims(freeze_ns + window_ms * 500000);
		if (started < 0 || (started && trial_timed_cycle(&times) < 0))
			return -1;
		if (started && hit(&times))
			return report(c, mode, "while frozen");
		stop_victims();
	}
	return fail(STATUS_UNMET, "killed", "nobody was killed while all were frozen");
}

static int just_before(const struct job_case *c, const char *mode)
{
	if (trial_window(0) < 0 || lull_check_clear("freeze") < 0 || start_victims(LONG_NS) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		kill(victims[i].pid, SIGKILL);
	return suspend_once() < 0 ? -1 : report(c, mode, "just before");
}

static int killed_setup(const struct job_case *c)
{
	if (!victims)
		victims = crew_memory(ARRAY_SIZE(kinds) * sizeof(*victims));
	return victims ? trial_setup(c) : -1;
}

static int killed_round(const struct job_case *c, const char *mode, struct sample *s)
{
	int ret = while_frozen(c, mode);

	(void)s;
	/* Those that a broken kernel leaves alive cannot be killed once more. */
	if (ret <= 0)
		return ret;
	stop_victims();
	ret = just_before(c, mode);
	if (ret <= 0)
		return ret;
	stop_victims();
	return 0;
}

static const struct workload_param killed_params[] = {
	TRIAL_PARAMS,
	{ 0 },
};

static const struct workload killed = {
	.feature = "thaw",
	.name = "killed",
	.text = "SIGKILL for tasks that are frozen",
	.params = killed_params,
	.setup = killed_setup,
	.round = killed_round,
	.teardown = stop_victims,
};

WORKLOAD(killed);
