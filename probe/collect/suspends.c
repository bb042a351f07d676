// SPDX-License-Identifier: GPL-2.0-only
/*
 * The steps freezer, recording and suspend: suspends that the kernel turns back once
 * all tasks are frozen, or all devices suspended, and one that it does not. "cycle N us
 * ERRNO" each, then what the kernel's log says of them, and what was traced.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"
#include "traced.h"
#include "undo.h"

#define STATE "/sys/power/state"
#define TEST "/sys/power/pm_test"
#define DELAY "/sys/module/suspend/parameters/pm_test_delay"
#define ALARM "/sys/class/rtc/rtc0/wakealarm"
/* From the write: so long a machine may take to come to rest, or it sleeps on. */
#define ALARM_S "30"
#define PAUSE_NS 200000000

/* The states are asked for in this order. */
struct kind {
	const char *level;	/* of pm_test */
	const char *states[4];
	bool traced;
	bool alarm;
};

static const struct kind *kind;
static const char *state;

static int small(const char *path, int flags, char *text, size_t size)
{
	char full[4096];
	ssize_t n;
	int fd, ret = 0;

	snprintf(full, sizeof(full), "%s%s", ask_root, path);
	fd = open(full, flags | O_CLOEXEC);
	if (fd < 0)
		return errno;
	n = flags == O_RDONLY ? read(fd, text, size - 1) : write(fd, text, size);
	if (n < 0)
		ret = errno;
	else if (flags == O_RDONLY)
		text[n] = '\0';
	close(fd);
	return ret;
}

/* Where nobody could tell what a switch means, it is not there. */
static int level_is(const char *wanted)
{
	char level[256];
	int error = small(TEST, O_RDONLY, level, sizeof(level));

	if (error == ENOENT && !strcmp(wanted, "none"))
		return 0;
	if (!error && strcmp(undo_value(level), wanted))
		error = ECANCELED;
	return error;
}

static int set_alarm(void)
{
	char in[] = "+" ALARM_S;

	sync();
	return small(ALARM, O_WRONLY, in, strlen(in));
}

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static void cycles(int fd)
{
	for (unsigned int i = 0; i < measure_times; i++) {
		char word[8];
		uint64_t begin;
		int error;

		/* Nobody may have taken it away: what follows would be a real suspend. */
		error = level_is(kind->level);
		if (!error && kind->alarm)
			error = set_alarm();
		begin = now_us();
		if (!error) {
			snprintf(word, sizeof(word), "%s", state);
			error = small(STATE, O_WRONLY, word, strlen(word));
		}
		dprintf(fd, "cycle\t%llu us\t%s\n", (unsigned long long)(now_us() - begin),
			error ? strerrorname_np(error) : "0");
		if (error)
			return;
		if (step_is_real())
			nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
	}
}

/* Not that of a line: "<6>[  812.100000] ...". */
static double stamp(const char *line)
{
	const char *at = strchr(line, '[');

	return at ? strtod(at + 1, NULL) : 0.0;
}

static double newest(void)
{
	const char *last;
	struct answer a;

	if (step_ask(step_is_real() ? ASK_LOG : ASK_READ, "/dev/kmsg", &a) || !a.len)
		return 0.0;
	last = memrchr(a.text, '\n', a.len - 1);
	return stamp(last ? last + 1 : a.text);
}

static void put_log(struct buf *out, double since)
{
	struct answer a;
	char *copy, *rest, *line;

	if (step_ask(step_is_real() ? ASK_LOG : ASK_READ, "/dev/kmsg", &a))
		return;
	copy = rest = strdup(a.text);
	buf_str(out, "log\n");
	while (copy && (line = next_line(&rest)) != NULL) {
		if (stamp(line) > since)
			buf_fmt(out, "%s\n", line);
	}
	free(copy);
}

static const char *find_state(void)
{
	struct answer a;

	if (step_ask_maybe(ASK_READ, STATE, &a))
		return NULL;
	for (const char *const *name = kind->states; *name; name++) {
		if (strstr(a.text, *name))
			return *name;
	}
	return NULL;
}

/* It is ours to set only where nobody else waits for one. */
static int take_alarm(void)
{
	char old[64];
	int error = small(ALARM, O_RDONLY, old, sizeof(old));

	if (!error && *undo_value(old))
		error = EBUSY;
	return error ? -error : undo_write(ALARM, "0", "0");
}

/* What all of them need, in place: false, and said, where something is not. */
static bool prepare(struct buf *out)
{
	int ret = undo_set(TEST, kind->level);

	if (ret == -ENOENT && !strcmp(kind->level, "none"))
		ret = 0;
	if (ret) {
		measure_lacks(out, "pm_test", -ret);
		return false;
	}
	/* Five seconds a cycle without it; not all kernels let it be set. */
	undo_set(DELAY, "0");
	ret = kind->alarm ? take_alarm() : 0;
	if (ret) {
		measure_lacks(out, "alarm", -ret);
		return false;
	}
	return !kind->traced || traced_begin(out);
}

static void suspends(struct buf *out, const struct kind *which)
{
	struct buf trace = { 0 };
	double since;
	int ret;

	kind = which;
	if (!measure_root(out))
		return;
	state = find_state();
	if (!state) {
		measure_lacks(out, "suspend", ENOENT);
		return;
	}
	since = newest();
	ret = undo_begin();
	if (ret) {
		measure_lacks(out, "note", -ret);
		return;
	}
	if (prepare(out)) {
		measure_child(out, cycles);
		if (kind->traced)
			traced_end(&trace);
	}
	ret = undo_end(step_undone);
	if (ret)
		measure_lacks(out, "back", -ret);
	put_log(out, since);
	if (trace.len) {
		buf_str(out, "trace\n");
		buf_add(out, trace.text, trace.len);
	}
	buf_free(&trace);
}

void freezer_run(struct buf *out)
{
	static const struct kind freezer = { "freezer", { "freeze", "mem", "standby" },
		false, false };

	suspends(out, &freezer);
}

/* The level after the last of the six phases. */
void recording_run(struct buf *out)
{
	static const struct kind devices = { "platform", { "freeze", "mem", "standby" },
		true, false };

	suspends(out, &devices);
}

void suspend_run(struct buf *out)
{
	static const struct kind real = { "none", { "mem", "freeze", "standby" }, true,
		true };

	suspends(out, &real);
}
