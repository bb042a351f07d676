// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with the threads of QEMU that turns.c is about, and their locks.
 *
 * turns_host NAME WORK ROUNDS: the main thread takes the big lock ROUNDS times,
 * each time when a thread called NAME works without it. That one
 *
 *   rests	works on for 1 ms, takes the lock and waits with it. A third thread
 *		ends its wait, with the lock held for a moment more, so that both
 *		may have it next.
 *   never	computes, and takes the lock now and then.
 *   elsewhere	so, and waits with another lock.
 *   sleeps	so, but it sleeps most of the time.
 *   pauses	so, and every other time it is idle, and is about to wait.
 *
 * Prints how often the main thread had the lock while the other worked or was
 * idle, and the milliseconds that the other ran for, and that went by, until the first time.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum work { RESTS, NEVER, ELSEWHERE, SLEEPS, PAUSES, NONE };

static const char *const kinds[] = {
	"rests", "never", "elsewhere", "sleeps", "pauses",
};

struct place {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool waits;
	bool stirred;
};

static struct place big = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false };
static struct place other = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false };
static const char *name;
static enum work work;
static atomic_bool works;	/* neither waits with the big lock nor asks for it */
static atomic_bool asks;
static atomic_bool idle;

/* As QEMU has it. */
bool all_cpu_threads_idle(void)
{
	return idle;
}

static double ms_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static void spin(double ms)
{
	double until = ms_of(CLOCK_MONOTONIC) + ms;

	while (ms_of(CLOCK_MONOTONIC) < until)
		;
}

static void wait_at(struct place *place)
{
	place->waits = true;
	place->stirred = false;
	while (!place->stirred)
		pthread_cond_wait(&place->cond, &place->lock);
	place->waits = false;
}

static bool stir(struct place *place, unsigned int hold_us)
{
	bool waits;

	pthread_mutex_lock(&place->lock);
	waits = place->waits;
	place->stirred = true;
	pthread_cond_signal(&place->cond);
	if (hold_us)
		usleep(hold_us);
	pthread_mutex_unlock(&place->lock);
	return waits;
}

static void *run(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), name);
	pthread_mutex_lock(&big.lock);
	wait_at(&big);
	pthread_mutex_unlock(&big.lock);
	for (;;) {
		works = true;
		if (work == SLEEPS)
			usleep(5000);
		else if (work != RESTS)
			spin(1);
		else {
			while (!asks)
				usleep(50);
			usleep(1000);
		}
		if (work == ELSEWHERE) {
			pthread_mutex_lock(&other.lock);
			wait_at(&other);
			pthread_mutex_unlock(&other.lock);
		}
		works = false;
		if (work == PAUSES) {
			idle = true;
			pthread_mutex_lock(&big.lock);
			pthread_mutex_unlock(&big.lock);
			idle = false;
		}
		pthread_mutex_lock(&big.lock);
		if (work == RESTS)
			wait_at(&big);
		pthread_mutex_unlock(&big.lock);
	}
	return NULL;
}

static void *stir_on(void *unused)
{
	(void)unused;
	for (;;) {
		usleep(300);
		stir(work == ELSEWHERE ? &other : &big, work == RESTS ? 300 : 0);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long i, rounds, apart = 0;
	double cpu_ms = 0, host_ms = 0;
	pthread_t thread, third;
	clockid_t clock;

	if (argc != 4)
		return 2;
	name = argv[1];
	while (work < NONE && strcmp(kinds[work], argv[2]))
		work++;
	rounds = atol(argv[3]);
	if (work == NONE || pthread_create(&thread, NULL, run, NULL) ||
	    pthread_getcpuclockid(thread, &clock))
		return 2;
	while (!stir(&big, 0))
		usleep(1000);
	if (pthread_create(&third, NULL, stir_on, NULL))
		return 2;
	for (i = 0; i < rounds; i++) {
		while (!works)
			usleep(50);
		if (!i) {
			cpu_ms = ms_of(clock);
			host_ms = ms_of(CLOCK_MONOTONIC);
		}
		asks = true;
		pthread_mutex_lock(&big.lock);
		asks = false;
		if (!i) {
			cpu_ms = ms_of(clock) - cpu_ms;
			host_ms = ms_of(CLOCK_MONOTONIC) - host_ms;
		}
		apart += works || idle;
		pthread_mutex_unlock(&big.lock);
	}
	printf("%ld %.1f %.1f\n", apart, cpu_ms, host_ms);
	fflush(stdout);
	_exit(0);
}
