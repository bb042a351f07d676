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

static bool find_port(const char *name, char *path, size_t size)
{
	DIR *dir = opendir(PORTS);
	struct dirent *d;
	bool found = false;

	while (dir && !found && (d = readdir(dir))) {
		found = d->d_name[0] != '.' && is_called(d->d_name, name);
		if (found)
			snprintf(path, size, "/dev/%s", d->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

int port_open(const char *name, int flags)
{
	char path[300];

	for (int waited = 0; !find_port(name, path, sizeof(path)); waited += POLL_MS) {
		if (waited >= WAIT_MS) {
			errno = ENODEV;
			return -1;
		}
		usleep(POLL_MS * 1000);
	}
	return open(path, flags | O_CLOEXEC);
}
