// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "verify.h"

void verify_torn(const struct tree *tree, struct faults *f)
{
	for (int k = 0; k < NR_PHASES; k++) {
		f->early += tree_early(tree, k);
		for (unsigned int i = 0; i < tree->n; i++)
			f->twice += tree->nodes[i].done[k].count > 1;
	}
}

typedef void (*superior_fn)(bool *flag);

static void set(bool *flag)
{
	*flag = true;
}

static void clear(bool *flag)
{
	*flag = false;
}

/* Links for sync_state() are none of the tree's, and hand nothing on. */
static void tell_superiors(const struct node *node, bool *flags, superior_fn fn)
{
	if (node->parent >= 0)
		fn(&flags[node->parent]);
	for (unsigned int k = 0; k < node->nsuppliers; k++)
		fn(&flags[node->suppliers[k]]);
}

/*
 * A device stays as runtime PM has left it where all that depend on it do, too. One
 * without callbacks may always.
 */
static void find_direct(const struct tree *tree, bool *direct)
{
	for (unsigned int i = 0; i < tree->n; i++)
		direct[i] = tree->nodes[i].direct || !tree->nodes[i].calls;
	for (unsigned int i = tree->n; i-- > 0;) {
		if (!direct[i])
			tell_superiors(&tree->nodes[i], direct, clear);
	}
}

/*
 * Resumed is who may not be skipped, who was in use, and whom any of those depends on
 * that are resumed.
 */
static void find_must_resume(const struct tree *tree, const bool *direct, bool *must)
{
	for (unsigned int i = 0; i < tree->n; i++) {
		const struct node *node = &tree->nodes[i];

		must[i] = !is_marked(node, SKIP) || is_marked(node, USED) ||
			  (is_marked(node, WOKEN) && node->calls & (1u << SUSPEND_NOIRQ));
	}
	for (unsigned int i = tree->n; i-- > 0;)
		if (!direct[i] && must[i])
			tell_superiors(&tree->nodes[i], must, set);
}

bool verify_is_depth_wrong(const struct node *node)
{
	return node->state.there &&
	       node->state.disable_depth != !is_marked(node, RUNTIME);
}

/* What is skipped on the way up is what the middle layers skip. */
static void verify_node(const struct node *node, bool direct, bool must, struct faults *f)
{
	const struct state *state = &node->state;

	for (int k = 0; k < NR_PHASES; k++) {
		bool skipped = !must && (k == RESUME_NOIRQ || k == RESUME_EARLY);
		bool due = !direct && !skipped && node->calls & (1u << k);

		f->missing += due && !node->done[k].count;
		f->wrong += !due && node->done[k].count;
	}
	/* Of a device that stayed asleep must_resume says nothing. */
	f->flags += !state->there || state->direct_complete != direct ||
		    (!direct && state->must_resume != must) || verify_is_depth_wrong(node);
}

void verify_whole(const struct tree *tree, struct faults *f)
{
	bool *direct = calloc(2 * (tree->n + 1), sizeof(*direct)), *must;

	if (!direct) {
		f->missing++;
		return;
	}
	must = direct + tree->n + 1;
	verify_torn(tree, f);
	find_direct(tree, direct);
	find_must_resume(tree, direct, must);
	for (unsigned int i = 0; i < tree->n; i++)
		verify_node(&tree->nodes[i], direct[i], must[i], f);
	free(direct);
}

/* The phases that undo each other are at both ends of the list of them. */
static void verify_pair(const struct node *node, enum phase down, struct faults *f)
{
	enum phase up = RESUME - down;
	const struct call *went = &node->done[down], *came = &node->done[up];
	bool suspended = went->count && !went->ret;

	if (!(node->calls & (1u << down)) || !(node->calls & (1u << up)))
		return;
	/* Whether that is skipped hangs on how far those below it have come. */
	if (!is_marked(node, SKIP) || down == SUSPEND)
		f->missing += suspended && !came->count;
	f->wrong += !suspended && came->count;
}

void verify_aborted(const struct tree *tree, struct faults *f)
{
	verify_torn(tree, f);
	for (unsigned int i = 0; i < tree->n; i++) {
		for (int down = SUSPEND; down <= SUSPEND_NOIRQ; down++)
			verify_pair(&tree->nodes[i], down, f);
		f->flags += verify_is_depth_wrong(&tree->nodes[i]);
	}
}

void verify_serial(const struct tree *tree, struct faults *f)
{
	for (int k = 0; k < NR_PHASES; k++) {
		uint64_t end = 0;

		for (unsigned int step = 0; step < tree->n; step++) {
			unsigned int i = phase_is_down(k) ? tree->n - 1 - step : step;
			const struct call *call = &tree->nodes[i].done[k];

			if (!call->count)
				continue;
			f->order += call->begin < end;
			end = call->end;
		}
	}
}

bool verify_good(const struct faults *f)
{
	return !f->early && !f->twice && !f->missing && !f->wrong && !f->order && !f->flags;
}
