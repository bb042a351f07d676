/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_ATTACH_INTERNAL_H
#define _LULL_ATTACH_INTERNAL_H

struct dentry;

void attach_debug_files(struct dentry *dir);

#endif /* _LULL_ATTACH_INTERNAL_H */
