// SPDX-License-Identifier: GPL-2.0-only
/* What runs in the container: it says when it began, and ends. */
#include <inttypes.h>

#include "measure.h"

int main(void)
{
	printf("%" PRIu64 "\n", now_ns());
	return 0;
}
