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
