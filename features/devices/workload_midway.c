// SPDX-License-Identifier: GPL-2.0-only
/*
 * What seldom happens in the middle of a phase, made to happen in a callback: devices
 * are moved or go away (PM7), an error comes while a request is pending (PM4), the mode is
 * switched where links contradict the list (switching).
 */
#include <stdio.h>
#include <string.h>

#include "cycle.h"
#include "inject.h"
#include "job.h"
#include "lull.h"
#include "suspend.h"
#include "tree.h"
#include "util.h"
#include "verify.h"
#include "watchdog.h"
#include "workload.h"

/* Requests that were pending are served after the cycle. */
#define PATIENCE_MS 20000

/* Of a scene for which a worker has to be in time. */
#define TRIES 5

static struct tree tree;

/* Down, the walk begins with the last device; up, with the first. */
struct scene {
	const char *name, *text;
	const char *event, *then;
	/* Devices of which the request for a runtime resume has to be served, as bits. */
	unsigned int asking;
	int error;
	/* By device: callbacks that are called, as bits of their phases; others may not. */
	unsigned int called[7];
	/* The same, of those that stock calls or does not, as it comes. */
	unsigned int may_be[7];
	/* In that phase the first of these comes after the second, if they differ. */
	unsigned int after[2];
	enum phase in;
	/* Who is resumed if it was suspended, as bits. */
	unsigned int awake;
	/* Whose runtime PM is in the end as it was, as bits. */
	unsigned int enabled;
	/* Who is left as it is before the event, by a worker, as bits. */
	unsigned int left;
	/* A device, if any, and its parent in the end; and who has no supplier any more. */
	unsigned int moved, below, parted;
};

#define DOWN (1u << SUSPEND)
#define LATE (1u << SUSPEND_LATE)
#define NOIRQ (1u << SUSPEND_NOIRQ)
#define EARLY (1u << RESUME_EARLY)
#define UP (1u << RESUME)

