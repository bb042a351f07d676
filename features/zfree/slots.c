// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "slots.h"
#include "util.h"

void slot_fill(struct slot_page *page, uint64_t seed, size_t distinct)
{
	uint64_t state = (seed + 1) * 0x9e3779b97f4a7c15ull;

	for (size_t i = 0; i < SLOT_WORDS; i++) {
		if (i < distinct)
			state = state * 6364136223846793005ull + 1442695040888963407ull;
		page->words[i] = state;
	}
}

int slots_open(const struct zram *zram)
{
	char path[ZRAM_PATH];
	int fd;

	zram_device(path, sizeof(path), zram);
	fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	return fd < 0 ? fail(STATUS_FAILED, path, "%s", strerror(errno)) : fd;
}

bool slot_write(int fd, const struct slot_page *page, unsigned int slot)
{
	return pwrite(fd, page, PAGE_BYTES, (off_t)slot * PAGE_BYTES) == PAGE_BYTES;
}

bool slot_read(int fd, struct slot_page *page, unsigned int slot)
{
	return pread(fd, page, PAGE_BYTES, (off_t)slot * PAGE_BYTES) == PAGE_BYTES;
}

int slots_limit(const struct zram *zram, uint64_t bytes)
{
	char limit[32];

	snprintf(limit, sizeof(limit), "%" PRIu64, bytes);
	return zram_set(zram, "mem_limit", limit);
}
