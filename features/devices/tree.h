/* SPDX-License-Identifier: GPL-2.0-only */
/* A synthetic tree of devices in the kernel, and what its callbacks did. */
#ifndef LULL_DEVICES_TREE_H
#define LULL_DEVICES_TREE_H

#include <stdbool.h>
#include <stdint.h>

/* As the kernel numbers them; the first three go down, the others up. */
enum phase {
	SUSPEND,
	SUSPEND_LATE,
	SUSPEND_NOIRQ,
	RESUME_NOIRQ,
	RESUME_EARLY,
	RESUME,
	NR_PHASES,
};

extern const char *const phase_names[NR_PHASES];

static inline bool phase_is_down(enum phase phase)
{
	return phase <= SUSPEND_NOIRQ;
}

/* A callback in the last cycle. */
struct call {
	uint64_t begin, end;	/* ns */
	unsigned int pid, count;
	int ret;
};

/* What a test makes of a device: bits, and names in the kernel's words. */
enum mark {
	SKIP,	 /* its driver says that its resume may be skipped */
	WOKEN,	 /* its suspend_noirq() says that it may not, after all */
	USED,	 /* it was in use when the suspend began */
	RUNTIME, /* it has runtime PM */
	NR_MARKS,
};

/* What a cycle has left, of power.X of the kernel. */
struct state {
	bool there, direct_complete, must_resume;
	unsigned int disable_depth;
	int runtime_status; /* 0: active */
};

struct node {
	bool async, direct;
	unsigned int marks;	/* bits of enum mark */
	unsigned int calls;	/* phases with a callback, as bits */
	int parent;
	unsigned int nsuppliers;
	int *suppliers;
	struct call done[NR_PHASES];
	struct state state;
};

struct tree {
	struct node *nodes;
	unsigned int n;
};

/* Has this kernel the trees? Else fail() was called. */
int tree_supported(void);
/* Makes the devices of a description, instead of those that there are. */
int tree_load(struct tree *tree, const char *text);
/* The same, of the description that the lab put into the guest by that name. */
int tree_load_named(struct tree *tree, const char *name);
/* Its text, to be freed. */
char *tree_text(const char *name);
/* Writes it and returns the errno, 0 for none; `why` is the kernel's own word. */
int tree_try(const char *text, char *why, unsigned int size);
/* How many devices there are. */
unsigned int tree_count(void);
/* Removes them all. */
void tree_drop(struct tree *tree);

int tree_clear(void);
/* What is to happen in a callback of the next cycle: "NAME PHASE WHAT [NUMBER]". */
int tree_event(const char *text);
/* Makes something of device i until the tree is dropped. */
int tree_mark(struct tree *tree, unsigned int i, enum mark mark);
static inline bool is_marked(const struct node *node, enum mark mark)
{
	return node->marks & (1u << mark);
}

/* What the callbacks did since tree_clear(). */
int tree_record(struct tree *tree);
/* What the cycle has left. */
int tree_state(struct tree *tree);

/*
 * What has been taken from the tree meanwhile: the links to a supplier, or all that
 * are below a device.
 */
void tree_unlink(struct tree *tree, unsigned int supplier);
void tree_remove_below(struct tree *tree, unsigned int top);

/* Sum of the callbacks of a phase, and its longest chain, in ns. */
uint64_t tree_sum(const struct tree *tree, enum phase phase);
uint64_t tree_path(const struct tree *tree, enum phase phase);
/*
 * Callbacks that began before one that they depend on had ended; by way of others
 * that have none in the phase, too.
 */
unsigned int tree_early(const struct tree *tree, enum phase phase);

#endif
