// SPDX-License-Identifier: GPL-2.0-only
/* Waits for a signal: another process's, or a timer's. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "pair.h"
#include "util.h"

/* A sleeper's own. */
static timer_t timer;
static int signals = -1;

static void the_signal(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGRTMIN);
}

static int start_signal(struct pair *p)
{
	sigset_t set;

	(void)p;
	the_signal(&set);
	return sigprocmask(SIG_BLOCK, &set, NULL);
}

static int start_signalfd(struct pair *p)
{
	sigset_t set;

	the_signal(&set);
	signals = signalfd(-1, &set, SFD_CLOEXEC);
	return signals < 0 ? -1 : start_signal(p);
}

static int start_timer(struct pair *p)
{
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };

	return timer_create(CLOCK_MONOTONIC, &ev, &timer) < 0 ? -1 : start_signal(p);
}

static int start_signalfd_timer(struct pair *p)
{
	return start_signalfd(p) < 0 ? -1 : start_timer(p);
}

static int64_t wait_signalfd(struct pair *p, int64_t ns)
{
	struct signalfd_siginfo info;

	(void)ns;
	if (read(signals, &info, sizeof(info)) != sizeof(info))
		return -1;
	return p->kind->arm ? p->sent : (uint32_t)info.ssi_int;
}

static int64_t wait_sigtimedwait(struct pair *p, int64_t ns)
{
	struct timespec ts = timespec_of(ns < 0 ? 0 : (uint64_t)ns);
	siginfo_t info;
	sigset_t set;

	the_signal(&set);
	if (sigtimedwait(&set, &info, ns < 0 ? NULL : &ts) < 0) {
		if (errno == EAGAIN)
			errno = ETIMEDOUT;
		return -1;
	}
	return p->kind->arm ? p->sent : (uint32_t)info.si_value.sival_int;
}

static int queue_signal(struct pair *p, uint32_t n)
{
	return sigqueue(p->sleeper, SIGRTMIN, (union sigval){ .sival_int = (int)n });
}

static int arm_signal(struct pair *p)
{
	struct itimerspec at = { .it_value = timespec_of(p->due) };

	return timer_settime(timer, TIMER_ABSTIME, &at, NULL);
}

const struct pair_kind pair_signal_kinds[] = {
	{ .name = "signalfd", .start = start_signalfd, .wait = wait_signalfd,
	  .wake = queue_signal },
	{ .name = "sigtimedwait", .start = start_signal, .wait = wait_sigtimedwait,
	  .wake = queue_signal, .timed = true },
	{ .name = "signalfd-timer", .start = start_signalfd_timer, .wait = wait_signalfd,
	  .arm = arm_signal },
	{ .name = "sigtimedwait-timer", .start = start_timer, .wait = wait_sigtimedwait,
	  .arm = arm_signal },
	{ 0 },
};
