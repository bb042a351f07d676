// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that swap out, read back and unmap on a zram that is nearly full,
 * while its pool and all memory are compacted, modes are switched and a CPU goes and
 * comes; children may share what they have. Every page that is read back is checked (ZS1), and at rest
 * nothing may remain (ZS4).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "inject.h"
#include "job.h"
#include "layout.h"
#include "lull.h"
#include "pages.h"
#include "perturb.h"
#include "sharers.h"
#include "unrest.h"
#include "util.h"
#include "worker.h"
#include "workload.h"
#include "zram.h"

#define SWITCH "/sys/module/lull/parameters/zfree"
#define COMPACT_MEMORY "/proc/sys/vm/compact_memory"
/* A block device that takes its time: the lab gives it to debug kernels. */
#define SLOW_DEVICE "/dev/nullb0"
#define ZSWAP_STORED "/sys/kernel/debug/zswap/stored_pages"
#define WORKER_MB 1
#define COMPACT_MS 100
/* LULL_ZFREE_BATCH. */
#define GROUP_SLOTS 64
#define HUGE_BYTES ((size_t)8 << 20)
/*
 * Without an area that went out or was read back in that time something hangs: counted in
 * sleeps that the guest has done, so that one whose host is slow has longer.
 */
#define STUCK_MS 60000
#define LOOK_MS 10
/* A worker has two areas at a time, and the caches of swap slots hold some. */
#define ROOM_MB(workers, spare) ((workers) * 2 * WORKER_MB + (spare))

/* Counted by the workers; shared with the probe. */
static volatile struct tally {
	uint64_t out, checked, wrong, failed, read;
} *tally;

static struct zram zram = ZRAM_NONE;
static struct crew crew;

/* A page that cannot be read back is a wrong one, and the end of its worker. */
static void unreadable(int sig)
{
	(void)sig;
	__atomic_add_fetch(&tally->wrong, 1, __ATOMIC_RELAXED);
	_exit(1);
}

static void check(const struct pages *area)
{
	__atomic_add_fetch(&tally->wrong, pages_wrong(area), __ATOMIC_RELAXED);
	__atomic_add_fetch(&tally->checked, 1, __ATOMIC_RELAXED);
}

/* One area is older than the other, so that slots of both are interleaved. */
static void worker(const struct job_case *c, uint64_t seed)
{
	bool sharers = job_number(c, "sharers");
	const char *slots = job_param(c, "slots");
	struct pages areas[2] = { 0 };
	pid_t child = 0;

	signal(SIGBUS, unreadable);
	if (sharers)
		perturb_seed(perturb_below(1u << 31), (unsigned int)(seed >> 32));
	for (uint64_t i = 0;; i++) {
		struct pages *area = &areas[i % 2];
		bool there = area->start, reads = i % 4 < 2;

		if (there && reads)
			check(area);
		if (there && !reads && sharers)
			sharers_choose(&child);
		pages_unmap(area);
		if (there && !reads && sharers)
			sharers_let_go(&child);
		if (pages_make(area, WORKER_MB << 20, seed + i) < 0)
			__atomic_add_fetch(&tally->failed, 1, __ATOMIC_RELAXED);
		else
			layout_try_out(area, slots);
		/* Where there is no room just now some of it stays in memory. */
		if (area->start && !madvise(area->start, area->bytes, MADV_PAGEOUT))
			__atomic_add_fetch(&tally->out, 1, __ATOMIC_RELAXED);
		if (sharers)
			sharers_fork(&child, area, check);
	}
}

/* The pool, memory, and somebody who wants huge pages. */
static void compactor(void)
{
	char compact[ZRAM_PATH], *huge;

	zram_path(compact, &zram, "compact");
	huge = mmap(NULL, HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (huge != MAP_FAILED)
		madvise(huge, HUGE_BYTES, MADV_HUGEPAGE);
	for (;;) {
		write_file(compact, "1");
		write_file(COMPACT_MEMORY, "1");
		if (huge != MAP_FAILED) {
			memset(huge, 1, HUGE_BYTES);
			madvise(huge, HUGE_BYTES, MADV_DONTNEED);
		}
		sleep_ms(COMPACT_MS);
	}
}

static void switcher(void)
{
	struct modes modes;

	lull_modes("zfree", &modes);
	for (unsigned int i = 0;; i++) {
		write_file(SWITCH, modes.names[i % modes.n]);
		sleep_ms(3);
	}
}

/* Everything is idle, again and again, and then asked to go. */
static void post_processor(const char *file, const char *what)
{
	char idle[ZRAM_PATH], path[ZRAM_PATH];

	zram_path(idle, &zram, "idle");
	zram_path(path, &zram, file);
	for (;;) {
		write_file(idle, "all");
		write_file(path, what);
		sleep_ms(1);
	}
}

static void write_back(void)
{
	post_processor("writeback", "idle");
}

/* Beside writeback, which marks only what it comes to. */
static void mark_idle(void)
{
	post_processor("idle", "all");
}

static void recompress(void)
{
	post_processor("recompress", "type=idle");
}

/*
 * From the device itself, the last slot of a group that is freed at once: who frees
 * can be made to wait there.
 */
static void reader(void)
{
	char path[ZRAM_PATH];
	void *page;
	int fd;

	zram_device(path, sizeof(path), &zram);
	fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0 || posix_memalign(&page, PAGE_BYTES, PAGE_BYTES))
		return;
	for (off_t slot = GROUP_SLOTS - 1;; slot += GROUP_SLOTS) {
		if (pread(fd, page, PAGE_BYTES, slot * PAGE_BYTES) <= 0)
			slot = -1;
		else
			__atomic_add_fetch(&tally->read, 1, __ATOMIC_RELAXED);
	}
}

