// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "inject.h"
#include "knob.h"
#include "util.h"
#include "workload.h"

static void inject_path(char *path, size_t size, const char *feature, const char *file)
{
	snprintf(path, size, "/sys/kernel/debug/lull/%s/inject/%s", feature, file);
}

int inject_text(const char *feature, const char *file, const char *text)
{
	char path[256];

	inject_path(path, sizeof(path), feature, file);
	if (path_exists(path))
		return knob_write(path, text);
	fail(STATUS_LACKING, path, "this kernel has no injections");
	return fail_hint("boot the debug arm: lull kernel build --arm debug");
}

int inject_number(const char *feature, const char *file, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return inject_text(feature, file, text);
}

uint64_t inject_count(const char *feature, const char *file)
{
	char path[256];

	inject_path(path, sizeof(path), feature, file);
	return read_number(path, 0);
}

int inject_case(const struct job_case *c)
{
	static const char *const names[] = { "disable", "pause", "pause_us", "delay_ms",
					     "fail_nth", "hop", "proxies", "early" };

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value;

		if (!workload_param(c->workload, names[i]))
			continue;
		value = job_param(c, names[i]);
		if (strcmp(value, INJECT_NONE) && strcmp(value, "0") &&
		    inject_text(c->feature, names[i], value) < 0)
			return -1;
	}
	return 0;
}

bool inject_pauses(const struct job_case *c)
{
	return strcmp(job_param(c, "pause"), INJECT_NONE);
}

int inject_verdict(const struct job_case *c, const char *name, const char *mode, bool ok,
		   const char *format, ...)
{
	char said[1200], text[1400];
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
	snprintf(text, sizeof(text), "%s, safeguards off %s%s", mode, job_param(c, "disable"), said);
	return report_check(c, name, ok, text);
}

static bool shows(const char *path, const char *text)
{
	char now[512];

	if (read_file(path, now, sizeof(now)) < 0)
		return false;
	now[strcspn(now, "\n")] = '\0';
	return !strcmp(now, text);
}

static bool takes(const char *path, const char *text, const char *after)
{
	char line[512];

	snprintf(line, sizeof(line), "%s%s", text, after);
	return !write_file(path, line) && shows(path, text);
}

static bool refuses(const char *path, const char *text, const char *before)
{
	errno = 0;
	return write_file(path, text) < 0 && errno == EINVAL && shows(path, before);
}

/* What is wrong with the file that has taken the names; NULL where nothing is. */
static const char *try_names(const char *path, const char *names, char *text, size_t size)
{
	/* In place of %s the names. */
	static const char *const wrong[] = {
		"no-such-name\n", "%s,no-such-name", "no-such-name,%s", "none,%s", "%s,none",
		"%s,", ",%s", ", %s", "x%s", "%sx", "%s %s", "0x1", "1", ",", "\n", "NONE",
	};

	snprintf(text, size, "shows other names than '%s'", names);
	if (!shows(path, names))
		return text;
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		char line[512];

		snprintf(line, sizeof(line), wrong[i], names, names);
		snprintf(text, size, "does not refuse '%s'", line);
		if (!refuses(path, line, names))
			return text;
	}
	snprintf(text, size, "does not take '%s' and none", names);
	return takes(path, INJECT_NONE, "\n") && takes(path, names, "\n") &&
			       takes(path, INJECT_NONE, "") && takes(path, names, "") ?
		       NULL : text;
}

int inject_names_round(const struct job_case *c, const char *mode, struct sample *s)
{
	static const char *const files[] = { "disable", "pause", "../steps" };
	char path[256], text[600], said[900];
	const char *problem = NULL;
	unsigned int tried = 0;

	(void)mode;
	(void)s;
	for (unsigned int i = 0; i < ARRAY_SIZE(files) && !problem; i++) {
		/* The last part of the path: steps lie beside the injections. */
		const char *slash = strrchr(files[i], '/');
		const char *names = job_param(c, slash ? slash + 1 : files[i]);

		inject_path(path, sizeof(path), c->feature, files[i]);
		if (!strcmp(names, INJECT_NONE))
			continue;
		problem = try_names(path, names, text, sizeof(text));
		tried++;
	}
	if (!tried)
		return fail(STATUS_USAGE, "names", "the case has no names");
	snprintf(said, sizeof(said), "%s %s", problem ? path : c->feature,
		 problem ?: "takes its names, and refuses others");
	return report_check(c, "names", !problem, said);
}

void inject_names_teardown(void)
{
}

const struct workload_param inject_names_params[] = {
	{ "disable", INJECT_NONE },
	{ "pause", INJECT_NONE },
	{ "steps", INJECT_NONE },	/* all there are: they are on at first */
	{ 0 },
};
