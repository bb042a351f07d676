// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper.h"
#include "knob.h"
#include "util.h"
#include "workload.h"

#define UEVENT "/sys/class/mem/null/uevent"
#define UEVENT_HELPER "/sys/kernel/uevent_helper"

/* The kernel hands what follows the number on, as SYNTH_ARG_LONG=1. */
#define UEVENT_LONG "add fe4d7c9d-b8c6-4a70-9ef1-3d8a58d18eed LONG=1"
#define LONG_MS 2000

int helper_install(void)
{
	char path[256];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n < 0)
		return fail(STATUS_FAILED, "/proc/self/exe", "cannot read it: %s",
			    strerror(errno));
	path[n] = '\0';
	return knob_write(UEVENT_HELPER, path);
}

int helper_call(enum helper_life life)
{
	return write_file(UEVENT, life == HELPER_LONG ? UEVENT_LONG : "add");
}

/* The kernel calls it with the subsystem's name. */
static bool is_helper(int argc, char **argv)
{
	const char *subsystem = getenv("SUBSYSTEM");

	return getpid() != 1 && argc == 2 && subsystem && getenv("SEQNUM") &&
	       !strcmp(argv[1], subsystem);
}

static int run_helper(int argc, char **argv)
{
	uint64_t end = getenv("SYNTH_ARG_LONG") ? now_ns() + LONG_MS * 1000000ull : 0;

	(void)argc;
	(void)argv;
	for (int i = 0; i < 4; i++) {
		read_number("/proc/sys/kernel/pid_max", 0);
		sched_yield();
	}
	while (now_ns() < end)
		getppid();
	return 0;
}

static const struct applet helper = { .claims = is_helper, .run = run_helper };

APPLET(helper);
