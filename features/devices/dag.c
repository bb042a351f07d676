// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <stdio.h>

#include "dag.h"
#include "description.h"
#include "perturb.h"
#include "tree.h"

#define CALLBACK_US 3000

static bool percent(unsigned int n)
{
	return perturb_below(100) < n;
}

/* Half of them are near the one that comes, so that there are long chains. */
static unsigned int above(unsigned int i)
{
	unsigned int near = i < 4 ? i : 4;

	if (percent(50))
		return i - 1 - (unsigned int)perturb_below(near);
	return (unsigned int)perturb_below(i);
}

static void one_device(FILE *out, unsigned int i, unsigned int sync_percent)
{
	unsigned int parent = i ? above(i) : 0, one = i ? above(i) : 0, two = i ? above(i) : 0;

	fprintf(out, "device d%u", i);
	if (!percent(sync_percent))
		fputs(" async", out);
	if (percent(10))
		fputs(" direct", out);
	if (i && percent(85))
		fprintf(out, " parent=d%u", parent);
	if (i && percent(40) && one != parent)
		fprintf(out, " supplier=d%u", one);
	if (i && percent(20) && two != parent && two != one)
		fprintf(out, " supplier=d%u", two);
	for (int k = 0; k < NR_PHASES; k++) {
		if (!percent(k == SUSPEND || k == RESUME ? 85 : 50))
			continue;
		fprintf(out, " %s=%s%u", phase_names[k], percent(20) ? "busy:" : "",
			percent(40) ? 0 : (unsigned int)perturb_below(CALLBACK_US));
	}
	fputc('\n', out);
}

char *dag_make(unsigned int n, unsigned int sync_percent)
{
	struct description d;

	if (description_open(&d) < 0)
		return NULL;
	for (unsigned int i = 0; i < n; i++)
		one_device(d.out, i, sync_percent);
	return description_close(&d);
}

/* Few of them: who must resume has all superiors resume, too. */
static int mark_one(struct tree *tree, unsigned int i)
{
	if (tree_mark(tree, i, SKIP) < 0)
		return -1;
	if (percent(5) && tree_mark(tree, i, WOKEN) < 0)
		return -1;
	return percent(5) ? tree_mark(tree, i, USED) : 0;
}

int dag_mark(struct tree *tree, unsigned int percent_of_it)
{
	for (unsigned int i = 0; percent_of_it && i < tree->n; i++) {
		if (percent(percent_of_it) && mark_one(tree, i) < 0)
			return -1;
		/* Without callbacks it would be resumed at run time after the cycle. */
		if (tree->nodes[i].calls && percent(percent_of_it) &&
		    tree_mark(tree, i, RUNTIME) < 0)
			return -1;
	}
	return 0;
}
