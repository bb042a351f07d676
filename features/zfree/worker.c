// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <string.h>

#include "cputime.h"
#include "knob.h"
#include "lull.h"
#include "mark.h"
#include "util.h"
#include "worker.h"

#define WAIT_LIMIT_MS 20000
#define WAIT_STEP_MS 2
#define DELAY "/sys/kernel/debug/lull/zfree/inject/delay_ms"
#define AWAY_MS "600000"
#define ROUNDS 20

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

uint64_t worker_left(void)
{
	uint64_t drained = lull_stat("zfree", "drained");

	return lull_stat("zfree", "queued") - drained;
}

int worker_begin(int (*free_some)(uint64_t round))
{
	for (uint64_t i = 0; !lull_stat("zfree", "queued"); i++) {
		if (i == ROUNDS)
			return fail(STATUS_UNMET, "zfree", "nothing is left to the worker");
		if (free_some(i) < 0)
			return -1;
		sleep_ms(50);
	}
	return worker_wait();
}

/* And still does, when a worker that was on its way has come. */
static bool waits(uint64_t enough)
{
	if (worker_left() < enough)
		return false;
	if (enough)
		sleep_ms(50);
	return worker_left() >= enough;
}

int worker_keep_away(int (*free_some)(uint64_t round), uint64_t enough)
{
	if (worker_begin(free_some) < 0)
		return -1;
	/* Its last round, in which it finds nothing. */
	sleep_ms(200);
	if (knob_write(DELAY, AWAY_MS) < 0)
		return -1;
	/* That may be late, and then finds what was meant to wait. */
	for (uint64_t i = 0; !waits(enough); i++) {
		if (i == ROUNDS)
			return fail(STATUS_UNMET, "zfree", "%" PRIu64 " of %" PRIu64 " objects wait",
				    worker_left(), enough);
		if (free_some(ROUNDS + i) < 0)
			return -1;
	}
	return 0;
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
