// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "crew.h"
#include "net.h"
#include "perturb.h"
#include "sleepers.h"
#include "task.h"
#include "util.h"

#define ASLEEP_LIMIT_MS 60000
#define ERRNO_BITS 16

/* Shared with the sleepers, who live in copies of everything else. */
static struct board {
	atomic_uint ready;
	unsigned int never;	/* a futex that nobody wakes */
	atomic_uint broken;	/* who came back first: 1 + the wait, and an errno or 0 */
	atomic_ulong eintr[WAITS_NR];
	pid_t pids[];
} *board;

static struct crew crew;
static size_t board_size;
static uint64_t many;		/* how many there are */
/* From a PID to its sleeper; they are given out in order, but for where they wrap. */
static pid_t low, high;
static int *by_pid;

/* The mix, dealt out in turn so that neighbours in the task list differ. */
static struct deal {
	unsigned int weight[WAITS_NR];
	unsigned int first[WAITS_NR];	/* the seed's order of waits */
	unsigned int known;
	unsigned int sum;
} deal;

/*
 * Stand-ins of our own making for machines whose shape is known by what runs on
 * them; nobody has published the numbers. The thread says of a phone only that
 * many of its tasks are binder clients: those wait freezably, as in a futex,
 * which stands for them, and its apps' main threads wait in epoll (a looper). A
 * desktop's programs run poll and epoll loops, with futexes for their threads,
 * and speak over unix sockets. A container host has servers: epoll loops, workers
 * that wait in accept and for their peers, languages with many threads (futex),
 * and shells and supervisors.
 */
static const struct {
	const char *name, *mix;
} named[] = {
	{ "phone", "futex:55,epoll:35,poll:4,pipe:2,unix_stream:2,nanosleep:2" },
	{ "desktop", "poll:32,epoll:24,futex:20,select:6,pipe:5,unix_dgram:3,unix_stream:4,"
		     "unix_accept:2,signalfd:2,io_uring:2" },
	{ "containers", "epoll:34,futex:28,tcp_accept:12,tcp:10,select:6,pipe:5,nanosleep:5" },
};

static int unknown_wait(const char *share, const char *mix)
{
	char list[256] = "";
	size_t len = 0;

	for (unsigned int i = 0; i < deal.known; i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
					waits[i].name);
	fail(STATUS_USAGE, "mix", "mix %s names an unknown call '%s'", mix, share);
	return fail_hint("known are %s", list);
}

static int parse_share(char *share, const char *mix)
{
	char *colon = strchr(share, ':');
	uint64_t weight;

	if (!colon || !parse_u64(colon + 1, &weight) || weight > 1000)
		return fail(STATUS_USAGE, "mix", "'%s' in mix %s is not NAME:WEIGHT", share, mix);
	*colon = '\0';
	for (unsigned int i = 0; i < deal.known; i++) {
		if (strcmp(share, waits[i].name))
			continue;
		deal.weight[i] += (unsigned int)weight;
		deal.sum += (unsigned int)weight;
		return 0;
	}
	return unknown_wait(share, mix);
}

int sleepers_mix(const char *mix, unsigned int known)
{
	char copy[256], *rest = copy, *share;

	memset(&deal, 0, sizeof(deal));
	deal.known = known;
	for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
		if (!strcmp(mix, named[i].name))
			mix = named[i].mix;
	}
	snprintf(copy, sizeof(copy), "%s", mix);
	while ((share = strsep(&rest, ","))) {
		if (parse_share(share, mix) < 0)
			return -1;
	}
	if (!deal.sum)
		return fail(STATUS_USAGE, "mix", "mix %s adds up to nothing", mix);
	return 0;
}

static void shuffle_waits(void)
{
	for (unsigned int i = 0; i < deal.known; i++) {
		unsigned int k = (unsigned int)perturb_below(i + 1);

		deal.first[i] = deal.first[k];
		deal.first[k] = i;
	}
}

unsigned int sleepers_wait(unsigned int sleeper)
{
	unsigned int at = sleeper % deal.sum;

	for (unsigned int i = 0; i < deal.known; i++) {
		unsigned int k = deal.first[i];

		if (at < deal.weight[k])
			return k;
		at -= deal.weight[k];
	}
	abort();
}

static void broken(unsigned int wait, int error)
{
	unsigned int none = 0;

	atomic_compare_exchange_strong(&board->broken, &none,
				       (wait + 1) << ERRNO_BITS | (unsigned int)error);
	_exit(1);
}

static void sleep_forever(unsigned int wait, pid_t boss)
{
	crew_member(boss);
	if (waits[wait].open && waits[wait].open() < 0)
		broken(wait, errno);
	atomic_fetch_add(&board->ready, 1);
	/* Being frozen ends some of these calls early. */
	for (;;) {
		if (waits[wait].sleep() >= 0)
			broken(wait, 0);
		if (errno != EINTR)
			broken(wait, errno);
		atomic_fetch_add(&board->eintr[wait], 1);
	}
}

