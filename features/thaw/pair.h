/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A pair is somebody who waits, in one of the calls that programs sleep in,
 * and whoever wakes it. Wakeups have numbers: what comes is told from what
 * should have come.
 */
#ifndef LULL_THAW_PAIR_H
#define LULL_THAW_PAIR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pair;

struct pair_kind {
	const char *name;
	/* Before anybody is forked: descriptors. 0, or -1 with errno. */
	int (*open)(struct pair *p);
	/* In the sleeper, before it waits for the first time; may be NULL. */
	int (*start)(struct pair *p);
	/*
	 * The call. Gives the number that came, 0 when it returned with nothing,
	 * or -1 with errno, which is ETIMEDOUT after `ns`; less than 0 is forever.
	 */
	int64_t (*wait)(struct pair *p, int64_t ns);
	/* From anywhere: 0, or -1 with errno. NULL for those that wait for a time. */
	int (*wake)(struct pair *p, uint32_t n);
	/* In the sleeper, instead: the wakeup is to come at p->due. */
	int (*arm)(struct pair *p);
	/* The call takes a timeout, and may end so many ns before it. */
	bool timed;
	uint64_t early_ns;
};

/* In memory that all share. */
struct pair {
	const struct pair_kind *kind;
	int in, out;		/* where the sleeper looks, and what is written to */
	int watch;		/* an epoll instance, or -1 */
	volatile pid_t sleeper;
	volatile uint32_t sent, acked;	/* the last numbers */
	volatile uint32_t word;		/* the futex */
	volatile uint32_t ready, parked;
	volatile uint64_t due;		/* when it was, or is to be, sent */
	volatile uint32_t wrong, interrupted;
	volatile int error;
};

#define PAIR_KINDS_MAX 40

/* All kinds; the end is where kind is NULL. */
const struct pair_kind *pair_kind(unsigned int i);
const struct pair_kind *pair_kind_named(const char *name);

/* A kind's descriptors; fails where it cannot have them. */
int pair_open(struct pair *p, const struct pair_kind *kind);
void pair_close(struct pair *p);
/* The sleeper's first step, for trial_fork()'s body: it is ready after this. */
void pair_start(struct pair *p);
/* Ready and asleep in the call, which it has said it is about to make. */
int pair_wait_asleep(const struct pair *p);

/* The kinds, by what they wait in. */
extern const struct pair_kind pair_poll_kinds[], pair_pipe_kinds[], pair_socket_kinds[],
	pair_signal_kinds[], pair_time_kinds[];

/* What they share: poll_kinds' number, sent to p->out and found at p->in. */
int pair_open_pipe(struct pair *p);
int pair_send(struct pair *p, uint32_t n);
int64_t pair_take(struct pair *p);

#endif
