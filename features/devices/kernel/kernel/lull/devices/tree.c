// SPDX-License-Identifier: GPL-2.0-only
/*
 * A bus whose devices are made from a description, with callbacks that take the
 * time it says and record when they ran.
 *
 *	tree	written: makes the devices, instead of those that there are
 *		(nothing written but "none": removes them); read: how many
 *	error	what was wrong with what was written last
 *	layout	a line for each device: is it async, is it direct, its callbacks'
 *		phases as bits, index of its parent or -1, number and indices of
 *		its suppliers
 *	record	read: what the callbacks did; written: forgets it
 *	event	"NAME PHASE fail ERRNO", "NAME PHASE wakeup", "NAME PHASE remove" (all
 *		below it), "NAME PHASE leave" (it goes away itself, for which the
 *		phase must not lock it), "NAME PHASE unlink" (from its consumers), "NAME
 *		PHASE part INDEX" (another from its), "NAME PHASE mode NUMBER",
 *		"NAME PHASE ask" (for a runtime resume), "NAME PHASE move INDEX" (of
 *		another, to the end of dpm_list), "NAME PHASE adopt INDEX PARENT" (both
 *		indices: another gets that parent, and is moved behind it), "NAME PHASE
 *		foster INDEX PARENT" (it stays where it is in the list), "NAME PHASE new
 *		INDEX INDEX" (a device is added, and the two are moved below it): when the
 *		callback is called, until the record is cleared; two can be written
 *	mark	"NAME skip", "NAME woken", "NAME used", "NAME runtime": see tree.h
 *	state	a line for each device: see tree_state_show()
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/pm.h>
#include <linux/pm_runtime.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/suspend.h>
#include <linux/uaccess.h>

#include "internal.h"
#include "tree.h"

#define TREE_MAX_TEXT	(2 << 20)
#define TREE_MAX_EVENTS	2

enum tree_event_kind {
	TREE_NOTHING,
	TREE_FAIL,
	TREE_WAKEUP,
	TREE_REMOVE,
	TREE_LEAVE,
	TREE_UNLINK,
	TREE_PART,
	TREE_MODE,
	TREE_ASK,
	TREE_MOVE,
	TREE_ADOPT,
	TREE_FOSTER,
	TREE_NEW,
};

static const char * const tree_events[] = {
	[TREE_NOTHING]	= "nothing",
	[TREE_FAIL]	= "fail",
	[TREE_WAKEUP]	= "wakeup",
	[TREE_REMOVE]	= "remove",
	[TREE_LEAVE]	= "leave",
	[TREE_UNLINK]	= "unlink",
	[TREE_PART]	= "part",
	[TREE_MODE]	= "mode",
	[TREE_ASK]	= "ask",
	[TREE_MOVE]	= "move",
	[TREE_ADOPT]	= "adopt",
	[TREE_FOSTER]	= "foster",
	[TREE_NEW]	= "new",
};

/* What is to happen in the callback that it is for, until the record is cleared. */
struct tree_event {
	enum tree_event_kind kind;
	int node, phase;
	/* The error, the mode or whom it moves, and below whom, or whom else. */
	u32 number, other;
};

/* Against writers of the files; callbacks run while those are frozen. */
static DEFINE_MUTEX(tree_lock);
static struct tree *tree;
static struct tree_error tree_error;
static struct tree_event tree_happens[TREE_MAX_EVENTS];
static unsigned int tree_nr_events;

static const struct bus_type tree_bus = {
	.name = TREE_BUS,
};

static struct tree_device *to_tree(struct device *dev)
{
	return container_of(dev, struct tree_device, dev);
}

static void spend(u32 us, bool busy)
{
	ktime_t until;

	if (!us)
		return;
	if (!busy) {
		usleep_range(us, us + 1);
		return;
	}
	until = ktime_add_us(ktime_get(), us);
	while (ktime_before(ktime_get(), until))
		cond_resched();
}

static void remove_one(struct tree_node *node)
{
	struct device *dev = &node->device->dev;

	node->device = NULL;
	device_unregister(dev);
}

/* All below the node, the last first. */
static void remove_below(int top)
{
	for (int i = tree->nr - 1; i > top; i--) {
		struct tree_node *node = &tree->nodes[i];
		int up = node->parent;

		while (up > top)
			up = tree->nodes[up].parent;
		if (up == top && node->device)
			remove_one(node);
	}
}

