// SPDX-License-Identifier: GPL-2.0-only
/* Waits for a descriptor to become ready: a pipe's, or a timer's. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "pair.h"
#include "util.h"

static int open_pipe(struct pair *p)
{
	return pair_open_pipe(p) < 0 ? -1 : fcntl(p->in, F_SETFL, O_NONBLOCK);
}

static int open_timer(struct pair *p)
{
	p->in = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	return p->in < 0 ? -1 : 0;
}

static int arm_timer(struct pair *p)
{
	struct itimerspec at = { .it_value = timespec_of(p->due) };

	return timerfd_settime(p->in, TFD_TIMER_ABSTIME, &at, NULL);
}

static int watch(struct pair *p, uint32_t how)
{
	struct epoll_event ev = { .events = EPOLLIN | how };

	p->watch = epoll_create1(EPOLL_CLOEXEC);
	return p->watch < 0 ? -1 : epoll_ctl(p->watch, EPOLL_CTL_ADD, p->in, &ev);
}

static int open_level(struct pair *p)
{
	return open_pipe(p) < 0 ? -1 : watch(p, 0);
}

static int open_edge(struct pair *p)
{
	return open_pipe(p) < 0 ? -1 : watch(p, EPOLLET);
}

static int open_level_timer(struct pair *p)
{
	return open_timer(p) < 0 ? -1 : watch(p, 0);
}

static int open_edge_timer(struct pair *p)
{
	return open_timer(p) < 0 ? -1 : watch(p, EPOLLET);
}

/* What such a call returned: the number of descriptors, 0 at the timeout. */
static int64_t found(struct pair *p, int n)
{
	if (n > 0)
		return pair_take(p);
	if (!n)
		errno = ETIMEDOUT;
	return -1;
}

static int64_t wait_epoll(struct pair *p, int64_t ns)
{
	struct epoll_event ev;

	return found(p, epoll_wait(p->watch, &ev, 1, ns < 0 ? -1 : (int)(ns / 1000000)));
}

static int64_t wait_poll(struct pair *p, int64_t ns)
{
	struct pollfd pfd = { .fd = p->in, .events = POLLIN };

	return found(p, poll(&pfd, 1, ns < 0 ? -1 : (int)(ns / 1000000)));
}

static int64_t wait_select(struct pair *p, int64_t ns)
{
	struct timeval tv = { .tv_sec = ns / 1000000000, .tv_usec = ns % 1000000000 / 1000 };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(p->in, &set);
	return found(p, select(p->in + 1, &set, NULL, NULL, ns < 0 ? NULL : &tv));
}

const struct pair_kind pair_poll_kinds[] = {
	{ .name = "epoll", .open = open_level, .wait = wait_epoll, .wake = pair_send,
	  .timed = true },
	{ .name = "epoll-edge", .open = open_edge, .wait = wait_epoll, .wake = pair_send },
	{ .name = "poll", .open = open_pipe, .wait = wait_poll, .wake = pair_send,
	  .timed = true },
	{ .name = "select", .open = open_pipe, .wait = wait_select, .wake = pair_send,
	  .timed = true },
	{ .name = "epoll-timer", .open = open_level_timer, .wait = wait_epoll,
	  .arm = arm_timer },
	{ .name = "epoll-edge-timer", .open = open_edge_timer, .wait = wait_epoll,
	  .arm = arm_timer },
	{ .name = "poll-timer", .open = open_timer, .wait = wait_poll, .arm = arm_timer },
	{ .name = "select-timer", .open = open_timer, .wait = wait_select, .arm = arm_timer },
	{ 0 },
};
