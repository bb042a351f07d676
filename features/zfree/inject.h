/* SPDX-License-Identifier: GPL-2.0-only */
/* What a debug kernel can be made to do: safeguards off, waits in windows. */
#ifndef LULL_ZFREE_INJECT_H
#define LULL_ZFREE_INJECT_H

#include <stdbool.h>

#include "job.h"

/*
 * For lull_inject(): masks of enum lull_zfree_safeguard and enum lull_zfree_point, how long the
 * waits are, and after how long the worker comes; 0 changes nothing. `broken` is
 * the statement that does not hold then.
 */
#define INJECT_PARAMS                                                              \
	{ "disable", "0" }, { "pause", "0" }, { "pause_us", "0" }, { "delay_ms", "0" },    \
	{ "broken", "none" }

/* As report_check(); the statement that the case is to break has to fail. */
int report_statement(const struct job_case *c, const char *name, bool ok, const char *text);

#endif
