// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"
#include "util.h"
#include "workload.h"

#define NAME "lull-attach-program"

static int fds[2] = { -1, -1 };

int program_open(void)
{
	if (pipe2(fds, O_NONBLOCK) < 0)
		return fail(STATUS_FAILED, "pipe", "%s", strerror(errno));
	return 0;
}

void program_close(void)
{
	for (int i = 0; i < 2; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}

void program_exec(void)
{
	char fd[16];
	char *argv[] = { (char *)NAME, fd, NULL };

	snprintf(fd, sizeof(fd), "%d", fds[1]);
	execv("/proc/self/exe", argv);
}

uint64_t program_began(void)
{
	uint64_t ns = 0, last = 0;

	while (read(fds[0], &ns, sizeof(ns)) == sizeof(ns))
		last = ns;
	return last;
}

static bool is_program(int argc, char **argv)
{
	return argc == 2 && !strcmp(argv[0], NAME);
}

static int run_program(int argc, char **argv)
{
	uint64_t ns = now_ns();

	(void)argc;
	return write(atoi(argv[1]), &ns, sizeof(ns)) != sizeof(ns);
}

static const struct applet program = { .claims = is_program, .run = run_program };

APPLET(program);
