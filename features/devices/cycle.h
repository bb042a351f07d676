/* SPDX-License-Identifier: GPL-2.0-only */
/* One suspend and resume of all devices, which stops short of the platform. */
#ifndef LULL_DEVICES_CYCLE_H
#define LULL_DEVICES_CYCLE_H

#include <stdint.h>

#include "tree.h"

/* Settings and trace events; put back by the journal. Fails where no trees are. */
int cycle_prepare(void);

struct cycle {
	uint64_t ns[NR_PHASES];	/* of the whole phase, every device's; 0: there was none */
	unsigned int workers;	/* tasks that the kernel made meanwhile */
	int error;		/* of the write to /sys/power/state, an errno or 0 */
};

/* A cycle; with its time for each phase, and the record of the tree. */
int cycle_run(struct tree *tree, struct cycle *cycle);

#endif
