// SPDX-License-Identifier: GPL-2.0-only
/*
 * Live processes asleep in the calls that programs really sleep in. Of these
 * the kernel can freeze futex and nanosleep where they are; the others have to
 * be woken, go to the refrigerator, and come back.
 */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "crew.h"
#include "cycle.h"
#include "perturb.h"
#include "util.h"

#define ASLEEP_LIMIT_MS 10000

/* Shared with the sleepers, who live in copies of everything else. */
struct board {
	atomic_uint ready;
	unsigned int never;	/* a futex that nobody wakes */
	pid_t pids[];
};

static struct crew crew;
static struct board *board;
static size_t board_size;
static int silent[2];		/* a pipe that nobody writes to */
static int epfd;		/* watches it */

static void in_epoll(void)
{
	struct epoll_event ev;

	epoll_wait(epfd, &ev, 1, -1);
}

static void in_poll(void)
{
	struct pollfd pfd = { .fd = silent[0], .events = POLLIN };

	poll(&pfd, 1, -1);
}

static void in_pipe(void)
{
	char c;

	if (read(silent[0], &c, 1) == 1)
		_exit(1);
}

static void in_futex(void)
{
	syscall(SYS_futex, &board->never, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static void in_nanosleep(void)
{
	struct timespec day = { .tv_sec = 86400 };

	nanosleep(&day, NULL);
}

static const struct kind {
	const char *name;
	void (*sleep)(void);
} kinds[] = {
	{ "epoll", in_epoll },
	{ "poll", in_poll },
	{ "pipe", in_pipe },
	{ "futex", in_futex },
	{ "nanosleep", in_nanosleep },
};

/* The mix, dealt out in turn so that neighbours in the task list differ. */
static struct deal {
	unsigned int weight[ARRAY_SIZE(kinds)];
	unsigned int first[ARRAY_SIZE(kinds)];	/* the seed's order of kinds */
	unsigned int sum;
} deal;

static int parse_share(char *share, const char *mix)
{
	char *colon = strchr(share, ':');
	uint64_t weight;

	if (!colon || !parse_u64(colon + 1, &weight) || weight > 1000)
		return fail(STATUS_USAGE, "mix", "'%s' in mix %s is not NAME:WEIGHT", share, mix);
	*colon = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(share, kinds[i].name))
			continue;
		deal.weight[i] += (unsigned int)weight;
		deal.sum += (unsigned int)weight;
		return 0;
	}
	fail(STATUS_USAGE, "mix", "mix %s names an unknown call '%s'", mix, share);
	return fail_hint("known are epoll, poll, pipe, futex, nanosleep");
}

static int parse_mix(const char *mix)
{
	char copy[256], *rest = copy, *share;

	memset(&deal, 0, sizeof(deal));
	snprintf(copy, sizeof(copy), "%s", mix);
	while ((share = strsep(&rest, ","))) {
		if (parse_share(share, mix) < 0)
			return -1;
	}
	if (!deal.sum)
		return fail(STATUS_USAGE, "mix", "mix %s adds up to nothing", mix);
	return 0;
}

static void shuffle_kinds(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++) {
		unsigned int k = (unsigned int)perturb_below(i + 1);

		deal.first[i] = deal.first[k];
		deal.first[k] = i;
	}
}

static const struct kind *nth_kind(uint64_t n)
{
	unsigned int at = (unsigned int)(n % deal.sum);

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		unsigned int k = deal.first[i];

		if (at < deal.weight[k])
			return &kinds[k];
		at -= deal.weight[k];
	}
	abort();
}

static void sleep_forever(const struct kind *kind, pid_t boss)
{
	crew_member(boss);
	atomic_fetch_add(&board->ready, 1);
	/* Being frozen ends some of these calls early. */
	for (;;)
		kind->sleep();
}

static void make_sleepers(uint64_t n, void *arg, struct crew_answer *answer)
{
	pid_t boss = getpid();

	(void)arg;
	for (; answer->done < n; answer->done++) {
		pid_t pid = fork();

		if (!pid)
			sleep_forever(nth_kind(answer->done), boss);
		if (pid < 0) {
			answer->error = errno;
			strcpy(answer->doing, "forking a sleeper");
			return;
		}
		board->pids[answer->done] = pid;
	}
}

static bool is_asleep(pid_t pid)
{
	char path[64], text[512], *paren;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (read_file(path, text, sizeof(text)) <= 0)
		return false;
	paren = strrchr(text, ')');
	return paren && paren[1] == ' ' && paren[2] == 'S';
}

/* They said that they are about to sleep; look whether they do. */
static int wait_asleep(uint64_t n)
{
	uint64_t seen = 0;

	for (unsigned int ms = 0; ms < ASLEEP_LIMIT_MS; ms += 5) {
		if (check_interrupted() < 0)
			return -1;
		if (atomic_load(&board->ready) == n) {
			while (seen < n && is_asleep(board->pids[seen]))
				seen++;
			if (seen == n)
				return 0;
		}
		sleep_ms(5);
	}
	return fail(STATUS_FAILED, "sleepers", "only %llu of %llu are asleep after %d s",
		    (unsigned long long)seen, (unsigned long long)n, ASLEEP_LIMIT_MS / 1000);
}

static int make_board(uint64_t n)
{
	struct epoll_event ev = { .events = EPOLLIN };

	board_size = sizeof(*board) + n * sizeof(board->pids[0]);
	board = crew_memory(board_size);
	if (!board)
		return -1;
	epfd = epoll_create1(EPOLL_CLOEXEC);
	if (pipe(silent) < 0 || epoll_ctl(epfd, EPOLL_CTL_ADD, silent[0], &ev) < 0)
		return fail(STATUS_FAILED, "sleepers", "no pipe to wait for: %s",
			    strerror(errno));
	return 0;
}

static int sleepers_setup(const struct job_case *c)
{
	uint64_t n = job_number(c, "sleepers");

	if (parse_mix(job_param(c, "mix")) < 0 || freeze_prepare() < 0)
		return -1;
	shuffle_kinds();
	if (freeze_make_room(n) < 0 || make_board(n) < 0)
		return -1;
	if (crew_start(&crew, make_sleepers, NULL) < 0 || crew_do(&crew, n) < 0)
		return -1;
	return wait_asleep(n);
}

static int sleepers_round(const struct job_case *c, const char *mode, struct sample *s)
{
	(void)c;
	(void)mode;
	return freeze_cycle(s, true);
}

static void sleepers_teardown(void)
{
	crew_stop(&crew);
	if (!board)
		return;
	munmap(board, board_size);
	board = NULL;
	close(epfd);
	close(silent[0]);
	close(silent[1]);
}

static const struct workload_param sleepers_params[] = {
	{ "sleepers", "1000" },
	{ "mix", "epoll:1,poll:1,pipe:1,futex:1,nanosleep:1" },
	{ 0 },
};

static const struct workload sleepers = {
	.feature = "freeze",
	.name = "sleepers",
	.text = "N live processes asleep, in the given mix of system calls",
	.params = sleepers_params,
	.setup = sleepers_setup,
	.round = sleepers_round,
	.teardown = sleepers_teardown,
};

WORKLOAD(sleepers);
