// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many PIDs in one write, and what becomes of them when one is bad; and a kernel
 * thread that joins the cgroups of a process.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "groups.h"
#include "job.h"
#include "lull.h"
#include "safety.h"
#include "util.h"
#include "workload.h"

#define WORKER "/sys/kernel/debug/lull/attach/inject/worker"
#define WORKERS 20
/* More than TAKEN: one write takes no more. */
#define MANY 150
#define TAKEN 64
/* PIDs and what is between them. */
#define ALL_TEXT (MANY * 10)
/* 9 of 10 ms: a CPU has no room for a second of them. */
#define RUNTIME_NS 9000000
#define PERIOD_NS 10000000

static struct cgroup src, dst, full;
static pid_t pids[MANY];
static char failures[500];
static size_t failed;

static void expect(bool ok, const char *what, int64_t got)
{
	if (!ok && failed < sizeof(failures))
		failed += (size_t)snprintf(failures + failed, sizeof(failures) - failed,
					   "%s (%" PRId64 "); ", what, got);
}

static int64_t write_text(const struct cgroup *cg, const char *text)
{
	return group_write(cg, "cgroup.procs", text);
}

static unsigned int in(const struct cgroup *cg)
{
	return safety_lines(cg, "cgroup.procs");
}

static void all_back(void)
{
	for (unsigned int i = 0; i < MANY; i++)
		expect(!safety_move(&src, "cgroup.procs", pids[i]), "going back", i);
}

/* So many PIDs, and where the last that one write takes ends. */
static size_t list_pids(char *text, unsigned int nr, int64_t *taken)
{
	size_t len = 0;

	for (unsigned int i = 0; i < nr; i++) {
		len += (size_t)sprintf(text + len, "%d", pids[i]);
		if (i < TAKEN)
			*taken = (int64_t)len;
		len += (size_t)sprintf(text + len, "%s", i % 3 ? " " : "\n\t");
	}
	return len;
}

static void one_write_of_many(void)
{
	char text[ALL_TEXT];
	int64_t n, taken;
	size_t len;

	all_back();
	len = list_pids(text, TAKEN, &taken);
	n = write_text(&dst, text);
	expect(n == (int64_t)len && in(&dst) == TAKEN && in(&src) == MANY - TAKEN,
	       "a write of many", n);
}

/* For each write, cgroup_mutex is taken anew. */
static void more_than_one_write_takes(void)
{
	char text[ALL_TEXT], *rest = text;
	unsigned int writes = 1;
	int64_t n, taken;

	all_back();
	list_pids(text, MANY, &taken);
	if (lull_stats_clear("attach") < 0)
		expect(false, "clearing the counters", errno);
	n = write_text(&dst, text);
	expect(n == taken, "what one write takes", n);
	expect(lull_stat("attach", "group") == TAKEN && in(&dst) == TAKEN,
	       "locked and moved by one write", in(&dst));
	for (; n > 0 && *(rest += n); writes++)
		n = write_text(&dst, rest);
	expect(in(&dst) == MANY && writes == (MANY + TAKEN - 1) / TAKEN, "the rest of many",
	       writes);
}

static void a_page_of_one(void)
{
	char text[4096] = "", word[16];
	size_t len = 0, size;
	int64_t n;

	all_back();
	size = (size_t)snprintf(word, sizeof(word), "%d ", pids[0]);
	for (; len + size < sizeof(text); len += size)
		memcpy(text + len, word, size);
	n = write_text(&dst, text);
	expect(n == (int64_t)(size * TAKEN - 1) && in(&dst) == 1, "a page of the same PID", n);
}

static void the_same_twice(void)
{
	char text[64];
	int64_t n;

	all_back();
	n = sprintf(text, "%d %d %d", pids[0], pids[1], pids[0]);
	n -= write_text(&dst, text);
	expect(!n && in(&dst) == 2, "the same PID twice", n);
}

static void one_is_bad(const char *bad, int error)
{
	char text[64];
	int64_t n;

	all_back();
	snprintf(text, sizeof(text), "%d %s %d", pids[0], bad, pids[1]);
	n = write_text(&dst, text);
	expect(n == -error && !in(&dst), bad, n);
}

static void group_is_bad(void)
{
	char text[64];
	int64_t n;

	all_back();
	snprintf(text, sizeof(text), "%d %d", pids[0], pids[1]);
	n = write_text(&full, text);
	expect(n == -EBUSY && !in(&full), "a group with controllers", n);
	/* There already, and refused all the same. */
	n = write_text(&full, "0");
	expect(n == -EBUSY, "oneself to a group with controllers", n);
}

static void too_long(void)
{
	static char text[5000];
	int64_t n;

	all_back();
	memset(text, ' ', sizeof(text) - 1);
	memcpy(text, "0", 1);
	n = write_text(&dst, text);
	expect(n == -E2BIG && !in(&dst), "more than a page", n);
}

static int make_deadline(pid_t pid)
{
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = SCHED_DEADLINE,
		.sched_runtime = RUNTIME_NS,
		.sched_deadline = PERIOD_NS,
		.sched_period = PERIOD_NS,
	};

	return (int)syscall(SYS_sched_setattr, pid, &attr, 0);
}

/* Who sleeps is still on the CPU where that began: to stop, it has to go to one of its own. */
static bool wake_there(pid_t pid)
{
	bool stopped = !kill(pid, SIGSTOP) && waitpid(pid, NULL, WUNTRACED) == pid;

	return !kill(pid, SIGCONT) && stopped;
}

static void make_normal(pid_t pid)
{
	struct sched_attr attr = { .size = sizeof(attr) };

	syscall(SYS_sched_setattr, pid, &attr, 0);
}

