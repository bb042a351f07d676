/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Races that a freezer can lose, one workload each, with the window held open
 * by the injections of a debug kernel. A workload says what it expects (param
 * expect: 0 nobody escapes, 1 somebody does), so that the variant that lacks a
 * safeguard (param disable: its name) is seen to fail by the same test.
 */
#ifndef LULL_FREEZE_RACE_H
#define LULL_FREEZE_RACE_H

#include "cgroup.h"
#include "workload.h"

#define SWITCH "/sys/module/lull/parameters/freeze"
#define DEBUGFS "/sys/kernel/debug/lull/freeze/"

/* Names that the injections look for. */
#define HOLD "lull-hold"
#define THAW "lull-thaw"

/* Until when a task is held: values of enum hold_until in the kernel's debug.c. */
enum until { LET_GO, UNTIL_FROZEN, UNTIL_BETWEEN, UNTIL_TOLD };

/* The one task that a race is about, and a v1 freezer cgroup for it. */
extern pid_t race_victim;
extern struct cgroup race_cgroup;

int race_setup(const struct job_case *c);
/* The same, with the cgroup. */
int race_cgroup_setup(const struct job_case *c);
void race_teardown(void);

/* Wait until that value of the kernel's check file is 0. */
void race_wait_none(const char *name);
/* The verdicts of old are forgotten, the case's safeguards are off. */
int race_begin(const struct job_case *c);

/* Start the victim, under that name; end it. */
int race_start(const char *name, void (*body)(void));
void race_end(void);
/* Wait until who is busy, or naps, comes further: it has its name by then. */
int race_runs(void);

/*
 * Bodies: exit, have a thread that does, exit and leave a thread that naps, run in
 * system calls, sleep in what is frozen in place.
 */
void race_at_once(void);
void race_by_thread(void);
void race_without_leader(void);
void race_busily(void);
void race_in_naps(void);
/* How long each of the naps is of who starts to take them from now on. */
#define RACE_NAP_MS 50
extern unsigned int race_nap_ms;
/* Longer than whatever a host delays. */
#define RACE_LIMIT_MS 30000
/* Does a victim that is busy, or naps, come any further within that time? */
bool race_moves(unsigned int ms);

/* A suspend that may be refused, and what the log says since. */
struct attempt {
	char mark[40];
	int err;	/* an errno, 0 where it was not refused */
};

int race_attempt(struct attempt *a);
bool race_log_has(const struct attempt *a, const char *text);

/*
 * Who is taken for frozen is held until all are; who is to be waited for, until
 * the freezer does wait.
 */
int race_hold(const struct job_case *c, const char *where);

/* No verdict where somebody was held for longer than a freezer can wait: 0, or -1. */
int race_in_time(const char *name);
/* Who exits was held until the freezer's first round is over: was it not, when it gave up? */
bool race_still_held(void);
/* Then that is no verdict: -1. */
int race_no_time(const char *name);
/* Whether who was held was let go in time, then whether what was expected was seen. */
int race_verdict(const struct job_case *c, const char *name, const char *mode, uint64_t got);

extern const struct workload_param race_params[];

#define RACE(_name, _text, _setup)                                                 \
	static const struct workload _name = {                                     \
		.feature = "freeze",                                               \
		.name = #_name,                                                    \
		.text = _text " (debug kernel)",                                   \
		.params = race_params,                                             \
		.setup = _setup,                                                   \
		.round = _name##_round,                                            \
		.teardown = race_teardown,                                         \
	};                                                                         \
	WORKLOAD(_name)

#endif
