/* SPDX-License-Identifier: GPL-2.0-only */
/* Synthetic devices: what a description says, and what has become of it. */
#ifndef _LULL_DEVICES_TREE_H
#define _LULL_DEVICES_TREE_H

#include <linux/device.h>
#include <linux/lull_devices.h>
#include <linux/types.h>

struct seq_file;

#define TREE_BUS	"lull-tree"
#define TREE_MAX_DEVICES	10000
#define TREE_MAX_SUPPLIERS	64
#define TREE_MAX_NAME		63
#define TREE_MAX_US		60000000
#define TREE_NR_PHASES		LULL_DEVICES_NR_PHASES

/**
 * struct tree_call - a callback in the cycle under way, as it was
 * @begin: nanoseconds of CLOCK_MONOTONIC
 * @end: the same
 * @pid: of the task that it ran in
 * @count: how often it was called
 * @ret: what it gave back
 */
struct tree_call {
	u64 begin, end;
	pid_t pid;
	atomic_t count;
	int ret;
};

/* What a test makes of a device, as bits. */
enum tree_mark {
	TREE_SKIP,	/* its driver says that its resume may be skipped */
	TREE_WOKEN,	/* its suspend_noirq() says that it may not, after all */
	TREE_USED,	/* it was in use when the suspend began */
	TREE_RUNTIME,	/* it has runtime PM */
	TREE_NR_MARKS,
};

/**
 * struct tree_node - a line of a description, and its device
 * @name: of the device
 * @parent: index of its parent, or -1
 * @suppliers: indices
 * @nr_suppliers: number of @suppliers
 * @async: the device is suspended and resumed asynchronously
 * @direct: it is runtime-suspended, and its prepare() says that it can stay so
 * @calls: phases in which it has a callback, as bits
 * @busy: phases in which that one keeps its CPU, as bits
 * @us: what it takes, by phase
 * @fail: error numbers, by phase
 * @wakeup: phases in which it is a wakeup event, as bits
 * @marks: bits of enum tree_mark
 * @moved: it is below another parent than @parent
 * @device: NULL once it has been removed
 * @done: by phase, the callback in the cycle under way
 */
struct tree_node {
	char name[TREE_MAX_NAME + 1];
	int parent;
	int *suppliers;
	unsigned int nr_suppliers;
	bool async, direct, moved;
	u8 calls, busy, wakeup, marks;
	u32 us[TREE_NR_PHASES];
	u16 fail[TREE_NR_PHASES];
	struct tree_device *device;
	struct tree_call done[TREE_NR_PHASES];
};

/**
 * struct tree_device - a device of the bus
 * @dev: the device
 * @node: its line; NULL once it has been removed
 */
struct tree_device {
	struct device dev;
	struct tree_node *node;
};

/**
 * struct tree - a description
 * @nodes: its lines, in their order
 * @nr: number of @nodes
 * @added: a parent of some that no line is of, or NULL
 */
struct tree {
	struct tree_node *nodes;
	unsigned int nr;
	struct device *added;
};

/* Where a description is wrong. */
struct tree_error {
	char text[160];
};

extern const char * const tree_phases[TREE_NR_PHASES];

struct tree *tree_read(char *text, struct tree_error *error);
void tree_free(struct tree *tree);
int tree_find(const struct tree *tree, const char *name);
int tree_phase(const char *name);

int tree_link(const struct tree *tree, const struct tree_node *node);
void tree_link_proxies(const struct tree *tree);

int tree_move_last(struct tree *tree, u32 nr);
int tree_move_below(struct tree *tree, u32 nr, u32 below, enum dpm_order order);
int tree_move_new(struct tree *tree, u32 nr, u32 other);
void tree_move_back(struct tree *tree);

int tree_mark(struct tree *tree, char *text);
void tree_state_show(struct seq_file *m, const struct tree *tree);

void tree_record_clear(struct tree *tree);
void tree_record_show(struct seq_file *m, const struct tree *tree);

#endif /* _LULL_DEVICES_TREE_H */