/* Beside the workers; the parameter says whether. */
static const struct other {
	const char *param;
	void (*run)(void);
} others[] = {
	{ "compact", compactor },
	{ "switchers", switcher },
	{ "writeback", write_back },
	{ "writeback", mark_idle },
	{ "recompress", recompress },
	{ "readers", reader },
};

static void start_all(uint64_t order, void *arg, struct crew_answer *answer)
{
	const struct job_case *c = arg;
	uint64_t workers = job_number(c, "workers");
	pid_t boss = getpid();

	(void)order;
	for (; answer->done < workers + ARRAY_SIZE(others); answer->done++) {
		const struct other *other =
			answer->done < workers ? NULL : &others[answer->done - workers];
		pid_t pid;

		if (other && !job_number(c, other->param))
			continue;
		pid = fork();
		if (pid < 0) {
			answer->error = errno;
			strcpy(answer->doing, "starting a worker");
			return;
		}
		if (pid)
			continue;
		crew_member(boss);
		if (!other)
			worker(c, answer->done << 32);
		other->run();
		/* Who cannot do it does nothing else. */
		_exit(1);
	}
}

static int churn_setup(const struct job_case *c)
{
	if (!tally)
		tally = crew_memory(sizeof(*tally));
	if (!tally)
		return -1;
	if (job_number(c, "zswap") && zswap_start(job_param(c, "algorithm")) < 0)
		return -1;
	return inject_case(c);
}

/* `fresh` is what there was before: the header of the swap area. */
static bool nothing_left(const struct job_case *c, const struct zram_stat *fresh,
			 const struct zram_stat *stat, uint64_t missed)
{
	uint64_t more = stat->orig_data_size - fresh->orig_data_size;
	/* The header itself may have been written back. */
	bool back = job_number(c, "writeback");

	if (!missed && !back)
		return !memcmp(stat, fresh, sizeof(*stat));
	/* What was missed stays until its slot is written again. */
	return more <= missed * PAGE_BYTES &&
	       (back || stat->compr_data_size >= fresh->compr_data_size) &&
	       stat->compr_data_size <= fresh->compr_data_size + more &&
	       (more || stat->mem_used_total <= fresh->mem_used_total);
}

static int report(const struct job_case *c, const char *mode, const struct zram_stat *fresh,
		  const struct zram_stat *stat, uint64_t missed)
{
	uint64_t more = stat->orig_data_size - fresh->orig_data_size;
	uint64_t in_zswap = read_number(ZSWAP_STORED, 0);
	char text[400];
	int len;

	len = snprintf(text, sizeof(text), "%s: %llu areas out, %llu read back, %llu pages wrong%s",
		       mode, (unsigned long long)tally->out, (unsigned long long)tally->checked,
		       (unsigned long long)tally->wrong, unrest_text());
	if (job_number(c, "sharers"))
		sharers_text(text + len, sizeof(text) - (size_t)len);
	if (report_check(c, "ZS1", tally->checked && !tally->wrong && !tally->failed, text) < 0)
		return -1;
	snprintf(text, sizeof(text),
		 "%s: at rest %lld bytes more, %lld compressed, %lld used, %llu missed, "
		 "%llu pages in zswap", mode, (long long)more,
		 (long long)(stat->compr_data_size - fresh->compr_data_size),
		 (long long)(stat->mem_used_total - fresh->mem_used_total),
		 (unsigned long long)missed, (unsigned long long)in_zswap);
	return report_check(c, "ZS4", !in_zswap && nothing_left(c, fresh, stat, missed), text);
}

static bool shared_enough(const struct job_case *c)
{
	return !job_number(c, "sharers") || sharers_enough();
}

/* Of what has to happen, and how often the parameter says, what has not; or NULL. */
static const char *lacking(const struct job_case *c)
{
	static const char *const counted[] = { "cuts", "waits", "batches" };
	uint64_t wanted = job_number(c, "misses"), missed;

	for (unsigned int i = 0; i < ARRAY_SIZE(counted); i++) {
		if (job_number(c, counted[i]) &&
		    lull_stat("zfree", counted[i]) < job_number(c, counted[i]))
			return counted[i];
	}
	if (wanted && (zram_missed(&zram, &missed) < 0 || missed < wanted))
		return "misses";
	if (job_number(c, "readers") && !tally->read)
		return "readers";
	return NULL;
}

