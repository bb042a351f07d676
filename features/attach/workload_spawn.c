// SPDX-License-Identifier: GPL-2.0-only
/* What forks, executes and makes threads while nobody moves: what the feature
 * costs those who do not use it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "groups.h"
#include "job.h"
#include "mark.h"
#include "program.h"
#include "util.h"
#include "workload.h"

/* When the child of the moment ended, or is about to be another program. */
static volatile uint64_t *child_at;

struct times {
	double call, end;
};

static int do_fork(struct times *times)
{
	uint64_t begin = now_ns(), forked;
	pid_t pid = fork();

	if (!pid) {
		*child_at = now_ns();
		_exit(0);
	}
	forked = now_ns();
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		return fail(STATUS_FAILED, "fork", "%s", strerror(errno));
	times->call += (double)(forked - begin);
	times->end += (double)(now_ns() - *child_at);
	return 0;
}

static int do_exec(struct times *times)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		*child_at = now_ns();
		program_exec();
		_exit(1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		return fail(STATUS_FAILED, "exec", "no program could be started");
	times->call += (double)(program_began() - *child_at);
	return 0;
}

static void *nothing(void *arg)
{
	return arg;
}

static int do_thread(struct times *times)
{
	uint64_t begin = now_ns();
	pthread_t id;

	if (pthread_create(&id, NULL, nothing, NULL) || pthread_join(id, NULL))
		return fail(STATUS_FAILED, "pthread_create", "no thread could be made");
	times->call += (double)(now_ns() - begin);
	return 0;
}

static const struct op {
	const char *name;
	int (*run)(struct times *times);
	const char *call, *end;
} ops[] = {
	{ "fork", do_fork, "fork", "exit" },
	{ "exec", do_exec, "exec", NULL },
	{ "thread", do_thread, "thread", NULL },
};

static int spawn_setup(const struct job_case *c)
{
	/* Else without any hierarchy, as the untouched kernel has it. */
	if (job_number(c, "groups") &&
	    (groups_start(c) < 0 || groups_favor_dynmods(c) < 0))
		return -1;
	if (!child_at)
		child_at = crew_memory(sizeof(*child_at));
	return child_at ? program_open() : -1;
}

static int spawn_round(const struct job_case *c, const char *mode, struct sample *s)
{
	const char *name = job_param(c, "op");
	uint64_t n = job_number(c, "n"), begin;
	struct times times = { 0 };
	const struct op *op = NULL;
	int ret = 0;

	(void)mode;
	for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++) {
		if (!strcmp(ops[i].name, name))
			op = &ops[i];
	}
	if (!op || !n)
		return fail(STATUS_USAGE, "op", "no operation '%s', or none of it", name);
	/* Where a child runs decides whose memory it gets, which is chance. */
	if (pin_begin(0) < 0)
		return -1;
	/* Until slabs and free pages are what such a loop leaves behind. */
	for (uint64_t i = 0; i < job_number(c, "warm") && !ret; i++)
		ret = op->run(&times);
	times = (struct times){ 0 };
	begin = now_ns();
	mark_begin();
	for (uint64_t i = 0; i < n && !ret; i++)
		ret = op->run(&times);
	mark_end();
	pin_end();
	if (ret < 0)
		return -1;
	sample_add(s, "spawn", (double)(now_ns() - begin) / (double)n);
	sample_add(s, "spawns", (double)n);
	sample_add(s, op->call, times.call / (double)n);
	if (op->end)
		sample_add(s, op->end, times.end / (double)n);
	return 0;
}

static void spawn_teardown(void)
{
	program_close();
	groups_stop();
}

static const struct workload_param spawn_params[] = {
	{ "op", "fork" },
	{ "n", "200" },
	{ "warm", "300" },
	{ "groups", "0" },
	{ "v1", "0" },
	{ "favordynmods", "0" },
	{ 0 },
};

static const struct workload spawn = {
	.feature = "attach",
	.name = "spawn",
	.text = "fork and exit, exec, or pthread_create, while nobody moves",
	.params = spawn_params,
	.setup = spawn_setup,
	.round = spawn_round,
	.teardown = spawn_teardown,
};

WORKLOAD(spawn);
