// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/watchdog.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "util.h"
#include "watchdog.h"

#define WATCHDOG "/dev/watchdog"

static int watchdog = -1;

int watchdog_start(int seconds)
{
	if (!seconds)
		return 0;
	watchdog = open(WATCHDOG, O_WRONLY | O_CLOEXEC);
	if (watchdog < 0 || ioctl(watchdog, WDIOC_SETTIMEOUT, &seconds) < 0)
		return fail(STATUS_LACKING, WATCHDOG, "%s", strerror(errno));
	return 0;
}

int watchdog_feed(void)
{
	if (watchdog >= 0 && write(watchdog, "", 1) != 1)
		return fail(STATUS_FAILED, WATCHDOG, "%s", strerror(errno));
	return 0;
}

void watchdog_stop(void)
{
	if (watchdog < 0)
		return;
	/* Else it goes on when the file is closed. */
	if (write(watchdog, "V", 1) != 1)
		fprintf(stderr, "probe: " WATCHDOG " cannot be stopped\n");
	close(watchdog);
	watchdog = -1;
}