static const struct scene scenes[] = {
	/*
	 * d0 waits for d1, which nobody has started; d2 takes it out of the list. Stock
	 * handles nobody who is not in the list, and does not wait for d1.
	 */
	{
		.name = "away",
		.text = "device d0 suspend=0 resume=0\n"
			"device d1 async parent=d0 suspend=0\n"
			"device d2 suspend=0 resume=0\n",
		.event = "d2 suspend move 1",
		.called = { DOWN | UP, 0, DOWN | UP },
	},
	/* On the way up stock has started d1 before d0 moves it. */
	{
		.name = "away-up",
		.text = "device d0 suspend=0 resume=0\n"
			"device d1 async suspend=0 resume=0\n"
			"device d2 parent=d1 suspend=0 resume=0\n",
		.event = "d0 resume move 1",
		.called = { DOWN | UP, DOWN | UP, DOWN | UP },
	},
	/* d1, for which d0 waits, is put among those that the walk has left behind. */
	{
		.name = "behind",
		.text = "device d0 suspend=0\n"
			"device d1 async supplier=d0 suspend=0\n"
			"device d2 suspend=0\n",
		.event = "d2 suspend adopt 1 2",
		.called = { DOWN, 0, DOWN },
		.may_be = { 0, DOWN, 0 },
	},
	/*
	 * The walk waits in d2 until d3 has moved d1 away, which d3 starts when it has ended,
	 * while d2 sleeps: nobody would wake d1 again.
	 */
	{
		.name = "start",
		.text = "device d0 suspend=0 resume=0\n"
			"device d1 async parent=d0 suspend=0 resume=0\n"
			"device d2 suspend=300000 resume=0\n"
			"device d3 async parent=d1 supplier=d2 suspend=0 resume=0\n",
		.event = "d3 suspend move 1",
		.called = { DOWN | UP, 0, DOWN | UP, DOWN | UP },
	},
	/*
	 * While d4 sleeps the walk comes to d2, and waits for d3, a worker, which waits for d4.
	 * Then d1 is a child of d3, too, and behind the walk; if it was slow, before it.
	 */
	{
		.name = "below",
		.text = "device d0 suspend=0\n"
			"device d1 suspend=0\n"
			"device d2 suspend=0\n"
			"device d3 async parent=d2 suspend=0\n"
			"device d4 async parent=d3 suspend=500000\n",
		.event = "d4 suspend adopt 1 3",
		.called = { DOWN, 0, DOWN, DOWN, DOWN },
		.may_be = { 0, DOWN, 0, 0, 0 },
	},
	/* All that d0 comes after is sync, until d1 is moved below it. */
	{
		.name = "alone",
		.text = "device d0 suspend=0\n"
			"device d1 async suspend=300000\n"
			"device d2 suspend=0\n",
		.event = "d2 suspend adopt 1 0",
		.called = { DOWN, DOWN, DOWN },
		.after = { 0, 1 },
	},
	/*
	 * d2 ends at once and starts d0, which waits for d1, to which the walk has not come:
	 * it is in d3, which moves d1 away.
	 */
	{
		.name = "child",
		.text = "device d0 async suspend=0 resume=0\n"
			"device d1 parent=d0 suspend=0 resume=0\n"
			"device d2 async parent=d0 suspend=0 resume=0\n"
			"device d3 suspend=300000 resume=0\n",
		.event = "d3 suspend move 1",
		.called = { DOWN | UP, 0, DOWN | UP, DOWN | UP },
	},
	/*
	 * While the walk is in d6 a third order fails: whoever has handled d4 has d3 to handle
	 * after d2, and has to tell d1 of that one first. The walk waits in d0 for d3, which d5
	 * moves away.
	 */
	{
		.name = "kept",
		.text = "device d0 suspend=0 resume=0\n"
			"device d1 async suspend=0 resume=0\n"
			"device d2 async parent=d1 suspend=600000 resume=0\n"
			"device d3 async parent=d0 suspend=0 resume=0\n"
			"device d4 async parent=d2 supplier=d3 suspend=0 resume=0\n"
			"device d5 async suspend=300000 resume=0\n"
			"device d6 suspend=50000 resume=0\n",
		.event = "d5 suspend move 3",
		.called = { DOWN | UP, DOWN | UP, DOWN | UP, DOWN, DOWN | UP, DOWN | UP,
			    DOWN | UP },
		.may_be = { 0, 0, 0, UP },
	},
	/*
	 * d4 ends at once and starts d2, which waits for d3, to which the walk has not come:
	 * it is in d5, which moves d3 to where the walk comes to it after d1, which waits for
	 * d2.
	 */
	{
		.name = "parted",
		.text = "device d0 suspend=0\n"
			"device d1 suspend=0\n"
			"device d2 async parent=d1 suspend=0\n"
			"device d3 parent=d2 suspend=0\n"
			"device d4 async parent=d2 suspend=0\n"
			"device d5 suspend=300000\n",
		.event = "d5 suspend adopt 3 0",
		.called = { DOWN, DOWN, DOWN, DOWN, DOWN, DOWN },
		.moved = 3,
	},
	/* The same where d2 waits for as many as were counted: d4 is a child of it since. */
	{
		.name = "joined",
		.text = "device d0 suspend=0\n"
			"device d1 suspend=0\n"
			"device d2 async parent=d1 suspend=0\n"
			"device d3 parent=d2 suspend=0\n"
			"device d4 async parent=d0 suspend=0\n"
			"device d5 suspend=300000\n",
		.event = "d4 suspend adopt 4 2",
		.then = "d5 suspend adopt 3 0",
		.called = { DOWN, DOWN, DOWN, DOWN, DOWN, DOWN },
		.moved = 3,
	},
	/* The same where d3 is a consumer of d2, and no longer. */
	{
		.name = "unlinked",
		.text = "device d0 suspend=0\n"
			"device d1 suspend=0\n"
			"device d2 async parent=d1 suspend=0\n"
			"device d3 supplier=d2 suspend=0\n"
			"device d4 async supplier=d2 suspend=0\n"
			"device d5 suspend=300000\n",
		.event = "d5 suspend part 2",
		.then = "d5 suspend adopt 3 0",
		.called = { DOWN, DOWN, DOWN, DOWN, DOWN, DOWN },
		.moved = 3,
		.parted = 1u << 3 | 1u << 4,
	},
	/*
	 * The walk has passed over d2, which waits for d3, when it comes to d1, which moves
	 * d2 away. Stock has started d2 by then, and d0 waits for it.
	 */
	{
		.name = "passed",
		.text = "device d0 suspend=0\n"
			"device d1 suspend=300000\n"
			"device d2 async parent=d0 suspend=0\n"
			"device d3 async parent=d2 suspend=600000\n",
		.event = "d1 suspend move 2",
		.called = { DOWN, DOWN, DOWN, DOWN },
		.after = { 0, 2 },
	},
	/*
	 * d3 counts d4, which is not its consumer any more when it has ended: nobody starts d3,
	 * over which the walk has passed when d2 moves it behind d0. Before the walk comes to it
	 * there, it waits for it in d1. Stock, which has handled d3 by then, does so again.
	 */
	{
		.name = "returned",
		.text = "device d0 suspend=0\n"
			"device d1 suspend=0\n"
			"device d2 suspend=300000\n"
			"device d3 async supplier=d1 suspend=0\n"
			"device d4 async supplier=d3 suspend=100000\n",
		.event = "d4 suspend part 3",
		.then = "d2 suspend adopt 3 0",
		.called = { DOWN, DOWN, DOWN, DOWN, DOWN },
		.moved = 3,
		.parted = 1u << 4,
	},
	/*
	 * d0 was left as it was, early, since nobody below it is called; then d1 is below it.
	 * It has to be left in later phases, too. Stock suspends d0 after d1.
	 */
	{
		.name = "left",
		.text = "device d0 async direct suspend=0 suspend_late=0 resume=0\n"
			"device d1 suspend=0 resume=0\n"
			"device d2 suspend=1000000 resume=0\n",
		.event = "d2 suspend adopt 1 0",
		.called = { 0, DOWN | UP, DOWN | UP },
		.left = 1,
	},
	/*
	 * d1 is moved away, and back below d0, and so handled after all: it has to be suspended,
	 * since d3 below it is.
	 */
	{
		.name = "again",
		.text = "device d0 suspend=0 resume=0\n"
			"device d1 direct suspend=0 resume=0\n"
			"device d2 suspend=300000 resume=0\n"
			"device d3 async parent=d1 suspend=100000 resume=0\n"
			"device d4 suspend=0 resume=0\n",
		.event = "d4 suspend move 1",
		.then = "d2 suspend adopt 1 0",
		.called = { DOWN | UP, DOWN | UP, DOWN | UP, DOWN | UP, DOWN | UP },
	},
	/* All that d0 comes after is sync, and d1 becomes its child without being moved. */
	{
		.name = "foster",
		.text = "device d0 suspend=0\n"
			"device d1 async suspend=300000\n"
			"device d2 suspend=0\n",
		.event = "d2 suspend foster 1 0",
		.called = { DOWN, DOWN, DOWN },
		.after = { 0, 1 },
	},
	/* The same on the way up: d2 has no parent, and then has d1. */
	{
		.name = "foster-up",
		.text = "device d0 suspend=0 resume=0\n"
			"device d1 async suspend=0 resume=300000\n"
			"device d2 suspend=0 resume=0\n",
		.event = "d0 resume foster 2 1",
		.called = { DOWN | UP, DOWN | UP, DOWN | UP },
		.after = { 2, 1 },
		.in = RESUME,
	},
	/* d2 gets no worker, and waits for d1, which d0 has moved away. */
	{
		.name = "above",
		.text = "device d0 suspend=0 resume=0\n"
			"device d1 async suspend=0 resume=0\n"
			"device d2 async parent=d1 suspend=0 resume=0\n",
		.event = "d0 resume move 1",
		.called = { DOWN | UP, DOWN | UP, DOWN | UP },
	},
	/*
	 * Before the walk waits in d2 it looks for d5, which is moved away, and would wait
	 * there for d4, which waits for d3, to which the walk comes after d2. Stock does not
	 * come to d5.
	 */
	{
		.name = "ahead",
		.text = "device d0 suspend=0 resume=0\n"
			"device d1 async suspend=0 resume=300000\n"
			"device d2 parent=d1 suspend=0 resume=0\n"
			"device d3 suspend=0 resume=0\n"
			"device d4 async parent=d3 suspend=0 resume=0\n"
			"device d5 parent=d4 suspend=0 resume=0\n",
		.event = "d0 resume move 5",
		.called = { DOWN | UP, DOWN | UP, DOWN | UP, DOWN | UP, DOWN | UP, DOWN },
		.may_be = { 0, 0, 0, 0, 0, UP },
	},
	/*
	 * The same, but d4 waits for d1, and gets another parent, which has ended and tells
	 * it nothing, while the walk may be waiting for it.
	 */
	{
		.name = "meanwhile",
		.text = "device d0 suspend=0 resume=0\n"
			"device d1 async suspend=0 resume=300000\n"
			"device d2 parent=d1 suspend=0 resume=0\n"
			"device d3 suspend=0 resume=0\n"
			"device d4 async parent=d1 suspend=0 resume=0\n"
			"device d5 parent=d4 suspend=0 resume=0\n",
		.event = "d0 resume move 5",
		.then = "d1 resume adopt 4 0",
		.called = { DOWN | UP, DOWN | UP, DOWN | UP, DOWN | UP, DOWN | UP, DOWN },
		.may_be = { 0, 0, 0, 0, 0, UP },
	},
	/* d0 is suspended before the walk comes to it, or not at all: d1 moves it away. */
	{
		.name = "early",
		.text = "device d0 async suspend=0 resume=0\n"
			"device d1 suspend=300000 resume=0\n",
		.event = "d1 suspend move 0",
		.called = { 0, DOWN | UP },
		.may_be = { DOWN | UP },
		.awake = 1,
	},
	/*
	 * d0 and d1 below it are suspended when d2 moves both away, in a later phase: d1 is
	 * not to be resumed above a d0 that is asleep. Stock leaves both.
	 */
	{
		.name = "asleep",
		.text = "device d0 suspend=0 resume=0\n"
			"device d1 async parent=d0 suspend=0 resume=0\n"
			"device d2 suspend=0 suspend_late=300000 resume=0\n",
		.event = "d2 suspend_late move 0",
		.then = "d2 suspend_late move 1",
		.called = { DOWN | UP, DOWN | UP, DOWN | LATE | UP },
		.after = { 1, 0 },
		.in = RESUME,
	},
	/*
	 * d0 is left as it is, but for runtime PM, which is disabled early in the phase in
	 * which d1 moves it away. Stock has not come to it by then.
	 */
	{
		.name = "disabled",
		.text = "device d0 async direct suspend=0 suspend_late=0 resume=0\n"
			"device d1 suspend=0 suspend_late=300000 resume=0\n",
		.event = "d1 suspend_late move 0",
		.called = { 0, DOWN | LATE | UP },
		.enabled = 1,
	},
	/*
	 * d1 moves d0 to where the next phase comes to it, and this one does not: nothing is
	 * disabled that the way up would enable. Stock enables it.
	 */
	{
		.name = "past",
		.text = "device d0 suspend=0 suspend_late=0 resume=0\n"
			"device d1 suspend=0 suspend_late=0 resume=0\n",
		.event = "d1 suspend_late adopt 0 1",
		.called = { DOWN | UP, DOWN | LATE | UP },
		.enabled = 1,
	},
	/* As "disabled" in the phase after that. Stock leaves it disabled. */
	{
		.name = "disabled-noirq",
		.text = "device d0 async direct suspend=0 suspend_late=0 resume=0\n"
			"device d1 suspend=0 suspend_noirq=300000 resume=0\n",
		.event = "d1 suspend_noirq move 0",
		.called = { 0, DOWN | NOIRQ | UP },
		.enabled = 1,
	},
	/*
	 * d1 and d2 are suspended when d0 adds a device and moves both below it. It is in no
	 * phase, and both wait for it on the way up. Stock leaves them asleep.
	 */
	{
		.name = "new",
		.text = "device d0 suspend=300000 resume=0\n"
			"device d1 async suspend=0 resume=0\n"
			"device d2 async suspend=0 resume=0\n",
		.event = "d0 suspend new 1 2",
		.called = { DOWN | UP, DOWN | UP, DOWN | UP },
	},
	/* The same where each waits in three phases. */
	{
		.name = "new-noirq",
		.text = "device d0 suspend=0 suspend_noirq=300000 resume=0\n"
			"device d1 async suspend=0 resume=0\n"
			"device d2 async suspend=0 resume=0\n",
		.event = "d0 suspend_noirq new 1 2",
		.called = { DOWN | NOIRQ | UP, DOWN | UP, DOWN | UP },
	},
	/* d2 moves d0 away, and then back to where the walk has yet to come. */
	{
		.name = "back",
		.text = "device d0 suspend=0 resume=0\n"
			"device d1 suspend=0 resume=0\n"
			"device d2 suspend=0 resume=0\n",
		.event = "d2 suspend move 0",
		.then = "d2 suspend adopt 0 1",
		.called = { DOWN | UP, DOWN | UP, DOWN | UP },
	},
	/* Who goes away in its own callback is at an end in the phase, and is not in others. */
	{
		.name = "leave",
		.text = "device d0 suspend=0 suspend_late=0\n"
			"device d1 suspend=0 suspend_late=0 suspend_noirq=0 resume=0\n",
		.event = "d1 suspend_late leave",
		.called = { DOWN | LATE, DOWN | LATE },
	},
	{
		.name = "leave-up",
		.text = "device d0 suspend=0 resume_early=0\n"
			"device d1 suspend=0 resume_early=0 resume=0\n",
		.event = "d1 resume_early leave",
		.called = { DOWN | EARLY, DOWN | EARLY },
	},
	/* The same in a worker. */
	{
		.name = "leave-async",
		.text = "device d0 suspend=0 suspend_late=0\n"
			"device d1 async suspend=0 suspend_late=0 suspend_noirq=0 resume=0\n",
		.event = "d1 suspend_late leave",
		.called = { DOWN | LATE, DOWN | LATE },
	},
	/* The walk waits at d1 for d0, a worker, which takes d1 away. */
	{
		.name = "orphan",
		.text = "device d0 async suspend=0 resume=300000\n"
			"device d1 parent=d0 suspend=0 resume=0\n",
		.event = "d0 resume remove",
		.called = { DOWN | UP, DOWN },
	},
	/* The walk has not come to d0, whose request is pending, when d1 fails. */
	{
		.name = "request",
		.text = "device d0 suspend=0 suspend_late=0\n"
			"device d1 suspend_late=0 fail=suspend_late:5\n",
		.event = "d0 suspend ask",
		.asking = 1,
		.error = 5,
		.called = { DOWN, LATE },
	},
	/*
	 * d0 is a consumer of d2 for sync_state() alone: who waits for it there waits for
	 * d1, to which the walk comes after d2. On the way up stock would wait for good,
	 * too, if d1 were resumed.
	 */
	{
		.name = "switch",
		.text = "device d0 async suspend=0 resume=0\n"
			"device d1 parent=d0\n"
			"device d2 suspend=0 resume=0\n"
			"device d3 parent=d0 supplier=d2 suspend=0 resume=0\n",
		.event = "d3 suspend mode 0",
		.called = { DOWN | UP, 0, DOWN | UP, DOWN | UP },
	},
};

