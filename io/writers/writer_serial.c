/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One writer, as on the Cray of [F93]: rank 0 collects the dump piece by piece and writes long
 * contiguous ranges.
 *
 *     file range     [0, C)      [C, 2C)     [2C, 3C) ...      C = SERIAL_CHUNK_BYTES
 *     rank r sends   the part of its staged stream that falls into the range, if any
 *     rank 0         spreads the parts over the range by r's extents, then writes the range
 *
 * A staged stream is in file order, so a rank's part of a range is contiguous in its buffer. Sends
 * are synchronous: rank 0 never holds more than one range and one part, however far ahead a sender
 * may be. Reading is that of a single aggregator (io/writers/gather.h). */
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/par.h"
#include "io/cursor.h"
#include "io/writers/writer.h"
#include "io/writers/fd.h"
#include "io/writers/gather.h"

#define SERIAL_CHUNK_BYTES (INT64_C(4) << 20)
#define SERIAL_TAG         2

struct serial_state {
    int fd;                    /* rank 0; first: io/writers/fd.h has the slots */
    char *range, *part;        /* [SERIAL_CHUNK_BYTES] rank 0 */
    struct io_cursor *cursors; /* [size] rank 0 */
    struct io_context ctx;     /* for reading: with one aggregator */
    struct io_gather gather;   /* for reading */
};

static int serial_open(void *state, const struct io_context *ctx)
{
    struct serial_state *s = state;
    s->fd = -1;
    if (ctx->plan) {
        s->ctx = *ctx;
        s->ctx.tuning.aggregators = 1;
        TRY(io_gather_open(&s->gather, &s->ctx, 1));
    }
    if (ctx->rank != 0) return 0;
    if (ctx->plan) return io_fd_open(ctx, &s->fd);
    s->range = buffer_new(SERIAL_CHUNK_BYTES);
    s->part = buffer_new(SERIAL_CHUNK_BYTES);
    s->cursors = calloc((size_t)ctx->size, sizeof *s->cursors);
    if (!s->range || !s->part || !s->cursors) return mem_error("collecting dumps on rank 0");
    return io_fd_open(ctx, &s->fd);
}

/* Sends my part of every range that has one. */
static int send_to_rank0(const struct io_context *ctx, const void *buf)
{
    struct io_cursor c;
    io_cursor_start(&c, ctx->view);
    for (int64_t end = SERIAL_CHUNK_BYTES; c.left.length_bytes > 0; end += SERIAL_CHUNK_BYTES) {
        const char *part = (const char *)buf + c.left.buffer_bytes;
        const int64_t bytes = io_cursor_skip(&c, end, NULL);
        if (bytes == 0) continue;
        TRY_MPI(MPI_Ssend(part, (int)bytes, MPI_BYTE, 0, SERIAL_TAG, ctx->comm));
    }
    return 0;
}

/* Rank r's part of the range [start, end): received unless r is this rank, whose buffer is mine. */
static int take_part(struct serial_state *s, const struct io_context *ctx, int r, const char *mine,
                     int64_t start, int64_t end)
{
    struct io_cursor *c = &s->cursors[r];
    if (!io_cursor_before(c, end)) return 0;
    int64_t origin = c->left.buffer_bytes; /* of the part in r's staging buffer */
    const char *part = mine + origin;
    struct io_extent e;
    if (r != ctx->rank) {
        TRY_MPI(MPI_Recv(s->part, (int)SERIAL_CHUNK_BYTES, MPI_BYTE, r, SERIAL_TAG, ctx->comm,
                         MPI_STATUS_IGNORE));
        part = s->part;
    }
    while (io_cursor_take(c, end, &e)) {
        memcpy(s->range + (e.offset_bytes - start), part + (e.buffer_bytes - origin),
               (size_t)e.length_bytes);
    }
    return 0;
}

/* Collects all ranges and writes them. After a failed write it goes on receiving, because the
 * senders wait for it. */
static int collect(struct serial_state *s, const struct io_context *ctx, int64_t dump,
                   const void *buf)
{
    int rc = 0;
    for (int r = 0; r < ctx->size; r++) {
        io_cursor_start(&s->cursors[r], &ctx->all_views[r]);
    }
    for (int64_t start = 0; start < ctx->dump_bytes; start += SERIAL_CHUNK_BYTES) {
        int64_t end = start + SERIAL_CHUNK_BYTES;
        if (end > ctx->dump_bytes) end = ctx->dump_bytes;
        for (int r = 0; r < ctx->size; r++) {
            TRY(take_part(s, ctx, r, buf, start, end));
        }
        if (rc < 0) continue;
        rc = io_fd_write(ctx, s->fd, s->range, end - start, dump * ctx->dump_bytes + start);
    }
    return rc;
}

static int serial_write(void *state, const struct io_context *ctx, int64_t dump, const void *buf)
{
    return ctx->rank == 0 ? collect(state, ctx, dump, buf) : send_to_rank0(ctx, buf);
}

static int serial_read(void *state, const struct io_context *ctx, int64_t dump,
                       const struct io_taker *to)
{
    struct serial_state *s = state;
    struct io_fd_source fd = {.ctx = ctx, .fd = s->fd};
    return io_gather_spread(&s->gather, dump, &(struct io_source){&fd, io_fd_source_get}, to);
}

static int serial_close(void *state, const struct io_context *ctx)
{
    struct serial_state *s = state;
    free(s->range);
    free(s->part);
    free(s->cursors);
    io_gather_free(&s->gather);
    return io_fd_close(ctx, &s->fd);
}

const struct io_writer io_writer_serial = {
    .name = "serial",
    .help = "rank 0 collects the dump and writes it in long ranges",
    .caps = IO_CAP_SERIAL_FILE,
    .state_size = sizeof(struct serial_state),
    .open = serial_open,
    .write = serial_write,
    .read = serial_read,
    .sync = io_fd_slot_sync,
    .close = serial_close,
};