static void make_sleepers(uint64_t n, void *arg, struct crew_answer *answer)
{
	pid_t boss = getpid();

	(void)arg;
	for (; answer->done < n; answer->done++) {
		pid_t pid = fork();

		if (!pid)
			sleep_forever(sleepers_wait((unsigned int)answer->done), boss);
		if (pid < 0) {
			answer->error = errno;
			strcpy(answer->doing, "forking a sleeper");
			return;
		}
		board->pids[answer->done] = pid;
	}
}

int sleepers_check(void)
{
	unsigned int who = atomic_load(&board->broken);
	int error = (int)(who & ((1U << ERRNO_BITS) - 1));

	if (!who)
		return 0;
	return fail(STATUS_FAILED, "sleepers", "a sleeper in %s did not stay there: %s",
		    waits[(who >> ERRNO_BITS) - 1].name,
		    error ? strerror(error) : "it had something to do");
}

/* They said that they are about to sleep; look whether they do. */
static int wait_asleep(void)
{
	uint64_t seen = 0;

	for (unsigned int ms = 0; ms < ASLEEP_LIMIT_MS; ms += 5) {
		if (check_interrupted() < 0 || sleepers_check() < 0)
			return -1;
		if (atomic_load(&board->ready) == many) {
			while (seen < many && task_state(board->pids[seen]) == 'S')
				seen++;
			if (seen == many)
				return 0;
		}
		sleep_ms(5);
	}
	return fail(STATUS_FAILED, "sleepers", "only %llu of %llu are asleep after %d s",
		    (unsigned long long)seen, (unsigned long long)many,
		    ASLEEP_LIMIT_MS / 1000);
}

/* "232 0x3 ...", "running", or no such file. */
int sleepers_look(void)
{
	char path[64], text[256];
	long call;

	for (unsigned int i = 0; i < many; i++) {
		const struct wait *wait = &waits[sleepers_wait(i)];

		snprintf(path, sizeof(path), "/proc/%d/syscall", board->pids[i]);
		if (read_file(path, text, sizeof(text)) < 0 && errno == ENOENT)
			return 0;
		if (sscanf(text, "%ld", &call) != 1 || call != wait->call)
			return fail(STATUS_FAILED, path, "a sleeper is not in %s, call %ld: %s",
				    wait->name, wait->call, text);
	}
	return 0;
}

static int make_board(uint64_t n)
{
	board_size = sizeof(*board) + n * sizeof(board->pids[0]);
	board = crew_memory(board_size);
	if (!board)
		return -1;
	if (waits_open(&board->never) < 0)
		return fail(STATUS_FAILED, "sleepers", "nothing to wait for: %s",
			    strerror(errno));
	return 0;
}

static int make_index(void)
{
	size_t span;

	low = many ? board->pids[0] : 0;
	high = low;
	for (uint64_t i = 0; i < many; i++) {
		if (board->pids[i] < low)
			low = board->pids[i];
		if (board->pids[i] > high)
			high = board->pids[i];
	}
	span = (size_t)(high - low) + 1;
	by_pid = malloc(span * sizeof(*by_pid));
	if (!by_pid)
		return fail(STATUS_FAILED, "sleepers", "no memory: %s", strerror(errno));
	memset(by_pid, -1, span * sizeof(*by_pid));
	for (uint64_t i = 0; i < many; i++)
		by_pid[board->pids[i] - low] = (int)i;
	return 0;
}

static bool needs_net(void)
{
	for (unsigned int i = 0; i < WAITS_NR; i++) {
		if (waits[i].net && sleepers_has(i))
			return true;
	}
	return false;
}

int sleepers_start(uint64_t n)
{
	many = n;
	shuffle_waits();
	if (needs_net() && net_loopback_up() < 0)
		return -1;
	if (make_board(n) < 0)
		return -1;
	if (crew_start(&crew, make_sleepers, NULL) < 0 || crew_do(&crew, n) < 0)
		return -1;
	return wait_asleep() < 0 ? -1 : make_index();
}

void sleepers_stop(void)
{
	crew_stop(&crew);
	if (!board)
		return;
	munmap(board, board_size);
	board = NULL;
	free(by_pid);
	by_pid = NULL;
	waits_close();
}

bool sleepers_has(unsigned int wait)
{
	return deal.weight[wait];
}

uint64_t sleepers_eintr(unsigned int wait)
{
	return atomic_load(&board->eintr[wait]);
}

int sleepers_find(pid_t pid)
{
	return pid < low || pid > high ? -1 : by_pid[pid - low];
}
