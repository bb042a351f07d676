// SPDX-License-Identifier: GPL-2.0-only
/*
 * FZ12, second half: a wakeup is sent to who is frozen, and what it was for is
 * taken away again before the thaw. The call finds nothing, and sleeps on.
 */
#include <stdio.h>
#include <string.h>

#include "crowd.h"
#include "lull.h"
#include "safety.h"
#include "snapshot.h"
#include "util.h"
#include "workload.h"

/* What others than the sleeper can take away: not a signal, not a futex. */
static const char *const kinds[] = {
	"epoll", "epoll-edge", "poll", "select", "pipe-read", "pipe-write", "io_uring", "tcp",
	"udp", "unix-dgram", "unix-stream", "tcp-accept", "unix-accept", NULL,
};

static struct crowd crowd;

/* In the sleeper's place; its request to io_uring stays where it is. */
static int64_t take_back(struct pair *p)
{
	return strcmp(p->kind->name, "io_uring") ? p->kind->wait(p, -1) : pair_take(p);
}

static int poke_in_vain(void)
{
	if (crowd_poke(&crowd) < 0)
		return -1;
	for (unsigned int i = 0; i < crowd.n; i++) {
		struct pair *p = &crowd.pairs[i];

		if (take_back(p) <= 0)
			return fail(STATUS_FAILED, p->kind->name,
				    "what was sent to %s cannot be had back", p->kind->name);
		p->sent--;
	}
	return 0;
}

/* The names of those whose call has returned with nothing, or with an EINTR. */
static unsigned int returned(bool interrupted, char *names, size_t size)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < crowd.n; i++) {
		const struct pair *p = &crowd.pairs[i];

		if (!(interrupted ? p->interrupted : p->wrong))
			continue;
		n++;
		snprintf(names + strlen(names), size - strlen(names), " %s", p->kind->name);
	}
	return n;
}

static void forget(void)
{
	for (unsigned int i = 0; i < crowd.n; i++)
		crowd.pairs[i].interrupted = crowd.pairs[i].wrong = 0;
}

static int cycle(void)
{
	if (crowd_asleep(&crowd) < 0 || snapshot_freeze() < 0)
		return -1;
	if (poke_in_vain() < 0 || snapshot_thaw() < 0 || crowd_asleep(&crowd) < 0)
		return -1;
	/* A wakeup that is meant is still heard. */
	return crowd_poke(&crowd) < 0 ? -1 : crowd_asleep(&crowd);
}

static int spurious_round(const struct job_case *c, const char *mode, struct sample *s)
{
	char text[500], early[160] = "", broken_off[160] = "";
	unsigned int tasks, nearly, nbroken_off;

	if (crowd_start(&crowd, kinds) < 0)
		return -1;
	forget();
	for (uint64_t i = 0; i < job_number(c, "cycles"); i++) {
		if (cycle() < 0)
			return -1;
	}
	nearly = returned(false, early, sizeof(early));
	nbroken_off = returned(true, broken_off, sizeof(broken_off));
	tasks = crowd.n;
	crowd_stop(&crowd);
	sample_add(s, "early", nearly);
	sample_add(s, "interrupted", nbroken_off);
	snprintf(text, sizeof(text), "%s: %u kinds, returned with nothing:%s; with EINTR:%s", mode,
		 tasks, nearly ? early : " none", nbroken_off ? broken_off : " none");
	return report_check(c, "FZ12", !nearly && (job_number(c, "eintr") || !nbroken_off), text);
}

static int spurious_setup(const struct job_case *c)
{
	return trial_setup(c) < 0 || lull_switch("freeze", "stock") < 0 ? -1 : 0;
}

static void spurious_teardown(void)
{
	snapshot_end();
	crowd_stop(&crowd);
}

static const struct workload_param params[] = {
	TRIAL_PARAMS,
	{ "cycles", "5" },
	/* Tolerated: stock signals all of them, and not all calls are restarted. */
	{ "eintr", "0" },
	{ 0 },
};

static const struct workload workload_spurious = {
	.feature = "thaw",
	.name = "spurious",
	.text = "wakeups of frozen tasks that have nothing to do when they are thawed",
	.params = params,
	.setup = spurious_setup,
	.round = spurious_round,
	.teardown = spurious_teardown,
};
WORKLOAD(workload_spurious);
