/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_DEVICES_INTERNAL_H
#define _LULL_DEVICES_INTERNAL_H

struct dentry;

void devices_debug_files(struct dentry *dir);
int devices_set_mode(unsigned int mode);
void tree_files(struct dentry *dir);

#endif /* _LULL_DEVICES_INTERNAL_H */
