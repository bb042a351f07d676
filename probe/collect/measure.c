// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"

/* How long a child that was killed may take to go. */
#define GRACE_MS 1000
#define TRY_NS 1000000

unsigned int measure_times;

/* In the order in which they are taken: what disturbs most comes last. */
const struct measure measures[] = {
	{ "sleep-hooks", { "sleep-hooks", hooks_run },
	  "reads the journal of the last suspend, and changes nothing", 1, 20, false },
	{ "attach", { "attach", attach_run },
	  "makes two cgroups, moves a child of its own between them %u times, 50 ms "
	  "apart, and removes them; while it moves, nobody can fork, some 20 ms each time",
	  200, 60, true },
	{ "zfree", { "zfree", zfree_run },
	  "writes 64 MiB of its own to zram and unmaps them, %u times", 5, 60, true },
	{ "freezer", { "freezer", freezer_run },
	  "stops all processes and lets them go on, %u times: nothing answers meanwhile, "
	  "for 20 s if one refuses; nothing is suspended; pm_test and pm_test_delay are "
	  "set for it, and put back", 5, 150, true },
	{ "devices", { "recording", recording_run },
	  "suspends all devices and resumes them, the screen and the network with them, "
	  "and records it; how often: %u; the machine does not sleep; pm_test and "
	  "pm_test_delay are set for it, a buffer of ftrace is made, and all put back", 1, 120, true },
	{ "suspend", { "suspend", suspend_run },
	  "writes what is unwritten to the disks, suspends the machine, and records it; "
	  "how often: %u; its clock is set to wake it after 30 s: if that does not, a key "
	  "has to; a buffer of ftrace is made, and all put back", 1, 300, true },
	{ NULL, { 0 }, NULL, 0, 0, false },
};

const struct measure *measure_find(const char *name)
{
	for (const struct measure *m = measures; m->name; m++) {
		if (!strcmp(m->name, name))
			return m;
	}
	return NULL;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
void measure_plan(const struct measure *const *chosen, unsigned int times, struct buf *out)
{
	for (; *chosen; chosen++) {
		buf_fmt(out, "%s: ", (*chosen)->name);
		buf_fmt(out, (*chosen)->plan, times ? times : (*chosen)->times);
		buf_fmt(out, "; %u s at most\n", (*chosen)->seconds);
	}
}
#pragma GCC diagnostic pop

bool measure_changes(const struct measure *const *chosen)
{
	for (; *chosen; chosen++) {
		if ((*chosen)->changes)
			return true;
	}
	return false;
}

int measure_consent(const struct buf *plan)
{
	char answer[16];

	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return -1;
	fprintf(stderr, "%sGo on? [y/N] ", plan->text);
	if (!fgets(answer, sizeof(answer), stdin))
		return 0;
	return !strcmp(answer, "y\n") || !strcmp(answer, "yes\n");
}

void measure_lacks(struct buf *out, const char *word, int error)
{
	const char *name = strerrorname_np(error);

	buf_fmt(out, "lacks\t%s\t%s\n", word, name ? name : "-");
}

bool measure_root(struct buf *out)
{
	if (!step_is_real() || !geteuid())
		return true;
	measure_lacks(out, "root", EPERM);
	return false;
}

/* What comes until the end of the pipe, or of the time. */
static int take(struct buf *out, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char text[4096];

	for (;;) {
		int ready = poll(&p, 1, (int)step_ms());
		ssize_t n;

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready < 0)
			return -errno;
		if (!ready)
			return -ETIMEDOUT;
		n = read(fd, text, sizeof(text));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		buf_add(out, text, (size_t)n);
	}
}

static void reap(pid_t pid)
{
	uint64_t end = now_ms() + GRACE_MS;

	while (!waitpid(pid, NULL, WNOHANG) && now_ms() < end)
		nanosleep(&(struct timespec){ .tv_nsec = TRY_NS }, NULL);
}

int measure_child(struct buf *out, void (*work)(int fd))
{
	pid_t pid, self = getpid();
	int ends[2], ret;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid < 0) {
		ret = -errno;
		close(ends[0]);
		close(ends[1]);
		return ret;
	}
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[0]);
		if (getppid() == self)
			work(ends[1]);
		_exit(0);
	}
	close(ends[1]);
	ret = take(out, ends[0]);
	close(ends[0]);
	if (ret)
		kill(pid, SIGKILL);
	reap(pid);
	if (ret == -ETIMEDOUT)
		buf_str(out, "late\n");
	return ret;
}
