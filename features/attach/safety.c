// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "groups.h"
#include "knob.h"
#include "safety.h"
#include "util.h"

#define INJECT "/sys/kernel/debug/lull/attach/inject/"
#define SWITCH "/sys/module/lull/parameters/attach"
#define EMPTY_MS 5000

static pid_t switcher;

static int inject(const struct job_case *c)
{
	static const char *const names[] = { "disable", "pause", "pause_us" };
	char path[80];

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), INJECT "%s", names[i]);
		if (job_number(c, names[i]) && knob_write(path, job_param(c, names[i])) < 0)
			return -1;
	}
	return 0;
}

static void switch_all_the_time(void)
{
	static const char *const modes[] = { "stock", "lull", "threadgroup", "lull",
					     "stock", "threadgroup" };

	for (unsigned int i = 0;; i++) {
		if (write_file(SWITCH, modes[i % ARRAY_SIZE(modes)]) < 0)
			_exit(1);
		sleep_ns(2000000);
	}
}

int safety_start(const struct job_case *c)
{
	if (groups_start(c) < 0 || inject(c) < 0)
		return -1;
	if (!job_number(c, "switchers"))
		return 0;
	switcher = safety_fork(switch_all_the_time);
	return switcher > 0 ? 0 : fail(STATUS_FAILED, "fork", "%s", strerror(errno));
}

void safety_stop(void)
{
	safety_end(&switcher);
	groups_stop();
}

pid_t safety_fork(void (*fn)(void))
{
	pid_t probe = getpid(), pid = fork();

	if (pid)
		return pid;
	crew_member(probe);
	prctl(PR_SET_NAME, PAUSE_NAME);
	fn();
	_exit(1);
}

void safety_end(pid_t *pid)
{
	if (*pid <= 0)
		return;
	kill(*pid, SIGKILL);
	waitpid(*pid, NULL, 0);
	*pid = 0;
}

int safety_move(const struct cgroup *to, const char *file, pid_t pid)
{
	int fd = group_open(to, file), error;

	if (fd < 0)
		return errno;
	error = group_write_pid(fd, pid);
	close(fd);
	return error;
}

unsigned int safety_lines(const struct cgroup *cg, const char *file)
{
	char path[400], *text;
	unsigned int lines = 0;

	snprintf(path, sizeof(path), "%s/%s", cg->path, file);
	text = read_whole(path);
	for (char *at = text; at && *at; at++)
		lines += *at == '\n';
	free(text);
	return lines;
}

bool safety_empties(const struct cgroup *cg, bool v1)
{
	for (unsigned int ms = 0; ms < EMPTY_MS; ms++) {
		if (!safety_lines(cg, v1 ? "tasks" : "cgroup.threads"))
			return true;
		sleep_ms(1);
	}
	return false;
}
