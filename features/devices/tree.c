// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tree.h"
#include "util.h"

#define DIR "/sys/kernel/debug/lull/devices/"

const char *const phase_names[NR_PHASES] = {
	[SUSPEND] = "suspend",
	[SUSPEND_LATE] = "suspend_late",
	[SUSPEND_NOIRQ] = "suspend_noirq",
	[RESUME_NOIRQ] = "resume_noirq",
	[RESUME_EARLY] = "resume_early",
	[RESUME] = "resume",
};

int tree_supported(void)
{
	if (path_exists(DIR "tree"))
		return 0;
	fail(STATUS_LACKING, DIR "tree", "this kernel has no synthetic trees of devices");
	return fail_hint("build it with CONFIG_LULL_DEVICES_TREE");
}

static int add_supplier(struct node *node, char **rest, unsigned int k)
{
	char *word = strsep(rest, " ");

	if (!word)
		return -1;
	node->suppliers[k] = atoi(word);
	return 0;
}

/* "1 0 33 4 2 7 9": see the kernel's tree.c. */
static int parse_node(struct node *node, char *line)
{
	int async, direct, used;

	if (sscanf(line, "%d %d %u %d %u%n", &async, &direct, &node->calls, &node->parent,
		   &node->nsuppliers, &used) != 5)
		return -1;
	node->async = async;
	node->direct = direct;
	line += used;
	line += *line == ' ';
	node->suppliers = calloc(node->nsuppliers + 1, sizeof(*node->suppliers));
	if (!node->suppliers)
		return -1;
	for (unsigned int k = 0; k < node->nsuppliers; k++)
		if (add_supplier(node, &line, k) < 0)
			return -1;
	return 0;
}

static void forget(struct tree *tree)
{
	for (unsigned int i = 0; i < tree->n; i++)
		free(tree->nodes[i].suppliers);
	free(tree->nodes);
	memset(tree, 0, sizeof(*tree));
}

static int read_layout(struct tree *tree)
{
	char *text = read_whole(DIR "layout"), *rest = text, *line;
	unsigned int n = tree_count();
	int ret = text ? 0 : -1;

	forget(tree);
	tree->nodes = calloc(n + 1, sizeof(*tree->nodes));
	while (!ret && tree->nodes && tree->n < n && (line = strsep(&rest, "\n")))
		ret = parse_node(&tree->nodes[tree->n++], line);
	free(text);
	if (ret || !tree->nodes || tree->n != n)
		return fail(STATUS_FAILED, DIR "layout", "cannot be read");
	return 0;
}

/* One write: the kernel takes a description as a whole. */
static int put(const char *text)
{
	int fd = open(DIR "tree", O_WRONLY | O_CLOEXEC), error;
	size_t len = strlen(text);
	ssize_t n;

	if (fd < 0)
		return errno;
	n = write(fd, text, len);
	error = n < 0 ? errno : (size_t)n == len ? 0 : EIO;
	close(fd);
	return error;
}

int tree_try(const char *text, char *why, unsigned int size)
{
	int error = put(text);

	*why = '\0';
	if (error && read_file(DIR "error", why, size) > 0)
		why[strcspn(why, "\n")] = '\0';
	return error;
}

int tree_load(struct tree *tree, const char *text)
{
	char why[200];
	int error = tree_try(text, why, sizeof(why));

	if (error)
		return fail(STATUS_FAILED, DIR "tree", "%s: %s", strerror(error), why);
	return read_layout(tree);
}

char *tree_text(const char *name)
{
	char path[300] = "/trees/", *text;

	/* As lull/trees/guest.py names the file. */
	snprintf(path + 7, sizeof(path) - 7, "%s", name);
	for (char *p = path + 7; *p; p++)
		if (*p == '/')
			*p = '_';
	text = read_whole(path);
	if (!text)
		fail(STATUS_FAILED, path, "cannot read %s: %s", path, strerror(errno));
	return text;
}

int tree_load_named(struct tree *tree, const char *name)
{
	char *text = tree_text(name);
	int ret = text ? tree_load(tree, text) : -1;

	free(text);
	return ret;
}

unsigned int tree_count(void)
{
	return (unsigned int)read_number(DIR "tree", 0);
}

void tree_drop(struct tree *tree)
{
	put("none");
	forget(tree);
}

int tree_clear(void)
{
	if (write_file(DIR "record", "0") < 0)
		return fail(STATUS_FAILED, DIR "record", "cannot clear it: %s", strerror(errno));
	return 0;
}

int tree_event(const char *text)
{
	if (write_file(DIR "event", text) < 0)
		return fail(STATUS_FAILED, DIR "event", "%s: %s", text, strerror(errno));
	return 0;
}

int tree_mark(struct tree *tree, unsigned int i, enum mark mark)
{
	static const char *const names[NR_MARKS] = {
		[SKIP] = "skip",
		[WOKEN] = "woken",
		[USED] = "used",
		[RUNTIME] = "runtime",
	};
	char text[40];

	snprintf(text, sizeof(text), "d%u %s", i, names[mark]);
	if (write_file(DIR "mark", text) < 0)
		return fail(STATUS_FAILED, DIR "mark", "%s: %s", text, strerror(errno));
	tree->nodes[i].marks |= 1u << mark;
	return 0;
}

static int find_phase(const char *name)
{
	for (int k = 0; k < NR_PHASES; k++)
		if (!strcmp(phase_names[k], name))
			return k;
	return -1;
}

