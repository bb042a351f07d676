// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "freezer.h"
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

int freezer_prepare(void)
{
	return freezer_prepare_to("freezer");
}

int freezer_prepare_to(const char *level)
{
	if (suspend_prepare(level) < 0)
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

void freezer_settle(void)
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

int freezer_make_room(uint64_t n)
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
	uint64_t total;
	unsigned int phases;
	bool frozen, thawed;
};

static void one_span(const char *name, uint64_t ns, void *arg)
{
	struct figures *f = arg;
	bool frozen = !strcmp(name, "freeze_processes");
	bool thawed = !strcmp(name, "thaw_processes");

	f->frozen |= frozen;
	f->thawed |= thawed;
	if (frozen || thawed)
		sample_add(f->sample, name, (double)ns);
}

static int phase_event(const struct trace_event *ev, void *arg)
{
	struct figures *f = arg;
	char phase[32], name[48];
	uint64_t nsecs;

	if (strcmp(ev->name, "freeze_phase") ||
	    !trace_field(ev->text, "phase", phase, sizeof(phase)) ||
	    !trace_field_u64(ev->text, "nsecs", &nsecs))
		return 0;
	snprintf(name, sizeof(name), "freezer_%s", phase);
	sample_add(f->sample, name, (double)nsecs);
	f->total += nsecs;
	f->phases++;
	return 0;
}

static int read_figures(struct sample *s)
{
	struct figures f = { .sample = s };

	if (suspend_spans(one_span, &f) < 0 || trace_each(phase_event, &f) < 0)
		return -1;
	if (!f.frozen || !f.thawed)
		return fail(STATUS_FAILED, "tracefs",
			    "the trace of a suspend lacks freeze_processes or thaw_processes");
	if (f.phases == 2)
		sample_add(s, "freezer_total", (double)f.total);
	return 0;
}

int freezer_traced(bool sleepy, unsigned int after_ms)
{
	int error;

	if (trace_clear() < 0 || lull_stats_clear("freeze") < 0)
		return -1;
	if (sleepy)
		freezer_settle();
	else
		sleep_ms(STORM_MS);
	perturb_phase();
	if (trace_on() < 0)
		return -1;
	error = suspend_cycle();
	if (after_ms)
		sleep_ms(after_ms);
	if (trace_off() < 0)
		return -1;
	return error ? suspend_failed(error) : 0;
}

int freezer_timed(struct sample *s, bool sleepy)
{
	return freezer_traced(sleepy, 0) < 0 ? -1 : read_figures(s);
}

int freezer_cycle(struct sample *s, bool sleepy)
{
	if (freezer_timed(s, sleepy) < 0)
		return -1;
	lull_stats_add("freeze", s);
	return 0;
}
