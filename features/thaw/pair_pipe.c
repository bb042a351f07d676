// SPDX-License-Identifier: GPL-2.0-only
/* Waits in a pipe, at both of its ends, and for a read of one in io_uring. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "pair.h"
#include "uring.h"

/* The least a pipe can have room for, and what is written at once. */
#define PAGE 4096

/* A sleeper's own: a read that io_uring has not done yet, and where it goes to. */
static struct {
	struct uring ring;
	bool queued;
	uint32_t value;
} own;

static int64_t wait_read(struct pair *p, int64_t ns)
{
	(void)ns;
	return pair_take(p);
}

static int open_narrow(struct pair *p)
{
	return pair_open_pipe(p) < 0 ? -1 : fcntl(p->out, F_SETPIPE_SZ, PAGE) < 0 ? -1 : 0;
}

static int64_t wait_write(struct pair *p, int64_t ns)
{
	static const char page[PAGE];

	(void)ns;
	return write(p->out, page, PAGE) == PAGE ? (int64_t)p->acked + 1 : -1;
}

/* From here on it is full, and each read lets one more write in. */
static int fill(struct pair *p)
{
	return wait_write(p, -1) < 0 ? -1 : 0;
}

static int drain(struct pair *p, uint32_t n)
{
	char page[PAGE];

	(void)n;
	return read(p->in, page, PAGE) == PAGE ? 0 : -1;
}

static int start_uring(struct pair *p)
{
	(void)p;
	return uring_open(&own.ring);
}

static int64_t wait_uring(struct pair *p, int64_t ns)
{
	int result;

	if (!own.queued)
		uring_read(&own.ring, p->in, &own.value, sizeof(own.value));
	own.queued = true;
	if (uring_wait(&own.ring, ns) < 0)
		return -1;
	if (!uring_result(&own.ring, &result))
		return 0;
	own.queued = false;
	if (result == sizeof(own.value))
		return own.value;
	errno = result < 0 ? -result : EIO;
	return -1;
}

static int64_t wait_uring_timer(struct pair *p, int64_t ns)
{
	int result;

	(void)ns;
	if (uring_wait(&own.ring, -1) < 0)
		return -1;
	if (!uring_result(&own.ring, &result))
		return 0;
	if (result == -ETIME)
		return p->sent;
	errno = result < 0 ? -result : EIO;
	return -1;
}

static int arm_uring(struct pair *p)
{
	uring_timeout(&own.ring, p->due);
	return 0;
}

const struct pair_kind pair_pipe_kinds[] = {
	{ .name = "pipe-read", .open = pair_open_pipe, .wait = wait_read, .wake = pair_send },
	{ .name = "pipe-write", .open = open_narrow, .start = fill, .wait = wait_write,
	  .wake = drain },
	{ .name = "io_uring", .open = pair_open_pipe, .start = start_uring, .wait = wait_uring,
	  .wake = pair_send, .timed = true },
	{ .name = "io_uring-timer", .start = start_uring, .wait = wait_uring_timer,
	  .arm = arm_uring },
	{ 0 },
};
