// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that come to rest one at a time, all along, while there is a reason to
 * give up (FZ13): a wakeup event, or that the time is over.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "crew.h"
#include "freezer.h"
#include "inject.h"
#include "knob.h"
#include "lull.h"
#include "race.h"
#include "util.h"

/* A second or so in all, and more than one in each of the freezer's longer sleeps. */
#define TASKS 500
#define TASK_US 1500
/* The time limit: that of 200 tasks, so that who looks has given up before MANY. */
#define LIMIT_TASKS 200
#define MANY (TASKS * 3 / 4)
/* The event: not before the freezer's sleeps are the longer ones. */
#define WAKEUP_AT 40
#define WAKEUP_LIMIT_MS 300000
/* How long a slow machine may take to fill the queue. */
#define QUEUE_S 540
#define SAYS_SO_S 30
/* Who waits in it does so for as long. */
#define HUNG_TASKS "/proc/sys/kernel/hung_task_timeout_secs"
/*
 * Whoever is left when the time is over is shown, all in one go, and a slow machine's
 * console is so slow that RCU takes that for a stall: nothing below KERN_NOTICE there.
 */
#define CONSOLE_LEVEL "/proc/sys/kernel/printk"
#define LESS_THAN_ALL "6"

static struct crew crew;
/* Whoever was made waits here until all are: the one that is held takes CPU time. */
static int gate[2] = { -1, -1 };

static void wait_at_gate(void)
{
	char c;

	while (read(gate[0], &c, sizeof(c)) < 0 && errno == EINTR)
		;
}

static void make_tasks(uint64_t n, void *arg, struct crew_answer *answer)
{
	(void)arg;
	close(gate[1]);
	for (; answer->done < n; answer->done++) {
		pid_t pid = fork();

		if (!pid) {
			prctl(PR_SET_NAME, HOLD);
			wait_at_gate();
			_exit(0);
		}
		if (pid > 0)
			continue;
		answer->error = errno;
		strcpy(answer->doing, "making a task");
		return;
	}
}

static int arriving_setup(const struct job_case *c)
{
	if (race_setup(c) < 0 || freezer_make_room(TASKS) < 0)
		return -1;
	return knob_write(HUNG_TASKS, "0") < 0 ? -1 : knob_write(CONSOLE_LEVEL, LESS_THAN_ALL);
}

static void close_gate(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(gate); i++) {
		if (gate[i] >= 0)
			close(gate[i]);
		gate[i] = -1;
	}
}

/* Less than it takes until the first of them gives up. */
static int wait_for_queue(void)
{
	uint64_t begin = now_ns(), said = begin;

	while (lull_check("freeze", "queued") < TASKS) {
		uint64_t now = now_ns();

		if (check_interrupted() < 0)
			return -1;
		if (now - begin > QUEUE_S * 1000000000ull)
			return fail(STATUS_UNMET, "FZ13", "not all have come to the queue");
		/* The lab takes long silence for a machine that hangs. */
		if (now - said > SAYS_SO_S * 1000000000ull) {
			write_file("/dev/kmsg", "lull-probe: waits until all have come");
			said = now;
		}
		sleep_ms(10);
	}
	return 0;
}

/* All at once they go where they are queued. */
static int queue_tasks(void)
{
	if (pipe2(gate, O_CLOEXEC) < 0)
		return fail(STATUS_FAILED, "pipe", "%s", strerror(errno));
	if (crew_start(&crew, make_tasks, NULL) < 0 || crew_do(&crew, TASKS) < 0)
		return -1;
	close_gate();
	return wait_for_queue();
}

/*
 * One freeze; returns whether any task began to come to rest before it was given up,
 * and how many had by then. Until its first round is over, all are held.
 */
static int freeze_once(const struct job_case *c, uint64_t wakeup_at, unsigned int task_us,
		       const char *timeout, struct attempt *a, uint64_t *gone)
{
	uint64_t refused;
	bool held;

	if (race_begin(c) < 0 || inject_number("freeze", "exit_queue_wakeup", wakeup_at) < 0 ||
	    inject_number("freeze", "exit_queue_us", task_us) < 0 ||
	    inject_number("freeze", "exit_hold", UNTIL_BETWEEN) < 0 ||
	    queue_tasks() < 0 || knob_write(FREEZER_TIMEOUT, timeout) < 0 || race_attempt(a) < 0)
		return -1;
	held = race_still_held();
	if (inject_number("freeze", "exit_hold", LET_GO) < 0 || race_in_time("FZ13") < 0)
		return -1;
	/*
	 * As many as were left when it was given up: they go on while the kernel
	 * shows them. A freeze that was not given up has waited for all.
	 */
	refused = lull_stat("freeze", "refused");
	*gone = TASKS;
	if (a->err)
		*gone -= refused < TASKS ? refused : TASKS;
	race_wait_none("queued");
	crew_stop(&crew);
	if (knob_write(FREEZER_TIMEOUT, FREEZER_TIMEOUT_DEFAULT) < 0)
		return -1;
	return !held;
}

