/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_RUNS_H
#define WORKLOAD_RUNS_H
/* Layer 2, free of MPI and of every library. The accesses of one process, one by one, as runs: calls of
 * one function on one file, of the same size, whose offsets and whose numbers among all calls of the
 * process are arithmetic progressions:
 *
 *     call i of a run, 0 <= i < n:  offset + i stride,  number order + i step
 *
 * With their numbers, runs that were made in turns (a header, a record, a header, ...) give back the order
 * of all calls. Random offsets take a run for each two of them. */
#include <stdbool.h>
#include <stdint.h>

/* What moves the pointer of the file, what does not, and flushing. */
enum workload_run_call {
    WORKLOAD_RUN_READ,
    WORKLOAD_RUN_WRITE,
    WORKLOAD_RUN_PREAD,
    WORKLOAD_RUN_PWRITE,
    WORKLOAD_RUN_FSYNC,
    WORKLOAD_RUN_FDATASYNC,
    WORKLOAD_RUN_CALLS
};

/* How the file was open: one of the first three, and the others by their bits. */
enum workload_run_flags {
    WORKLOAD_RUN_RDONLY = 0,
    WORKLOAD_RUN_WRONLY = 1,
    WORKLOAD_RUN_RDWR = 2,
    WORKLOAD_RUN_DIRECT = 4,
    WORKLOAD_RUN_SYNC = 8,
    WORKLOAD_RUN_DSYNC = 16,
    WORKLOAD_RUN_TRUNC = 32,
    WORKLOAD_RUN_APPEND = 64,
    WORKLOAD_RUN_FLAGS = 128
};

struct workload_run {
    int32_t file;
    int16_t call, flags;
    int64_t offset, bytes, stride; /* bytes: of each call; of a single call stride and step are 0 */
    int64_t n;
    int64_t order, step;
};

/* Bytes of a file. */
struct workload_piece {
    int64_t file, begin, end;
};

static inline bool workload_run_writes(const struct workload_run *r)
{
    return r->call == WORKLOAD_RUN_WRITE || r->call == WORKLOAD_RUN_PWRITE;
}

static inline bool workload_run_reads(const struct workload_run *r)
{
    return r->call == WORKLOAD_RUN_READ || r->call == WORKLOAD_RUN_PREAD;
}

/* Takes a call, a run of one, into a run if it goes on there; returns whether. Its number must be above
 * those of the run. Offsets are not negative, so that no difference of them overflows. */
static inline bool workload_run_join(struct workload_run *r, const struct workload_run *one)
{
    const int64_t last = r->offset + (r->n - 1) * r->stride,
                  latest = r->order + (r->n - 1) * r->step;
    if (r->file != one->file || r->call != one->call || r->flags != one->flags ||
        r->bytes != one->bytes)
        return false;
    if (r->n > 1 && (one->offset - last != r->stride || one->order - latest != r->step))
        return false;
    r->stride = one->offset - last;
    r->step = one->order - latest;
    r->n++;
    return true;
}

#endif
