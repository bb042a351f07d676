/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the features of Lull share: a mode switch, counters, debugfs.
 *
 * A feature declares the names of its modes and counters and one callback,
 * then says LULL_FEATURE(). It gets /sys/module/lull/parameters/<feature>,
 * the boot parameter lull.<feature>= and debugfs lull/<feature>/.
 */
#ifndef _LINUX_LULL_H
#define _LINUX_LULL_H

#include <linux/init.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/types.h>

struct dentry;

/**
 * struct lull_feature - one switchable feature
 * @name: as in sysfs, debugfs and on the command line
 * @modes: names of the modes; the first is the one that changes nothing. NULL
 *	where there is none: see LULL_COMPARED()
 * @nr_modes: number of @modes
 * @mode: index of the mode in force; written under the parameter lock
 * @switch_mode: makes a mode take effect, flipping static keys as needed. May
 *	sleep; may refuse with an error, -EBUSY where the change has to wait
 *	for rest. Called before @mode changes.
 * @counters: names of the counters
 * @nr_counters: number of @counters
 * @counts: the counters, per CPU
 * @dir: the feature's folder in debugfs, for files of its own
 */
struct lull_feature {
	const char *name;
	const char * const *modes;
	unsigned int nr_modes;
	unsigned int mode;
	int (*switch_mode)(struct lull_feature *f, unsigned int mode);
	const char * const *counters;
	unsigned int nr_counters;
	u64 __percpu *counts;
	struct dentry *dir;
};

extern const struct kernel_param_ops lull_mode_ops;

void lull_register(struct lull_feature *f);
u64 lull_counter(const struct lull_feature *f, unsigned int counter);
void lull_clear_counters(struct lull_feature *f);

/**
 * lull_count - add to a counter of a feature
 * @f: the feature
 * @counter: index into its counters
 * @n: how much
 *
 * Cheap enough for hot paths: one addition to memory of this CPU.
 */
static inline void lull_count(struct lull_feature *f, unsigned int counter,
			      u64 n)
{
	this_cpu_add(*(f->counts + counter), n);
}

/**
 * LULL_COMPARED - the name of a mode that is there to be compared with
 * @_name: its name
 *
 * Kernels without CONFIG_LULL_COMPARE have no such mode. Code that serves it
 * asks IS_ENABLED(), or is in a file of its own.
 */
#define LULL_COMPARED(_name)						\
	(IS_ENABLED(CONFIG_LULL_COMPARE) ? (_name) : NULL)

/**
 * LULL_FEATURE - define a feature and hook it into sysfs and debugfs
 * @_name: its name; the structure is lull_<name>
 * @_modes: array of mode names, the stock one first
 * @_switch: see switch_mode of struct lull_feature
 * @_counters: array of counter names
 */
#define LULL_FEATURE(_name, _modes, _switch, _counters)			\
	static DEFINE_PER_CPU(u64[ARRAY_SIZE(_counters)],		\
			      lull_##_name##_counts);			\
	static struct lull_feature lull_##_name = {			\
		.name = #_name,						\
		.modes = _modes,					\
		.nr_modes = ARRAY_SIZE(_modes),				\
		.switch_mode = _switch,					\
		.counters = _counters,					\
		.nr_counters = ARRAY_SIZE(_counters),			\
		.counts = (u64 __percpu *)&lull_##_name##_counts,	\
	};								\
	__module_param_call("lull.", _name, &lull_mode_ops,		\
			    &lull_##_name, 0644, -1, 0);		\
	static int __init lull_##_name##_register(void)			\
	{								\
		lull_register(&lull_##_name);				\
		return 0;						\
	}								\
	late_initcall(lull_##_name##_register)

#endif /* _LINUX_LULL_H */
