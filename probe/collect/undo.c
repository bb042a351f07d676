// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ask.h"
#include "buf.h"
#include "step.h"
#include "undo.h"

#define NOTE_HEAD "lull-note 1 "
#define NOTE_SIZE 16384
#define PATH_SIZE 4096
#define VALUE_SIZE 256
/* A process that has just been killed may still be in the folder. */
#define RMDIR_TRIES 200
/* So long a run that is at its end is waited for. */
#define LOCK_TRIES 300
#define TRY_NS 10000000
/* So long a note is looked for. */
#define LOOK_MS 1000
/* The watcher waits for all who measure, one of whom may be where no signal reaches. */
#define END_TRIES 500

static struct buf note;		/* as it is on the disk */
static int lock = -1;
static int alive = -1;		/* open in all who measure: its end tells the watcher */
static pid_t watcher;

static void pause_a_bit(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = TRY_NS }, NULL);
}

static int place(char *full, const char *path)
{
	int n = snprintf(full, PATH_SIZE, "%s%s", ask_root, path);

	return n < PATH_SIZE ? 0 : -ENAMETOOLONG;
}

static int read_small(const char *path, char *text, size_t size)
{
	char full[PATH_SIZE];
	ssize_t n;
	int fd;

	if (place(full, path))
		return -ENAMETOOLONG;
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return n < 0 ? (int)n : 0;
}

