// SPDX-License-Identifier: GPL-2.0-only
/*
 * More devices that are started early and have to wait than the kernel has workers
 * for (PM10): those that they wait for must get one all the same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cycle.h"
#include "description.h"
#include "inject.h"
#include "job.h"
#include "lull.h"
#include "suspend.h"
#include "tree.h"
#include "util.h"
#include "verify.h"
#include "watchdog.h"
#include "workload.h"

/* No callback of a tree takes longer. */
#define LAST_MAX_US 60000000
/* The lab gives up a debug kernel that says nothing after 480 s at the earliest. */
#define LIMIT_MAX_US 400000000ull

static struct tree tree;

/*
 * In each family the first child ends at once and starts the parent, which waits for
 * the second one, which waits for its own child. All first children are in the queue
 * before the first grandchild, so that all parents are before the second children.
 * The last device keeps the walk from coming to any of them meanwhile. In the late phase
 * nobody does: there the walk is to come to the second children while enough first ones
 * are still at work that those have workers, and the grandchildren none. Two first
 * children end for each of those, and the walk passes all of them before.
 */
static char *families(unsigned int n, unsigned int last_us, unsigned int late_us)
{
	struct description d;

	if (description_open(&d) < 0)
		return NULL;
	for (unsigned int i = 0; i < n; i++)
		fprintf(d.out,
			"device p%u async suspend=0\n"
			"device second%u async parent=p%u suspend=0\n"
			"device grandchild%u async parent=second%u suspend=20000 suspend_late=20000\n",
			i, i, i, i, i);
	for (unsigned int i = 0; i < n; i++)
		fprintf(d.out,
			"device first%u async parent=p%u suspend=0 suspend_late=%u\n",
			i, i, late_us);
	fprintf(d.out, "device last suspend=%u\n", last_us);
	return description_close(&d);
}

static int load(const struct job_case *c, uint64_t last_us)
{
	char *text = families((unsigned int)job_number(c, "families"), (unsigned int)last_us,
			      (unsigned int)job_number(c, "late_us"));
	int ret = text ? tree_load(&tree, text) : -1;

	free(text);
	return ret;
}

/*
 * What a cycle takes before anything is missing. Not in stock: 7.3's hangs itself with
 * so many.
 */
static int measure(uint64_t *us)
{
	struct cycle cycle;

	if (tree_clear() < 0 || lull_switch("devices", "lull") < 0 ||
	    cycle_run(&tree, &cycle) < 0)
		return -1;
	if (cycle.error)
		return fail(STATUS_UNMET, "blocked", "the cycle to measure by failed: %s",
			    strerror(cycle.error));
	*us = suspend_took() / 1000;
	return 0;
}

/* For all that a cycle may take, but while the lab still waits. */
static int outlast(uint64_t took_us, uint64_t last_us)
{
	uint64_t us = WATCHDOG_CYCLES * took_us + last_us;

	if (us > LIMIT_MAX_US)
		us = LIMIT_MAX_US;
	if (us < 3 * took_us + last_us)
		return fail(STATUS_UNMET, "blocked",
			    "a cycle takes too long to be told from one that hangs");
	return watchdog_outlast(us * 1000);
}

/* One that hangs is to be told from one that is slow: how slow is seen first. */
static int blocked_setup(const struct job_case *c)
{
	uint64_t last_us = job_number(c, "last_us"), took_us = 0;

	if (cycle_prepare() < 0 || load(c, last_us) < 0)
		return -1;
	/* Where nothing is missing the first mode shows it, and the lab waits for that. */
	if (!strcmp(job_param(c, "disable"), INJECT_NONE))
		return inject_case(c);
	if (measure(&took_us) < 0)
		return -1;
	/*
	 * When the last ends all are to wait who would wait before those that they wait
	 * for: it is as long as what the cycle took beside it, or a minute.
	 */
	if (took_us > 2 * last_us) {
		last_us = took_us - last_us;
		if (last_us > LAST_MAX_US)
			last_us = LAST_MAX_US;
		if (load(c, last_us) < 0)
			return -1;
	}
	if (inject_case(c) < 0 || watchdog_start((int)job_number(c, "limit")) < 0)
		return -1;
	return outlast(took_us, last_us);
}

static int blocked_round(const struct job_case *c, const char *mode, struct sample *s)
{
	struct faults f = { 0 };
	struct cycle cycle;
	char text[200];

	(void)s;
	if (watchdog_feed() < 0 || tree_clear() < 0 || cycle_run(&tree, &cycle) < 0 ||
	    watchdog_start((int)job_number(c, "limit")) < 0 ||
	    watchdog_outlast(WATCHDOG_CYCLES * suspend_took()) < 0)
		return -1;
	verify_whole(&tree, &f);
	snprintf(text, sizeof(text),
		 "%s: %u devices; %" PRIu64 " started upfront, %" PRIu64 " early; %u callbacks early, "
		 "%u missing, errno %d",
		 mode, tree.n, lull_stat("devices", "upfront"), lull_stat("devices", "met"),
		 f.early, f.missing, cycle.error);
	return report_check(c, "PM10", verify_good(&f) && !cycle.error, text);
}

static void blocked_teardown(void)
{
	watchdog_stop();
	tree_drop(&tree);
}

static const struct workload_param blocked_params[] = {
	{ "families", "600" },
	{ "disable", "none" },
	{ "hop", "0" },
	/*
	 * For how long the walk does not come. On a slow host workers take longer: where a
	 * safeguard is missing it is as long as theirs, or a minute.
	 */
	{ "last_us", "1000000" },
	/* For how long first children are at work in the late phase. */
	{ "late_us", "0" },
	/* Seconds for each mode, or more on a slow host, then a panic; 0: none. */
	{ "limit", "0" },
	{ 0 },
};

static const struct workload blocked = {
	.feature = "devices",
	.name = "blocked",
	.text = "more early starts than there are workers",
	.params = blocked_params,
	.setup = blocked_setup,
	.round = blocked_round,
	.teardown = blocked_teardown,
};

WORKLOAD(blocked);