static const struct scene *find_scene(const struct job_case *c)
{
	const char *name = job_param(c, "scene");

	for (unsigned int i = 0; i < ARRAY_SIZE(scenes); i++)
		if (!strcmp(scenes[i].name, name))
			return &scenes[i];
	fail(STATUS_USAGE, "scene", "there is no scene '%s'", name);
	return NULL;
}

static int load(const struct scene *scene)
{
	char text[600];

	snprintf(text, sizeof(text), "lull-tree 1\n%s", scene->text);
	return tree_load(&tree, text);
}

/*
 * What a cycle takes in which nothing happens, where one that hangs is to be told from
 * one that is slow; else 0.
 */
static int measure(const struct job_case *c, const struct scene *scene, uint64_t *ns)
{
	struct cycle cycle;

	*ns = 0;
	if (!job_number(c, "limit") || !strcmp(job_param(c, "disable"), INJECT_NONE))
		return 0;
	if (load(scene) < 0 || tree_clear() < 0 || lull_switch("devices", "lull") < 0 ||
	    cycle_run(&tree, &cycle) < 0)
		return -1;
	if (cycle.error)
		return fail(STATUS_UNMET, "midway", "the cycle to measure by failed: %s",
			    strerror(cycle.error));
	*ns = suspend_took();
	return 0;
}

