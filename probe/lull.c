// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "knob.h"
#include "lull.h"
#include "util.h"

/* Longer than whatever a host delays. */
#define CHECK_LIMIT_MS 30000

static void param_path(char *path, size_t size, const char *feature)
{
	snprintf(path, size, "/sys/module/lull/parameters/%s", feature);
}

static void debug_path(char *path, size_t size, const char *feature, const char *file)
{
	snprintf(path, size, "/sys/kernel/debug/lull/%s/%s", feature, file);
}

void lull_modes(const char *feature, struct modes *modes)
{
	char path[256], text[1024], *rest = text, *word;

	modes->n = 0;
	param_path(path, sizeof(path), feature);
	if (path_exists(path)) {
		debug_path(path, sizeof(path), feature, "modes");
		if (read_file(path, text, sizeof(text)) < 0)
			text[0] = '\0';
		while (modes->n < MODES_MAX && (word = strsep(&rest, " \n"))) {
			if (*word)
				snprintf(modes->names[modes->n++], JOB_NAME_MAX, "%s", word);
		}
	}
	if (!modes->n)
		strcpy(modes->names[modes->n++], "stock");
}

static bool has_mode(const struct modes *modes, const char *mode)
{
	for (unsigned int i = 0; i < modes->n; i++) {
		if (!strcmp(modes->names[i], mode))
			return true;
	}
	return false;
}

int lull_switch(const char *feature, const char *mode)
{
	char path[256];

	param_path(path, sizeof(path), feature);
	if (!path_exists(path)) {
		if (!strcmp(mode, "stock"))
			return 0;
		return fail(STATUS_LACKING, path, "this kernel has no mode '%s' of %s", mode,
			    feature);
	}
	return knob_write(path, mode);
}

static void keep_common(struct modes *modes, const struct modes *others)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < modes->n; i++) {
		if (has_mode(others, modes->names[i]))
			memmove(modes->names[kept++], modes->names[i], JOB_NAME_MAX);
	}
	modes->n = kept;
}

void lull_workload_modes(const struct workload *w, struct modes *modes)
{
	struct modes others;

	lull_modes(w->switches ? w->switches[0] : w->feature, modes);
	for (const char *const *name = w->switches; name && *name; name++) {
		lull_modes(*name, &others);
		keep_common(modes, &others);
	}
}

bool lull_workload_has_mode(const struct workload *w, const char *mode)
{
	struct modes modes;

	lull_workload_modes(w, &modes);
	return has_mode(&modes, mode);
}

int lull_workload_switch(const struct workload *w, const char *mode)
{
	if (!w->switches)
		return lull_switch(w->feature, mode);
	for (const char *const *name = w->switches; *name; name++) {
		if (lull_switch(*name, mode) < 0)
			return -1;
	}
	return 0;
}

bool lull_has_steps(const char *feature)
{
	struct modes modes;
	char path[256];

	lull_modes(feature, &modes);
	debug_path(path, sizeof(path), feature, "steps");
	return has_mode(&modes, "lull") && path_exists(path);
}

int lull_switch_steps(const char *feature, const char *steps)
{
	char path[256];

	debug_path(path, sizeof(path), feature, "steps");
	if (knob_write(path, steps) < 0)
		return -1;
	/* They come into force where the mode does: it has to be another before. */
	return lull_switch(feature, "stock") < 0 ? -1 : lull_switch(feature, "lull");
}

/* 1 when the file is there, 0 when not. */
static int clear(const char *feature, const char *file)
{
	char path[256];

	debug_path(path, sizeof(path), feature, file);
	if (!path_exists(path))
		return 0;
	if (write_file(path, "0") < 0)
		return fail(STATUS_FAILED, path, "cannot clear %s: %s", path, strerror(errno));
	return 1;
}

int lull_stats_clear(const char *feature)
{
	return clear(feature, "stats") < 0 ? -1 : 0;
}

typedef void (*stat_fn)(const char *name, uint64_t value, void *arg);

static void for_each_stat(const char *feature, const char *file, stat_fn fn, void *arg)
{
	char path[256], *text, *rest, *line, name[48];
	unsigned long long value;

	debug_path(path, sizeof(path), feature, file);
	text = read_whole(path);
	rest = text;
	while (rest && (line = strsep(&rest, "\n"))) {
		if (sscanf(line, "%47s %llu", name, &value) == 2)
			fn(name, value, arg);
	}
	free(text);
}

static void add_stat(const char *name, uint64_t value, void *arg)
{
	sample_add(arg, name, (double)value);
}

void lull_stats_add(const char *feature, struct sample *s)
{
	for_each_stat(feature, "stats", add_stat, s);
}

struct wanted {
	const char *name;
	uint64_t value;
};

static void find_stat(const char *name, uint64_t value, void *arg)
{
	struct wanted *wanted = arg;

	if (!strcmp(name, wanted->name))
		wanted->value = value;
}

static uint64_t value_of(const char *feature, const char *file, const char *name)
{
	struct wanted wanted = { .name = name };

	for_each_stat(feature, file, find_stat, &wanted);
	return wanted.value;
}

uint64_t lull_stat(const char *feature, const char *name)
{
	return value_of(feature, "stats", name);
}

uint64_t lull_check(const char *feature, const char *name)
{
	return value_of(feature, "check", name);
}

int lull_check_wait(const char *feature, const char *name, uint64_t at_least)
{
	for (int ms = 0; lull_check(feature, name) < at_least; ms++) {
		if (ms > CHECK_LIMIT_MS)
			return fail(STATUS_UNMET, "check", "'%s' of %s never came to %llu", name,
				    feature, (unsigned long long)at_least);
		if (check_interrupted() < 0)
			return -1;
		sleep_ms(1);
	}
	return 0;
}

int lull_check_clear(const char *feature)
{
	return clear(feature, "check");
}

int lull_check_read(const char *feature, uint64_t *escapes, char *last, unsigned int size)
{
	char path[256], *text, *rest, *line;
	bool found = false;

	last[0] = '\0';
	debug_path(path, sizeof(path), feature, "check");
	if (!path_exists(path))
		return 0;
	text = read_whole(path);
	rest = text;
	while (rest && (line = strsep(&rest, "\n"))) {
		if (!strncmp(line, "escapes ", 8))
			found = parse_u64(line + 8, escapes);
		else if (!strncmp(line, "last_escape ", 12))
			snprintf(last, size, "%s", line + 12);
	}
	free(text);
	/* A verdict that cannot be read is not one of innocence. */
	return found ? 1 : fail(STATUS_FAILED, path, "no 'escapes' line in %s", path);
}
