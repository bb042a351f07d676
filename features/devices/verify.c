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

/*
 * A device stays as runtime PM has left it where all that depend on it do, too. One
 * without callbacks may always.
 */
static void find_direct(const struct tree *tree, bool *direct)
{
	for (unsigned int i = 0; i < tree->n; i++)
		direct[i] = tree->nodes[i].direct || !tree->nodes[i].calls;
	for (unsigned int i = tree->n; i-- > 0;) {
		const struct node *node = &tree->nodes[i];

		if (direct[i])
			continue;
		if (node->parent >= 0)
			direct[node->parent] = false;
		for (unsigned int k = 0; k < node->nsuppliers; k++)
			direct[node->suppliers[k]] = false;
	}
}

void verify_whole(const struct tree *tree, struct faults *f)
{
	bool *direct = calloc(tree->n + 1, sizeof(*direct));

	if (!direct) {
		f->missing++;
		return;
	}
	verify_torn(tree, f);
	find_direct(tree, direct);
	for (unsigned int i = 0; i < tree->n; i++) {
		const struct node *node = &tree->nodes[i];

		for (int k = 0; k < NR_PHASES; k++) {
			bool due = !direct[i] && node->calls & (1u << k);

			f->missing += due && !node->done[k].count;
			f->wrong += !due && node->done[k].count;
		}
	}
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
	f->missing += suspended && !came->count;
	f->wrong += !suspended && came->count;
}

void verify_aborted(const struct tree *tree, struct faults *f)
{
	verify_torn(tree, f);
	for (unsigned int i = 0; i < tree->n; i++)
		for (int down = SUSPEND; down <= SUSPEND_NOIRQ; down++)
			verify_pair(&tree->nodes[i], down, f);
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
	return !f->early && !f->twice && !f->missing && !f->wrong && !f->order;
}
