// SPDX-License-Identifier: GPL-2.0-only
/* Sleepers, poked at by signals, and sets of PIDs: for test_sleepers.py. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "features/thaw/pids.h"
#include "sleepers.h"
#include "util.h"
#include "workload.h"

#define LIMIT_MS 30000

/* Nobody has to be root to sleep. */
uid_t __wrap_geteuid(void)
{
	return 0;
}

static int sleepers_setup(const struct job_case *c)
{
	if (sleepers_mix(job_param(c, "mix"), (unsigned int)job_number(c, "known")) < 0)
		return -1;
	return sleepers_start(job_number(c, "sleepers")) < 0 ? -1 : sleepers_look();
}

static uint64_t eintr(void)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < WAITS_NR; i++)
		sum += sleepers_eintr(i);
	return sum;
}

/* All of them, found by their numbers; how many there are of each wait. */
static void signal_all(int signal, struct sample *s)
{
	uint64_t max = read_number("/proc/sys/kernel/pid_max", 32768);
	unsigned int of[WAITS_NR] = { 0 }, found = 0;

	for (pid_t pid = 1; pid <= (pid_t)max; pid++) {
		int sleeper = sleepers_find(pid);

		if (sleeper < 0)
			continue;
		found++;
		of[sleepers_wait((unsigned int)sleeper)]++;
		if (signal)
			kill(pid, signal);
	}
	if (!s)
		return;
	sample_add(s, "found", found);
	for (unsigned int i = 0; i < WAITS_NR; i++) {
		if (of[i])
			sample_add(s, waits[i].name, of[i]);
	}
}

static int sleepers_round(const struct job_case *c, const char *mode, struct sample *s)
{
	uint64_t expect = job_number(c, "eintr"), signal = job_number(c, "signal");
	int limit = expect || job_number(c, "back") ? LIMIT_MS : 300;

	(void)mode;
	signal_all((int)signal, s);
	if (signal == SIGSTOP) {
		sleep_ms(100);
		signal_all(SIGCONT, NULL);
	}
	/* Whoever is to be disturbed: until then; nobody: a while in which they might. */
	for (int ms = 0; ms < limit && (!expect || eintr() < expect); ms++) {
		if (signal && sleepers_check() < 0)
			return -1;
		sleep_ms(1);
	}
	sample_add(s, "eintr", (double)eintr());
	return sleepers_check();
}

static const struct workload_param sleepers_params[] = {
	{ "sleepers", "3" },
	{ "mix", "epoll:1" },
	{ "known", "18" },
	{ "signal", "0" },
	{ "eintr", "0" },
	{ "back", "0" },
	{ 0 },
};

static const struct workload asleep = {
	.feature = "trial",
	.name = "asleep",
	.text = "sleepers that are sent a signal",
	.params = sleepers_params,
	.setup = sleepers_setup,
	.round = sleepers_round,
	.teardown = sleepers_stop,
};

WORKLOAD(asleep);

static void read_set(struct pids *set, const char *text)
{
	char copy[256], *rest = copy, *word;

	snprintf(copy, sizeof(copy), "%s", text);
	while ((word = strsep(&rest, ","))) {
		if (*word != '-')
			pids_add(set, atoi(word));
	}
	pids_sort(set);
}

static int nothing(const struct job_case *c)
{
	(void)c;
	return 0;
}

static int sets_round(const struct job_case *c, const char *mode, struct sample *s)
{
	struct pids a = { 0 }, b = { 0 };

	(void)mode;
	read_set(&a, job_param(c, "a"));
	read_set(&b, job_param(c, "b"));
	sample_add(s, "a", (double)a.n);
	sample_add(s, "b", (double)b.n);
	sample_add(s, "differ", (double)pids_differ(&a, &b));
	pids_free(&a);
	pids_free(&b);
	return 0;
}

static void no_teardown(void)
{
}

static const struct workload_param sets_params[] = {
	{ "a", "-" },
	{ "b", "-" },
	{ 0 },
};

static const struct workload sets = {
	.feature = "trial",
	.name = "sets",
	.text = "two sets of PIDs",
	.params = sets_params,
	.setup = nothing,
	.round = sets_round,
	.teardown = no_teardown,
};

WORKLOAD(sets);
