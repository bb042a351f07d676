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

/* softdog takes no more. */
#define SECONDS_MAX 65535

static int watchdog = -1;
static int limit;

/* They begin anew by it. */
static int give(int seconds)
{
	limit = seconds;
	if (ioctl(watchdog, WDIOC_SETTIMEOUT, &seconds) < 0)
		return fail(STATUS_LACKING, WATCHDOG, "%s", strerror(errno));
	return 0;
}

int watchdog_start(int seconds)
{
	if (!seconds || watchdog >= 0)
		return 0;
	watchdog = open(WATCHDOG, O_WRONLY | O_CLOEXEC);
	if (watchdog < 0)
		return fail(STATUS_LACKING, WATCHDOG, "%s", strerror(errno));
	return give(seconds);
}

int watchdog_feed(void)
{
	if (watchdog >= 0 && write(watchdog, "", 1) != 1)
		return fail(STATUS_FAILED, WATCHDOG, "%s", strerror(errno));
	return 0;
}

int watchdog_outlast(uint64_t ns)
{
	uint64_t seconds = ns / 1000000000 + 1;

	if (watchdog < 0 || seconds <= (uint64_t)limit)
		return watchdog_feed();
	return give(seconds < SECONDS_MAX ? (int)seconds : SECONDS_MAX);
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
