// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "forks.h"
#include "latency.h"
#include "util.h"

#define FORKS_MAX 100000

static struct shared {
	volatile int stop;
	volatile uint64_t forks, begin, end;
	/* When the child of the moment ended. */
	volatile uint64_t exit_at;
} *shared;
static struct latencies *fork_ns, *exit_ns;
static pid_t loop;

int forks_init(void)
{
	if (!shared)
		shared = crew_memory(sizeof(*shared));
	if (!fork_ns)
		fork_ns = latencies_make(FORKS_MAX);
	if (!exit_ns)
		exit_ns = latencies_make(FORKS_MAX);
	return shared && fork_ns && exit_ns ? 0 : -1;
}

static void run(void)
{
	uint64_t begin, forked;

	shared->begin = now_ns();
	while (!shared->stop) {
		pid_t pid;

		begin = now_ns();
		pid = fork();
		if (!pid) {
			shared->exit_at = now_ns();
			_exit(0);
		}
		forked = now_ns();
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			_exit(1);
		latencies_add(exit_ns, now_ns() - shared->exit_at);
		latencies_add(fork_ns, forked - begin);
		shared->forks++;
		shared->end = now_ns();
	}
	_exit(0);
}

int forks_start(void)
{
	pid_t probe = getpid();

	memset(shared, 0, sizeof(*shared));
	latencies_clear(fork_ns);
	latencies_clear(exit_ns);
	loop = fork();
	if (loop < 0)
		return fail(STATUS_FAILED, "fork", "%s", strerror(errno));
	if (!loop) {
		crew_member(probe);
		if (pin_cpu(FORK_CPU) < 0)
			_exit(1);
		run();
	}
	while (!shared->forks) {
		if (waitpid(loop, NULL, WNOHANG) == loop) {
			loop = 0;
			return fail(STATUS_FAILED, "forks", "they could not start");
		}
		sleep_ms(1);
	}
	return 0;
}

int forks_stop(struct sample *s)
{
	int status;

	shared->stop = 1;
	if (waitpid(loop, &status, 0) != loop || status)
		return fail(STATUS_FAILED, "forks", "they came to an end too soon");
	loop = 0;
	sample_add(s, "forks_s",
		   (double)shared->forks * 1e9 / (double)(shared->end - shared->begin));
	latencies_report(fork_ns, "fork", s);
	latencies_report(exit_ns, "exit", s);
	return 0;
}

void forks_kill(void)
{
	crew_end(&loop);
}
