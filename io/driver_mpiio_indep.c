/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MPI-IO without collective calls: one MPI_File_write_at for each extent, at its own offset. */
#include "base/err.h"
#include "io/mpiio.h"

/* Counts are ints. */
#define INDEP_CALL_BYTES (INT64_C(1) << 30)

struct indep_state {
    MPI_File fh;
};

static int indep_open(void *state, const struct io_context *ctx)
{
    struct indep_state *s = state;
    return io_mpiio_open(ctx, &s->fh);
}

static int write_extent(MPI_File fh, const struct io_context *ctx, int64_t offset, const char *buf,
                        int64_t bytes)
{
    for (int64_t done = 0; done < bytes;) {
        MPI_Status status;
        int64_t piece = bytes - done;
        if (piece > INDEP_CALL_BYTES) piece = INDEP_CALL_BYTES;
        ++*ctx->requests_n;
        int mpi_rc = MPI_File_write_at(fh, (MPI_Offset)(offset + done), buf + done, (int)piece,
                                       MPI_BYTE, &status);
        TRY(io_mpiio_check(ctx, mpi_rc, "MPI_File_write_at", &status, piece));
        done += piece;
    }
    return 0;
}

static int indep_write(void *state, const struct io_context *ctx, int64_t dump, const void *buf)
{
    struct indep_state *s = state;
    const int64_t start = dump * ctx->dump_bytes;
    struct io_walk w;
    struct io_extent e;
    for (io_walk_start(&w, ctx->view); io_walk_next(&w, &e);) {
        TRY(write_extent(s->fh, ctx, start + e.offset_bytes, (const char *)buf + e.buffer_bytes,
                         e.length_bytes));
    }
    return 0;
}

static int indep_sync(void *state, const struct io_context *ctx)
{
    struct indep_state *s = state;
    return io_mpiio_sync(ctx, s->fh);
}

static int indep_close(void *state, const struct io_context *ctx)
{
    struct indep_state *s = state;
    return io_mpiio_close(ctx, &s->fh);
}

static int indep_describe(void *state, const struct io_context *ctx, json_t *into)
{
    struct indep_state *s = state;
    return io_mpiio_describe(ctx, s->fh, into);
}

const struct io_driver io_driver_mpiio_indep = {
    .name = "mpiio-indep",
    .help = "MPI-IO, one independent write per contiguous piece",
    .caps = IO_CAP_SERIAL_FILE | IO_CAP_HINTS,
    .state_size = sizeof(struct indep_state),
    .open = indep_open,
    .write = indep_write,
    .sync = indep_sync,
    .close = indep_close,
    .describe = indep_describe,
};
