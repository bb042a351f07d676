// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads descriptions of synthetic trees:
 *
 *	lull-tree 1
 *	device NAME [async] [direct] [parent=NAME] [supplier=NAME]...
 *		[PHASE=US|PHASE=busy:US]... [fail=PHASE:ERRNO]... [wakeup=PHASE]...
 *
 * one device a line, parents and suppliers first.
 */
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "tree.h"

#define TREE_MAX_ERRNO	4095
#define TREE_MAX_DIGITS	8
#define TREE_DOWN (BIT(LULL_DEVICES_SUSPEND) | BIT(LULL_DEVICES_SUSPEND_LATE) | \
		   BIT(LULL_DEVICES_SUSPEND_NOIRQ))

const char * const tree_phases[TREE_NR_PHASES] = {
	[LULL_DEVICES_SUSPEND]		= "suspend",
	[LULL_DEVICES_SUSPEND_LATE]	= "suspend_late",
	[LULL_DEVICES_SUSPEND_NOIRQ]	= "suspend_noirq",
	[LULL_DEVICES_RESUME_NOIRQ]	= "resume_noirq",
	[LULL_DEVICES_RESUME_EARLY]	= "resume_early",
	[LULL_DEVICES_RESUME]		= "resume",
};

/* A line under way. */
struct tree_line {
	struct tree *tree;
	struct tree_node *node;
	unsigned int number;
	struct tree_error *error;
};

static __printf(2, 3) int bad(struct tree_line *line, const char *fmt, ...)
{
	const char *name = line->node ? line->node->name : "";
	va_list args;
	int n;

	n = scnprintf(line->error->text, sizeof(line->error->text),
		      *name ? "line %u: device %s: " : "line %u: %s",
		      line->number, name);
	va_start(args, fmt);
	vscnprintf(line->error->text + n, sizeof(line->error->text) - n, fmt, args);
	va_end(args);
	return -EINVAL;
}

/**
 * tree_find - which device has a name?
 * @tree: where to look
 * @name: the name
 *
 * Return: its index, or -1.
 */
int tree_find(const struct tree *tree, const char *name)
{
	/* Mostly it is one of the last. */
	for (int i = tree->nr - 1; i >= 0; i--)
		if (!strcmp(tree->nodes[i].name, name))
			return i;
	return -1;
}

/**
 * tree_phase - which phase has a name?
 * @name: the name
 *
 * Return: the phase, or -1.
 */
int tree_phase(const char *name)
{
	return match_string(tree_phases, TREE_NR_PHASES, name);
}

static bool is_name(const char *name)
{
	size_t len = 0;

	while ((isascii(name[len]) && isalnum(name[len])) ||
	       (name[len] && strchr("._:-", name[len])))
		len++;
	return len && len <= TREE_MAX_NAME && !name[len];
}

static int read_parent(struct tree_line *line, const char *name)
{
	if (line->node->parent >= 0)
		return bad(line, "a second parent");
	line->node->parent = tree_find(line->tree, name);
	if (line->node->parent < 0)
		return bad(line, "its parent is on no line before");
	return 0;
}

static int read_supplier(struct tree_line *line, const char *name)
{
	struct tree_node *node = line->node;
	int i = tree_find(line->tree, name), *more;

	if (i < 0)
		return bad(line, "its supplier is on no line before");
	for (unsigned int k = 0; k < node->nr_suppliers; k++)
		if (node->suppliers[k] == i)
			return bad(line, "a supplier twice");
	if (node->nr_suppliers == TREE_MAX_SUPPLIERS)
		return bad(line, "more than %u suppliers", TREE_MAX_SUPPLIERS);
	more = krealloc_array(node->suppliers, node->nr_suppliers + 1,
			      sizeof(*more), GFP_KERNEL);
	if (!more)
		return -ENOMEM;
	node->suppliers = more;
	node->suppliers[node->nr_suppliers++] = i;
	return 0;
}

/* Decimal digits and nothing else; kstrtou32() takes a plus sign, too. */
static bool read_number(const char *text, u32 max, u32 *value)
{
	return isdigit(*text) && strlen(text) <= TREE_MAX_DIGITS &&
	       !kstrtou32(text, 10, value) && *value <= max;
}

static int read_work(struct tree_line *line, int phase, const char *time)
{
	struct tree_node *node = line->node;

	if (node->calls & BIT(phase))
		return bad(line, "%s= twice", tree_phases[phase]);
	if (str_has_prefix(time, "busy:")) {
		time += strlen("busy:");
		node->busy |= BIT(phase);
	}
	if (!read_number(time, TREE_MAX_US, &node->us[phase]))
		return bad(line, "%s= wants 0 to %u microseconds",
			   tree_phases[phase], TREE_MAX_US);
	node->calls |= BIT(phase);
	return 0;
}

