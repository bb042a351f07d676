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

/* "dpm_suspend_late[2] begin": the phase, or -1; and does it begin? */
static int event_phase(const char *text, bool *begin)
{
	size_t len = strcspn(text, "[");

	*begin = !strcmp(text + strcspn(text, " "), " begin");
	if (strncmp(text, "dpm_", 4))
		return -1;
	for (int k = 0; k < NR_PHASES; k++)
		if (strlen(phase_names[k]) == len - 4 &&
		    !strncmp(text + 4, phase_names[k], len - 4))
			return k;
	return -1;
}

struct spans {
	struct cycle *cycle;
	uint64_t begin[NR_PHASES];
};

static int one_event(const struct trace_event *ev, void *arg)
{
	struct spans *spans = arg;
	bool begin;
	int phase = event_phase(ev->text, &begin);

	if (phase < 0)
		return 0;
	if (begin)
		spans->begin[phase] = ev->ns;
	else
		spans->cycle->ns[phase] += ev->ns - spans->begin[phase];
	return 0;
}

int cycle_run(struct tree *tree, struct cycle *cycle)
{
	struct spans spans = { .cycle = cycle };
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
	if (trace_off() < 0 || trace_each(one_event, &spans) < 0)
		return -1;
	return tree_record(tree);
}
