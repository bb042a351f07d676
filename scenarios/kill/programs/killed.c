// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kills a process whose memory is in zram or zswap in part, while another one
 * allocates, and says how long it takes until it is gone, and until there is no more
 * in there than before there was that process.
 *
 *   killed PID FILE HELD SECONDS
 *
 * FILE is zram's mm_stat, or /proc/meminfo for zswap, HELD what it has said of stored
 * bytes before. Prints a metric and its value a line. Status 1, with a line on
 * standard error, where it is not over in SECONDS.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"

#define MOST (1u << 18)		/* allocations that are kept */
#define PIECE (256u << 10)	/* bytes, of one */
#define PAGE 4096u
#define OTHERS 16u		/* pages of others, whom nobody has killed */
#define CACHED 64u		/* slots that a CPU keeps before it gives them back */
#define BEFORE_MS 300		/* what others did before is not looked at */

struct other {
	volatile int stop;
	volatile uint64_t count;
	struct {
		uint64_t begun, took;
	} each[MOST];
};

static void allocate(struct other *own)
{
	while (!own->stop && own->count < MOST) {
		uint64_t begun = now_ns();
		size_t at;
		char *piece = mmap(NULL, PIECE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (piece == MAP_FAILED)
			_exit(1);
		for (at = 0; at < PIECE; at += PAGE)
			piece[at] = 1;
		own->each[own->count].took = now_ns() - begun;
		own->each[own->count].begun = begun;
		own->count++;
		munmap(piece, PIECE);
	}
	_exit(0);
}

static void text_of(const char *path, char *text, size_t room)
{
	FILE *file = fopen(path, "re");
	size_t got = file ? fread(text, 1, room - 1, file) : 0;

	if (!got)
		give_up("%s cannot be read: %s", path, strerror(errno));
	text[got] = '\0';
	fclose(file);
}

/* What zswap or zram holds, in bytes: stored, and in memory. */
static void held(const char *path, uint64_t *stored, uint64_t *memory)
{
	char text[8192], *pool, *pages;

	text_of(path, text, sizeof(text));
	pool = strstr(text, "\nZswap:");
	pages = strstr(text, "\nZswapped:");
	if (pool && pages && sscanf(pool, "\nZswap: %" SCNu64 " kB", memory) == 1 &&
	    sscanf(pages, "\nZswapped: %" SCNu64 " kB", stored) == 1) {
		*stored <<= 10;
		*memory <<= 10;
	} else if (sscanf(text, "%" SCNu64 " %*s %" SCNu64, stored, memory) != 2) {
		give_up("%s is neither zram's mm_stat nor says what zswap holds", path);
	}
}

/* How long somebody, and how long everybody, has waited for memory, in us. */
static void stalls(uint64_t *some, uint64_t *full)
{
	char text[512], *second;

	text_of("/proc/pressure/memory", text, sizeof(text));
	second = strchr(text, '\n');
	if (!second || sscanf(strstr(text, "total="), "total=%" SCNu64, some) != 1 ||
	    sscanf(strstr(second, "total="), "total=%" SCNu64, full) != 1)
		give_up("/proc/pressure/memory is not as it was");
}

/* What may be left: SWAP_SLOTS_CACHE_SIZE slots of each CPU, which are freed later. */
static uint64_t slack(void)
{
	return (OTHERS + CACHED * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN)) * PAGE;
}

static void sleep_us(long us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

static void figure(const char *name, uint64_t value)
{
	printf("%s %" PRIu64 "\n", name, value);
}

static void say_allocations(struct other *other, uint64_t from, uint64_t to)
{
	static uint64_t took[MOST];
	uint64_t i, count = 0;

	for (i = 0; i < other->count; i++)
		if (other->each[i].begun + other->each[i].took >= from &&
		    other->each[i].begun <= to)
			took[count++] = other->each[i].took;
	figure("allocs", count);
	figure("alloc_p50", quantile(took, count, 500));
	figure("alloc_p99", quantile(took, count, 990));
	figure("alloc_max", quantile(took, count, 1000));
}

int main(int argc, char **argv)
{
	uint64_t some[2], full[2], stored, memory, before, base, begun, gone, back, limit;
	struct other *other;
	struct pollfd end = { .events = POLLIN };
	pid_t child;

	if (argc != 5)
		give_up("killed PID FILE HELD SECONDS");
	base = number(argv[3], "HELD");
	limit = number(argv[4], "SECONDS") * NSEC;
	end.fd = (int)syscall(SYS_pidfd_open, (pid_t)number(argv[1], "PID"), 0);
	if (end.fd < 0)
		give_up("who is to be killed is not there: %s", strerror(errno));
	other = mmap(NULL, sizeof(*other), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (other == MAP_FAILED)
		give_up("mmap: %s", strerror(errno));
	held(argv[2], &before, &memory);
	if (before < base + slack())
		give_up("nothing of who is to be killed is there by %s", argv[2]);
	figure("in_zram", before - base);
	figure("held", memory);
	fflush(stdout);
	child = fork();
	if (child < 0)
		give_up("fork: %s", strerror(errno));
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		allocate(other);
	}
	sleep_us(BEFORE_MS * 1000);
	stalls(&some[0], &full[0]);

	begun = now_ns();
	if (syscall(SYS_pidfd_send_signal, end.fd, SIGKILL, NULL, 0))
		give_up("kill: %s", strerror(errno));
	if (poll(&end, 1, (int)(limit / 1000000)) != 1)
		give_up("who was killed is still there");
	gone = now_ns();
	for (;;) {
		held(argv[2], &stored, &memory);
		back = now_ns();
		if (stored <= base + slack())
			break;
		if (back - begun > limit)
			give_up("%s still says %" PRIu64 " bytes", argv[2], stored - base);
		sleep_us(200);
	}

	stalls(&some[1], &full[1]);
	other->stop = 1;
	waitpid(child, NULL, 0);
	figure("gone", gone - begun);
	figure("back", back - begun);
	figure("some", (some[1] - some[0]) * 1000);
	figure("full", (full[1] - full[0]) * 1000);
	say_allocations(other, begun, back);
	return 0;
}
