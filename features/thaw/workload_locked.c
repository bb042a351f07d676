// SPDX-License-Identifier: GPL-2.0-only
/*
 * FZ12: a wait that somebody else waits for, without being freezable meanwhile:
 * who was frozen in it would let the freezer wait for that other one in vain.
 *
 *	tcp, unix-dgram		splice() fills a pipe from a socket, and sleeps with
 *				the pipe's mutex held; the other wants that mutex
 *	aio			io_submit() reads a pipe, and sleeps with its request
 *				begun; the other waits in io_destroy() for its end
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "crew.h"
#include "freezer.h"
#include "inject.h"
#include "knob.h"
#include "pair.h"
#include "safety.h"
#include "suspend.h"
#include "task.h"
#include "util.h"
#include "workload.h"

/* So many looks, each of which finds the one asleep and the other waiting. */
#define LOOKS 4
#define LOOK_MS 5

/* Shared: who they are, what they have done, and what went wrong. */
static struct two {
	volatile pid_t holder, waiter;
	volatile uint32_t inside;	/* the holder is in its call */
	volatile uint32_t taken, passed;
	volatile int error;
	volatile aio_context_t ctx;
} *two;

/* Where the holder waits, and the pipe that splice() fills. */
static struct pair *source;
static int fds[2] = { -1, -1 };
static pid_t pids[2];

static void give_up(void)
{
	two->error = errno;
	_exit(1);
}

/* Who is frozen, or signalled for it, may have an EINTR for it. */
static void keep_splicing(void *arg)
{
	(void)arg;
	two->holder = getpid();
	for (;;) {
		ssize_t n;

		two->inside = 1;
		n = splice(source->in, NULL, fds[1], NULL, sizeof(uint32_t), 0);
		two->inside = 0;
		if (n > 0)
			two->taken++;
		else if (errno != EINTR)
			give_up();
	}
}

static void keep_asking(void *arg)
{
	int bytes;

	(void)arg;
	two->waiter = getpid();
	for (;;) {
		if (ioctl(fds[0], FIONREAD, &bytes) < 0)
			give_up();
		two->passed++;
	}
}

/* For as long as there is a context to do away with. */
static void *keep_destroying(void *arg)
{
	two->waiter = gettid();
	for (;;) {
		while (!two->ctx)
			usleep(1000);
		/* Mostly the request has been submitted by then. */
		usleep(20000);
		if (syscall(SYS_io_destroy, two->ctx) < 0)
			give_up();
		two->passed++;
		two->ctx = 0;
	}
	return arg;
}

static void submit(void)
{
	uint32_t value = 0;
	struct iocb cb = {
		.aio_lio_opcode = IOCB_CMD_PREAD,
		.aio_fildes = (uint32_t)source->in,
		.aio_buf = (uintptr_t)&value,
		.aio_nbytes = sizeof(value),
	}, *list = &cb;
	aio_context_t ctx = 0;
	long n;

	if (syscall(SYS_io_setup, 1, &ctx) < 0)
		give_up();
	two->inside = 1;
	two->ctx = ctx;
	n = syscall(SYS_io_submit, ctx, 1, &list);
	two->inside = 0;
	if (*(volatile uint32_t *)&value)
		two->taken++;
	/* EINVAL: it was done away with before. */
	if (n < 0 && errno != EINVAL && errno != EINTR)
		give_up();
	while (two->ctx)
		usleep(1000);
}

static void keep_submitting(void *arg)
{
	pthread_t thread;

	two->holder = getpid();
	errno = pthread_create(&thread, NULL, keep_destroying, arg);
	if (errno)
		give_up();
	for (;;)
		submit();
}

static bool is_held(void)
{
	return two->holder && two->waiter && two->inside && task_state(two->holder) == 'S' &&
	       task_state(two->waiter) == 'D';
}

