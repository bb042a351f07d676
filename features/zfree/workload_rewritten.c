// SPDX-License-Identifier: GPL-2.0-only
/*
 * A page is written to while zram, at its limit, is about to compress it again: with
 * direct I/O that page is the writer's own. What comes of it is larger then, and must
 * have an object of that size, or it goes over those that lie behind (ZS9).
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "crew.h"
#include "inject.h"
#include "job.h"
#include "lull.h"
#include "pages.h"
#include "slots.h"
#include "util.h"
#include "worker.h"
#include "workload.h"
#include "zram.h"

#define AREA_BYTES ((size_t)2 << 20)
/* What waits of it at the limit: far more than what is written there. */
#define ENOUGH (AREA_BYTES / PAGE_BYTES / 2)
/* Objects that come to lie behind the first one's: less than a page in all. */
#define BEHIND 12
/* Words of a page that do not repeat: no other test's are of that class. */
#define SMALL 12

/* What the writer and who rewrites share. */
struct scene {
	struct slot_page page;
	struct slot_page other;
	volatile uint64_t paused;	/* before the write */
	volatile bool ready, go, done;
};

static struct zram zram = ZRAM_NONE;
static struct scene *scene;

static int free_some(uint64_t round)
{
	struct pages pages;

	if (pages_make(&pages, AREA_BYTES, round) < 0 || pages_out(&pages) < 0)
		return -1;
	pages_unmap(&pages);
	return 0;
}

/*
 * On the other CPU: once what waited is drained, the page is another, and larger, and
 * others lie behind the object it had. Then it goes on there.
 */
static bool rewrite(int fd)
{
	scene->ready = true;
	while (!scene->go || inject_count("zfree", "paused") == scene->paused)
		;
	slot_fill(&scene->page, 0, SLOT_WORDS);
	for (unsigned int i = 1; i <= BEHIND; i++) {
		slot_fill(&scene->other, i, SMALL);
		if (!slot_write(fd, &scene->other, i))
			return false;
	}
	scene->done = true;
	return inject_number("zfree", "pause_us", 0) == 0;
}

static unsigned int wrong_slots(int fd)
{
	static struct slot_page want;
	unsigned int wrong = 0;

	for (unsigned int i = 1; i <= BEHIND; i++) {
		slot_fill(&want, i, SMALL);
		wrong += !slot_read(fd, &scene->other, i) ||
			 memcmp(&scene->other, &want, sizeof(want));
	}
	return wrong;
}

/* Is the page there as it was, or as it was made anew? */
static bool is_whole(int fd)
{
	static struct slot_page small, large;

	slot_fill(&small, 0, SMALL);
	slot_fill(&large, 0, SLOT_WORDS);
	return slot_read(fd, &scene->other, 0) &&
	       (!memcmp(&scene->other, &large, sizeof(large)) ||
		!memcmp(&scene->other, &small, sizeof(small)));
}

static int try_once(const struct job_case *c, int fd)
{
	pid_t pid = crew_fork(NULL);
	bool wrote, whole, in_time;
	unsigned int wrong;
	char text[120];
	uint64_t begin;

	if (pid < 0)
		return -1;
	if (!pid) {
		if (pin_cpu(1) < 0 || !rewrite(fd))
			_exit(1);
		for (;;)
			pause();
	}
	/* Its first step is on this CPU, and nobody else's is while the page is written. */
	if (crew_ready(&scene->ready, pid, "who rewrites") < 0) {
		crew_end(&pid);
		return -1;
	}
	slot_fill(&scene->page, 0, SMALL);
	scene->paused = inject_count("zfree", "paused");
	begin = now_ns();
	scene->go = true;
	wrote = slot_write(fd, &scene->page, 0);
	in_time = scene->done && now_ns() - begin < job_number(c, "pause_us") * 1000;
	crew_end(&pid);
	if (!in_time)
		return fail(STATUS_UNMET, "rewritten", "the page was not another in time");
	wrong = wrong_slots(fd);
	whole = !wrote || is_whole(fd);
	snprintf(text, sizeof(text), "%u of %u pages behind it are wrong, the page itself is %s",
		 wrong, BEHIND, !wrote ? "refused" : whole ? "right" : "wrong");
	return report_check(c, "ZS9", !wrong && wrote && whole, text);
}

static int rewritten_round(const struct job_case *c, const char *mode, struct sample *s)
{
	struct zram_options options = { .kb = SLOTS_MB << 10, .algorithm = "lzo-rle" };
	struct zram_stat stat;
	int fd, ret;

	(void)mode;
	(void)s;
	if (!scene)
		scene = crew_memory(sizeof(*scene));
	/* Who rewrites ends the pause. */
	if (!scene || inject_number("zfree", "pause_us", job_number(c, "pause_us")) < 0 ||
	    lull_stats_clear("zfree") < 0 || zram_start(&zram, &options) < 0 ||
	    worker_keep_away(free_some, ENOUGH) < 0 || zram_swap_off(&zram) < 0)
		return -1;
	if (worker_left() < ENOUGH)
		return fail(STATUS_UNMET, "rewritten", "too few objects wait");
	memset(scene, 0, sizeof(*scene));
	/* It is over its limit as long as these wait, and far below it after. */
	if (zram_stat(&zram, &stat) < 0 ||
	    slots_limit(&zram, stat.mem_used_total - PAGE_BYTES) < 0)
		return -1;
	fd = slots_open(&zram);
	if (fd < 0)
		return -1;
	ret = try_once(c, fd);
	close(fd);
	return ret;
}

static int rewritten_setup(const struct job_case *c)
{
	/* Each CPU has a ring of its own: what is freed elsewhere is freed at once. */
	return pin_begin(0) < 0 ? -1 : inject_case(c);
}

static void rewritten_teardown(void)
{
	zram_stop(&zram);
	pin_end();
}

static const struct workload_param params[] = {
	INJECT_PARAMS,
	{ "delay_ms", "0" },
	{ 0 },
};

static const struct workload rewritten = {
	.feature = "zfree",
	.name = "rewritten",
	.text = "a page that changes while zram compresses it at its limit",
	.params = params,
	.setup = rewritten_setup,
	.round = rewritten_round,
	.teardown = rewritten_teardown,
};

WORKLOAD(rewritten);
