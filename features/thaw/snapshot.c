// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/suspend_ioctls.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "snapshot.h"
#include "suspend.h"
#include "util.h"

#define DEVICE "/dev/snapshot"

/* Open while frozen only: a child that had it, too, would keep it open. */
static int device = -1;

int snapshot_freeze(void)
{
	int error;

	device = open(DEVICE, O_RDONLY | O_CLOEXEC);
	if (device < 0)
		return fail(errno == ENOENT ? STATUS_LACKING : STATUS_FAILED, DEVICE,
			    "cannot open it: %s", strerror(errno));
	if (!ioctl(device, SNAPSHOT_FREEZE))
		return 0;
	error = errno;
	snapshot_end();
	return suspend_failed(error);
}

int snapshot_thaw(void)
{
	int error = ioctl(device, SNAPSHOT_UNFREEZE) < 0 ? errno : 0;

	snapshot_end();
	if (check_interrupted() < 0)
		return -1;
	return error ? fail(STATUS_FAILED, DEVICE, "cannot thaw: %s", strerror(error)) : 0;
}

void snapshot_end(void)
{
	if (device >= 0)
		close(device);
	device = -1;
}
