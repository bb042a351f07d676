/* SPDX-License-Identifier: GPL-2.0-only */
/* Results: one JSON object a line. */
#ifndef LULL_OUT_H
#define LULL_OUT_H

#include <stdbool.h>
#include <stdint.h>

/* Takes over the descriptor that lines go to. */
void out_open(int fd);

/*
 * A line is built in memory and leaves in one write: a reader never sees half
 * an object of a probe that is still alive.
 *
 *	out_begin("sample");
 *	out_num("i", 3);
 *	out_object("metrics");
 *	...
 *	out_close();
 *	out_end();
 *
 * A NULL key is a member of an array.
 */
void out_begin(const char *type);
void out_str(const char *key, const char *value);
void out_int(const char *key, uint64_t value);
/* An integer when the value is one, else three decimals. */
void out_num(const char *key, double value);
void out_bool(const char *key, bool value);
/* A number where the text looks like one, else a string. */
void out_auto(const char *key, const char *text);
void out_object(const char *key);
void out_array(const char *key);
void out_close(void);
/* 0, or -1 when the line could not be written. */
int out_end(void);

#endif
