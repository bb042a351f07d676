// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two processes pass a byte to and fro and sleep for it each time: what the waits
 * cost when nobody freezes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "crew.h"
#include "mark.h"
#include "net.h"
#include "task.h"
#include "util.h"
#include "workload.h"

/* Until memory and caches of the kernel are what such a loop leaves behind. */
#define WARM 200

/* One of the two, and the ends that it reads from and writes to. */
struct side {
	int in, out, epfd;
};

static struct side sides[2];
static pid_t partner;

static int pipes(void)
{
	int there[2], back[2];

	if (pipe(there) < 0 || pipe(back) < 0)
		return -1;
	sides[0] = (struct side){ .in = back[0], .out = there[1] };
	sides[1] = (struct side){ .in = there[0], .out = back[1] };
	return 0;
}

static int both_ways(int pair[2])
{
	for (int i = 0; i < 2; i++)
		sides[i] = (struct side){ .in = pair[i], .out = pair[i] };
	return 0;
}

/* Over pipes: what is compared with a plain read of one is the wait alone. */
static int epolls(void)
{
	struct epoll_event ev = { .events = EPOLLIN };

	if (pipes() < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		sides[i].epfd = epoll_create1(0);
		if (sides[i].epfd < 0 ||
		    epoll_ctl(sides[i].epfd, EPOLL_CTL_ADD, sides[i].in, &ev) < 0)
			return -1;
	}
	return 0;
}

/* Unix datagrams: they wait where UDP does, with no network in between. */
static int dgrams(void)
{
	int pair[2];

	return socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0 ? -1 : both_ways(pair);
}

/* Datagrams over loopback: whether one may rest is asked at each receive. */
static int udps(void)
{
	int pair[2];

	return net_udp_pair(pair) < 0 ? -1 : both_ways(pair);
}

/* TCP over loopback: a unix stream's wait is freezable as it is. */
static int streams(void)
{
	int pair[2];

	return net_tcp_pair(pair) < 0 ? -1 : both_ways(pair);
}

static void by_epoll(const struct side *side)
{
	struct epoll_event ev;

	epoll_wait(side->epfd, &ev, 1, -1);
}

static void by_poll(const struct side *side)
{
	struct pollfd pfd = { .fd = side->in, .events = POLLIN };

	poll(&pfd, 1, -1);
}

/* The others wait in reading itself. */
static const struct way {
	const char *name;
	int (*open)(void);
	void (*wait)(const struct side *side);
} ways[] = {
	{ "epoll", epolls, by_epoll },
	{ "poll", pipes, by_poll },
	{ "pipe", pipes, NULL },
	{ "dgram", dgrams, NULL },
	{ "udp", udps, NULL },
	{ "stream", streams, NULL },
};

static const struct way *way;

static int catch_byte(const struct side *side)
{
	char c;

	if (way->wait)
		way->wait(side);
	return read(side->in, &c, 1) == 1 ? 0 : -1;
}

static int throw_byte(const struct side *side)
{
	return write(side->out, "", 1) == 1 ? 0 : -1;
}

static void answer(void)
{
	while (!catch_byte(&sides[1]) && !throw_byte(&sides[1]))
		;
	_exit(1);
}

static int play(uint64_t turns)
{
	for (; turns; turns--) {
		if (throw_byte(&sides[0]) < 0 || catch_byte(&sides[0]) < 0)
			return fail(STATUS_FAILED, "pingpong", "the byte is lost: %s",
				    strerror(errno));
	}
	return 0;
}

static int find_way(const char *name)
{
	way = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		if (!strcmp(ways[i].name, name))
			way = &ways[i];
	}
	if (way)
		return 0;
	fail(STATUS_USAGE, "wait", "no wait '%s'", name);
	return fail_hint("known are epoll, poll, pipe, dgram, udp, stream");
}

/*
 * Both on one CPU, and in a class where a wakeup never takes the CPU away from who
 * has it: who throws the byte always comes to sleep before it is back.
 */
static int share_cpu(void)
{
	struct sched_param first = { .sched_priority = 1 };

	if (pin_begin(0) < 0)
		return -1;
	if (sched_setscheduler(0, SCHED_FIFO, &first) < 0)
		return fail(STATUS_LACKING, "sched_setscheduler", "no SCHED_FIFO: %s",
			    strerror(errno));
	return 0;
}

static void leave_cpu(void)
{
	struct sched_param none = { 0 };

	sched_setscheduler(0, SCHED_OTHER, &none);
	pin_end();
}

static int pingpong_setup(const struct job_case *c)
{
	if (find_way(job_param(c, "wait")) < 0)
		return -1;
	if (!job_number(c, "turns"))
		return fail(STATUS_USAGE, "turns", "a game takes at least one turn");
	if ((way->open == streams || way->open == udps) && net_loopback_up() < 0)
		return -1;
	if (way->open() < 0)
		return fail(STATUS_FAILED, "pingpong", "no %s to wait in: %s", way->name,
			    strerror(errno));
	return 0;
}

static int start_partner(void)
{
	partner = crew_fork(NULL);
	if (!partner)
		answer();
	return partner < 0 ? -1 : 0;
}

static int measure(uint64_t turns, struct sample *s)
{
	uint64_t ours, theirs, begin;
	int ret;

	if (play(WARM) < 0)
		return -1;
	ours = task_sleeps(getpid());
	theirs = task_sleeps(partner);
	begin = now_ns();
	mark_begin();
	ret = play(turns);
	mark_end();
	sample_add(s, "ns", (double)(now_ns() - begin) / (double)turns);
	sample_add(s, "turns", (double)turns);
	if (ret < 0)
		return -1;
	if (task_sleeps(getpid()) - ours < turns || task_sleeps(partner) - theirs < turns)
		return fail(STATUS_FAILED, "pingpong", "somebody had the byte without a sleep");
	return 0;
}

static int pingpong_round(const struct job_case *c, const char *mode, struct sample *s)
{
	int ret = -1;

	(void)mode;
	if (!share_cpu() && !start_partner())
		ret = measure(job_number(c, "turns"), s);
	crew_end(&partner);
	leave_cpu();
	return ret;
}

static void pingpong_teardown(void)
{
	for (int i = 0; i < 2; i++) {
		const int fds[] = { sides[i].in, sides[i].out, sides[i].epfd };

		for (size_t k = 0; k < ARRAY_SIZE(fds); k++) {
			if (fds[k] > 0)
				close(fds[k]);
		}
		sides[i] = (struct side){ 0 };
	}
}

static const struct workload_param pingpong_params[] = {
	{ "wait", "epoll" },
	{ "turns", "2000" },
	{ 0 },
};

static const struct workload pingpong = {
	.feature = "thaw",
	.name = "pingpong",
	.text = "two processes pass a byte to and fro, asleep in between",
	.params = pingpong_params,
	.setup = pingpong_setup,
	.round = pingpong_round,
	.teardown = pingpong_teardown,
};

WORKLOAD(pingpong);
