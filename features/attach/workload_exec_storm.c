// SPDX-License-Identifier: GPL-2.0-only
/*
 * The threads of a process execute, one after the other, so that it has a new
 * leader all the time: who writes its PID moves it, whoever leads it (CG4).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "groups.h"
#include "inject.h"
#include "job.h"
#include "lull.h"
#include "safety.h"
#include "unrest.h"
#include "util.h"
#include "workload.h"

#define NAME "lull-attach-execs"

/* A write looks no more than this often, then it locks out everybody. */
#define TRIES_MAX 3

/* More than one, so that a write that takes all of them is told from one that does not. */
#define OTHERS_MAX 8

static struct cgroup groups[2];
static pid_t process, others[OTHERS_MAX];

static void *exec_main(void *arg)
{
	char *argv[] = { (char *)NAME, NULL };

	(void)arg;
	execv("/proc/self/exe", argv);
	_exit(1);
}

/* Never back: from any thread but the leader. */
static void exec_again(void)
{
	pthread_t id;

	if (pthread_create(&id, NULL, exec_main, NULL))
		_exit(1);
	for (;;)
		pause();
}

static bool is_execs(int argc, char **argv)
{
	return argc == 1 && !strcmp(argv[0], NAME);
}

static int run_execs(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	exec_again();
	return 1;
}

static const struct applet execs_applet = { .claims = is_execs, .run = run_execs };

APPLET(execs_applet);

static int execs_setup(const struct job_case *c)
{
	if (safety_start(c) < 0)
		return -1;
	return group_make(&groups[0], "left") < 0 || group_make(&groups[1], "right") < 0 ? -1 : 0;
}

/* Somebody of the process is alive all the time, so that it is somewhere. */
static bool has_moved(const struct cgroup *from, const struct cgroup *to, bool v1)
{
	return safety_lines(to, v1 ? "tasks" : "cgroup.threads") && safety_empties(from, v1);
}

static int start_others(const struct job_case *c)
{
	for (uint64_t i = 0; i < OTHERS_MAX && i < job_number(c, "others"); i++) {
		others[i] = safety_fork(safety_sleep);
		if (others[i] < 0)
			return -1;
	}
	return 0;
}

/*
 * All in one write, of which the first executes: 0 or an errno, and how many bytes it
 * took. The rest is written until none is left.
 */
static int move_all(const struct cgroup *to, int64_t *taken)
{
	char text[(OTHERS_MAX + 1) * 12], *rest = text;
	int64_t n;
	size_t len = (size_t)sprintf(text, "%d", process);

	for (unsigned int i = 0; i < OTHERS_MAX && others[i]; i++)
		len += (size_t)sprintf(text + len, " %d", others[i]);
	n = *taken = group_write(to, "cgroup.procs", rest);
	while (n > 0 && *(rest += n))
		n = group_write(to, "cgroup.procs", rest);
	return n < 0 ? (int)-n : 0;
}

static bool takes_only(pid_t pid, int64_t taken)
{
	return taken == snprintf(NULL, 0, "%d", pid);
}

/* Stock has no such look; held up before it, ours find another leader. */
static bool changed(const struct job_case *c, const char *mode, uint64_t again)
{
	return !inject_pauses(c) || !strcmp(mode, "stock") || again;
}

static void end_all(void)
{
	crew_end(&process);
	for (unsigned int i = 0; i < OTHERS_MAX; i++)
		crew_end(&others[i]);
}

static int execs_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t moves = job_number(c, "moves"), i, behind = 0, again = 0, before, most = 0;
	uint64_t lose = job_number(c, "lose"), beside = 0;
	int64_t taken;
	bool v1 = job_number(c, "v1"), met = false;
	int error = 0, status = 0;
	char text[500];

	(void)s;
	if (lull_stats_clear("attach") < 0)
		return -1;
	process = safety_fork(exec_again);
	if (process < 0 || start_others(c) < 0 || safety_round(c) < 0 || unrest_start(c) < 0)
		return -1;
	sleep_ms(20);
	for (i = 0; unrest_goes_on(i, moves, met) && !error && check_interrupted() == 0; i++) {
		before = again;
		error = move_all(&groups[i & 1], &taken);
		again = lull_stat("attach", "again");
		beside += again - before >= TRIES_MAX && !takes_only(process, taken);
		most = again - before > most ? again - before : most;
		if (!error)
			behind += !has_moved(&groups[(i + 1) & 1], &groups[i & 1], v1);
		if (behind)
			break;
		unrest_step();
		met = changed(c, mode, again) && most >= lose;
		if (!met && safety_in_vain(c, moves) < 0)
			return -1;
	}
	/* The dead are moved without an error, too. */
	if (waitpid(process, &status, WNOHANG) == process) {
		process = 0;
		error = ECHILD;
	}
	end_all();
	if (!changed(c, mode, again) && !behind && !error)
		return fail(STATUS_UNMET, "exec-storm", "no leader changed in time");
	if (most < lose && !behind && !error)
		return fail(STATUS_UNMET, "exec-storm", "no write lost %" PRIu64 " times", lose);
	snprintf(text, sizeof(text),
		 "%s: %" PRIu64 " moves of a process that executes, %" PRIu64
		 " looked up again, %" PRIu64 " in one write, %" PRIu64
		 " times not moved, %" PRIu64 " times with others, errno %d, status %x%s",
		 mode, i, again, most, behind, beside, error, (unsigned int)status,
		 unrest_text());
	return unrest_end(report_check(
		c, "CG4", i >= moves && !behind && !beside && !error && most <= TRIES_MAX, text));
}

static void execs_teardown(void)
{
	end_all();
	safety_stop();
}

static const struct workload_param execs_params[] = {
	{ "moves", "200" },
	{ "lose", "0" },
	{ "others", "0" },
	UNREST_PARAMS,
	SAFETY_PARAMS,
	{ 0 },
};

static const struct workload execs = {
	.feature = "attach",
	.name = "exec-storm",
	.text = "a process is moved while its threads execute",
	.params = execs_params,
	.setup = execs_setup,
	.round = execs_round,
	.teardown = execs_teardown,
};

WORKLOAD(execs);
