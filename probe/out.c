// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "out.h"
#include "util.h"

#define MAX_DEPTH 8

static int out_fd = STDOUT_FILENO;
static char *line;
static size_t line_len, line_size;
static char closers[MAX_DEPTH];
static int depth;
static bool first;

void out_open(int fd)
{
	out_fd = fd;
}

static void put(const char *text, size_t len)
{
	while (line_len + len > line_size) {
		line_size = line_size ? 2 * line_size : 4096;
		line = realloc(line, line_size);
		if (!line)
			abort();
	}
	memcpy(line + line_len, text, len);
	line_len += len;
}

static void puts_raw(const char *text)
{
	put(text, strlen(text));
}

/* Length of the valid UTF-8 sequence at s, or 0 when it is not one. */
static size_t utf8_len(const unsigned char *s)
{
	static const struct {
		unsigned char mask, lead, len;
		uint32_t min;
	} forms[] = {
		{ 0x80, 0x00, 1, 0 },
		{ 0xe0, 0xc0, 2, 0x80 },
		{ 0xf0, 0xe0, 3, 0x800 },
		{ 0xf8, 0xf0, 4, 0x10000 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		uint32_t c = s[0] & (unsigned char)~forms[i].mask;

		if ((s[0] & forms[i].mask) != forms[i].lead)
			continue;
		for (size_t k = 1; k < forms[i].len; k++) {
			if ((s[k] & 0xc0) != 0x80)
				return 0;
			c = c << 6 | (s[k] & 0x3f);
		}
		if (c < forms[i].min || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			return 0;
		return forms[i].len;
	}
	return 0;
}

static void put_escape(unsigned char c)
{
	char buf[8];

	switch (c) {
	case '"':
		puts_raw("\\\"");
		break;
	case '\\':
		puts_raw("\\\\");
		break;
	case '\n':
		puts_raw("\\n");
		break;
	case '\t':
		puts_raw("\\t");
		break;
	default:
		snprintf(buf, sizeof(buf), "\\u%04x", c);
		puts_raw(buf);
	}
}

static void put_string(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	puts_raw("\"");
	while (*s) {
		size_t n = utf8_len(s);

		if (!n) {
			/* A comm or a log line may hold any byte; JSON may not. */
			puts_raw("\\ufffd");
			s++;
		} else if (n == 1 && (*s < 0x20 || *s == '"' || *s == '\\' || *s == 0x7f)) {
			put_escape(*s++);
		} else {
			put((const char *)s, n);
			s += n;
		}
	}
	puts_raw("\"");
}

static void put_key(const char *key)
{
	if (!first)
		puts_raw(",");
	first = false;
	if (key) {
		put_string(key);
		puts_raw(":");
	}
}

static void open_level(const char *bracket, char closer)
{
	puts_raw(bracket);
	if (depth == MAX_DEPTH)
		abort();
	closers[depth++] = closer;
	first = true;
}

void out_begin(const char *type)
{
	line_len = 0;
	depth = 0;
	open_level("{", '}');
	out_str("t", type);
}

void out_str(const char *key, const char *value)
{
	put_key(key);
	put_string(value);
}

void out_int(const char *key, uint64_t value)
{
	char buf[32];

	put_key(key);
	snprintf(buf, sizeof(buf), "%llu", (unsigned long long)value);
	puts_raw(buf);
}

void out_num(const char *key, double value)
{
	char buf[64];

	put_key(key);
	/* Beyond 2^53 a double holds integers only, but not every one. */
	if (value > -9e15 && value < 9e15 && value == (double)(long long)value)
		snprintf(buf, sizeof(buf), "%lld", (long long)value);
	else
		snprintf(buf, sizeof(buf), "%.3f", value);
	puts_raw(buf);
}

void out_bool(const char *key, bool value)
{
	put_key(key);
	puts_raw(value ? "true" : "false");
}

void out_auto(const char *key, const char *text)
{
	uint64_t value;

	if (parse_u64(text, &value))
		out_int(key, value);
	else
		out_str(key, text);
}

void out_object(const char *key)
{
	put_key(key);
	open_level("{", '}');
}

void out_array(const char *key)
{
	put_key(key);
	open_level("[", ']');
}

void out_close(void)
{
	put(&closers[--depth], 1);
	first = false;
}

int out_end(void)
{
	size_t done = 0;

	while (depth)
		out_close();
	puts_raw("\n");
	while (done < line_len) {
		ssize_t n = write(out_fd, line + done, line_len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(STATUS_FAILED, "output", "cannot write results: %s",
				    strerror(errno));
		done += (size_t)n;
	}
	return 0;
}
