// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loaded into QEMU on the insn clock (LD_PRELOAD): its main thread gets the big
 * lock while the thread of the CPUs waits with it, and not between.
 *
 * With "-icount sleep=off" the main thread sets an idle guest's clock forward
 * to its next timer, each time it comes by with the big lock held. It sees by a
 * flag of each CPU that all are idle. HLT sets that flag without the lock, and
 * the instructions up to it are added to the clock a moment later. A main
 * thread that comes by just then sets the clock too far by these. Once the
 * thread of the CPUs waits, all its instructions are counted.
 *
 * A guest that never rests would keep the main thread out, and with it QMP.
 * Once the CPUs' thread has run for PATIENCE_MS meanwhile, the main thread is
 * let in where that one asks for the big lock, too: it does so where a CPU is
 * not idle (a device's registers, an interrupt), or where all is counted (after
 * each of its slices). This is CPU time, which a busy host does not shorten.
 * Where all CPUs are idle it is not let in there, since to set the clock before
 * that thread waits has it go on with another CPU first. A QEMU that does not
 * export all_cpu_threads_idle() cannot be asked for that.
 *
 * A thread of the CPUs that for AT_MOST_S of the main thread's own looks does
 * neither may wait for the main thread in some other way: it is let in as it
 * would be without this, and the lab is told.
 *
 * The fields:
 *
 *   big_lock, cpus, ran	written once by the thread of the CPUs, before
 *				big_lock is stored (release); read after big_lock
 *				was loaded (acquire).
 *   waiting			written by the thread of the CPUs: set before it
 *				lets the lock go to wait, or asks for it, and
 *				cleared when it has it again. So who holds the
 *				lock and sees it set keeps that thread out.
 *   wanted			written by the main thread. Either the thread of
 *				the CPUs sees it after it has set "waiting", and
 *				wakes the main thread, or that sees "waiting"
 *				after it has set "wanted" (all four are in one
 *				order: seq_cst); the kernel compares "waiting"
 *				once more before it sleeps.
 *   impatient			written by the main thread: set when its patience
 *				is over, and cleared when it has the lock, for
 *				which the thread of the CPUs waits before it asks.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* As "-name debug-threads=on" has QEMU call it. */
#ifndef CPUS_NAME
#define CPUS_NAME "ALL CPUs/TCG"
#endif
#ifndef PATIENCE_MS
#define PATIENCE_MS 100
#endif
#ifndef AT_MOST_S
#define AT_MOST_S 60
#endif
/* How long the two sleep at most before they look again. */
#ifndef LOOK_MS
#define LOOK_MS 20
#endif

#define NS_PER_MS 1000000LL
#define NS_PER_S 1000000000LL

typedef int (*lock_fn)(pthread_mutex_t *lock);
typedef int (*wait_fn)(pthread_cond_t *cond, pthread_mutex_t *lock);
typedef bool (*idle_fn)(void);

static pthread_t main_thread;
static pthread_t cpus;
static clockid_t ran;
static _Atomic(pthread_mutex_t *) big_lock;
static atomic_int waiting;
static atomic_int wanted;
static atomic_int impatient;

/* The C library's own, or QEMU's; two threads that look at once find the same. */
static void *original(_Atomic(void *) *kept, void *where, const char *name,
		      const char *version)
{
	void *found = atomic_load(kept);

	if (!found) {
		/* An older pthread_cond_wait() has another layout of what it waits on. */
		found = version ? dlvsym(where, name, version) : NULL;
		if (!found)
			found = dlsym(where, name);
		atomic_store(kept, found);
	}
	return found;
}

static int real_lock(pthread_mutex_t *lock)
{
	static _Atomic(void *) kept;

	return ((lock_fn)original(&kept, RTLD_NEXT, "pthread_mutex_lock", NULL))(lock);
}

static int real_wait(pthread_cond_t *cond, pthread_mutex_t *lock)
{
	static _Atomic(void *) kept;

	return ((wait_fn)original(&kept, RTLD_NEXT, "pthread_cond_wait", "GLIBC_2.3.2"))
		(cond, lock);
}

