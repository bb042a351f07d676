/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LULL_NET_H
#define LULL_NET_H

/*
 * 127.0.0.1 can be used: 0, or -1 with fail() called. Where it could not, it is
 * a machine of our own that nobody has set up, and it stays so.
 */
int net_loopback_up(void);
/* A TCP connection with itself, no data held back; -1 with errno. */
int net_tcp_pair(int pair[2]);
/* A TCP socket that listens at 127.0.0.1, at any port; -1 with errno. */
int net_tcp_listen(void);
/* A unix stream socket that listens, at an address without a name; -1 with errno. */
int net_unix_listen(void);
/* A UDP socket at 127.0.0.1, at any port; -1 with errno. */
int net_udp(void);
/* Two that are connected with each other; -1 with errno. */
int net_udp_pair(int pair[2]);

#endif
