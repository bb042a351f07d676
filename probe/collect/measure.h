/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Steps that do something to the machine: each by its name, with what it does said
 * first, and asked for. "lacks WORD ERRNO" in what one writes is why it could not.
 */
#ifndef COLLECT_MEASURE_H
#define COLLECT_MEASURE_H

#include "step.h"

struct measure {
	const char *name;	/* as asked for; the step's is its file's */
	struct step step;
	const char *plan;	/* what it does; %u is how often */
	unsigned int times;	/* where nobody said how often */
	unsigned int seconds;	/* its deadline */
	bool changes;		/* whether it has to be asked for */
};

/* Ends with one that has no name. */
extern const struct measure measures[];

#define MEASURES 8

/* What is asked for: `chosen` ends with NULL, `times` of 0 is each one's own. */
struct request {
	const struct measure *chosen[MEASURES + 1];
	unsigned int times;
	unsigned int deadline_ms;	/* of a step that only looks */
};

/* All of it, to where sink_open() has said. -1 with errno. */
int collect(const struct request *r);

/* NULL for a name that is none. */
const struct measure *measure_find(const char *name);
/* Lines of what these are going to do, so often each; 0 is each one's own. */
void measure_plan(const struct measure *const *chosen, unsigned int times, struct buf *out);
/* Whether one of these has to be asked for. */
bool measure_changes(const struct measure *const *chosen);
/* On the terminal, if there is one: 1 yes, 0 no, -1 nobody can be asked. */
int measure_consent(const struct buf *plan);

/* Set before a step is run: how often. */
extern unsigned int measure_times;

void measure_lacks(struct buf *out, const char *word, int error);
/* Whether it is root; says so if it is not. */
bool measure_root(struct buf *out);
/*
 * A child works within the time of the step, and what it writes to fd is added.
 * 0 or -errno: -ETIMEDOUT for one that had to be killed.
 */
int measure_child(struct buf *out, void (*work)(int fd));

void attach_run(struct buf *out);
void freezer_run(struct buf *out);
void hooks_run(struct buf *out);
void recording_run(struct buf *out);
void suspend_run(struct buf *out);
void zfree_run(struct buf *out);

#endif
