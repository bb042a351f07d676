// SPDX-License-Identifier: GPL-2.0-only
/*
 * Controllers are given to, and taken from, cgroups whose processes fork: all of
 * them are moved at once, and nobody is forgotten (CG6).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "groups.h"
#include "job.h"
#include "safety.h"
#include "unrest.h"
#include "util.h"
#include "workload.h"

#define FORKERS 3
#define KEPT 4

static struct shared {
	struct gate gate;
	volatile uint64_t forks;
} *shared;

static struct cgroup outer, inner;
static pid_t forkers[FORKERS];

static void forker_main(void)
{
	pid_t self = getpid(), kept[KEPT] = { 0 };

	for (unsigned int i = 0;; i = (i + 1) % KEPT) {
		gate_pass(&shared->gate);
		crew_end(&kept[i]);
		kept[i] = fork();
		if (!kept[i]) {
			crew_member(self);
			for (;;)
				pause();
		}
		__atomic_add_fetch(&shared->forks, 1, __ATOMIC_RELAXED);
	}
}

static int hierarchy_setup(const struct job_case *c)
{
	if (!shared)
		shared = crew_memory(sizeof(*shared));
	if (!shared || safety_start(c) < 0)
		return -1;
	if (group_make(&outer, "outer") < 0 || group_make(&inner, "outer/inner") < 0)
		return -1;
	return 0;
}

/* What the controller says, with nobody forking, is what there is. */
static bool is_exact(uint64_t *says, unsigned int *there)
{
	bool exact;

	gate_close(&shared->gate, FORKERS);
	exact = safety_is_exact(&inner, says, there);
	gate_open(&shared->gate);
	return exact;
}

static int hierarchy_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t cycles = job_number(c, "cycles"), i, wrong = 0, says = 0;
	unsigned int there = 0;
	char text[450];

	(void)s;
	memset(shared, 0, sizeof(*shared));
	for (i = 0; i < FORKERS; i++) {
		forkers[i] = safety_fork(forker_main);
		if (forkers[i] < 0 || safety_move(&inner, "cgroup.procs", forkers[i]))
			return fail(STATUS_FAILED, inner.path, "cannot move to it");
	}
	if (unrest_start(c) < 0)
		return -1;
	for (i = 0; unrest_goes_on(i, cycles, true) && !wrong && check_interrupted() == 0; i++) {
		if (cgroup_set(&outer, "cgroup.subtree_control", "+pids +memory") < 0)
			return -1;
		wrong += !is_exact(&says, &there);
		sleep_ms(1);
		if (cgroup_set(&outer, "cgroup.subtree_control", "-pids -memory") < 0)
			return -1;
		sleep_ms(1);
		unrest_step();
	}
	for (unsigned int k = 0; k < FORKERS; k++)
		crew_end(&forkers[k]);
	if (!wrong && !shared->forks)
		return fail(STATUS_UNMET, "hierarchy", "nobody was forked");
	snprintf(text, sizeof(text),
		 "%s: %" PRIu64 " times on and off, %" PRIu64 " forks; at the end pids.current %" PRIu64
		 " of %u%s",
		 mode, i, (uint64_t)shared->forks, says, there, unrest_text());
	return unrest_end(report_check(c, "CG6", !wrong && i >= cycles, text));
}

static void hierarchy_teardown(void)
{
	for (unsigned int i = 0; i < FORKERS; i++)
		crew_end(&forkers[i]);
	safety_stop();
}

static const struct workload_param hierarchy_params[] = {
	{ "cycles", "50" },
	UNREST_PARAMS,
	SAFETY_PARAMS,
	{ 0 },
};

static const struct workload hierarchy = {
	.feature = "attach",
	.name = "hierarchy",
	.text = "controllers come and go where processes fork",
	.params = hierarchy_params,
	.setup = hierarchy_setup,
	.round = hierarchy_round,
	.teardown = hierarchy_teardown,
};

WORKLOAD(hierarchy);
