// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "knob.h"
#include "mark.h"
#include "suspend.h"
#include "trace.h"
#include "util.h"
#include "workload.h"

#define STATE "/sys/power/state"
/* How deep spans are nested, with room to spare. */
#define OPEN_MAX 16
#define SPAN_NAME 48

int suspend_prepare(const char *level)
{
	const struct {
		const char *path, *value;
	} knobs[] = {
		/* Without this one a real suspend would follow: it comes first. */
		{ "/sys/power/pm_test", level },
		{ "/sys/module/suspend/parameters/pm_test_delay", "0" },
		{ "/sys/power/sync_on_suspend", "0" },
	};

	if (may_suspend() < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(knobs); i++)
		if (knob_write(knobs[i].path, knobs[i].value) < 0)
			return -1;
	return trace_open() < 0 ? -1 : trace_enable("power", "suspend_resume");
}

static uint64_t took;

int suspend_cycle(void)
{
	uint64_t begin = now_ns();
	int error;

	mark_begin();
	/* s2idle: every machine has it, and what comes before is the same for all. */
	error = write_file(STATE, "freeze") < 0 ? errno : 0;
	mark_end();
	took = now_ns() - begin;
	return error;
}

uint64_t suspend_took(void)
{
	return took;
}

struct spans {
	struct {
		char name[SPAN_NAME];
		uint64_t begin;
	} open[OPEN_MAX];
	unsigned int n;
	span_fn fn;
	void *arg;
};

static int span_begins(struct spans *spans, const char *name, uint64_t ns)
{
	if (spans->n == OPEN_MAX)
		return fail(STATUS_FAILED, "tracefs", "%d parts of a suspend have no end",
			    OPEN_MAX);
	strcpy(spans->open[spans->n].name, name);
	spans->open[spans->n++].begin = ns;
	return 0;
}

/* They are nested; one that an error has left without an end goes with what it is in. */
static int span_ends(struct spans *spans, const char *name, uint64_t ns)
{
	unsigned int i = spans->n;

	while (i && strcmp(spans->open[i - 1].name, name))
		i--;
	if (!i)
		return 0;
	spans->n = i - 1;
	spans->fn(name, ns - spans->open[i - 1].begin, spans->arg);
	return 0;
}

/* "dpm_suspend[2] begin" */
static int one_event(const struct trace_event *ev, void *arg)
{
	char name[SPAN_NAME], what[8];

	if (strcmp(ev->name, "suspend_resume") ||
	    sscanf(ev->text, "%47[^[][%*d] %7s", name, what) != 2)
		return 0;
	if (!strcmp(what, "begin"))
		return span_begins(arg, name, ev->ns);
	return span_ends(arg, name, ev->ns);
}

int suspend_spans(span_fn fn, void *arg)
{
	struct spans spans = { .fn = fn, .arg = arg };

	return trace_each(one_event, &spans);
}

int suspend_failed(int error)
{
	char log[sizeof(problem.hint)];

	kernel_log_tail(log, sizeof(log), 8);
	fail(STATUS_FAILED, STATE, "the suspend failed: %s", strerror(error));
	return fail_hint("the kernel's last lines:\n%s", log);
}

int suspend_once(void)
{
	int error = suspend_cycle();

	if (check_interrupted() < 0)
		return -1;
	return error ? suspend_failed(error) : 0;
}
