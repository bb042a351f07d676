/* SPDX-License-Identifier: GPL-2.0-only */
/* The text of a tree, while a workload makes it up. */
#ifndef LULL_DEVICES_DESCRIPTION_H
#define LULL_DEVICES_DESCRIPTION_H

#include <stddef.h>
#include <stdio.h>

/* Stays where it is from open to close: the stream writes to its members. */
struct description {
	FILE *out;
	char *text;
	size_t size;
};

/* With its first line. Without memory fail() was called. */
int description_open(struct description *d);
/* The text, to be freed. */
char *description_close(struct description *d);

#endif
