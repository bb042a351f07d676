// SPDX-License-Identifier: GPL-2.0-only
/*
 * lull-probe collect: what of this machine decides how it comes to rest and wakes
 * up, as plain files. Reads only. Each step has a deadline, each read one of its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "step.h"

#define COLLECT_VERSION 1
#define DEADLINE_S 20
/* No single read needs this long, but the journal. */
#define READ_MS 3000
/* Lines of the manifest a step and reason; the rest is counted. */
#define LINES 5
#define REASONS 8

static const char usage_text[] =
	"usage: lull-probe collect [OPTION...] FOLDER\n"
	"       lull-probe collect [OPTION...] - > FILE.tar\n"
	"\n"
	"Writes down what of this machine decides how fast it suspends, resumes, moves\n"
	"processes between cgroups and frees swap, for lull doctor --from FOLDER.\n"
	"Changes nothing. Reads no command lines, environments or memory; the kernel's\n"
	"log is in it, and which files are open where a task is stuck. Without root it\n"
	"sees less, and says what. The folder has to be new or empty.\n"
	"\n"
	"  --deadline S   for each step; 20 without it\n"
	"  --root DIR     read DIR/proc, DIR/sys, DIR/boot: for tests\n"
	"  --help         this text\n"
	"\n"
	"Exit status: 0 done (the file manifest says what was not readable), 2 usage,\n"
	"125 anything else.\n";

static struct {
	unsigned int deadline_ms;
	uint64_t end;
	bool late;
	bool gaps;
	struct {
		int error;
		unsigned int n;
	} seen[REASONS];
	unsigned int left;	/* children that could not be killed */
	const char *name;
} now;

static struct buf manifest;
static struct utsname machine;

bool step_is_real(void)
{
	return !*ask_root;
}

bool step_late(void)
{
	if (now_ms() >= now.end)
		now.late = true;
	return now.late;
}

void step_note(const char *kind, const char *path, int error)
{
	const char *name = strerrorname_np(error);
	unsigned int i;

	now.gaps = true;
	for (i = 0; i < REASONS - 1 && now.seen[i].error && now.seen[i].error != error;)
		i++;
	now.seen[i].error = error;
	if (now.seen[i].n++ >= LINES)
		return;
	buf_fmt(&manifest, "%s\t%s\t", kind, now.name);
	buf_field(&manifest, path, strlen(path));
	buf_fmt(&manifest, "\t%s\t%s\n", name ? name : "-", strerror(error));
}

static int put_question(enum ask what, const char *path, struct answer *a, bool maybe)
{
	uint64_t at = now_ms();
	unsigned int ms;
	int ret;

	if (step_late())
		return -ETIME;
	ms = (unsigned int)(now.end - at);
	if (what != ASK_JOURNAL && ms > READ_MS)
		ms = READ_MS;
	ret = ask(what, path, ms, a);
	if (ret == -ETIMEDOUT) {
		now.gaps = true;
		buf_fmt(&manifest, "hung\t%s\t", now.name);
		buf_field(&manifest, path, strlen(path));
		buf_fmt(&manifest, "\t%u ms\t%d\n", ms, (int)a->left);
		now.left += a->left != 0;
	} else if (ret == -EFBIG) {
		step_note("cut", path, EFBIG);
		ret = 0;
	} else if (ret && !(maybe && (ret == -ENOENT || ret == -ESRCH || ret == -EINVAL))) {
		step_note("no", path, -ret);
	}
	return ret;
}

int step_ask(enum ask what, const char *path, struct answer *a)
{
	return put_question(what, path, a, false);
}

int step_ask_maybe(enum ask what, const char *path, struct answer *a)
{
	return put_question(what, path, a, true);
}

static void put_file(struct buf *out, const char *path, const struct answer *a)
{
	buf_fmt(out, "== %s\n", path);
	buf_add(out, a->text, a->len);
	if (!a->len || a->text[a->len - 1] != '\n')
		buf_str(out, "\n");
}

void step_file(struct buf *out, const char *path)
{
	struct answer a;

	if (!step_ask(ASK_READ, path, &a))
		put_file(out, path, &a);
}

char *next_line(char **rest)
{
	char *line = *rest, *end;

	if (!line || !*line)
		return NULL;
	end = strchrnul(line, '\n');
	*rest = *end ? end + 1 : end;
	*end = '\0';
	return line;
}

