// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process whose threads come and go is moved, by another (CG1, CG5), also with others
 * in one write, or by one of its own threads (CG9): none of them is left behind. Single
 * threads may be moved meanwhile, and move themselves.
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
#include "perturb.h"
#include "safety.h"
#include "singles.h"
#include "unrest.h"
#include "util.h"
#include "workload.h"

#define CLONERS 3
#define STACK 32768
#define BESIDE_MAX 15
/* How long single threads move at most while nobody moves the process. */
#define ALONE_NS 20000000

static struct shared {
	/* Cloners make no threads while it is closed. */
	struct gate gate;
	volatile int stay, leader_dies, self, only_exits, singles;
	/* For the process's own mover: where to, and how it went. */
	volatile int order, done, error;
	volatile uint64_t clones;
	volatile int stayed, leaving;
} *shared;

static struct cgroup groups[2];
static pid_t process;
/* Others like it, which the same writes move. */
static pid_t beside[BESIDE_MAX];
static unsigned int nr_beside;

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
	if (shared->singles && singles_spawn())
		_exit(1);
	if (shared->self)
		mover_main();
	if (shared->leader_dies)
		pthread_exit(NULL);
	for (;;)
		pause();
}

static int move_all(int to)
{
	char text[16 * (BESIDE_MAX + 1)];
	int len = sprintf(text, "%d", process);
	int64_t n;

	for (unsigned int i = 0; i < nr_beside; i++)
		len += sprintf(text + len, " %d", beside[i]);
	n = group_write(&groups[to], "cgroup.procs", text);
	if (n < 0)
		return (int)-n;
	return n == len ? 0 : EIO;
}

static int move(int to)
{
	if (nr_beside)
		return move_all(to);
	if (!shared->self)
		return safety_move(&groups[to], "cgroup.procs", process);
	shared->done = 0;
	shared->order = to + 1;
	while (!shared->done && check_interrupted() == 0)
		usleep(50);
	return shared->error;
}

/* Both ways at once, and then the process alone, after which all of it is there. */
static int move_with_singles(int to)
{
	int error;

	singles_release();
	singles_whole_begins();
	error = move(to);
	singles_whole_ended();
	sleep_ns(perturb_below(ALONE_NS));
	singles_hold();
	return error ?: move(to);
}

static void move_singles_alone(void)
{
	singles_release();
	sleep_ns(perturb_below(ALONE_NS));
	singles_hold();
}

static int threads_setup(const struct job_case *c)
{
	uint64_t singles = job_number(c, "singles"), more = job_number(c, "beside");

	if (more > BESIDE_MAX ||
	    (more && (singles || job_number(c, "self") || job_number(c, "leader_dies") ||
		      job_number(c, "v1"))))
		return fail(STATUS_USAGE, "beside",
			    "at most %d, on v2, without self, singles or leader_dies",
			    BESIDE_MAX);
	nr_beside = (unsigned int)more;
	if (singles > SINGLES_MAX || (singles && job_number(c, "v1")) ||
	    (!singles && !job_number(c, "whole")))
		return fail(STATUS_USAGE, "singles",
			    "at most %d, on v2, and some where nobody moves the whole",
			    SINGLES_MAX);
	if (!shared)
		shared = crew_memory(sizeof(*shared));
	if (!shared || safety_start(c) < 0)
		return -1;
	if (singles)
		return singles_setup(&groups[0], &groups[1]);
	return group_make(&groups[0], "left") < 0 || group_make(&groups[1], "right") < 0 ? -1 : 0;
}

