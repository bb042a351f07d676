// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's own tests of cgroups, which say in each mode what they say on stock. */
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
#include "util.h"
#include "workload.h"

#define FOLDER "/selftests/"
#define OUTPUT "/tmp/lull-selftest"
#define TEXT_MAX 4096

/* The verdicts on stock, which comes first. */
static char stock[TEXT_MAX];

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

/* The lines that begin as a verdict does: "ok 1 name" and "not ok 2 name". */
static void keep_verdicts(char *text, char *verdicts, unsigned int *passed)
{
	size_t len = 0;
	char *line;

	verdicts[0] = '\0';
	*passed = 0;
	while ((line = strsep(&text, "\n"))) {
		bool ok = !strncmp(line, "ok ", 3) && !strstr(line, "# SKIP");

		/* A child that ends writes what its parent had not written yet. */
		if ((strncmp(line, "ok ", 3) && strncmp(line, "not ok ", 7)) ||
		    strstr(verdicts, line) || len >= TEXT_MAX - 200)
			continue;
		*passed += ok;
		len += (size_t)snprintf(verdicts + len, TEXT_MAX - len, "%.190s; ", line);
	}
}

static int selftests_round(const struct job_case *c, const char *mode, struct sample *s)
{
	const char *program = job_param(c, "program");
	char verdicts[TEXT_MAX], *text, said[TEXT_MAX + 300];
	pid_t probe = getpid(), pid = fork();
	unsigned int passed;
	int status;

	(void)s;
	if (!pid) {
		crew_member(probe);
		run(program);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return fail(STATUS_FAILED, program, "%s", strerror(errno));
	text = read_whole(OUTPUT);
	unlink(OUTPUT);
	if (!text || WEXITSTATUS(status) >= 126)
		return fail(STATUS_LACKING, program, "no such program in " FOLDER);
	keep_verdicts(text, verdicts, &passed);
	free(text);
	if (!strcmp(mode, "stock"))
		memcpy(stock, verdicts, sizeof(stock));
	snprintf(said, sizeof(said), "%s: %s: %u passed: %s", mode, program, passed, verdicts);
	return report_check(c, "selftests", passed && !strcmp(stock, verdicts), said);
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
