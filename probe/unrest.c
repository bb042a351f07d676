// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "crew.h"
#include "fair_server.h"
#include "knob.h"
#include "perturb.h"
#include "unrest.h"
#include "util.h"
#include "workload.h"
#include "zram_swap.h"

#define UNREST_CPU "/sys/devices/system/cpu/cpu1/online"
/* Of all cgroups: everybody's memory. */
#define UNREST_RECLAIM "/sys/fs/cgroup/memory.reclaim"
#define UNREST_AT_ONCE "512K"
#define UNREST_ROOM_MB 64
/* At most between two looks for memory: they cost a debug kernel what others are for. */
#define UNREST_GAP_NS 200000000
/* The same between two changes of the CPU at first. */
#define UNREST_FIRST_NS 50000000
/*
 * The CPU stays as it is for up to so many operations, and no longer than that: to
 * change takes a debug kernel as long as an operation or two. Of several that end one
 * after the other the last may take no time, so that it is their mean.
 */
#define UNREST_STAY 6
#define UNREST_STAY_NS 30000000000
/* Less of it than that is none. */
#define UNREST_OFFS 2
#define UNREST_PAGES 100
/* Who is to meet it goes on for so many times as many operations, and for so long. */
#define UNREST_PATIENCE 10
#define UNREST_PATIENCE_NS 60000000000

/* Shared with those who do it. */
static struct unrest_shared {
	/* Twice the changes of the CPU, and 1 more while it is changing. */
	volatile uint64_t changes;
	/* How long it stays as it is, at most. */
	volatile uint64_t stay_ns;
} *unrest_shared;

static struct unrest {
	bool cpus, swap;
	pid_t cpus_pid, swap_pid;
	int zram;
	bool swaps;
	uint64_t changes;	/* at the last step */
	uint64_t begin, steps;
	uint64_t without, amid;	/* operations while the CPU was off; while it changed */
	uint64_t out, in;	/* pages, at first and then since */
	unsigned int bad;	/* checks before it */
} unrest = { .zram = -1 };

static void unrest_change_cpu(void)
{
	perturb_seed(perturb_below(1u << 31), 1);
	for (bool off = true;;) {
		sleep_ns(perturb_below(unrest_shared->stay_ns));
		unrest_shared->changes++;
		/* Refused while the system is being suspended. */
		if (write_file(UNREST_CPU, off ? "0" : "1") < 0) {
			unrest_shared->changes--;
			continue;
		}
		unrest_shared->changes++;
		off = !off;
	}
}

static void unrest_reclaim(void)
{
	perturb_seed(perturb_below(1u << 31), 2);
	for (;;) {
		/* Fails where there is not as much; what there was is out. */
		write_file(UNREST_RECLAIM, UNREST_AT_ONCE);
		sleep_ns(perturb_below(UNREST_GAP_NS));
	}
}

static pid_t unrest_fork(const char *name, void (*body)(void))
{
	pid_t pid = crew_fork(name);

	if (!pid)
		body();
	return pid;
}

uint64_t unrest_pages(const char *name)
{
	char text[16384], line[32], *found;

	snprintf(line, sizeof(line), "\n%s ", name);
	if (read_file("/proc/vmstat", text, sizeof(text)) <= 0 || !(found = strstr(text, line)))
		return 0;
	return strtoull(found + strlen(line), NULL, 10);
}

static int unrest_start_swap(void)
{
	char path[64], bytes[24];

	/* Anonymous memory goes before files. */
	if (!path_exists(UNREST_RECLAIM))
		return fail(STATUS_LACKING, UNREST_RECLAIM, "nobody's memory can be reclaimed");
	if (knob_write("/proc/sys/vm/swappiness", "200") < 0)
		return -1;
	unrest.zram = zram_swap_add();
	if (unrest.zram < 0)
		return -1;
	snprintf(path, sizeof(path), "/sys/block/zram%d/disksize", unrest.zram);
	snprintf(bytes, sizeof(bytes), "%u", UNREST_ROOM_MB << 20);
	if (write_file(path, bytes) < 0)
		return fail(STATUS_FAILED, path, "%s", strerror(errno));
	if (zram_swap_begin(unrest.zram, UNREST_ROOM_MB << 20) < 0)
		return -1;
	unrest.swaps = true;
	unrest.out = unrest_pages("pswpout");
	unrest.in = unrest_pages("pswpin");
	unrest.swap_pid = unrest_fork("reclaim", unrest_reclaim);
	return unrest.swap_pid < 0 ? -1 : 0;
}