static int start_process(const struct job_case *c)
{
	unsigned int singles = (unsigned int)job_number(c, "singles");

	memset(shared, 0, sizeof(*shared));
	shared->stay = (int)job_number(c, "stay") * (int)(1 + nr_beside);
	shared->leader_dies = (int)job_number(c, "leader_dies");
	shared->self = (int)job_number(c, "self");
	shared->only_exits = (int)job_number(c, "only_exits");
	shared->singles = (int)singles;
	if (singles)
		singles_begin(singles);
	process = safety_fork(process_main);
	if (process < 0)
		return -1;
	for (unsigned int i = 0; i < nr_beside; i++) {
		beside[i] = safety_fork(process_main);
		if (beside[i] < 0)
			return -1;
	}
	/* Half of those that are to stay come to be during the moves. */
	while (shared->clones < 20 || shared->stayed < shared->stay / 2)
		sleep_ms(1);
	if (!singles && !nr_beside)
		return 0;
	/* From here on who is left behind is seen. */
	if (move(1))
		return fail(STATUS_FAILED, "threads", "the process cannot be where its threads are to move");
	return singles ? singles_start(process) : 0;
}

/* Have the moves of single threads been met? */
static bool enough(void)
{
	return !shared->singles || singles_enough();
}

/* Is each of the two right, of those that there are? */
static bool is_exact(const struct cgroup *to, const struct cgroup *from, bool both,
		     unsigned int *count)
{
	uint64_t says;
	unsigned int more = 0;
	bool exact = safety_is_exact(to, &says, count);

	if (both)
		exact &= safety_is_exact(from, &says, &more);
	*count += more;
	return exact;
}

static void end_all(void)
{
	crew_end(&process);
	for (unsigned int i = 0; i < nr_beside; i++)
		crew_end(&beside[i]);
}

static int threads_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t moves = job_number(c, "moves"), i, behind = 0, wrong = 0;
	bool v1 = job_number(c, "v1"), whole = job_number(c, "whole"), good = true;
	unsigned int count = 0;
	int error = 0, ret;
	char text[900], singles[200] = "";

	(void)s;
	if (start_process(c) < 0 || unrest_start(c) < 0)
		return -1;
	for (i = 0; unrest_goes_on(i, moves, enough()) && !error && !behind && !wrong &&
		    check_interrupted() == 0;
	     i++) {
		struct cgroup *from = &groups[(i + 1) & 1], *to = &groups[i & 1];

		if (!whole)
			move_singles_alone();
		else
			error = shared->singles ? move_with_singles(i & 1) : move(i & 1);
		gate_close(&shared->gate, CLONERS * (1 + nr_beside));
		/* Those that live on, and were forgotten, stay where they were. */
		if ((i || nr_beside) && whole && !safety_empties(from, v1))
			behind++;
		if (nr_beside)
			behind += safety_lines(to, "cgroup.procs") != 1 + nr_beside;
		/* A leader that has died is counted where it was. */
		if (!v1 && !shared->leader_dies)
			wrong += !is_exact(to, from, !whole, &count);
		gate_open(&shared->gate);
		unrest_step();
	}
	if (shared->singles) {
		good = singles_good(singles, sizeof(singles));
		singles_end();
	}
	end_all();
	snprintf(text, sizeof(text),
		 "%s: %" PRIu64 " moves of %u that made %" PRIu64
		 " threads, %u at the end; left behind %" PRIu64 " times, pids.current wrong %" PRIu64
		 " times, errno %d%s%s",
		 mode, i, 1 + nr_beside, (uint64_t)shared->clones, count, behind, wrong, error, singles,
		 unrest_text());
	ret = report_check(c, job_param(c, "name"),
			   !behind && !wrong && !error && good && i >= moves, text);
	if (!ret && shared->singles && !singles_enough())
		ret = fail(STATUS_UNMET, "singles", "too few%s", singles);
	return unrest_end(ret);
}

static void threads_teardown(void)
{
	end_all();
	singles_teardown();
	safety_stop();
}

static const struct workload_param threads_params[] = {
	{ "moves", "100" },
	{ "stay", "50" },
	{ "self", "0" },
	{ "leader_dies", "0" },
	{ "only_exits", "0" },
	/* So many of its threads move themselves, and somebody moves others of them. */
	{ "singles", "0" },
	/* So many more processes like it, all in each write. */
	{ "beside", "0" },
	/* 0: nobody moves all of the process but at first. */
	{ "whole", "1" },
	/* 1: a CPU goes and comes, memory goes out and comes back meanwhile. */
	UNREST_PARAMS,
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
