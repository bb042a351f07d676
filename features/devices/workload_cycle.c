// SPDX-License-Identifier: GPL-2.0-only
/*
 * All devices are suspended and resumed, a synthetic tree among them: how long
 * each phase takes, and how long its longest chain does.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cycle.h"
#include "init.h"
#include "job.h"
#include "lull.h"
#include "suspend.h"
#include "tree.h"
#include "util.h"
#include "workload.h"

static struct tree tree;

static int cycle_setup(const struct job_case *c)
{
	if (cycle_prepare() < 0)
		return -1;
	return tree_load_named(&tree, job_param(c, "tree"));
}

static void add(struct sample *s, enum phase phase, const char *what, double value)
{
	char name[48];

	snprintf(name, sizeof(name), "%s%s", phase_names[phase], what);
	sample_add(s, name, value);
}

static int cycle_round(const struct job_case *c, const char *mode, struct sample *s)
{
	unsigned int early = 0;
	uint64_t phases = 0;
	struct cycle cycle;
	int ret;

	(void)c;
	(void)mode;
	if (init_results_away() < 0)
		return -1;
	ret = tree_clear() < 0 ? -1 : cycle_run(&tree, &cycle);
	if (init_results_back() < 0 || ret < 0)
		return -1;
	if (cycle.error)
		return suspend_failed(cycle.error);
	for (int k = 0; k < NR_PHASES; k++) {
		uint64_t path = tree_path(&tree, k);

		early += tree_early(&tree, k);
		phases += cycle.ns[k];
		add(s, k, "", (double)cycle.ns[k]);
		if (!path)
			continue;
		add(s, k, "_sum", (double)tree_sum(&tree, k));
		add(s, k, "_path", (double)path);
		add(s, k, "_ratio", (double)cycle.ns[k] / (double)path);
	}
	sample_add(s, "phases", (double)phases);
	sample_add(s, "devices", tree.n);
	sample_add(s, "workers", cycle.workers);
	sample_add(s, "early", early);
	lull_stats_add("devices", s);
	return 0;
}

static void cycle_teardown(void)
{
	tree_drop(&tree);
}

static const struct workload_param cycle_params[] = {
	{ "tree", "chain" },
	{ 0 },
};

static const struct workload cycle = {
	.feature = "devices",
	.name = "cycle",
	.text = "all devices are suspended and resumed, a synthetic tree among them",
	.params = cycle_params,
	.setup = cycle_setup,
	.round = cycle_round,
	.teardown = cycle_teardown,
};

WORKLOAD(cycle);
