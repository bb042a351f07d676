// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first /init of a machine that is booted once and then resumed for many jobs:
 * it waits until the host hands it the files of one, and becomes their /init.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "port.h"

#define NEWC_HEADER 110
#define NEWC_MAGIC "070701"
#define NEWC_TRAILER "TRAILER!!!"

/* What comes before the archive, little endian. */
struct handover {
	unsigned char entropy[32];
	uint64_t size;
};

static void die(const char *what)
{
	fprintf(stderr, "standby: %s: %s\n", what, strerror(errno));
	/* The kernel panics where its init ends, which the host sees. */
	exit(1);
}

static int open_port(const char *name, int flags)
{
	int fd = port_open(name, flags);

	if (fd < 0)
		die(name);
	return fd;
}

static void say_ready(void)
{
	int fd = open_port("lull.results", O_WRONLY);

	if (dprintf(fd, "{\"t\":\"standby\",\"cpus\":%ld}\n",
		    sysconf(_SC_NPROCESSORS_ONLN)) < 0)
		die("lull.results");
	close(fd);
}

static void read_all(int fd, void *to, size_t size)
{
	for (size_t have = 0; have < size;) {
		ssize_t n = read(fd, (char *)to + have, size - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errno = n ? errno : EPIPE;
			die("what the host hands over ends early");
		}
		have += (size_t)n;
	}
}

/* The guests of one standby differ in what is random, as if each had booted. */
static void add_entropy(const unsigned char *entropy, size_t size)
{
	struct rand_pool_info *pool = calloc(1, sizeof(*pool) + size);
	int fd = open("/dev/urandom", O_RDWR | O_CLOEXEC);

	if (!pool || fd < 0)
		die("/dev/urandom");
	pool->entropy_count = (int)size * 8;
	pool->buf_size = (int)size;
	memcpy(pool->buf, entropy, size);
	if (ioctl(fd, RNDADDENTROPY, pool) < 0 || ioctl(fd, RNDRESEEDCRNG) < 0)
		die("/dev/urandom");
	close(fd);
	free(pool);
}

static unsigned long field(const char *header, unsigned int i)
{
	char digits[9] = "";

	memcpy(digits, header + sizeof(NEWC_MAGIC) - 1 + 8 * (size_t)i, 8);
	return strtoul(digits, NULL, 16);
}

static void make_file(const char *path, mode_t mode, const char *data, size_t size)
{
	int fd;

	/* Our own /init runs: it can be unlinked, and not be written to. */
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		die(path);
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n <= 0)
			die(path);
		data += n;
		size -= (size_t)n;
	}
	if (fchmod(fd, mode & 07777) < 0)
		die(path);
	close(fd);
}

static void make(const char *path, mode_t mode, dev_t dev, const char *data, size_t size)
{
	if (S_ISREG(mode)) {
		make_file(path, mode, data, size);
	} else if (S_ISDIR(mode)) {
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			die(path);
		if (chmod(path, mode & 07777) < 0)
			die(path);
	} else if (mknod(path, mode, dev) < 0 && errno != EEXIST) {
		die(path);
	}
}

/* The archive is the lab's own, lull/vm/cpio.py: whole, and without links. */
static void unpack(const char *at, const char *end)
{
	while (end - at >= NEWC_HEADER && !memcmp(at, NEWC_MAGIC, sizeof(NEWC_MAGIC) - 1)) {
		mode_t mode = (mode_t)field(at, 1);
		dev_t dev = makedev((unsigned int)field(at, 9), (unsigned int)field(at, 10));
		size_t size = field(at, 6), name_size = field(at, 11);
		const char *name = at + NEWC_HEADER;
		const char *data = at + ((NEWC_HEADER + name_size + 3) & ~3UL);

		if (name_size > (size_t)(end - name) || data + size > end)
			break;
		if (!strcmp(name, NEWC_TRAILER))
			return;
		make(name, mode, dev, data, size);
		at = data + ((size + 3) & ~3UL);
	}
	errno = EBADMSG;
	die("what the host hands over is no archive");
}

int main(int argc, char **argv)
{
	struct handover handover;
	char *archive;
	int fd;

	(void)argc;
	if (chdir("/") < 0 || mount("sysfs", "/sys", "sysfs", 0, NULL) < 0 ||
	    mount("devtmpfs", "/dev", "devtmpfs", 0, NULL) < 0)
		die("mount");
	fd = open_port("lull.handover", O_RDONLY);
	say_ready();
	read_all(fd, &handover, sizeof(handover));
	archive = malloc(handover.size);
	if (!archive)
		die("memory");
	read_all(fd, archive, handover.size);
	close(fd);
	add_entropy(handover.entropy, sizeof(handover.entropy));
	if (umount("/dev") < 0 || umount("/sys") < 0)
		die("umount");
	unpack(archive, archive + handover.size);
	execv("/init", argv);
	die("/init");
	return 1;
}
