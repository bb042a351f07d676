// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thread's program: each of some threads forks a child that sleeps, writes
 * its PID to cgroup.procs, waits for it and sleeps, beside a loop of forks.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "forks.h"
#include "groups.h"
#include "job.h"
#include "latency.h"
#include "lull.h"
#include "perturb.h"
#include "util.h"
#include "workload.h"

#define THREADS_MAX 16
#define WRITES_MAX 20000

static struct cgroup groups[THREADS_MAX];
static struct latencies *writes;
static pid_t program;

struct thread {
	unsigned int number;
	uint64_t writes, sleep_ns, begin_ns, period_ns;
};

static void *thread_main(void *arg)
{
	struct thread *t = arg;
	uint64_t begin, due, now;
	pid_t pid;
	int fd;

	sleep_ns(t->begin_ns);
	due = now_ns();
	for (uint64_t i = 0; i < t->writes; i++) {
		pid = fork();
		if (!pid) {
			sleep_ns(t->sleep_ns);
			_exit(0);
		}
		fd = group_open(&groups[t->number], "cgroup.procs");
		begin = now_ns();
		if (pid < 0 || fd < 0 || group_write_pid(fd, pid))
			_exit(1);
		latencies_add(writes, now_ns() - begin);
		close(fd);
		if (waitpid(pid, NULL, 0) != pid)
			_exit(1);
		/* As the thread has it; or at a rate that no mode changes. */
		due += t->period_ns;
		now = now_ns();
		if (!t->period_ns)
			sleep_ns(t->sleep_ns);
		else if (due > now)
			sleep_ns(due - now);
	}
	return NULL;
}

static void program_main(const struct job_case *c, const uint64_t *phases)
{
	uint64_t n = job_number(c, "threads");
	struct thread threads[THREADS_MAX];
	pthread_t ids[THREADS_MAX];

	if (pin_cpu(WRITER_CPU) < 0)
		_exit(1);
	/* Then no child and no other thread runs before who has the CPU waits. */
	if (job_number(c, "fifo") &&
	    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 }) < 0)
		_exit(1);
	for (unsigned int i = 0; i < n; i++) {
		threads[i] = (struct thread){
			.number = i,
			.writes = job_number(c, "writes") / n,
			.sleep_ns = job_number(c, "sleep_us") * 1000,
			.begin_ns = phases[i],
			.period_ns = job_number(c, "period_us") * 1000,
		};
		if (pthread_create(&ids[i], NULL, thread_main, &threads[i]))
			_exit(1);
	}
	for (unsigned int i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	_exit(0);
}

static int attach_setup(const struct job_case *c)
{
	uint64_t n = job_number(c, "threads");
	char name[16];

	if (!n || n > THREADS_MAX || job_number(c, "writes") > WRITES_MAX)
		return fail(STATUS_USAGE, "threads", "1 to %d threads, up to %d writes",
			    THREADS_MAX, WRITES_MAX);
	if (forks_init() < 0 || groups_start(c) < 0 || groups_favor_dynmods(c) < 0)
		return -1;
	for (unsigned int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "test-%u", i);
		if (group_make(&groups[i], name) < 0)
			return -1;
	}
	if (!writes)
		writes = latencies_make(WRITES_MAX);
	return writes ? 0 : -1;
}

static int attach_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t phases[THREADS_MAX];
	pid_t probe = getpid();
	int status = 0;
	uint64_t begin;

	(void)mode;
	if (lull_stats_clear("attach") < 0)
		return -1;
	latencies_clear(writes);
	for (unsigned int i = 0; i < THREADS_MAX; i++)
		phases[i] = perturb_below(job_number(c, "sleep_us") * 1000 + 1);
	if (job_number(c, "storm") && forks_start() < 0)
		return -1;
	begin = now_ns();
	program = fork();
	if (!program) {
		crew_member(probe);
		program_main(c, phases);
	}
	if (program < 0 || waitpid(program, &status, 0) != program || status)
		return fail(STATUS_FAILED, "attach", "a write to cgroup.procs failed");
	program = 0;
	sample_add(s, "moves_s", (double)job_number(c, "writes") * 1e9 / (double)(now_ns() - begin));
	if (job_number(c, "storm") && forks_stop(s) < 0)
		return -1;
	latencies_report_tail(writes, "write", s);
	lull_stats_add("attach", s);
	return 0;
}

static void attach_teardown(void)
{
	forks_kill();
	if (program > 0)
		waitpid(program, NULL, 0);
	program = 0;
	groups_stop();
}

static const struct workload_param attach_params[] = {
	{ "threads", "4" },
	{ "writes", "400" },
	{ "sleep_us", "10000" },
	{ "period_us", "0" },
	{ "storm", "1" },
	{ "fifo", "0" },
	{ "v1", "0" },
	{ "favordynmods", "0" },
	{ 0 },
};

static const struct workload attach = {
	.feature = "attach",
	.name = "attach",
	.text = "threads that fork and write the child's PID to cgroup.procs",
	.params = attach_params,
	.setup = attach_setup,
	.round = attach_round,
	.teardown = attach_teardown,
};

WORKLOAD(attach);
