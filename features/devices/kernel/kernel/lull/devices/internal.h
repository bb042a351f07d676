/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_DEVICES_INTERNAL_H
#define _LULL_DEVICES_INTERNAL_H

#include <linux/types.h>

struct dentry;

void devices_debug_files(struct dentry *dir);
#ifdef CONFIG_LULL_DEBUG
bool devices_has_proxies(void);
#else
static inline bool devices_has_proxies(void)
{
	return false;
}
#endif
int devices_set_mode(unsigned int mode);
void tree_files(struct dentry *dir);

#endif /* _LULL_DEVICES_INTERNAL_H */
