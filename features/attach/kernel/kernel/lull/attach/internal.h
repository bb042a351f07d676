/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_ATTACH_INTERNAL_H
#define _LULL_ATTACH_INTERNAL_H

struct dentry;

void attach_debug_files(struct dentry *dir);
void lull_attach_sem_init_all(void);

#endif /* _LULL_ATTACH_INTERNAL_H */
