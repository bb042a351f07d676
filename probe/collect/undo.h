/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Changes that are taken back on every way out. Each is written down, on the disk,
 * before it is made. A process of its own, the watcher, takes all of them back once
 * nobody of those who measure lives any more: at their end, or after a SIGKILL. If
 * that dies too, the note is left, and the next start takes them back.
 */
#ifndef COLLECT_UNDO_H
#define COLLECT_UNDO_H

#include <stddef.h>

/* Below ask_root. */
#define UNDO_FOLDER "/var/lib/lull"
#define UNDO_NOTE UNDO_FOLDER "/doctor.note"
#define UNDO_LOCK UNDO_FOLDER "/doctor.lock"

/* What was taken back, or could not be: 0, or an errno; a line for each change. */
typedef void (*undo_said)(const char *path, const char *value, int error);

/*
 * Takes back what is left of an earlier run, if it was of this boot. Returns 1 where
 * there was a note, 0 where there was none, or -errno: -EBUSY for a run that still
 * measures, or whose changes cannot all be taken back.
 */
int undo_left(undo_said said);

/* Starts the watcher. What is forked from here on has to end before it acts. 0, -errno. */
int undo_begin(void);
/* Writes the value there; what it was is noted first. 0 or -errno. */
int undo_set(const char *path, const char *value);
/* The same, where what takes it back is not what is read there. */
int undo_write(const char *path, const char *value, const char *back);
/* Makes a folder that is removed at the end: -EEXIST if it is there. 0 or -errno. */
int undo_mkdir(const char *path);
/* Waits for the watcher, and does its work if it has died. 0 or -errno. */
int undo_end(undo_said said);

/* A switch's value: of "none [core]" it is core. Cuts the text. */
char *undo_value(char *text);

#endif
