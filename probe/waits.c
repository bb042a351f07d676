// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "net.h"
#include "waits.h"

/* Newer architectures have the general form alone, which libc then takes. */
#ifndef SYS_epoll_wait
#define SYS_epoll_wait SYS_epoll_pwait
#endif
#ifndef SYS_poll
#define SYS_poll SYS_ppoll
#endif

static int silent[2];		/* a pipe that nobody writes to */
static int epfd;		/* watches it */
static unsigned int *futex;
static int own;			/* what the caller's open() made */
static sigset_t never_sent;	/* and this, too */

static long in_epoll(void)
{
	struct epoll_event ev;

	return epoll_wait(epfd, &ev, 1, -1);
}

static long in_poll(void)
{
	struct pollfd pfd = { .fd = silent[0], .events = POLLIN };

	return poll(&pfd, 1, -1);
}

static long in_pipe(void)
{
	char c;

	return read(silent[0], &c, 1);
}

static long in_futex(void)
{
	return syscall(SYS_futex, futex, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static long in_nanosleep(void)
{
	struct timespec day = { .tv_sec = 86400 };

	/* As nanosleep() does, and it says why it ended in another way than others. */
	errno = clock_nanosleep(CLOCK_REALTIME, 0, &day, NULL);
	return errno ? -1 : 0;
}

static int open_epoll_et(void)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };

	own = epoll_create1(EPOLL_CLOEXEC);
	return own < 0 ? -1 : epoll_ctl(own, EPOLL_CTL_ADD, silent[0], &ev);
}

static long in_epoll_et(void)
{
	struct epoll_event ev;

	return epoll_wait(own, &ev, 1, -1);
}

static long in_select(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(silent[0], &set);
	return pselect(silent[0] + 1, &set, NULL, NULL, NULL, NULL);
}

static int open_pipe_write(void)
{
	static const char page[4096];
	int pair[2], size;

	/* As small as it gets; a page may be larger, and then more is needed. */
	if (pipe2(pair, O_CLOEXEC) < 0)
		return -1;
	own = pair[1];
	size = fcntl(own, F_SETPIPE_SZ, sizeof(page));
	for (int full = 0; full < size; full += (int)sizeof(page)) {
		if (write(own, page, sizeof(page)) != sizeof(page))
			return -1;
	}
	return size < 0 ? -1 : 0;
}

static long in_pipe_write(void)
{
	return write(own, "", 1);
}

static int open_tcp(void)
{
	int pair[2];

	if (net_tcp_pair(pair) < 0)
		return -1;
	own = pair[0];
	return 0;
}

static int open_tcp_accept(void)
{
	own = net_tcp_listen();
	return own < 0 ? -1 : 0;
}

static int open_udp(void)
{
	own = net_udp();
	return own < 0 ? -1 : 0;
}

static int open_unix_pair(int type)
{
	int pair[2];

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	own = pair[0];
	return 0;
}

static int open_unix_dgram(void)
{
	return open_unix_pair(SOCK_DGRAM);
}

static int open_unix_stream(void)
{
	return open_unix_pair(SOCK_STREAM);
}

static int open_unix_accept(void)
{
	own = net_unix_listen();
	return own < 0 ? -1 : 0;
}

static long in_recv(void)
{
	char c;

	return recv(own, &c, 1, 0);
}

static long in_accept(void)
{
	return accept(own, NULL, NULL);
}

static int open_io_uring(void)
{
	struct io_uring_params params = { 0 };

	own = (int)syscall(SYS_io_uring_setup, 1, &params);
	return own < 0 ? -1 : 0;
}

static long in_io_uring(void)
{
	return syscall(SYS_io_uring_enter, own, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}

/* A signal that nobody sends, held back for who asks for it. */
static int open_signal(void)
{
	sigemptyset(&never_sent);
	sigaddset(&never_sent, SIGUSR1);
	return sigprocmask(SIG_BLOCK, &never_sent, NULL);
}

static long in_sigtimedwait(void)
{
	/* The kernel's set has a bit for each of its signals, _NSIG of them less one. */
	return syscall(SYS_rt_sigtimedwait, &never_sent, NULL, NULL, _NSIG / 8);
}

static int open_signalfd(void)
{
	if (open_signal() < 0)
		return -1;
	own = signalfd(-1, &never_sent, SFD_CLOEXEC);
	return own < 0 ? -1 : 0;
}

static long in_signalfd(void)
{
	struct signalfd_siginfo info;

	return read(own, &info, sizeof(info));
}

static int open_eventfd(void)
{
	own = eventfd(0, EFD_CLOEXEC);
	return own < 0 ? -1 : 0;
}

static long in_eventfd(void)
{
	uint64_t value;

	return read(own, &value, sizeof(value));
}

const struct wait waits[WAITS_NR] = {
	{ "epoll", NULL, in_epoll, SYS_epoll_wait, false },
	{ "poll", NULL, in_poll, SYS_poll, false },
	{ "pipe", NULL, in_pipe, SYS_read, false },
	{ "futex", NULL, in_futex, SYS_futex, false },
	{ "nanosleep", NULL, in_nanosleep, SYS_clock_nanosleep, false },
	{ "epoll_et", open_epoll_et, in_epoll_et, SYS_epoll_wait, false },
	{ "select", NULL, in_select, SYS_pselect6, false },
	{ "pipe_write", open_pipe_write, in_pipe_write, SYS_write, false },
	{ "tcp", open_tcp, in_recv, SYS_recvfrom, true },
	{ "tcp_accept", open_tcp_accept, in_accept, SYS_accept, true },
	{ "udp", open_udp, in_recv, SYS_recvfrom, true },
	{ "unix_dgram", open_unix_dgram, in_recv, SYS_recvfrom, false },
	{ "unix_stream", open_unix_stream, in_recv, SYS_recvfrom, false },
	{ "unix_accept", open_unix_accept, in_accept, SYS_accept, false },
	{ "io_uring", open_io_uring, in_io_uring, SYS_io_uring_enter, false },
	{ "signalfd", open_signalfd, in_signalfd, SYS_read, false },
	{ "eventfd", open_eventfd, in_eventfd, SYS_read, false },
	{ "sigtimedwait", open_signal, in_sigtimedwait, SYS_rt_sigtimedwait, false },
};

int waits_open(unsigned int *never)
{
	struct epoll_event ev = { .events = EPOLLIN };

	futex = never;
	epfd = epoll_create1(EPOLL_CLOEXEC);
	if (epfd < 0 || pipe(silent) < 0)
		return -1;
	return epoll_ctl(epfd, EPOLL_CTL_ADD, silent[0], &ev);
}

void waits_close(void)
{
	close(epfd);
	close(silent[0]);
	close(silent[1]);
}