static int write_small(const char *path, const char *value)
{
	char full[PATH_SIZE];
	int fd, ret = 0;

	if (place(full, path))
		return -ENAMETOOLONG;
	fd = open(full, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, value, strlen(value)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

char *undo_value(char *text)
{
	char *open = strchr(text, '['), *end = open ? strchr(open, ']') : NULL;

	if (end) {
		*end = '\0';
		return open + 1;
	}
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static void boot_id(char *text, size_t size)
{
	if (read_small("/proc/sys/kernel/random/boot_id", text, size))
		*text = '\0';
	text[strcspn(text, "\n")] = '\0';
}

static int sync_folder(void)
{
	char full[PATH_SIZE];
	int fd, ret = 0;

	place(full, UNDO_FOLDER);
	fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fsync(fd) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* The whole of it under a new name, then that of the old one: never half of it. */
static int save(const struct buf *b)
{
	char full[PATH_SIZE], fresh[PATH_SIZE];
	int fd, ret = 0;

	place(full, UNDO_NOTE);
	place(fresh, UNDO_NOTE ".new");
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return -errno;
	if (write(fd, b->text, b->len) != (ssize_t)b->len || fsync(fd) < 0)
		ret = errno ? -errno : -EIO;
	close(fd);
	if (!ret && rename(fresh, full) < 0)
		ret = -errno;
	return ret ? ret : sync_folder();
}

static int write_down(const char *kind, const char *path, const char *value)
{
	struct buf more = { 0 };
	int ret;

	/* A line of the note has neither, and the folder is not ours to choose. */
	if (strpbrk(path, "\t\n") || strpbrk(value, "\t\n"))
		return -EINVAL;
	buf_add(&more, note.text, note.len);
	buf_fmt(&more, "%s\t%s\t%s\n", kind, path, value);
	ret = more.len < NOTE_SIZE ? save(&more) : -ENOSPC;
	if (ret) {
		buf_free(&more);
		return ret;
	}
	buf_free(&note);
	note = more;
	return 0;
}

static int remove_folder(const char *path)
{
	char full[PATH_SIZE];

	if (place(full, path))
		return -ENAMETOOLONG;
	for (int i = 0; rmdir(full) < 0; i++) {
		if (errno != EBUSY || i == RMDIR_TRIES)
			return -errno;
		pause_a_bit();
	}
	return 0;
}

static int take_back_one(char *line, undo_said said)
{
	char *path = strchr(line, '\t'), *value = path ? strchr(path + 1, '\t') : NULL;
	int ret;

	if (!value)
		return 0;
	*path++ = '\0';
	*value++ = '\0';
	if (!strcmp(line, "file"))
		ret = write_small(path, value);
	else
		ret = remove_folder(path);
	/* What is gone needs nothing; nor was all that is noted ever made. */
	if (ret == -ENOENT)
		ret = 0;
	if (said)
		said(path, value, -ret);
	return ret;
}

/* The last change first. The note goes when all of them are taken back. */
static int take_back(undo_said said)
{
	char text[NOTE_SIZE], boot[64], full[PATH_SIZE], *end;
	int ret = read_small(UNDO_NOTE, text, sizeof(text));

	if (ret)
		return ret == -ENOENT ? 0 : ret;
	boot_id(boot, sizeof(boot));
	end = strchr(text, '\n');
	if (strncmp(text, NOTE_HEAD, strlen(NOTE_HEAD)) || !end)
		return -EINVAL;
	*end++ = '\0';
	if (!strcmp(text + strlen(NOTE_HEAD), boot)) {
		for (size_t len = strlen(end); len; len = strlen(end)) {
			char *last;
			int one;

			end[len - 1] = '\0';
			last = strrchr(end, '\n');
			last = last ? last + 1 : end;
			one = take_back_one(last, said);
			*last = '\0';
			ret = ret ? ret : one;
		}
	} else if (said) {
		/* A start of the machine has set all of them anew. */
		said("", "", 0);
	}
	if (ret)
		return ret;
	place(full, UNDO_NOTE);
	return unlink(full) < 0 ? -errno : sync_folder();
}

static int open_folder(void)
{
	char full[PATH_SIZE], part[PATH_SIZE];
	struct stat st;

	if (place(full, UNDO_LOCK) || place(part, UNDO_FOLDER))
		return -ENAMETOOLONG;
	for (char *at = part + strlen(ask_root) + 1; (at = strchr(at, '/')); *at++ = '/') {
		*at = '\0';
		mkdir(part, 0755);
	}
	if (mkdir(part, 0755) < 0 && errno != EEXIST)
		return -errno;
	/* Who may write into it could have us write anywhere. */
	if (lstat(part, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
		return -EPERM;
	lock = open(full, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (lock < 0)
		return -errno;
	for (int i = 0; flock(lock, LOCK_EX | LOCK_NB) < 0; i++) {
		if (i == LOCK_TRIES) {
			close(lock);
			lock = -1;
			return -EBUSY;
		}
		pause_a_bit();
	}
	return 0;
}

static void close_folder(void)
{
	close(lock);
	lock = -1;
}

int undo_left(undo_said said)
{
	struct answer seen;
	char full[PATH_SIZE];
	int ret;

	/* Asked for by another: what holds it may be a file system that never answers. */
	ret = ask(ASK_READ, UNDO_NOTE, LOOK_MS, &seen);
	if (ret == -ENOENT || ret == -ENOTDIR || place(full, UNDO_NOTE))
		return 0;
	if (ret == -ETIMEDOUT)
		return ret;
	ret = open_folder();
	if (ret)
		return ret;
	/* It may have been of a run that came to its end meanwhile. */
	if (access(full, F_OK) == 0)
		ret = take_back(said) ? -EBUSY : 1;
	close_folder();
	return ret;
}

static void watch(int end)
{
	static const int deaf[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1,
		SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char byte;

	for (size_t i = 0; i < sizeof(deaf) / sizeof(*deaf); i++)
		signal(deaf[i], SIG_IGN);
	/* Whoever waits for our output waits for the run's, not for ours. */
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
		if (dup2(null, i) < 0)
			close(i);
	}
	setsid();
	while (read(end, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(take_back(NULL) ? 1 : 0);
}

int undo_begin(void)
{
	char boot[64];
	int ends[2], ret = open_folder();

	if (ret)
		return ret;
	if (pipe2(ends, O_CLOEXEC) < 0) {
		close_folder();
		return -errno;
	}
	/* What is left is not to be forgotten over what comes. */
	if (take_back(NULL)) {
		close(ends[0]);
		close(ends[1]);
		close_folder();
		return -EBUSY;
	}
	buf_free(&note);
	boot_id(boot, sizeof(boot));
	buf_fmt(&note, NOTE_HEAD "%s\n", boot);
	watcher = fork();
	if (!watcher) {
		close(ends[1]);
		watch(ends[0]);
	}
	close(ends[0]);
	alive = ends[1];
	if (watcher > 0)
		return 0;
	ret = -errno;
	close(alive);
	close_folder();
	return ret;
}

int undo_set(const char *path, const char *value)
{
	char text[VALUE_SIZE], *old;
	int ret = read_small(path, text, sizeof(text));

	if (ret)
		return ret;
	old = undo_value(text);
	return strcmp(old, value) ? undo_write(path, value, old) : 0;
}

int undo_write(const char *path, const char *value, const char *back)
{
	int ret = write_down("file", path, back);

	return ret ? ret : write_small(path, value);
}

int undo_mkdir(const char *path)
{
	char full[PATH_SIZE];
	int ret;

	if (place(full, path))
		return -ENAMETOOLONG;
	/* One that is there is somebody's, and not to be noted as ours. */
	if (access(full, F_OK) == 0)
		return -EEXIST;
	ret = write_down("folder", path, "");
	if (!ret && mkdir(full, 0755) < 0)
		ret = -errno;
	return ret;
}

int undo_end(undo_said said)
{
	int status = 0, ret = 0, tries = 0;
	pid_t gone;

	close(alive);
	alive = -1;
	ask_end();
	while (!(gone = waitpid(watcher, &status, WNOHANG)) && tries++ < END_TRIES)
		pause_a_bit();
	/* Without an end of them it is too early, and the watcher stays for that. */
	if (!gone)
		ret = -ETIMEDOUT;
	else if (status)
		ret = take_back(said);
	close_folder();
	return ret;
}
