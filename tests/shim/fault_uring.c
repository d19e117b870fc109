/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of the shim that stands in front of liburing. Writes and reads by io_uring pass no function of
 * the C library: they are queue entries that the kernel takes, and it is there, between liburing's
 * submit and the kernel, that one of them is spoilt. What then fails is the kernel's own answer: a
 * write to a full device for ENOSPC, one to or from memory that is not there for EIO, half of it for
 * short, a read of an empty device for end.
 *
 *   uring_init     the making of a ring, which a kernel may refuse
 *   uring_submit   the handing over of entries; the kernel gets none of them
 *   uring_write    an entry that writes to a file
 *   uring_read     one that reads from a file
 *   uring_wait     waiting for an answer; how often that is needed is a matter of time */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>

#include "fault.h"

/* Named as liburing does. */
int __io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **cqe, unsigned submit,
                       unsigned wait_n, sigset_t *mask);

static int errnum_now(void)
{
    return fault_errnum() ? fault_errnum() : EIO;
}

/* A file where every write or read comes to that. Opened once, which is no call of the program's. */
static int broken_file(int errnum)
{
    static int full = -1, gone = -1, empty = -1;
    int *fd = errnum == ENOSPC ? &full : errnum == FAULT_END ? &empty : &gone;
    const char *path = errnum == ENOSPC      ? "/dev/full"
                       : errnum == FAULT_END ? "/dev/null"
                                             : "/proc/self/mem";
    if (*fd < 0) *fd = open(path, O_RDWR | O_CLOEXEC);
    if (*fd < 0) abort();
    return *fd;
}

static unsigned half(unsigned bytes)
{
    const unsigned block = 4096; /* direct writes come in blocks */
    return bytes >= 2 * block ? bytes / 2 / block * block : bytes / 2;
}

static void spoil(struct io_uring_sqe *sqe)
{
    const bool reads = sqe->opcode == IORING_OP_READ;
    if (!reads && sqe->opcode != IORING_OP_WRITE) return;
    if (!fault_now_fd(reads ? URING_READ : URING_WRITE, sqe->fd)) return;
    if (fault_errnum() == 0) {
        sqe->len = half(sqe->len);
        return;
    }
    sqe->fd = broken_file(fault_errnum());
    sqe->off = 0;
}

int io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags)
{
    int (*real)(unsigned, struct io_uring *, unsigned) = fault_next("io_uring_queue_init");
    return fault_now(URING_INIT, "io_uring") ? -errnum_now() : real(entries, ring, flags);
}

int io_uring_submit(struct io_uring *ring)
{
    int (*real)(struct io_uring *) = fault_next("io_uring_submit");
    if (fault_now(URING_SUBMIT, "io_uring")) return -errnum_now();
    for (unsigned i = ring->sq.sqe_head; i != ring->sq.sqe_tail; i++)
        spoil(&ring->sq.sqes[i & ring->sq.ring_mask]);
    return real(ring);
}

int __io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **cqe, unsigned submit,
                       unsigned wait_n, sigset_t *mask)
{
    int (*real)(struct io_uring *, struct io_uring_cqe **, unsigned, unsigned, sigset_t *) =
        fault_next("__io_uring_get_cqe");
    if (wait_n > 0 && fault_now(URING_WAIT, "io_uring")) return -errnum_now();
    return real(ring, cqe, submit, wait_n, mask);
}
