// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <string.h>

#include "cputime.h"
#include "lull.h"
#include "mark.h"
#include "util.h"
#include "worker.h"

#define WAIT_LIMIT_MS 20000
#define WAIT_STEP_MS 2

int worker_wait(void)
{
	for (int ms = 0; check_interrupted() >= 0; ms += WAIT_STEP_MS) {
		uint64_t drained = lull_stat("zfree", "drained");
		uint64_t queued = lull_stat("zfree", "queued");

		if (queued == drained)
			return 0;
		if (ms > WAIT_LIMIT_MS)
			return fail(STATUS_FAILED, "zfree",
				    "%" PRIu64 " of %" PRIu64 " objects stay with the worker",
				    queued - drained, queued);
		sleep_ms(WAIT_STEP_MS);
	}
	return -1;
}

int work_begin(struct work *work, const char *mode)
{
	if (worker_wait() < 0 || lull_stats_clear("zfree") < 0)
		return -1;
	work->mode = mode;
	work->cpu = cpu_ns();
	work->begin = now_ns();
	mark_begin();
	return 0;
}

int work_end(const struct work *work, double pages, struct sample *s)
{
	uint64_t end, cpu;

	/* Where there is no worker even the question would cost. */
	if (!strcmp(work->mode, "deferred") && worker_wait() < 0)
		return -1;
	mark_end();
	end = now_ns();
	cpu = cpu_ns();
	sample_add(s, "pages", pages);
	sample_add(s, "done_page", (double)(end - work->begin) / pages);
	sample_add(s, "cpu_page", (double)(cpu - work->cpu) / pages);
	lull_stats_add("zfree", s);
	return 0;
}
