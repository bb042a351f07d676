// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "crew.h"
#include "marked.h"
#include "util.h"

/*
 * Short against a freeze, so that it is due when it thaws; long against what it
 * costs the freezer to be disturbed, a percent or two of the insn clock.
 */
#define PERIOD_NS 200000
#define LIMIT_MS 30000
/* Enough for the time in which the probe reads a trace of a few lines. */
#define STAMPS 4096

/* When it ran, of late; shared with the probe. */
static struct diary {
	_Atomic uint64_t n;
	_Atomic uint64_t stamps[STAMPS];
} *diary;

static pid_t marked;
static int timer = -1, epfd = -1;

static void sleep_and_tell(void)
{
	struct epoll_event ev;
	uint64_t times;

	for (uint64_t n = 0;; n++) {
		epoll_wait(epfd, &ev, 1, -1);
		atomic_store(&diary->stamps[n % STAMPS], now_ns());
		atomic_store(&diary->n, n + 1);
		/* Starts the next period; nothing to read where a signal ended the sleep. */
		if (read(timer, &times, sizeof(times)) < 0 && errno != EAGAIN)
			_exit(1);
	}
}

static int make_timer(void)
{
	struct epoll_event ev = { .events = EPOLLIN };

	timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	epfd = epoll_create1(EPOLL_CLOEXEC);
	if (timer < 0 || epfd < 0 || epoll_ctl(epfd, EPOLL_CTL_ADD, timer, &ev) < 0)
		return fail(STATUS_FAILED, "timerfd", "no timer: %s", strerror(errno));
	return 0;
}

int marked_start(void)
{
	diary = crew_memory(sizeof(*diary));
	if (!diary || make_timer() < 0)
		return -1;
	marked = crew_fork(NULL);
	if (!marked)
		sleep_and_tell();
	return marked < 0 ? -1 : 0;
}

static int set_timer(long ns)
{
	struct itimerspec spec = { .it_interval.tv_nsec = ns, .it_value.tv_nsec = ns };

	if (timerfd_settime(timer, 0, &spec, NULL) < 0)
		return fail(STATUS_FAILED, "timerfd", "cannot set it: %s", strerror(errno));
	return 0;
}

int marked_arm(void)
{
	return set_timer(PERIOD_NS);
}

/* The first stamp after that time, as long as what was before is not overwritten. */
static bool find(uint64_t at, uint64_t *when)
{
	uint64_t n = atomic_load(&diary->n), stamp;

	*when = 0;
	for (uint64_t i = 1; i <= n && i < STAMPS; i++) {
		stamp = atomic_load(&diary->stamps[(n - i) % STAMPS]);
		if (stamp <= at)
			return *when;
		*when = stamp;
	}
	return false;
}

int marked_ran(uint64_t at, uint64_t *when)
{
	for (unsigned int ms = 0; !find(at, when); ms++) {
		if (check_interrupted() < 0)
			return -1;
		if (ms > LIMIT_MS)
			return fail(STATUS_FAILED, "thaw",
				    "the marked task was not seen before and after thawing");
		sleep_ms(1);
	}
	return set_timer(0);
}

void marked_stop(void)
{
	crew_end(&marked);
	if (epfd >= 0)
		close(epfd);
	if (timer >= 0)
		close(timer);
	epfd = timer = -1;
	if (diary)
		munmap(diary, sizeof(*diary));
	diary = NULL;
}
