// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "measure.h"
#include "traced.h"
#include "undo.h"

#define OURS "instances/lull-doctor"

static char folder[128];

static int put(const char *name, const char *value)
{
	char path[4096];
	int fd, ret = 0;

	snprintf(path, sizeof(path), "%s%s/%s", ask_root, folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, value, strlen(value)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

static int make(void)
{
	/* The second is where it was before it had a place of its own. */
	static const char *const places[] = { "/sys/kernel/tracing",
		"/sys/kernel/debug/tracing" };
	int ret = -ENOENT;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && ret == -ENOENT; i++) {
		snprintf(folder, sizeof(folder), "%s/" OURS, places[i]);
		ret = undo_mkdir(folder);
	}
	return ret;
}

bool traced_begin(struct buf *out)
{
	static const char *const events[] = { "suspend_resume", "device_pm_callback_start",
		"device_pm_callback_end" };
	int ret = make();

	if (!ret)
		ret = put("trace_clock", "global");
	for (size_t i = 0; i < sizeof(events) / sizeof(*events) && !ret; i++) {
		char name[128];

		snprintf(name, sizeof(name), "events/power/%s/enable", events[i]);
		ret = put(name, "1");
	}
	if (ret)
		measure_lacks(out, "tracefs", -ret);
	return !ret;
}

void traced_end(struct buf *out)
{
	char path[256];
	struct answer a;

	put("tracing_on", "0");
	snprintf(path, sizeof(path), "%s/trace", folder);
	if (!step_ask(ASK_READ, path, &a))
		buf_add(out, a.text, a.len);
}
