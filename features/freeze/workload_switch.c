// SPDX-License-Identifier: GPL-2.0-only
/* The mode switch as root sees it; on any kernel that has one. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lull.h"
#include "race.h"
#include "util.h"
#include "workload.h"

#define STATS "/sys/kernel/debug/lull/freeze/stats"

static char at_boot[JOB_NAME_MAX];

static int read_mode(char *mode, size_t size)
{
	if (read_file(SWITCH, mode, size) < 0) {
		fail(STATUS_LACKING, SWITCH, "cannot read it: %s", strerror(errno));
		return fail_hint("boot a kernel with CONFIG_LULL_FREEZE");
	}
	mode[strcspn(mode, "\n")] = '\0';
	return 0;
}

static int switch_setup(const struct job_case *c)
{
	(void)c;
	return read_mode(at_boot, sizeof(at_boot));
}

static bool takes(const char *mode)
{
	char now[JOB_NAME_MAX];

	return !write_file(SWITCH, mode) && !read_mode(now, sizeof(now)) && !strcmp(now, mode);
}

static bool refuses(const char *mode)
{
	char before[JOB_NAME_MAX], after[JOB_NAME_MAX];

	if (read_mode(before, sizeof(before)) < 0)
		return false;
	errno = 0;
	return write_file(SWITCH, mode) < 0 && errno == EINVAL &&
	       !read_mode(after, sizeof(after)) && !strcmp(before, after);
}

static int switch_round(const struct job_case *c, const char *mode, struct sample *s)
{
	const char *initial = job_param(c, "initial"), *refused = job_param(c, "refused");
	uint64_t due = job_number(c, "modes");
	char text[256];
	struct modes modes;
	bool all = true;

	lull_modes("freeze", &modes);
	for (unsigned int i = 0; i < modes.n; i++)
		all = takes(modes.names[i]) && all;
	sample_add(s, "modes", modes.n);
	snprintf(text, sizeof(text), "at boot %s (%s expected), %u modes, %s taken, %s %s, stats %s",
		 at_boot, initial, modes.n, all ? "all" : "not all", refused,
		 refuses(refused) ? "refused" : "not refused",
		 path_exists(STATS) ? "there" : "missing");
	return report_check(c, "switch",
			    all && modes.n == due && refuses(refused) && refuses("lul") &&
				    path_exists(STATS) && takes(mode) && !strcmp(at_boot, initial),
			    text);
}

static void switch_teardown(void)
{
}

static const struct workload_param switch_params[] = {
	{ "initial", "stock" },
	/* How many the kernel has, and one that it has not. */
	{ "modes", "3" },
	{ "refused", "no-such-mode" },
	{ 0 },
};

static const struct workload switch_workload = {
	.feature = "freeze",
	.name = "switch",
	.text = "takes its modes, refuses others, and starts as the boot parameter says",
	.params = switch_params,
	.setup = switch_setup,
	.round = switch_round,
	.teardown = switch_teardown,
};

WORKLOAD(switch_workload);
