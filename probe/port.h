/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PORT_H
#define PORT_H

#include <stddef.h>

/*
 * Open the virtio port that the host calls @name, which it may announce only after
 * the driver has started. -1 and errno where it does not within a minute (ENODEV),
 * or where it cannot be opened.
 */
int port_open(const char *name, int flags);

/*
 * The virtio device that has the port that the host calls @name, as its driver and
 * sysfs do ("virtio0"): -1 where there is none.
 */
int port_device(const char *name, char *device, size_t size);

#endif /* PORT_H */