static int unrest_start_cpus(void)
{
	if (fair_server_off() < 0)
		return -1;
	/* For the journal, which puts it back, and to see that it can be done. */
	if (knob_write(UNREST_CPU, "0") < 0 || knob_write(UNREST_CPU, "1") < 0)
		return -1;
	unrest.cpus_pid = unrest_fork("hotplug", unrest_change_cpu);
	return unrest.cpus_pid < 0 ? -1 : 0;
}

int unrest_start(const struct job_case *c)
{
	if (!unrest_shared)
		unrest_shared = crew_memory(sizeof(*unrest_shared));
	if (!unrest_shared)
		return -1;
	memset(unrest_shared, 0, sizeof(*unrest_shared));
	memset(&unrest, 0, sizeof(unrest));
	unrest.zram = -1;
	unrest.cpus = job_number(c, "cpus");
	unrest.swap = job_number(c, "swap");
	unrest_shared->stay_ns = UNREST_FIRST_NS;
	unrest.bad = report_bad();
	unrest.begin = now_ns();
	if (unrest.swap && unrest_start_swap() < 0)
		return -1;
	return unrest.cpus ? unrest_start_cpus() : 0;
}

void unrest_step(void)
{
	uint64_t now = unrest_shared->changes;
	uint64_t stay_ns = UNREST_STAY * (now_ns() - unrest.begin) / ++unrest.steps;

	if (now / 2 != unrest.changes / 2)
		unrest.amid++;
	else if (now == unrest.changes && now % 4 == 2)
		unrest.without++;
	unrest.changes = now;
	unrest_shared->stay_ns = stay_ns < UNREST_STAY_NS ? stay_ns + 1 : UNREST_STAY_NS;
}

static uint64_t unrest_offs(void)
{
	return (unrest_shared->changes / 2 + 1) / 2;
}

static uint64_t unrest_out(void)
{
	return unrest_pages("pswpout") - unrest.out;
}

static uint64_t unrest_in(void)
{
	return unrest_pages("pswpin") - unrest.in;
}

bool unrest_enough(void)
{
	if (unrest.cpus &&
	    (unrest_offs() < UNREST_OFFS || !unrest.without || !unrest.amid))
		return false;
	return !unrest.swap || (unrest_out() >= UNREST_PAGES && unrest_in() >= UNREST_PAGES);
}

bool unrest_goes_on(uint64_t done, uint64_t n, bool met)
{
	static uint64_t begin;

	if (!done)
		begin = now_ns();
	if (done < n)
		return true;
	return !(met && unrest_enough()) &&
	       (done < n * UNREST_PATIENCE || now_ns() - begin < UNREST_PATIENCE_NS);
}

const char *unrest_text(void)
{
	static char text[240];
	size_t len = 0;

	text[0] = '\0';
	if (unrest.cpus)
		len = (size_t)snprintf(text, sizeof(text),
				       "; cpu1 went off %" PRIu64 " times, %" PRIu64
				       " without it, %" PRIu64 " met a change",
				       unrest_offs(), unrest.without, unrest.amid);
	if (unrest.swap)
		snprintf(text + len, sizeof(text) - len,
			 "; %" PRIu64 " pages went out, %" PRIu64 " came back", unrest_out(),
			 unrest_in());
	return text;
}

void unrest_stop(void)
{
	crew_end(&unrest.cpus_pid);
	crew_end(&unrest.swap_pid);
	if (unrest.cpus && write_file(UNREST_CPU, "1") < 0)
		fail(STATUS_FAILED, UNREST_CPU, "it stays off: %s", strerror(errno));
	unrest.cpus = false;
	if (unrest.swaps)
		zram_swap_end(unrest.zram);
	unrest.swaps = false;
	if (unrest.zram >= 0)
		zram_swap_remove(unrest.zram);
	unrest.zram = -1;
}

int unrest_end(int ret)
{
	bool enough = unrest_enough();

	if (!ret && !enough && report_bad() == unrest.bad)
		ret = fail(STATUS_UNMET, "unrest", "too little of it%s", unrest_text());
	unrest_stop();
	return ret;
}
