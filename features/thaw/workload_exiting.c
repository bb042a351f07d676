// SPDX-License-Identifier: GPL-2.0-only
/*
 * FZ8: who is frozen while it exits is thawed with all others, whatever becomes of
 * its v1 cgroup, which does not find it any more.
 */
#include "exiting.h"
#include "inject.h"
#include "safety.h"
#include "workload.h"

static struct cgroup cgroup;

static int exiting_setup(const struct job_case *c)
{
	return trial_setup_alone(c) < 0 ?
		       -1 :
		       cgroup_make(&cgroup, CGROUP_V1_FREEZER, "lull-exiting");
}

static int exiting_round(const struct job_case *c, const char *mode, struct sample *s)
{
	bool ended;

	(void)s;
	if (exiting_try(&cgroup, trial_limit_ms(), &ended) < 0)
		return -1;
	return inject_verdict(c, "FZ8", mode, ended, ": who exits %s",
			      ended ? "ended" : "never ran again");
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
};
WORKLOAD(workload_exiting);
