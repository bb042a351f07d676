/* SPDX-License-Identifier: GPL-2.0-only */
/* Small files, sleep, the one problem that ends a job, and interruption. */
#ifndef LULL_UTIL_H
#define LULL_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))

/* The exit status, by hand; see docs/contracts.md. */
enum status {
	STATUS_OK = 0,
	STATUS_CHECK_FAILED = 1,
	STATUS_USAGE = 2,
	/* What a safety workload needs did not come about: no verdict. */
	STATUS_UNMET = 3,
	STATUS_LACKING = 4,
	STATUS_FAILED = 125,
};

/* The first problem is the one reported: what follows is its aftermath. */
struct problem {
	enum status status;
	char what[512];
	char where[256];
	char hint[1024];
};

extern struct problem problem;

/* Record a problem, return -1 so that callers can `return fail(...)`. */
int fail(enum status status, const char *where, const char *fmt, ...) PRINTF(3, 4);
/* Add a hint to the problem just recorded; returns -1 as well. */
int fail_hint(const char *fmt, ...) PRINTF(1, 2);

/*
 * Nonzero, the signal's number, once SIGINT or SIGTERM arrived. The handler
 * does nothing else: blocking calls return EINTR and the caller unwinds.
 */
extern volatile int interrupted;
void catch_interrupts(void);
/* 0, or the problem that an interruption is. */
int check_interrupted(void);

bool path_exists(const char *path);
/* Bytes read, NUL added, or -1 with errno. Longer files are cut off. */
long read_file(const char *path, char *buf, size_t size);
/* 0 or -1 with errno: the kernel's verdict on one write() of the text. */
int write_file(const char *path, const char *text);
/* The first number in a file, or `other` when there is none. */
uint64_t read_number(const char *path, uint64_t other);
/* A whole file of unknown size; to be freed. NULL with errno. */
char *read_whole(const char *path);
/* The last lines of the kernel's log, for a hint. */
void kernel_log_tail(char *buf, size_t size, unsigned int lines);

/* False when the text is not a plain decimal number. */
bool parse_u64(const char *text, uint64_t *value);

/* The caller, and whom it starts from now on, on that CPU alone. */
int pin_cpu(int cpu);
/* The same until pin_end(), which gives back the CPUs that there were before, if any. */
int pin_begin(int cpu);
void pin_end(void);

uint64_t now_ns(void);
/* They sleep the whole time unless interrupted. */
struct timespec timespec_of(uint64_t ns);
void sleep_ns(uint64_t ns);
void sleep_ms(unsigned int ms);
void spin_ns(uint64_t ns);

#endif