static int midway_setup(const struct job_case *c)
{
	const struct scene *scene = find_scene(c);
	uint64_t ns;

	/* Before anything is missing. */
	if (!scene || cycle_prepare() < 0 || measure(c, scene, &ns) < 0 || inject_case(c) < 0 ||
	    watchdog_start((int)job_number(c, "limit")) < 0)
		return -1;
	return watchdog_outlast(WATCHDOG_CYCLES * ns);
}

static int make(const struct scene *scene)
{
	if (load(scene) < 0)
		return -1;
	for (unsigned int i = 0; i < tree.n; i++) {
		if (!(scene->asking & (1u << i)))
			continue;
		/* In use, it stays active once it is. */
		if (tree_mark(&tree, i, RUNTIME) < 0 || tree_mark(&tree, i, USED) < 0)
			return -1;
	}
	if (tree_clear() < 0 || tree_event(scene->event) < 0)
		return -1;
	return scene->then ? tree_event(scene->then) : 0;
}

/* How many have not been resumed as they asked, for as long as one waits for it. */
static unsigned int count_unserved(const struct scene *scene)
{
	unsigned int unserved = 0;

	for (unsigned int ms = 0; ms < PATIENCE_MS; ms += 10) {
		if (tree_state(&tree) < 0)
			return tree.n;
		unserved = 0;
		for (unsigned int i = 0; i < tree.n; i++)
			unserved += scene->asking & (1u << i) &&
				    tree.nodes[i].state.runtime_status != 0;
		if (!unserved)
			break;
		sleep_ms(10);
	}
	return unserved;
}

