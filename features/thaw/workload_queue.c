// SPDX-License-Identifier: GPL-2.0-only
/*
 * Of two exclusive waiters the first is frozen by its v1 cgroup: a wakeup goes to
 * the second, who can do something with it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "crew.h"
#include "inject.h"
#include "pair.h"
#include "safety.h"
#include "util.h"
#include "workload.h"

#define FIRST 1
#define SECOND 2

static const char *const kinds[] = { "pipe-read", "epoll", "tcp-accept", "unix-accept" };

/* In memory that all share: one thing to wait for, and two who do. */
static struct queue {
	struct pair pair;
	volatile uint32_t got;	/* bits of those who came back with it */
	volatile int error;
} *queue;

static pid_t waiters[2];
static struct cgroup cgroup;

static void waiter_main(uint32_t who)
{
	int64_t n;

	pair_start(&queue->pair);
	/* To be signalled is nothing that was sent. */
	do {
		n = queue->pair.kind->wait(&queue->pair, -1);
	} while (!n || (n < 0 && errno == EINTR));
	if (n < 0)
		queue->error = errno;
	__atomic_or_fetch(&queue->got, who, __ATOMIC_SEQ_CST);
}

static void first_main(void *arg)
{
	(void)arg;
	waiter_main(FIRST);
}

static void second_main(void *arg)
{
	(void)arg;
	waiter_main(SECOND);
}

static int start_waiter(unsigned int i, void (*body)(void *arg))
{
	queue->pair.ready = 0;
	waiters[i] = trial_fork(i ? "second" : "first", body, NULL);
	return waiters[i] < 0 ? -1 : pair_wait_asleep(&queue->pair);
}

static void stop_waiters(void)
{
	/* A frozen one does not die. */
	cgroup_thaw(&cgroup);
	for (size_t i = 0; i < ARRAY_SIZE(waiters); i++)
		trial_end(&waiters[i]);
	if (queue)
		pair_close(&queue->pair);
}

/* Whether the second gets it; then, in `first`, whether the first has kept it. */
static int try_kind(const struct pair_kind *kind, bool *second, bool *first)
{
	memset(queue, 0, sizeof(*queue));
	if (pair_open(&queue->pair, kind) < 0 || start_waiter(0, first_main) < 0 ||
	    start_waiter(1, second_main) < 0 || cgroup_attach(&cgroup, waiters[0]) < 0 ||
	    cgroup_freeze(&cgroup) < 0)
		return -1;
	if (kind->wake(&queue->pair, 1) < 0)
		return fail(STATUS_FAILED, kind->name, "cannot wake: %s", strerror(errno));
	*second = trial_reaches(&queue->got, SECOND);
	cgroup_thaw(&cgroup);
	*first = !*second && trial_reaches(&queue->got, FIRST);
	if (check_interrupted() < 0)
		return -1;
	return queue->error ? fail(STATUS_FAILED, kind->name, "the call failed: %s",
				   strerror(queue->error)) : 0;
}

/* Whether it was as it should be. */
static int one_kind(const struct job_case *c, const char *mode, const char *name)
{
	const struct pair_kind *kind = pair_kind_named(name);
	bool second = false, first = false;

	if (!kind || try_kind(kind, &second, &first) < 0)
		return -1;
	stop_waiters();
	if (inject_verdict(c, "queue", mode, second, ", %s: the second waiter %s%s", name,
			   second ? "was woken" : "slept on",
			   first ? ", the first had it when its cgroup was thawed" : "") < 0)
		return -1;
	return second;
}

static int queue_setup(const struct job_case *c)
{
	if (!queue)
		queue = crew_memory(sizeof(*queue));
	return !queue || trial_setup(c) < 0 ? -1 :
	       cgroup_make(&cgroup, CGROUP_V1_FREEZER, "queue");
}

static int queue_round(const struct job_case *c, const char *mode, struct sample *s)
{
	(void)s;
	/* One fault is enough: each is waited for to the limit. */
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		int good = one_kind(c, mode, kinds[i]);

		if (good <= 0)
			return good;
	}
	return 0;
}

static const struct workload_param queue_params[] = {
	TRIAL_PARAMS,
	{ 0 },
};

static const struct workload thaw_queue = {
	.feature = "thaw",
	.name = "queue",
	.text = "a wakeup for two waiters of which the first is frozen by its cgroup",
	.params = queue_params,
	.setup = queue_setup,
	.round = queue_round,
	.teardown = stop_waiters,
};

WORKLOAD(thaw_queue);
