// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "cycle.h"
#include "lull.h"
#include "perturb.h"
#include "suspend.h"
#include "trace.h"
#include "util.h"

/* Workers that idle and kernel threads that end do so before it begins. */
#define SETTLE_MS 20

int cycle_prepare(void)
{
	/* The level "devices" turns back before the late and noirq phases. */
	return tree_supported() < 0 ? -1 : suspend_prepare("platform");
}

/* The PID that was given out last: each new task takes one. */
static unsigned int last_pid(void)
{
	unsigned int pid = 0;
	char text[128];

	if (read_file("/proc/loadavg", text, sizeof(text)) > 0)
		sscanf(text, "%*s %*s %*s %*s %u", &pid);
	return pid;
}

static void one_span(const char *name, uint64_t ns, void *arg)
{
	struct cycle *cycle = arg;

	if (strncmp(name, "dpm_", 4))
		return;
	for (int k = 0; k < NR_PHASES; k++)
		if (!strcmp(name + 4, phase_names[k]))
			cycle->ns[k] += ns;
}

int cycle_run(struct tree *tree, struct cycle *cycle)
{
	unsigned int pid;

	memset(cycle, 0, sizeof(*cycle));
	if (trace_clear() < 0 || lull_stats_clear("devices") < 0)
		return -1;
	sleep_ms(SETTLE_MS);
	perturb_phase();
	if (trace_on() < 0)
		return -1;
	pid = last_pid();
	cycle->error = suspend_cycle();
	cycle->workers = last_pid() - pid;
	if (trace_off() < 0 || suspend_spans(one_span, cycle) < 0)
		return -1;
	return tree_record(tree) < 0 ? -1 : tree_state(tree);
}
