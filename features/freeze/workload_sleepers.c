// SPDX-License-Identifier: GPL-2.0-only
/*
 * Live processes asleep in the calls that programs really sleep in. Of these
 * the kernel can freeze futex and nanosleep where they are; the others have to
 * be woken, go to the refrigerator, and come back.
 */
#include "freezer.h"
#include "sleepers.h"

static int sleepers_setup(const struct job_case *c)
{
	uint64_t n = job_number(c, "sleepers");

	if (sleepers_mix(job_param(c, "mix"), WAITS_FIRST) < 0 || freezer_prepare() < 0)
		return -1;
	return freezer_make_room(n) < 0 ? -1 : sleepers_start(n);
}

static int sleepers_round(const struct job_case *c, const char *mode, struct sample *s)
{
	(void)c;
	(void)mode;
	return freezer_cycle(s, true);
}

static const struct workload_param sleepers_params[] = {
	{ "sleepers", "1000" },
	{ "mix", "epoll:1,poll:1,pipe:1,futex:1,nanosleep:1" },
	{ 0 },
};

static const struct workload sleepers = {
	.feature = "freeze",
	.name = "sleepers",
	.text = "N live processes asleep, in the given mix of system calls",
	.params = sleepers_params,
	.setup = sleepers_setup,
	.round = sleepers_round,
	.teardown = sleepers_stop,
};

WORKLOAD(sleepers);
