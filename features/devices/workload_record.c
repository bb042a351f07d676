// SPDX-License-Identifier: GPL-2.0-only
/*
 * One cycle with the trace events of each callback, given out as a recording for
 * `lull graph`. Tracing each of them takes time: nothing is measured here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "cycle.h"
#include "job.h"
#include "out.h"
#include "suspend.h"
#include "trace.h"
#include "tree.h"
#include "util.h"
#include "workload.h"

static struct tree tree;

static int record_setup(const struct job_case *c)
{
	if (cycle_prepare() < 0)
		return -1;
	/* 900 devices have 14,000 events in a cycle. */
	if (trace_room("8192") < 0 || trace_enable("power", "device_pm_callback_start") < 0 ||
	    trace_enable("power", "device_pm_callback_end") < 0)
		return -1;
	return tree_load_named(&tree, job_param(c, "tree"));
}

static int give(const char *mode, const char *head, const char *text)
{
	char line[400];

	snprintf(line, sizeof(line), "%s%s", head, text);
	out_begin("recorded");
	out_str("mode", mode);
	out_str("text", line);
	return out_end();
}

/* Each line of the text, which is freed. */
static int give_lines(const char *mode, const char *head, char *text)
{
	char *rest = text, *line;
	int ret = text ? 0 : -1;

	while (!ret && (line = strsep(&rest, "\n")))
		if (*line)
			ret = give(mode, head, line);
	free(text);
	return ret;
}

static int record_round(const struct job_case *c, const char *mode, struct sample *s)
{
	struct cycle cycle;
	struct utsname name;

	(void)s;
	if (tree_clear() < 0 || cycle_run(&tree, &cycle) < 0)
		return -1;
	if (cycle.error)
		return suspend_failed(cycle.error);
	uname(&name);
	if (give(mode, "# lull-kernel: ", name.release) < 0 ||
	    give(mode, "# lull-rules: ", mode) < 0 ||
	    give_lines(mode, "# lull-tree: ", tree_text(job_param(c, "tree"))) < 0)
		return -1;
	return give_lines(mode, "", trace_text());
}

static void record_teardown(void)
{
	tree_drop(&tree);
}

static const struct workload_param record_params[] = {
	{ "tree", "chain" },
	{ 0 },
};

static const struct workload record = {
	.feature = "devices",
	.name = "record",
	.text = "one cycle, recorded for `lull graph`",
	.params = record_params,
	.setup = record_setup,
	.round = record_round,
	.teardown = record_teardown,
};

WORKLOAD(record);
