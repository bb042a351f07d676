/* SPDX-License-Identifier: GPL-2.0-only */
/* A step writes one file, within its time, and says what it could not see. */
#ifndef COLLECT_STEP_H
#define COLLECT_STEP_H

#include <stdbool.h>

#include "ask.h"
#include "buf.h"

struct step {
	const char *name;	/* of the file, too */
	void (*run)(struct buf *out);
};

/* Ends with one that has no name. */
extern const struct step steps[];

/* A question within the time of the step; what fails goes to the manifest. */
int step_ask(enum ask what, const char *path, struct answer *a);
/* The same, but who is not there (ENOENT, ESRCH) is not worth a line. */
int step_ask_maybe(enum ask what, const char *path, struct answer *a);
/* "== PATH" and what is in the file. */
void step_file(struct buf *out, const char *path);
/* Each file of a folder, or FOLDER/x/NAME for each x that begins with `start`. */
void step_folder(struct buf *out, const char *folder);
void step_each(struct buf *out, const char *folder, const char *start, const char *name);
/* Whether the time of the step is over. */
bool step_late(void);
/* A line of the manifest. */
void step_note(const char *kind, const char *path, int error);
bool step_is_real(void);
/* A line of the manifest: a change that was taken back, or could not be. */
void step_undone(const char *path, const char *value, int error);
/* What is left of its time. */
unsigned int step_ms(void);

/* Whole steps, in files of their own. */
void tasks_run(struct buf *out);
void again_run(struct buf *out);
void devices_run(struct buf *out);

/* The lines of an answer: NULL at the end. Cuts them at their newlines. */
char *next_line(char **rest);

#endif
