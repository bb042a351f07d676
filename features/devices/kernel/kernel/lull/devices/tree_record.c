// SPDX-License-Identifier: GPL-2.0-only
/* What the callbacks of a synthetic tree did in a cycle, as text. */
#include <linux/seq_file.h>
#include <linux/string.h>

#include "tree.h"

/**
 * tree_record_clear - forget what was recorded
 * @tree: which is not being suspended or resumed
 */
void tree_record_clear(struct tree *tree)
{
	for (unsigned int i = 0; i < tree->nr; i++)
		memset(tree->nodes[i].done, 0, sizeof(tree->nodes[i].done));
}

/**
 * tree_record_show - a line for each callback that was called
 * @m: where to
 * @tree: which is not being suspended or resumed
 *
 * Index of the device, phase, begin and end in ns, PID, result, times called.
 */
void tree_record_show(struct seq_file *m, const struct tree *tree)
{
	for (unsigned int i = 0; i < tree->nr; i++) {
		for (int k = 0; k < TREE_NR_PHASES; k++) {
			const struct tree_call *call = &tree->nodes[i].done[k];
			int count = atomic_read(&call->count);

			if (count)
				seq_printf(m, "%u %s %llu %llu %d %d %d\n", i,
					   tree_phases[k], call->begin,
					   call->end, call->pid, call->ret,
					   count);
		}
	}
}
