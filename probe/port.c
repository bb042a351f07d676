// SPDX-License-Identifier: GPL-2.0-only
/* Needs nothing else of the probe: who stands by for a job has it as well. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "port.h"

#define PORTS "/sys/class/virtio-ports"
#define WAIT_MS 60000
#define POLL_MS 10

static bool is_called(const char *port, const char *wanted)
{
	char path[300], name[64];
	bool is = false;
	FILE *file;

	snprintf(path, sizeof(path), PORTS "/%s/name", port);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fgets(name, sizeof(name), file)) {
		name[strcspn(name, "\n")] = '\0';
		is = !strcmp(name, wanted);
	}
	fclose(file);
	return is;
}

static bool find_port(const char *name, char *port, size_t size)
{
	DIR *dir = opendir(PORTS);
	struct dirent *d;
	bool found = false;

	while (dir && !found && (d = readdir(dir))) {
		found = d->d_name[0] != '.' && is_called(d->d_name, name);
		if (found)
			snprintf(port, size, "%s", d->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

int port_open(const char *name, int flags)
{
	char port[256], path[300];

	for (int waited = 0; !find_port(name, port, sizeof(port)); waited += POLL_MS) {
		if (waited >= WAIT_MS) {
			errno = ENODEV;
			return -1;
		}
		usleep(POLL_MS * 1000);
	}
	snprintf(path, sizeof(path), "/dev/%s", port);
	return open(path, flags | O_CLOEXEC);
}

int port_device(const char *name, char *device, size_t size)
{
	char port[256], path[300], target[300];
	const char *last;
	ssize_t n;

	if (!find_port(name, port, sizeof(port)))
		return -1;
	snprintf(path, sizeof(path), PORTS "/%s/device", port);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return -1;
	target[n] = '\0';
	last = strrchr(target, '/');
	snprintf(device, size, "%s", last ? last + 1 : target);
	return 0;
}