static bool comes_before(const struct call *call, const struct call *first)
{
	return call != first && call->begin < first->end;
}

/* The tree as it is in the end. */
static void move(const struct scene *scene)
{
	if (scene->moved)
		tree.nodes[scene->moved].parent = (int)scene->below;
	for (unsigned int i = 0; i < tree.n; i++)
		if (scene->parted & (1u << i))
			tree.nodes[i].nsuppliers = 0;
}

static void compare(const struct scene *scene, struct faults *f)
{
	for (unsigned int i = 0; i < tree.n; i++) {
		for (int k = 0; k < NR_PHASES; k++) {
			bool called = tree.nodes[i].done[k].count;
			bool due = scene->called[i] & (1u << k);

			f->missing += due && !called;
			f->wrong += !due && called && !(scene->may_be[i] & (1u << k));
		}
		f->missing += scene->awake & (1u << i) &&
			      tree.nodes[i].done[SUSPEND].count &&
			      !tree.nodes[i].done[RESUME].count;
		f->flags += scene->enabled & (1u << i) &&
			    verify_is_depth_wrong(&tree.nodes[i]);
	}
	f->early += comes_before(&tree.nodes[scene->after[0]].done[scene->in],
				 &tree.nodes[scene->after[1]].done[scene->in]);
}

