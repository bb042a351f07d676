// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"
#include "knob.h"
#include "util.h"

/* Longer than whatever a host delays. */
#define FREEZE_LIMIT_MS 30000

/* Where the hierarchy is mounted already, by its line in /proc/mounts. */
static bool find_mount(enum cgroup_kind kind, char *root, size_t size)
{
	char *text = read_whole("/proc/mounts"), *rest = text, *line;
	char at[200], type[32], options[400];
	bool found = false;

	while (!found && rest && (line = strsep(&rest, "\n"))) {
		if (sscanf(line, "%*s %199s %31s %399s", at, type, options) != 3)
			continue;
		if (kind == CGROUP_V2)
			found = !strcmp(type, "cgroup2");
		else
			found = !strcmp(type, "cgroup") && strstr(options, "freezer");
	}
	if (found)
		snprintf(root, size, "%s", at);
	free(text);
	return found;
}

static int find_root(enum cgroup_kind kind, char *root, size_t size)
{
	if (find_mount(kind, root, size))
		return 0;

	snprintf(root, size, "/tmp/lull-%s", kind == CGROUP_V2 ? "cgroup2" : "freezer");
	if (knob_mkdir(root) < 0)
		return -1;
	if (kind == CGROUP_V2)
		return knob_mount("cgroup2", root, "cgroup2", NULL);
	return knob_mount("cgroup", root, "cgroup", "freezer");
}

int cgroup_make(struct cgroup *cg, enum cgroup_kind kind, const char *name)
{
	char root[200];

	if (find_root(kind, root, sizeof(root)) < 0)
		return -1;
	snprintf(cg->path, sizeof(cg->path), "%s/%s", root, name);
	return knob_mkdir(cg->path);
}

int cgroup_set(const struct cgroup *cg, const char *file, const char *value)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/%s", cg->path, file);
	if (write_file(path, value) < 0)
		return fail(STATUS_FAILED, path, "cannot write '%s' to %s: %s", value, path,
			    strerror(errno));
	return 0;
}

int cgroup_attach(const struct cgroup *cg, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	return cgroup_set(cg, "cgroup.procs", text);
}

int cgroup_freeze(const struct cgroup *cg)
{
	char path[400], state[16];

	if (cgroup_set(cg, "freezer.state", "FROZEN") < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/freezer.state", cg->path);
	for (int ms = 0; ms < FREEZE_LIMIT_MS; ms++) {
		if (check_interrupted() < 0)
			return -1;
		if (read_file(path, state, sizeof(state)) > 0 && !strcmp(state, "FROZEN\n"))
			return 0;
		sleep_ms(1);
	}
	return fail(STATUS_FAILED, path, "the cgroup never comes to be FROZEN");
}

void cgroup_thaw(const struct cgroup *cg)
{
	char path[400];

	if (!cg->path[0])
		return;
	snprintf(path, sizeof(path), "%s/freezer.state", cg->path);
	write_file(path, "THAWED");
}

int cgroup_remove(const struct cgroup *cg)
{
	if (rmdir(cg->path) < 0)
		return fail(STATUS_FAILED, cg->path, "cannot remove %s: %s", cg->path,
			    strerror(errno));
	return 0;
}
