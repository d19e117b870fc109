/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two phases: the ranks bring a dump to a few aggregators (io/writers/gather.h), and each of those writes
 * one long contiguous range, piece by piece. A piece that one rank's staging buffer already holds in file
 * order is written from there. */
#include <stdlib.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "io/writers/writer.h"
#include "io/writers/fd.h"
#include "io/writers/gather.h"

struct twophase_state {
    int fd; /* first: io/writers/fd.h has the slots */
    const struct io_context *ctx;
    struct io_gather gather;
    char *piece; /* [buffer_bytes] of an aggregator */
    int rc;      /* after an error nothing more of this dump is written */
};

static int twophase_open(void *state, const struct io_context *ctx)
{
    struct twophase_state *s = state;
    s->ctx = ctx;
    s->fd = -1;
    TRY(io_gather_open(&s->gather, ctx, 1));
    if (s->gather.own < 0) return 0;
    const int64_t bytes = num_min(ctx->tuning.buffer_bytes, io_gather_bytes_max(&s->gather));
    if (!ctx->plan) s->piece = buffer_new((size_t)bytes);
    if (!ctx->plan && !s->piece) return mem_error("a buffer of an aggregator");
    return io_fd_open(ctx, &s->fd);
}

static char *twophase_place(void *state, int64_t start, int64_t bytes)
{
    struct twophase_state *s = state;
    (void)start, (void)bytes;
    return s->piece;
}

static int twophase_take(void *state, const char *data, int64_t start, int64_t bytes)
{
    struct twophase_state *s = state;
    if (s->rc == 0) s->rc = io_fd_write(s->ctx, s->fd, data, bytes, start);
    return s->rc;
}

static int twophase_write(void *state, const struct io_context *ctx, int64_t dump, const void *buf)
{
    struct twophase_state *s = state;
    const struct io_sink sink = {s, twophase_place, twophase_take};
    (void)ctx;
    s->rc = 0;
    io_gather_prepare(&s->gather, dump);
    return io_gather_move(&s->gather, dump, buf, &sink);
}

/* Reading: aggregators read pieces of their ranges and send each rank its parts. */
static int twophase_read(void *state, const struct io_context *ctx, int64_t dump,
                         const struct io_taker *to)
{
    struct twophase_state *s = state;
    struct io_fd_source fd = {.ctx = ctx, .fd = s->fd};
    return io_gather_spread(&s->gather, dump, &(struct io_source){&fd, io_fd_source_get}, to);
}

static int twophase_close(void *state, const struct io_context *ctx)
{
    struct twophase_state *s = state;
    free(s->piece);
    io_gather_free(&s->gather);
    return io_fd_close(ctx, &s->fd);
}

static int twophase_describe(void *state, const struct io_context *ctx, json_t *into)
{
    struct twophase_state *s = state;
    (void)ctx;
    io_gather_describe(&s->gather, into);
    return 0;
}

const struct io_writer io_writer_twophase = {
    .name = "twophase",
    .help = "ranks exchange their pieces, --aggregators of them write long contiguous ranges",
    .caps = IO_CAP_SERIAL_FILE | IO_CAP_AGGREGATORS | IO_CAP_BUFFER,
    .state_size = sizeof(struct twophase_state),
    .open = twophase_open,
    .write = twophase_write,
    .read = twophase_read,
    .sync = io_fd_slot_sync,
    .close = twophase_close,
    .describe = twophase_describe,
};
