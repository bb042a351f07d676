// SPDX-License-Identifier: GPL-2.0-only
/* What a step is run by: its time, its questions, and the manifest of how it went. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"
#include "undo.h"

#define COLLECT_VERSION 1
/* No single read needs this long, but the journal. */
#define READ_MS 3000
/* Lines of the manifest a step and reason; the rest is counted. */
#define LINES 5
#define REASONS 8

static struct {
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

unsigned int step_ms(void)
{
	uint64_t at = now_ms();

	return at < now.end ? (unsigned int)(now.end - at) : 0;
}

void step_undone(const char *path, const char *value, int error)
{
	const char *name = error ? strerrorname_np(error) : "0";

	buf_str(&manifest, "undone\t");
	buf_field(&manifest, path, strlen(path));
	buf_str(&manifest, "\t");
	buf_field(&manifest, value, strlen(value));
	buf_fmt(&manifest, "\t%s\n", name ? name : "-");
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
	if (what != ASK_JOURNAL && what != ASK_SLEEPS && ms > READ_MS)
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

static int run(const struct step *step, unsigned int ms)
{
	uint64_t begin = now_ms();
	struct buf out = { 0 };
	int ret = 0;

	memset(now.seen, 0, sizeof(now.seen));
	now.late = false;
	now.gaps = false;
	now.name = step->name;
	now.end = begin + ms;
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

static int measure_all(const struct request *r)
{
	for (const struct measure *const *at = r->chosen; *at; at++) {
		const struct measure *m = *at;

		measure_times = r->times ? r->times : m->times;
		if (run(&m->step, m->seconds * 1000) < 0)
			return -1;
	}
	return 0;
}

static void take_back(void)
{
	int ret = undo_left(step_undone);
	const char *name = ret < 0 ? strerrorname_np(-ret) : "0";

	if (ret)
		buf_fmt(&manifest, "left-behind\t%s\n", name ? name : "-");
}

int collect(const struct request *r)
{
	struct utsname machine;

	uname(&machine);
	buf_fmt(&manifest, "lull-collect\t%d\n", COLLECT_VERSION);
	buf_fmt(&manifest, "kernel\t%s\t%s\n", machine.release, machine.machine);
	buf_fmt(&manifest, "uid\t%u\n", (unsigned int)geteuid());
	buf_fmt(&manifest, "time\t%lld\n", (long long)time(NULL));
	buf_fmt(&manifest, "self\t%d\n", (int)getpid());
	if (*ask_root)
		buf_fmt(&manifest, "root\t%s\n", ask_root);
	take_back();
	/* First: what follows is to see the machine as it is without them. */
	if (measure_all(r) < 0)
		return -1;
	for (size_t i = 0; steps[i].name; i++) {
		if (run(&steps[i], r->deadline_ms) < 0)
			return -1;
	}
	ask_end();
	buf_fmt(&manifest, "left\t%u\n", now.left);
	if (sink_file("manifest", &manifest) < 0)
		return -1;
	return sink_close();
}
