// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "buf.h"

#define BLOCK 512

static int folder = -1;		/* -1: a tar */

static void room(struct buf *b, size_t more)
{
	size_t size = b->size ? b->size : 4096;

	while (size < b->len + more + 1)
		size *= 2;
	if (size == b->size)
		return;
	b->text = realloc(b->text, size);
	if (!b->text) {
		fputs("lull-probe: no memory\n", stderr);
		_exit(125);
	}
	b->size = size;
}

void buf_add(struct buf *b, const char *text, size_t len)
{
	room(b, len);
	memcpy(b->text + b->len, text, len);
	b->len += len;
	b->text[b->len] = '\0';
}

void buf_str(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

void buf_fmt(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	room(b, (size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(b->text + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

void buf_field(struct buf *b, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < ' ' || c == '\\' || c == 0x7f)
			buf_fmt(b, "\\x%02x", c);
		else
			buf_add(b, text + i, 1);
	}
}

void buf_free(struct buf *b)
{
	free(b->text);
	memset(b, 0, sizeof(*b));
}

static int write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

static bool is_empty(int fd)
{
	int copy = dup(fd);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	bool empty = true;

	if (!dir)
		return false;
	for (struct dirent *e; (e = readdir(dir)) != NULL;)
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			empty = false;
	closedir(dir);
	return empty;
}

int sink_open(const char *place)
{
	if (!strcmp(place, "-"))
		return 0;
	if (mkdir(place, 0700) < 0 && errno != EEXIST)
		return -1;
	folder = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return -1;
	if (!is_empty(folder)) {
		errno = ENOTEMPTY;
		return -1;
	}
	return 0;
}

/* A header of POSIX ustar: fields of fixed width, numbers in octal. */
static int tar_file(const char *name, const struct buf *b)
{
	static const char zeros[BLOCK];
	char head[BLOCK] = "";
	unsigned int sum = 0;

	snprintf(head, 100, "%s", name);
	snprintf(head + 100, 8, "%07o", 0600);
	snprintf(head + 108, 8, "%07o", 0);
	snprintf(head + 116, 8, "%07o", 0);
	snprintf(head + 124, 12, "%011llo", (unsigned long long)b->len);
	snprintf(head + 136, 12, "%011llo", (unsigned long long)time(NULL));
	memset(head + 148, ' ', 8);
	head[156] = '0';
	memcpy(head + 257, "ustar\00000", 8);
	for (unsigned int i = 0; i < BLOCK; i++)
		sum += (unsigned char)head[i];
	snprintf(head + 148, 8, "%06o", sum);
	if (write_all(STDOUT_FILENO, head, BLOCK) < 0 ||
	    write_all(STDOUT_FILENO, b->text ? b->text : "", b->len) < 0)
		return -1;
	return write_all(STDOUT_FILENO, zeros, (BLOCK - b->len % BLOCK) % BLOCK);
}

int sink_file(const char *name, const struct buf *b)
{
	int fd, ret;

	if (folder < 0)
		return tar_file(name, b);
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	ret = write_all(fd, b->text ? b->text : "", b->len);
	if (close(fd) < 0)
		ret = -1;
	return ret;
}

int sink_close(void)
{
	static const char zeros[2 * BLOCK];

	return folder < 0 ? write_all(STDOUT_FILENO, zeros, sizeof(zeros)) : 0;
}
