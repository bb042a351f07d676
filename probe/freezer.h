/* SPDX-License-Identifier: GPL-2.0-only */
/* One freeze and thaw of the whole machine, measured. */
#ifndef LULL_FREEZER_H
#define LULL_FREEZER_H

#include "workload.h"

/* In ms. */
#define FREEZER_TIMEOUT "/sys/power/pm_freeze_timeout"
#define FREEZER_TIMEOUT_DEFAULT "20000"

/* Settings and trace events; put back by the journal. */
int freezer_prepare(void);
/* The same for cycles that go on, down to that level of pm_test. */
int freezer_prepare_to(const char *level);
/* Wait until nobody runs who is about to sleep or to die. */
void freezer_settle(void);
/* Room for n more processes. */
int freezer_make_room(uint64_t n);

/*
 * Freeze and thaw once, and leave what happened in the trace, until so many ms
 * after it. `sleepy` is false where the machine never comes to rest by itself.
 */
int freezer_traced(bool sleepy, unsigned int after_ms);

/*
 * The same, adding the figures to the sample:
 *
 *	freeze_processes, thaw_processes	any kernel
 *	freezer_user, freezer_kernel, freezer_total	one with lull:freeze_phase
 */
int freezer_timed(struct sample *s, bool sleepy);

/*
 * The same, and the figures of the stats file of the kernel's feature freeze, whose
 * names are not to be those of the caller's own.
 */
int freezer_cycle(struct sample *s, bool sleepy);

#endif
