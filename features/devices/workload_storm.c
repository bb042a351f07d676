// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many random trees, suspended and resumed, with what can go wrong on the way: the
 * numbered statements PM1 to PM8 and PM11.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cycle.h"
#include "dag.h"
#include "inject.h"
#include "job.h"
#include "knob.h"
#include "lull.h"
#include "perturb.h"
#include "tree.h"
#include "util.h"
#include "verify.h"
#include "workload.h"

static struct tree tree;

/* What happens on the way: the parameter `event`. */
enum happening { NOTHING, ABORT, REMOVE, UNLINK, SWITCH };

static const char *const happenings[] = {
	[NOTHING] = "nothing", [ABORT] = "abort",   [REMOVE] = "remove",
	[UNLINK] = "unlink",   [SWITCH] = "switch",
};

static struct totals {
	struct faults faults;
	unsigned int cycles, aborted;
	enum happening happening;
	bool serial;
	int error;
} totals;

static int storm_setup(const struct job_case *c)
{
	if (cycle_prepare() < 0 || inject_case(c) < 0)
		return -1;
	totals.serial = !job_number(c, "pm_async");
	if (totals.serial && knob_write("/sys/power/pm_async", "0") < 0)
		return -1;
	for (unsigned int k = 0; k < ARRAY_SIZE(happenings); k++)
		if (!strcmp(job_param(c, "event"), happenings[k]))
			totals.happening = (enum happening)k;
	return 0;
}

/* A node with a callback in one of the phases from `first` on; false for none. */
static bool pick(enum phase first, unsigned int *i, enum phase *phase)
{
	for (unsigned int tries = 0; tries < 200; tries++) {
		*i = (unsigned int)perturb_below(tree.n);
		*phase = (enum phase)(first + perturb_below(3));
		if (tree.nodes[*i].calls & (1u << *phase))
			return true;
	}
	return false;
}

/* Where it is to happen, in the cycle under way. */
static struct place {
	bool set;
	unsigned int i;
	enum phase phase;
} place;

static int arrange(enum happening happening)
{
	unsigned int i, modes = 4;
	enum phase phase, first = RESUME_NOIRQ;
	char text[100];

	if (happening == ABORT || (happening == SWITCH && perturb_below(2)))
		first = SUSPEND;
	place.set = happening != NOTHING && pick(first, &i, &phase);
	if (!place.set)
		return 0;
	place.i = i;
	place.phase = phase;
	switch (happening) {
	case ABORT:
		snprintf(text, sizeof(text), "d%u %s %s", i, phase_names[phase],
			 perturb_below(2) ? "fail 5" : "wakeup");
		break;
	case SWITCH:
		snprintf(text, sizeof(text), "d%u %s mode %u", i, phase_names[phase],
			 (unsigned int)perturb_below(modes));
		break;
	default:
		snprintf(text, sizeof(text), "d%u %s %s", i, phase_names[phase],
			 happenings[happening]);
	}
	return tree_event(text);
}

/* The tree as it is from then on: nobody waits for what is not there. */
static void take_away(enum happening happening)
{
	if (!place.set || !tree.nodes[place.i].done[place.phase].count)
		return;
	if (happening == UNLINK)
		tree_unlink(&tree, place.i);
	else if (happening == REMOVE)
		tree_remove_below(&tree, place.i);
}

static int one_cycle(enum happening happening, const char *mode)
{
	struct cycle cycle;

	if (tree_clear() < 0 || arrange(happening) < 0 || cycle_run(&tree, &cycle) < 0)
		return -1;
	totals.cycles++;
	if (cycle.error)
		totals.aborted++;
	if (cycle.error && happening != ABORT)
		totals.error = cycle.error;
	take_away(happening);
	if (happening == REMOVE || happening == UNLINK)
		verify_torn(&tree, &totals.faults);
	else if (cycle.error)
		verify_aborted(&tree, &totals.faults);
	else
		verify_whole(&tree, &totals.faults);
	if (totals.serial)
		verify_serial(&tree, &totals.faults);
	return happening == SWITCH ? lull_switch("devices", mode) : 0;
}

static int one_tree(const struct job_case *c, const char *mode)
{
	char *text = dag_make((unsigned int)job_number(c, "devices"),
			      (unsigned int)job_number(c, "sync"));
	int ret;

	if (!text)
		return -1;
	ret = tree_load(&tree, text);
	free(text);
	if (!ret)
		ret = dag_mark(&tree, (unsigned int)job_number(c, "marks"));
	if (!ret)
		ret = one_cycle(totals.happening, mode);
	/* Whatever has happened, the next one is as good as any. */
	if (!ret && totals.happening != REMOVE && totals.happening != NOTHING)
		ret = one_cycle(NOTHING, mode);
	return ret;
}

static int storm_round(const struct job_case *c, const char *mode, struct sample *s)
{
	struct faults *f = &totals.faults;
	uint64_t trees = job_number(c, "trees"), i;
	char text[300];
	bool good;

	(void)s;
	*f = (struct faults){ 0 };
	totals.cycles = totals.aborted = 0;
	totals.error = 0;
	for (i = 0; i < trees; i++)
		if (check_interrupted() < 0 || one_tree(c, mode) < 0)
			return -1;
	good = verify_good(f) && !totals.error;
	if (good && totals.happening == ABORT && !totals.aborted)
		return fail(STATUS_UNMET, "storm", "no cycle was given up");
	snprintf(text, sizeof(text),
		 "%s: %u cycles of %" PRIu64 " trees, %u aborted; %u callbacks early, %u twice, "
		 "%u missing, %u wrong, %u out of order, %u badly left, errno %d; %" PRIu64
		 " not queued",
		 mode, totals.cycles, i, totals.aborted, f->early, f->twice, f->missing, f->wrong,
		 f->order, f->flags, totals.error, lull_stat("devices", "failed"));
	return report_check(c, job_param(c, "name"), good, text);
}

static void storm_teardown(void)
{
	tree_drop(&tree);
}

static const struct workload_param storm_params[] = {
	{ "trees", "20" },
	{ "devices", "40" },
	{ "sync", "30" },
	{ "event", "nothing" },
	{ "pm_async", "1" },
	{ "name", "PM1" },
	{ "disable", "none" },
	{ "fail_nth", "0" },
	{ "proxies", "0" },
	{ "marks", "0" }, /* of so many percent: see dag_mark() */
	{ 0 },
};

static const struct workload storm = {
	.feature = "devices",
	.name = "storm",
	.text = "random trees are suspended and resumed, and things go wrong",
	.params = storm_params,
	.setup = storm_setup,
	.round = storm_round,
	.teardown = storm_teardown,
};

WORKLOAD(storm);
