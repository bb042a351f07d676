/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LULL_LID_H
#define LULL_LID_H

/* The features that a mode of the scenario is a mode of. */
extern const char *const lid_switches[];

#endif
