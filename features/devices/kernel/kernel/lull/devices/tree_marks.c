// SPDX-License-Identifier: GPL-2.0-only
/* What a test makes of devices of a tree, and what a cycle has made of all. */
#include <linux/errno.h>
#include <linux/pm.h>
#include <linux/pm_runtime.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "tree.h"

static const char * const mark_names[TREE_NR_MARKS] = {
	[TREE_SKIP]	= "skip",
	[TREE_WOKEN]	= "woken",
	[TREE_USED]	= "used",
	[TREE_RUNTIME]	= "runtime",
};

static void make_so(struct device *dev, enum tree_mark mark)
{
	switch (mark) {
	case TREE_SKIP:
		dev_pm_set_driver_flags(dev, DPM_FLAG_MAY_SKIP_RESUME);
		break;
	case TREE_USED:
		pm_runtime_get_noresume(dev);
		break;
	case TREE_RUNTIME:
		pm_runtime_enable(dev);
		break;
	default:
		break;
	}
}

/**
 * tree_mark - make something of a device, for as long as it is there
 * @tree: of the device
 * @text: "NAME MARK", which is taken to pieces
 *
 * Return: 0, or -EINVAL where one of the two is unknown, or it is so already.
 */
int tree_mark(struct tree *tree, char *text)
{
	char *name = strsep(&text, " ");
	int nr = tree_find(tree, name), mark;
	struct tree_node *node;

	if (nr < 0 || !text || !tree->nodes[nr].device)
		return -EINVAL;
	node = &tree->nodes[nr];
	mark = match_string(mark_names, TREE_NR_MARKS, text);
	if (mark < 0 || node->marks & BIT(mark))
		return -EINVAL;
	node->marks |= BIT(mark);
	make_so(&node->device->dev, mark);
	return 0;
}

/**
 * tree_state_show - a line for each device that is there
 * @m: where to
 * @tree: which is not being suspended or resumed
 *
 * Index, direct_complete and must_resume of the last cycle, how often runtime PM is
 * disabled, runtime status.
 */
void tree_state_show(struct seq_file *m, const struct tree *tree)
{
	for (unsigned int i = 0; i < tree->nr; i++) {
		const struct dev_pm_info *power;

		if (!tree->nodes[i].device)
			continue;
		power = &tree->nodes[i].device->dev.power;
		seq_printf(m, "%u %d %d %d %d\n", i, power->direct_complete,
			   power->must_resume, power->disable_depth,
			   power->runtime_status);
	}
}
