// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that come to rest one at a time, all along, while there is a reason to
 * give up (FZ13): a wakeup event, or that the time is over.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "crew.h"
#include "freezer.h"
#include "inject.h"
#include "knob.h"
#include "lull.h"
#include "race.h"
#include "util.h"

/* A second or so in all, and more than one in each of the freezer's longer sleeps. */
#define TASKS 500
#define TASK_US 1500
/* Who looks has given up before so many: 300 ms is less than 200 of them. */
#define MANY (TASKS * 3 / 4)
/* The event: not before the freezer's sleeps are the longer ones. */
#define WAKEUP_AT 40
#define TIMEOUT_MS "300"

static struct crew crew;

static void make_tasks(uint64_t n, void *arg, struct crew_answer *answer)
{
	(void)arg;
	for (; answer->done < n; answer->done++) {
		pid_t pid = fork();

		if (!pid) {
			prctl(PR_SET_NAME, HOLD);
			_exit(0);
		}
		if (pid > 0)
			continue;
		answer->error = errno;
		strcpy(answer->doing, "making a task");
		return;
	}
}

static int arriving_setup(const struct job_case *c)
{
	if (race_setup(c) < 0 || freezer_make_room(TASKS) < 0)
		return -1;
	return 0;
}

static int try_once(const struct job_case *c, const char *mode, const char *what,
		    uint64_t wakeup_at, const char *timeout)
{
	uint64_t refused, gone = TASKS;
	struct attempt a;

	if (race_begin(c) < 0 || inject_number("freeze", "exit_queue_wakeup", wakeup_at) < 0 ||
	    inject_number("freeze", "exit_queue_us", TASK_US) < 0 ||
	    inject_number("freeze", "exit_hold", UNTIL_BETWEEN) < 0 ||
	    crew_start(&crew, make_tasks, NULL) < 0 || crew_do(&crew, TASKS) < 0 ||
	    lull_check_wait("freeze", "queued", TASKS) < 0 ||
	    knob_write(FREEZER_TIMEOUT, timeout) < 0 || race_attempt(&a) < 0)
		return -1;
	/*
	 * As many as were left when it was given up: they go on while the kernel
	 * shows them. A freeze that was not given up has waited for all.
	 */
	refused = lull_stat("freeze", "refused");
	if (a.err)
		gone -= refused < TASKS ? refused : TASKS;
	race_wait_none("queued");
	crew_stop(&crew);
	if (knob_write(FREEZER_TIMEOUT, FREEZER_TIMEOUT_DEFAULT) < 0)
		return -1;
	return inject_verdict(c, "FZ13", mode, a.err == EBUSY && gone < MANY,
			      ", %s: %s when %llu of %d had come to rest one by one", what,
			      a.err ? "given up" : "not given up", (unsigned long long)gone, TASKS);
}

static int arriving_round(const struct job_case *c, const char *mode, struct sample *s)
{
	if (try_once(c, mode, "a wakeup event", WAKEUP_AT, FREEZER_TIMEOUT_DEFAULT) < 0 ||
	    try_once(c, mode, "the time is over", 0, TIMEOUT_MS) < 0)
		return -1;
	/* Nothing was left behind. */
	inject_number("freeze", "exit_queue_us", 0);
	return freezer_cycle(s, false);
}

static void arriving_teardown(void)
{
	race_wait_none("queued");
	crew_stop(&crew);
}

static const struct workload arriving = {
	.feature = "freeze",
	.name = "arriving",
	.text = "tasks that come to rest one at a time while freezing is to end (debug kernel)",
	.params = race_params,
	.setup = arriving_setup,
	.round = arriving_round,
	.teardown = arriving_teardown,
};

WORKLOAD(arriving);
