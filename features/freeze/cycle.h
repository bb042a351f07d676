/* SPDX-License-Identifier: GPL-2.0-only */
/* One freeze and thaw of the whole machine, measured. */
#ifndef LULL_FREEZE_CYCLE_H
#define LULL_FREEZE_CYCLE_H

#include "workload.h"

/* Settings and trace events; put back by the journal. */
int freeze_prepare(void);
/* Wait until nobody runs who is about to sleep or to die. */
void freeze_settle(void);
/* Room for n more processes. */
int freeze_make_room(uint64_t n);

/*
 * Freeze and thaw once, adding the figures to the sample:
 *
 *	freeze_processes, thaw_processes	any kernel
 *	freezer_user, freezer_kernel, freezer_total	one with lull:freeze_phase
 *
 * and the figures of the kernel's stats file. `sleepy` is false where the
 * machine never comes to rest by itself.
 */
int freeze_cycle(struct sample *s, bool sleepy);

#endif