static int parse_call(struct tree *tree, const char *line)
{
	struct call call;
	char name[20];
	unsigned int i;
	int phase;

	if (sscanf(line, "%u %19s %" SCNu64 " %" SCNu64 " %u %d %u", &i, name, &call.begin,
		   &call.end, &call.pid, &call.ret, &call.count) != 7)
		return -1;
	phase = find_phase(name);
	if (phase < 0 || i >= tree->n)
		return -1;
	tree->nodes[i].done[phase] = call;
	return 0;
}

static int parse_state(struct tree *tree, const char *line)
{
	struct state state = { .there = true };
	unsigned int i;
	int direct, must;

	if (sscanf(line, "%u %d %d %u %d", &i, &direct, &must, &state.disable_depth,
		   &state.runtime_status) != 5 || i >= tree->n)
		return -1;
	state.direct_complete = direct;
	state.must_resume = must;
	tree->nodes[i].state = state;
	return 0;
}

int tree_state(struct tree *tree)
{
	char *text = read_whole(DIR "state"), *rest = text, *line;
	int ret = text ? 0 : -1;

	for (unsigned int i = 0; i < tree->n; i++)
		tree->nodes[i].state = (struct state){ 0 };
	while (!ret && (line = strsep(&rest, "\n")))
		if (*line)
			ret = parse_state(tree, line);
	free(text);
	return ret ? fail(STATUS_FAILED, DIR "state", "cannot be read") : 0;
}

int tree_record(struct tree *tree)
{
	char *text = read_whole(DIR "record"), *rest = text, *line;
	int ret = text ? 0 : -1;

	for (unsigned int i = 0; i < tree->n; i++)
		memset(tree->nodes[i].done, 0, sizeof(tree->nodes[i].done));
	while (!ret && (line = strsep(&rest, "\n")))
		if (*line)
			ret = parse_call(tree, line);
	free(text);
	return ret ? fail(STATUS_FAILED, DIR "record", "cannot be read") : 0;
}

void tree_unlink(struct tree *tree, unsigned int supplier)
{
	for (unsigned int i = 0; i < tree->n; i++) {
		struct node *node = &tree->nodes[i];
		unsigned int kept = 0;

		for (unsigned int k = 0; k < node->nsuppliers; k++)
			if (node->suppliers[k] != (int)supplier)
				node->suppliers[kept++] = node->suppliers[k];
		node->nsuppliers = kept;
	}
}

static bool is_below(const struct tree *tree, unsigned int i, unsigned int top)
{
	int up = tree->nodes[i].parent;

	while (up > (int)top)
		up = tree->nodes[up].parent;
	return up == (int)top;
}

void tree_remove_below(struct tree *tree, unsigned int top)
{
	for (unsigned int i = tree->n; i-- > top + 1;) {
		struct node *node = &tree->nodes[i];

		if (!is_below(tree, i, top))
			continue;
		tree_unlink(tree, i);
		node->parent = -1;
		node->nsuppliers = 0;
	}
}

uint64_t tree_sum(const struct tree *tree, enum phase phase)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < tree->n; i++)
		sum += tree->nodes[i].done[phase].end - tree->nodes[i].done[phase].begin;
	return sum;
}

/* What a node is told by one that it depends on. */
typedef uint64_t (*carry_fn)(const struct call *call, uint64_t carried);

/*
 * Goes through the tree with those first that others depend on. `carried` of a node
 * is the largest of what fn made of the ones before it. Parents and suppliers have
 * lower numbers, so that the order of the nodes will do.
 */
static void carry(const struct tree *tree, enum phase phase, carry_fn fn, uint64_t *carried)
{
	bool down = phase_is_down(phase);

	memset(carried, 0, tree->n * sizeof(*carried));
	for (unsigned int step = 0; step < tree->n; step++) {
		unsigned int i = down ? tree->n - 1 - step : step;
		const struct node *node = &tree->nodes[i];
		uint64_t made = fn(&node->done[phase], carried[i]);

		for (int k = -1; k < (int)node->nsuppliers; k++) {
			int superior = k < 0 ? node->parent : node->suppliers[k];

			if (superior < 0)
				continue;
			if (down && made > carried[superior])
				carried[superior] = made;
			else if (!down) {
				uint64_t theirs = fn(&tree->nodes[superior].done[phase],
						     carried[superior]);

				if (theirs > carried[i])
					carried[i] = theirs;
			}
		}
	}
}

static uint64_t add_length(const struct call *call, uint64_t carried)
{
	return carried + (call->end - call->begin);
}

static uint64_t last_end(const struct call *call, uint64_t carried)
{
	return call->count && call->end > carried ? call->end : carried;
}

uint64_t tree_path(const struct tree *tree, enum phase phase)
{
	uint64_t *carried = calloc(tree->n + 1, sizeof(*carried)), longest = 0;

	if (!carried)
		return 0;
	carry(tree, phase, add_length, carried);
	for (unsigned int i = 0; i < tree->n; i++) {
		uint64_t length = add_length(&tree->nodes[i].done[phase], carried[i]);

		if (length > longest)
			longest = length;
	}
	free(carried);
	return longest;
}

unsigned int tree_early(const struct tree *tree, enum phase phase)
{
	uint64_t *carried = calloc(tree->n + 1, sizeof(*carried));
	unsigned int early = 0;

	if (!carried)
		return tree->n;
	carry(tree, phase, last_end, carried);
	for (unsigned int i = 0; i < tree->n; i++) {
		const struct call *call = &tree->nodes[i].done[phase];

		early += call->count && call->begin < carried[i];
	}
	free(carried);
	return early;
}