static void unlink_consumers(int supplier)
{
	for (unsigned int i = supplier + 1; i < tree->nr; i++) {
		struct tree_node *node = &tree->nodes[i];

		for (unsigned int k = 0; k < node->nr_suppliers; k++)
			if (node->suppliers[k] == supplier && node->device)
				device_link_remove(&node->device->dev,
						   &tree->nodes[supplier].device->dev);
	}
}

static int happen(const struct tree_event *event, struct device *dev)
{
	switch (event->kind) {
	case TREE_FAIL:
		return -(int)event->number;
	case TREE_WAKEUP:
		pm_system_wakeup();
		return 0;
	case TREE_REMOVE:
		remove_below(event->node);
		return 0;
	case TREE_LEAVE:
		remove_one(&tree->nodes[event->node]);
		return 0;
	case TREE_UNLINK:
		unlink_consumers(event->node);
		return 0;
	case TREE_PART:
		if (event->number >= tree->nr || !tree->nodes[event->number].device)
			return -EINVAL;
		unlink_consumers(event->number);
		return 0;
	case TREE_MODE:
		return devices_set_mode(event->number);
	case TREE_ASK:
		return pm_request_resume(dev);
	case TREE_MOVE:
		return tree_move_last(tree, event->number);
	case TREE_ADOPT:
		return tree_move_below(tree, event->number, event->other,
				       DPM_ORDER_DEV_AFTER_PARENT);
	case TREE_FOSTER:
		return tree_move_below(tree, event->number, event->other,
				       DPM_ORDER_NONE);
	case TREE_NEW:
		return tree_move_new(tree, event->number, event->other);
	default:
		return 0;
	}
}

static int tree_call(struct device *dev, enum lull_devices_phase phase)
{
	struct tree_node *node = to_tree(dev)->node;
	struct tree_call *call = &node->done[phase];

	call->begin = ktime_get_ns();
	call->pid = current->pid;
	atomic_inc(&call->count);
	spend(node->us[phase], node->busy & BIT(phase));
	if (node->wakeup & BIT(phase))
		pm_system_wakeup();
	call->ret = -node->fail[phase];
	for (unsigned int i = 0; i < tree_nr_events; i++)
		if (node == &tree->nodes[tree_happens[i].node] &&
		    phase == tree_happens[i].phase)
			call->ret = happen(&tree_happens[i], dev);
	call->end = ktime_get_ns();
	return call->ret;
}

static int tree_suspend(struct device *dev)
{
	return tree_call(dev, LULL_DEVICES_SUSPEND);
}

static int tree_suspend_late(struct device *dev)
{
	return tree_call(dev, LULL_DEVICES_SUSPEND_LATE);
}

static int tree_suspend_noirq(struct device *dev)
{
	if (to_tree(dev)->node->marks & BIT(TREE_WOKEN))
		dev->power.may_skip_resume = false;
	return tree_call(dev, LULL_DEVICES_SUSPEND_NOIRQ);
}

/* The PM core leaves it to a bus to skip what it calls of it. */
static int tree_resume_noirq(struct device *dev)
{
	if (dev_pm_skip_resume(dev))
		return 0;
	return tree_call(dev, LULL_DEVICES_RESUME_NOIRQ);
}

static int tree_resume_early(struct device *dev)
{
	if (dev_pm_skip_resume(dev))
		return 0;
	return tree_call(dev, LULL_DEVICES_RESUME_EARLY);
}

static int tree_resume(struct device *dev)
{
	return tree_call(dev, LULL_DEVICES_RESUME);
}

static int tree_prepare(struct device *dev)
{
	return to_tree(dev)->node->direct;
}

#define TREE_HAS(calls, phase, fn) ((calls) & BIT(phase) ? (fn) : NULL)

/* One for each set of callbacks: what has none in a phase must lack it. */
static struct dev_pm_domain *domain_for(const struct tree_node *node)
{
	static struct dev_pm_domain domains[2][1 << TREE_NR_PHASES];
	struct dev_pm_domain *domain = &domains[node->direct][node->calls];
	u8 calls = node->calls;

