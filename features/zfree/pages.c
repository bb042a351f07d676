// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "pages.h"
#include "perturb.h"
#include "util.h"

#define WORDS (PAGE_BYTES / sizeof(uint64_t))
/* Words without a pattern: an eighth of the page, and up to half as much more. */
#define RANDOM_MIN 64
#define RANDOM_MORE 32
#define OUT_TRIES 20
#define SETTLE_MS 50

/* xorshift64: quick, and never 0 unless it starts there. */
static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t page_seed(const struct pages *pages, size_t page)
{
	return (pages->seed + page + 1) * 0x9e3779b97f4a7c15ull | 1;
}

/* The rest is one word over and over, another in each page. */
static void fill(uint64_t *words, uint64_t state)
{
	size_t random = RANDOM_MIN + next(&state) % RANDOM_MORE, i;

	for (i = 0; i < random; i++)
		words[i] = next(&state);
	for (uint64_t same = next(&state); i < WORDS; i++)
		words[i] = same;
}

void pages_fill(const struct pages *pages)
{
	for (size_t at = 0; at < pages->bytes; at += PAGE_BYTES)
		fill((uint64_t *)(pages->start + at), page_seed(pages, at / PAGE_BYTES));
}

int pages_make(struct pages *pages, size_t bytes, uint64_t seed)
{
	pages->bytes = bytes;
	pages->seed = seed;
	pages->start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	if (pages->start == MAP_FAILED) {
		pages->start = NULL;
		return fail(STATUS_FAILED, "mmap", "no memory: %s", strerror(errno));
	}
	pages_fill(pages);
	return 0;
}

uint64_t pages_swapped_kb(void)
{
	char text[4096];
	const char *line;
	unsigned long long kb;

	if (read_file("/proc/self/status", text, sizeof(text)) <= 0)
		return 0;
	line = strstr(text, "VmSwap:");
	return line && sscanf(line, "VmSwap: %llu", &kb) == 1 ? kb : 0;
}

/* On one CPU after the other. */
static void hop(const cpu_set_t *cpus, int n)
{
	cpu_set_t one;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, cpus) || n-- % CPU_COUNT(cpus))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

uint64_t pages_try_out(const struct pages *pages)
{
	uint64_t out = 0;
	cpu_set_t cpus;
	int tries = 0;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
		return 0;
	/*
	 * A page that is being written back cannot go a second time just then,
	 * and one that was made on another CPU may be in that CPU's batch of new
	 * pages, which madvise() takes on its own CPU only.
	 */
	for (; out < pages->bytes && tries < OUT_TRIES; tries++) {
		if (tries) {
			sleep_ms(10);
			hop(&cpus, tries - 1);
		}
		if (madvise(pages->start, pages->bytes, MADV_PAGEOUT) < 0)
			break;
		out = pages_swapped_kb() * 1024;
	}
	if (tries > 1)
		sched_setaffinity(0, sizeof(cpus), &cpus);
	return out;
}

int pages_out(const struct pages *pages)
{
	uint64_t out = pages_try_out(pages);

	if (out >= pages->bytes)
		return 0;
	fail(STATUS_UNMET, "MADV_PAGEOUT", "%llu of %llu KiB went out",
	     (unsigned long long)out / 1024, (unsigned long long)pages->bytes / 1024);
	return fail_hint("is the swap large enough, and memory for what it holds?");
}

uint64_t pages_wrong(const struct pages *pages)
{
	uint64_t want[WORDS], wrong = 0;

	for (size_t at = 0; at < pages->bytes; at += PAGE_BYTES) {
		fill(want, page_seed(pages, at / PAGE_BYTES));
		wrong += !!memcmp(want, pages->start + at, PAGE_BYTES);
	}
	return wrong;
}

void pages_touch(const struct pages *pages)
{
	for (size_t at = 0; at < pages->bytes; at += PAGE_BYTES)
		(void)*(volatile uint64_t *)(pages->start + at);
}

void pages_unmap(struct pages *pages)
{
	if (pages->start)
		munmap(pages->start, pages->bytes);
	pages->start = NULL;
}

void pages_settle(void)
{
	sleep_ms(SETTLE_MS);
	perturb_phase();
}
