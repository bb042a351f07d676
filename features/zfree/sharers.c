// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "perturb.h"
#include "sharers.h"
#include "util.h"

/* A child that reads nothing lives up to that long. */
#define LIFE_NS 100000000

static volatile struct tally {
	/* Slots of parents at their forks. */
	uint64_t slots;
	/* Areas that the parent let go of while the child had them, and afterwards. */
	uint64_t parent_first, child_first;
} *tally;

int sharers_begin(void)
{
	if (!tally)
		tally = crew_memory(sizeof(*tally));
	if (!tally)
		return -1;
	memset((void *)tally, 0, sizeof(*tally));
	return 0;
}

void sharers_fork(pid_t *child, const struct pages *area,
		  void (*read)(const struct pages *area))
{
	uint64_t ns = perturb_below(LIFE_NS), reads = perturb_below(2);

	if (*child > 0)
		waitpid(*child, NULL, 0);
	__atomic_add_fetch(&tally->slots, pages_swapped_kb() * 1024 / PAGE_BYTES,
			   __ATOMIC_RELAXED);
	*child = fork();
	if (*child)
		return;
	if (reads && area->start)
		read(area);
	else
		sleep_ns(ns);
	_exit(0);
}

void sharers_choose(pid_t *child)
{
	if (*child <= 0 || perturb_below(2))
		return;
	waitpid(*child, NULL, 0);
	*child = 0;
}

void sharers_let_go(pid_t *child)
{
	bool lives = *child > 0 && !waitpid(*child, NULL, WNOHANG);

	if (!lives)
		*child = 0;
	__atomic_add_fetch(lives ? &tally->parent_first : &tally->child_first, 1,
			   __ATOMIC_RELAXED);
}

bool sharers_enough(void)
{
	return tally->slots && tally->parent_first && tally->child_first;
}

void sharers_text(char *text, size_t size)
{
	snprintf(text, size,
		 "; %" PRIu64 " slots shared, areas let go by the parent first %" PRIu64
		 ", by the child first %" PRIu64, tally->slots, tally->parent_first,
		 tally->child_first);
}
