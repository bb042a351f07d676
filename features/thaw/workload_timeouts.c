// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls with a timeout that is over while all are frozen return when they are
 * thawed, others not before theirs; none of them says that it was interrupted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "crew.h"
#include "inject.h"
#include "pair.h"
#include "safety.h"
#include "task.h"
#include "util.h"
#include "workload.h"

/* A fast machine's; one that has not been frozen in time gets another try with more. */
#define WINDOW_MS 400
#define TRIES 6
/*
 * What a timeout may last longer, beside the time from the first start to the thaw: all
 * come back at once then, which takes a slow machine as long as to start them, and a
 * select() that is interrupted and restarted lasts longer by the time it was frozen.
 */
#define LATE_NS (TRIAL_LIMIT_MS / 3 * 1000000ull)
/* Not over before all have started, however long that takes. */
#define LONG_NS (3600 * 1000000000ull)

/* One of them, in memory that all share. */
struct sleeper {
	struct pair pair;
	uint64_t over;		/* when its timeout is to be over */
	volatile uint64_t timeout;
	volatile uint64_t begin, asleep, end;
	volatile int error;	/* what it returned */
	volatile uint32_t done;
	pid_t pid;
};

/* Of each kind, one that is due while frozen and one that is not. */
static struct sleeper *sleepers;
static unsigned int nsleepers;

/* What became of them, in a try that was one. */
struct result {
	char early[200], late[200], interrupted[200], other[200];
	uint64_t latest, may_last;
	const char *latest_kind;
};

static void sleeper_main(void *arg)
{
	struct sleeper *s = arg;

	s->begin = now_ns();
	s->timeout = s->over > s->begin ? s->over - s->begin : 0;
	/* In ms, as the coarsest of the calls wants it. */
	s->timeout += 1000000 - s->timeout % 1000000;
	/* Here, since whoever says that it is ready is waited for until it sleeps. */
	pair_start(&s->pair);
	s->error = s->pair.kind->wait(&s->pair, (int64_t)s->timeout) < 0 ? errno : 0;
	s->end = now_ns();
	s->done = 1;
}

/* 1: it is asleep; 0: its timeout was over before. */
static int start_sleeper(const struct pair_kind *kind, uint64_t over)
{
	struct sleeper *s = &sleepers[nsleepers++];

	memset(s, 0, sizeof(*s));
	s->over = over;
	if (pair_open(&s->pair, kind) < 0)
		return -1;
	s->pid = trial_fork(kind->name, sleeper_main, s);
	if (s->pid < 0)
		return -1;
	while (!s->done && task_state(s->pid) != 'S') {
		if (check_interrupted() < 0)
			return -1;
		sleep_ms(1);
	}
	s->asleep = now_ns();
	return !s->done;
}

static void stop_sleepers(void)
{
	for (unsigned int i = 0; i < nsleepers; i++) {
		trial_end(&sleepers[i].pid);
		pair_close(&sleepers[i].pair);
	}
	nsleepers = 0;
}

/* Whether all were asleep before one's timeout was over. */
static int start_sleepers(uint64_t due, uint64_t not_due)
{
	const struct pair_kind *kind;
	int ret = 1;

	for (unsigned int i = 0; ret > 0 && (kind = pair_kind(i)); i++) {
		if (!kind->timed)
			continue;
		ret = start_sleeper(kind, due);
		if (ret > 0)
			ret = start_sleeper(kind, not_due);
	}
	return ret;
}

/* Was each of the first due in the window, and each of the others after it? */
static bool hit(const struct trial_times *times)
{
	for (unsigned int i = 0; i < nsleepers; i += 2) {
		const struct sleeper *s = &sleepers[i];

		if (s->begin + s->timeout <= times->frozen ||
		    s->asleep + s->timeout >= times->thaw)
			return false;
		if (s[1].begin + s[1].timeout <= times->thaw)
			return false;
	}
	return true;
}

static void name_it(char *text, size_t size, const struct sleeper *s)
{
	size_t len = strlen(text);

	snprintf(text + len, size - len, "%s%s", len ? ", " : "", s->pair.kind->name);
}

/* Before that it cannot be back. */
static uint64_t back_at(const struct sleeper *s, const struct trial_times *times)
{
	uint64_t due = s->begin + s->timeout;

	return due > times->thaw ? due : times->thaw;
}

