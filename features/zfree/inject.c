// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "inject.h"
#include "workload.h"

int report_statement(const struct job_case *c, const char *name, bool ok, const char *text)
{
	bool broken = !strcmp(job_param(c, "broken"), name);

	return report_check(c, name, ok != broken, text);
}
