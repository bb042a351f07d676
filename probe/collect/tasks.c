// SPDX-License-Identifier: GPL-2.0-only
/*
 * A line for each thread, and below it what of it may explain a wait. No command
 * lines and no environments: they hold what is nobody's business.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "step.h"

#define KTHREAD 0x00200000	/* PF_KTHREAD */
#define FRAMES 12
#define STUCK 256
#define AGAIN_MS 500

static const char columns[] =
	"# task: tgid tid ppid state threads flags uid tracer swap_kb rss_kb wchan "
	"syscall comm; - is unknown\n";

struct task {
	int tgid;
	int tid;
	char comm[128];
	char state;
	int ppid;
	unsigned long flags;
	long threads;
	char uid[16];
	char tracer[16];
	char swap[24];
	char rss[24];
	char wchan[128];
	char syscall[64];
	bool leader;
};

/* In D, or in what somebody serves: most of them wait so for no long time. */
static struct {
	int tgid;
	int tid;
	unsigned long long slept;
} stuck[STUCK];
static unsigned int nstuck;

static const struct task nobody = { .uid = "-", .tracer = "-", .swap = "-", .rss = "-",
	.wchan = "-", .syscall = "-" };

static int ask_of(enum ask what, const struct task *t, const char *name, struct answer *a)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", t->tgid, t->tid, name);
	return step_ask_maybe(what, path, a);
}

/* The name may have anything in it, so its end is the last parenthesis. */
static int parse_stat(struct task *t, const char *text)
{
	const char *open = strchr(text, '(');
	const char *close = strrchr(text, ')');
	size_t len;

	if (!open || !close || close < open)
		return -EINVAL;
	len = (size_t)(close - open - 1);
	if (len >= sizeof(t->comm))
		len = sizeof(t->comm) - 1;
	memcpy(t->comm, open + 1, len);
	t->comm[len] = '\0';
	if (sscanf(close + 1, " %c %d %*d %*d %*d %*d %lu %*u %*u %*u %*u %*u %*u %*d %*d "
		   "%*d %*d %ld", &t->state, &t->ppid, &t->flags, &t->threads) != 4)
		return -EINVAL;
	return 0;
}

static int read_stat(struct task *t)
{
	struct answer a;
	int ret = ask_of(ASK_READ, t, "stat", &a);

	return ret ? ret : parse_stat(t, a.text);
}

static void value_of(const char *text, const char *key, char *to, size_t size)
{
	const char *at = strstr(text, key);
	size_t len;

	if (!at)
		return;
	at += strlen(key);
	at += strspn(at, " \t");
	len = strcspn(at, " \t\n");
	if (len && len < size) {
		memcpy(to, at, len);
		to[len] = '\0';
	}
}

static void read_status(struct task *t)
{
	struct answer a;

	if (ask_of(ASK_READ, t, "status", &a))
		return;
	value_of(a.text, "\nUid:", t->uid, sizeof(t->uid));
	value_of(a.text, "\nTracerPid:", t->tracer, sizeof(t->tracer));
	if (!t->leader)
		return;
	value_of(a.text, "\nVmSwap:", t->swap, sizeof(t->swap));
	value_of(a.text, "\nVmRSS:", t->rss, sizeof(t->rss));
}

/* How often it has gone to sleep: who wakes in between is not stuck. */
static unsigned long long read_slept(const struct task *t)
{
	char number[24] = "";
	struct answer a;

	if (!ask_of(ASK_READ, t, "status", &a))
		value_of(a.text, "\nvoluntary_ctxt_switches:", number, sizeof(number));
	return strtoull(number, NULL, 10);
}

static void read_wait(struct task *t)
{
	struct answer a;

	/* "0": it runs, or we may not know. */
	if (!ask_of(ASK_READ, t, "wchan", &a) && a.len && a.len < sizeof(t->wchan) &&
	    strcmp(a.text, "0"))
		memcpy(t->wchan, a.text, a.len + 1);
	if (!ask_of(ASK_READ, t, "syscall", &a) && a.len) {
		const char *args = strchr(a.text, ' ');
		size_t nr = strcspn(a.text, " \n");
		size_t arg = args ? strcspn(args + 1, " \n") : 0;

		snprintf(t->syscall, sizeof(t->syscall), "%.*s%s%.*s", (int)nr, a.text,
			 arg ? ":" : "", (int)arg, args ? args + 1 : "");
	}
}

