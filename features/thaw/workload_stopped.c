// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is stopped, or stopped by its tracer, before all are frozen is so after
 * the thaw, has not been woken in between, and goes on when it is told to.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "pair.h"
#include "safety.h"
#include "suspend.h"
#include "task.h"
#include "util.h"
#include "workload.h"

/* In memory that all share. */
static struct board {
	struct pair pair;
	volatile uint32_t beats;	/* of who is busy */
	/* What a shell is told of its job. */
	volatile uint32_t job;		/* its PID */
	volatile uint32_t stops, continues;
	volatile int signal;
} *board;

static pid_t task;

static void busy_main(void *arg)
{
	(void)arg;
	for (;;) {
		getppid();
		board->beats++;
	}
}

static void sleeper_main(void *arg)
{
	struct pair *p = arg;

	pair_start(p);
	/* A tracer's stop ends the call early. */
	for (;;) {
		int64_t n = p->kind->wait(p, -1);

		if (n > 0)
			p->acked = (uint32_t)n;
	}
}

/* A job of its own group, in a session in which somebody looks after it. */
static void shell_main(void *arg)
{
	pid_t self = getpid(), job;
	int status;

	setsid();
	job = fork();
	if (!job) {
		crew_member(self);
		setpgid(0, 0);
		busy_main(arg);
	}
	setpgid(job, job);
	board->job = (uint32_t)job;
	while (waitpid(job, &status, WUNTRACED | WCONTINUED) == job) {
		if (WIFSTOPPED(status)) {
			board->signal = WSTOPSIG(status);
			board->stops++;
		} else if (WIFCONTINUED(status)) {
			board->continues++;
		}
	}
}

static bool moves(void)
{
	return trial_reaches(&board->beats, board->beats + 1);
}

static int start(void (*body)(void *arg), void *arg)
{
	task = trial_fork("stopped", body, arg);
	return task < 0 ? -1 : 0;
}

static int start_busy(void)
{
	if (start(busy_main, NULL) < 0)
		return -1;
	return moves() ? 0 : fail(STATUS_FAILED, "stopped", "the task does not run");
}

static int start_sleeper(void)
{
	const struct pair_kind *kind = pair_kind_named("epoll");

	if (pair_open(&board->pair, kind) < 0 || start(sleeper_main, &board->pair) < 0)
		return -1;
	return pair_wait_asleep(&board->pair);
}

static void stop_task(void)
{
	if (board && board->job)
		kill((pid_t)board->job, SIGKILL);
	trial_end(&task);
	if (!board)
		return;
	pair_close(&board->pair);
	memset(board, 0, sizeof(*board));
}

/* Does wait4() tell of a stop by that signal? */
static bool is_told(int sig)
{
	int status;

	for (int ms = 0; ms < TRIAL_LIMIT_MS && check_interrupted() >= 0; ms++) {
		if (waitpid(task, &status, WNOHANG | WUNTRACED) == task)
			return WIFSTOPPED(status) && WSTOPSIG(status) == sig;
		sleep_ms(1);
	}
	return false;
}

/* 1: it stays in that state across a cycle, and is not woken; 0: it does not. */
static int stays(pid_t pid, char letter)
{
	uint64_t before;

	/* Only from a cycle on one knows that it has gone to sleep. */
	if (suspend_once() < 0)
		return -1;
	before = task_sleeps(pid);
	if (suspend_once() < 0)
		return -1;
	return before && task_state(pid) == letter && task_sleeps(pid) == before;
}

static bool is_woken(void)
{
	pair_send(&board->pair, 1);
	return trial_reaches(&board->pair.acked, 1);
}

static int stopped_once(int (*begin)(void), bool (*goes_on)(void))
{
	int ret;

	if (begin() < 0)
		return -1;
	kill(task, SIGSTOP);
	if (!is_told(SIGSTOP))
		return 0;
	ret = stays(task, 'T');
	kill(task, SIGCONT);
	return ret < 0 ? -1 : ret && goes_on();
}