/* Until the one sleeps in its call, and the other is stuck behind it. */
static int wait_held(void)
{
	int looks = 0;

	for (int ms = 0; looks < LOOKS; ms += LOOK_MS) {
		if (two->error)
			return fail(STATUS_LACKING, source->kind->name, "this cannot be tried: %s",
				    strerror(two->error));
		if (ms > TRIAL_LIMIT_MS)
			return fail(STATUS_UNMET, source->kind->name,
				    "nobody waits for who waits: nothing would be tested");
		if (check_interrupted() < 0)
			return -1;
		looks = is_held() ? looks + 1 : 0;
		sleep_ms(LOOK_MS);
	}
	return 0;
}

/*
 * What is sent gets to the one, which lets the other go on: at the second time
 * at the latest, when a mutex is handed over.
 */
static int both_go_on(bool *go_on)
{
	uint32_t taken, passed;
	int sends = 3;

	if (wait_held() < 0)
		return -1;
	passed = two->passed;
	do {
		taken = two->taken;
		if (source->kind->wake(source, ++source->sent) < 0)
			return fail(STATUS_FAILED, source->kind->name, "cannot send: %s",
				    strerror(errno));
		*go_on = trial_reaches(&two->taken, taken + 1);
		sleep_ms(LOOKS * LOOK_MS);
	} while (*go_on && two->passed == passed && --sends);
	*go_on = *go_on && trial_reaches(&two->passed, passed + 1);
	return check_interrupted();
}

static int locked_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t cycles = job_number(c, "cycles"), done;
	int error = 0;
	bool go_on = false;

	for (done = 0; done < cycles; done++) {
		if (wait_held() < 0)
			return -1;
		error = suspend_cycle();
		if (check_interrupted() < 0)
			return -1;
		if (error)
			break;
	}
	if (both_go_on(&go_on) < 0)
		return -1;
	sample_add(s, "cycles", (double)done);
	return inject_verdict(c, "FZ12", mode, !error && go_on,
			      ", %s: %llu of %llu cycles%s%s, %s", job_param(c, "how"),
			      (unsigned long long)done, (unsigned long long)cycles,
			      error ? ", then " : "", error ? strerror(error) : "",
			      go_on ? "both go on" : "they do not go on");
}

static int start(const char *how)
{
	bool aio = !strcmp(how, "aio");
	const struct pair_kind *kind = pair_kind_named(aio ? "pipe-read" : how);

	if (!kind || pair_open(source, kind) < 0)
		return -1;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return fail(STATUS_FAILED, "pipe", "no pipe: %s", strerror(errno));
	pids[0] = trial_fork("lull-holder", aio ? keep_submitting : keep_splicing, NULL);
	if (pids[0] < 0)
		return -1;
	if (!aio)
		pids[1] = trial_fork("lull-waiter", keep_asking, NULL);
	return pids[1] < 0 ? -1 : 0;
}

static int locked_setup(const struct job_case *c)
{
	if (!two)
		two = crew_memory(sizeof(*two));
	if (!source)
		source = crew_memory(sizeof(*source));
	if (!two || !source || trial_setup(c) < 0 || knob_write(FREEZER_TIMEOUT, job_param(c, "give_up_ms")) < 0)
		return -1;
	*two = (struct two){ 0 };
	return start(job_param(c, "how"));
}

static void locked_teardown(void)
{
	/* The holder first: the other cannot die before it. */
	crew_end(&pids[0]);
	crew_end(&pids[1]);
	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
	if (source)
		pair_close(source);
}

static const struct workload_param params[] = {
	TRIAL_PARAMS,
	{ "how", "unix-dgram" },
	{ "cycles", "10" },
	/* Longer than whatever a host delays, but where it is to come to that. */
	{ "give_up_ms", "120000" },
	{ 0 },
};

static const struct workload workload_locked = {
	.feature = "thaw",
	.name = "locked",
	.text = "somebody waits for who waits, and cannot be frozen before",
	.params = params,
	.setup = locked_setup,
	.round = locked_round,
	.teardown = locked_teardown,
};
WORKLOAD(workload_locked);
