// SPDX-License-Identifier: GPL-2.0-only
/* Links between the devices of a tree, and moves of them in the middle of a phase. */
#include <linux/device.h>
#include <linux/err.h>
#include <linux/errno.h>

#include "tree.h"

static struct device *device_of(const struct tree *tree, int nr)
{
	return &tree->nodes[nr].device->dev;
}

/**
 * tree_link - link a device to its suppliers
 * @tree: of the device
 * @node: of the device; it and those before it have been added
 *
 * Return: 0, or -ENOMEM.
 */
int tree_link(const struct tree *tree, const struct tree_node *node)
{
	for (unsigned int i = 0; i < node->nr_suppliers; i++)
		if (!device_link_add(&node->device->dev,
				     device_of(tree, node->suppliers[i]),
				     DL_FLAG_STATELESS))
			return -ENOMEM;
	return 0;
}

static bool is_supplier_of(const struct tree_node *node, int nr)
{
	for (unsigned int i = 0; i < node->nr_suppliers; i++)
		if (node->suppliers[i] == nr)
			return true;
	return false;
}

/*
 * The devices have no drivers, whom the state of such a link follows: dormant, it
 * would be waited for by nobody.
 */
static void add_proxy(const struct tree *tree, int consumer, int supplier)
{
	struct device_link *link;

	if (is_supplier_of(&tree->nodes[consumer], supplier))
		return;
	link = device_link_add(device_of(tree, consumer), device_of(tree, supplier),
			       DL_FLAG_SYNC_STATE_ONLY);
	if (link)
		WRITE_ONCE(link->status, DL_STATE_NONE);
}

/**
 * tree_link_proxies - link each parent to the suppliers of its children
 * @tree: all of whose devices have been added
 *
 * As fw_devlink does while a child is not there yet, for sync_state(). Such links
 * may contradict the order of the devices.
 */
void tree_link_proxies(const struct tree *tree)
{
	for (unsigned int nr = 0; nr < tree->nr; nr++) {
		const struct tree_node *node = &tree->nodes[nr];

		for (unsigned int i = 0; i < node->nr_suppliers; i++)
			if (node->parent >= 0)
				add_proxy(tree, node->parent, node->suppliers[i]);
	}
}

static struct device *to_move(const struct tree *tree, u32 nr)
{
	return nr < tree->nr && tree->nodes[nr].device ? device_of(tree, nr) : NULL;
}

/**
 * tree_move_last - move a device to the end of dpm_list, out of the list of a phase
 * @tree: of the device
 * @nr: its index
 *
 * Return: 0, or a negative errno.
 */
int tree_move_last(struct tree *tree, u32 nr)
{
	struct device *dev = to_move(tree, nr);

	return dev ? device_move(dev, dev->parent, DPM_ORDER_DEV_LAST) : -ENODEV;
}

/**
 * tree_move_below - give a device another parent
 * @tree: of the device
 * @nr: its index
 * @below: index of the new parent
 * @order: where it comes to lie in the list
 *
 * Return: 0, or a negative errno.
 */
int tree_move_below(struct tree *tree, u32 nr, u32 below, enum dpm_order order)
{
	struct device *dev = to_move(tree, nr), *parent = to_move(tree, below);

	if (!dev || !parent || dev == parent)
		return -ENODEV;
	tree->nodes[nr].moved = true;
	return device_move(dev, parent, order);
}

/**
 * tree_move_new - add a device, and give it to two as their parent
 * @tree: of the two
 * @nr: index of the first
 * @other: of the second
 *
 * Once for a tree. The device has no callbacks.
 *
 * Return: 0, or a negative errno.
 */
int tree_move_new(struct tree *tree, u32 nr, u32 other)
{
	struct device *dev = to_move(tree, nr), *next = to_move(tree, other);
	struct device *added;
	int ret;

	if (!dev || !next || dev == next || tree->added)
		return -ENODEV;
	added = root_device_register(TREE_BUS "-new");
	if (IS_ERR(added))
		return PTR_ERR(added);
	tree->added = added;
	tree->nodes[nr].moved = true;
	tree->nodes[other].moved = true;
	ret = device_move(dev, added, DPM_ORDER_DEV_AFTER_PARENT);
	return ret ?: device_move(next, added, DPM_ORDER_DEV_AFTER_PARENT);
}

/**
 * tree_move_back - make the parents those of the description again
 * @tree: which is about to be removed, parents last
 */
void tree_move_back(struct tree *tree)
{
	for (unsigned int nr = 0; nr < tree->nr; nr++) {
		struct tree_node *node = &tree->nodes[nr];

		if (node->moved && node->device)
			device_move(&node->device->dev,
				    node->parent < 0 ? NULL : device_of(tree, node->parent),
				    DPM_ORDER_NONE);
		node->moved = false;
	}
	if (tree->added)
		root_device_unregister(tree->added);
	tree->added = NULL;
}
