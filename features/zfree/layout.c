// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "layout.h"
#include "perturb.h"
#include "util.h"

#define TABLE_PAGES 512		/* of a page table; munmap() looks at one at a time */
#define SHIFT_PAGES 100
#define LOGS 10			/* of 1 to TABLE_PAGES */
/* Of an entry of /proc/self/pagemap: see Documentation/admin-guide/mm/pagemap.rst. */
#define PM_SWAPPED (1ull << 62)
#define PM_SLOT ((1ull << 55) - 1)
#define PM_SLOT_NEXT (1ull << 5)

/*
 * Runs of anonymous pages that were touched one after the other, by their length: how
 * many of 2^N to 2^(N+1) pages. As cc1 of GCC 12.2 has them, when it compiles
 * tools/lib/bpf/libbpf.c of Linux 6.12 with -O2: 19,550 pages in 3,378 runs, from
 * perf record -e page-faults:u -c 1 -d, without huge pages. Memory is reclaimed in
 * about the order in which it was touched, and slots are given in that of reclaim.
 */
static const unsigned int mix_runs[] = { 2191, 391, 310, 236, 146, 61, 26, 9, 8 };

struct run {
	size_t page, pages;
};

static size_t one_page(void)
{
	return 1;
}

static size_t mix_run(void)
{
	uint64_t at, sum = 0;
	unsigned int log = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(mix_runs); i++)
		sum += mix_runs[i];
	for (at = perturb_below(sum); at >= mix_runs[log]; log++)
		at -= mix_runs[log];
	return ((size_t)1 << log) + perturb_below((uint64_t)1 << log);
}

static void run_out(const struct pages *pages, size_t page, size_t n)
{
	/* What stays has its last chance in pages_out(). */
	madvise(pages->start + page * PAGE_BYTES, n * PAGE_BYTES, MADV_PAGEOUT);
}

/* In runs of such lengths, in an order of chance. */
static int runs_out(const struct pages *pages, size_t (*length)(void))
{
	size_t count = pages->bytes / PAGE_BYTES, n = 0, page = 0;
	struct run *runs = calloc(count, sizeof(*runs));

	if (!runs)
		return fail(STATUS_FAILED, "calloc", "no memory");
	for (; page < count; page += runs[n++].pages) {
		size_t pages_of_run = length();

		if (pages_of_run > count - page)
			pages_of_run = count - page;
		runs[n] = (struct run){ page, pages_of_run };
	}
	for (; n; n--) {
		size_t at = perturb_below(n);
		struct run run = runs[at];

		runs[at] = runs[n - 1];
		run_out(pages, run.page, run.pages);
	}
	free(runs);
	return 0;
}

static int rows(const struct pages *pages)
{
	(void)pages;
	return 0;
}

static int shifted(const struct pages *pages)
{
	run_out(pages, SHIFT_PAGES, pages->bytes / PAGE_BYTES - SHIFT_PAGES);
	return 0;
}

static int mix(const struct pages *pages)
{
	return runs_out(pages, mix_run);
}

static int shuffled(const struct pages *pages)
{
	return runs_out(pages, one_page);
}

static const struct layout {
	const char *name;
	int (*out)(const struct pages *pages);
} layouts[] = {
	{ "rows", rows },
	{ "shifted", shifted },
	{ "mix", mix },
	{ "shuffled", shuffled },
};

int layout_try_out(const struct pages *pages, const char *slots)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(layouts); i++) {
		if (strcmp(layouts[i].name, slots))
			continue;
		return layouts[i].out(pages);
	}
	return fail(STATUS_USAGE, "slots", "'%s' is no way they can lie", slots);
}

int layout_begin(struct zram *zram, const char *slots, size_t bytes)
{
	/* Else runs cross from cluster to cluster as those before them left it. */
	return strcmp(slots, "shifted") ? 0 : zram_in_order(zram, bytes >> 20);
}

int layout_out(const struct pages *pages, const char *slots)
{
	return layout_try_out(pages, slots) < 0 ? -1 : pages_out(pages);
}

struct covers {
	unsigned int logs[LOGS];
	size_t frees, slots;
};

static void count_free(struct covers *covers, size_t slots)
{
	if (!slots)
		return;
	covers->logs[63 - __builtin_clzll(slots)]++;
	covers->slots += slots;
	covers->frees++;
}

/* As the kernel's swap_pte_batch() finds them, of one page table. */
static void count_table(struct covers *covers, const uint64_t *entries, size_t n)
{
	size_t run = 0;

	for (size_t i = 0; i < n; i++) {
		bool swapped = entries[i] & PM_SWAPPED;
		bool next = run && (entries[i] & PM_SLOT) ==
					   (entries[i - 1] & PM_SLOT) + PM_SLOT_NEXT;

		if (swapped && next) {
			run++;
			continue;
		}
		count_free(covers, run);
		run = swapped;
	}
	count_free(covers, run);
}

static bool read_entries(int fd, size_t page, uint64_t *entries, size_t n)
{
	size_t bytes = n * sizeof(*entries);

	return pread(fd, entries, bytes, (off_t)(page * sizeof(*entries))) == (ssize_t)bytes;
}

long layout_in_order(const struct pages *pages)
{
	size_t page = (uintptr_t)pages->start / PAGE_BYTES, n = pages->bytes / PAGE_BYTES, i;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry, first = 0;

	for (i = 0; fd >= 0 && i < n; i++) {
		if (!read_entries(fd, page + i, &entry, 1) || !(entry & PM_SWAPPED))
			break;
		if (!i)
			first = entry & PM_SLOT;
		if ((entry & PM_SLOT) != first + i * PM_SLOT_NEXT)
			break;
	}
	if (fd >= 0)
		close(fd);
	return i && i == n ? (long)(first / PM_SLOT_NEXT) : -1;
}

int layout_measure(const struct pages *pages, struct sample *s)
{
	size_t page = (uintptr_t)pages->start / PAGE_BYTES;
	size_t end = page + pages->bytes / PAGE_BYTES;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	struct covers covers = { 0 };
	uint64_t entries[TABLE_PAGES];
	char name[16];

	while (fd >= 0 && page < end) {
		size_t n = TABLE_PAGES - page % TABLE_PAGES;

		n = n < end - page ? n : end - page;
		if (!read_entries(fd, page, entries, n))
			break;
		count_table(&covers, entries, n);
		page += n;
	}
	if (fd >= 0)
		close(fd);
	if (page < end || !covers.frees)
		return fail(STATUS_LACKING, "/proc/self/pagemap", "does not say where pages are: %s",
			    strerror(errno));
	for (unsigned int log = 0; log < LOGS; log++) {
		snprintf(name, sizeof(name), "free_h%u", log);
		sample_add(s, name, covers.logs[log]);
	}
	sample_add(s, "covers", (double)covers.slots / (double)covers.frees);
	return 0;
}
