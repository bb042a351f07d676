// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "groups.h"
#include "knob.h"
#include "util.h"

static const char *const controllers[] = { "pids", "memory", "cpu", "cpuset" };

static struct cgroup top;
/* That the root did not give to its children before. */
static bool enabled[ARRAY_SIZE(controllers)];
static char root[sizeof(top.path)];
static bool favors;

static int write_control(const char *where, char sign, const char *name)
{
	char path[300], text[32];

	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", where);
	snprintf(text, sizeof(text), "%c%s", sign, name);
	return write_file(path, text);
}

static bool has_word(const char *where, const char *file, const char *word)
{
	char path[300], text[200], *rest = text, *found;

	snprintf(path, sizeof(path), "%s/%s", where, file);
	if (read_file(path, text, sizeof(text)) < 0)
		return false;
	while ((found = strsep(&rest, " \n"))) {
		if (!strcmp(found, word))
			return true;
	}
	return false;
}

static void enable_controllers(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(controllers); i++) {
		const char *name = controllers[i];

		if (!has_word(root, "cgroup.controllers", name))
			continue;
		if (!has_word(root, "cgroup.subtree_control", name))
			enabled[i] = !write_control(root, '+', name);
		write_control(top.path, '+', name);
	}
}

int groups_start(const struct job_case *c)
{
	bool v1 = job_number(c, "v1");

	if (cgroup_make(&top, v1 ? CGROUP_V1_FREEZER : CGROUP_V2, "lull-attach") < 0)
		return -1;
	memcpy(root, top.path, sizeof(root));
	dirname(root);
	if (!v1)
		enable_controllers();
	return 0;
}

static int remount(const char *options)
{
	if (!mount("none", root, NULL, MS_REMOUNT, options))
		return 0;
	return fail(STATUS_LACKING, root, "cannot remount with '%s': %s", options,
		    strerror(errno));
}

int groups_favor_dynmods(const struct job_case *c)
{
	if (!job_number(c, "favordynmods"))
		return 0;
	if (job_number(c, "v1"))
		return fail(STATUS_USAGE, "favordynmods", "not with v1=1: it is an option of v2");
	if (getpid() != 1)
		return fail(STATUS_LACKING, root, "has mount options that a remount would drop");
	favors = true;
	return remount("favordynmods");
}

static int name_group(struct cgroup *cg, const struct cgroup *in, const char *name)
{
	int len = snprintf(cg->path, sizeof(cg->path), "%s/%s", in->path, name);

	return len < (int)sizeof(cg->path) ? 0 : ENAMETOOLONG;
}

int group_make(struct cgroup *cg, const char *name)
{
	int error = name_group(cg, &top, name);

	if (error)
		return fail(STATUS_FAILED, name, "%s", strerror(error));
	return knob_mkdir(cg->path);
}

int group_mkdir(struct cgroup *cg, const struct cgroup *in, const char *name)
{
	int error = name_group(cg, in, name);

	if (!error && mkdir(cg->path, 0755) < 0)
		error = errno;
	return error;
}

const struct cgroup *groups_top(void)
{
	return &top;
}

void groups_stop(void)
{
	/* It would stay on without a mount, too, and has no opposite. */
	if (favors && remount("") < 0)
		fprintf(stderr, "probe: %s\n", problem.what);
	favors = false;
	for (unsigned int i = 0; i < ARRAY_SIZE(controllers); i++) {
		if (!enabled[i])
			continue;
		/* Its children have to give it back first. */
		write_control(top.path, '-', controllers[i]);
		write_control(root, '-', controllers[i]);
		enabled[i] = false;
	}
}

int group_open(const struct cgroup *cg, const char *file)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/%s", cg->path, file);
	return open(path, O_WRONLY | O_CLOEXEC);
}

int group_write_pid(int fd, pid_t pid)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", pid);

	return write(fd, text, (size_t)len) == len ? 0 : errno;
}

int64_t group_write(const struct cgroup *cg, const char *file, const char *text)
{
	int fd = group_open(cg, file), error;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	error = errno;
	close(fd);
	return n < 0 ? -error : n;
}

uint64_t group_number(const struct cgroup *cg, const char *file, uint64_t other)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", cg->path, file);
	return read_number(path, other);
}

bool group_has(const struct cgroup *cg, pid_t pid)
{
	char path[64], text[1000], *rest = text, *line;
	const char *name = strrchr(cg->path, '/');

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	if (read_file(path, text, sizeof(text)) < 0)
		return false;
	while ((line = strsep(&rest, "\n"))) {
		size_t len = strlen(line);

		if (strstr(line, "lull-attach") && len >= strlen(name) &&
		    !strcmp(line + len - strlen(name), name))
			return true;
	}
	return false;
}
