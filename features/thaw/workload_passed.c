// SPDX-License-Identifier: GPL-2.0-only
/*
 * FZ8: a freeze is given up while a task is on its way into the refrigerator.
 * It stores TASK_FROZEN when the thaw has begun, and must not be passed over.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "crew.h"
#include "knob.h"
#include "lull.h"
#include "safety.h"
#include "suspend.h"
#include "util.h"
#include "workload.h"

#define TIMEOUT "/sys/power/pm_freeze_timeout"
/* Long enough for the task to get where it is held. */
#define GIVE_UP_MS "4000"

static volatile uint32_t *beats;
static pid_t task;

static void run_busily(void *arg)
{
	(void)arg;
	for (;;) {
		getppid();
		++*beats;
	}
}

/* A freeze that has to wait for who is held, until it gives up. */
static int freeze_in_vain(void)
{
	int error;

	if (trial_check_clear() < 0 || trial_inject("hold", 1) < 0 ||
	    knob_write(TIMEOUT, GIVE_UP_MS) < 0)
		return -1;
	error = suspend_cycle();
	if (check_interrupted() < 0)
		return -1;
	if (error != EBUSY)
		return fail(STATUS_FAILED, TIMEOUT, "the freezer did not give up: %s",
			    strerror(error));
	if (!trial_check("held"))
		return fail(STATUS_FAILED, TRIAL_HOLD, "nobody was held: nothing was tested");
	return 0;
}

/* Who was passed over cannot be killed, but a right thaw finds it. */
static int rescue(void)
{
	if (trial_inject("disable", 0) < 0 || trial_inject("hold", 0) < 0 ||
	    knob_write(TIMEOUT, "20000") < 0)
		return -1;
	return trial_cycle();
}

static int passed_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t passed;
	char text[200];
	bool moves;

	if (trial_inject("disable", job_number(c, "disable")) < 0)
		return -1;
	*beats = 0;
	task = trial_fork(TRIAL_HOLD, run_busily, NULL);
	if (task < 0)
		return -1;
	if (!trial_reaches(beats, 1))
		return fail(STATUS_FAILED, TRIAL_HOLD, "the task does not run at all");
	if (freeze_in_vain() < 0)
		return -1;
	passed = trial_check("passed");
	/* It may have counted on until it was held. */
	*beats = 0;
	moves = trial_reaches(beats, 2);
	if (rescue() < 0)
		return -1;
	crew_end(&task);

	sample_add(s, "passed", (double)passed);
	snprintf(text, sizeof(text), "%s, safeguards off %s: passed over %llu times, %s", mode,
		 job_param(c, "disable"), (unsigned long long)passed,
		 moves ? "runs again" : "never ran again");
	return report_check(c, "FZ8", moves, text);
}

static int passed_setup(const struct job_case *c)
{
	if (!beats)
		beats = crew_memory(sizeof(*beats));
	return beats ? trial_setup(c) : -1;
}

static void passed_teardown(void)
{
	if (task > 0)
		kill(task, SIGKILL);
	task = 0;
}

static const struct workload_param params[] = { TRIAL_PARAMS, { 0 } };

static const struct workload workload_passed = {
	.feature = "thaw",
	.name = "passed",
	.text = "a task comes to the refrigerator as the thaw begins (debug kernel)",
	.params = params,
	.setup = passed_setup,
	.round = passed_round,
	.teardown = passed_teardown,
};
WORKLOAD(workload_passed);
