// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "knob.h"
#include "util.h"

#define LEAVE_LIMIT_MS 10000

enum undo { UNDO_WRITE, UNDO_RMDIR, UNDO_UMOUNT };

struct entry {
	enum undo undo;
	char *path;
	char *old;
};

/*
 * Only the main path touches the journal: signal handlers set a flag and
 * nothing else, so that it needs no locking.
 */
static struct entry *journal;
static unsigned int used, room;

static int journal_add(enum undo undo, const char *path, const char *old)
{
	struct entry *e;

	if (used == room) {
		room = room ? 2 * room : 32;
		journal = realloc(journal, room * sizeof(*journal));
		if (!journal)
			abort();
	}
	e = &journal[used];
	e->undo = undo;
	e->path = strdup(path);
	e->old = strdup(old);
	if (!e->path || !e->old)
		abort();
	used++;
	return 0;
}

static bool journal_has(const char *path)
{
	for (unsigned int i = 0; i < used; i++) {
		if (journal[i].undo == UNDO_WRITE && !strcmp(journal[i].path, path))
			return true;
	}
	return false;
}

/* "none core [freezer]" reads as all choices; what can be written is one. */
static void pick_value(char *text)
{
	char *open = strchr(text, '['), *close = strchr(text, ']');

	text[strcspn(text, "\n")] = '\0';
	if (!open || !close || close < open)
		return;
	*close = '\0';
	memmove(text, open + 1, strlen(open + 1) + 1);
}

int knob_write(const char *path, const char *value)
{
	char old[4096];

	if (read_file(path, old, sizeof(old)) < 0) {
		fail(STATUS_LACKING, path, "cannot read %s: %s", path, strerror(errno));
		return fail_hint("the kernel may lack the option that provides this file");
	}
	pick_value(old);
	if (!strcmp(old, value))
		return 0;
	if (write_file(path, value) < 0)
		return fail(STATUS_FAILED, path, "cannot write '%s' to %s: %s", value, path,
			    strerror(errno));
	/* The value to put back is the first one seen. */
	return journal_has(path) ? 0 : journal_add(UNDO_WRITE, path, old);
}

int knob_raise(const char *path, uint64_t value)
{
	char text[32];

	if (read_number(path, 0) >= value)
		return 0;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return knob_write(path, text);
}

int knob_mkdir(const char *path)
{
	if (mkdir(path, 0755) < 0) {
		if (errno == EEXIST)
			return 0;
		return fail(STATUS_FAILED, path, "cannot make %s: %s", path, strerror(errno));
	}
	return journal_add(UNDO_RMDIR, path, "");
}

int knob_mount(const char *source, const char *target, const char *type, const char *data)
{
	if (mount(source, target, type, 0, data) < 0)
		return fail(STATUS_LACKING, target, "cannot mount %s at %s: %s", type, target,
			    strerror(errno));
	return journal_add(UNDO_UMOUNT, target, "");
}

/*
 * A cgroup is busy until who was killed in it has left it, which nobody can wait
 * for who is not its parent.
 */
static int remove_dir(const char *path)
{
	for (int ms = 0; rmdir(path) < 0; ms++) {
		/* The workload may have removed it itself. */
		if (errno == ENOENT)
			return 0;
		if (errno != EBUSY || ms >= LEAVE_LIMIT_MS)
			return -1;
		sleep_ms(1);
	}
	return 0;
}

static int undo(const struct entry *e)
{
	switch (e->undo) {
	case UNDO_WRITE:
		/* An empty value cannot be written but as its newline. */
		return write_file(e->path, e->old[0] ? e->old : "\n");
	case UNDO_RMDIR:
		return remove_dir(e->path);
	case UNDO_UMOUNT:
		return umount(e->path);
	}
	return -1;
}

unsigned int knob_mark(void)
{
	return used;
}

int knob_restore(unsigned int mark)
{
	int ret = 0;

	while (used > mark) {
		struct entry *e = &journal[--used];

		if (undo(e) < 0)
			ret = fail(STATUS_FAILED, e->path, "cannot restore %s%s%s: %s", e->path,
				   e->old[0] ? " to " : "", e->old, strerror(errno));
		free(e->path);
		free(e->old);
	}
	return ret;
}