/* Who was not left by then has somebody below it, and is suspended as on stock. */
static bool was_late(const struct scene *scene)
{
	for (unsigned int i = 0; i < tree.n; i++)
		if (scene->left & (1u << i) && tree.nodes[i].done[SUSPEND].count)
			return true;
	return false;
}

/* The scene, anew where a worker came too late for it. */
static int play(const struct scene *scene, struct cycle *cycle)
{
	for (int i = 0; i < TRIES; i++) {
		if (make(scene) < 0 || cycle_run(&tree, cycle) < 0 ||
		    watchdog_outlast(WATCHDOG_CYCLES * suspend_took()) < 0)
			return -1;
		if (!was_late(scene))
			return 0;
	}
	return fail(STATUS_UNMET, "midway", "%s: a worker came after the event", scene->name);
}

static int midway_round(const struct job_case *c, const char *mode, struct sample *s)
{
	const struct scene *scene = find_scene(c);
	struct faults f = { 0 };
	unsigned int unserved;
	struct cycle cycle;
	char text[200];

	(void)s;
	if (play(scene, &cycle) < 0)
		return -1;
	unserved = count_unserved(scene);
	move(scene);
	verify_torn(&tree, &f);
	compare(scene, &f);
	snprintf(text, sizeof(text),
		 "%s, %s: %u callbacks early, %u twice, %u missing, %u wrong, "
		 "%u with other runtime PM, %u requests lost, errno %d",
		 mode, scene->name, f.early, f.twice, f.missing, f.wrong, f.flags, unserved,
		 cycle.error);
	if (report_check(c, job_param(c, "name"),
			 verify_good(&f) && !unserved && cycle.error == scene->error, text) < 0)
		return -1;
	return lull_switch("devices", mode);
}

static void midway_teardown(void)
{
	watchdog_stop();
	tree_drop(&tree);
}

static const struct workload_param midway_params[] = {
	{ "scene", "away" },
	{ "name", "PM7" },
	{ "disable", "none" },
	{ "fail_nth", "0" },
	{ "proxies", "0" },
	/* Seconds for each mode, or more on a slow host, then a panic; 0: none. */
	{ "limit", "0" },
	{ 0 },
};

static const struct workload midway = {
	.feature = "devices",
	.name = "midway",
	.text = "what seldom happens in the middle of a phase",
	.params = midway_params,
	.setup = midway_setup,
	.round = midway_round,
	.teardown = midway_teardown,
};

WORKLOAD(midway);
