/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading that cannot hang us: a child reads, and one that does not answer in
 * time is killed and replaced. If it sleeps where no signal reaches it, it is left.
 */
#ifndef COLLECT_ASK_H
#define COLLECT_ASK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum ask {
	ASK_READ,	/* a file */
	ASK_LINK,	/* what a link says */
	ASK_LIST,	/* a folder: "d NAME", "l NAME" or "f NAME" a line */
	ASK_FDS,	/* /proc/PID/fd: "N TARGET" of those that matter, a line each */
	ASK_ALL_FDS,	/* the same, of all */
	ASK_STATS,	/* FOLDER/PID/stat of all PIDs, a NUL after each */
	ASK_LOG,	/* the kernel's log; the path is ignored */
	ASK_JOURNAL,	/* what journalctl has of it, of the last two weeks */
	ASK_SLEEPS,	/* what it has of sleep, and of units that start and stop: JSON */
};

/* Until the next question. NUL-terminated; len is without. */
struct answer {
	const char *text;
	size_t len;
	pid_t left;	/* of -ETIMEDOUT: who could not be killed, or 0 */
};

/* Before all paths; "" for the machine itself. */
extern const char *ask_root;

/*
 * 0, or -errno: -ETIMEDOUT where nothing came in so many ms, or in ten seconds more of a
 * child that a busy host does not let run.
 */
int ask(enum ask what, const char *path, unsigned int ms, struct answer *a);
/* Ends the child that is idle. */
void ask_end(void);

uint64_t now_ms(void);

#endif
