// SPDX-License-Identifier: GPL-2.0-only
/*
 * A family that refuses the flags it does not know still does: no flag of recv()
 * is taken away on its way there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "safety.h"
#include "util.h"
#include "workload.h"

/* All that AF_PACKET knows; the highest bit means nothing to recv(). */
#define KNOWN (MSG_PEEK | MSG_DONTWAIT | MSG_TRUNC | MSG_ERRQUEUE)
#define BITS 31

static int fd = -1;

/* What it says where there is nothing to receive. */
static int answer(int flag)
{
	char byte;

	return recv(fd, &byte, sizeof(byte), MSG_DONTWAIT | flag) < 0 ? errno : 0;
}

static int flags_round(const struct job_case *c, const char *mode, struct sample *s)
{
	char text[160], wrong[80] = "none";
	unsigned int n = 0;

	for (unsigned int bit = 0; bit < BITS; bit++) {
		int flag = 1 << bit, error = answer(flag);

		if (error == (flag & KNOWN ? EAGAIN : EINVAL))
			continue;
		if (!n++)
			snprintf(wrong, sizeof(wrong), "%#x: %s", flag, strerror(error));
	}
	sample_add(s, "wrong", n);
	snprintf(text, sizeof(text), "%s: %u of %u flags answered otherwise; the first: %s", mode,
		 n, BITS, wrong);
	return report_check(c, "ABI", !n, text);
}

static int flags_setup(const struct job_case *c)
{
	if (trial_setup(c) < 0)
		return -1;
	/* Of no protocol: it receives nothing. */
	fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return fd < 0 ? fail(STATUS_LACKING, "AF_PACKET", "no socket: %s", strerror(errno)) : 0;
}

static void flags_teardown(void)
{
	if (fd >= 0)
		close(fd);
	fd = -1;
}

static const struct workload_param params[] = { TRIAL_PARAMS, { 0 } };

static const struct workload workload_flags = {
	.feature = "thaw",
	.name = "flags",
	.text = "what recv() answers to each flag, where a family refuses those it does not know",
	.params = params,
	.setup = flags_setup,
	.round = flags_round,
	.teardown = flags_teardown,
};
WORKLOAD(workload_flags);
