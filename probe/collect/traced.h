/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A buffer of ftrace of our own with the events of suspend and resume, which whoever
 * traces besides does not see. It is a change, and goes with the others.
 */
#ifndef COLLECT_TRACED_H
#define COLLECT_TRACED_H

#include <stdbool.h>

#include "buf.h"

/* After undo_begin(). False, with the reason said, where there is none. */
bool traced_begin(struct buf *out);
/* Before undo_end(): what was traced, as the file has it. */
void traced_end(struct buf *out);

#endif
