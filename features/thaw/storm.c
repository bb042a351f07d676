// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "crew.h"
#include "pair.h"
#include "perturb.h"
#include "safety.h"
#include "storm.h"
#include "util.h"

#define WAKERS 2
#define PADS_MAX 1000
/* A sleeper may be on its way into its call, in it, or asleep: up to 0.2 ms. */
#define SPIN_BITS 18
/* Of the limit: a timer that is not due yet is not lost. */
#define STALL_NS (trial_limit_ms() / 3 * 1000000ull)
#define SPAN_NS 20000000
#define SPAN_MAX_NS STALL_NS
/* What takes as long has possibly been frozen meanwhile. */
#define LATE_NS 1000000
#define LATE 32

/* The last wakeups of a pair that took their time. */
struct late {
	volatile uint32_t n;
	struct {
		volatile uint64_t due, acked;
	} last[LATE];
};

/* Shared by all. */
static struct board {
	/* Not 0: everybody is to wait at the gate, and to say so with this number. */
	volatile uint32_t closed;
	volatile uint32_t parked[WAKERS];
	volatile uint64_t span_ns;
	unsigned int n;
	struct pair pairs[PAIR_KINDS_MAX];
	struct late late[PAIR_KINDS_MAX];
} *board;

static pid_t wakers[WAKERS], sleepers[PAIR_KINDS_MAX], pads[PADS_MAX];
static uint32_t gate;
/* When each was seen to come further for the last time. */
static struct {
	uint32_t acked;
	uint64_t ns;
} seen[PAIR_KINDS_MAX];
static struct {
	uint64_t held, in_window;
} held[PAIR_KINDS_MAX];

static void pass_gate(volatile uint32_t *parked)
{
	uint32_t closed;

	while ((closed = board->closed)) {
		*parked = closed;
		sleep_ms(1);
	}
}

