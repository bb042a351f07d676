// SPDX-License-Identifier: GPL-2.0-only
/* For test kernels: safeguards that can be switched off, and what seldom happens. */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/device/bus.h>
#include <linux/lull_devices.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "internal.h"
#include "tree.h"

LULL_DEFINE_SAFEGUARDS(DEVICES, devices);

/* Each so manieth order for a worker fails as if memory were short; 0: none. */
static u32 fail_nth;
/* The walk starts on one CPU, and goes to another. */
static bool hop;
/* Trees get links for sync_state(), too. */
static bool proxies;

static bool is_of_tree(const struct device *dev)
{
	return dev->bus && !strcmp(dev->bus->name, TREE_BUS);
}

/**
 * lull_devices_no_memory - shall the next order for a worker fail?
 * @dev: for whom
 *
 * Those of the tree alone: what goes wrong with another may be what a test says
 * by.
 *
 * Return: true where a test asked for it.
 */
bool lull_devices_no_memory(struct device *dev)
{
	static atomic_t orders;
	u32 nth = READ_ONCE(fail_nth);

	return nth && is_of_tree(dev) && atomic_inc_return(&orders) % nth == 0;
}

/**
 * lull_devices_hop - go to another CPU, where a test asks for it
 *
 * An unbound workqueue has a queue for each group of CPUs: what is queued from
 * here on may overtake what was queued before.
 */
void lull_devices_hop(void)
{
	unsigned int cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());

	if (!READ_ONCE(hop) || cpu >= nr_cpu_ids)
		return;
	if (!set_cpus_allowed_ptr(current, cpumask_of(cpu)))
		set_cpus_allowed_ptr(current, cpu_possible_mask);
}

/**
 * devices_has_proxies - shall trees have links that order nothing?
 *
 * Return: true where a test asked for it.
 */
bool devices_has_proxies(void)
{
	return READ_ONCE(proxies);
}

/**
 * devices_debug_files - make the files that set all this
 * @dir: for them
 */
void __init devices_debug_files(struct dentry *dir)
{
	lull_choice_file("disable", dir, &lull_devices_safeguard_choice);
	debugfs_create_u32("fail_nth", 0644, dir, &fail_nth);
	debugfs_create_bool("hop", 0644, dir, &hop);
	debugfs_create_bool("proxies", 0644, dir, &proxies);
}
