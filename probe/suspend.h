/* SPDX-License-Identifier: GPL-2.0-only */
/* A suspend to idle that turns back early, as /sys/power/pm_test has it. */
#ifndef LULL_SUSPEND_H
#define LULL_SUSPEND_H

#include <stdint.h>

/*
 * Settings for a cycle down to that level of pm_test, which the journal puts back,
 * and the events of power:suspend_resume. Refused where nobody allowed it.
 */
int suspend_prepare(const char *level);

/* One cycle, between the marks: the errno, 0 for none. */
int suspend_cycle(void);
/* The same, with fail() called where it did not succeed: 0 or -1. */
int suspend_once(void);
/* How long the last one took, from the write to its return. */
uint64_t suspend_took(void);

/* A part of it that the trace has the begin and the end of: "dpm_suspend". */
typedef void (*span_fn)(const char *name, uint64_t ns, void *arg);

/* Calls fn for each, in the order in which they ended. */
int suspend_spans(span_fn fn, void *arg);

/* fail() for that errno, with what the kernel said last. */
int suspend_failed(int error);

#endif
