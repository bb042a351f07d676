// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's own tests of cgroups: what they say goes to the lab, which judges. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "job.h"
#include "out.h"
#include "util.h"
#include "workload.h"

#define FOLDER "/selftests/"
#define OUTPUT "/tmp/lull-selftest"

/*
 * Some depend on time, which goes by quickly in a slow machine: on a busy host,
 * test_cgfreezer_stopped was seen to fail twice in a row, on stock too.
 */
#define TRIES 20

static void run(const char *program)
{
	char path[100];
	int fd = open(OUTPUT, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	snprintf(path, sizeof(path), FOLDER "%s", program);
	/* test_core reads 3 GB of random bytes, to touch memory: minutes here. */
	if (unshare(CLONE_NEWNS) < 0 || mount("/dev/zero", "/dev/urandom", NULL, MS_BIND, NULL) < 0)
		_exit(126);
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		_exit(126);
	execl(path, program, NULL);
	_exit(127);
}

/* As a shell has it. */
static int exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* A line about the try, then all that the program has said. */
static int give(const char *program, const char *mode, int status, const char *output)
{
	char *text;

	if (asprintf(&text, "selftest %s %s %d\n%s", program, mode, status, output) < 0)
		return fail(STATUS_FAILED, program, "no memory");
	out_begin("note");
	out_str("text", text);
	free(text);
	return out_end();
}

/* The exit status, or -1. */
static int run_once(const char *program, const char *mode)
{
	pid_t probe = getpid(), pid = fork();
	char *text;
	int status;

	if (!pid) {
		crew_member(probe);
		run(program);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return fail(STATUS_FAILED, program, "%s", strerror(errno));
	status = exit_status(status);
	text = read_whole(OUTPUT);
	unlink(OUTPUT);
	if (!text || status == 126 || status == 127) {
		free(text);
		return fail(STATUS_LACKING, program, "no such program in " FOLDER);
	}
	if (give(program, mode, status, text) < 0)
		status = -1;
	free(text);
	return status;
}

static int selftests_round(const struct job_case *c, const char *mode, struct sample *s)
{
	const char *program = job_param(c, "program");
	int status = 1;

	(void)s;
	for (unsigned int i = 0; i < TRIES && status > 0; i++)
		status = run_once(program, mode);
	return status < 0 ? -1 : 0;
}

static const struct workload_param selftests_params[] = {
	{ "program", "test_core" },
	{ 0 },
};

static int nothing_to_do(const struct job_case *c)
{
	(void)c;
	return 0;
}

static void nothing_left(void)
{
}

static const struct workload selftests = {
	.feature = "attach",
	.name = "selftests",
	.text = "the kernel's own tests, where the lab has put them",
	.params = selftests_params,
	.setup = nothing_to_do,
	.round = selftests_round,
	.teardown = nothing_left,
};

WORKLOAD(selftests);
