// SPDX-License-Identifier: GPL-2.0-only
/*
 * FZ8: a wakeup that is sent before, during or after a freeze and thaw is never
 * lost. And where nothing is sent, nobody is told that there was something.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "inject.h"
#include "perturb.h"
#include "safety.h"
#include "storm.h"
#include "unrest.h"
#include "util.h"
#include "workload.h"

/* In so many cycles some wakeups of each kind were held up, or something is wrong. */
#define PATIENCE 300

static int wakeups_setup(const struct job_case *c)
{
	uint64_t window = job_number(c, "window");

	if (trial_setup(c) < 0 || trial_patient(c) < 0)
		return -1;
	return window ? trial_window(window) : 0;
}

/* Until so many came: 1, or 0 where one of them does not. */
static int run_storm(const struct job_case *c, uint64_t *cycles)
{
	uint64_t wanted = job_number(c, "wakeups"), gap_ms = job_number(c, "gap");
	struct storm_count count;

	do {
		storm_open();
		if (storm_cycle() < 0)
			return -1;
		++*cycles;
		unrest_step();
		sleep_ns(perturb_below(gap_ms * 1000000 + 1));
		/* One of many is not missed in the storm itself. */
		if (storm_stalls() && !storm_settles())
			return check_interrupted();
		storm_count(&count);
		/* Each kind has to be held up once, or it was not tried. */
	} while (count.wakeups < wanted ||
		 ((!count.least_held || !unrest_enough()) && *cycles < PATIENCE));
	return storm_settles() ? 1 : check_interrupted();
}

static int report_storm(const struct job_case *c, const char *mode, struct sample *s,
			bool all, uint64_t cycles)
{
	char lost[400];
	struct storm_count count;

	storm_count(&count);
	sample_add(s, "cycles", (double)cycles);
	sample_add(s, "wakeups", (double)count.wakeups);
	sample_add(s, "held", (double)count.held);
	sample_add(s, "in_window", (double)count.in_window);
	sample_add(s, "interrupted", (double)count.interrupted);
	if (all && !count.wrong && !count.least_held)
		return fail(STATUS_UNMET, "wakeups",
			    "none of some kind was held up in %" PRIu64 " cycles", cycles);
	storm_list_lost(lost, sizeof(lost));
	return inject_verdict(c, "FZ8", mode, all && !count.wrong,
			      ": %" PRIu64 " wakeups of %u kinds (at least %" PRIu64
			      " of each), %" PRIu64 " cycles held up %" PRIu64 " (at least %"
			      PRIu64 " of each; %" PRIu64 " came to a frozen system), %" PRIu64
			      " in wrong order, %" PRIu64 " times EINTR; lost: %s%s",
			      count.wakeups, count.kinds, count.least, cycles, count.held,
			      count.least_held, count.in_window, count.wrong, count.interrupted,
			      all ? "none" : lost, unrest_text());
}

/* All are asleep, nobody wakes them, and no call may return. */
static int run_quietly(const struct job_case *c, const char *mode, uint64_t cycles)
{
	struct storm_count before, after;
	char text[600], who[400];

	if (storm_wait_asleep() < 0)
		return -1;
	storm_count(&before);
	for (uint64_t i = 0; i < cycles; i++) {
		if (storm_cycle() < 0 || storm_wait_asleep() < 0)
			return -1;
	}
	storm_count(&after);
	storm_list_interrupted(who, sizeof(who));
	snprintf(text, sizeof(text),
		 "%s: %" PRIu64 " cycles interrupted %" PRIu64 " calls of sleepers; of all kinds"
		 " so far, those on their way included: %s", mode, cycles,
		 after.interrupted - before.interrupted, *who ? who : "none");
	return report_check(c, "EINTR", after.interrupted == before.interrupted, text);
}

static void wakeups_teardown(void)
{
	unrest_stop();
	storm_stop();
}

static int wakeups_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t quiet = job_number(c, "quiet"), cycles = 0;
	int ret, all;

	if (storm_start((unsigned int)job_number(c, "pads")) < 0 || unrest_start(c) < 0)
		return -1;
	all = run_storm(c, &cycles);
	if (all < 0)
		return -1;
	ret = report_storm(c, mode, s, all, cycles);
	if (!ret && all && quiet)
		ret = run_quietly(c, mode, quiet);
	/* Whoever has lost a wakeup may have come to its end before enough happened. */
	ret = all ? unrest_end(ret) : ret;
	wakeups_teardown();
	return ret;
}

static const struct workload_param wakeups_params[] = {
	{ "wakeups", "100000" },
	/* Tasks between the sleepers and one of the wakers. */
	{ "pads", "100" },
	/* How many ms there are at most from one cycle to the next. */
	{ "gap", "50" },
	/* How many ms it stays frozen. */
	{ "window", "0" },
	/* Cycles afterwards, in which no call may return. */
	{ "quiet", "0" },
	/* 1: a CPU goes and comes, memory goes out and comes back meanwhile. */
	UNREST_PARAMS,
	TRIAL_PARAMS,
	{ 0 },
};

static const struct workload wakeups = {
	.feature = "thaw",
	.name = "wakeups",
	.text = "wakeups in every kind of wait while the machine freezes and thaws",
	.params = wakeups_params,
	.setup = wakeups_setup,
	.round = wakeups_round,
	.teardown = wakeups_teardown,
};

WORKLOAD(wakeups);