static void acknowledge(struct pair *p, uint32_t n, int64_t got)
{
	struct late *late = &board->late[p - board->pairs];
	uint64_t now = now_ns();

	if (got != n || n > p->sent)
		p->wrong++;
	if (now >= p->due + LATE_NS) {
		late->last[late->n % LATE].due = p->due;
		late->last[late->n % LATE].acked = now;
		__atomic_store_n(&late->n, late->n + 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&p->acked, n, __ATOMIC_RELEASE);
}

static void arm(struct pair *p, uint32_t n)
{
	pass_gate(&p->parked);
	p->sent = n;
	p->due = now_ns() + perturb_below(board->span_ns);
	if (p->kind->arm(p) < 0)
		p->error = errno;
}

static void reseed(unsigned int who)
{
	perturb_seed(perturb_below(1u << 31), who);
}

static void sleeper_main(void *arg)
{
	struct pair *p = arg;
	int64_t got;

	reseed(WAKERS + (unsigned int)(p - board->pairs));
	pair_start(p);
	for (uint32_t n = 1; !p->error; n++) {
		if (p->kind->arm)
			arm(p, n);
		do {
			got = p->kind->wait(p, -1);
			if (got < 0 && errno == EINTR)
				p->interrupted++;
			else if (got < 0)
				p->error = errno;
		} while (got <= 0 && !p->error);
		acknowledge(p, n, got);
	}
}

static bool wake_one(struct pair *p)
{
	uint32_t n = __atomic_load_n(&p->acked, __ATOMIC_ACQUIRE);

	/* The other waker may be faster. */
	if (!p->kind->wake || p->sent != n ||
	    !__atomic_compare_exchange_n(&p->sent, &n, n + 1, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_SEQ_CST))
		return false;
	spin_ns(perturb_below(1ull << perturb_below(SPIN_BITS)));
	p->due = now_ns();
	if (p->kind->wake(p, n + 1) < 0)
		p->error = errno;
	return true;
}

static void waker_main(void *arg)
{
	volatile uint32_t *parked = arg;
	unsigned int at = (unsigned int)(parked - board->parked);

	reseed(at);
	for (;;) {
		bool any = false;

		for (unsigned int i = 0; i < board->n; i++) {
			pass_gate(parked);
			any |= wake_one(&board->pairs[at++ % board->n]);
		}
		if (!any)
			sched_yield();
	}
}

static void pad_main(void *arg)
{
	struct timespec day = { .tv_sec = 86400 };

	(void)arg;
	for (;;)
		nanosleep(&day, NULL);
}

static int open_pairs(void)
{
	const struct pair_kind *kind;

	for (unsigned int i = 0; (kind = pair_kind(i)); i++) {
		if (!kind->wake && !kind->arm)
			continue;
		if (board->n == PAIR_KINDS_MAX)
			return fail(STATUS_FAILED, "storm", "too many kinds");
		if (pair_open(&board->pairs[board->n++], kind) < 0)
			return -1;
	}
	return 0;
}

static int start_waker(unsigned int i)
{
	wakers[i] = trial_fork("waker", waker_main, (void *)&board->parked[i]);
	return wakers[i] < 0 ? -1 : 0;
}

static int start_sleepers(void)
{
	for (unsigned int i = 0; i < board->n; i++) {
		sleepers[i] = trial_fork(board->pairs[i].kind->name, sleeper_main,
					 &board->pairs[i]);
		if (sleepers[i] < 0)
			return -1;
	}
	for (unsigned int i = 0; i < board->n; i++) {
		if (pair_wait_asleep(&board->pairs[i]) < 0)
			return -1;
	}
	return 0;
}

static int start_pads(unsigned int n)
{
	if (n > PADS_MAX)
		return fail(STATUS_USAGE, "pads", "at most %d", PADS_MAX);
	for (unsigned int i = 0; i < n; i++) {
		pads[i] = trial_fork("pad", pad_main, NULL);
		if (pads[i] < 0)
			return -1;
	}
	return 0;
}

int storm_start(unsigned int n)
{
	if (!board)
		board = crew_memory(sizeof(*board));
	if (!board)
		return -1;
	memset(board, 0, sizeof(*board));
	memset(seen, 0, sizeof(seen));
	memset(held, 0, sizeof(held));
	board->closed = ++gate;
	board->span_ns = SPAN_NS;
	return open_pairs() < 0 || start_waker(0) < 0 || start_sleepers() < 0 ||
	       start_pads(n) < 0 || start_waker(1) < 0 ? -1 : 0;
}

void storm_stop(void)
{
	for (unsigned int i = 0; i < WAKERS; i++)
		trial_end(&wakers[i]);
	for (unsigned int i = 0; i < PAIR_KINDS_MAX; i++)
		trial_end(&sleepers[i]);
	for (unsigned int i = 0; i < PADS_MAX; i++)
		trial_end(&pads[i]);
	for (unsigned int i = 0; board && i < board->n; i++)
		pair_close(&board->pairs[i]);
}

void storm_open(void)
{
	board->closed = 0;
}

static bool is_settled(const struct pair *p)
{
	/* Those that wake themselves come to the gate, when they have. */
	return p->kind->arm ? p->parked == gate : p->sent == p->acked;
}

static bool is_at_rest(void)
{
	for (unsigned int i = 0; i < WAKERS; i++) {
		if (board->parked[i] != gate)
			return false;
	}
	for (unsigned int i = 0; i < board->n; i++) {
		if (!is_settled(&board->pairs[i]))
			return false;
	}
	return true;
}

bool storm_settles(void)
{
	if (!board->closed)
		board->closed = ++gate;
	for (unsigned int ms = 0; !is_at_rest(); ms++) {
		if (ms > trial_limit_ms() || check_interrupted() < 0)
			return false;
		sleep_ms(1);
	}
	memset(seen, 0, sizeof(seen));
	return true;
}

int storm_wait_asleep(void)
{
	for (unsigned int i = 0; i < board->n; i++) {
		if (pair_wait_asleep(&board->pairs[i]) < 0)
			return -1;
	}
	return 0;
}

/* Nobody acknowledges between the two: who does after `frozen` does after `thaw`. */
static void count_held(unsigned int i, const struct trial_times *times)
{
	const struct late *late = &board->late[i];
	uint32_t n = __atomic_load_n(&late->n, __ATOMIC_ACQUIRE);

	for (uint32_t k = n > LATE ? n - LATE : 0; k < n; k++) {
		uint64_t due = late->last[k % LATE].due;

		if (due >= times->thaw || late->last[k % LATE].acked < times->frozen)
			continue;
		held[i].held++;
		held[i].in_window += due >= times->frozen;
	}
}

static int storm_failed(void)
{
	for (unsigned int i = 0; i < board->n; i++) {
		const struct pair *p = &board->pairs[i];

		if (p->error)
			return fail(STATUS_FAILED, p->kind->name, "a call failed: %s",
				    strerror(p->error));
	}
	return 0;
}

int storm_cycle(void)
{
	uint64_t begin = now_ns();
	struct trial_times times;

	if (trial_timed_cycle(&times) < 0)
		return -1;
	/*
	 * Half of what is armed is due in a cycle, whatever that takes here; but nobody
	 * has to be waited for longer than storm_settles() waits.
	 */
	board->span_ns = 2 * (now_ns() - begin) + 1;
	if (board->span_ns > SPAN_MAX_NS)
		board->span_ns = SPAN_MAX_NS;
	for (unsigned int i = 0; i < board->n; i++)
		count_held(i, &times);
	return storm_failed();
}

void storm_count(struct storm_count *count)
{
	memset(count, 0, sizeof(*count));
	count->kinds = board->n;
	count->least = count->least_held = UINT64_MAX;
	for (unsigned int i = 0; i < board->n; i++) {
		const struct pair *p = &board->pairs[i];

		count->wakeups += p->acked;
		count->held += held[i].held;
		count->in_window += held[i].in_window;
		count->wrong += p->wrong;
		count->interrupted += p->interrupted;
		if (p->acked < count->least)
			count->least = p->acked;
		if (held[i].held < count->least_held)
			count->least_held = held[i].held;
	}
}

bool storm_stalls(void)
{
	uint64_t now = now_ns();
	bool stalls = false;

	for (unsigned int i = 0; i < board->n; i++) {
		uint32_t acked = board->pairs[i].acked;

		if (acked != seen[i].acked || !seen[i].ns) {
			seen[i].acked = acked;
			seen[i].ns = now;
		}
		stalls |= now - seen[i].ns > STALL_NS;
	}
	return stalls;
}

static void list_add(char *text, size_t size, const char *name, uint32_t n)
{
	size_t len = strlen(text);

	snprintf(text + len, size - len, "%s%s %u", len ? ", " : "", name, n);
}

void storm_list_lost(char *text, size_t size)
{
	text[0] = '\0';
	for (unsigned int i = 0; i < board->n; i++) {
		const struct pair *p = &board->pairs[i];

		if (!is_settled(p))
			list_add(text, size, p->kind->name, p->sent);
	}
}

void storm_list_interrupted(char *text, size_t size)
{
	text[0] = '\0';
	for (unsigned int i = 0; i < board->n; i++) {
		const struct pair *p = &board->pairs[i];

		if (p->interrupted)
			list_add(text, size, p->kind->name, p->interrupted);
	}
}
