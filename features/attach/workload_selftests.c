// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's own tests of cgroups: what passes on stock passes in each mode. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
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

/* Some depend on time, which goes by quickly in a slow machine. */
#define TRIES 3

/* What has passed on stock, which comes first. */
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

static bool add_line(char *list, const char *line)
{
	size_t len = strlen(list);

	/* A child that ends writes what its parent had not written yet. */
	if (strstr(list, line) || len + strlen(line) + 3 > TEXT_MAX)
		return false;
	snprintf(list + len, TEXT_MAX - len, "%s; ", line);
	return true;
}

/* Verdicts: "ok 1 name", "ok 2 # SKIP name", "not ok 3 name". */
static unsigned int keep_verdicts(char *text, char *passed, char *failed)
{
	unsigned int n = 0;
	char *line;

	failed[0] = '\0';
	while ((line = strsep(&text, "\n"))) {
		if (!strncmp(line, "ok ", 3) && !strstr(line, "# SKIP"))
			n += add_line(passed, line);
		else if (!strncmp(line, "not ok ", 7))
			add_line(failed, line);
	}
	return n;
}

/* Does the list have all that passed on stock? */
static bool has_stock(const char *passed)
{
	char list[TEXT_MAX], *rest = list, *line;

	memcpy(list, stock, sizeof(list));
	while ((line = strsep(&rest, ";"))) {
		line += *line == ' ';
		if (*line && !strstr(passed, line))
			return false;
	}
	return true;
}

static int run_once(const char *program, char *passed, char *failed, unsigned int *n)
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
	text = read_whole(OUTPUT);
	unlink(OUTPUT);
	if (!text || WEXITSTATUS(status) >= 126)
		return fail(STATUS_LACKING, program, "no such program in " FOLDER);
	*n += keep_verdicts(text, passed, failed);
	free(text);
	return 0;
}

static int selftests_round(const struct job_case *c, const char *mode, struct sample *s)
{
	char passed[TEXT_MAX] = "", failed[TEXT_MAX] = "", said[TEXT_MAX + 300];
	const char *program = job_param(c, "program");
	unsigned int n = 0;

	(void)s;
	for (unsigned int i = 0; i < TRIES && (!i || *failed); i++) {
		if (run_once(program, passed, failed, &n) < 0)
			return -1;
	}
	if (!strcmp(mode, "stock"))
		memcpy(stock, passed, sizeof(stock));
	snprintf(said, sizeof(said), "%s: %s: %u passed; of the last try: %s", mode, program, n,
		 *failed ? failed : "all");
	return report_check(c, "selftests", n && has_stock(passed), said);
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
