// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loaded after turns.c: the main thread is slow to take a lock, as on a busy
 * host, so that who had seen that it may have it often comes too late.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

int pthread_mutex_lock(pthread_mutex_t *lock)
{
	static int (*real)(pthread_mutex_t *lock);

	if (!real)
		real = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
	if (gettid() == getpid())
		usleep(2000);
	return real(lock);
}
