// SPDX-License-Identifier: GPL-2.0-only
/* What all freeze workloads share: one measured cycle of freeze and thaw. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "cycle.h"
#include "knob.h"
#include "lull.h"
#include "perturb.h"
#include "suspend.h"
#include "trace.h"
#include "util.h"

#define SETTLE_MS 20
#define SETTLE_LIMIT_MS 2000
/* What a storm gets to get going again after being thawed. */
#define STORM_MS 5

int freeze_prepare(void)
{
	if (suspend_prepare("freezer") < 0)
		return -1;
	if (trace_has("lull", "freeze_phase"))
		return trace_enable("lull", "freeze_phase");
	return 0;
}

/* The fourth word of /proc/loadavg: "running/all"; we are one of them. */
static unsigned int running(void)
{
	char text[128];
	unsigned int n;

	if (read_file("/proc/loadavg", text, sizeof(text)) <= 0 ||
	    sscanf(text, "%*s %*s %*s %u/", &n) != 1)
		return 1;
	return n;
}

void freeze_settle(void)
{
	/*
	 * A zombie in /proc may still be on a CPU, on its way to TASK_DEAD,
	 * where the freezer has to wait for it. Such a task still counts as
	 * running. On a busy machine nobody being left is not to be had.
	 */
	for (unsigned int ms = 0; running() > 1 && ms < SETTLE_LIMIT_MS; ms += 2)
		sleep_ms(2);
	/* Grace periods and the kernel's workers come to rest, too. */
	sleep_ms(SETTLE_MS);
}

int freeze_make_room(uint64_t n)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	uint64_t threads = read_number("/proc/sys/kernel/threads-max", 0);

	/* Numbers are not reused while a zombie holds them; leave some spare. */
	if (knob_raise("/proc/sys/kernel/pid_max", 2 * n + 32768) < 0)
		return -1;
	/* The kernel sizes this one by memory, so its value may be close. */
	if (threads < n + 4096 && knob_raise("/proc/sys/kernel/threads-max", n + 4096) < 0)
		return -1;
	if (setrlimit(RLIMIT_NPROC, &limit) < 0)
		return fail(STATUS_FAILED, "RLIMIT_NPROC", "cannot raise it: %s", strerror(errno));
	return 0;
}

struct figures {
	struct sample *sample;
	uint64_t freeze_begin, thaw_begin;
	uint64_t total;
	unsigned int phases;
	bool frozen, thawed;
};

static void span_event(struct figures *f, const struct trace_event *ev)
{
	if (!strcmp(ev->text, "freeze_processes[0] begin")) {
		f->freeze_begin = ev->ns;
	} else if (!strcmp(ev->text, "thaw_processes[0] begin")) {
		f->thaw_begin = ev->ns;
	} else if (!strcmp(ev->text, "freeze_processes[0] end")) {
		f->frozen = true;
		sample_add(f->sample, "freeze_processes", (double)(ev->ns - f->freeze_begin));
	} else if (!strcmp(ev->text, "thaw_processes[0] end")) {
		f->thawed = true;
		sample_add(f->sample, "thaw_processes", (double)(ev->ns - f->thaw_begin));
	}
}

static void phase_event(struct figures *f, const struct trace_event *ev)
{
	char phase[32], name[48];
	uint64_t nsecs;

	if (!trace_field(ev->text, "phase", phase, sizeof(phase)) ||
	    !trace_field_u64(ev->text, "nsecs", &nsecs))
		return;
	snprintf(name, sizeof(name), "freezer_%s", phase);
	sample_add(f->sample, name, (double)nsecs);
	f->total += nsecs;
	f->phases++;
}

static int one_event(const struct trace_event *ev, void *arg)
{
	struct figures *f = arg;

	if (!strcmp(ev->name, "suspend_resume"))
		span_event(f, ev);
	else if (!strcmp(ev->name, "freeze_phase"))
		phase_event(f, ev);
	return 0;
}

static int read_figures(struct sample *s)
{
	struct figures f = { .sample = s };

	if (trace_each(one_event, &f) < 0)
		return -1;
	if (!f.frozen || !f.thawed)
		return fail(STATUS_FAILED, "tracefs",
			    "the trace of a suspend lacks freeze_processes or thaw_processes");
	if (f.phases == 2)
		sample_add(s, "freezer_total", (double)f.total);
	lull_stats_add("freeze", s);
	return 0;
}

int freeze_cycle(struct sample *s, bool sleepy)
{
	int error;

	if (trace_clear() < 0 || lull_stats_clear("freeze") < 0)
		return -1;
	if (sleepy)
		freeze_settle();
	else
		sleep_ms(STORM_MS);
	perturb_phase();
	if (trace_on() < 0)
		return -1;
	error = suspend_cycle();
	if (trace_off() < 0)
		return -1;
	return error ? suspend_failed(error) : read_figures(s);
}
