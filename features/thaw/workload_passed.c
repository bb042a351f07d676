// SPDX-License-Identifier: GPL-2.0-only
/*
 * FZ8: a freeze is given up while a task is on its way into the refrigerator.
 * It stores TASK_FROZEN when the thaw has begun, and must not be passed over.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "crew.h"
#include "freezer.h"
#include "inject.h"
#include "knob.h"
#include "lull.h"
#include "safety.h"
#include "suspend.h"
#include "util.h"
#include "workload.h"

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

	if (lull_check_clear("thaw") < 0 || inject_number("thaw", "hold", 1) < 0 ||
	    knob_write(FREEZER_TIMEOUT, GIVE_UP_MS) < 0)
		return -1;
	error = suspend_cycle();
	if (check_interrupted() < 0)
		return -1;
	if (error != EBUSY)
		return fail(STATUS_FAILED, FREEZER_TIMEOUT, "the freezer did not give up: %s",
			    strerror(error));
	if (!lull_check("thaw", "held"))
		return fail(STATUS_UNMET, TRIAL_HOLD, "nobody was held: nothing was tested");
	return 0;
}

/* Who was passed over cannot be killed, but a right thaw finds it. */
static int rescue(void)
{
	if (inject_text("thaw", "disable", INJECT_NONE) < 0 ||
	    inject_number("thaw", "hold", 0) < 0 || knob_write(FREEZER_TIMEOUT, FREEZER_TIMEOUT_DEFAULT) < 0)
		return -1;
	return suspend_once();
}

static int passed_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t passed;
	bool moves;

	if (inject_text("thaw", "disable", job_param(c, "disable")) < 0)
		return -1;
	*beats = 0;
	task = trial_fork(TRIAL_HOLD, run_busily, NULL);
	if (task < 0)
		return -1;
	if (!trial_reaches(beats, 1))
		return fail(STATUS_FAILED, TRIAL_HOLD, "the task does not run at all");
	if (freeze_in_vain() < 0)
		return -1;
	passed = lull_check("thaw", "passed");
	/* It may have counted on until it was held. */
	*beats = 0;
	moves = trial_reaches(beats, 2);
	if (rescue() < 0)
		return -1;
	crew_end(&task);

	sample_add(s, "passed", (double)passed);
	return inject_verdict(c, "FZ8", mode, moves, ": passed over %llu times, %s",
			      (unsigned long long)passed, moves ? "runs again" : "never ran again");
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
