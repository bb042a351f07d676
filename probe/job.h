/* SPDX-License-Identifier: GPL-2.0-only */
/* The job file: docs/contracts.md has its grammar. */
#ifndef LULL_JOB_H
#define LULL_JOB_H

#include <stdint.h>

#define JOB_NAME_MAX 64

struct workload;

struct job_param {
	char name[JOB_NAME_MAX];
	char value[256];
};

/* A word of the order that is the mode "lull" with these of its steps, and no others. */
struct job_steps {
	char name[JOB_NAME_MAX];
	char list[256];
};

struct job_case {
	unsigned int id;
	char feature[JOB_NAME_MAX];
	const struct workload *workload;
	struct job_param *params;
	unsigned int nparams;
	unsigned int warmup;
	struct job_steps *steps;
	unsigned int nsteps;
	char (*order)[JOB_NAME_MAX];
	unsigned int norder;
	unsigned int order_line;
};

struct job {
	const char *name;
	uint64_t seed;
	struct job_case *cases;
	unsigned int ncases;
};

/* "-" is standard input. 0, or -1 with the problem recorded. */
int job_read(struct job *job, const char *path);

/* The job's value or the workload's default; unknown names are our own bug. */
const char *job_param(const struct job_case *c, const char *name);
uint64_t job_number(const struct job_case *c, const char *name);

/* The steps that a word of the order stands for; NULL where it is a mode. */
const char *job_steps(const struct job_case *c, const char *word);

#endif
