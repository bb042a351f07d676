// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ask.h"

#define ANSWER_SIZE (16u << 20)
/* sysctl allocates as much as it is asked for. */
#define PIECE (64u << 10)
#define PATH_SIZE 4096
/* How long a child that was killed may stay: where no signal reaches, or at all. */
#define GRACE_MS 200
#define GRACE_MAX_MS 3000
/* How much longer than its limit a child has that is not let run. */
#define STARVED_MS 10000
#define STARVED_LOOK_MS 500
#define LOG_READ_ALL 3

/* Of one child: the next one gets another, for this one may yet wake up. */
struct desk {
	enum ask what;
	char path[PATH_SIZE];
	int error;
	size_t len;
	char text[ANSWER_SIZE];
};

const char *ask_root = "";

static struct desk *desk;
static pid_t child;
static int line = -1;

uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void put(struct desk *d, const char *text, size_t len)
{
	size_t left = ANSWER_SIZE - 1 - d->len;

	if (len > left)
		len = left;
	memcpy(d->text + d->len, text, len);
	d->len += len;
}

static int read_fd(struct desk *d, int fd)
{
	while (d->len < ANSWER_SIZE - 1) {
		size_t left = ANSWER_SIZE - 1 - d->len;
		ssize_t n = read(fd, d->text + d->len, left < PIECE ? left : PIECE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return 0;
		d->len += (size_t)n;
	}
	return -EFBIG;
}

static int read_path(struct desk *d)
{
	int fd = open(d->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int ret;

	if (fd < 0)
		return -errno;
	ret = read_fd(d, fd);
	close(fd);
	return ret;
}

static int read_link(struct desk *d)
{
	ssize_t n = readlink(d->path, d->text, PATH_SIZE);

	if (n < 0)
		return -errno;
	d->len = (size_t)n;
	return 0;
}

static char kind(unsigned char type)
{
	return type == DT_DIR ? 'd' : type == DT_LNK ? 'l' : 'f';
}

static bool matters(const char *target)
{
	return !strcmp(target, "/dev/fuse") || !strcmp(target, "/dev/kvm") ||
	       !strncmp(target, "anon_inode:kvm", 14);
}

static int list(struct desk *d, bool fds, bool all)
{
	char target[PATH_SIZE];
	DIR *dir = opendir(d->path);
	struct dirent *e;

	if (!dir)
		return -errno;
	while ((e = readdir(dir)) != NULL) {
		char head[3] = { kind(e->d_type), ' ', '\0' };
		ssize_t n;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (!fds) {
			put(d, head, 2);
			put(d, e->d_name, strlen(e->d_name));
			put(d, "\n", 1);
			continue;
		}
		n = readlinkat(dirfd(dir), e->d_name, target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = '\0';
		if (!all && !matters(target))
			continue;
		put(d, e->d_name, strlen(e->d_name));
		put(d, " ", 1);
		put(d, target, (size_t)n);
		put(d, "\n", 1);
	}
	closedir(dir);
	return 0;
}

static int read_stats(struct desk *d)
{
	DIR *dir = opendir(d->path);
	struct dirent *e;

	if (!dir)
		return -errno;
	while ((e = readdir(dir)) != NULL) {
		char name[64];
		size_t len;
		int fd;

		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		snprintf(name, sizeof(name), "%.32s/stat", e->d_name);
		fd = openat(dirfd(dir), name, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		len = d->len;
		if (!read_fd(d, fd))
			put(d, "", 1);
		else
			d->len = len;
		close(fd);
	}
	closedir(dir);
	return 0;
}

static int read_log(struct desk *d)
{
	int n = klogctl(LOG_READ_ALL, d->text, ANSWER_SIZE - 1);

	if (n < 0)
		return -errno;
	d->len = (size_t)n;
	return 0;
}

static char *const journal_words[] = {
	"journalctl", "--no-pager", "-q", "-o", "short-monotonic", "-n", "50000",
	"--since=-14days", "_TRANSPORT=kernel", NULL,
};

/* By the IDs of sd-messages.h: sleep begins, ends; a unit starts, has, stops, fails. */
static char *const sleep_words[] = {
	"journalctl", "--no-pager", "-q", "-o", "json", "-n", "20000", "--since=-14days",
	"--output-fields=MESSAGE_ID,UNIT,SLEEP,_SOURCE_REALTIME_TIMESTAMP",
	"MESSAGE_ID=6bbd95ee977941e497c48be27c254128",
	"MESSAGE_ID=8811e6df2a8e40f58a94cea26f8ebf14",
	"MESSAGE_ID=7d4958e842da4a758f6c1cdc7b36dcc5",
	"MESSAGE_ID=39f53479d3a045ac8e11786248231fbf",
	"MESSAGE_ID=de5b426a63be47a7b6ac3eaac82e2f6f",
	"MESSAGE_ID=9d1aaa27d60140bd96365438aad20286",
	"MESSAGE_ID=be02cf6855d2428ba40df7e9d022f03d", NULL,
};

static int read_journal(struct desk *d, char *const words[])
{
	static char *const env[] = { "LC_ALL=C", "TZ=UTC", NULL };
	int pipes[2], ret, status = 0;
	pid_t pid;

	if (access("/usr/bin/journalctl", X_OK) < 0)
		return -errno;
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		dup2(pipes[1], STDOUT_FILENO);
		execve("/usr/bin/journalctl", words, env);
		_exit(127);
	}
	close(pipes[1]);
	ret = read_fd(d, pipes[0]);
	close(pipes[0]);
	waitpid(pid, &status, 0);
	if (!ret && status)
		ret = -EIO;
	return ret;
}

static int work(struct desk *d)
{
	d->len = 0;
	switch (d->what) {
	case ASK_READ:
		return read_path(d);
	case ASK_LINK:
		return read_link(d);
	case ASK_LIST:
		return list(d, false, true);
	case ASK_FDS:
		return list(d, true, false);
	case ASK_ALL_FDS:
		return list(d, true, true);
	case ASK_STATS:
		return read_stats(d);
	case ASK_LOG:
		return read_log(d);
	case ASK_JOURNAL:
		return read_journal(d, journal_words);
	case ASK_SLEEPS:
		return read_journal(d, sleep_words);
	}
	return -EINVAL;
}

static void be_child(struct desk *d, int fd)
{
	char byte;

	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Who is left must not keep open the pipe that our reader waits on. */
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
		if (dup2(null, i) < 0)
			close(i);
	}
	/* With journalctl, which it starts, it is one group to be killed. */
	setpgid(0, 0);
	while (read(fd, &byte, 1) == 1) {
		d->error = work(d);
		d->text[d->len] = '\0';
		if (write(fd, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static int start(void)
{
	int ends[2];

	if (child)
		return 0;
	desk = mmap(NULL, sizeof(*desk), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (desk == MAP_FAILED)
		return -errno;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	child = fork();
	if (child < 0) {
		child = 0;
		return -errno;
	}
	if (!child) {
		close(ends[0]);
		be_child(desk, ends[1]);
	}
	setpgid(child, child);
	close(ends[1]);
	line = ends[0];
	return 0;
}

/* As ps has it; 0 where that cannot be seen. */
static char state_of(pid_t pid)
{
	char name[32], text[512];
	const char *end;
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	end = strrchr(text, ')');
	return end && end[1] ? end[2] : 0;
}

/* It waits for a CPU on a busy host, or was stopped. */
static bool kept_from_it(pid_t pid)
{
	char state = state_of(pid);

	return state == 'R' || state == 'T' || state == 't';
}

static uint64_t cpu_ms(pid_t pid)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts) < 0)
		return 0;
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Returns who is left, or 0. */
static pid_t stop(void)
{
	uint64_t begin = now_ms(), took;
	pid_t pid = child, gone;

	if (!pid)
		return 0;
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	while (!(gone = waitpid(pid, NULL, WNOHANG))) {
		/* Who waits for a CPU is on its way. */
		took = now_ms() - begin;
		if (took >= GRACE_MAX_MS || (took >= GRACE_MS && !kept_from_it(pid)))
			break;
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	close(line);
	munmap(desk, sizeof(*desk));
	line = -1;
	child = 0;
	return gone ? 0 : pid;
}

void ask_end(void)
{
	stop();
}

static int poll_until(struct pollfd *p, uint64_t end)
{
	uint64_t now;
	int ret;

	do {
		now = now_ms();
		ret = poll(p, 1, now < end ? (int)(end - now) : 0);
	} while (ret < 0 && errno == EINTR);
	return ret;
}

/* A limit is for who sleeps, or is at work for so long: not for who is not let run. */
static int wait_for_it(struct pollfd *p, unsigned int ms)
{
	uint64_t end = now_ms() + ms, last = end + STARVED_MS, ran = cpu_ms(child);
	int ret = poll_until(p, end);

	while (!ret && end < last && kept_from_it(child) && cpu_ms(child) - ran < ms) {
		end += STARVED_LOOK_MS;
		ret = poll_until(p, end);
	}
	/* Who sleeps by now may have answered before. */
	return ret ? ret : poll_until(p, 0);
}

int ask(enum ask what, const char *path, unsigned int ms, struct answer *a)
{
	struct pollfd p = { .events = POLLIN };
	char byte = 0;
	int ret;

	*a = (struct answer){ .text = "" };
	ret = start();
	if (ret)
		return ret;
	desk->what = what;
	if ((size_t)snprintf(desk->path, PATH_SIZE, "%s%s", ask_root, path) >= PATH_SIZE)
		return -ENAMETOOLONG;
	p.fd = line;
	if (write(line, &byte, 1) == 1) {
		ret = wait_for_it(&p, ms);
		if (ret == 1 && read(line, &byte, 1) == 1) {
			a->text = desk->text;
			a->len = desk->len;
			return desk->error;
		}
	} else {
		ret = 1;
	}
	a->left = stop();
	/* Whoever ended it: the kernel in its out-of-memory killer, or an oops. */
	return ret ? -ECHILD : -ETIMEDOUT;
}
