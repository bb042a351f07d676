// SPDX-License-Identifier: GPL-2.0-only
/* FZ11: who the OOM killer has chosen dies although its v1 cgroup is frozen. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "crew.h"
#include "inject.h"
#include "pair.h"
#include "safety.h"
#include "task.h"
#include "util.h"
#include "workload.h"

/* To the refrigerator, and frozen in place. */
static const char *const kinds[] = { "epoll", "futex" };

static struct pair *pair;
static pid_t victim;
static struct cgroup cgroup;

static void victim_main(void *arg)
{
	(void)arg;
	pair_start(pair);
	for (;;)
		pair->kind->wait(pair, -1);
}

static int set_score(pid_t pid, const char *score)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", pid);
	if (write_file(path, score) < 0)
		return fail(STATUS_FAILED, path, "cannot write it: %s", strerror(errno));
	return 0;
}

/* Out of memory by order: there is no lack of it. */
static int kill_victim(void)
{
	if (write_file("/proc/sysrq-trigger", "f") < 0)
		return fail(STATUS_LACKING, "/proc/sysrq-trigger", "cannot write it: %s",
			    strerror(errno));
	return 0;
}

static void stop_victim(void)
{
	cgroup_thaw(&cgroup);
	trial_end(&victim);
	if (pair)
		pair_close(pair);
}

/* 1, or 0 where it does not die. */
static int one_kind(const struct job_case *c, const char *mode, const char *name)
{
	const struct pair_kind *kind = pair_kind_named(name);
	bool dies;
	int ret;

	if (!kind || pair_open(pair, kind) < 0)
		return -1;
	victim = trial_fork(name, victim_main, NULL);
	if (victim < 0 || set_score(victim, "1000") < 0 || pair_wait_asleep(pair) < 0 ||
	    cgroup_attach(&cgroup, victim) < 0 || cgroup_freeze(&cgroup) < 0 ||
	    kill_victim() < 0)
		return -1;
	dies = task_ends(&victim, trial_limit_ms());
	if (check_interrupted() < 0)
		return -1;
	stop_victim();
	ret = inject_verdict(c, "victim", mode, dies, ": the victim in %s %s", name,
			     dies ? "dies" : "stays frozen");
	return ret < 0 ? ret : dies;
}

static int victim_setup(const struct job_case *c)
{
	/* Elsewhere there may be another one that the kernel likes better. */
	if (getpid() != 1)
		return fail(STATUS_LACKING, "victim", "only in a machine of our own");
	if (!pair)
		pair = crew_memory(sizeof(*pair));
	if (!pair || trial_setup(c) < 0 || set_score(getpid(), "-1000") < 0)
		return -1;
	return cgroup_make(&cgroup, CGROUP_V1_FREEZER, "victim");
}

static int victim_round(const struct job_case *c, const char *mode, struct sample *s)
{
	int dies = 1;

	(void)s;
	/* Who does not takes the whole limit. */
	for (size_t i = 0; i < ARRAY_SIZE(kinds) && dies > 0; i++)
		dies = one_kind(c, mode, kinds[i]);
	return dies < 0 ? -1 : 0;
}

static const struct workload_param victim_params[] = {
	TRIAL_PARAMS,
	{ 0 },
};

static const struct workload victim_of_oom = {
	.feature = "thaw",
	.name = "victim",
	.text = "the OOM killer's victim in a frozen cgroup (as init only)",
	.params = victim_params,
	.setup = victim_setup,
	.round = victim_round,
	.teardown = stop_victim,
};

WORKLOAD(victim_of_oom);
