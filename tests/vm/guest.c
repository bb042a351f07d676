// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest for the tests of lull.vm: does what the first word of /job says.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mark.h"
#include "port.h"

static int results = -1;

static void say(const char *line)
{
	if (write(results, line, strlen(line)) < 0)
		perror("results");
}

static void slurp(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t got = fd < 0 ? 0 : read(fd, text, size - 1);

	text[got > 0 ? got : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		perror(path);
	if (fd >= 0)
		close(fd);
}

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Two processes fork side by side, so that both CPUs and the scheduler count. */
static void measure_forks(int rounds)
{
	pid_t other = fork(), child;
	long long start;
	char line[96];
	int i;

	for (i = 0; i < rounds; i++) {
		start = now();
		child = fork();
		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
		snprintf(line, sizeof(line),
			 "{\"t\":\"sample\",\"i\":%d,\"metrics\":{\"fork\":%lld}}\n",
			 i, now() - start);
		if (other)
			say(line);
	}
	if (!other)
		_exit(0);
	waitpid(other, NULL, 0);
}

/* 1,000 times three instructions, one of them locked; then an xchg. */
static void count_locked(void)
{
	static int word;

	mark_begin();
	__asm__ volatile("mov $1000, %%ecx\n"
			 "1:	lock incl %0\n"
			 "	dec %%ecx\n"
			 "	jnz 1b\n"
			 "	xchg %%eax, %0\n"
			 : "+m"(word) : : "eax", "ecx", "cc");
	mark_end();
}

/* What differs between guests that have had the same start. */
static void tell_state(void)
{
	unsigned char random[8];
	char line[160], *at = line;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		perror("getrandom");
	at += sprintf(at, "{\"t\":\"state\",\"random\":\"");
	for (size_t i = 0; i < sizeof(random); i++)
		at += sprintf(at, "%02x", random[i]);
	at += sprintf(at, "\",\"ns\":%lld}\n", now());
	say(line);
}

int main(void)
{
	char job[64];

	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	results = port_open("lull.results", O_WRONLY);
	slurp("/job", job, sizeof(job));
	if (!strncmp(job, "mute", 4))
		for (;;)
			pause();
	say("{\"t\":\"hello\",\"probe\":1,\"cpus\":2}\n");
	if (!strncmp(job, "panic", 5))
		put("/proc/sysrq-trigger", "c");
	if (!strncmp(job, "state", 5))
		tell_state();
	if (!strncmp(job, "exit", 4))
		return 3;
	if (!strncmp(job, "warn", 4)) {
		/* Goes on, and is heard of, but never comes to an end. */
		for (put("/dev/kmsg", "WARNING: by the guest");; sleep(1))
			put("/dev/kmsg", "still here");
	}
	if (!strncmp(job, "hang", 4))
		for (;;)
			pause();
	if (!strncmp(job, "spin", 4))
		for (;;)
			;
	if (!strncmp(job, "suspend", 7))
		put("/sys/power/state", "mem");
	if (!strncmp(job, "error", 5))
		say("{\"t\":\"error\",\"what\":\"no zram\",\"where\":\"zfree\","
		    "\"hint\":\"\"}\n{\"t\":\"done\",\"samples\":0,\"ok\":false}\n");
	else if (!strncmp(job, "forks", 5))
		measure_forks(200);
	else if (!strncmp(job, "count", 5))
		count_locked();
	else if (!strncmp(job, "quote", 5))
		printf("WARNING: CPU: 0 PID: 1 at the user's own text\n");
	if (strncmp(job, "silent", 6) && strncmp(job, "error", 5))
		say("{\"t\":\"done\",\"samples\":0,\"ok\":true}\n");
	if (!strncmp(job, "stay", 4))
		for (;;)
			pause();
	fflush(stdout);
	reboot(RB_POWER_OFF);
	return 0;
}
