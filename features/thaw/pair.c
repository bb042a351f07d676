// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "pair.h"
#include "safety.h"
#include "util.h"

static const struct pair_kind *const tables[] = {
	pair_poll_kinds, pair_pipe_kinds, pair_socket_kinds, pair_signal_kinds, pair_time_kinds,
};

const struct pair_kind *pair_kind(unsigned int i)
{
	for (size_t t = 0; t < ARRAY_SIZE(tables); t++) {
		for (const struct pair_kind *kind = tables[t]; kind->name; kind++) {
			if (!i--)
				return kind;
		}
	}
	return NULL;
}

const struct pair_kind *pair_kind_named(const char *name)
{
	const struct pair_kind *kind;

	for (unsigned int i = 0; (kind = pair_kind(i)); i++) {
		if (!strcmp(kind->name, name))
			return kind;
	}
	fail(STATUS_USAGE, name, "there is no kind of wait '%s'", name);
	return NULL;
}

int pair_open(struct pair *p, const struct pair_kind *kind)
{
	memset(p, 0, sizeof(*p));
	p->kind = kind;
	p->in = p->out = p->watch = -1;
	if (!kind->open || !kind->open(p))
		return 0;
	return fail(STATUS_FAILED, kind->name, "cannot wait in %s: %s", kind->name,
		    strerror(errno));
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void pair_close(struct pair *p)
{
	if (!p->kind)
		return;
	if (p->out == p->in)
		p->out = -1;
	close_one(&p->in);
	close_one(&p->out);
	close_one(&p->watch);
	p->kind = NULL;
}

void pair_start(struct pair *p)
{
	p->sleeper = getpid();
	if (p->kind->start && p->kind->start(p) < 0)
		p->error = errno;
	p->ready = 1;
}

int pair_wait_asleep(const struct pair *p)
{
	if (!trial_reaches(&p->ready, 1))
		return fail(STATUS_FAILED, p->kind->name, "the sleeper never started");
	if (p->error)
		return fail(STATUS_LACKING, p->kind->name, "cannot wait in %s: %s", p->kind->name,
			    strerror(p->error));
	return trial_state_wait(p->sleeper, "S");
}

int pair_open_pipe(struct pair *p)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	p->in = fds[0];
	p->out = fds[1];
	return 0;
}

int pair_send(struct pair *p, uint32_t n)
{
	return write(p->out, &n, sizeof(n)) == sizeof(n) ? 0 : -1;
}

int64_t pair_take(struct pair *p)
{
	uint64_t value = 0;
	ssize_t n = read(p->in, &value, sizeof(value));

	if (n < 0)
		return errno == EAGAIN ? 0 : -1;
	/* A timer tells how often it has expired. */
	return p->kind->arm ? p->sent : (int64_t)(uint32_t)value;
}
