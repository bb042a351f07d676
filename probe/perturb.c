// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "perturb.h"
#include "util.h"

#define PIECES 16
#define PIECE_MAX (64 * 1024)
/* A tick of HZ=250; slower ticks get a part of their phases. */
#define PHASE_NS 4000000

static uint64_t state;
static void *pieces[PIECES];

/* splitmix64: any seed is a good one, 0 too. */
static uint64_t next(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

void perturb_seed(uint64_t seed, unsigned int case_id)
{
	state = seed;
	state = next() + case_id;
}

uint64_t perturb_below(uint64_t limit)
{
	return next() % limit;
}

void perturb_layout(void)
{
	for (unsigned int i = 0; i < PIECES; i++) {
		size_t size = 1 + perturb_below(PIECE_MAX);

		pieces[i] = malloc(size);
		/* Untouched memory would not be allocated at all. */
		if (pieces[i])
			memset(pieces[i], (int)i + 1, size);
	}
}

void perturb_layout_end(void)
{
	for (unsigned int i = 0; i < PIECES; i++) {
		free(pieces[i]);
		pieces[i] = NULL;
	}
}

void perturb_phase(void)
{
	spin_ns(perturb_below(PHASE_NS));
}
