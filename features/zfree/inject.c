// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "inject.h"
#include "knob.h"
#include "util.h"
#include "workload.h"

int inject(const struct job_case *c)
{
	static const char *const names[] = { "disable", "pause", "pause_us", "delay_ms" };
	char path[80];

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/lull/zfree/inject/%s", names[i]);
		if (job_number(c, names[i]) && knob_write(path, job_param(c, names[i])) < 0)
			return -1;
	}
	return 0;
}

int report_statement(const struct job_case *c, const char *name, bool ok, const char *text)
{
	bool broken = !strcmp(job_param(c, "broken"), name);

	return report_check(c, name, ok != broken, text);
}