static int read_fail(struct tree_line *line, char *text)
{
	char *name = strsep(&text, ":");
	int phase = tree_phase(name);
	u32 error;

	if (phase < 0 || !(TREE_DOWN & BIT(phase)) || !text ||
	    !read_number(text, TREE_MAX_ERRNO, &error) || !error)
		return bad(line, "fail= wants a phase of suspend and an errno");
	if (line->node->fail[phase])
		return bad(line, "fail=%s twice", tree_phases[phase]);
	line->node->fail[phase] = error;
	return 0;
}

static int read_wakeup(struct tree_line *line, const char *name)
{
	int phase = tree_phase(name);

	if (phase < 0 || !(TREE_DOWN & BIT(phase)))
		return bad(line, "wakeup= wants a phase of suspend");
	if (line->node->wakeup & BIT(phase))
		return bad(line, "wakeup=%s twice", tree_phases[phase]);
	line->node->wakeup |= BIT(phase);
	return 0;
}

static int read_word(struct tree_line *line, char *word)
{
	struct tree_node *node = line->node;
	char *value = word, *key = strsep(&value, "=");
	bool *flag = !strcmp(key, "async") ? &node->async :
		     !strcmp(key, "direct") ? &node->direct : NULL;

	if (flag && !value) {
		if (*flag)
			return bad(line, "%s twice", key);
		*flag = true;
		return 0;
	}
	if (!value)
		return bad(line, "an unknown word");
	if (!strcmp(key, "parent"))
		return read_parent(line, value);
	if (!strcmp(key, "supplier"))
		return read_supplier(line, value);
	if (!strcmp(key, "fail"))
		return read_fail(line, value);
	if (!strcmp(key, "wakeup"))
		return read_wakeup(line, value);
	if (tree_phase(key) >= 0)
		return read_work(line, tree_phase(key), value);
	return bad(line, "an unknown key");
}

/* The next word of @text, or NULL. */
static char *next_word(char **text)
{
	char *word;

	do {
		word = strsep(text, " \t");
	} while (word && !*word);
	return word;
}

static int read_device(struct tree_line *line, char *text)
{
	char *name = next_word(&text), *word;
	struct tree_node *node;
	int ret = 0;

	if (!name || !is_name(name))
		return bad(line, "a device wants a name of [A-Za-z0-9._:-], at most %u of them",
			   TREE_MAX_NAME);
	if (tree_find(line->tree, name) >= 0)
		return bad(line, "this name is on a line before");
	if (line->tree->nr == TREE_MAX_DEVICES)
		return bad(line, "more than %u devices", TREE_MAX_DEVICES);
	node = &line->tree->nodes[line->tree->nr];
	strscpy(node->name, name);
	node->parent = -1;
	line->node = node;
	for (word = next_word(&text); word && !ret; word = next_word(&text))
		ret = read_word(line, word);
	/* Only now, so that it is not found as its own parent. */
	line->tree->nr++;
	return ret;
}

static int read_line(struct tree_line *line, char *text)
{
	char *word;

	if (line->number == 1)
		return strcmp(text, "lull-tree 1") ?
		       bad(line, "the first line is not: lull-tree 1") : 0;
	word = next_word(&text);
	if (!word || *word == '#')
		return 0;
	if (strcmp(word, "device"))
		return bad(line, "a line begins with: device");
	return read_device(line, text);
}

/* No more lines than this can be devices. */
static unsigned int count_lines(const char *text)
{
	unsigned int n = 1;

	while ((text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return min(n, TREE_MAX_DEVICES + 1U);
}

/**
 * tree_read - read a description
 * @text: it, which is taken to pieces
 * @error: what is wrong where, if something is
 *
 * Return: the tree, for tree_free(), or an error pointer.
 */
struct tree *tree_read(char *text, struct tree_error *error)
{
	struct tree_line line = { .error = error };
	char *next;
	int ret = 0;

	line.tree = kzalloc(sizeof(*line.tree), GFP_KERNEL);
	if (!line.tree)
		return ERR_PTR(-ENOMEM);
	line.tree->nodes = vcalloc(count_lines(text), sizeof(*line.tree->nodes));
	if (!line.tree->nodes)
		ret = -ENOMEM;
	while (!ret && (next = strsep(&text, "\n"))) {
		line.number++;
		line.node = NULL;
		ret = read_line(&line, next);
		cond_resched();
	}
	line.node = NULL;
	if (!ret && !line.tree->nr)
		ret = bad(&line, "no device");
	if (!ret)
		return line.tree;
	tree_free(line.tree);
	return ERR_PTR(ret);
}

/**
 * tree_free - give a description's memory back
 * @tree: it; its devices are gone
 */
void tree_free(struct tree *tree)
{
	for (unsigned int i = 0; i < tree->nr; i++)
		kfree(tree->nodes[i].suppliers);
	vfree(tree->nodes);
	kfree(tree);
}
