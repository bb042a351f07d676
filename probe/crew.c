// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "util.h"

#define STOP_LIMIT_MS 60000
#define READY_LIMIT_MS 60000

void crew_member(pid_t boss)
{
	/*
	 * The probe may be killed without a chance to clean up. The parent may
	 * have died before the request took effect, hence the second look.
	 */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != boss)
		_exit(0);
}

/* The probe's own handlers only tell it that it is to end. */
static void default_signals(void)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
}

pid_t crew_fork(const char *name)
{
	pid_t probe = getpid(), pid = fork();

	if (pid < 0)
		return fail(STATUS_FAILED, "fork", "no process: %s", strerror(errno));
	if (pid)
		return pid;
	default_signals();
	crew_member(probe);
	if (name)
		prctl(PR_SET_NAME, name);
	return 0;
}

int crew_ready(const volatile bool *ready, pid_t pid, const char *who)
{
	for (unsigned int ms = 0; !*ready; ms++) {
		siginfo_t ended = { 0 };

		if (check_interrupted() < 0)
			return -1;
		/* It stays a zombie, which crew_end() reaps. */
		if (!waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) &&
		    ended.si_pid && !*ready)
			return fail(STATUS_FAILED, "crew", "%s ended at its start", who);
		if (ms == READY_LIMIT_MS)
			return fail(STATUS_UNMET, "crew", "%s is not ready", who);
		sleep_ms(1);
	}
	return 0;
}

void crew_end(pid_t *pid)
{
	if (*pid <= 0)
		return;
	kill(*pid, SIGKILL);
	waitpid(*pid, NULL, 0);
	*pid = 0;
}

void *crew_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory != MAP_FAILED)
		return memory;
	fail(STATUS_FAILED, "crew", "no memory to share: %s", strerror(errno));
	return NULL;
}

static void boss_main(int orders, int answers, crew_fn fn, void *arg)
{
	uint64_t order;

	while (read(orders, &order, sizeof(order)) == sizeof(order)) {
		struct crew_answer answer = { 0 };

		fn(order, arg, &answer);
		if (write(answers, &answer, sizeof(answer)) != sizeof(answer))
			break;
	}
	_exit(0);
}

int crew_start(struct crew *crew, crew_fn fn, void *arg)
{
	int orders[2], answers[2];
	pid_t probe = getpid();

	if (pipe2(orders, O_CLOEXEC) < 0 || pipe2(answers, O_CLOEXEC) < 0)
		return fail(STATUS_FAILED, "crew", "no pipe: %s", strerror(errno));

	crew->boss = fork();
	if (crew->boss < 0)
		return fail(STATUS_FAILED, "crew", "cannot fork: %s", strerror(errno));
	if (!crew->boss) {
		setpgid(0, 0);
		default_signals();
		crew_member(probe);
		close(orders[1]);
		close(answers[0]);
		boss_main(orders[0], answers[1], fn, arg);
	}
	/* On both sides, so that crew_stop() cannot come before it. */
	setpgid(crew->boss, crew->boss);
	close(orders[0]);
	close(answers[1]);
	crew->orders = orders[1];
	crew->answers = answers[0];
	return 0;
}

int crew_do(struct crew *crew, uint64_t order)
{
	struct crew_answer answer;
	ssize_t n;

	if (write(crew->orders, &order, sizeof(order)) != sizeof(order))
		return fail(STATUS_FAILED, "crew", "the boss is gone: %s", strerror(errno));
	do {
		n = read(crew->answers, &answer, sizeof(answer));
	} while (n < 0 && errno == EINTR && !interrupted);
	if (check_interrupted() < 0)
		return -1;
	if (n != sizeof(answer))
		return fail(STATUS_FAILED, "crew", "the boss died at work");
	if (answer.error) {
		fail(STATUS_FAILED, "crew", "%s failed after %llu: %s", answer.doing,
		     (unsigned long long)answer.done, strerror(answer.error));
		return fail_hint("more memory, or a higher limit on processes, may be needed");
	}
	return 0;
}

void crew_stop(struct crew *crew)
{
	if (crew->boss <= 0)
		return;
	/*
	 * The boss first: its children then die as orphans, each reaped as it
	 * comes, instead of piling up as its zombies.
	 */
	kill(crew->boss, SIGKILL);
	waitpid(crew->boss, NULL, 0);
	/* Loops may fork while they are being killed: until nobody is left. */
	for (int ms = 0; kill(-crew->boss, SIGKILL) == 0; ms++) {
		if (ms > STOP_LIMIT_MS) {
			fail(STATUS_FAILED, "crew", "processes of a workload cannot be killed");
			break;
		}
		while (waitpid(-crew->boss, NULL, WNOHANG) > 0)
			;
		sleep_ms(1);
	}
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	close(crew->orders);
	close(crew->answers);
	crew->boss = 0;
}
