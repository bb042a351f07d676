// SPDX-License-Identifier: GPL-2.0-only
/* Descriptions that the kernel does not take: what it says, and what it leaves. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "tree.h"
#include "util.h"
#include "workload.h"

#define FIRST "lull-tree 1\n"
#define GOOD FIRST "device a async\ndevice b parent=a supplier=a suspend=10\n"

static struct tree tree;

static const struct refusal {
	const char *text, *why;
} wrong[] = {
	{ "\n" FIRST "device a\n", "line 1: the first line is not: lull-tree 1" },
	{ "lull-tree 1\r\ndevice a\n", "line 1: the first line is not: lull-tree 1" },
	{ FIRST "device a async\r\n", "line 2: device a: an unknown word" },
	{ FIRST "device a async # why\n", "line 2: device a: an unknown word" },
	{ FIRST, "no device" },
	{ "device a\n", "line 1: the first line is not: lull-tree 1" },
	{ "lull-tree 2\ndevice a\n", "line 1: the first line is not: lull-tree 1" },
	{ FIRST "a\n", "line 2: a line begins with: device" },
	{ FIRST "device\n", "line 2: a device wants a name" },
	{ FIRST "device a\x07" "b\n", "line 2: a device wants a name" },
	{ FIRST "device \xc3\xa4\n", "line 2: a device wants a name" },
	{ FIRST "device a\ndevice a\n", "line 3: this name is on a line before" },
	{ FIRST "device a parent=b\n", "line 2: device a: its parent is on no line before" },
	{ FIRST "device a parent=a\n", "line 2: device a: its parent is on no line before" },
	/* A cycle needs a line that names a later one. */
	{ FIRST "device a supplier=b\ndevice b parent=a\n",
	  "line 2: device a: its supplier is on no line before" },
	{ FIRST "device a\ndevice b parent=a parent=a\n", "line 3: device b: a second parent" },
	{ FIRST "device a\ndevice b supplier=a supplier=a\n", "line 3: device b: a supplier twice" },
	{ FIRST "device a suspend=-1\n", "line 2: device a: suspend= wants 0 to" },
	{ FIRST "device a suspend=+1\n", "line 2: device a: suspend= wants 0 to" },
	{ FIRST "device a suspend=60000001\n", "line 2: device a: suspend= wants 0 to" },
	{ FIRST "device a suspend=99999999999999999999\n", "line 2: device a: suspend= wants" },
	{ FIRST "device a suspend=000000001\n", "line 2: device a: suspend= wants" },
	{ FIRST "device a suspend=busy:\n", "line 2: device a: suspend= wants 0 to" },
	{ FIRST "device a suspend=1 suspend=1\n", "line 2: device a: suspend= twice" },
	{ FIRST "device a sleep=1\n", "line 2: device a: an unknown key" },
	{ FIRST "device a fast\n", "line 2: device a: an unknown word" },
	{ FIRST "device a async async\n", "line 2: device a: async twice" },
	{ FIRST "device a fail=resume:5\n", "line 2: device a: fail= wants a phase of suspend" },
	{ FIRST "device a fail=suspend\n", "line 2: device a: fail= wants a phase of suspend" },
	{ FIRST "device a fail=suspend:0\n", "line 2: device a: fail= wants a phase of suspend" },
	{ FIRST "device a wakeup=resume\n", "line 2: device a: wakeup= wants a phase" },
};

static int refusals_setup(const struct job_case *c)
{
	(void)c;
	if (tree_supported() < 0)
		return -1;
	return tree_load(&tree, GOOD);
}

static bool is_refused(const char *text, const char *why)
{
	char said[200];
	int error = tree_try(text, said, sizeof(said));

	return error == EINVAL && strstr(said, why) && tree_count() == tree.n;
}

static bool many_are_refused(void)
{
	bool ok = false;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return false;
	fputs(FIRST, out);
	for (unsigned int i = 0; i < 100000; i++)
		fprintf(out, "device d%u\n", i);
	fclose(out);
	ok = is_refused(text, "line 10002: more than 10000 devices");
	free(text);
	return ok;
}

static int refusals_round(const struct job_case *c, const char *mode, struct sample *s)
{
	char text[400] = "all are refused, and nothing is made";
	bool ok = true;

	(void)mode;
	(void)s;
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong) && ok; i++) {
		ok = is_refused(wrong[i].text, wrong[i].why);
		if (!ok) {
			char said[200];
			int error = tree_try(wrong[i].text, said, sizeof(said));

			snprintf(text, sizeof(text), "not '%s', but errno %d, '%s', %u devices",
				 wrong[i].why, error, said, tree_count());
		}
	}
	if (ok && !many_are_refused()) {
		ok = false;
		snprintf(text, sizeof(text), "100,000 devices are taken");
	}
	return report_check(c, "refusals", ok, text);
}

static void refusals_teardown(void)
{
	tree_drop(&tree);
}

static const struct workload_param refusals_params[] = { { 0 } };

static const struct workload refusals = {
	.feature = "devices",
	.name = "refusals",
	.text = "descriptions that the kernel does not take",
	.params = refusals_params,
	.setup = refusals_setup,
	.round = refusals_round,
	.teardown = refusals_teardown,
};

WORKLOAD(refusals);
