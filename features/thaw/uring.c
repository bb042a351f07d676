// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "uring.h"

#define ENTRIES 4

static void *map(int fd, size_t size, off_t what)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, what);
}

int uring_open(struct uring *ring)
{
	struct io_uring_params params = { 0 };
	char *rings;
	size_t size;

	ring->fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &params);
	if (ring->fd < 0)
		return -1;
	/* Both rings are in one mapping, as of Linux 5.4. */
	size = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
	rings = map(ring->fd, size, IORING_OFF_SQ_RING);
	ring->sqes = map(ring->fd, params.sq_entries * sizeof(struct io_uring_sqe),
			 IORING_OFF_SQES);
	if (rings == MAP_FAILED || ring->sqes == MAP_FAILED)
		return -1;
	ring->to_submit = 0;
	ring->sq_tail = (unsigned int *)(rings + params.sq_off.tail);
	ring->sq_mask = (unsigned int *)(rings + params.sq_off.ring_mask);
	ring->sq_array = (unsigned int *)(rings + params.sq_off.array);
	ring->cq_head = (unsigned int *)(rings + params.cq_off.head);
	ring->cq_tail = (unsigned int *)(rings + params.cq_off.tail);
	ring->cq_mask = (unsigned int *)(rings + params.cq_off.ring_mask);
	ring->cqes = (struct io_uring_cqe *)(rings + params.cq_off.cqes);
	return 0;
}

static void queue(struct uring *ring, const struct io_uring_sqe *sqe)
{
	unsigned int tail = *ring->sq_tail, at = tail & *ring->sq_mask;

	ring->sqes[at] = *sqe;
	ring->sq_array[at] = at;
	__atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
	ring->to_submit++;
}

void uring_read(struct uring *ring, int fd, void *to, unsigned int size)
{
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_READ,
		.fd = fd,
		.addr = (uintptr_t)to,
		.len = size,
	};

	queue(ring, &sqe);
}

void uring_timeout(struct uring *ring, uint64_t until_ns)
{
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_TIMEOUT,
		.fd = -1,
		.addr = (uintptr_t)&ring->until,
		.len = 1,
		.timeout_flags = IORING_TIMEOUT_ABS,
	};

	ring->until.tv_sec = (long long)(until_ns / 1000000000);
	ring->until.tv_nsec = (long long)(until_ns % 1000000000);
	queue(ring, &sqe);
}

int uring_wait(struct uring *ring, int64_t ns)
{
	struct __kernel_timespec limit = { ns / 1000000000, ns % 1000000000 };
	struct io_uring_getevents_arg arg = { .ts = ns < 0 ? 0 : (uintptr_t)&limit };
	long n;

	/*
	 * In a call of its own: after an error of a call that did both one could
	 * not tell what it has done.
	 */
	while (ring->to_submit) {
		n = syscall(SYS_io_uring_enter, ring->fd, ring->to_submit, 0, 0, NULL, 0);
		if (n < 0)
			return -1;
		ring->to_submit -= (unsigned int)n;
	}
	n = syscall(SYS_io_uring_enter, ring->fd, 0, 1,
		    IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &arg, sizeof(arg));
	if (n >= 0)
		return 0;
	if (errno == ETIME)
		errno = ETIMEDOUT;
	return -1;
}

bool uring_result(struct uring *ring, int *result)
{
	unsigned int head = *ring->cq_head;

	if (head == __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE))
		return false;
	*result = ring->cqes[head & *ring->cq_mask].res;
	__atomic_store_n(ring->cq_head, head + 1, __ATOMIC_RELEASE);
	return true;
}
