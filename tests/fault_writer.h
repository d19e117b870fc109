/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_FAULT_WRITER_H
#define TESTS_FAULT_WRITER_H
/* A writer that is on no list, and a pwrite and a pread that stand in front of the C library's: all do
 * what a plan says.
 *
 * Method. The fault writer forwards every call to an inner writer, then, on the planned rank and at
 * the planned number of the planned call, throws the result away and reports a failure; so the
 * inner writer's messages between ranks take place as they would, and what is tested is whether the
 * failure of one rank reaches all of them. The pwrite of this file is found by the linker before
 * the C library's, so writers under test call it: it can fail with an errno value, write less than
 * it was asked to, be interrupted, or write nothing and say so. The same goes for pread. What MPI-IO
 * libraries and io_uring do meets neither; tests/fault_sites does that for them. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "io/writers/writer.h"

enum fault_call { FAULT_NOWHERE, FAULT_OPEN, FAULT_WRITE, FAULT_SYNC, FAULT_CLOSE };

struct fault_plan {
    enum fault_call call; /* of the writer */
    int nth;              /* which of these calls fails, from 1 */
    int rank;             /* where */
    const char *inner;    /* name of the writer behind */
    int made[FAULT_CLOSE + 1];
};

static struct fault_plan fault;

struct fault_state {
    const struct io_writer *inner;
    void *state;
};

static inline int fault_result(enum fault_call call, const struct io_context *ctx, int rc)
{
    bool now = ++fault.made[call] == fault.nth && fault.call == call && fault.rank == ctx->rank;
    return now ? err_set(ERR_IO, "planned failure of call %d", (int)call) : rc;
}

static inline int fault_open(void *state, const struct io_context *ctx)
{
    struct fault_state *s = state;
    s->inner = io_writer_find(fault.inner);
    s->state = calloc(1, s->inner->state_size + 1);
    return fault_result(FAULT_OPEN, ctx, s->inner->open(s->state, ctx));
}

static inline int fault_write(void *state, const struct io_context *ctx, int64_t dump,
                              const void *buf)
{
    struct fault_state *s = state;
    return fault_result(FAULT_WRITE, ctx, s->inner->write(s->state, ctx, dump, buf));
}

static inline int fault_sync(void *state, const struct io_context *ctx)
{
    struct fault_state *s = state;
    return fault_result(FAULT_SYNC, ctx, s->inner->sync(s->state, ctx));
}

static inline int fault_close(void *state, const struct io_context *ctx)
{
    struct fault_state *s = state;
    int rc = s->inner->close(s->state, ctx);
    free(s->state);
    return fault_result(FAULT_CLOSE, ctx, rc);
}

static const struct io_writer fault_writer = {
    .name = "fault",
    .help = "fails when told to",
    .caps = IO_CAP_SERIAL_FILE,
    .state_size = sizeof(struct fault_state),
    .open = fault_open,
    .write = fault_write,
    .sync = fault_sync,
    .close = fault_close,
};

/* What the n-th pwrite of this process does; the others are real. */
struct pwrite_plan {
    int nth;          /* from 1; 0: all are real */
    int errnum;       /* fail with this, or */
    bool half;        /* write half of what was asked, or */
    bool nothing;     /* write nothing and return 0 */
    bool from_then;   /* not only the n-th, every one from there on */
    atomic_bool hold; /* writes of dumps wait until this is taken back; of a journal they do not */
    int made;
};

static struct pwrite_plan pwrite_fault;

/* What the n-th pread does, as above; nothing: as at the end of a file. */
static struct pread_plan {
    int nth, errnum;
    bool half, nothing;
    int made;
} pread_fault;

ssize_t pread(int fd, void *buf, size_t bytes, off_t offset)
{
    const struct pread_plan *p = &pread_fault;
    const bool now = ++pread_fault.made == p->nth;
    if (now && p->errnum) {
        errno = p->errnum;
        return -1;
    }
    if (now && p->nothing) return 0;
    if (now && p->half && bytes > 1) bytes /= 2;
    return (ssize_t)syscall(SYS_pread64, fd, buf, bytes, offset);
}

static bool is_journal(int fd)
{
    char link[64], name[1024];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, name, sizeof name);
    return n > 8 && memcmp(name + n - 8, ".journal", 8) == 0;
}

ssize_t pwrite(int fd, const void *buf, size_t bytes, off_t offset)
{
    const struct pwrite_plan *p = &pwrite_fault;
    int made = ++pwrite_fault.made;
    while (atomic_load(&pwrite_fault.hold) && !is_journal(fd))
        usleep(1000);
    bool now = p->nth && (made == p->nth || (p->from_then && made > p->nth));
    if (now && p->errnum) {
        errno = p->errnum;
        return -1;
    }
    if (now && p->nothing) return 0;
    if (now && p->half && bytes > 1) bytes /= 2;
    return (ssize_t)syscall(SYS_pwrite64, fd, buf, bytes, offset);
}

#endif
