/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MPI-IO without collective calls: one MPI_File_write_at for each extent, at its own offset, and
 * MPI_File_read_at for what io/writers/pick.h puts together. */
#include "io/writers/mpiio.h"
#include "io/writers/pick.h"

static int indep_open(void *state, const struct io_context *ctx)
{
    return io_mpiio_open(state, ctx, false);
}

static int indep_write(void *state, const struct io_context *ctx, int64_t dump, const void *buf)
{
    const struct io_mpiio *m = state;
    return io_mpiio_write_piece(m, ctx, dump, buf, (struct io_mpiio_piece){0, m->mine_bytes});
}

static int pick_from_library(const struct io_pick *p, char *to, int64_t bytes, int64_t offset)
{
    return io_mpiio_read(p->source, p->ctx, to, bytes, offset);
}

static int indep_read(void *state, const struct io_context *ctx, int64_t dump,
                      const struct io_taker *to)
{
    return io_pick_dump(pick_from_library, state, ctx, dump, to);
}

const struct io_writer io_writer_mpiio_indep = {
    .name = "mpiio-indep",
    .help = "MPI-IO, one independent write per contiguous piece",
    .caps = IO_CAP_SERIAL_FILE | IO_CAP_HINTS,
    .needs = IO_NEED_INDEPENDENT | IO_NEED_SYNC,
    .state_size = sizeof(struct io_mpiio),
    .open = indep_open,
    .write = indep_write,
    .read = indep_read,
    .sync = io_mpiio_sync,
    .close = io_mpiio_close,
    .describe = io_mpiio_describe,
};
