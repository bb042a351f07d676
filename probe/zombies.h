/* SPDX-License-Identifier: GPL-2.0-only */
/* Dead children that nobody waits for, which each walk over all tasks comes to. */
#ifndef LULL_ZOMBIES_H
#define LULL_ZOMBIES_H

#include "crew.h"

/* Their parent; crew_do() with a number makes as many more, crew_stop() ends all. */
int zombies_start(struct crew *crew);

#endif
