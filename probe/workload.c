// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

extern const struct applet *const __start_lull_applets[] __attribute__((weak));
extern const struct applet *const __stop_lull_applets[] __attribute__((weak));

const struct workload *workload_find(const char *feature, const char *name)
{
	for_each_workload(w) {
		if (!strcmp((*w)->feature, feature) && !strcmp((*w)->name, name))
			return *w;
	}
	return NULL;
}

const struct workload_param *workload_param(const struct workload *w, const char *name)
{
	for (const struct workload_param *p = w->params; p && p->name; p++) {
		if (!strcmp(p->name, name))
			return p;
	}
	return NULL;
}

bool feature_known(const char *feature)
{
	for_each_workload(w) {
		if (!strcmp((*w)->feature, feature))
			return true;
	}
	return false;
}

const struct applet *applet_find(int argc, char **argv)
{
	for (const struct applet *const *a = __start_lull_applets; a < __stop_lull_applets; a++) {
		if ((*a)->claims(argc, argv))
			return *a;
	}
	return NULL;
}

static void add(struct metric *list, unsigned int *n, unsigned int max, const char *name,
		double value)
{
	struct metric *m;

	for (m = list; m < list + *n; m++) {
		if (!strcmp(m->name, name))
			break;
	}
	if (m == list + *n) {
		if (*n == max)
			abort();
		(*n)++;
		memset(m, 0, sizeof(*m));
		snprintf(m->name, sizeof(m->name), "%s", name);
	}
	m->sum += value;
	m->n++;
}

void sample_add(struct sample *s, const char *name, double value)
{
	add(s->metrics, &s->nmetrics, SAMPLE_METRICS, name, value);
}

void sample_param(struct sample *s, const char *name, double value)
{
	add(s->params, &s->nparams, 4, name, value);
}
