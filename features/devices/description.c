// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "description.h"
#include "util.h"

static int out_of_memory(void)
{
	return fail(STATUS_FAILED, "memory", "a description of devices: %s", strerror(errno));
}

int description_open(struct description *d)
{
	d->out = open_memstream(&d->text, &d->size);
	if (!d->out)
		return out_of_memory();
	fputs("lull-tree 1\n", d->out);
	return 0;
}

char *description_close(struct description *d)
{
	if (!fclose(d->out))
		return d->text;
	out_of_memory();
	return NULL;
}
