// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crew.h"
#include "groups.h"
#include "perturb.h"
#include "safety.h"
#include "singles.h"
#include "util.h"

#define TASKS_MAX 1024
#define ENOUGH 10
#define STACK 32768
/* Up to that long each is where it is. */
#define GAP_US 2000

static const char *const controllers[] = { "pids", "cpu", "cpuset" };

static struct shared {
	/* Closed, nobody moves any thread. */
	struct gate gate;
	unsigned int n;
	uint64_t seeds[SINGLES_MAX];
	volatile pid_t tids[SINGLES_MAX];
	/* Twice the moves of the whole process, and 1 more during one. */
	volatile uint64_t whole;
	volatile uint64_t selves, others, astray;
	volatile int error;
} *shared;

static struct cgroup root, *sides[2];
static pid_t other;

static void control(char sign)
{
	char text[16];

	for (unsigned int i = 0; i < ARRAY_SIZE(controllers); i++) {
		snprintf(text, sizeof(text), "%c%s", sign, controllers[i]);
		group_write(&root, "cgroup.subtree_control", text);
	}
}

int singles_setup(struct cgroup *left, struct cgroup *right)
{
	sides[0] = left;
	sides[1] = right;
	if (!shared)
		shared = crew_memory(sizeof(*shared));
	if (!shared || group_make(&root, "threads") < 0 ||
	    group_make(left, "threads/left") < 0 || group_make(right, "threads/right") < 0 ||
	    cgroup_set(left, "cgroup.type", "threaded") < 0 ||
	    cgroup_set(right, "cgroup.type", "threaded") < 0)
		return -1;
	control('+');
	return 0;
}

void singles_teardown(void)
{
	singles_end();
	if (sides[0])
		control('-');
	sides[0] = NULL;
}

void singles_begin(unsigned int n)
{
	memset(shared, 0, sizeof(*shared));
	shared->n = n;
	for (unsigned int i = 0; i < n; i++)
		shared->seeds[i] = perturb_below(UINT32_MAX) + 1;
	/* Until the process is in the subtree. */
	shared->gate.closed = 1;
}

/* Each has its own: perturb_below() is for one at a time. */
static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void *single_main(void *arg)
{
	volatile pid_t *tid = arg;
	uint64_t state = shared->seeds[tid - shared->tids];

	*tid = gettid();
	for (;;) {
		uint64_t drawn = next(&state), whole;
		const struct cgroup *to = sides[drawn >> 32 & 1];
		int error;

		gate_pass(&shared->gate);
		whole = __atomic_load_n(&shared->whole, __ATOMIC_SEQ_CST);
		/* By its number, or by 0, which is stock's own case. */
		error = safety_move(to, "cgroup.threads", drawn >> 33 & 1 ? *tid : 0);
		if (error)
			shared->error = error;
		else if (!group_has(to, *tid) && !(whole & 1) &&
			 __atomic_load_n(&shared->whole, __ATOMIC_SEQ_CST) == whole)
			__atomic_add_fetch(&shared->astray, 1, __ATOMIC_SEQ_CST);
		__atomic_add_fetch(&shared->selves, 1, __ATOMIC_SEQ_CST);
		usleep((useconds_t)(drawn >> 40) % GAP_US);
	}
	return NULL;
}

int singles_spawn(void)
{
	pthread_attr_t attr;
	pthread_t id;
	int error = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (unsigned int i = 0; i < shared->n && !error; i++)
		error = pthread_create(&id, &attr, single_main, (void *)&shared->tids[i]);
	pthread_attr_destroy(&attr);
	return error;
}

static bool moves_itself(pid_t tid)
{
	for (unsigned int i = 0; i < shared->n; i++) {
		if (shared->tids[i] == tid)
			return true;
	}
	return false;
}

/* Of the others: any, or the last that was made, which may be about to end. */
static pid_t pick(pid_t process)
{
	static pid_t tids[TASKS_MAX];
	unsigned int n = 0;
	struct dirent *d;
	char path[40];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", process);
	dir = opendir(path);
	while (dir && n < TASKS_MAX && (d = readdir(dir))) {
		pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);

		if (tid > 0 && !moves_itself(tid))
			tids[n++] = tid;
	}
	if (dir)
		closedir(dir);
	if (!n)
		return 0;
	return tids[perturb_below(2) ? n - 1 : perturb_below(n)];
}

static void move_others(pid_t process)
{
	for (;;) {
		pid_t tid;
		int error;

		gate_pass(&shared->gate);
		tid = pick(process);
		error = tid ? safety_move(sides[perturb_below(2)], "cgroup.threads", tid) : ESRCH;
		/* It may have ended. */
		if (error && error != ESRCH)
			shared->error = error;
		shared->others += !error;
		usleep((useconds_t)perturb_below(GAP_US));
	}
}

int singles_start(pid_t process)
{
	other = crew_fork(NULL);
	if (!other)
		move_others(process);
	return other < 0 ? -1 : 0;
}

void singles_hold(void)
{
	/* The threads, and who moves the others. */
	gate_close(&shared->gate, (int)shared->n + 1);
}

void singles_release(void)
{
	gate_open(&shared->gate);
}

void singles_whole_begins(void)
{
	__atomic_add_fetch(&shared->whole, 1, __ATOMIC_SEQ_CST);
}

void singles_whole_ended(void)
{
	__atomic_add_fetch(&shared->whole, 1, __ATOMIC_SEQ_CST);
}

void singles_end(void)
{
	crew_end(&other);
}

bool singles_enough(void)
{
	return shared->selves >= ENOUGH && shared->others >= ENOUGH;
}

bool singles_good(char *text, size_t size)
{
	snprintf(text, size,
		 "; %" PRIu64 " times a thread moved itself, %" PRIu64 " astray, %" PRIu64
		 " times another moved one, errno %d",
		 shared->selves, shared->astray, shared->others, shared->error);
	return !shared->astray && !shared->error;
}
