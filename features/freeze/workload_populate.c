// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that map memory, have the kernel fill it, fork, and unmap it again: who is
 * in mm_populate() or in a fork of many pages comes to the refrigerator late, and the
 * freezer may run out of time. How late, and how often, in each mode.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "freezer.h"
#include "knob.h"
#include "race.h"
#include "suspend.h"
#include "trace.h"
#include "util.h"

/* What they get to be in the middle of it again after a thaw. */
#define BUSY_MS 20

static struct crew crew;

static void fill_and_unmap(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	/* Where memory is short the next one tries. */
	if (p != MAP_FAILED)
		munmap(p, size);
}

static void populate(size_t size)
{
	void *held = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	pid_t self = getpid(), pid = fork();

	if (!pid) {
		crew_member(self);
		if (held != MAP_FAILED)
			memset(held, 1, size);
		fill_and_unmap(size);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (held != MAP_FAILED)
		munmap(held, size);
}

static void start_all(uint64_t order, void *arg, struct crew_answer *answer)
{
	const struct job_case *c = arg;
	pid_t boss = getpid();

	(void)order;
	for (uint64_t i = 0; i < job_number(c, "procs"); i++) {
		pid_t pid = fork();

		if (!pid) {
			crew_member(boss);
			for (;;)
				populate(job_number(c, "mb") << 20);
		}
		if (pid < 0) {
			answer->error = errno;
			strcpy(answer->doing, "fork");
			return;
		}
		answer->done++;
	}
}

static int populate_setup(const struct job_case *c)
{
	if (freezer_prepare() < 0 ||
	    knob_write(FREEZE_TIMEOUT, job_param(c, "limit_ms")) < 0)
		return -1;
	if (crew_start(&crew, start_all, (void *)c) < 0 || crew_do(&crew, 0) < 0)
		return -1;
	sleep_ms(BUSY_MS);
	return 0;
}

static void one_span(const char *name, uint64_t ns, void *arg)
{
	struct sample *s = arg;

	if (!strcmp(name, "freeze_processes"))
		sample_add(s, name, (double)ns);
}

static int populate_round(const struct job_case *c, const char *mode, struct sample *s)
{
	struct attempt a;

	(void)c;
	(void)mode;
	if (trace_clear() < 0)
		return -1;
	sleep_ms(BUSY_MS);
	if (trace_on() < 0 || race_attempt(&a) < 0 || trace_off() < 0)
		return -1;
	if (a.err && !race_log_has(&a, "refusing to freeze"))
		return suspend_failed(a.err);
	sample_add(s, "refused", a.err != 0);
	return suspend_spans(one_span, s);
}

static void populate_teardown(void)
{
	crew_stop(&crew);
}

static const struct workload_param populate_params[] = {
	{ "procs", "8" },
	{ "mb", "32" },
	/* When the freezer gives up. */
	{ "limit_ms", FREEZE_TIMEOUT_DEFAULT },
	{ 0 },
};

static const struct workload workload_populate = {
	.feature = "freeze",
	.name = "populate",
	.text = "processes that fill memory and fork while they are frozen",
	.params = populate_params,
	.setup = populate_setup,
	.round = populate_round,
	.teardown = populate_teardown,
};

WORKLOAD(workload_populate);
