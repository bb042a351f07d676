// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frame that every feature of Lull hangs in: its mode switch and its
 * folder in debugfs.
 */
#define pr_fmt(fmt) "lull: " fmt

#include <linux/debugfs.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/lull.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#define CREATE_TRACE_POINTS
#include <trace/events/lull.h>

static struct dentry *lull_dir;

/* Serialised by the parameter lock, as is every reader in mode_get(). */
static int mode_set(const char *val, const struct kernel_param *kp)
{
	struct lull_feature *f = kp->arg;
	unsigned int mode;
	int ret;

	for (mode = 0; mode < f->nr_modes; mode++)
		if (f->modes[mode] && sysfs_streq(val, f->modes[mode]))
			break;

	if (mode == f->nr_modes) {
		if (system_state >= SYSTEM_RUNNING)
			return -EINVAL;
		/* A typing error must not decide how a machine boots. */
		pr_warn("%s: no mode '%s', staying with '%s'\n", f->name, val,
			f->modes[f->mode]);
		return 0;
	}

	if (mode == f->mode)
		return 0;

	ret = f->switch_mode(f, mode);
	if (ret)
		return ret;

	WRITE_ONCE(f->mode, mode);
	trace_lull_mode(f->name, f->modes[mode]);
	return 0;
}

static int mode_get(char *buffer, const struct kernel_param *kp)
{
	struct lull_feature *f = kp->arg;

	return sysfs_emit(buffer, "%s\n", f->modes[READ_ONCE(f->mode)]);
}

const struct kernel_param_ops lull_mode_ops = {
	.set = mode_set,
	.get = mode_get,
};

/**
 * lull_counter - read a counter of a feature
 * @f: the feature
 * @counter: index into its counters
 *
 * Return: the sum over all CPUs; exact when nobody counts meanwhile.
 */
u64 lull_counter(const struct lull_feature *f, unsigned int counter)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += *per_cpu_ptr(f->counts + counter, cpu);
	return sum;
}

/**
 * lull_clear_counters - set all counters of a feature to zero
 * @f: the feature
 */
void lull_clear_counters(struct lull_feature *f)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(f->counts, cpu), 0,
		       f->nr_counters * sizeof(u64));
}

static int modes_show(struct seq_file *m, void *v)
{
	struct lull_feature *f = m->private;
	unsigned int i;

	for (i = 0; i < f->nr_modes; i++)
		if (f->modes[i])
			seq_printf(m, "%s\n", f->modes[i]);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(modes);

static int stats_show(struct seq_file *m, void *v)
{
	struct lull_feature *f = m->private;
	unsigned int i;

	for (i = 0; i < f->nr_counters; i++)
		seq_printf(m, "%s %llu\n", f->counters[i], lull_counter(f, i));
	return 0;
}

static int stats_open(struct inode *inode, struct file *file)
{
	return single_open(file, stats_show, inode->i_private);
}

static ssize_t stats_write(struct file *file, const char __user *buf,
			   size_t count, loff_t *ppos)
{
	struct seq_file *m = file->private_data;

	lull_clear_counters(m->private);
	return count;
}

static const struct file_operations stats_fops = {
	.owner = THIS_MODULE,
	.open = stats_open,
	.read = seq_read,
	.write = stats_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/**
 * lull_register - give a feature its folder in debugfs
 * @f: the feature
 *
 * LULL_FEATURE() calls this. Without debugfs nothing is lost but the view.
 */
void __init lull_register(struct lull_feature *f)
{
	if (!lull_dir)
		lull_dir = debugfs_create_dir("lull", NULL);

	f->dir = debugfs_create_dir(f->name, lull_dir);
	debugfs_create_file("modes", 0444, f->dir, f, &modes_fops);
	debugfs_create_file("stats", 0644, f->dir, f, &stats_fops);
}
