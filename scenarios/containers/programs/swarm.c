// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a command TOTAL times, AT of them at a time, each with a name of its own as
 * its last word. What it starts in the end says on its standard output when it
 * began. Beside it NEIGHBOURS processes do nothing but fork.
 *
 *   swarm AT TOTAL NEIGHBOURS SECONDS PREFIX COMMAND [WORD]...
 *
 * Prints a metric and its value a line. Status 1, and a line on standard error that
 * names the command, where one ends with another status than 0, has not said
 * anything, or is not done in SECONDS.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"

#define MOST 4096
#define FORKS (1u << 20)

struct one {
	pid_t pid;		/* 0 once it has ended */
	int said;
	uint64_t run, began, end;
	char name[64];
};

/* What a neighbour tells, in memory that it shares with its parent. */
struct neighbour {
	volatile int stop;
	volatile uint64_t forks;
	uint64_t took[FORKS];
};

static struct one all[MOST];
static unsigned int started;
static const char *command;

/* Async-signal-safe: no stdio. */
static void say(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		_exit(1);
}

static void too_late(int signal)
{
	unsigned int i;

	(void)signal;
	for (i = 0; i < started; i++) {
		if (!all[i].pid)
			continue;
		say(all[i].name);
		say(": ");
		say(command);
		say(" has not ended in its time\n");
		kill(all[i].pid, SIGKILL);
	}
	_exit(1);
}

static void start(struct one *one, const char *prefix, char **words, unsigned int count)
{
	int ends[2];

	snprintf(one->name, sizeof(one->name), "%s-%u", prefix, started);
	words[count] = one->name;
	if (pipe2(ends, O_CLOEXEC))
		give_up("pipe: %s", strerror(errno));
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	one->run = now_ns();
	one->pid = fork();
	if (one->pid < 0)
		give_up("fork: %s", strerror(errno));
	if (!one->pid) {
		dup2(ends[1], STDOUT_FILENO);
		execvp(words[0], words);
		give_up("%s: %s", words[0], strerror(errno));
	}
	close(ends[1]);
	one->said = ends[0];
	started++;
}

static void ended(struct one *one, int status)
{
	char text[64];
	ssize_t got = read(one->said, text, sizeof(text) - 1);

	one->end = now_ns();
	one->pid = 0;
	close(one->said);
	if (WIFSIGNALED(status))
		give_up("%s: %s was killed by signal %d", one->name, command,
			WTERMSIG(status));
	if (WEXITSTATUS(status))
		give_up("%s: %s ended with status %d", one->name, command,
			WEXITSTATUS(status));
	text[got > 0 ? got : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (!*text)
		give_up("%s: %s ended, and nothing has begun in it", one->name, command);
	one->began = number(text, "what has begun says");
}

static pid_t neighbour(struct neighbour *own)
{
	pid_t pid = fork();

	if (pid < 0)
		give_up("fork: %s", strerror(errno));
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!own->stop && own->forks < FORKS) {
		uint64_t begun = now_ns();

		pid = fork();
		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			_exit(1);
		own->took[own->forks++] = now_ns() - begun;
	}
	_exit(0);
}

static void figure(const char *name, double value)
{
	printf("%s %.10g\n", name, value);
}

static void say_forks(struct neighbour *others, unsigned int count, double seconds)
{
	uint64_t *took, forks = 0;
	unsigned int i;

	took = calloc((size_t)count * FORKS, sizeof(*took));
	if (!took)
		give_up("no memory");
	for (i = 0; i < count; i++) {
		memcpy(took + forks, others[i].took, others[i].forks * sizeof(*took));
		forks += others[i].forks;
	}
	figure("forks_s", (double)forks / seconds);
	figure("fork_p50", (double)quantile(took, forks, 500));
	figure("fork_p99", (double)quantile(took, forks, 990));
	figure("fork_max", (double)quantile(took, forks, 1000));
}

int main(int argc, char **argv)
{
	unsigned int at, total, neighbours, limit, i, done = 0, running = 0;
	struct neighbour *others;
	pid_t pids[16];
	uint64_t values[MOST], begun, end;
	char *words[64] = { NULL };
	double seconds;

	if (argc < 7 || argc - 6 > 60)
		give_up("swarm AT TOTAL NEIGHBOURS SECONDS PREFIX COMMAND [WORD]...");
	at = number(argv[1], "AT");
	total = number(argv[2], "TOTAL");
	neighbours = number(argv[3], "NEIGHBOURS");
	if (!at || !total || total > MOST || neighbours > 16)
		give_up("1 to %d in all, at most 16 neighbours", MOST);
	memcpy(words, argv + 6, (size_t)(argc - 6) * sizeof(*words));
	command = words[0];
	others = mmap(NULL, (neighbours + 1) * sizeof(*others), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (others == MAP_FAILED)
		give_up("mmap: %s", strerror(errno));
	signal(SIGALRM, too_late);
	limit = number(argv[4], "SECONDS");
	alarm(limit);
	for (i = 0; i < neighbours; i++)
		pids[i] = neighbour(&others[i]);
	/* They are beside the first one, too. */
	for (i = 0; i < neighbours; i++) {
		while (!others[i].forks) {
			if (waitpid(pids[i], NULL, WNOHANG))
				give_up("a neighbour has ended");
			usleep(1000);
		}
	}
	alarm(0);

	begun = now_ns();
	while (done < total) {
		int status;
		pid_t pid;

		for (; running < at && started < total; running++)
			start(&all[started], argv[5], words, argc - 6);
		if (!done)
			alarm(limit);
		pid = waitpid(-1, &status, 0);
		if (pid < 0)
			give_up("waitpid: %s", strerror(errno));
		for (i = 0; i < started && all[i].pid != pid; i++)
			;
		if (i == started)
			give_up("a neighbour has ended");
		ended(&all[i], status);
		running--;
		done++;
	}
	end = now_ns();
	seconds = (double)(end - begun) / NSEC;
	for (i = 0; i < neighbours; i++)
		others[i].stop = 1;
	for (i = 0; i < neighbours; i++)
		waitpid(pids[i], NULL, 0);

	figure("containers_s", total / seconds);
	for (i = 0; i < total; i++)
		values[i] = all[i].began - all[i].run;
	figure("start_p50", (double)quantile(values, total, 500));
	figure("start_max", (double)quantile(values, total, 1000));
	for (i = 0; i < total; i++)
		values[i] = all[i].end - all[i].run;
	figure("whole_p50", (double)quantile(values, total, 500));
	if (neighbours)
		say_forks(others, neighbours, seconds);
	return 0;
}
