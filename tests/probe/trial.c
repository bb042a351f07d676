// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workloads for the probe as it is, on a kernel that is made up: its files below /sys
 * are those in the directory that TRIAL names, and its trace is the file `trace` there,
 * a line an event, "NS NAME: TEXT". By way of the linker's --wrap.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inject.h"
#include "knob.h"
#include "out.h"
#include "suspend.h"
#include "trace.h"
#include "util.h"
#include "workload.h"

#include "unrest.h"

bool __real_path_exists(const char *path);
long __real_read_file(const char *path, char *buf, size_t size);
int __real_write_file(const char *path, const char *text);
int __real_rmdir(const char *path);

static const char *placed(const char *path)
{
	static char place[PATH_MAX];

	if (strncmp(path, "/sys/", 5))
		return path;
	snprintf(place, sizeof(place), "%s%s", getenv("TRIAL"), path);
	return place;
}

bool __wrap_path_exists(const char *path)
{
	return __real_path_exists(placed(path));
}

long __wrap_read_file(const char *path, char *buf, size_t size)
{
	return __real_read_file(placed(path), buf, size);
}

int __wrap_write_file(const char *path, const char *text)
{
	/* As a file of the kernel's: what was there before is gone. */
	return truncate(placed(path), 0) < 0 ? -1 : __real_write_file(placed(path), text);
}

int __wrap_trace_each(int (*fn)(const struct trace_event *ev, void *arg), void *arg)
{
	char path[PATH_MAX], *text, *rest, *line;
	struct trace_event ev;
	int ret = 0;

	snprintf(path, sizeof(path), "%s/trace", getenv("TRIAL"));
	text = read_whole(path);
	rest = text;
	while (!ret && rest && (line = strsep(&rest, "\n")) && *line) {
		ev.ns = strtoull(line, &line, 10);
		ev.name = line + 1;
		line = strchr(line, ':');
		*line = '\0';
		ev.text = line + 2;
		ret = fn(&ev, arg);
	}
	free(text);
	return ret;
}

uid_t __wrap_geteuid(void)
{
	return 0;
}

/* So often a directory is busy yet, as a cgroup is until the killed have left it. */
static int busy;

int __wrap_rmdir(const char *path)
{
	if (busy > 0) {
		busy--;
		errno = EBUSY;
		return -1;
	}
	return __real_rmdir(path);
}

static const char *const switches[] = { "one", "two", "three", NULL };

static int no_setup(const struct job_case *c)
{
	(void)c;
	return 0;
}

/* Which of the features are in the mode, as the kernel would see it. */
static int look(const struct job_case *c, const char *mode, struct sample *s)
{
	char path[256], text[64];

	(void)c;
	for (const char *const *name = switches; *name; name++) {
		snprintf(path, sizeof(path), "/sys/module/lull/parameters/%s", *name);
		if (__wrap_read_file(path, text, sizeof(text)) < 0)
			text[0] = '\0';
		sample_add(s, *name, !strncmp(text, mode, strlen(mode)));
	}
	return 0;
}

static void no_teardown(void)
{
}

static const struct workload trial = {
	.feature = "trial",
	.name = "look",
	.text = "looks which modes the features are in",
	.switches = switches,
	.setup = no_setup,
	.round = look,
	.teardown = no_teardown,
};

WORKLOAD(trial);

static void add_span(const char *name, uint64_t ns, void *arg)
{
	sample_add(arg, name, (double)ns);
}

static int read_spans(const struct job_case *c, const char *mode, struct sample *s)
{
	(void)c;
	(void)mode;
	return suspend_spans(add_span, s);
}

static const struct workload spans = {
	.feature = "trace",
	.name = "spans",
	.text = "what the parts of a suspend took",
	.setup = no_setup,
	.round = read_spans,
	.teardown = no_teardown,
};

WORKLOAD(spans);

static int make_dir(const struct job_case *c, const char *mode, struct sample *s)
{
	char path[PATH_MAX];

	(void)c;
	(void)mode;
	(void)s;
	snprintf(path, sizeof(path), "%s/made", getenv("TRIAL"));
	busy = 3;
	return knob_mkdir(path);
}

static const struct workload leaves = {
	.feature = "knob",
	.name = "leaves",
	.text = "leaves a directory that is busy for a moment",
	.setup = no_setup,
	.round = make_dir,
	.teardown = no_teardown,
};

WORKLOAD(leaves);

/* What the kernel is told of mode and steps when a round runs. */
static int say_steps(const struct job_case *c, const char *word, struct sample *s)
{
	char mode[64] = "", steps[256] = "", text[400];

	(void)c;
	(void)word;
	(void)s;
	__wrap_read_file("/sys/module/lull/parameters/inject", mode, sizeof(mode));
	__wrap_read_file("/sys/kernel/debug/lull/inject/steps", steps, sizeof(steps));
	mode[strcspn(mode, "\n")] = '\0';
	steps[strcspn(steps, "\n")] = '\0';
	snprintf(text, sizeof(text), "%s %s", mode, steps);
	out_begin("note");
	out_str("text", text);
	return out_end();
}

static const struct workload stepped = {
	.feature = "inject",
	.name = "stepped",
	.text = "says which mode and steps a round is in",
	.setup = no_setup,
	.round = say_steps,
	.teardown = no_teardown,
};

WORKLOAD(stepped);

/* Operations of 1 ms beside it, so many and no more. */
static int run_beside(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t ops = job_number(c, "ops");

	(void)mode;
	(void)s;
	if (unrest_start(c) < 0)
		return -1;
	for (uint64_t i = 0; i < ops && !unrest_enough(); i++) {
		sleep_ms(1);
		unrest_step();
	}
	return unrest_end(report_check(c, "beside", true, unrest_text()));
}

static const struct workload_param beside_params[] = {
	{ "ops", "0" },
	UNREST_PARAMS,
	{ 0 },
};

static const struct workload beside = {
	.feature = "unrest",
	.name = "beside",
	.text = "does nothing beside a CPU that comes and goes",
	.params = beside_params,
	.setup = no_setup,
	.round = run_beside,
	.teardown = unrest_stop,
};

WORKLOAD(beside);

INJECT_NAMES(inject);
