// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "knob.h"
#include "trace.h"
#include "util.h"

/* Enough for the few events of a suspend; more makes clearing slower. */
#define BUFFER_KB "128"

static char instance[128];

static int put_path(const char *file, const char *value)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", instance, file);
	if (write_file(path, value) < 0)
		return fail(STATUS_FAILED, path, "cannot write '%s' to %s: %s", value, path,
			    strerror(errno));
	return 0;
}

static const char *tracefs(void)
{
	static const char * const roots[] = {
		"/sys/kernel/tracing", "/sys/kernel/debug/tracing",
	};
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		snprintf(path, sizeof(path), "%s/instances", roots[i]);
		if (path_exists(path))
			return roots[i];
	}
	fail(STATUS_LACKING, "tracefs", "no tracefs with instances is mounted");
	fail_hint("mount -t tracefs tracefs /sys/kernel/tracing");
	return NULL;
}

int trace_open(void)
{
	const char *root;

	/* Restoring after a case removes it. */
	if (instance[0] && path_exists(instance))
		return 0;
	root = tracefs();
	if (!root)
		return -1;

	snprintf(instance, sizeof(instance), "%s/instances/lull", root);
	if (knob_mkdir(instance) < 0) {
		instance[0] = '\0';
		return -1;
	}
	/* An instance that a killed probe left behind may have events enabled. */
	if (trace_off() < 0 || put_path("events/enable", "0") < 0)
		return -1;
	if (put_path("trace_clock", "mono") < 0)
		return -1;
	return put_path("buffer_size_kb", BUFFER_KB);
}

int trace_room(const char *kb)
{
	return put_path("buffer_size_kb", kb);
}

static void event_path(char *path, size_t size, const char *system, const char *event)
{
	snprintf(path, size, "events/%s%s%s/enable", system, event ? "/" : "",
		 event ? event : "");
}

bool trace_has(const char *system, const char *event)
{
	char file[128], path[300];

	event_path(file, sizeof(file), system, event);
	snprintf(path, sizeof(path), "%s/%s", instance, file);
	return path_exists(path);
}

int trace_enable(const char *system, const char *event)
{
	char file[128];

	if (!trace_has(system, event)) {
		fail(STATUS_LACKING, "tracefs", "this kernel has no trace event %s:%s", system,
		     event ? event : "*");
		return fail_hint("build it with CONFIG_ENABLE_DEFAULT_TRACERS or CONFIG_FTRACE");
	}
	event_path(file, sizeof(file), system, event);
	return put_path(file, "1");
}

int trace_disable(const char *system, const char *event)
{
	char file[128];

	event_path(file, sizeof(file), system, event);
	return put_path(file, "0");
}

int trace_clear(void)
{
	char path[256];
	int fd;

	/* It is opening the file with O_TRUNC that clears, whatever is written. */
	snprintf(path, sizeof(path), "%s/trace", instance);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return fail(STATUS_FAILED, path, "cannot clear %s: %s", path, strerror(errno));
	close(fd);
	return 0;
}

int trace_on(void)
{
	return put_path("tracing_on", "1");
}

int trace_off(void)
{
	return put_path("tracing_on", "0");
}

/* "5.123456" to nanoseconds. */
static uint64_t parse_stamp(const char *text)
{
	char *dot;
	uint64_t s = strtoull(text, &dot, 10), us = 0;

	if (*dot == '.')
		us = strtoull(dot + 1, NULL, 10);
	return s * 1000000000 + us * 1000;
}

/*
 * "   comm-1   [001] .....     5.123456: suspend_resume: freeze_processes[0] begin"
 *
 * A comm may hold anything, "]" and ": " too; what follows it cannot hold
 * "] ", so the CPU's bracket is found by its digits.
 */
static bool parse_event(char *line, struct trace_event *ev)
{
	char *p = line, *end;
	unsigned int cpu;
	int len;

	for (p = strchr(line, '['); p; p = strchr(p + 1, '[')) {
		len = 0;
		if (sscanf(p, "[%3u] %n", &cpu, &len) == 1 && len == 6)
			break;
	}
	if (!p)
		return false;

	/* The flags, then the time. */
	p += 6;
	p += strcspn(p, " ");
	p += strspn(p, " ");
	ev->ns = parse_stamp(p);
	p = strstr(p, ": ");
	if (!p)
		return false;
	ev->name = p + 2;
	end = strstr(p + 2, ": ");
	if (!end)
		return false;
	*end = '\0';
	ev->text = end + 2;
	return true;
}

char *trace_text(void)
{
	char path[256], *text;

	snprintf(path, sizeof(path), "%s/trace", instance);
	text = read_whole(path);
	if (!text)
		fail(STATUS_FAILED, path, "cannot read %s: %s", path, strerror(errno));
	return text;
}

int trace_each(int (*fn)(const struct trace_event *ev, void *arg), void *arg)
{
	char *text = trace_text(), *rest = text, *line;
	struct trace_event ev;
	int ret = 0;

	if (!text)
		return -1;
	while (!ret && (line = strsep(&rest, "\n"))) {
		if (*line && *line != '#' && parse_event(line, &ev))
			ret = fn(&ev, arg);
	}
	free(text);
	return ret;
}

bool trace_field(const char *text, const char *key, char *value, unsigned int size)
{
	size_t len = strlen(key);

	for (const char *p = text; p; p = strchr(p, ' ')) {
		p += strspn(p, " ");
		if (strncmp(p, key, len) || p[len] != '=')
			continue;
		snprintf(value, size, "%.*s", (int)strcspn(p + len + 1, " "), p + len + 1);
		return true;
	}
	return false;
}

bool trace_field_u64(const char *text, const char *key, uint64_t *value)
{
	char buf[32];

	return trace_field(text, key, buf, sizeof(buf)) && parse_u64(buf, value);
}
