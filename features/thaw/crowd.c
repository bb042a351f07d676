// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "crew.h"
#include "crowd.h"
#include "safety.h"
#include "task.h"
#include "util.h"

#define NAP_NS 20000000

const char *const crowd_pm_kinds[] = {
	"epoll", "epoll-edge", "poll", "select", "pipe-read", "pipe-write", "io_uring", "tcp",
	"udp", "unix-dgram", "tcp-accept", "unix-accept", "signalfd", NULL,
};

static int64_t wait_busily(struct pair *p, int64_t ns)
{
	(void)ns;
	/* A system call: it is there that a task notices a request. */
	getppid();
	return p->sent;
}

static int64_t wait_in_naps(struct pair *p, int64_t ns)
{
	struct timespec nap = { .tv_nsec = NAP_NS };

	(void)ns;
	return nanosleep(&nap, NULL) < 0 ? -1 : (int64_t)p->sent;
}

/* They look themselves. */
static int wake_nobody(struct pair *p, uint32_t n)
{
	(void)p;
	(void)n;
	return 0;
}

static const struct pair_kind restless[] = {
	{ .name = "busy", .wait = wait_busily, .wake = wake_nobody },
	{ .name = "naps", .wait = wait_in_naps, .wake = wake_nobody },
};

static bool is_busy(const struct pair *p)
{
	return p->kind == &restless[0];
}

void crowd_member(void *pair)
{
	struct pair *p = pair;

	pair_start(p);
	while (!p->error) {
		int64_t n = p->kind->wait(p, -1);

		if (n > 0)
			p->acked = (uint32_t)n;
		else if (!n || errno == ETIMEDOUT)
			p->wrong++;
		else if (errno == EINTR)
			p->interrupted++;
		else
			p->error = errno;
	}
}

static int add(struct crowd *crowd, const struct pair_kind *kind)
{
	struct pair *p = &crowd->pairs[crowd->n];
	pid_t pid;

	if (pair_open(p, kind) < 0)
		return -1;
	pid = trial_fork("lull-crowd", crowd_member, p);
	if (pid < 0)
		return -1;
	crowd->pids[crowd->n++] = pid;
	if (!crowd->cgroup.path[0])
		return 0;
	return cgroup_attach(&crowd->cgroup, pid);
}

static int add_named(struct crowd *crowd, const char *const *names)
{
	for (; *names; names++) {
		const struct pair_kind *kind = pair_kind_named(*names);

		if (!kind || add(crowd, kind) < 0)
			return -1;
	}
	return 0;
}

static int add_all(struct crowd *crowd)
{
	const struct pair_kind *kind;

	for (unsigned int i = 0; (kind = pair_kind(i)); i++) {
		if (kind->wake && add(crowd, kind) < 0)
			return -1;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(restless); i++) {
		if (add(crowd, &restless[i]) < 0)
			return -1;
	}
	return 0;
}

int crowd_group(struct crowd *crowd)
{
	return cgroup_make(&crowd->cgroup, CGROUP_V1_FREEZER, "lull-crowd");
}

int crowd_start(struct crowd *crowd, const char *const *names)
{
	if (!crowd->pairs)
		crowd->pairs = crew_memory(PAIR_KINDS_MAX * sizeof(*crowd->pairs));
	if (!crowd->pairs)
		return -1;
	crowd->n = 0;
	if ((names ? add_named(crowd, names) : add_all(crowd)) < 0)
		return -1;
	return crowd_asleep(crowd);
}

void crowd_stop(struct crowd *crowd)
{
	/* A frozen task does not die of a signal. */
	if (crowd->n && crowd->cgroup.path[0])
		crowd_freeze(crowd, false);
	for (unsigned int i = 0; i < crowd->n; i++)
		kill(crowd->pids[i], SIGKILL);
	for (unsigned int i = 0; i < crowd->n; i++) {
		/* Lost for ever; with one limit waited for, not with all. */
		if (!task_ends(&crowd->pids[i], trial_limit_ms()))
			break;
		pair_close(&crowd->pairs[i]);
	}
	crowd->n = 0;
}

int crowd_freeze(const struct crowd *crowd, bool freeze)
{
	return cgroup_set(&crowd->cgroup, "freezer.state", freeze ? "FROZEN" : "THAWED");
}

int crowd_asleep(const struct crowd *crowd)
{
	const char *name = crowd_lost(crowd);

	if (name)
		return fail(STATUS_FAILED, name, "the task that waits in %s does not answer",
			    name);
	for (unsigned int i = 0; i < crowd->n; i++) {
		if (!is_busy(&crowd->pairs[i]) && pair_wait_asleep(&crowd->pairs[i]) < 0)
			return -1;
	}
	return 0;
}

void crowd_settled(const struct crowd *crowd)
{
	/* Frozen tasks show as D; one that is asleep has not been asked to freeze. */
	for (unsigned int i = 0; i < crowd->n; i++)
		task_comes_to(crowd->pids[i], "DS", TRIAL_LIMIT_MS);
}

int crowd_poke(struct crowd *crowd)
{
	for (unsigned int i = 0; i < crowd->n; i++) {
		struct pair *p = &crowd->pairs[i];

		if (p->kind->wake(p, ++p->sent) < 0)
			return fail(STATUS_FAILED, p->kind->name, "cannot wake who waits in %s: %s",
				    p->kind->name, strerror(errno));
	}
	return 0;
}

unsigned int crowd_moved(const struct crowd *crowd, const char **name)
{
	unsigned int moved = 0;

	for (unsigned int i = 0; i < crowd->n; i++) {
		const struct pair *p = &crowd->pairs[i];

		if (p->acked == p->sent && !moved++)
			*name = p->kind->name;
	}
	return moved;
}

const char *crowd_lost(const struct crowd *crowd)
{
	for (unsigned int i = 0; i < crowd->n; i++) {
		const struct pair *p = &crowd->pairs[i];

		if (!trial_reaches(&p->acked, p->sent))
			return p->kind->name;
	}
	return NULL;
}