/* What is to end a freeze, in one where nothing is slow; where all is, it takes longer. */
struct end {
	const char *what;
	uint64_t wakeup_at;
	unsigned int slowest;
	/* Where stock has seen it. */
	unsigned int stock;
	/* Whether one that began to wait has not seen it in this round. */
	bool missed;
};

/* The kernel says "aborted" of what ended by an event, and "failed" of all else. */
static bool was_seen(const struct end *end, const struct attempt *a, uint64_t gone)
{
	return a->err == EBUSY && gone < MANY && race_log_has(a, "aborted") == !!end->wakeup_at;
}

static int verdict(const struct job_case *c, const char *mode, const struct end *end,
		   const struct attempt *a, uint64_t gone)
{
	return inject_verdict(c, "FZ13", mode, was_seen(end, a, gone),
			      ", %s: %s when %llu of %d had come to rest one by one", end->what,
			      a->err ? "given up" : "not given up", (unsigned long long)gone,
			      TASKS);
}

/* With the slowest: 1, or an error. Else 0 where there is to be another try. */
static int judge(const struct job_case *c, const char *mode, struct end *end,
		 unsigned int slow, const struct attempt *a, uint64_t gone)
{
	bool seen = was_seen(end, a, gone), stock = !strcmp(mode, "stock");

	/* They may have been too fast for a freezer that stood still for a moment. */
	if (!seen && slow < end->slowest) {
		end->missed = true;
		return 0;
	}
	if (stock && !seen)
		return fail(STATUS_UNMET, "FZ13", "stock has not seen it in time");
	if (stock)
		end->stock = slow;
	/* Is the machine so slow, or who looks? */
	else if (seen && end->missed && slow > end->stock)
		return fail(STATUS_UNMET, "FZ13", "%s: seen later than by stock", mode);
	return verdict(c, mode, end, a, gone) < 0 ? -1 : 1;
}

/* Where the machine is slow all takes longer: the limit, and as much who comes. */
static int try_end(const struct job_case *c, const char *mode, struct end *end)
{
	/* Who does not look sees neither, however long there is. */
	bool broken = strcmp(job_param(c, "disable"), INJECT_NONE);
	int ret = 0;

	end->missed = false;
	for (unsigned int slow = broken ? end->slowest : 1; !ret && slow <= end->slowest; slow *= 4) {
		struct attempt a;
		uint64_t gone;
		char limit[24];

		/* Not by the limit where it is to be by the event. */
		snprintf(limit, sizeof(limit), "%u",
			 end->wakeup_at ? WAKEUP_LIMIT_MS : LIMIT_TASKS * TASK_US / 1000 * slow);
		ret = freeze_once(c, end->wakeup_at, TASK_US * slow, limit, &a, &gone);
		if (ret > 0)
			ret = judge(c, mode, end, slow, &a, gone);
	}
	return ret ? (ret < 0 ? -1 : 0) : race_no_time("FZ13");
}

static int arriving_round(const struct job_case *c, const char *mode, struct sample *s)
{
	static struct end wakeup = { "a wakeup event", WAKEUP_AT, 16, 16, false };
	static struct end time = { "the time is over", 0, 64, 64, false };

	if (try_end(c, mode, &wakeup) < 0 || try_end(c, mode, &time) < 0)
		return -1;
	/* Nothing was left behind. */
	inject_number("freeze", "exit_queue_us", 0);
	return freezer_cycle(s, false);
}

static void arriving_teardown(void)
{
	close_gate();
	/* Where a round ended early: they would be held for minutes each. */
	inject_number("freeze", "exit_hold", LET_GO);
	race_wait_none("queued");
	crew_stop(&crew);
}

static const struct workload arriving = {
	.feature = "freeze",
	.name = "arriving",
	.text = "tasks that come to rest one at a time while freezing is to end (debug kernel)",
	.params = race_params,
	.setup = arriving_setup,
	.round = arriving_round,
	.teardown = arriving_teardown,
};

WORKLOAD(arriving);
