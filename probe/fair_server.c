// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "fair_server.h"
#include "util.h"

#define SERVERS "/sys/kernel/debug/sched/fair_server"

/* The write stops it, too: who writes is a fair task there, so that it runs. */
static int turn_off(const char *path, int cpu)
{
	char now[24];

	if (read_file(path, now, sizeof(now)) > 0 && !strcmp(now, "0\n"))
		return 0;
	if (pin_cpu(cpu) < 0)
		return -1;
	if (write_file(path, "0") < 0)
		return fail(STATUS_FAILED, path, "%s", strerror(errno));
	return 0;
}

int fair_server_off(void)
{
	char path[80];
	cpu_set_t set;
	int ret = 0;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return fail(STATUS_FAILED, "sched_getaffinity", "%s", strerror(errno));
	for (int cpu = 0; !ret; cpu++) {
		snprintf(path, sizeof(path), SERVERS "/cpu%d/runtime", cpu);
		if (!path_exists(path))
			break;
		ret = turn_off(path, cpu);
	}
	if (sched_setaffinity(0, sizeof(set), &set) < 0 && !ret)
		ret = fail(STATUS_FAILED, "sched_setaffinity", "%s", strerror(errno));
	return ret;
}
