/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whoever is blocked for good stays so, and the kernel looks for no hung task in a
 * suspend: the watchdog ends the boot.
 */
#ifndef LULL_DEVICES_WATCHDOG_H
#define LULL_DEVICES_WATCHDOG_H

#include <stdint.h>

/* Who is not blocked takes less than so many times what a cycle took that went through. */
#define WATCHDOG_CYCLES 4

/*
 * So many seconds until it does; 0: it does not. Nothing where it runs already; fails
 * where there is none.
 */
int watchdog_start(int seconds);
/* The seconds begin anew. */
int watchdog_feed(void);
/* The same, and from now on there are no fewer than that many ns. */
int watchdog_outlast(uint64_t ns);
void watchdog_stop(void);

#endif