static void judge(const struct sleeper *s, const struct trial_times *times, struct result *r)
{
	uint64_t due = s->begin + s->timeout, may = back_at(s, times);
	uint64_t late = s->done && s->end > may ? s->end - may : 0;

	if (!s->done || late > r->may_last)
		name_it(r->late, sizeof(r->late), s);
	else if (s->error == EINTR)
		name_it(r->interrupted, sizeof(r->interrupted), s);
	else if (s->error != ETIMEDOUT)
		name_it(r->other, sizeof(r->other), s);
	else if (s->end + s->pair.kind->early_ns < due)
		name_it(r->early, sizeof(r->early), s);
	if (s->done && late >= r->latest) {
		r->latest = late;
		r->latest_kind = s->pair.kind->name;
	}
}

/* For twice as long as it may last: it is not back at once when it says so. */
static void wait_for(const struct sleeper *s, const struct trial_times *times,
		     const struct result *r)
{
	uint64_t limit = back_at(s, times) + 2 * r->may_last;

	while (!s->done && now_ns() < limit && check_interrupted() >= 0)
		sleep_ms(1);
}

/*
 * 1: it was a try; 0: somebody was not due when it should have been, and the next is
 * aimed by what this one took.
 */
static int try_once(uint64_t *freeze_ns, uint64_t window_ms, struct result *r)
{
	uint64_t window = window_ms * 1000000, begin = now_ns();
	uint64_t due = begin + *freeze_ns + window / 2;
	struct trial_times times;
	int ret = start_sleepers(due, due + 2 * window);

	if (ret < 0 || trial_timed_cycle(&times) < 0)
		return -1;
	*freeze_ns = times.frozen - begin;
	if (!ret || !hit(&times))
		return 0;
	r->may_last = LATE_NS + times.thaw - begin;
	for (unsigned int i = 0; i < nsleepers; i++) {
		/* Those of a broken kernel need not all be waited for. */
		if (!*r->late)
			wait_for(&sleepers[i], &times, r);
		judge(&sleepers[i], &times, r);
	}
	return check_interrupted() < 0 ? -1 : 1;
}

/* How long it takes here from the first start of a sleeper until all are frozen. */
static int learn(uint64_t *freeze_ns)
{
	uint64_t begin = now_ns();
	struct trial_times times;

	if (start_sleepers(begin + LONG_NS, begin + LONG_NS) < 0 ||
	    trial_timed_cycle(&times) < 0)
		return -1;
	*freeze_ns = times.frozen - begin;
	return 0;
}

static const char *or_none(const char *list)
{
	return *list ? list : "none";
}

static int report(const struct job_case *c, const char *mode, struct sample *s,
		  const struct result *r)
{
	bool good = !*r->late && !*r->early && !*r->other;

	sample_add(s, "latest", (double)r->latest);
	if (inject_verdict(c, "timeouts", mode, good,
			   ": never or late: %s; early: %s; with another result: %s;"
			   " at most %" PRIu64 " us late (%s)",
			   or_none(r->late), or_none(r->early), or_none(r->other),
			   r->latest / 1000, r->latest_kind) < 0)
		return -1;
	return inject_verdict(c, "EINTR", mode, !*r->interrupted, ": interrupted: %s",
			      or_none(r->interrupted));
}

static int timeouts_setup(const struct job_case *c)
{
	if (!sleepers)
		sleepers = crew_memory(2 * PAIR_KINDS_MAX * sizeof(*sleepers));
	return sleepers ? trial_setup(c) : -1;
}

static int timeouts_round(const struct job_case *c, const char *mode, struct sample *s)
{
	struct result result = { .latest_kind = "-" };
	uint64_t window_ms = WINDOW_MS, freeze_ns;
	int ret = 0;

	if (trial_window(0) < 0 || learn(&freeze_ns) < 0)
		return -1;
	stop_sleepers();
	for (int i = 0; i < TRIES && !ret; i++, window_ms *= 2) {
		if (trial_window(window_ms) < 0)
			return -1;
		ret = try_once(&freeze_ns, window_ms, &result);
		if (ret >= 0)
			stop_sleepers();
	}
	if (ret < 0)
		return -1;
	if (!ret)
		return fail(STATUS_UNMET, "timeouts",
			    "in %d tries none was over while all were frozen, at last %"
			    PRIu64 " ms after the start", TRIES, freeze_ns / 1000000);
	return report(c, mode, s, &result);
}

static const struct workload_param timeouts_params[] = {
	TRIAL_PARAMS,
	{ 0 },
};

static const struct workload timeouts = {
	.feature = "thaw",
	.name = "timeouts",
	.text = "timeouts that are over while all are frozen",
	.params = timeouts_params,
	.setup = timeouts_setup,
	.round = timeouts_round,
	.teardown = stop_sleepers,
};

WORKLOAD(timeouts);
