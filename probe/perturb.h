/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Small differences between runs, from the job's seed and nothing else: in a
 * deterministic machine they are what makes samples of an experiment differ.
 */
#ifndef LULL_PERTURB_H
#define LULL_PERTURB_H

#include <stdint.h>

void perturb_seed(uint64_t seed, unsigned int case_id);
/* From 0 to limit - 1; limit is not 0. */
uint64_t perturb_below(uint64_t limit);
/* Shifts what is allocated after it: some pages that stay, in odd sizes. */
void perturb_layout(void);
void perturb_layout_end(void);
/* Moves the phase of what follows against the timer tick. */
void perturb_phase(void);

#endif