static void put_line(struct buf *out, const struct task *t)
{
	buf_fmt(out, "task\t%d\t%d\t%d\t%c\t%ld\t%lx\t%s\t%s\t%s\t%s\t", t->tgid, t->tid,
		t->ppid, t->state, t->threads, t->flags, t->uid, t->tracer, t->swap, t->rss);
	buf_field(out, t->wchan, strlen(t->wchan));
	buf_fmt(out, "\t%s\t", t->syscall);
	buf_field(out, t->comm, strlen(t->comm));
	buf_str(out, "\n");
}

/* In a file system that somebody else serves; fuse_dev_ is who serves one. */
static bool is_foreign(const char *name)
{
	if (!strncmp(name, "fuse_dev_", 9))
		return false;
	return !strncmp(name, "fuse_", 5) || !strncmp(name, "nfs", 3) ||
	       !strncmp(name, "rpc_", 4) || !strncmp(name, "request_wait", 12);
}

static bool put_stack(struct buf *out, const struct task *t)
{
	bool foreign = false;
	struct answer a;
	char *rest, *line;
	char *copy;

	if (ask_of(ASK_READ, t, "stack", &a))
		return false;
	copy = rest = strdup(a.text);
	for (int i = 0; copy && i < FRAMES && (line = next_line(&rest)) != NULL; i++) {
		const char *name = strchr(line, ']');

		name = name ? name + 1 + strspn(name + 1, " ") : line;
		buf_str(out, "\tstack\t");
		buf_field(out, name, strcspn(name, "+/ "));
		buf_str(out, "\n");
		foreign = foreign || is_foreign(name);
	}
	free(copy);
	return foreign;
}

/* Of v2 where the task is in one, else the longest: that says most. */
static void put_cgroup(struct buf *out, const struct task *t)
{
	const char *best = "", *at;
	struct answer a;
	size_t most = 0;

	if (ask_of(ASK_READ, t, "cgroup", &a))
		return;
	for (at = a.text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		const char *path = strchr(at, ':');
		size_t len;

		path = path ? strchr(path + 1, ':') : NULL;
		if (!path)
			break;
		len = strcspn(++path, "\n");
		if (len > most || (!strncmp(at, "0::", 3) && len > 1)) {
			best = path;
			most = len;
		}
		if (!strncmp(at, "0::", 3) && len > 1)
			break;
	}
	if (!most)
		return;
	buf_str(out, "\tcgroup\t");
	buf_field(out, best, most);
	buf_str(out, "\n");
}

static void put_fds(struct buf *out, const struct task *t, bool all)
{
	char *copy, *rest, *line;
	struct answer a;

	if (ask_of(all ? ASK_ALL_FDS : ASK_FDS, t, "fd", &a))
		return;
	copy = rest = strdup(a.text);
	while (copy && (line = next_line(&rest)) != NULL) {
		size_t number = strcspn(line, " ");

		buf_fmt(out, "\tfd\t%.*s\t", (int)number, line);
		buf_field(out, line + number + 1, strlen(line + number + 1));
		buf_str(out, "\n");
	}
	free(copy);
	if (all && !ask_of(ASK_LINK, t, "cwd", &a)) {
		buf_str(out, "\tcwd\t");
		buf_field(out, a.text, a.len);
		buf_str(out, "\n");
	}
}

