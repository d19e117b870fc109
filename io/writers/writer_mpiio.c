/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole array handed to the library in collective calls, as on the CM-2 of [F93]: the view of
 * each rank is its box of the global array, set once; the extent of its file type is a dump, so
 * dump d begins after d times my bytes. A dump is one call, where no rank has more than goes into
 * one. */
#include "base/err.h"
#include "base/par.h"
#include "base/stop.h"
#include "io/writers/fd.h"
#include "io/writers/guard.h"
#include "io/writers/mpiio.h"

static int mpiio_open(void *state, const struct io_context *ctx)
{
    return io_mpiio_open(state, ctx, true);
}

/* After an error a rank still makes the remaining calls: they are collective. */
static int mpiio_write(void *state, const struct io_context *ctx, int64_t dump, const void *buf)
{
    static const char call[] = "MPI_File_write_at_all";
    const struct io_mpiio *m = state;
    int rc = 0;
    for (int64_t i = 0; i < m->pieces_n; i++) {
        const struct io_mpiio_piece p = io_mpiio_piece(m, ctx, i);
        MPI_Status status;
        ++*ctx->requests_n;
        io_guard_at(call);
        int mpi_rc =
            MPI_File_write_at_all(m->fh, (MPI_Offset)(dump * m->mine_bytes + p.start),
                                  (const char *)buf + p.start, (int)p.bytes, MPI_BYTE, &status);
        io_guard_at(NULL);
        int wrote = io_mpiio_wrote(m, ctx, mpi_rc, call, &status, dump, buf, p);
        if (rc == 0) rc = wrote;
    }
    return rc;
}

/* Piece by piece, so that a rank has no second dump in memory. While one is read the ranks ask each
 * other whether one of them has failed or was asked to stop: then all end behind that piece. */
static int mpiio_read(void *state, const struct io_context *ctx, int64_t dump,
                      const struct io_taker *to)
{
    static const char call[] = "MPI_File_read_at_all";
    const struct io_mpiio *m = state;
    int rc = 0, end = 0;
    for (int64_t i = 0; i < m->pieces_n && !end; i++) {
        const struct io_mpiio_piece p = io_mpiio_piece(m, ctx, i);
        MPI_Status status;
        MPI_Request asked;
        if (rc == 0 && stop_requested()) rc = io_fd_interrupted(ctx);
        const int mine = rc < 0;
        TRY_MPI(MPI_Iallreduce(&mine, &end, 1, MPI_INT, MPI_MAX, ctx->comm, &asked));
        ++*ctx->requests_n;
        io_guard_at(call);
        int mpi_rc = MPI_File_read_at_all(m->fh, (MPI_Offset)(dump * m->mine_bytes + p.start),
                                          ctx->part, (int)p.bytes, MPI_BYTE, &status);
        io_guard_at(NULL);
        if (rc == 0) rc = io_mpiio_got(m, ctx, mpi_rc, call, &status, dump, ctx->part, p);
        if (rc == 0) to->take(to->state, ctx->view, ctx->part, p.start, p.bytes);
        TRY_MPI(MPI_Wait(&asked, MPI_STATUS_IGNORE));
    }
    return rc;
}

const struct io_writer io_writer_mpiio = {
    .name = "mpiio",
    .help = "MPI-IO, one collective write of a subarray view per dump",
    .caps = IO_CAP_SERIAL_FILE | IO_CAP_HINTS | IO_CAP_COLLECTIVE | IO_CAP_YARDSTICK,
    .needs = IO_NEED_COLLECTIVE | IO_NEED_VIEW | IO_NEED_SYNC,
    .state_size = sizeof(struct io_mpiio),
    .open = mpiio_open,
    .write = mpiio_write,
    .read = mpiio_read,
    .sync = io_mpiio_sync,
    .close = io_mpiio_close,
    .describe = io_mpiio_describe,
};
