// SPDX-License-Identifier: GPL-2.0-only
/* Waits for a futex, and for nothing but time. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pair.h"
#include "util.h"

static int64_t wait_futex(struct pair *p, int64_t ns)
{
	struct timespec ts = timespec_of(ns < 0 ? 0 : (uint64_t)ns);
	uint32_t word = p->word;

	if (word != p->acked)
		return word;
	if (!syscall(SYS_futex, &p->word, FUTEX_WAIT, word, ns < 0 ? NULL : &ts, NULL, 0) ||
	    errno == EAGAIN)
		return 0;
	return -1;
}

static int wake_futex(struct pair *p, uint32_t n)
{
	p->word = n;
	return syscall(SYS_futex, &p->word, FUTEX_WAKE, 1, NULL, NULL, 0) < 0 ? -1 : 0;
}

static int64_t wait_nanosleep(struct pair *p, int64_t ns)
{
	struct timespec ts = timespec_of(ns < 0 ? 0 : (uint64_t)ns);

	(void)p;
	if (!nanosleep(&ts, NULL))
		errno = ETIMEDOUT;
	return -1;
}

/* Both know the time themselves; there is nothing to arm. */
static int arm_nothing(struct pair *p)
{
	(void)p;
	return 0;
}

static int64_t wait_until(struct pair *p, int64_t ns)
{
	struct timespec ts = timespec_of(p->due);

	(void)ns;
	errno = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	return errno ? -1 : (int64_t)p->sent;
}

static int64_t wait_futex_until(struct pair *p, int64_t ns)
{
	struct timespec ts = timespec_of(p->due);

	(void)ns;
	if (!syscall(SYS_futex, &p->word, FUTEX_WAIT_BITSET, p->word, &ts, NULL,
		     FUTEX_BITSET_MATCH_ANY))
		return 0;
	return errno == ETIMEDOUT ? (int64_t)p->sent : -1;
}

const struct pair_kind pair_time_kinds[] = {
	{ .name = "futex", .wait = wait_futex, .wake = wake_futex, .timed = true },
	{ .name = "futex-timer", .wait = wait_futex_until, .arm = arm_nothing },
	{ .name = "nanosleep-timer", .wait = wait_until, .arm = arm_nothing },
	/* Cannot be woken: it is for those that look at timeouts. */
	{ .name = "nanosleep", .wait = wait_nanosleep, .timed = true },
	{ 0 },
};
