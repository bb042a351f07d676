// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net.h"
#include "util.h"

int net_loopback_up(void)
{
	struct ifreq lo = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret;

	if (fd < 0) {
		fail(STATUS_LACKING, "socket", "no IPv4: %s", strerror(errno));
		return fail_hint("the kernel may lack CONFIG_INET");
	}
	ret = ioctl(fd, SIOCGIFFLAGS, &lo);
	if (!ret && !(lo.ifr_flags & IFF_UP)) {
		lo.ifr_flags |= IFF_UP;
		ret = ioctl(fd, SIOCSIFFLAGS, &lo);
	}
	if (ret < 0)
		fail(STATUS_LACKING, "lo", "the loopback device cannot be used: %s",
		     strerror(errno));
	close(fd);
	return ret;
}

static int local_socket(int type)
{
	struct sockaddr_in here = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&here, sizeof(here)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int net_udp(void)
{
	return local_socket(SOCK_DGRAM);
}

int net_udp_pair(int pair[2])
{
	struct sockaddr_in there;
	socklen_t len = sizeof(there);

	for (int i = 0; i < 2; i++)
		pair[i] = net_udp();
	for (int i = 0; i < 2; i++) {
		if (getsockname(pair[i], (struct sockaddr *)&there, &len) < 0 ||
		    connect(pair[!i], (struct sockaddr *)&there, len) < 0)
			return -1;
	}
	return 0;
}

int net_tcp_listen(void)
{
	int fd = local_socket(SOCK_STREAM);

	return fd < 0 || listen(fd, 1) < 0 ? -1 : fd;
}

int net_unix_listen(void)
{
	struct sockaddr any = { .sa_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	/* The kernel finds an address. */
	if (fd < 0 || bind(fd, &any, sizeof(any.sa_family)) < 0 || listen(fd, 1) < 0)
		return -1;
	return fd;
}

int net_tcp_pair(int pair[2])
{
	int door = net_tcp_listen(), one = 1;
	struct sockaddr_in there;
	socklen_t len = sizeof(there);

	if (door < 0 || getsockname(door, (struct sockaddr *)&there, &len) < 0)
		return -1;
	pair[0] = local_socket(SOCK_STREAM);
	if (pair[0] < 0 || connect(pair[0], (struct sockaddr *)&there, len) < 0)
		return -1;
	pair[1] = accept4(door, NULL, NULL, SOCK_CLOEXEC);
	if (pair[1] < 0)
		return -1;
	close(door);
	for (int i = 0; i < 2; i++)
		setsockopt(pair[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return 0;
}
