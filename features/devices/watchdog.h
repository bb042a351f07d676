/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whoever is blocked for good stays so, and the kernel looks for no hung task in a
 * suspend: the watchdog ends the boot.
 */
#ifndef LULL_DEVICES_WATCHDOG_H
#define LULL_DEVICES_WATCHDOG_H

/* So many seconds until it does; 0: it does not. Fails where there is none. */
int watchdog_start(int seconds);
/* The seconds begin anew. */
int watchdog_feed(void);
void watchdog_stop(void);

#endif
