/* SPDX-License-Identifier: GPL-2.0-only */
/* The probe as PID 1 of a virtual machine that exists for one job. */
#ifndef LULL_INIT_H
#define LULL_INIT_H

#include <stdbool.h>

bool init_is_us(void);
/* Mounts what the probe reads, gives it a console, lets the boot finish. */
void init_start(void);
/* The descriptor of the results' port; -1 when there is none. */
int init_results(void);
/*
 * Takes that port's device off its driver, and gives it back. How long a suspend of it
 * takes is QEMU's to say, by the length of its queues. What is written meanwhile goes to
 * the console; nothing happens in a machine that is not ours. 0 or -1.
 */
int init_results_away(void);
int init_results_back(void);
/* Ends the machine; does not return. */
void init_power_off(void) __attribute__((noreturn));

#endif
