/* SPDX-License-Identifier: GPL-2.0-only */
/* Text that grows, and the places that finished files go to. */
#ifndef COLLECT_BUF_H
#define COLLECT_BUF_H

#include <stdbool.h>
#include <stddef.h>

#define PRINTF(f, a) __attribute__((format(printf, f, a)))

struct buf {
	char *text;
	size_t len;
	size_t size;
};

void buf_add(struct buf *b, const char *text, size_t len);
void buf_str(struct buf *b, const char *text);
void buf_fmt(struct buf *b, const char *fmt, ...) PRINTF(2, 3);
/* One field of a line: what would end it is written as \xHH. */
void buf_field(struct buf *b, const char *text, size_t len);
void buf_free(struct buf *b);

/* A folder, which is made and has to be empty; "-" is a tar to standard output. */
int sink_open(const char *place);
/* A whole file; returns -1 with errno. */
int sink_file(const char *name, const struct buf *b);
int sink_close(void);

#endif
