// SPDX-License-Identifier: GPL-2.0-only
/*
 * Some thousand processes asleep, in mixes shaped like a phone, a desktop and a
 * container host: how many of them a thaw wakes for nothing, and what it costs.
 */
#include <string.h>

#include "freezer.h"
#include "lull.h"
#include "marked.h"
#include "sleepers.h"
#include "trace.h"
#include "util.h"
#include "woken.h"
#include "zombies.h"

/* How long the woken are watched at work. */
#define AFTER_MS 50

static struct crew dead;

/* The sites that mode lull makes freezable; a signal ends the others, or it never did. */
static const char *const done[] = {
	"epoll", "epoll_et", "poll", "select", "pipe", "pipe_write", "tcp", "tcp_accept",
	"udp", "unix_dgram", "unix_accept", "io_uring", "signalfd",
};

static bool is_done(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(done); i++) {
		if (!strcmp(done[i], name))
			return true;
	}
	return false;
}

static int sleepers_setup(const struct job_case *c)
{
	uint64_t n = job_number(c, "sleepers"), zombies = job_number(c, "zombies");

	if (sleepers_mix(job_param(c, "mix"), WAITS_NR) < 0 || freezer_prepare() < 0)
		return -1;
	if (woken_prepare() < 0 || freezer_make_room(n + zombies) < 0)
		return -1;
	if (sleepers_start(n) < 0 || sleepers_look() < 0)
		return -1;
	if (zombies && (zombies_start(&dead) < 0 || crew_do(&dead, zombies) < 0))
		return -1;
	return marked_start();
}

static int find_begin(const struct trace_event *ev, void *arg)
{
	if (!strcmp(ev->text, "thaw_processes[0] begin"))
		*(uint64_t *)arg = ev->ns;
	return 0;
}

static int add_marked(struct sample *s)
{
	uint64_t begin = 0, when;

	if (trace_each(find_begin, &begin) < 0 || marked_ran(begin, &when) < 0)
		return -1;
	sample_add(s, "marked", (double)(when - begin));
	return 0;
}

static void add_walk(const char *mode, struct sample *s)
{
	if (strcmp(mode, "lull"))
		return;
	/* Prefixed, as what the walk woke is not the crowd alone. */
	sample_add(s, "walk_visited", (double)lull_stat("thaw", "visited"));
	sample_add(s, "walk_skipped", (double)lull_stat("thaw", "skipped"));
	sample_add(s, "walk_restored", (double)lull_stat("thaw", "restored"));
	sample_add(s, "walk_woken", (double)lull_stat("thaw", "woken"));
	sample_add(s, "rested", (double)lull_stat("thaw", "rested"));
}

struct eintr {
	uint64_t done, rest;
};

static struct eintr count_eintr(void)
{
	struct eintr sum = { 0 };

	for (unsigned int i = 0; i < WAITS_NR; i++)
		*(is_done(waits[i].name) ? &sum.done : &sum.rest) += sleepers_eintr(i);
	return sum;
}

/* The times, with no event of the tasks in the trace, as those would be in them. */
static int timed_cycle(const char *mode, struct sample *s)
{
	struct eintr before = count_eintr(), after;

	if (lull_stats_clear("thaw") < 0 || marked_arm() < 0 || freezer_timed(s, true) < 0 ||
	    add_marked(s) < 0)
		return -1;
	add_walk(mode, s);
	/* Until all who were disturbed are asleep again. */
	freezer_settle();
	after = count_eintr();
	sample_add(s, "eintr", (double)(after.done - before.done));
	sample_add(s, "eintr_rest", (double)(after.rest - before.rest));
	return 0;
}

/*
 * The counts. CPU time is the sum of what the scheduler told of the crowd's tasks
 * from the begin of thawing until AFTER_MS after the cycle, to the nanosecond,
 * with what these events themselves cost in it: the time before thawing, when many
 * were sent to the refrigerator, could not be told apart by the figures that
 * cgroups or processes have.
 */
static int counted_cycle(struct sample *s)
{
	struct woken woken;

	if (woken_cycle(&woken, AFTER_MS) < 0)
		return -1;
	woken_add(&woken, s);
	sample_add(s, "after_cpu", (double)woken.cpu_ns);
	woken_free(&woken);
	return 0;
}

static int sleepers_round(const struct job_case *c, const char *mode, struct sample *s)
{
	if (timed_cycle(mode, s) < 0)
		return -1;
	if (job_number(c, "counted") && counted_cycle(s) < 0)
		return -1;
	return sleepers_check();
}

static void sleepers_teardown(void)
{
	marked_stop();
	sleepers_stop();
	crew_stop(&dead);
}

static const struct workload_param sleepers_params[] = {
	{ "sleepers", "4000" },
	{ "mix", "phone" },
	/* Whom the walk comes to and has nothing to do for. */
	{ "zombies", "0" },
	/* 0 for the profile, which would count the second cycle as well. */
	{ "counted", "1" },
	{ 0 },
};

static const struct workload sleepers = {
	.feature = "thaw",
	.name = "sleepers",
	.text = "N live processes asleep: whom a thaw wakes, and what it costs",
	.params = sleepers_params,
	.setup = sleepers_setup,
	.round = sleepers_round,
	.teardown = sleepers_teardown,
};

WORKLOAD(sleepers);
