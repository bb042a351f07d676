// SPDX-License-Identifier: GPL-2.0-only
/*
 * Containers that start and stop: a cgroup with controllers and one in it for
 * the processes, the first of which is moved there and forks the others; then
 * all are killed, and the cgroups go.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "groups.h"
#include "job.h"
#include "latency.h"
#include "lull.h"
#include "mark.h"
#include "perturb.h"
#include "util.h"
#include "workload.h"

#define CONTAINERS_MAX 10000
#define LONG_NS 60000000000ull

static struct latencies *starts;
static pid_t first;

/* So many of them at once, each of which ends as soon as it runs. */
static int run_children(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid < 0)
			return -1;
	}
	for (uint64_t i = 0; i < n; i++) {
		if (waitpid(-1, NULL, 0) < 0)
			return -1;
	}
	return 0;
}

/* The container's first process: waits to be moved, and does its work. */
static void first_main(int go, int done, uint64_t children, uint64_t at_once)
{
	char byte = 0;

	if (read(go, &byte, 1) != 1)
		_exit(1);
	for (uint64_t i = 0; i < children; i += at_once) {
		if (run_children(at_once < children - i ? at_once : children - i) < 0)
			_exit(1);
	}
	if (write(done, &byte, 1) != 1)
		_exit(1);
	/* Until it is killed. */
	sleep_ns(LONG_NS);
	_exit(0);
}

static int fork_first(const struct job_case *c, int go[2], int done[2])
{
	pid_t probe = getpid();

	if (pipe2(go, O_CLOEXEC) < 0)
		return fail(STATUS_FAILED, "pipe", "%s", strerror(errno));
	if (pipe2(done, O_CLOEXEC) < 0) {
		close(go[0]);
		close(go[1]);
		return fail(STATUS_FAILED, "pipe", "%s", strerror(errno));
	}
	first = fork();
	if (!first) {
		crew_member(probe);
		/* Whoever waits for it must see that it is gone. */
		close(go[1]);
		close(done[0]);
		first_main(go[0], done[1], job_number(c, "children"), job_number(c, "at_once"));
	}
	close(go[0]);
	close(done[1]);
	return first > 0 ? 0 : fail(STATUS_FAILED, "fork", "%s", strerror(errno));
}

static int end_first(const struct cgroup *cg, bool v1)
{
	int status;

	if (v1 ? kill(first, SIGKILL) : cgroup_set(cg, "cgroup.kill", "1"))
		return -1;
	if (waitpid(first, &status, 0) != first)
		return fail(STATUS_FAILED, "waitpid", "%s", strerror(errno));
	first = 0;
	return 0;
}

/* From its first process to its work's end. */
static int work(const struct cgroup *cg, int go, int done)
{
	uint64_t begin = now_ns();
	char byte = 0;

	if (cgroup_attach(cg, first) < 0)
		return -1;
	latencies_add(starts, now_ns() - begin);
	if (write(go, &byte, 1) != 1 || read(done, &byte, 1) != 1)
		return fail(STATUS_FAILED, cg->path, "its first process is gone");
	return 0;
}

static int container(const struct job_case *c, uint64_t number)
{
	bool v1 = job_number(c, "v1");
	struct cgroup outer, inner;
	int go[2], done[2], ret;
	char name[32];

	snprintf(name, sizeof(name), "container-%llu", (unsigned long long)number);
	if (group_mkdir(&outer, groups_top(), name) ||
	    (!v1 && cgroup_set(&outer, "cgroup.subtree_control", "+pids +memory") < 0) ||
	    group_mkdir(&inner, &outer, "init"))
		return fail(STATUS_FAILED, name, "cannot make its cgroups: %s", strerror(errno));
	if (fork_first(c, go, done) < 0)
		return -1;
	ret = work(&inner, go[1], done[0]);
	close(go[1]);
	close(done[0]);
	if (ret < 0 || end_first(&inner, v1) < 0)
		return -1;
	return cgroup_remove(&inner) < 0 ? -1 : cgroup_remove(&outer);
}

static int churn_setup(const struct job_case *c)
{
	if (job_number(c, "containers") > CONTAINERS_MAX || !job_number(c, "at_once"))
		return fail(STATUS_USAGE, "containers", "%d at most, and some process at once",
			    CONTAINERS_MAX);
	if (!starts)
		starts = latencies_make(CONTAINERS_MAX);
	return starts ? groups_start(c) : -1;
}

static int churn_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t n = job_number(c, "containers"), gap = job_number(c, "gap_us") * 1000, busy = 0;

	(void)mode;
	if (lull_stats_clear("attach") < 0)
		return -1;
	latencies_clear(starts);
	mark_begin();
	for (uint64_t i = 0; i < n; i++) {
		uint64_t begin;

		if (gap)
			sleep_ns(gap + perturb_below(gap));
		begin = now_ns();
		if (container(c, i) < 0 || check_interrupted() < 0)
			return -1;
		busy += now_ns() - begin;
	}
	mark_end();
	sample_add(s, "containers", (double)n);
	/* The gaps are nobody's. */
	sample_add(s, "containers_s", (double)n * 1e9 / (double)busy);
	latencies_report_tail(starts, "write", s);
	lull_stats_add("attach", s);
	return 0;
}

static void churn_teardown(void)
{
	crew_end(&first);
	groups_stop();
}

static const struct workload_param churn_params[] = {
	{ "containers", "50" },
	{ "children", "20" },
	{ "at_once", "20" },
	{ "gap_us", "0" },
	{ "v1", "0" },
	{ 0 },
};

static const struct workload churn = {
	.feature = "attach",
	.name = "churn",
	.text = "containers that start, run short processes and stop",
	.params = churn_params,
	.setup = churn_setup,
	.round = churn_round,
	.teardown = churn_teardown,
};

WORKLOAD(churn);
