// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <unistd.h>

#include "init.h"
#include "out.h"
#include "port.h"
#include "util.h"

#define PORT_NAME "lull.results"
#define PORT_DRIVER "/sys/bus/virtio/drivers/virtio_console/"
#define CLOCK_WAIT_MS 3000

static int results = -1;
static char results_device[64];

static const struct {
	const char *type, *at;
} mounts[] = {
	{ "proc", "/proc" },
	{ "sysfs", "/sys" },
	{ "devtmpfs", "/dev" },
	{ "tmpfs", "/tmp" },
	{ "debugfs", "/sys/kernel/debug" },
	{ "tracefs", "/sys/kernel/tracing" },
	{ "cgroup2", "/sys/fs/cgroup" },
};

bool init_is_us(void)
{
	/* PID 1 of a container is not the init of a machine of our own. */
	return getpid() == 1 && getppid() == 0 && path_exists("/job");
}

static void open_console(void)
{
	int fd;

	/* An initramfs without /dev/console starts init with no descriptors. */
	do {
		fd = open("/dev/console", O_RDWR);
	} while (fd >= 0 && fd < STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

/*
 * About a second after boot the kernel trades the first clock for a refined
 * one and stops all CPUs for it. That is not to happen in a measurement.
 */
static void wait_clocksource(void)
{
	static const char path[] =
		"/sys/devices/system/clocksource/clocksource0/current_clocksource";
	char name[64];

	for (int waited = 0; waited < CLOCK_WAIT_MS; waited += 20) {
		if (read_file(path, name, sizeof(name)) < 0 || strcmp(name, "tsc-early\n"))
			return;
		sleep_ms(20);
	}
}

/* Those that the kernel was told to leave off at first: maxcpus=. The first never is. */
static void start_cpus(void)
{
	char path[64], state[8];

	for (unsigned int cpu = 1;; cpu++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
		if (read_file(path, state, sizeof(state)) < 0)
			return;
		if (!strcmp(state, "0\n") && write_file(path, "1") < 0)
			fprintf(stderr, "probe: cannot start CPU %u: %s\n", cpu, strerror(errno));
	}
}

void init_start(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		mkdir(mounts[i].at, 0755);
		if (mount(mounts[i].type, mounts[i].at, mounts[i].type, 0, NULL) < 0 &&
		    errno != EBUSY)
			fprintf(stderr, "probe: cannot mount %s: %s\n", mounts[i].at,
				strerror(errno));
	}
	open_console();
	start_cpus();
	/* The kernel hands us words of its command line that it does not know. */
	if (!getenv("lull_any_clock"))
		wait_clocksource();
}

int init_results(void)
{
	results = port_open(PORT_NAME, O_WRONLY);
	return results;
}

static int reopen_results(void)
{
	if (init_results() < 0)
		return -1;
	out_open(results);
	return 0;
}

int init_results_away(void)
{
	if (results < 0)
		return 0;
	if (port_device(PORT_NAME, results_device, sizeof(results_device)) < 0)
		return fail(STATUS_FAILED, PORT_NAME, "no device has the port");
	out_open(STDERR_FILENO);
	close(results);
	if (write_file(PORT_DRIVER "unbind", results_device) < 0) {
		int error = errno;

		reopen_results();
		return fail(STATUS_FAILED, PORT_DRIVER "unbind", "%s: %s", results_device,
			    strerror(error));
	}
	return 0;
}

int init_results_back(void)
{
	if (results < 0)
		return 0;
	if (write_file(PORT_DRIVER "bind", results_device) < 0 || reopen_results() < 0)
		return fail(STATUS_FAILED, PORT_DRIVER "bind", "%s: %s", results_device,
			    strerror(errno));
	return 0;
}

void init_power_off(void)
{
	/*
	 * Nothing to sync: every file system is in memory. A PC without ACPI
	 * cannot power off, the kernel would halt it; a reset ends our QEMU too.
	 */
	reboot(path_exists("/sys/firmware/acpi") ? RB_POWER_OFF : RB_AUTOBOOT);
	/* Neither: a halted guest is better than a panicking one. */
	reboot(RB_HALT_SYSTEM);
	for (;;)
		pause();
}
