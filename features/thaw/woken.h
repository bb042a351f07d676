/* SPDX-License-Identifier: GPL-2.0-only */
/* Whom a thaw has woken, by trace events, in a cycle of its own. */
#ifndef LULL_THAW_WOKEN_H
#define LULL_THAW_WOKEN_H

#include "pids.h"
#include "workload.h"

struct woken {
	struct pids all;	/* whom thawing woke */
	struct pids crowd;	/* those of the crowd */
	uint64_t cpu_ns;	/* that the crowd has run from its begin to the end */
};

/* Room for the events; after freezer_prepare(). */
int woken_prepare(void);
/* Whether the kernel says whom it thaws by waking, or only who has been woken. */
bool woken_is_told(void);
/* What was seen of one freeze and thaw, and after_ms after it; to be freed. */
int woken_cycle(struct woken *woken, unsigned int after_ms);
void woken_free(struct woken *woken);

/* Adds woken, woken_all and woken_WAIT of each wait of the mix. */
void woken_add(const struct woken *woken, struct sample *s);

#endif
