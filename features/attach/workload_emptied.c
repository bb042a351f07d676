// SPDX-License-Identifier: GPL-2.0-only
/*
 * A parent that forks is moved out of its cgroup, which is then removed: a child
 * on its way must not come to be in what is gone (CG3).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "groups.h"
#include "job.h"
#include "safety.h"
#include "unrest.h"
#include "util.h"
#include "workload.h"

static struct shared {
	volatile int stop;
	volatile uint64_t forks, deleted;
} *shared;

static pid_t forker;

/* Each child says where it came to be. */
static void look(void)
{
	char text[600];

	if (read_file("/proc/self/cgroup", text, sizeof(text)) < 0 || strstr(text, "(deleted)"))
		__atomic_add_fetch(&shared->deleted, 1, __ATOMIC_RELAXED);
	_exit(0);
}

static void forker_main(void)
{
	while (!shared->stop) {
		pid_t pid = fork();

		if (!pid)
			look();
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			_exit(1);
		shared->forks++;
	}
	_exit(0);
}

static int emptied_setup(const struct job_case *c)
{
	if (!shared)
		shared = crew_memory(sizeof(*shared));
	return shared ? safety_start(c) : -1;
}

/* As soon as nobody is in it. */
static int remove_soon(const struct cgroup *cg)
{
	for (unsigned int i = 0; rmdir(cg->path) < 0; i++) {
		if (errno != EBUSY || i > 20000)
			return fail(STATUS_FAILED, cg->path, "cannot remove it: %s",
				    strerror(errno));
		sleep_ns(100000);
	}
	return 0;
}

static int emptied_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t moves = job_number(c, "moves"), i, at_rest;
	struct cgroup cg[2];
	char text[450];
	int status = 0, ret;

	(void)s;
	memset(shared, 0, sizeof(*shared));
	if (group_mkdir(&cg[0], groups_top(), "here-0"))
		return fail(STATUS_FAILED, cg[0].path, "%s", strerror(errno));
	forker = safety_fork(forker_main);
	if (forker < 0 || safety_move(&cg[0], "cgroup.procs", forker))
		return fail(STATUS_FAILED, cg[0].path, "cannot move to it");
	if (unrest_start(c) < 0)
		return -1;
	for (i = 0; unrest_goes_on(i, moves, true);) {
		struct cgroup *from = &cg[i & 1], *to = &cg[(i + 1) & 1];
		char name[32];

		i++;
		snprintf(name, sizeof(name), "here-%" PRIu64, i);
		if (group_mkdir(to, groups_top(), name))
			return fail(STATUS_FAILED, to->path, "%s", strerror(errno));
		if (safety_move(to, "cgroup.procs", forker))
			return fail(STATUS_FAILED, to->path, "cannot move to it");
		if (remove_soon(from) < 0 || check_interrupted() < 0)
			return -1;
		unrest_step();
	}
	shared->stop = 1;
	waitpid(forker, &status, 0);
	forker = 0;
	if (!shared->forks)
		return fail(STATUS_UNMET, "emptied", "nobody was forked");
	at_rest = group_number(&cg[i & 1], "pids.current", 99);
	snprintf(text, sizeof(text),
		 "%s: %" PRIu64 " moves, %" PRIu64 " forks, %" PRIu64
		 " children in a removed cgroup, pids.current %" PRIu64 ", status %d%s",
		 mode, i, (uint64_t)shared->forks, (uint64_t)shared->deleted, at_rest, status,
		 unrest_text());
	/* First what is to be told: of a child that is lost, the cgroup stays. */
	ret = report_check(c, "CG3", !shared->deleted && !at_rest && !status, text);
	if (!ret && !shared->deleted && !at_rest && !status)
		ret = remove_soon(&cg[i & 1]);
	return unrest_end(ret);
}

static void emptied_teardown(void)
{
	crew_end(&forker);
	safety_stop();
}

static const struct workload_param emptied_params[] = {
	{ "moves", "200" },
	UNREST_PARAMS,
	SAFETY_PARAMS,
	{ 0 },
};

static const struct workload emptied = {
	.feature = "attach",
	.name = "emptied",
	.text = "who forks is moved, and where it was is removed",
	.params = emptied_params,
	.setup = emptied_setup,
	.round = emptied_round,
	.teardown = emptied_teardown,
};

WORKLOAD(emptied);
