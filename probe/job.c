// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "util.h"
#include "workload.h"

struct parser {
	struct job *job;
	unsigned int line;
	bool versioned;
	struct job_case *open;	/* the case between `case` and `end` */
	char **words;
	unsigned int nwords;
};

#define BAD(p, ...) bad_line(p, __VA_ARGS__)

static int bad_line(const struct parser *p, const char *fmt, ...) PRINTF(2, 3);

static int bad_line(const struct parser *p, const char *fmt, ...)
{
	char what[400], where[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	snprintf(where, sizeof(where), "%s:%u", p->job->name, p->line);
	return fail(STATUS_USAGE, where, "line %u: %s", p->line, what);
}

static void *grow(void *array, unsigned int n, size_t size)
{
	array = realloc(array, (n + 1) * size);
	if (!array)
		abort();
	memset((char *)array + n * size, 0, size);
	return array;
}

static int copy_name(const struct parser *p, char *to, const char *word)
{
	if (strlen(word) >= JOB_NAME_MAX)
		return BAD(p, "'%.20s...' is longer than %d characters", word, JOB_NAME_MAX - 1);
	strcpy(to, word);
	return 0;
}

static int get_number(const struct parser *p, const char *word, uint64_t max, uint64_t *value)
{
	if (!parse_u64(word, value) || *value > max)
		return BAD(p, "'%s' is not a number from 0 to %llu", word,
			   (unsigned long long)max);
	return 0;
}

static int do_version(struct parser *p)
{
	if (p->versioned)
		return BAD(p, "a second 'lull-job'");
	if (strcmp(p->words[1], "1"))
		return BAD(p, "job version '%s' is not known, only 1 is", p->words[1]);
	p->versioned = true;
	return 0;
}

static int do_seed(struct parser *p)
{
	if (p->job->ncases)
		return BAD(p, "'seed' comes before the first case");
	return get_number(p, p->words[1], UINT64_MAX, &p->job->seed);
}

static int do_case(struct parser *p)
{
	struct job *job = p->job;
	struct job_case *c;
	uint64_t id;

	if (get_number(p, p->words[1], 1000000, &id) < 0)
		return -1;
	for (unsigned int i = 0; i < job->ncases; i++) {
		if (job->cases[i].id == id)
			return BAD(p, "case %s is there twice", p->words[1]);
	}
	if (!feature_known(p->words[2]))
		return BAD(p, "unknown feature '%s'", p->words[2]);

	job->cases = grow(job->cases, job->ncases, sizeof(*c));
	c = &job->cases[job->ncases++];
	c->id = (unsigned int)id;
	c->workload = workload_find(p->words[2], p->words[3]);
	if (!c->workload)
		return BAD(p, "feature '%s' has no workload '%s'", p->words[2], p->words[3]);
	p->open = c;
	return copy_name(p, c->feature, p->words[2]);
}

static int check_value(const struct parser *p, const struct workload_param *wp, const char *value)
{
	uint64_t number;

	/* A parameter whose default is a number takes numbers only. */
	if (!parse_u64(wp->value, &number) || parse_u64(value, &number))
		return 0;
	return BAD(p, "param '%s' takes a number, not '%s'", wp->name, value);
}

static int do_param(struct parser *p)
{
	struct job_case *c = p->open;
	const struct workload_param *wp;
	struct job_param *param;

	wp = workload_param(c->workload, p->words[1]);
	if (!wp)
		return BAD(p, "workload '%s' has no param '%s'", c->workload->name, p->words[1]);
	if (check_value(p, wp, p->words[2]) < 0)
		return -1;
	for (unsigned int i = 0; i < c->nparams; i++) {
		if (!strcmp(c->params[i].name, wp->name))
			return BAD(p, "param '%s' is there twice", wp->name);
	}
	if (strlen(p->words[2]) >= sizeof(param->value))
		return BAD(p, "the value of '%s' is too long", wp->name);

	c->params = grow(c->params, c->nparams, sizeof(*param));
	param = &c->params[c->nparams++];
	strcpy(param->value, p->words[2]);
	return copy_name(p, param->name, p->words[1]);
}

static int do_warmup(struct parser *p)
{
	uint64_t n;

	if (get_number(p, p->words[1], 1000000, &n) < 0)
		return -1;
	p->open->warmup = (unsigned int)n;
	return 0;
}

static int do_steps(struct parser *p)
{
	struct job_case *c = p->open;
	struct job_steps *steps;

	if (job_steps(c, p->words[1]))
		return BAD(p, "the steps of '%s' are there twice", p->words[1]);
	if (strlen(p->words[2]) >= sizeof(steps->list))
		return BAD(p, "the steps of '%s' are too long", p->words[1]);
	c->steps = grow(c->steps, c->nsteps, sizeof(*steps));
	steps = &c->steps[c->nsteps++];
	strcpy(steps->list, p->words[2]);
	return copy_name(p, steps->name, p->words[1]);
}

static int do_order(struct parser *p)
{
	struct job_case *c = p->open;

	if (c->norder)
		return BAD(p, "a second 'order' in one case");
	c->order_line = p->line;
	for (unsigned int i = 1; i < p->nwords; i++) {
		c->order = grow(c->order, c->norder, sizeof(*c->order));
		if (copy_name(p, c->order[c->norder++], p->words[i]) < 0)
			return -1;
	}
	return 0;
}

static int do_end(struct parser *p)
{
	if (!p->open->norder)
		return BAD(p, "case %u has no 'order'", p->open->id);
	p->open = NULL;
	return 0;
}

enum place { OUTSIDE, INSIDE };

static const struct statement {
	const char *word;
	enum place place;
	unsigned int min, max;	/* words after the first */
	int (*run)(struct parser *p);
} statements[] = {
	{ "lull-job", OUTSIDE, 1, 1, do_version },
	{ "seed", OUTSIDE, 1, 1, do_seed },
	{ "case", OUTSIDE, 3, 3, do_case },
	{ "param", INSIDE, 2, 2, do_param },
	{ "warmup", INSIDE, 1, 1, do_warmup },
	{ "steps", INSIDE, 2, 2, do_steps },
	{ "order", INSIDE, 1, UINT32_MAX, do_order },
	{ "end", INSIDE, 0, 0, do_end },
};

static int run_statement(struct parser *p, const struct statement *s)
{
	unsigned int n = p->nwords - 1;

	if (!p->versioned && s->run != do_version)
		return BAD(p, "the job has to start with 'lull-job 1'");
	if (s->place == INSIDE && !p->open)
		return BAD(p, "'%s' outside a case", s->word);
	if (s->place == OUTSIDE && p->open)
		return BAD(p, "'%s' inside case %u, which has no 'end'", s->word, p->open->id);
	if (n < s->min || n > s->max)
		return BAD(p, "'%s' takes %u word%s%s, not %u", s->word, s->min,
			   s->min == 1 ? "" : "s", s->max > s->min ? " or more" : "", n);
	return s->run(p);
}

static int split(struct parser *p, char *text)
{
	p->nwords = 0;
	while (text) {
		char *word = strsep(&text, " ");

		if (!*word)
			return BAD(p, "words are separated by single spaces");
		p->words = grow(p->words, p->nwords, sizeof(*p->words));
		p->words[p->nwords++] = word;
	}
	return 0;
}

static int parse_line(struct parser *p, char *text)
{
	size_t len;

	text[strcspn(text, "#\n")] = '\0';
	text += strspn(text, " \t");
	for (len = strlen(text); len && strchr(" \t\r", text[len - 1]); len--)
		text[len - 1] = '\0';
	if (!*text)
		return 0;
	if (split(p, text) < 0)
		return -1;

	for (size_t i = 0; i < ARRAY_SIZE(statements); i++) {
		if (!strcmp(p->words[0], statements[i].word))
			return run_statement(p, &statements[i]);
	}
	return BAD(p, "unknown statement '%s'", p->words[0]);
}

static int parse_all(struct parser *p, FILE *in)
{
	char *text = NULL;
	size_t size = 0;
	int ret = 0;

	while (!ret && getline(&text, &size, in) >= 0) {
		p->line++;
		ret = parse_line(p, text);
	}
	free(text);
	if (ret)
		return ret;

	if (!p->versioned)
		return BAD(p, "the job has to start with 'lull-job 1'");
	if (p->open)
		return BAD(p, "the job ends inside case %u, which has no 'end'", p->open->id);
	if (!p->job->ncases)
		return BAD(p, "the job has no case");
	return 0;
}

int job_read(struct job *job, const char *path)
{
	struct parser p = { .job = job };
	FILE *in;
	int ret;

	memset(job, 0, sizeof(*job));
	job->name = path;
	in = strcmp(path, "-") ? fopen(path, "re") : stdin;
	if (!in)
		return fail(STATUS_USAGE, path, "cannot read the job %s: %s", path,
			    strerror(errno));

	ret = parse_all(&p, in);
	free(p.words);
	if (in != stdin)
		fclose(in);
	return ret;
}

const char *job_param(const struct job_case *c, const char *name)
{
	const struct workload_param *wp;

	for (unsigned int i = 0; i < c->nparams; i++) {
		if (!strcmp(c->params[i].name, name))
			return c->params[i].value;
	}
	wp = workload_param(c->workload, name);
	if (!wp)
		abort();
	return wp->value;
}

uint64_t job_number(const struct job_case *c, const char *name)
{
	uint64_t value;

	if (!parse_u64(job_param(c, name), &value))
		abort();
	return value;
}

const char *job_steps(const struct job_case *c, const char *word)
{
	for (unsigned int i = 0; i < c->nsteps; i++) {
		if (!strcmp(c->steps[i].name, word))
			return c->steps[i].list;
	}
	return NULL;
}
