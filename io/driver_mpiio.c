/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole array handed to the library in one collective write per dump, as on the CM-2 of [F93]:
 * the view of each rank is its box of the global array, set once; the extent of its file type is a
 * dump, so dump d begins after d times my bytes. */
#include "base/err.h"
#include "io/mpiio.h"

struct mpiio_state {
    MPI_File fh;
    MPI_Datatype memory_type; /* a whole staging buffer */
    int64_t mine_bytes;
};

static int mpiio_open(void *state, const struct io_context *ctx)
{
    struct mpiio_state *s = state;
    s->memory_type = MPI_DATATYPE_NULL;
    s->mine_bytes = io_view_bytes(ctx->view);
    TRY(io_mpiio_open(ctx, &s->fh));
    int rc = io_mpiio_set_view(ctx, s->fh);
    int type_rc = io_mpiio_bytes_type(s->mine_bytes, &s->memory_type);
    return rc < 0 ? rc : type_rc;
}

static int mpiio_write(void *state, const struct io_context *ctx, int64_t dump, const void *buf)
{
    struct mpiio_state *s = state;
    MPI_Status status;
    int count = s->mine_bytes > 0 ? 1 : 0;
    ++*ctx->requests_n;
    int mpi_rc = MPI_File_write_at_all(s->fh, (MPI_Offset)(dump * s->mine_bytes), buf, count,
                                       s->memory_type, &status);
    return io_mpiio_check(ctx, mpi_rc, "MPI_File_write_at_all", count ? &status : NULL,
                          s->mine_bytes);
}

static int mpiio_sync(void *state, const struct io_context *ctx)
{
    struct mpiio_state *s = state;
    return io_mpiio_sync(ctx, s->fh);
}

static int mpiio_close(void *state, const struct io_context *ctx)
{
    struct mpiio_state *s = state;
    int rc = io_mpiio_close(ctx, &s->fh);
    if (s->memory_type != MPI_DATATYPE_NULL) MPI_Type_free(&s->memory_type);
    return rc;
}

static int mpiio_describe(void *state, const struct io_context *ctx, json_t *into)
{
    struct mpiio_state *s = state;
    return io_mpiio_describe(ctx, s->fh, into);
}

const struct io_driver io_driver_mpiio = {
    .name = "mpiio",
    .help = "MPI-IO, one collective write of a subarray view per dump",
    .caps = IO_CAP_SERIAL_FILE | IO_CAP_COLLECTIVE | IO_CAP_HINTS,
    .state_size = sizeof(struct mpiio_state),
    .open = mpiio_open,
    .write = mpiio_write,
    .sync = mpiio_sync,
    .close = mpiio_close,
    .describe = mpiio_describe,
};
