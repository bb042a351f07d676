// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exiting.h"
#include "suspend.h"
#include "task.h"
#include "util.h"

/* Longer than whatever a host delays. */
#define LIMIT_MS 30000

/*
 * The first of a PID namespace, which waits in its exit until all others were reaped,
 * and another, a child of ours as well. Not above 0 is nobody.
 */
struct exiting {
	pid_t pid, other;
};

/* The parent of the first of a namespace is not in it, and crew_member() is of no use. */
static void lives(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

static int open_namespace(pid_t pid)
{
	char path[40];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? fail(STATUS_LACKING, path, "no PID namespaces: %s", strerror(errno)) :
			fd;
}

/* A child in the namespace of another child. */
static pid_t fork_into(pid_t there)
{
	int own = open_namespace(getpid()), other = open_namespace(there);
	pid_t pid = -1;

	if (own >= 0 && other >= 0 && !setns(other, CLONE_NEWPID)) {
		pid = fork();
		if (!pid)
			lives();
		if (setns(own, CLONE_NEWPID) < 0)
			fail(STATUS_FAILED, "setns", "no way back: %s", strerror(errno));
	}
	if (pid < 0)
		fail(STATUS_FAILED, "setns", "nobody can be put into a namespace: %s",
		     strerror(errno));
	if (own >= 0)
		close(own);
	if (other >= 0)
		close(other);
	return pid;
}

/* Both live. */
static int start(struct exiting *e)
{
	e->pid = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);
	if (e->pid < 0)
		return fail(STATUS_LACKING, "clone", "no PID namespaces: %s", strerror(errno));
	if (!e->pid)
		lives();
	e->other = fork_into(e->pid);
	return e->other < 0 ? -1 : 0;
}

/* An idle sleep is its wait for the others, which nothing else of it is. */
static int kill_first(const struct exiting *e)
{
	kill(e->pid, SIGKILL);
	if (task_comes_to(e->pid, "I", LIMIT_MS))
		return 0;
	return fail(STATUS_FAILED, "/proc", "who was killed does not wait in its exit, but is %c",
		    task_state(e->pid) ?: '-');
}

static bool ends(struct exiting *e, unsigned int ms)
{
	return task_ends(&e->other, LIMIT_MS) && task_ends(&e->pid, ms);
}

/* However far it got; who is frozen for good stays. */
static void stop(struct exiting *e)
{
	if (e->pid > 0)
		kill(e->pid, SIGKILL);
	if (e->other > 0)
		kill(e->other, SIGKILL);
	ends(e, LIMIT_MS);
}

static int try(struct exiting *e, struct cgroup *cgroup, unsigned int ms, bool *ended)
{
	if (start(e) < 0 || cgroup_attach(cgroup, e->pid) < 0 || kill_first(e) < 0 ||
	    cgroup_freeze(cgroup) < 0 || suspend_once() < 0)
		return -1;
	cgroup_thaw(cgroup);
	*ended = ends(e, ms);
	/* Nothing is left that it is frozen for: the next cycle thaws it. */
	return *ended ? 0 : suspend_once();
}

int exiting_try(struct cgroup *cgroup, unsigned int ms, bool *ended)
{
	struct exiting e = { 0 };
	int ret = try(&e, cgroup, ms, ended);

	cgroup_thaw(cgroup);
	stop(&e);
	return ret;
}
