// SPDX-License-Identifier: GPL-2.0-only
/* What stock refuses to move, every mode refuses, and with the same errno. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "groups.h"
#include "job.h"
#include "safety.h"
#include "util.h"
#include "workload.h"

#define NOBODY 65534

static struct cgroup dst, full;
/* One that sleeps, and one that has died. */
static pid_t sleeper, zombie;
static int *shared_errno;

static int write_text(const struct cgroup *cg, const char *file, const char *text)
{
	int64_t n = group_write(cg, file, text);

	return n < 0 ? (int)-n : 0;
}

static int write_pid(const struct cgroup *cg, pid_t pid)
{
	return safety_move(cg, "cgroup.procs", pid);
}

static int text_word(void)
{
	return write_text(&dst, "cgroup.procs", "abc");
}

static int text_negative(void)
{
	return write_text(&dst, "cgroup.procs", "-1");
}

static int text_overflow(void)
{
	return write_text(&dst, "cgroup.procs", "99999999999");
}

static int text_blank(void)
{
	return write_text(&dst, "cgroup.procs", " \n");
}

static int text_nothing(void)
{
	return write_text(&dst, "cgroup.procs", "");
}

static int text_half(void)
{
	return write_text(&dst, "cgroup.procs", "0 abc");
}

static int text_threads(void)
{
	return write_text(&dst, "cgroup.threads", "abc");
}

static int nobody_there(void)
{
	return write_pid(&dst, 4194303);
}

static int a_zombie(void)
{
	return write_pid(&dst, zombie);
}

/* The first kernel thread that is bound to a CPU. */
static int a_kthread(void)
{
	char path[64], comm[32];

	for (pid_t pid = 3; pid < 100; pid++) {
		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		if (read_file(path, comm, sizeof(comm)) > 0 && !strncmp(comm, "ksoftirqd/0", 11))
			return write_pid(&dst, pid);
	}
	return -1;
}

static int kthreadd(void)
{
	return write_pid(&dst, 2);
}

/* One with controllers for its children takes no processes itself. */
static int to_inner(void)
{
	return write_pid(&full, sleeper);
}

/* A file that was opened before its group was removed. */
static int removed_group(void)
{
	struct cgroup cg;
	int fd, error;

	if (group_mkdir(&cg, groups_top(), "removed"))
		return -1;
	fd = group_open(&cg, "cgroup.procs");
	if (fd < 0 || cgroup_remove(&cg) < 0)
		return -1;
	error = group_write_pid(fd, sleeper);
	close(fd);
	return error;
}

/* In a child, whose verdict comes back by shared memory. */
static int in_child(void (*fn)(void))
{
	pid_t self = getpid(), pid;

	*shared_errno = -1;
	pid = fork();
	if (!pid) {
		crew_member(self);
		fn();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return *shared_errno;
}

/* May write the file, but not take the process from where it is. */
static void as_nobody(void)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/cgroup.procs", dst.path);
	if (chown(path, NOBODY, NOBODY) < 0 || setuid(NOBODY) < 0)
		_exit(1);
	*shared_errno = write_pid(&dst, 0);
}

static int no_permission(void)
{
	return in_child(as_nobody);
}

static void in_namespace(void)
{
	pid_t pid;

	if (unshare(CLONE_NEWPID) < 0)
		_exit(1);
	pid = fork();
	if (!pid) {
		*shared_errno = write_pid(&dst, sleeper);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static int other_namespace(void)
{
	return in_child(in_namespace);
}

static const struct refusal {
	const char *what;
	int (*run)(void);
	int error;
} refusals[] = {
	{ "a word", text_word, EINVAL },
	{ "a negative number", text_negative, EINVAL },
	{ "a number too large", text_overflow, EINVAL },
	{ "blanks", text_blank, EINVAL },
	{ "an empty write", text_nothing, 0 },
	{ "a PID and a word", text_half, EINVAL },
	{ "a word to cgroup.threads", text_threads, EINVAL },
	{ "nobody's PID", nobody_there, ESRCH },
	{ "a zombie", a_zombie, 0 },
	{ "a kernel thread of a CPU", a_kthread, EINVAL },
	{ "kthreadd", kthreadd, EINVAL },
	{ "a group with controllers", to_inner, EBUSY },
	{ "no permission", no_permission, EACCES },
	{ "another PID namespace", other_namespace, ESRCH },
	{ "a removed group", removed_group, ENODEV },
};

static void zombie_main(void)
{
	_exit(0);
}

static int refusals_setup(const struct job_case *c)
{
	if (!shared_errno)
		shared_errno = crew_memory(sizeof(*shared_errno));
	if (!shared_errno || safety_start(c) < 0)
		return -1;
	if (group_make(&dst, "dst") < 0 || group_make(&full, "full") < 0 ||
	    cgroup_set(&full, "cgroup.subtree_control", "+memory") < 0)
		return -1;
	sleeper = safety_fork(safety_sleep);
	zombie = safety_fork(zombie_main);
	if (sleeper < 0 || zombie < 0)
		return -1;
	/* It dies meanwhile. */
	sleep_ms(50);
	return 0;
}

static int refusals_round(const struct job_case *c, const char *mode, struct sample *s)
{
	char text[400] = "";
	size_t len = 0;

	(void)s;
	for (unsigned int i = 0; i < ARRAY_SIZE(refusals); i++) {
		const struct refusal *r = &refusals[i];
		int error = r->run();

		if (error != r->error && len < sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s: %s: %d, not %d; ",
						mode, r->what, error, r->error);
	}
	if (!len)
		snprintf(text, sizeof(text), "%s: %zu refusals are stock's", mode,
			 ARRAY_SIZE(refusals));
	return report_check(c, "refusals", !len, text);
}

static void refusals_teardown(void)
{
	crew_end(&sleeper);
	crew_end(&zombie);
	safety_stop();
}

static const struct workload_param refusals_params[] = {
	SAFETY_PARAMS,
	{ 0 },
};

static const struct workload refusals_workload = {
	.feature = "attach",
	.name = "refusals",
	.text = "what no mode takes",
	.params = refusals_params,
	.setup = refusals_setup,
	.round = refusals_round,
	.teardown = refusals_teardown,
};

WORKLOAD(refusals_workload);
