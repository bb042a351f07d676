// SPDX-License-Identifier: GPL-2.0-only
/*
 * FZ8: who is frozen while it exits is thawed with all others, whatever becomes of
 * its v1 cgroup, which does not find it any more.
 */
#include "exiting.h"
#include "inject.h"
#include "lull.h"
#include "safety.h"
#include "util.h"
#include "workload.h"

static struct cgroup cgroup;
static struct exiting exiting;

static int exiting_setup(const struct job_case *c)
{
	/* What thawing does by itself: freeze's own mode would refuse as well. */
	return trial_setup(c) < 0 || lull_switch("freeze", "stock") < 0 ?
		       -1 :
		       cgroup_make(&cgroup, CGROUP_V1_FREEZER, "lull-exiting");
}

static int exiting_round(const struct job_case *c, const char *mode, struct sample *s)
{
	bool ended;
	int ret;

	(void)s;
	if (exiting_start(&exiting) < 0 || cgroup_attach(&cgroup, exiting.pid) < 0 ||
	    exiting_kill(&exiting) < 0 || cgroup_freeze(&cgroup) < 0)
		return -1;
	ret = trial_cycle();
	cgroup_thaw(&cgroup);
	ended = exiting_ends(&exiting, trial_limit_ms());
	/* Nothing is left that it is frozen for: the next cycle thaws it. */
	if (!ended && !ret)
		ret = trial_cycle();
	exiting_stop(&exiting);
	return ret < 0 ? -1 :
			 inject_verdict(c, "FZ8", mode, ended, ": who exits %s",
					ended ? "ended" : "never ran again");
}

static void exiting_teardown(void)
{
	cgroup_thaw(&cgroup);
	exiting_stop(&exiting);
}

static const struct workload_param params[] = {
	TRIAL_PARAMS,
	{ 0 },
};

static const struct workload workload_exiting = {
	.feature = "thaw",
	.name = "exiting",
	.text = "a task is frozen in its exit, and its cgroup beside it",
	.params = params,
	.setup = exiting_setup,
	.round = exiting_round,
	.teardown = exiting_teardown,
};
WORKLOAD(workload_exiting);