	domain->ops.prepare = node->direct ? tree_prepare : NULL;
	domain->ops.suspend = TREE_HAS(calls, LULL_DEVICES_SUSPEND, tree_suspend);
	domain->ops.suspend_late = TREE_HAS(calls, LULL_DEVICES_SUSPEND_LATE,
					    tree_suspend_late);
	domain->ops.suspend_noirq = TREE_HAS(calls, LULL_DEVICES_SUSPEND_NOIRQ,
					     tree_suspend_noirq);
	domain->ops.resume_noirq = TREE_HAS(calls, LULL_DEVICES_RESUME_NOIRQ,
					    tree_resume_noirq);
	domain->ops.resume_early = TREE_HAS(calls, LULL_DEVICES_RESUME_EARLY,
					    tree_resume_early);
	domain->ops.resume = TREE_HAS(calls, LULL_DEVICES_RESUME, tree_resume);
	return domain;
}

static void tree_release(struct device *dev)
{
	kfree(to_tree(dev));
}

static int add_device(struct tree_node *node)
{
	struct tree_device *device = kzalloc(sizeof(*device), GFP_KERNEL);
	int ret;

	if (!device)
		return -ENOMEM;
	device_initialize(&device->dev);
	device->node = node;
	device->dev.bus = &tree_bus;
	device->dev.pm_domain = domain_for(node);
	device->dev.release = tree_release;
	if (node->parent >= 0)
		device->dev.parent = &tree->nodes[node->parent].device->dev;
	if (node->async)
		device_enable_async_suspend(&device->dev);
	if (node->direct)
		pm_runtime_set_suspended(&device->dev);
	/* A device may have the name of a real one, or of a file of its parent's. */
	ret = dev_set_name(&device->dev, "lull:%s", node->name);
	if (!ret)
		ret = device_add(&device->dev);
	if (ret) {
		put_device(&device->dev);
		return ret;
	}
	node->device = device;
	return tree_link(tree, node);
}

static void remove_tree(void)
{
	if (!tree)
		return;
	tree_move_back(tree);
	for (int i = tree->nr - 1; i >= 0; i--) {
		if (tree->nodes[i].device)
			device_unregister(&tree->nodes[i].device->dev);
		/* Thousands take a slow machine longer than a watchdog waits. */
		cond_resched();
	}
	tree_free(tree);
	tree = NULL;
	tree_nr_events = 0;
}

static int make_tree(char *text)
{
	struct tree *new;
	int ret = 0;

	tree_error = (struct tree_error) { };
	if (sysfs_streq(text, "none")) {
		remove_tree();
		return 0;
	}
	new = tree_read(text, &tree_error);
	if (IS_ERR(new))
		return PTR_ERR(new);
	remove_tree();
	tree = new;
	for (unsigned int i = 0; i < tree->nr && !ret; i++) {
		ret = add_device(&tree->nodes[i]);
		if (ret)
			scnprintf(tree_error.text, sizeof(tree_error.text),
				  "device %s: cannot be added: error %d",
				  tree->nodes[i].name, ret);
		cond_resched();
	}
	if (ret)
		remove_tree();
	else if (devices_has_proxies())
		tree_link_proxies(tree);
	return ret;
}

