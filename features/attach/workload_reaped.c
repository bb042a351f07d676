// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PIDs of processes that have died are written while they are being reaped
 * (CG7): what is locked must not be freed before it is unlocked.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
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

/*
 * One write for each child. Who is late is the child's number modulo ROUND: the
 * first is reaped before the write begins and the last after it has come back,
 * those between in the middle of it. One of them is alive when it begins.
 */
#define ROUND 8
#define ALIVE 6
#define LIVES_US 1000

static struct shared {
	volatile pid_t dead;
	/* Children that the parent shows, that are being and were written, that are reaped. */
	volatile uint64_t shown, writing, written, reaped;
} *shared;

static struct cgroup dst;
static pid_t parent;

static void await(volatile uint64_t *number, uint64_t least)
{
	while (*number < least)
		usleep(100);
}

static void reap(pid_t pid)
{
	if (waitpid(pid, NULL, 0) != pid)
		_exit(1);
	shared->reaped++;
}

static void parent_main(void)
{
	siginfo_t info;

	for (uint64_t i = 0;; i++) {
		unsigned int late = i % ROUND;
		pid_t pid = fork();

		if (!pid && late == ALIVE) {
			await(&shared->writing, i + 1);
			usleep(LIVES_US);
		}
		if (!pid)
			_exit(0);
		if (pid < 0 || (late != ALIVE &&
				waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0))
			_exit(1);
		shared->dead = pid;
		if (!late)
			reap(pid);
		shared->shown = i + 1;
		if (late == ROUND - 1) {
			await(&shared->written, i + 1);
		} else if (late && late != ALIVE) {
			await(&shared->writing, i + 1);
			usleep((late - 1) * 500);
		}
		if (late)
			reap(pid);
		await(&shared->written, i + 1);
	}
}

static int reaped_setup(const struct job_case *c)
{
	if (!shared)
		shared = crew_memory(sizeof(*shared));
	return shared && safety_start(c) == 0 ? group_make(&dst, "dst") : -1;
}

/* Held up before the lock, ours find that who was alive is gone. */
static bool met(const struct job_case *c, const char *mode)
{
	return !inject_pauses(c) || !strcmp(mode, "stock") || lull_stat("attach", "again");
}

static int reaped_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t writes = job_number(c, "writes"), i, gone = 0, bad = 0, again;
	bool is_met = false;
	char text[450];

	(void)s;
	if (lull_stats_clear("attach") < 0)
		return -1;
	memset(shared, 0, sizeof(*shared));
	parent = safety_fork(parent_main);
	if (parent < 0 || safety_round(c) < 0 || unrest_start(c) < 0)
		return -1;
	for (i = 0; unrest_goes_on(i, writes, is_met) && check_interrupted() == 0; i++) {
		int error;

		while (shared->shown <= i && check_interrupted() == 0)
			usleep(100);
		shared->writing = i + 1;
		error = safety_move(&dst, "cgroup.procs", shared->dead);
		gone += error == ESRCH;
		bad += error && error != ESRCH;
		shared->written = i + 1;
		unrest_step();
		/* A counter is read only where it decides. */
		is_met = i + 1 >= writes && met(c, mode);
		if (i + 1 >= writes && !is_met && safety_in_vain(c, writes) < 0)
			return -1;
	}
	crew_end(&parent);
	again = lull_stat("attach", "again");
	if (!is_met && !bad)
		return fail(STATUS_UNMET, "reaped", "nobody was reaped in time");
	snprintf(text, sizeof(text),
		 "%s: %" PRIu64 " writes, %" PRIu64 " found nobody, %" PRIu64
		 " looked up again, %" PRIu64 " failed in another way; %" PRIu64 " were reaped%s",
		 mode, i, gone, again, bad, (uint64_t)shared->reaped, unrest_text());
	return unrest_end(report_check(
		c, "CG7", !bad && gone >= i / ROUND && i - gone >= i / ROUND, text));
}

static void reaped_teardown(void)
{
	crew_end(&parent);
	safety_stop();
}

static const struct workload_param reaped_params[] = {
	{ "writes", "300" },
	UNREST_PARAMS,
	SAFETY_PARAMS,
	{ 0 },
};

static const struct workload reaped = {
	.feature = "attach",
	.name = "reaped",
	.text = "PIDs of the dead are written while they are reaped",
	.params = reaped_params,
	.setup = reaped_setup,
	.round = reaped_round,
	.teardown = reaped_teardown,
};

WORKLOAD(reaped);