static int stopped_busy(void)
{
	return stopped_once(start_busy, moves);
}

static int stopped_asleep(void)
{
	return stopped_once(start_sleeper, is_woken);
}

/* The shell is asleep in wait4() whenever all are frozen. */
static int job_control(void)
{
	pid_t job;
	int ret;

	if (start(shell_main, NULL) < 0)
		return -1;
	if (!trial_reaches(&board->job, 1) || !moves())
		return fail(STATUS_FAILED, "stopped", "the job does not run");
	if (trial_state_wait(task, "S") < 0 || suspend_once() < 0)
		return -1;
	job = (pid_t)board->job;
	kill(-job, SIGTSTP);
	if (!trial_reaches(&board->stops, 1) || board->signal != SIGTSTP)
		return 0;
	ret = stays(job, 'T');
	if (ret <= 0)
		return ret;
	kill(-job, SIGCONT);
	if (!trial_reaches(&board->continues, 1) || suspend_once() < 0 || !moves())
		return check_interrupted();
	kill(-job, SIGSTOP);
	return trial_reaches(&board->stops, 2) && board->signal == SIGSTOP;
}

static int trace(int request, long data)
{
	if (!ptrace(request, task, NULL, data))
		return 0;
	return fail(STATUS_FAILED, "ptrace", "request %d: %s", request, strerror(errno));
}

static int traced(void)
{
	struct user_regs_struct regs;
	int ret;

	if (start_busy() < 0 || trace(PTRACE_SEIZE, PTRACE_O_TRACESYSGOOD) < 0 ||
	    trace(PTRACE_INTERRUPT, 0) < 0)
		return -1;
	if (!is_told(SIGTRAP))
		return 0;
	ret = stays(task, 't');
	if (ret <= 0 || ptrace(PTRACE_GETREGS, task, NULL, &regs) < 0)
		return ret < 0 ? -1 : 0;
	/* From there to its next system call. */
	if (trace(PTRACE_SYSCALL, 0) < 0)
		return -1;
	if (!is_told(SIGTRAP | 0x80))
		return 0;
	ret = stays(task, 't');
	if (ret <= 0)
		return ret;
	return trace(PTRACE_CONT, 0) < 0 ? -1 : moves();
}

/* A tracer that comes when the task has been frozen in place, and thawed. */
static int traced_later(void)
{
	if (start_sleeper() < 0 || suspend_once() < 0 || trace(PTRACE_ATTACH, 0) < 0)
		return -1;
	if (!is_told(SIGSTOP) || task_state(task) != 't')
		return 0;
	return trace(PTRACE_DETACH, 0) < 0 ? -1 : is_woken();
}

static const struct step {
	const char *name;
	int (*run)(void);	/* whether it is as it should be */
} steps[] = {
	{ "busy and stopped", stopped_busy },
	{ "asleep and stopped", stopped_asleep },
	{ "job control", job_control },
	{ "traced", traced },
	{ "traced later", traced_later },
};

static int stopped_setup(const struct job_case *c)
{
	if (!board)
		board = crew_memory(sizeof(*board));
	return board ? trial_setup(c) : -1;
}

static int stopped_round(const struct job_case *c, const char *mode, struct sample *s)
{
	char text[160];

	(void)s;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		int good = steps[i].run();

		if (good < 0 || check_interrupted() < 0)
			return -1;
		stop_task();
		snprintf(text, sizeof(text), "%s: %s: %s", mode, steps[i].name,
			 good ? "as it was" : "not as it was");
		if (report_check(c, "stopped", good, text) < 0)
			return -1;
	}
	return 0;
}

static const struct workload_param stopped_params[] = {
	TRIAL_PARAMS,
	{ 0 },
};

static const struct workload stopped = {
	.feature = "thaw",
	.name = "stopped",
	.text = "SIGSTOP, job control and tracers' stops across freeze and thaw",
	.params = stopped_params,
	.setup = stopped_setup,
	.round = stopped_round,
	.teardown = stop_task,
};

WORKLOAD(stopped);
