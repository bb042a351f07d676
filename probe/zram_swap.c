// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/swap.h>
#include <unistd.h>

#include "util.h"
#include "zram_swap.h"

#define ZRAM_WAIT_MS 20000
#define ZRAM_PAGE 4096

/* The first page of a swap area, as far as swapon() looks at it. */
struct zram_swap_header {
	uint8_t boot[1024];
	uint32_t version, last_page, nr_badpages;
	uint8_t rest[ZRAM_PAGE - 1024 - 3 * 4 - 10];
	char magic[10];
} __attribute__((packed));

_Static_assert(sizeof(struct zram_swap_header) == ZRAM_PAGE, "a page");

int zram_swap_add(void)
{
	uint64_t number = read_number(ZRAM_CONTROL "hot_add", UINT64_MAX);

	if (number != UINT64_MAX)
		return (int)number;
	fail(STATUS_LACKING, ZRAM_CONTROL "hot_add", "no zram device to be had: %s",
	     strerror(errno));
	return fail_hint("a kernel with CONFIG_ZRAM, or: modprobe zram");
}

void zram_swap_node(char *path, size_t size, int number)
{
	snprintf(path, size, "/dev/zram%d", number);
}

static int zram_swap_header(int number, uint64_t bytes)
{
	struct zram_swap_header header = {
		.version = 1,
		.last_page = (uint32_t)(bytes / ZRAM_PAGE - 1),
	};
	char path[64];
	int fd = -1;

	memcpy(header.magic, "SWAPSPACE2", sizeof(header.magic));
	zram_swap_node(path, sizeof(path), number);
	/* devtmpfs, or udev, makes it a little later than hot_add says. */
	for (int ms = 0; fd < 0 && ms < ZRAM_WAIT_MS; ms += 10) {
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			sleep_ms(10);
	}
	if (fd < 0)
		return fail(STATUS_LACKING, path, "cannot open it: %s", strerror(errno));
	if (write(fd, &header, sizeof(header)) != sizeof(header)) {
		fail(STATUS_FAILED, path, "cannot write it: %s", strerror(errno));
		close(fd);
		return -1;
	}
	close(fd);
	return 0;
}

int zram_swap_begin(int number, uint64_t bytes)
{
	char path[64];

	if (zram_swap_header(number, bytes) < 0)
		return -1;
	zram_swap_node(path, sizeof(path), number);
	/* Before any swap the machine has. */
	if (swapon(path, SWAP_FLAG_PREFER | SWAP_FLAG_PRIO_MASK) < 0)
		return fail(STATUS_FAILED, path, "swapon: %s", strerror(errno));
	return 0;
}

int zram_swap_end(int number)
{
	char path[64];

	zram_swap_node(path, sizeof(path), number);
	if (swapoff(path) < 0)
		return fail(STATUS_FAILED, path, "swapoff: %s", strerror(errno));
	return 0;
}

void zram_swap_remove(int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	if (write_file(ZRAM_CONTROL "hot_remove", text) < 0)
		fail(STATUS_FAILED, ZRAM_CONTROL "hot_remove", "zram%s stays: %s", text,
		     strerror(errno));
}
