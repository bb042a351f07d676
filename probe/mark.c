// SPDX-License-Identifier: GPL-2.0-only
#include "mark.h"

/* The empty statements keep calls that a compiler knows to do nothing. */
__attribute__((noinline, noclone)) void mark_begin(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline, noclone)) void mark_end(void)
{
	__asm__ volatile("" ::: "memory");
}
