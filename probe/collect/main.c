// SPDX-License-Identifier: GPL-2.0-only
/*
 * lull-probe collect: what of this machine decides how it comes to rest and wakes
 * up, as plain files. Reads only, but for what --measure names. Each step has a
 * deadline, each read one of its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure.h"

#define DEADLINE_S 20

static const char usage_text[] =
	"usage: lull-probe collect [OPTION...] FOLDER\n"
	"       lull-probe collect [OPTION...] - > FILE.tar\n"
	"\n"
	"Writes down what of this machine decides how fast it suspends, resumes, moves\n"
	"processes between cgroups and frees swap, for lull doctor --from FOLDER.\n"
	"Changes nothing without --measure. Reads no command lines, environments or\n"
	"memory; the kernel's log is in it, and which files are open where a task is\n"
	"stuck. Without root it sees less, and says what. The folder has to be new or\n"
	"empty. What a measurement that was killed has left is put back.\n"
	"\n"
	"  --measure NAME measure that, too: sleep-hooks, attach, zfree, freezer, devices\n"
	"                 or suspend. Says what it does, and asks. May repeat\n"
	"  --times N      how often, each\n"
	"  --plan         only say what they do\n"
	"  --yes          do not ask\n"
	"  --deadline S   for each step; 20 without it\n"
	"  --root DIR     read DIR/proc, DIR/sys, DIR/boot: for tests\n"
	"  --help         this text\n"
	"\n"
	"Exit status: 0 done (the file manifest says what was not readable), 2 usage, or\n"
	"nobody to ask, or the answer was no, 125 anything else.\n";

static struct request asked;
static unsigned int chosen;
static bool yes, only_plan;

static void usage_error(void)
{
	fputs("Try 'lull-probe collect --help'.\n", stderr);
	exit(2);
}

static void choose(const char *name)
{
	const struct measure *m = measure_find(name);

	if (!m) {
		fprintf(stderr, "lull-probe: '%s' is nothing that it measures\n", name);
		usage_error();
	}
	for (unsigned int i = 0; i < chosen; i++) {
		if (asked.chosen[i] == m)
			return;
	}
	asked.chosen[chosen++] = m;
}

/* Returns where it is done, or may be. */
static void consent(void)
{
	struct buf plan = { 0 };
	int said;

	measure_plan(asked.chosen, asked.times, &plan);
	if (only_plan) {
		fputs(plan.text ? plan.text : "", stdout);
		exit(0);
	}
	if (yes || !measure_changes(asked.chosen))
		return;
	said = measure_consent(&plan);
	if (said < 0)
		fputs("lull-probe: there is no terminal to ask on\n"
		      "  try: --plan, which says what it does, and then --yes\n", stderr);
	if (said <= 0)
		exit(2);
	buf_free(&plan);
}

static long whole(const char *text, long most, const char *what)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*end || n < 1 || n > most) {
		fprintf(stderr, "lull-probe: '%s' is no %s\n", text, what);
		usage_error();
	}
	return n;
}

static const char *parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "deadline", required_argument, NULL, 'd' },
		{ "measure", required_argument, NULL, 'm' },
		{ "plan", no_argument, NULL, 'p' },
		{ "root", required_argument, NULL, 'r' },
		{ "times", required_argument, NULL, 't' },
		{ "yes", no_argument, NULL, 'y' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	long seconds = DEADLINE_S;
	int opt;

	while ((opt = getopt_long(argc, argv, "h", longs, NULL)) >= 0) {
		switch (opt) {
		case 'd':
			seconds = whole(optarg, 3600, "time in seconds");
			break;
		case 'm':
			choose(optarg);
			break;
		case 'p':
			only_plan = true;
			break;
		case 't':
			asked.times = (unsigned int)whole(optarg, 1000, "number of times");
			break;
		case 'y':
			yes = true;
			break;
		case 'r':
			ask_root = optarg;
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(0);
		default:
			usage_error();
		}
	}
	asked.deadline_ms = (unsigned int)seconds * 1000;
	/* The word says what the program is to do; this one can do nothing else. */
	if (optind < argc && !strcmp(argv[optind], "collect"))
		optind++;
	if (only_plan)
		return NULL;
	if (argc - optind != 1) {
		fputs("lull-probe: one folder, or - for a tar, has to be named\n", stderr);
		usage_error();
	}
	if (!strcmp(argv[optind], "-") && isatty(STDOUT_FILENO)) {
		fputs("lull-probe: a tar is nothing for a terminal\n", stderr);
		usage_error();
	}
	return argv[optind];
}

int main(int argc, char **argv)
{
	const char *place = parse(argc, argv);

	consent();
	signal(SIGPIPE, SIG_IGN);
	if (sink_open(place) < 0) {
		fprintf(stderr, "lull-probe: %s: %s\n", place, strerror(errno));
		return 2;
	}
	if (collect(&asked) < 0) {
		fprintf(stderr, "lull-probe: cannot write: %s\n", strerror(errno));
		return 125;
	}
	return 0;
}
