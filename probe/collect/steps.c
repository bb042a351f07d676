// SPDX-License-Identifier: GPL-2.0-only
/* The steps, each a file of the folder, in the order in which they are taken. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "step.h"

#define FORKS_MS 2000

static void files(struct buf *out, const char *const *paths)
{
	for (; *paths; paths++)
		step_file(out, *paths);
}

static void system_run(struct buf *out)
{
	static const char *const paths[] = {
		"/proc/version", "/proc/sys/kernel/osrelease", "/proc/cmdline",
		"/proc/uptime", "/proc/loadavg", "/proc/meminfo", "/proc/swaps",
		"/proc/cgroups", "/proc/sys/kernel/threads-max", "/proc/sys/kernel/pid_max",
		"/proc/sys/kernel/kptr_restrict", "/proc/sys/kernel/dmesg_restrict",
		"/sys/devices/system/cpu/online", NULL,
	};

	files(out, paths);
}

static void config_run(struct buf *out)
{
	static const char *const places[] = { "/boot/config-%s", "/lib/modules/%s/config",
		"/usr/lib/modules/%s/config", NULL };
	struct utsname machine;
	char path[256];
	struct answer a;

	uname(&machine);
	if (!step_ask_maybe(ASK_READ, "/proc/config.gz", &a)) {
		/* As it is: whoever judges it can unpack it. */
		buf_add(out, a.text, a.len);
		return;
	}
	for (const char *const *place = places; *place; place++) {
		snprintf(path, sizeof(path), *place, machine.release);
		if (!step_ask_maybe(ASK_READ, path, &a)) {
			buf_add(out, a.text, a.len);
			return;
		}
	}
	step_note("no", "/proc/config.gz or /boot/config", ENOENT);
}

/* Not wakeup_count: reading it waits for wakeup events that are being handled. */
static void power_run(struct buf *out)
{
	static const char *const paths[] = {
		"/sys/power/state", "/sys/power/mem_sleep", "/sys/power/pm_async",
		"/sys/power/sync_on_suspend", "/sys/power/pm_freeze_timeout",
		"/sys/power/pm_test", "/sys/power/pm_print_times",
		"/sys/power/pm_debug_messages", "/sys/kernel/debug/suspend_stats",
		"/sys/module/printk/parameters/console_suspend", "/sys/kernel/rcu_expedited",
		"/sys/kernel/rcu_normal", NULL,
	};

	files(out, paths);
	step_folder(out, "/sys/power/suspend_stats");
}

static void lull_run(struct buf *out)
{
	step_folder(out, "/sys/module/lull/parameters");
	step_each(out, "/sys/kernel/debug/lull", "", "modes");
	step_each(out, "/sys/kernel/debug/lull", "", "stats");
}

static void mounts_run(struct buf *out)
{
	step_file(out, "/proc/self/mountinfo");
	step_file(out, "/proc/self/mountstats");
	step_each(out, "/sys/fs/fuse/connections", "", "waiting");
}

static void swap_run(struct buf *out)
{
	static const char *const names[] = { "disksize", "mm_stat", "io_stat",
		"comp_algorithm", "backing_dev", "bd_stat", NULL };

	for (const char *const *name = names; *name; name++)
		step_each(out, "/sys/block", "zram", *name);
	step_folder(out, "/sys/module/zswap/parameters");
	step_folder(out, "/sys/kernel/debug/zswap");
}

static void put_forks(struct buf *out)
{
	struct answer a;
	const char *at;

	if (step_ask(ASK_READ, "/proc/stat", &a))
		return;
	at = strstr(a.text, "\nprocesses ");
	if (at)
		buf_fmt(out, "%llu ms\t%llu forks\n", (unsigned long long)now_ms(),
			strtoull(at + 11, NULL, 10));
}

static void forks_run(struct buf *out)
{
	put_forks(out);
	if (step_is_real())
		nanosleep(&(struct timespec){ .tv_sec = FORKS_MS / 1000 }, NULL);
	put_forks(out);
}

static void answer_run(struct buf *out, enum ask what, const char *path)
{
	struct answer a;

	if (!step_is_real())
		what = ASK_READ;
	if (!step_ask(what, path, &a))
		buf_add(out, a.text, a.len);
}

static void log_run(struct buf *out)
{
	answer_run(out, ASK_LOG, "/dev/kmsg");
}

static void journal_run(struct buf *out)
{
	answer_run(out, ASK_JOURNAL, "/usr/bin/journalctl");
}

const struct step steps[] = {
	{ "system", system_run },
	{ "config", config_run },
	{ "power", power_run },
	{ "lull", lull_run },
	{ "forks", forks_run },
	{ "tasks", tasks_run },
	{ "mounts", mounts_run },
	{ "swap", swap_run },
	{ "devices", devices_run },
	{ "again", again_run },
	{ "log", log_run },
	{ "journal", journal_run },
	{ 0 },
};
