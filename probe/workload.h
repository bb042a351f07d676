/* SPDX-License-Identifier: GPL-2.0-only */
/* What a feature's workloads bring to the probe, and what they get from it. */
#ifndef LULL_WORKLOAD_H
#define LULL_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "job.h"

#define SAMPLE_METRICS 96

/*
 * The figures of one round. Adding to a name again makes it a mean: a round
 * may repeat its operation.
 */
struct sample {
	struct metric {
		char name[48];
		double sum;
		unsigned int n;
	} metrics[SAMPLE_METRICS];
	unsigned int nmetrics;
	/* Overrides of the case's params, for workloads that go in steps. */
	struct metric params[4];
	unsigned int nparams;
};

void sample_add(struct sample *s, const char *name, double value);
void sample_param(struct sample *s, const char *name, double value);

struct workload_param {
	const char *name;
	const char *value;	/* the default; a number makes it numeric */
};

/*
 * All callbacks return 0, or -1 with fail() called. teardown() is called after
 * a failed setup() too, and finds what setup() left.
 */
struct workload {
	const char *feature;
	const char *name;
	const char *text;
	const struct workload_param *params;	/* ends with a NULL name */
	/* A scenario's: the features that a round's mode is set in, NULL at the end. */
	const char *const *switches;
	int (*setup)(const struct job_case *c);
	/* One measured operation in a mode that is already switched to. */
	int (*round)(const struct job_case *c, const char *mode, struct sample *s);
	void (*teardown)(void);
	/*
	 * A workload that grows: the order is run once a step, and step() makes
	 * the state that it is run in, steps counting from 0.
	 */
	unsigned int (*steps)(const struct job_case *c);
	int (*step)(const struct job_case *c, unsigned int step);
};

/*
 * Another program in the same file: what the probe is when it is started by
 * one of its own workloads, or by the kernel as a user-mode helper.
 */
struct applet {
	bool (*claims)(int argc, char **argv);
	int (*run)(int argc, char **argv);
};

/*
 * Registered by being linked in: the probe has no list of features. The table
 * holds pointers because the linker packs those without gaps.
 */
#define WORKLOAD(var)                                                              \
	static const struct workload *const var##_entry                            \
		__attribute__((used, section("lull_workloads"))) = &(var)
#define APPLET(var)                                                                \
	static const struct applet *const var##_entry                              \
		__attribute__((used, section("lull_applets"))) = &(var)

extern const struct workload *const __start_lull_workloads[] __attribute__((weak));
extern const struct workload *const __stop_lull_workloads[] __attribute__((weak));

#define for_each_workload(w)                                                       \
	for (const struct workload *const *w = __start_lull_workloads;             \
	     w < __stop_lull_workloads; w++)

const struct workload *workload_find(const char *feature, const char *name);
const struct workload_param *workload_param(const struct workload *w, const char *name);
bool feature_known(const char *feature);
/* The applet that this invocation is for, or NULL. */
const struct applet *applet_find(int argc, char **argv);

/* A safety workload's verdict, written as a line of the results. */
int report_check(const struct job_case *c, const char *name, bool ok, const char *text);
/* Of all so far, how many were not. */
unsigned int report_bad(void);
/* Whether writing to /sys/power/state is allowed here; else fail() was called. */
int may_suspend(void);

#endif
