// SPDX-License-Identifier: GPL-2.0-only
/*
 * The step attach: a child is moved between two cgroups, "move N ns" each, while the
 * machine does what it does.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"
#include "undo.h"

/* A grace period is over, and the next move has to wait for one of its own. */
#define PAUSE_NS 50000000

static char rooms[2][1024];

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static pid_t sleeper(int fd)
{
	pid_t pid, self = getpid();

	pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(fd);
	if (getppid() == self)
		pause();
	_exit(0);
}

static int open_room(const char *room)
{
	char path[2048];

	snprintf(path, sizeof(path), "%s%s/cgroup.procs", ask_root, room);
	return open(path, O_WRONLY | O_CLOEXEC);
}

static void moves(int fd)
{
	int to[2] = { open_room(rooms[0]), open_room(rooms[1]) };
	pid_t pid = sleeper(fd);
	char who[16];

	snprintf(who, sizeof(who), "%d", (int)pid);
	/* One more: the first comes from elsewhere, and is not one of the measured. */
	for (unsigned int i = 0; i <= measure_times; i++) {
		uint64_t begin = now_ns();

		if (write(to[i % 2], who, strlen(who)) < 0) {
			dprintf(fd, "lacks\tmove\t%s\n", strerrorname_np(errno));
			break;
		}
		if (i)
			dprintf(fd, "move\t%llu ns\n",
				(unsigned long long)(now_ns() - begin));
		nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
	}
	if (pid > 0)
		kill(pid, SIGKILL);
}

/* "29 24 0:26 / /sys/fs/cgroup rw - cgroup2 ...": the fifth field. */
static int find_mount(char *place, size_t size)
{
	char *copy, *rest, *line;
	struct answer a;
	int found = -ENOENT;

	if (step_ask(ASK_READ, "/proc/self/mountinfo", &a))
		return -ENOENT;
	copy = rest = strdup(a.text);
	while (found && copy && (line = next_line(&rest)) != NULL) {
		char at[512];

		if (strstr(line, " - cgroup2 ") &&
		    sscanf(line, "%*s %*s %*s %*s %511s", at) == 1 && !strchr(at, '\\')) {
			snprintf(place, size, "%s", at);
			found = 0;
		}
	}
	free(copy);
	return found;
}

void attach_run(struct buf *out)
{
	char mount[512];
	int ret;

	if (!measure_root(out))
		return;
	if (find_mount(mount, sizeof(mount))) {
		measure_lacks(out, "cgroup2", ENOENT);
		return;
	}
	ret = undo_begin();
	if (ret) {
		measure_lacks(out, "note", -ret);
		return;
	}
	for (int i = 0; i < 2 && !ret; i++) {
		snprintf(rooms[i], sizeof(rooms[i]), "%s/lull-doctor-%c", mount, 'a' + i);
		ret = undo_mkdir(rooms[i]);
	}
	if (ret)
		measure_lacks(out, "cgroup", -ret);
	else
		measure_child(out, moves);
	ret = undo_end(step_undone);
	if (ret)
		measure_lacks(out, "back", -ret);
}
