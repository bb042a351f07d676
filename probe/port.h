/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PORT_H
#define PORT_H

/*
 * Open the virtio port that the host calls @name, which it may announce only after
 * the driver has started. -1 and errno where it does not within a minute (ENODEV),
 * or where it cannot be opened.
 */
int port_open(const char *name, int flags);

#endif /* PORT_H */
