// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <time.h>
#include <unistd.h>

#include "util.h"

#define SYSLOG_ACTION_READ_ALL 3

struct problem problem;
volatile int interrupted;

static cpu_set_t unpinned;
static bool is_pinned;

int fail(enum status status, const char *where, const char *fmt, ...)
{
	va_list ap;

	if (problem.status)
		return -1;

	problem.status = status;
	snprintf(problem.where, sizeof(problem.where), "%s", where);
	va_start(ap, fmt);
	vsnprintf(problem.what, sizeof(problem.what), fmt, ap);
	va_end(ap);
	return -1;
}

int fail_hint(const char *fmt, ...)
{
	va_list ap;

	if (problem.hint[0])
		return -1;

	va_start(ap, fmt);
	vsnprintf(problem.hint, sizeof(problem.hint), fmt, ap);
	va_end(ap);
	return -1;
}

static void on_interrupt(int sig)
{
	interrupted = sig;
}

void catch_interrupts(void)
{
	/* No SA_RESTART: a blocking call is to return, so that we can unwind. */
	struct sigaction sa = { .sa_handler = on_interrupt };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	/* A reader of our output that goes away is an error of write(). */
	signal(SIGPIPE, SIG_IGN);
}

int check_interrupted(void)
{
	if (!interrupted)
		return 0;
	return fail(STATUS_FAILED, "probe", "interrupted by %s", strsignal(interrupted));
}

bool path_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

long read_file(const char *path, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n = 0;
	int fd, err;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;

	while (len < size - 1) {
		n = read(fd, buf + len, size - 1 - len);
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	err = errno;
	close(fd);
	buf[len] = '\0';
	errno = err;
	return n < 0 ? -1 : (long)len;
}

int write_file(const char *path, const char *text)
{
	size_t len = strlen(text);
	ssize_t n;
	int fd, err;

	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;

	n = write(fd, text, len);
	err = n < 0 ? errno : EIO;
	close(fd);
	if (n == (ssize_t)len)
		return 0;
	errno = err;
	return -1;
}

uint64_t read_number(const char *path, uint64_t other)
{
	char buf[64], *end;
	uint64_t value;

	if (read_file(path, buf, sizeof(buf)) <= 0)
		return other;
	value = strtoull(buf, &end, 10);
	return end == buf ? other : value;
}

char *read_whole(const char *path)
{
	size_t size = 64 * 1024, len = 0;
	char *buf = malloc(size), *more;
	ssize_t n = -1;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && buf) {
		n = read(fd, buf + len, size - len - 1);
		if (n <= 0)
			break;
		len += (size_t)n;
		if (len + 1 < size)
			continue;
		size *= 2;
		more = realloc(buf, size);
		if (!more)
			free(buf);
		buf = more;
	}
	if (fd >= 0)
		close(fd);
	if (n < 0 || !buf) {
		free(buf);
		return NULL;
	}
	buf[len] = '\0';
	return buf;
}

void kernel_log_tail(char *buf, size_t size, unsigned int lines)
{
	static char log[256 * 1024];
	char *from;
	int len;

	buf[0] = '\0';
	len = klogctl(SYSLOG_ACTION_READ_ALL, log, sizeof(log) - 1);
	if (len <= 0)
		return;
	if (log[len - 1] == '\n')
		len--;
	log[len] = '\0';

	for (from = log + len; from > log; from--) {
		if (from[-1] == '\n' && --lines == 0)
			break;
	}
	snprintf(buf, size, "%s", from);
}

bool parse_u64(const char *text, uint64_t *value)
{
	char *end;

	/* strtoull takes signs and spaces; a number here has only digits. */
	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return !errno && !*end;
}

int pin_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		return fail(STATUS_LACKING, "sched_setaffinity", "no CPU %d: %s", cpu,
			    strerror(errno));
	return 0;
}

int pin_begin(int cpu)
{
	if (!is_pinned && sched_getaffinity(0, sizeof(unpinned), &unpinned) < 0)
		return fail(STATUS_FAILED, "sched_getaffinity", "%s", strerror(errno));
	is_pinned = true;
	return pin_cpu(cpu);
}

void pin_end(void)
{
	if (is_pinned)
		sched_setaffinity(0, sizeof(unpinned), &unpinned);
	is_pinned = false;
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / 1000000000ull),
		.tv_nsec = (long)(ns % 1000000000ull),
	};
}

void sleep_ns(uint64_t ns)
{
	struct timespec ts = timespec_of(ns);

	while (nanosleep(&ts, &ts) < 0 && errno == EINTR && !interrupted)
		;
}

void sleep_ms(unsigned int ms)
{
	sleep_ns(ms * 1000000ull);
}

void spin_ns(uint64_t ns)
{
	uint64_t end = now_ns() + ns;

	while (now_ns() < end)
		;
}