/* Whatever the case asks for beside so many areas. */
static bool has_all(const struct job_case *c, uint64_t checks)
{
	return tally->checked >= checks && !lacking(c) && shared_enough(c);
}

/* Until so many areas were read back: a slow machine takes longer. */
static int wait_checked(const struct job_case *c)
{
	uint64_t before = 0, out = 0, checks = job_number(c, "checks");
	unsigned int ms = 0;

	while (unrest_goes_on(tally->checked, checks, has_all(c, checks)) && !tally->wrong &&
	       check_interrupted() >= 0) {
		/* Each worker has four areas go out before it comes to its first check. */
		if (tally->checked != before || tally->out != out)
			ms = 0;
		if (tally->checked != before)
			unrest_step();
		before = tally->checked;
		out = tally->out;
		if (ms > STUCK_MS)
			return fail(STATUS_FAILED, "churn", "%llu areas read back, and no more",
				    (unsigned long long)before);
		sleep_ms(LOOK_MS);
		ms += LOOK_MS;
	}
	return check_interrupted();
}

static int enough_shared(const struct job_case *c)
{
	char text[160];

	if (shared_enough(c))
		return 0;
	sharers_text(text, sizeof(text));
	return fail(STATUS_UNMET, "churn", "too little was shared%s", text);
}

static int churn_round(const struct job_case *c, const char *mode, struct sample *s)
{
	struct zram_stat fresh, stat;
	struct zram_options options = {
		.kb = ROOM_MB(job_number(c, "workers"), job_number(c, "spare_mb")) << 10,
		.algorithm = job_param(c, "algorithm"),
		.second = job_number(c, "recompress") ? "lz4" : NULL,
		.backing = job_number(c, "writeback") ? SLOW_DEVICE : NULL,
		.rotates = job_number(c, "rotates"),
	};
	const char *lack;
	uint64_t missed;
	int ret;

	memset((void *)tally, 0, sizeof(*tally));
	if (sharers_begin() < 0 || lull_stats_clear("zfree") < 0 ||
	    zram_start(&zram, &options) < 0 || zram_stat(&zram, &fresh) < 0 ||
	    crew_start(&crew, start_all, (void *)c) < 0 || crew_do(&crew, 0) < 0 ||
	    unrest_start(c) < 0)
		return -1;
	ret = wait_checked(c);
	crew_stop(&crew);
	if (ret < 0)
		return ret;
	/* What the caches of slots hold goes with the swap. */
	ret = zram_swap_off(&zram);
	if (!ret)
		ret = worker_wait();
	if (!ret)
		ret = zram_stat(&zram, &stat) < 0 || zram_missed(&zram, &missed) < 0 ? -1 : 0;
	if (!ret)
		ret = report(c, mode, &fresh, &stat, missed);
	sample_add(s, "checked", (double)tally->checked);
	lack = lacking(c);
	zram_stop(&zram);
	if (!ret && lack)
		ret = fail(STATUS_UNMET, "churn", "too few %s in %" PRIu64 " areas read back", lack,
			   tally->checked);
	return unrest_end(ret ? ret : enough_shared(c));
}

static void churn_teardown(void)
{
	crew_stop(&crew);
	unrest_stop();
	zram_stop(&zram);
}

static const struct workload_param churn_params[] = {
	{ "workers", "3" },
	{ "switchers", "0" },
	{ "checks", "30" },
	{ "algorithm", "lzo-rle" },
	/* 1: zswap in front of it takes what it has room for. */
	{ "zswap", "0" },
	{ "slots", "rows" },
	/* 1: each worker has a child that shares its memory. */
	{ "sharers", "0" },
	/* Of runs of slots so many have to be cut where a cluster ends. */
	{ "cuts", "0" },
	/* So many batches have to be given back. */
	{ "batches", "0" },
	/* So often a slot has to be locked just when it would be freed. */
	{ "misses", "0" },
	/* With little of it slots are taken and given without their caches. */
	{ "spare_mb", "2" },
	{ "compact", "1" },
	{ "writeback", "0" },
	{ "recompress", "0" },
	/* 1: somebody reads the device meanwhile. */
	{ "readers", "0" },
	/* So often a slot has to be locked while its group is freed. */
	{ "waits", "0" },
	/* 1: as on a disk, whose slots are in no clusters. */
	{ "rotates", "0" },
	UNREST_PARAMS,
	INJECT_PARAMS,
	{ "delay_ms", "0" },
	{ 0 },
};

static const struct workload churn = {
	.feature = "zfree",
	.name = "churn",
	.text = "swap out, read back and unmap under compaction, every page checked",
	.params = churn_params,
	.setup = churn_setup,
	.round = churn_round,
	.teardown = churn_teardown,
};

WORKLOAD(churn);
