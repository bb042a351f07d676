// SPDX-License-Identifier: GPL-2.0-only
/*
 * A lid that closes and opens: a crowd is frozen, a tree of devices suspended, and all
 * of it comes back. The whole of it phase by phase, and the freezer's part alone.
 */
#include <string.h>

#include "features/devices/tree.h"
#include "freezer.h"
#include "job.h"
#include "lid.h"
#include "sleepers.h"
#include "suspend.h"
#include "util.h"
#include "workload.h"

/* The devices' phases, freezing and thawing. */
#define LID_PHASES (NR_PHASES + 2)

const char *const lid_switches[] = { "freeze", "devices", "thaw", "attach", "zfree", NULL };

static struct tree tree;

static int gather(const struct job_case *c)
{
	uint64_t n = job_number(c, "sleepers");

	if (sleepers_mix(job_param(c, "mix"), WAITS_NR) < 0 || freezer_make_room(n) < 0)
		return -1;
	return sleepers_start(n) < 0 ? -1 : sleepers_look();
}

static int suspend_setup(const struct job_case *c)
{
	const char *name = job_param(c, "tree");
	bool none = !strcmp(name, "none");

	/* The level "devices" turns back before the late and noirq phases. */
	if ((!none && tree_supported() < 0) || freezer_prepare_to("platform") < 0)
		return -1;
	if (!none && tree_load_named(&tree, name) < 0)
		return -1;
	return gather(c);
}

struct phases {
	struct sample *sample;
	uint64_t sum;
	unsigned int n;
};

/* Freezing and thawing are in the sample already. */
static void one_phase(const char *name, uint64_t ns, void *arg)
{
	struct phases *phases = arg;
	bool counts = !strcmp(name, "freeze_processes") || !strcmp(name, "thaw_processes");

	for (int k = 0; k < NR_PHASES; k++) {
		if (strncmp(name, "dpm_", 4) || strcmp(name + 4, phase_names[k]))
			continue;
		sample_add(phases->sample, phase_names[k], (double)ns);
		counts = true;
	}
	if (!counts)
		return;
	phases->sum += ns;
	phases->n++;
}

static int add_phases(struct sample *s)
{
	struct phases phases = { .sample = s };

	if (suspend_spans(one_phase, &phases) < 0)
		return -1;
	if (phases.n != LID_PHASES)
		return fail(STATUS_FAILED, "tracefs", "the trace has %u phases of a suspend, not %u",
			    phases.n, LID_PHASES);
	sample_add(s, "lid", (double)phases.sum);
	return 0;
}

static int suspend_round(const struct job_case *c, const char *mode, struct sample *s)
{
	(void)c;
	(void)mode;
	if (freezer_timed(s, true) < 0 || add_phases(s) < 0)
		return -1;
	sample_add(s, "total", (double)suspend_took());
	return sleepers_check();
}

static void suspend_teardown(void)
{
	sleepers_stop();
	tree_drop(&tree);
}

static const struct workload_param suspend_params[] = {
	{ "tree", "file:features/devices/trees/laptop.tree" },
	{ "sleepers", "400" },
	{ "mix", "desktop" },
	{ 0 },
};

static const struct workload suspend = {
	.feature = "lid",
	.name = "suspend",
	.text = "a whole cycle: a crowd is frozen, a tree of devices suspended, and back",
	.params = suspend_params,
	.switches = lid_switches,
	.setup = suspend_setup,
	.round = suspend_round,
	.teardown = suspend_teardown,
};

WORKLOAD(suspend);

static int freezer_setup(const struct job_case *c)
{
	return freezer_prepare() < 0 ? -1 : gather(c);
}

static int freezer_round(const struct job_case *c, const char *mode, struct sample *s)
{
	(void)c;
	(void)mode;
	return freezer_timed(s, true) < 0 ? -1 : sleepers_check();
}

static const struct workload_param freezer_params[] = {
	{ "sleepers", "4000" },
	{ "mix", "desktop" },
	{ 0 },
};

static const struct workload freezer = {
	.feature = "lid",
	.name = "freezer",
	.text = "the same without devices: a crowd is frozen and thawed",
	.params = freezer_params,
	.switches = lid_switches,
	.setup = freezer_setup,
	.round = freezer_round,
	.teardown = sleepers_stop,
};

WORKLOAD(freezer);
