/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace events, read from an instance of our own so that nobody is disturbed. */
#ifndef LULL_TRACE_H
#define LULL_TRACE_H

#include <stdbool.h>
#include <stdint.h>

struct trace_event {
	uint64_t ns;		/* CLOCK_MONOTONIC, in the text's resolution: 1 us */
	const char *name;
	const char *text;	/* the event's own part of the line */
};

/* Makes the instance, with nothing enabled, once; it goes away at the end. */
int trace_open(void);
/* Room for so many KiB of events for each CPU, where the usual is too little. */
int trace_room(const char *kb);
/* Enables system/event, or the whole system when event is NULL. */
int trace_enable(const char *system, const char *event);
/* Disables what was enabled, so that it costs nothing. */
int trace_disable(const char *system, const char *event);
bool trace_has(const char *system, const char *event);

/* Empties the buffer; this waits for grace periods, so keep it apart. */
int trace_clear(void);
int trace_on(void);
int trace_off(void);
/* Calls fn for each event in order, until it returns nonzero. */
int trace_each(int (*fn)(const struct trace_event *ev, void *arg), void *arg);

/* All of it as the kernel prints it; to be freed. NULL with fail() called. */
char *trace_text(void);

/* The value of key=value in an event's text, or false. */
bool trace_field(const char *text, const char *key, char *value, unsigned int size);
bool trace_field_u64(const char *text, const char *key, uint64_t *value);

#endif
