// SPDX-License-Identifier: GPL-2.0-only
/*
 * The step zfree: memory of its own is swapped out to zram and unmapped,
 * "munmap N ns N KiB" each. It needs no cgroup with a limit: it names its own pages.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"

#define SIZE (64u << 20)
#define PAGE 4096u
/* The machine has to have so many times as much free. */
#define SPARE 4
#define TRIES 20

static unsigned long swapped_kb(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long kb = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "VmSwap: %lu kB", &kb) == 1)
			break;
	}
	if (file)
		fclose(file);
	return kb;
}

/* Half of each page is noise, so that it compresses to about half. */
static void fill(unsigned char *memory)
{
	uint64_t x = 88172645463325252ull;

	for (size_t page = 0; page < SIZE; page += PAGE) {
		for (size_t i = 0; i < PAGE / 2; i += sizeof(x)) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			memcpy(memory + page + i, &x, sizeof(x));
		}
	}
}

static int once(int fd)
{
	unsigned char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct timespec begin, end;
	unsigned long kb = 0;
	long long ns;

	if (memory == MAP_FAILED)
		return errno;
	madvise(memory, SIZE, MADV_NOHUGEPAGE);
	fill(memory);
	for (int i = 0; i < TRIES && kb < (SIZE >> 10) / 10 * 9; i++) {
		if (madvise(memory, SIZE, MADV_PAGEOUT) < 0)
			return errno;
		kb = swapped_kb();
	}
	clock_gettime(CLOCK_MONOTONIC, &begin);
	munmap(memory, SIZE);
	clock_gettime(CLOCK_MONOTONIC, &end);
	ns = (end.tv_sec - begin.tv_sec) * 1000000000ll + end.tv_nsec - begin.tv_nsec;
	dprintf(fd, "munmap\t%lld ns\t%lu KiB\n", ns, kb);
	return 0;
}

static void unmaps(int fd)
{
	for (unsigned int i = 0; i < measure_times; i++) {
		int error = once(fd);

		if (error) {
			dprintf(fd, "lacks\tpageout\t%s\n", strerrorname_np(error));
			return;
		}
	}
}

/* Whether all swap is zram: else it would be a disk that is written to. */
static bool all_zram(void)
{
	char *copy, *rest, *line;
	struct answer a;
	bool any = false, other = false;

	if (step_ask(ASK_READ, "/proc/swaps", &a))
		return false;
	copy = rest = strdup(a.text);
	for (int i = 0; copy && (line = next_line(&rest)) != NULL; i++) {
		if (!i)
			continue;
		if (strncmp(line, "/dev/zram", 9))
			other = true;
		any = true;
	}
	free(copy);
	return any && !other;
}

static unsigned long meminfo_kb(const char *name)
{
	const char *at;
	struct answer a;

	if (step_ask(ASK_READ, "/proc/meminfo", &a))
		return 0;
	at = strstr(a.text, name);
	return at ? strtoul(at + strlen(name), NULL, 10) : 0;
}

void zfree_run(struct buf *out)
{
	if (!all_zram()) {
		measure_lacks(out, "zram", ENOENT);
		return;
	}
	if (meminfo_kb("MemAvailable:") < (SIZE >> 10) * SPARE ||
	    meminfo_kb("SwapFree:") < (SIZE >> 10) * 2) {
		measure_lacks(out, "memory", ENOMEM);
		return;
	}
	measure_child(out, unmaps);
}