/* The number of threads, or -errno. */
static long one(struct buf *out, int tgid, int tid)
{
	struct task t = nobody;
	bool foreign = false;
	int ret;

	t.tgid = tgid;
	t.tid = tid;
	t.leader = tgid == tid;
	ret = read_stat(&t);
	if (ret)
		return ret;
	if (t.state == 'Z' || t.state == 'X') {
		put_line(out, &t);
		/* Where its parent is says whose it is: one line less for 28,000. */
		return t.threads;
	}
	if (!(t.flags & KTHREAD)) {
		if (t.leader || t.state == 't')
			read_status(&t);
		read_wait(&t);
	} else if (t.state == 'D') {
		read_wait(&t);
	}
	put_line(out, &t);
	if (t.leader && !(t.flags & KTHREAD))
		put_cgroup(out, &t);
	if (t.state == 'D' || (!(t.flags & KTHREAD) && t.state != 'R'))
		foreign = put_stack(out, &t) || is_foreign(t.wchan);
	if ((foreign || t.state == 'D') && nstuck < STUCK) {
		stuck[nstuck].tgid = tgid;
		stuck[nstuck].tid = tid;
		stuck[nstuck++].slept = read_slept(&t);
	}
	if (t.flags & KTHREAD)
		return t.threads;
	if (foreign || t.state == 'D')
		put_fds(out, &t, true);
	else if (t.leader)
		put_fds(out, &t, false);
	return t.threads;
}

static void others(struct buf *out, int tgid)
{
	char path[64], *copy, *rest, *line;
	struct answer a;

	snprintf(path, sizeof(path), "/proc/%d/task", tgid);
	if (step_ask_maybe(ASK_LIST, path, &a))
		return;
	copy = rest = strdup(a.text);
	while (copy && !step_late() && (line = next_line(&rest)) != NULL) {
		int tid = atoi(line + 2);

		if (tid > 0 && tid != tgid)
			one(out, tgid, tid);
	}
	free(copy);
}

static void process(struct buf *out, int tgid)
{
	/* A leader that is dead can have threads that live. */
	if (tgid > 0 && one(out, tgid, tgid) != 1)
		others(out, tgid);
}

static void one_by_one(struct buf *out)
{
	char *copy, *rest, *line;
	struct answer a;

	if (step_ask(ASK_LIST, "/proc", &a))
		return;
	copy = rest = strdup(a.text);
	while (copy && !step_late() && (line = next_line(&rest)) != NULL)
		process(out, atoi(line + 2));
	free(copy);
}

/*
 * A look at all at once first: of 28,000 zombies it is all that is needed, and to ask
 * for each alone is two context switches. If somebody hangs, each is asked alone.
 */
void tasks_run(struct buf *out)
{
	struct answer a;
	char *copy;

	buf_str(out, columns);
	if (step_ask(ASK_STATS, "/proc", &a)) {
		one_by_one(out);
		return;
	}
	copy = malloc(a.len + 1);
	if (!copy)
		return;
	memcpy(copy, a.text, a.len + 1);
	for (size_t at = 0; at < a.len && !step_late(); at += strlen(copy + at) + 1) {
		struct task t = nobody;

		t.tgid = atoi(copy + at);
		t.tid = t.tgid;
		if (!parse_stat(&t, copy + at) && t.state == 'Z' && t.threads <= 1)
			put_line(out, &t);
		else
			process(out, t.tgid);
	}
	free(copy);
}

/*
 * Half a second later, at least: who is stuck still, and where. Who waits for a server
 * on the network wakes to try again: what that server has sent since says more.
 */
void again_run(struct buf *out)
{
	buf_str(out, "# tid state wchan, once more, of who was stuck; how often it slept since\n");
	if (nstuck && step_is_real())
		nanosleep(&(struct timespec){ .tv_nsec = AGAIN_MS * 1000000L }, NULL);
	for (unsigned int i = 0; i < nstuck && !step_late(); i++) {
		struct task t = nobody;

		t.tgid = stuck[i].tgid;
		t.tid = stuck[i].tid;
		if (read_stat(&t))
			continue;
		read_wait(&t);
		buf_fmt(out, "%d\t%c\t", t.tid, t.state);
		buf_field(out, t.wchan, strlen(t.wchan));
		buf_fmt(out, "\t%llu\n", read_slept(&t) - stuck[i].slept);
	}
	if (nstuck)
		step_file(out, "/proc/self/mountstats");
}
