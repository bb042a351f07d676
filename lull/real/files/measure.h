/* SPDX-License-Identifier: GPL-2.0-only */
/* What the programs of the scenarios have in common: a clock, and what is made of times. */
#ifndef LULL_MEASURE_H
#define LULL_MEASURE_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NSEC 1000000000ull

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NSEC + (uint64_t)t.tv_nsec;
}

__attribute__((format(printf, 1, 2), noreturn))
static inline void give_up(const char *format, ...)
{
	va_list words;

	va_start(words, format);
	vfprintf(stderr, format, words);
	va_end(words);
	fputc('\n', stderr);
	exit(1);
}

static inline uint64_t number(const char *text, const char *what)
{
	char *end;
	unsigned long long value = strtoull(text, &end, 10);

	if (!*text || *end)
		give_up("%s is not a number: %s", what, text);
	return value;
}

static inline int smaller(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The value that a share of all is not above; they are sorted in place. */
static inline uint64_t quantile(uint64_t *values, uint64_t count, unsigned int permille)
{
	uint64_t place;

	if (!count)
		return 0;
	qsort(values, count, sizeof(*values), smaller);
	place = (count * permille + 999) / 1000;
	return values[place ? place - 1 : 0];
}

#endif
