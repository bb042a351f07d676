/* SPDX-License-Identifier: GPL-2.0-only */
/* A zram device of our own to swap on. */
#ifndef LULL_ZRAM_SWAP_H
#define LULL_ZRAM_SWAP_H

#include <stddef.h>
#include <stdint.h>

#define ZRAM_CONTROL "/sys/class/zram-control/"

/* A new device: its number, or -1 with fail() called. */
int zram_swap_add(void);
void zram_swap_node(char *path, size_t size, int number);
/* Swap on a device that has its size. */
int zram_swap_begin(int number, uint64_t bytes);
int zram_swap_end(int number);
void zram_swap_remove(int number);

#endif
