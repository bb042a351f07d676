// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dead children that nobody waits for: N of them, or the ten rounds of the
 * thread that asked what they cost, each with some thousand more.
 */
#include "crew.h"
#include "freezer.h"
#include "zombies.h"

static struct crew crew;

static int start(uint64_t most)
{
	if (freezer_prepare() < 0 || freezer_make_room(most) < 0)
		return -1;
	return zombies_start(&crew);
}

static int zombies_setup(const struct job_case *c)
{
	uint64_t n = job_number(c, "zombies");

	return start(n) < 0 ? -1 : crew_do(&crew, n);
}

static int zombies_round(const struct job_case *c, const char *mode, struct sample *s)
{
	(void)c;
	(void)mode;
	return freezer_cycle(s, true);
}

static void zombies_teardown(void)
{
	crew_stop(&crew);
}

static const struct workload_param zombies_params[] = {
	{ "zombies", "30000" },
	{ 0 },
};

static const struct workload zombies = {
	.feature = "freeze",
	.name = "zombies",
	.text = "N dead children that nobody has waited for",
	.params = zombies_params,
	.setup = zombies_setup,
	.round = zombies_round,
	.teardown = zombies_teardown,
};

WORKLOAD(zombies);

static unsigned int table_step;

static int table_setup(const struct job_case *c)
{
	return start(job_number(c, "step") * job_number(c, "rounds"));
}

static unsigned int table_steps(const struct job_case *c)
{
	return (unsigned int)job_number(c, "rounds");
}

static int table_next(const struct job_case *c, unsigned int step)
{
	/* The dead of the rounds before are kept: only the difference is made. */
	table_step = step + 1;
	return crew_do(&crew, job_number(c, "step"));
}

static int table_round(const struct job_case *c, const char *mode, struct sample *s)
{
	double n = (double)(table_step * job_number(c, "step"));

	(void)mode;
	sample_param(s, "zombies", n);
	sample_add(s, "round", table_step);
	sample_add(s, "zombies", n);
	return freezer_cycle(s, true);
}

static const struct workload_param table_params[] = {
	{ "step", "3000" },
	{ "rounds", "10" },
	{ 0 },
};

static const struct workload table = {
	.feature = "freeze",
	.name = "thread-table",
	.text = "rounds of ever more zombies, the order of modes in each",
	.params = table_params,
	.setup = table_setup,
	.round = table_round,
	.teardown = zombies_teardown,
	.steps = table_steps,
	.step = table_next,
};

WORKLOAD(table);
