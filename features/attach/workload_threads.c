// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process whose threads come and go is moved, by another (CG1, CG5) or by one
 * of its own threads (CG9): none of them is left behind.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "groups.h"
#include "job.h"
#include "safety.h"
#include "util.h"
#include "workload.h"

#define CLONERS 3
#define STACK 32768

static struct shared {
	/* Cloners make no threads while it is closed. */
	struct gate gate;
	volatile int stay, leader_dies, self, only_exits;
	/* For the process's own mover: where to, and how it went. */
	volatile int order, done, error;
	volatile uint64_t clones;
	volatile int stayed, leaving;
} *shared;

static struct cgroup groups[2];
static pid_t process;

static void *stay_main(void *arg)
{
	(void)arg;
	/* One after the other, while all of them are being moved. */
	if (shared->only_exits)
		usleep(20000 + 3000 * (unsigned int)__atomic_fetch_add(&shared->leaving, 1,
								       __ATOMIC_SEQ_CST));
	else
		for (;;)
			pause();
	return NULL;
}

static void *leave_main(void *arg)
{
	return arg;
}

static int thread(void *(*fn)(void *))
{
	pthread_attr_t attr;
	pthread_t id;
	int error;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&id, &attr, fn, NULL);
	pthread_attr_destroy(&attr);
	return error;
}

/* Some of them stay, and the others leave at once. */
static void *cloner_main(void *arg)
{
	(void)arg;
	for (uint64_t i = 0;; i++) {
		gate_pass(&shared->gate);
		if (i % 4 && shared->stayed < shared->stay) {
			__atomic_add_fetch(&shared->stayed, !thread(stay_main), __ATOMIC_SEQ_CST);
		} else if (shared->only_exits || thread(leave_main)) {
			usleep(1000);
		}
		__atomic_add_fetch(&shared->clones, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* The leader moves itself, and all its threads with it. */
static void mover_main(void)
{
	for (;;) {
		while (!shared->order)
			usleep(50);
		shared->error = safety_move(&groups[shared->order - 1], "cgroup.procs", 0);
		shared->order = 0;
		shared->done = 1;
	}
}

static void process_main(void)
{
	for (int i = 0; i < CLONERS; i++)
		thread(cloner_main);
	if (shared->self)
		mover_main();
	if (shared->leader_dies)
		pthread_exit(NULL);
	for (;;)
		pause();
}

static int move(int to)
{
	if (!shared->self)
		return safety_move(&groups[to], "cgroup.procs", process);
	shared->done = 0;
	shared->order = to + 1;
	while (!shared->done && check_interrupted() == 0)
		usleep(50);
	return shared->error;
}

static int threads_setup(const struct job_case *c)
{
	if (!shared)
		shared = crew_memory(sizeof(*shared));
	if (!shared || safety_start(c) < 0)
		return -1;
	return group_make(&groups[0], "left") < 0 || group_make(&groups[1], "right") < 0 ? -1 : 0;
}

static int threads_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t moves = job_number(c, "moves"), i, behind = 0, wrong = 0, says;
	bool v1 = job_number(c, "v1");
	unsigned int count = 0;
	int error = 0;
	char text[250];

	(void)s;
	memset(shared, 0, sizeof(*shared));
	shared->stay = (int)job_number(c, "stay");
	shared->leader_dies = (int)job_number(c, "leader_dies");
	shared->self = (int)job_number(c, "self");
	shared->only_exits = (int)job_number(c, "only_exits");
	process = safety_fork(process_main);
	if (process < 0)
		return -1;
	/* Half of those that are to stay come to be during the moves. */
	while (shared->clones < 20 || shared->stayed < shared->stay / 2)
		sleep_ms(1);
	for (i = 0; i < moves && !error && !behind && check_interrupted() == 0; i++) {
		struct cgroup *from = &groups[(i + 1) & 1], *to = &groups[i & 1];

		error = move(i & 1);
		gate_close(&shared->gate, CLONERS);
		/* Those that live on, and were forgotten, stay where they were. */
		if (i && !safety_empties(from, v1))
			behind++;
		/* A leader that has died is counted where it was. */
		if (!v1 && !shared->leader_dies)
			wrong += !safety_is_exact(to, &says, &count);
		gate_open(&shared->gate);
	}
	crew_end(&process);
	snprintf(text, sizeof(text),
		 "%s: %" PRIu64 " moves of a process that made %" PRIu64
		 " threads, %u at the end; left behind %" PRIu64 " times, pids.current wrong %" PRIu64
		 " times, errno %d",
		 mode, i, (uint64_t)shared->clones, count, behind, wrong, error);
	return report_check(c, job_param(c, "name"), !behind && !wrong && !error && i == moves, text);
}

static void threads_teardown(void)
{
	crew_end(&process);
	safety_stop();
}

static const struct workload_param threads_params[] = {
	{ "moves", "100" },
	{ "stay", "50" },
	{ "self", "0" },
	{ "leader_dies", "0" },
	{ "only_exits", "0" },
	{ "name", "CG1" },
	SAFETY_PARAMS,
	{ 0 },
};

static const struct workload threads = {
	.feature = "attach",
	.name = "threads",
	.text = "a process is moved while its threads come and go",
	.params = threads_params,
	.setup = threads_setup,
	.round = threads_round,
	.teardown = threads_teardown,
};

WORKLOAD(threads);
