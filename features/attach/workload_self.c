// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a container runtime or a service manager starts something: fork, and the
 * child writes 0 to the cgroup.procs of its new cgroup and executes a program.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "forks.h"
#include "groups.h"
#include "job.h"
#include "latency.h"
#include "lull.h"
#include "perturb.h"
#include "program.h"
#include "util.h"
#include "workload.h"

#define STARTS_MAX 10000

static struct latencies *writes, *starts;

static void child(const struct cgroup *cg)
{
	int fd = group_open(cg, "cgroup.procs");
	uint64_t begin = now_ns();

	if (fd < 0 || group_write_pid(fd, 0))
		_exit(1);
	latencies_add(writes, now_ns() - begin);
	program_exec();
	_exit(1);
}

static int start_one(uint64_t number)
{
	struct cgroup cg;
	uint64_t begin;
	char name[32];
	int status, error;
	pid_t pid;

	snprintf(name, sizeof(name), "unit-%llu", (unsigned long long)number);
	error = group_mkdir(&cg, groups_top(), name);
	if (error)
		return fail(STATUS_FAILED, cg.path, "cannot make it: %s", strerror(error));
	begin = now_ns();
	pid = fork();
	if (!pid)
		child(&cg);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		return fail(STATUS_FAILED, cg.path, "nothing could be started in it");
	latencies_add(starts, program_began() - begin);
	return cgroup_remove(&cg);
}

static int self_setup(const struct job_case *c)
{
	if (job_number(c, "starts") > STARTS_MAX)
		return fail(STATUS_USAGE, "starts", "%d at most", STARTS_MAX);
	if (!writes)
		writes = latencies_make(STARTS_MAX);
	if (!starts)
		starts = latencies_make(STARTS_MAX);
	if (!writes || !starts || forks_init() < 0 || groups_start(c) < 0)
		return -1;
	return program_open();
}

static int self_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t gap = job_number(c, "gap_us") * 1000;

	(void)mode;
	if (lull_stats_clear("attach") < 0)
		return -1;
	latencies_clear(writes);
	latencies_clear(starts);
	if (job_number(c, "storm") && forks_start() < 0)
		return -1;
	for (uint64_t i = 0; i < job_number(c, "starts"); i++) {
		/* Beyond a grace period, or the lock of all is fast still. */
		sleep_ns(gap + perturb_below(gap + 1));
		if (start_one(i) < 0 || check_interrupted() < 0)
			return -1;
	}
	if (job_number(c, "storm") && forks_stop(s) < 0)
		return -1;
	latencies_report_tail(writes, "write", s);
	latencies_report(starts, "start", s);
	lull_stats_add("attach", s);
	return 0;
}

static void self_teardown(void)
{
	forks_kill();
	program_close();
	groups_stop();
}

static const struct workload_param self_params[] = {
	{ "starts", "100" },
	{ "gap_us", "30000" },
	{ "storm", "0" },
	{ "v1", "0" },
	{ 0 },
};

static const struct workload self = {
	.feature = "attach",
	.name = "self",
	.text = "a child moves itself to its new cgroup and executes a program",
	.params = self_params,
	.setup = self_setup,
	.round = self_round,
	.teardown = self_teardown,
};

WORKLOAD(self);
