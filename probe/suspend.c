// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "knob.h"
#include "mark.h"
#include "suspend.h"
#include "trace.h"
#include "util.h"
#include "workload.h"

#define STATE "/sys/power/state"

int suspend_prepare(const char *level)
{
	const struct {
		const char *path, *value;
	} knobs[] = {
		/* Without this one a real suspend would follow: it comes first. */
		{ "/sys/power/pm_test", level },
		{ "/sys/module/suspend/parameters/pm_test_delay", "0" },
		{ "/sys/power/sync_on_suspend", "0" },
	};

	if (may_suspend() < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(knobs); i++)
		if (knob_write(knobs[i].path, knobs[i].value) < 0)
			return -1;
	return trace_open() < 0 ? -1 : trace_enable("power", "suspend_resume");
}

int suspend_cycle(void)
{
	int error;

	mark_begin();
	/* s2idle: every machine has it, and what comes before is the same for all. */
	error = write_file(STATE, "freeze") < 0 ? errno : 0;
	mark_end();
	return error;
}

int suspend_failed(int error)
{
	char log[sizeof(problem.hint)];

	kernel_log_tail(log, sizeof(log), 8);
	fail(STATUS_FAILED, STATE, "the suspend failed: %s", strerror(error));
	return fail_hint("the kernel's last lines:\n%s", log);
}