static void each(struct buf *out, const char *folder, const char *start, const char *name)
{
	char path[4096], *copy, *rest, *line;
	struct answer a;

	if (step_ask(ASK_LIST, folder, &a))
		return;
	copy = rest = strdup(a.text);
	while (copy && (line = next_line(&rest)) != NULL) {
		if (strncmp(line + 2, start, strlen(start)) || (!name && line[0] == 'd'))
			continue;
		snprintf(path, sizeof(path), "%s/%s%s%s", folder, line + 2, name ? "/" : "",
			 name ? name : "");
		if (!step_ask_maybe(ASK_READ, path, &a))
			put_file(out, path, &a);
	}
	free(copy);
}

void step_folder(struct buf *out, const char *folder)
{
	each(out, folder, "", NULL);
}

void step_each(struct buf *out, const char *folder, const char *start, const char *name)
{
	each(out, folder, start, name);
}

static const char *outcome(const struct buf *out)
{
	if (now.late)
		return "late";
	if (!now.gaps)
		return "ok";
	return out->len ? "part" : "none";
}

static int run(const struct step *step)
{
	uint64_t begin = now_ms();
	struct buf out = { 0 };
	int ret = 0;

	memset(now.seen, 0, sizeof(now.seen));
	now.late = false;
	now.gaps = false;
	now.name = step->name;
	now.end = begin + now.deadline_ms;
	step->run(&out);
	for (unsigned int i = 0; i < REASONS; i++) {
		const char *name = strerrorname_np(now.seen[i].error);

		if (now.seen[i].n > LINES)
			buf_fmt(&manifest, "more\t%s\t%u\t%s\n", step->name,
				now.seen[i].n - LINES, name ? name : "-");
	}
	buf_fmt(&manifest, "step\t%s\t%s\t%llu ms\t%zu bytes\n", step->name, outcome(&out),
		(unsigned long long)(now_ms() - begin), out.len);
	if (out.len)
		ret = sink_file(step->name, &out);
	buf_free(&out);
	return ret;
}

static int collect(void)
{
	buf_fmt(&manifest, "lull-collect\t%d\n", COLLECT_VERSION);
	buf_fmt(&manifest, "kernel\t%s\t%s\n", machine.release, machine.machine);
	buf_fmt(&manifest, "uid\t%u\n", (unsigned int)geteuid());
	buf_fmt(&manifest, "time\t%lld\n", (long long)time(NULL));
	buf_fmt(&manifest, "self\t%d\n", (int)getpid());
	if (*ask_root)
		buf_fmt(&manifest, "root\t%s\n", ask_root);
	for (size_t i = 0; steps[i].name; i++) {
		if (run(&steps[i]) < 0)
			return -1;
	}
	ask_end();
	buf_fmt(&manifest, "left\t%u\n", now.left);
	if (sink_file("manifest", &manifest) < 0)
		return -1;
	return sink_close();
}

static void usage_error(void)
{
	fputs("Try 'lull-probe collect --help'.\n", stderr);
	exit(2);
}

static const char *parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "deadline", required_argument, NULL, 'd' },
		{ "root", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	long seconds = DEADLINE_S;
	char *end;
	int opt;

	while ((opt = getopt_long(argc, argv, "h", longs, NULL)) >= 0) {
		switch (opt) {
		case 'd':
			seconds = strtol(optarg, &end, 10);
			if (*end || seconds < 1 || seconds > 3600) {
				fprintf(stderr, "lull-probe: '%s' is no time in seconds\n",
					optarg);
				usage_error();
			}
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
	now.deadline_ms = (unsigned int)seconds * 1000;
	/* The word says what the program is to do; this one can do nothing else. */
	if (optind < argc && !strcmp(argv[optind], "collect"))
		optind++;
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

	signal(SIGPIPE, SIG_IGN);
	uname(&machine);
	if (sink_open(place) < 0) {
		fprintf(stderr, "lull-probe: %s: %s\n", place, strerror(errno));
		return 2;
	}
	if (collect() < 0) {
		fprintf(stderr, "lull-probe: cannot write: %s\n", strerror(errno));
		return 125;
	}
	return 0;
}