/*
 * dst is where one CPU is a root domain, and somebody in it takes most of that: to whom
 * stays within a domain, newer kernels refuse nothing.
 */
static void controller_refuses(void)
{
	struct cgroup other = *groups_top();
	char first[32], text[64];
	int64_t n;

	*strrchr(other.path, '/') = '\0';
	all_back();
	/* Before: who is there has to leave that CPU, who comes later need not in 6.1. */
	expect(!safety_move(&other, "cgroup.procs", pids[1]) &&
	       !safety_move(&dst, "cgroup.procs", pids[2]), "both domains", 0);
	expect(!cgroup_set(groups_top(), "cpuset.cpus", "1") &&
	       !cgroup_set(groups_top(), "cpuset.cpus.partition", "root"), "a partition", 0);
	for (unsigned int i = 1; i <= 2; i++)
		expect(wake_there(pids[i]) && !make_deadline(pids[i]), "SCHED_DEADLINE", i);
	snprintf(first, sizeof(first), "%d", pids[0]);
	snprintf(text, sizeof(text), "%s %d %d", first, pids[1], pids[3]);
	n = write_text(&dst, text);
	expect(n == (int64_t)strlen(first) && in(&dst) == 2, "a controller refuses the second", n);
	if (n > 0) {
		n = write_text(&dst, text + n);
		expect(n == -EBUSY && in(&dst) == 2, "the rest of that write", n);
	}
	make_normal(pids[1]);
	make_normal(pids[2]);
	expect(!cgroup_set(groups_top(), "cpuset.cpus.partition", "member") &&
	       !cgroup_set(groups_top(), "cpuset.cpus", "0-1"), "no partition", 0);
}

/* Does the mode have that step? By its name: "lull", or "lull-" one that it is without. */
static bool has_step(const char *mode, const char *step)
{
	return !strncmp(mode, "lull", 4) && (!mode[4] || strcmp(mode + 5, step));
}

/*
 * kthread_stop() returns as soon as the thread has given its memory back, which is
 * before it leaves its cgroup.
 */
static bool worker_ends(void)
{
	for (unsigned int ms = 0; ms < 10000 && in(&dst) != 1; ms++)
		sleep_ms(1);
	return in(&dst) == 1;
}

/* As one of vhost's does, which on stock locks all out. */
static void worker_joins(const char *mode)
{
	uint64_t worker, locked = strncmp(mode, "lull", 4) ? WORKERS : 0;
	char text[16];

	snprintf(text, sizeof(text), "%d", pids[0]);
	expect(!safety_move(&dst, "cgroup.procs", pids[0]), "going there", errno);
	expect(!lull_stats_clear("attach"), "clearing counts", errno);
	for (unsigned int i = 0; i < WORKERS; i++) {
		expect(!write_file(WORKER, text), "starting a worker", errno);
		worker = read_number(WORKER, 0);
		expect(worker && group_has(&dst, (pid_t)worker), "the worker's cgroup",
		       (int64_t)worker);
	}
	write_file(WORKER, "0");
	expect(lull_stat("attach", "global") == locked, "locks of all for workers",
	       (int64_t)lull_stat("attach", "global"));
	expect(worker_ends(), "the worker ends", in(&dst));
}

static int batch_setup(const struct job_case *c)
{
	if (safety_start(c) < 0 || group_make(&src, "src") < 0 || group_make(&dst, "dst") < 0 ||
	    group_make(&full, "full") < 0 ||
	    (!job_number(c, "v1") && cgroup_set(&full, "cgroup.subtree_control", "+memory") < 0))
		return -1;
	return 0;
}

static int start_all(void)
{
	for (unsigned int i = 0; i < MANY; i++) {
		pids[i] = safety_fork(safety_sleep);
		if (pids[i] < 0)
			return -1;
	}
	return 0;
}

static void end_all(void)
{
	for (unsigned int i = 0; i < MANY; i++)
		crew_end(&pids[i]);
}

static int batch_round(const struct job_case *c, const char *mode, struct sample *s)
{
	char text[600];
	int64_t n;

	(void)s;
	failed = 0;
	failures[0] = '\0';
	if (start_all() < 0)
		return -1;
	if (!has_step(mode, "many") || job_number(c, "v1")) {
		all_back();
		snprintf(text, sizeof(text), "%d %d", pids[0], pids[1]);
		n = write_text(&dst, text);
		expect(n == -EINVAL && !in(&dst), "two PIDs, which only lull takes, on v2", n);
	} else {
		one_write_of_many();
		more_than_one_write_takes();
		a_page_of_one();
		the_same_twice();
		one_is_bad("4194303", ESRCH);
		one_is_bad("abc", EINVAL);
		one_is_bad("-1", EINVAL);
		one_is_bad("2", EINVAL);
		group_is_bad();
		too_long();
		/* Once a boot: SCHED_DEADLINE was refused after it. */
		if (!strcmp(mode, "lull"))
			controller_refuses();
	}
	all_back();
	if (!job_number(c, "v1"))
		worker_joins(mode);
	end_all();
	snprintf(text, sizeof(text), "%s: %s", mode, failed ? failures : "as it should be");
	return report_check(c, "batch", !failed, text);
}

static void batch_teardown(void)
{
	end_all();
	safety_stop();
}

static const struct workload_param batch_params[] = {
	SAFETY_PARAMS,
	{ 0 },
};

static const struct workload batch = {
	.feature = "attach",
	.name = "batch",
	.text = "many PIDs in one write, and a kernel thread that moves itself",
	.params = batch_params,
	.setup = batch_setup,
	.round = batch_round,
	.teardown = batch_teardown,
};

WORKLOAD(batch);
