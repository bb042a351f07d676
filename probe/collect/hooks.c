// SPDX-License-Identifier: GPL-2.0-only
/*
 * The step sleep-hooks: "hook PATH" of what systemd-sleep runs, and lines of JSON,
 * what the journal has of sleep and of units. Changes nothing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

static void put_hooks(struct buf *out, const char *folder)
{
	char *copy, *rest, *line;
	struct answer a;

	if (step_ask_maybe(ASK_LIST, folder, &a))
		return;
	copy = rest = strdup(a.text);
	while (copy && (line = next_line(&rest)) != NULL) {
		if (line[0] == 'd')
			continue;
		buf_fmt(out, "hook\t%s/", folder);
		buf_field(out, line + 2, strlen(line + 2));
		buf_str(out, "\n");
	}
	free(copy);
}

void hooks_run(struct buf *out)
{
	struct answer a;
	int ret;

	put_hooks(out, "/etc/systemd/system-sleep");
	put_hooks(out, "/usr/lib/systemd/system-sleep");
	ret = step_ask(step_is_real() ? ASK_SLEEPS : ASK_READ, "/usr/bin/journalctl", &a);
	if (ret)
		measure_lacks(out, "journal", -ret);
	else if (!a.len)
		measure_lacks(out, "sleep", ENOENT);
	else
		buf_add(out, a.text, a.len);
}
