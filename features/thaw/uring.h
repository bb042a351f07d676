/* SPDX-License-Identifier: GPL-2.0-only */
/* As much of io_uring as it takes to wait in it: one request at a time. */
#ifndef LULL_THAW_URING_H
#define LULL_THAW_URING_H

#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uring {
	int fd;
	unsigned int to_submit;
	unsigned int *sq_tail, *sq_mask, *sq_array;
	unsigned int *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
	struct __kernel_timespec until;
};

/* 0, or -1 with errno. */
int uring_open(struct uring *ring);
/* Requests for the next wait to submit; `until` is of CLOCK_MONOTONIC. */
void uring_read(struct uring *ring, int fd, void *to, unsigned int size);
void uring_timeout(struct uring *ring, uint64_t until_ns);
/* Until something is done: 0, or -1 with errno. */
int uring_wait(struct uring *ring, int64_t ns);
/* What is done, if anything is. */
bool uring_result(struct uring *ring, int *result);

#endif