/* What the CPUs' thread has run for; less than 0 where it is gone. */
static long long ran_ns(void)
{
	struct timespec now;

	return clock_gettime(ran, &now) ? -1 : now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void sleep_while(atomic_int *word, int value)
{
	const struct timespec look = {
		.tv_sec = LOOK_MS / 1000,
		.tv_nsec = LOOK_MS % 1000 * NS_PER_MS,
	};

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &look, NULL, 0);
}

static void wake(atomic_int *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static bool are_idle(void)
{
	static _Atomic(void *) kept;
	idle_fn ask = (idle_fn)original(&kept, RTLD_DEFAULT, "all_cpu_threads_idle", NULL);

	return ask && ask();
}

static bool is_cpus(void)
{
	char name[16];

	return !pthread_equal(pthread_self(), main_thread) &&
	       !pthread_getname_np(pthread_self(), name, sizeof(name)) &&
	       !strcmp(name, CPUS_NAME);
}

/*
 * Files beside this one say to the lab that the two threads were found, and that
 * one came in out of turn.
 */
static void tell(const char *what)
{
	char path[4096];
	Dl_info here;
	int length, file;

	if (!dladdr((void *)tell, &here) || !here.dli_fname)
		return;
	length = snprintf(path, sizeof(path), "%s.%s", here.dli_fname, what);
	if (length < 0 || (size_t)length >= sizeof(path))
		return;
	file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (file >= 0)
		close(file);
}

/* The main thread. */
static int lock_in_turn(pthread_mutex_t *lock)
{
	const long long asked_ns = ran_ns();
	long looks = 0;
	int error;

	for (;;) {
		bool gone = false, over = false;

		atomic_store(&wanted, 1);
		while (!atomic_load(&waiting)) {
			const long long now_ns = ran_ns();

			gone = now_ns < 0;
			over = looks++ >= AT_MOST_S * 1000L / LOOK_MS;
			if (gone || over)
				break;
			if (now_ns - asked_ns >= PATIENCE_MS * NS_PER_MS)
				atomic_store(&impatient, 1);
			sleep_while(&waiting, 0);
		}
		atomic_store(&wanted, 0);
		if (over)
			tell("forced");
		error = real_lock(lock);
		/* It may have gone on before this had the lock. */
		if (error || gone || over || atomic_load(&waiting))
			break;
		pthread_mutex_unlock(lock);
	}
	if (atomic_exchange(&impatient, 0))
		wake(&impatient);
	return error;
}

static void let_in(void)
{
	atomic_store(&waiting, 1);
	if (atomic_load(&wanted))
		wake(&waiting);
}

/* The thread of the CPUs: a lock is not fair, so this does not ask before. */
static int lock_after_main(pthread_mutex_t *lock)
{
	int error;

	let_in();
	while (atomic_load(&impatient))
		sleep_while(&impatient, 1);
	error = real_lock(lock);
	atomic_store(&waiting, 0);
	return error;
}

int pthread_mutex_lock(pthread_mutex_t *lock)
{
	static atomic_bool told;

	if (lock != atomic_load_explicit(&big_lock, memory_order_acquire))
		return real_lock(lock);
	if (pthread_equal(pthread_self(), cpus) && atomic_load(&impatient) && !are_idle())
		return lock_after_main(lock);
	if (!pthread_equal(pthread_self(), main_thread))
		return real_lock(lock);
	if (!atomic_exchange(&told, true))
		tell("found");
	return lock_in_turn(lock);
}

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock)
{
	pthread_mutex_t *big = atomic_load_explicit(&big_lock, memory_order_acquire);
	int error;

	if (!big && is_cpus() && !pthread_getcpuclockid(pthread_self(), &ran)) {
		cpus = pthread_self();
		big = lock;
		atomic_store_explicit(&big_lock, big, memory_order_release);
	}
	if (lock != big || !pthread_equal(pthread_self(), cpus))
		return real_wait(cond, lock);
	let_in();
	error = real_wait(cond, lock);
	atomic_store(&waiting, 0);
	return error;
}

__attribute__((constructor)) static void begin(void)
{
	main_thread = pthread_self();
}
