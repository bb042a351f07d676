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
#include <sys/wait.h>
#include <unistd.h>

#include "exiting.h"
#include "task.h"
#include "util.h"

/* Longer than whatever a host delays. */
#define LIMIT_MS 30000

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

int exiting_start(struct exiting *e)
{
	e->other = 0;
	e->pid = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);
	if (e->pid < 0)
		return fail(STATUS_LACKING, "clone", "no PID namespaces: %s", strerror(errno));
	if (!e->pid)
		lives();
	e->other = fork_into(e->pid);
	return e->other < 0 ? -1 : 0;
}

int exiting_kill(struct exiting *e)
{
	kill(e->pid, SIGKILL);
	for (int ms = 0; ms < LIMIT_MS && check_interrupted() >= 0; ms++) {
		/* An idle sleep, which nothing else of it is. */
		if (task_state(e->pid) == 'I')
			return 0;
		sleep_ms(1);
	}
	return fail(STATUS_FAILED, "/proc", "who was killed does not wait in its exit, but is %c",
		    task_state(e->pid) ?: '-');
}

static bool reap(pid_t *pid, unsigned int ms)
{
	for (unsigned int i = 0; *pid > 0 && i < ms && check_interrupted() >= 0; i++) {
		if (waitpid(*pid, NULL, WNOHANG))
			*pid = 0;
		else
			sleep_ms(1);
	}
	return *pid <= 0;
}

bool exiting_ends(struct exiting *e, unsigned int ms)
{
	return reap(&e->other, LIMIT_MS) && reap(&e->pid, ms);
}

void exiting_stop(struct exiting *e)
{
	if (e->pid > 0)
		kill(e->pid, SIGKILL);
	if (e->other > 0)
		kill(e->other, SIGKILL);
	exiting_ends(e, LIMIT_MS);
	e->pid = 0;
	e->other = 0;
}
