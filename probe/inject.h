/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a debug kernel can be made to do, in debugfs below lull/<feature>/inject:
 * safeguards off and waits, both by name, and numbers. The journal takes it back.
 */
#ifndef LULL_INJECT_H
#define LULL_INJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "workload.h"

/* No safeguard, no point to wait at. */
#define INJECT_NONE "none"

/* For workloads that hold tasks up. */
#define INJECT_PARAMS { "disable", INJECT_NONE }, { "pause", INJECT_NONE }, { "pause_us", "0" }

int inject_text(const char *feature, const char *file, const char *text);
int inject_number(const char *feature, const char *file, uint64_t value);
/* What the kernel counts there; 0 where it does not. */
uint64_t inject_count(const char *feature, const char *file);

/*
 * What the parameters disable, pause, pause_us, delay_ms, fail_nth, hop and proxies
 * say, where the workload has them; "none" and 0 change nothing.
 */
int inject_case(const struct job_case *c);
/* Does the case make anybody wait? */
bool inject_pauses(const struct job_case *c);

/*
 * The verdict of a case that may lack safeguards: the mode and what it lacks, then
 * what the format says, which begins with a comma or a colon.
 */
int inject_verdict(const struct job_case *c, const char *name, const char *mode, bool ok,
		   const char *format, ...) __attribute__((format(printf, 5, 6)));

/*
 * A feature's workload that tries which names the kernel takes: those of the case,
 * and no others.
 */
int inject_names_round(const struct job_case *c, const char *mode, struct sample *s);
void inject_names_teardown(void);

extern const struct workload_param inject_names_params[];

#define INJECT_NAMES(_feature)                                                     \
	static const struct workload names = {                                     \
		.feature = #_feature,                                              \
		.name = "names",                                                   \
		.text = "takes names of safeguards and points, refuses others "    \
			"(debug kernel)",                                          \
		.params = inject_names_params,                                     \
		.setup = inject_case,                                              \
		.round = inject_names_round,                                       \
		.teardown = inject_names_teardown,                                 \
	};                                                                         \
	WORKLOAD(names)

#endif
