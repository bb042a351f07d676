// SPDX-License-Identifier: GPL-2.0-only
/* Dead children that nobody waits for. */
#define _GNU_SOURCE
#include "zombies.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * How many run at a time: each holds a kernel stack of 16 KiB until it is dead,
 * which thirty thousand at once would do for nothing.
 */
#define BATCH 128

/*
 * A child that exits as its first instruction. It borrows memory and files
 * instead of copying them, which is most of what fork() costs, and it does not
 * even use the stack, so that nobody has to wait for it to be done with it. What
 * remains of it is what remains of any other: a zombie has no memory, files or
 * stack, and the signal handlers, which it does keep, are not shared.
 */
#define SPAWN_FLAGS (CLONE_VM | CLONE_FILES | CLONE_FS | SIGCHLD)

static pid_t spawn_zombie(void)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = 0;
	register long r8 __asm__("r8") = 0;
	long ret;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%edi, %%edi\n\t"
			 "mov %[exit], %%eax\n\t"
			 "syscall\n"
			 "1:"
			 : "=a"(ret)
			 : "a"(SYS_clone), "D"((long)SPAWN_FLAGS), "S"(0L), "d"(0L), "r"(r10),
			   "r"(r8), [exit] "i"(SYS_exit)
			 : "rcx", "r11", "memory", "cc");
	if (ret < 0) {
		errno = (int)-ret;
		return -1;
	}
	return (pid_t)ret;
#else
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	return pid;
#endif
}

static int wait_dead(const pid_t *pids, unsigned int n)
{
	siginfo_t info;

	/* WNOWAIT looks without reaping; by number it is a lookup, not a search. */
	for (unsigned int i = 0; i < n; i++) {
		if (waitid(P_PID, (id_t)pids[i], &info, WEXITED | WNOWAIT) < 0)
			return -1;
	}
	return 0;
}

static void make_zombies(uint64_t n, void *arg, struct crew_answer *answer)
{
	pid_t pids[BATCH];
	unsigned int k;

	(void)arg;
	answer->error = 0;
	while (answer->done < n && !answer->error) {
		for (k = 0; k < BATCH && answer->done < n; k++, answer->done++) {
			pids[k] = spawn_zombie();
			if (pids[k] < 0)
				break;
		}
		if ((k < BATCH && answer->done < n) || wait_dead(pids, k) < 0) {
			answer->error = errno;
			strcpy(answer->doing, "making a zombie");
		}
	}
}

int zombies_start(struct crew *crew)
{
	return crew_start(crew, make_zombies, NULL);
}