static ssize_t tree_write(struct file *file, const char __user *buf,
			  size_t count, loff_t *ppos)
{
	char *text;
	int ret;

	if (count > TREE_MAX_TEXT)
		return -E2BIG;
	text = memdup_user_nul(buf, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	mutex_lock(&tree_lock);
	/* A byte of 0 would hide what follows it. */
	ret = strlen(text) == count ? make_tree(text) : -EINVAL;
	mutex_unlock(&tree_lock);
	kfree(text);
	return ret ?: count;
}

static int tree_show(struct seq_file *m, void *v)
{
	mutex_lock(&tree_lock);
	seq_printf(m, "%u\n", tree ? tree->nr : 0);
	mutex_unlock(&tree_lock);
	return 0;
}

static int tree_open(struct inode *inode, struct file *file)
{
	return single_open(file, tree_show, NULL);
}

static const struct file_operations tree_fops = {
	.owner = THIS_MODULE,
	.open = tree_open,
	.read = seq_read,
	.write = tree_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int error_show(struct seq_file *m, void *v)
{
	mutex_lock(&tree_lock);
	seq_printf(m, "%s\n", tree_error.text);
	mutex_unlock(&tree_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(error);

static int layout_show(struct seq_file *m, void *v)
{
	mutex_lock(&tree_lock);
	for (unsigned int i = 0; tree && i < tree->nr; i++) {
		const struct tree_node *node = &tree->nodes[i];

		seq_printf(m, "%d %d %u %d %u", node->async, node->direct,
			   node->calls, node->parent, node->nr_suppliers);
		for (unsigned int k = 0; k < node->nr_suppliers; k++)
			seq_printf(m, " %d", node->suppliers[k]);
		seq_putc(m, '\n');
	}
	mutex_unlock(&tree_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(layout);

static int record_show(struct seq_file *m, void *v)
{
	mutex_lock(&tree_lock);
	if (tree)
		tree_record_show(m, tree);
	mutex_unlock(&tree_lock);
	return 0;
}

static int record_open(struct inode *inode, struct file *file)
{
	return single_open(file, record_show, NULL);
}

static ssize_t record_write(struct file *file, const char __user *buf,
			    size_t count, loff_t *ppos)
{
	mutex_lock(&tree_lock);
	if (tree)
		tree_record_clear(tree);
	tree_nr_events = 0;
	mutex_unlock(&tree_lock);
	return count;
}

static const struct file_operations record_fops = {
	.owner = THIS_MODULE,
	.open = record_open,
	.read = seq_read,
	.write = record_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int read_event(char *text, struct tree_event *event)
{
	char *words[5] = { };

	for (unsigned int i = 0; i < ARRAY_SIZE(words) && text; i++)
		words[i] = strsep(&text, " ");
	if (!words[2] || !tree)
		return -EINVAL;
	event->node = tree_find(tree, words[0]);
	event->phase = tree_phase(words[1]);
	event->kind = match_string(tree_events, ARRAY_SIZE(tree_events), words[2]);
	if (event->node < 0 || event->phase < 0 || (int)event->kind < 0)
		return -EINVAL;
	switch (event->kind) {
	case TREE_ADOPT:
	case TREE_FOSTER:
	case TREE_NEW:
		if (!words[4] || kstrtou32(words[4], 10, &event->other))
			return -EINVAL;
		fallthrough;
	case TREE_FAIL:
	case TREE_PART:
	case TREE_MODE:
	case TREE_MOVE:
		return words[3] ? kstrtou32(words[3], 10, &event->number) : -EINVAL;
	default:
		return 0;
	}
}

static ssize_t event_write(struct file *file, const char __user *buf,
			   size_t count, loff_t *ppos)
{
	struct tree_event event = { };
	char text[TREE_MAX_NAME + 40];
	int ret;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, count))
		return -EFAULT;
	text[count] = '\0';
	mutex_lock(&tree_lock);
	ret = read_event(strim(text), &event);
	if (!ret && tree_nr_events == TREE_MAX_EVENTS)
		ret = -ENOSPC;
	if (!ret)
		tree_happens[tree_nr_events++] = event;
	mutex_unlock(&tree_lock);
	return ret ?: count;
}

static const struct file_operations event_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = event_write,
};

static ssize_t mark_write(struct file *file, const char __user *buf,
			  size_t count, loff_t *ppos)
{
	char text[TREE_MAX_NAME + 40];
	int ret;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, count))
		return -EFAULT;
	text[count] = '\0';
	mutex_lock(&tree_lock);
	ret = tree ? tree_mark(tree, strim(text)) : -EINVAL;
	mutex_unlock(&tree_lock);
	return ret ?: count;
}

static const struct file_operations mark_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = mark_write,
};

static int state_show(struct seq_file *m, void *v)
{
	mutex_lock(&tree_lock);
	if (tree)
		tree_state_show(m, tree);
	mutex_unlock(&tree_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(state);

/**
 * tree_files - register the bus and make the files that feed it
 * @dir: for them
 */
void __init tree_files(struct dentry *dir)
{
	if (bus_register(&tree_bus))
		return;
	debugfs_create_file("tree", 0644, dir, NULL, &tree_fops);
	debugfs_create_file("error", 0444, dir, NULL, &error_fops);
	debugfs_create_file("layout", 0444, dir, NULL, &layout_fops);
	debugfs_create_file("record", 0644, dir, NULL, &record_fops);
	debugfs_create_file("event", 0200, dir, NULL, &event_fops);
	debugfs_create_file("mark", 0200, dir, NULL, &mark_fops);
	debugfs_create_file("state", 0444, dir, NULL, &state_fops);
}
