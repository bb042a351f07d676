/* SPDX-License-Identifier: GPL-2.0-only */
/* A suspend to idle that turns back early, as /sys/power/pm_test has it. */
#ifndef LULL_SUSPEND_H
#define LULL_SUSPEND_H

/*
 * Settings for a cycle down to that level of pm_test, which the journal puts back,
 * and the events of power:suspend_resume. Refused where nobody allowed it.
 */
int suspend_prepare(const char *level);

/* One cycle, between the marks: the errno, 0 for none. */
int suspend_cycle(void);

/* fail() for that errno, with what the kernel said last. */
int suspend_failed(int error);

#endif
