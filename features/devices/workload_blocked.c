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

static struct tree tree;

/*
 * In each family the first child ends at once and starts the parent, which waits for
 * the second one, which waits for its own child. All first children are in the queue
 * before the first grandchild, so that all parents are before the second children.
 * The last device keeps the walk from coming to any of them meanwhile.
 */
static char *families(unsigned int n, unsigned int last_us)
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
		fprintf(d.out, "device first%u async parent=p%u suspend=0\n", i, i);
	fprintf(d.out, "device last suspend=%u\n", last_us);
	return description_close(&d);
}

static int load(const struct job_case *c, uint64_t last_us)
{
	char *text = families((unsigned int)job_number(c, "families"), (unsigned int)last_us);
	int ret = text ? tree_load(&tree, text) : -1;

	free(text);
	return ret;
}

/*
 * What a cycle takes, without the last device and before anything is missing. Not in
 * stock: 7.3's hangs itself with so many.
 */
static int measure(const struct job_case *c)
{
	struct cycle cycle;

	if (load(c, 0) < 0 || tree_clear() < 0 || lull_switch("devices", "lull") < 0)
		return -1;
	return cycle_run(&tree, &cycle);
}

/* One that hangs is to be told from one that is slow: how slow is seen first. */
static int blocked_setup(const struct job_case *c)
{
	bool broken = strcmp(job_param(c, "disable"), INJECT_NONE);
	uint64_t last_us = job_number(c, "last_us"), took_us = 0;

	if (cycle_prepare() < 0 || (broken && measure(c) < 0))
		return -1;
	if (broken)
		took_us = suspend_took() / 1000;
	if (took_us > LAST_MAX_US)
		took_us = LAST_MAX_US;
	/* By then all wait who would wait before those that they wait for. */
	if (last_us < took_us)
		last_us = took_us;
	if (inject_case(c) < 0 || load(c, last_us) < 0)
		return -1;
	/* Where nothing is missing the first mode shows it, and the lab waits for that. */
	if (!broken)
		return 0;
	if (watchdog_start((int)job_number(c, "limit")) < 0)
		return -1;
	return watchdog_outlast(WATCHDOG_CYCLES * suspend_took() + last_us * 1000);
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
	 * safeguard is missing it is as long as a cycle at least.
	 */
	{ "last_us", "1000000" },
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
