// SPDX-License-Identifier: GPL-2.0-only
/*
 * For test kernels, and those to measure with: files in debugfs that take and
 * show some of a list, by name. What they say is "none", or names with a comma
 * between.
 */
#include <linux/ctype.h>
#include <linux/debugfs.h>
#include <linux/lull_debug.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#define NOTHING "none"
/* Longer than any name. */
#define NAME_SIZE 32

/*
 * The name of the next enumerator in @list, which comes to be behind it; false
 * where there is none.
 */
static bool next_name(const struct lull_choice *choice, const char **list,
		      char *name)
{
	const char *end = name + NAME_SIZE - 1, *from = *list;

	while (*from && !isalnum(*from))
		from++;
	if (!*from)
		return false;
	for (from += strlen(choice->prefix); isalnum(*from) || *from == '_';
	     from++)
		if (name < end)
			*name++ = *from == '_' ? '-' : tolower(*from);
	*name = '\0';
	*list = from;
	return true;
}

static int choice_show(struct seq_file *m, void *v)
{
	struct lull_choice *choice = m->private;
	const char *list = choice->list, *before = "";
	u32 chosen = READ_ONCE(choice->chosen);
	char name[NAME_SIZE];

	for (u32 bit = 1; next_name(choice, &list, name); bit <<= 1) {
		if (!(chosen & bit))
			continue;
		seq_printf(m, "%s%s", before, name);
		before = ",";
	}
	seq_printf(m, "%s\n", chosen ? "" : NOTHING);
	return 0;
}

static int choice_open(struct inode *inode, struct file *file)
{
	return single_open(file, choice_show, inode->i_private);
}

/* The bit of a name; 0 where there is no such name. */
static u32 find(const struct lull_choice *choice, const char *word)
{
	const char *list = choice->list;
	char name[NAME_SIZE];

	for (u32 bit = 1; next_name(choice, &list, name); bit <<= 1)
		if (!strcmp(name, word))
			return bit;
	return 0;
}

static int choose(struct lull_choice *choice, char *text)
{
	u32 chosen = 0;
	char *word;

	if (strcmp(text, NOTHING)) {
		while ((word = strsep(&text, ","))) {
			u32 bit = find(choice, word);

			if (!bit)
				return -EINVAL;
			chosen |= bit;
		}
	}
	WRITE_ONCE(choice->chosen, chosen);
	return 0;
}

static ssize_t choice_write(struct file *file, const char __user *buf,
			    size_t count, loff_t *ppos)
{
	struct seq_file *m = file->private_data;
	char *text;
	int ret;

	if (count >= PAGE_SIZE)
		return -EINVAL;
	text = memdup_user_nul(buf, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	if (count && text[count - 1] == '\n')
		text[count - 1] = '\0';
	ret = choose(m->private, text);
	kfree(text);
	return ret ?: count;
}

static const struct file_operations choice_fops = {
	.owner = THIS_MODULE,
	.open = choice_open,
	.read = seq_read,
	.write = choice_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/**
 * lull_choice_file - make the file that sets a choice
 * @name: of the file
 * @dir: for it
 * @choice: what it sets
 */
void __init lull_choice_file(const char *name, struct dentry *dir,
			     struct lull_choice *choice)
{
	const char *list = choice->list;
	unsigned int n = 0;
	char word[NAME_SIZE];

	while (next_name(choice, &list, word))
		n++;
	WARN(n > BITS_PER_TYPE(choice->chosen), "lull: %s: too many", word);
	debugfs_create_file(name, 0644, dir, choice, &choice_fops);
}
