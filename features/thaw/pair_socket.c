// SPDX-License-Identifier: GPL-2.0-only
/* Waits in sockets. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net.h"
#include "pair.h"

/* Without a timeout the call would be restarted, and an EINTR not be seen. */
#define LONG_NS (3600 * 1000000000ll)
/* Timeouts of sockets are counted in ticks, of which the first has begun. */
#define TICK_NS 10000000

/* A new one, connected to that. */
static int connected_to(int to)
{
	struct sockaddr_storage at = { 0 };
	socklen_t size = sizeof(at), len = sizeof(int);
	int fd, type;

	if (getsockname(to, (struct sockaddr *)&at, &size) < 0 ||
	    getsockopt(to, SOL_SOCKET, SO_TYPE, &type, &len) < 0)
		return -1;
	fd = socket(at.ss_family, type | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (!connect(fd, (struct sockaddr *)&at, size))
		return fd;
	close(fd);
	return -1;
}

static int set_ends(struct pair *p, int fds[2])
{
	p->in = fds[0];
	p->out = fds[1];
	return 0;
}

static int open_tcp(struct pair *p)
{
	int fds[2];

	return net_loopback_up() < 0 || net_tcp_pair(fds) < 0 ? -1 : set_ends(p, fds);
}

static int open_udp(struct pair *p)
{
	p->in = net_loopback_up() < 0 ? -1 : net_udp();
	p->out = p->in < 0 ? -1 : connected_to(p->in);
	return p->out < 0 ? -1 : 0;
}

static int open_unix_dgram(struct pair *p)
{
	int fds[2];

	return socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds) < 0 ? -1 :
	       set_ends(p, fds);
}

static int open_unix_stream(struct pair *p)
{
	int fds[2];

	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0 ? -1 :
	       set_ends(p, fds);
}

static int open_tcp_accept(struct pair *p)
{
	p->in = net_loopback_up() < 0 ? -1 : net_tcp_listen();
	return p->in < 0 ? -1 : 0;
}

static int open_unix_accept(struct pair *p)
{
	p->in = net_unix_listen();
	return p->in < 0 ? -1 : 0;
}

static int limit(struct pair *p, int64_t ns)
{
	struct timeval tv = { .tv_sec = ns / 1000000000, .tv_usec = ns % 1000000000 / 1000 };

	return setsockopt(p->in, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
}

static int start_socket(struct pair *p)
{
	return limit(p, LONG_NS);
}

/* Their timeout looks like that of a call that must not block. */
static int64_t timed_out(int64_t got, int64_t ns)
{
	if (got < 0 && errno == EAGAIN && ns >= 0)
		errno = ETIMEDOUT;
	return got;
}

static int64_t wait_receive(struct pair *p, int64_t ns)
{
	uint32_t n;

	if (ns >= 0 && limit(p, ns) < 0)
		return -1;
	return timed_out(recv(p->in, &n, sizeof(n), 0) < 0 ? -1 : (int64_t)n, ns);
}

static int64_t wait_accept(struct pair *p, int64_t ns)
{
	int fd;

	if (ns >= 0 && limit(p, ns) < 0)
		return -1;
	fd = accept4(p->in, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return timed_out(fd < 0 ? -1 : (int64_t)p->acked + 1, ns);
}

static int send_number(struct pair *p, uint32_t n)
{
	return send(p->out, &n, sizeof(n), MSG_NOSIGNAL) == sizeof(n) ? 0 : -1;
}

static int visit(struct pair *p, uint32_t n)
{
	/* With a reset at its end no port stays in use. */
	struct linger linger = { .l_onoff = 1 };
	int fd = connected_to(p->in);

	(void)n;
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(fd);
	return 0;
}

#define SOCKET_KIND(_name, _open, _wait, _wake)                                    \
	{ .name = _name, .open = _open, .start = start_socket, .wait = _wait,      \
	  .wake = _wake, .timed = true, .early_ns = TICK_NS }

const struct pair_kind pair_socket_kinds[] = {
	SOCKET_KIND("tcp", open_tcp, wait_receive, send_number),
	SOCKET_KIND("udp", open_udp, wait_receive, send_number),
	SOCKET_KIND("unix-dgram", open_unix_dgram, wait_receive, send_number),
	SOCKET_KIND("unix-stream", open_unix_stream, wait_receive, send_number),
	SOCKET_KIND("tcp-accept", open_tcp_accept, wait_accept, visit),
	SOCKET_KIND("unix-accept", open_unix_accept, wait_accept, visit),
	{ 0 },
};
