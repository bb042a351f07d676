// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "groups.h"
#include "inject.h"
#include "safety.h"
#include "unrest.h"
#include "util.h"

#define SWITCH "/sys/module/lull/parameters/attach"
#define EMPTY_MS 10000
#define EXACT_MS 5000
/* How often a pause becomes twice as long. */
#define LONGER 4

static pid_t switcher;
static uint64_t in_vain;

static void switch_all_the_time(void)
{
	static const char *const modes[] = { "stock", "lull", "threadgroup", "lull",
					     "stock", "threadgroup" };

	for (unsigned int i = 0;; i++) {
		if (write_file(SWITCH, modes[i % ARRAY_SIZE(modes)]) < 0)
			_exit(1);
		sleep_ns(2000000);
	}
}

int safety_start(const struct job_case *c)
{
	if (groups_start(c) < 0 || inject_case(c) < 0)
		return -1;
	if (!job_number(c, "switchers"))
		return 0;
	switcher = safety_fork(switch_all_the_time);
	return switcher < 0 ? -1 : 0;
}

int safety_round(const struct job_case *c)
{
	in_vain = 0;
	return inject_pauses(c) ? inject_number("attach", "pause_us", job_number(c, "pause_us")) :
				  0;
}

int safety_in_vain(const struct job_case *c, uint64_t n)
{
	if (!inject_pauses(c) || ++in_vain % n || in_vain > LONGER * n)
		return 0;
	return inject_number("attach", "pause_us", job_number(c, "pause_us") << in_vain / n);
}

void safety_stop(void)
{
	unrest_stop();
	crew_end(&switcher);
	groups_stop();
}

pid_t safety_fork(void (*fn)(void))
{
	pid_t pid = crew_fork(PAUSE_NAME);

	if (pid)
		return pid;
	fn();
	_exit(1);
}

void safety_sleep(void)
{
	for (;;)
		pause();
}

void gate_pass(struct gate *gate)
{
	/* It may be closed anew before who waits is no longer counted. */
	while (gate->closed) {
		__atomic_add_fetch(&gate->waiting, 1, __ATOMIC_SEQ_CST);
		while (gate->closed)
			usleep(100);
		__atomic_sub_fetch(&gate->waiting, 1, __ATOMIC_SEQ_CST);
	}
}

void gate_close(struct gate *gate, int n)
{
	gate->closed = 1;
	while (gate->waiting < n)
		usleep(100);
}

void gate_open(struct gate *gate)
{
	gate->closed = 0;
}

bool safety_is_exact(const struct cgroup *cg, uint64_t *says, unsigned int *listed)
{
	for (unsigned int ms = 0; ms < EXACT_MS; ms++) {
		*listed = safety_lines(cg, "cgroup.threads");
		*says = group_number(cg, "pids.current", 0);
		if (*says == *listed)
			return true;
		sleep_ms(1);
	}
	return false;
}

int safety_move(const struct cgroup *to, const char *file, pid_t pid)
{
	char text[16];
	int64_t n;

	snprintf(text, sizeof(text), "%d", pid);
	n = group_write(to, file, text);
	return n < 0 ? (int)-n : 0;
}

unsigned int safety_lines(const struct cgroup *cg, const char *file)
{
	char path[400], *text;
	unsigned int lines = 0;

	snprintf(path, sizeof(path), "%s/%s", cg->path, file);
	text = read_whole(path);
	for (char *at = text; at && *at; at++)
		lines += *at == '\n';
	free(text);
	return lines;
}

bool safety_empties(const struct cgroup *cg, bool v1)
{
	for (unsigned int ms = 0; ms < EMPTY_MS; ms++) {
		if (!safety_lines(cg, v1 ? "tasks" : "cgroup.threads"))
			return true;
		sleep_ms(1);
	}
	return false;
}
