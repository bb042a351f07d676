// SPDX-License-Identifier: GPL-2.0-only
/* power/async of each device that has one, with its driver. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "step.h"

#define DEEPEST 24

static void one(struct buf *out, const char *device)
{
	char path[4096], async[16] = "";
	struct answer a;

	snprintf(path, sizeof(path), "%s/power/async", device);
	if (step_ask_maybe(ASK_READ, path, &a))
		return;
	snprintf(async, sizeof(async), "%.*s", (int)strcspn(a.text, "\n"), a.text);
	snprintf(path, sizeof(path), "%s/driver", device);
	buf_fmt(out, "%s\t", async);
	if (!step_ask_maybe(ASK_LINK, path, &a) && a.len) {
		const char *name = strrchr(a.text, '/');

		name = name ? name + 1 : a.text;
		buf_field(out, name, strlen(name));
	} else {
		buf_str(out, "-");
	}
	buf_str(out, "\t");
	buf_field(out, device, strlen(device));
	buf_str(out, "\n");
}

/* Links are not followed: each device is below its parent, once. */
static void walk(struct buf *out, const char *folder, unsigned int depth)
{
	char *copy, *rest, *line;
	struct answer a;
	bool device;

	if (depth > DEEPEST || step_late() || step_ask(ASK_LIST, folder, &a))
		return;
	copy = rest = strdup(a.text);
	device = strstr(a.text, "d power\n");
	if (device)
		one(out, folder);
	while (copy && !step_late() && (line = next_line(&rest)) != NULL) {
		char path[4096];

		if (line[0] != 'd' || !strcmp(line + 2, "power"))
			continue;
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, line + 2) <
		    sizeof(path))
			walk(out, path, depth + 1);
	}
	free(copy);
}

void devices_run(struct buf *out)
{
	buf_str(out, "# power/async, driver, device\n");
	walk(out, "/sys/devices", 0);
}
