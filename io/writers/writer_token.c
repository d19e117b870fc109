/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Grouped writing, as RNRBT_3D did on the iPSC/860 [F93 3.3]: at most `group` ranks write at a
 * time. A token is passed along each of `group` chains of ranks,
 *
 *     r  ->  r + group  ->  r + 2 group  ->  ...        for r = 0 .. group-1
 *
 * a rank writes or reads while it holds its chain's token, and a barrier ends the dump's writing. A
 * rank that fails still passes its token on.
 *
 * `token` writes its rows as they lie, which with blocks of a 3-D decomposition are many short
 * ones: what was measured in 1993. `token-gather` brings them together first (io/writers/gather.h), where
 * they are shorter than TOKEN_ROW_BYTES on average: each rank then holds one contiguous range of
 * as many bytes as it had, and writes that. */
#include <stdlib.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/par.h"
#include "io/writers/fd.h"
#include "io/writers/pick.h"
#include "io/writers/gather.h"
#include "io/writers/writer.h"

#define TOKEN_TAG       1
#define TOKEN_ROW_BYTES (INT64_C(64) << 10)

struct token_state {
    int fd;                /* first: io/writers/fd.h has the slots */
    struct io_context ctx; /* with every rank an aggregator */
    struct io_gather gather;
    bool gathers; /* rows are not written as they lie */
    char *range;  /* my contiguous range of a dump */
    int64_t start, bytes;
};

static int token_gather_open(void *state, const struct io_context *ctx)
{
    struct token_state *s = state;
    int64_t extents_n = 0;
    s->fd = -1;
    for (int r = 0; r < ctx->size; r++)
        extents_n += io_view_extents(&ctx->all_views[r]);
    if (ctx->size > 1 && ctx->dump_bytes < extents_n * TOKEN_ROW_BYTES) {
        s->ctx = *ctx;
        s->ctx.tuning.aggregators = ctx->size;
        TRY(io_gather_open(&s->gather, &s->ctx, 1));
        s->gathers = true;
        if (ctx->plan && ctx->tuning.group >= ctx->size) return io_fd_open(ctx, &s->fd);
        const size_t bytes = (size_t)io_gather_bytes_max(&s->gather) + 1;
        s->range = buffer_new(bytes);
        if (!s->range) return mem_error("collecting rows");
    }
    return io_fd_open(ctx, &s->fd);
}

static char *token_place(void *state, int64_t start, int64_t bytes)
{
    struct token_state *s = state;
    (void)bytes;
    return s->range + (start - s->start);
}

static int token_get(void *state, int64_t start, int64_t bytes, const char **data)
{
    *data = token_place(state, start, bytes);
    return 0;
}

/* The range of a dump that this rank writes. */
static void find_range(struct token_state *s, int64_t dump)
{
    s->bytes = 0;
    io_gather_prepare(&s->gather, dump);
    for (int i = 0; i < s->gather.ranges_n; i++) {
        const struct io_range *r = &s->gather.range[i];
        if (r->owner != s->ctx.rank) continue;
        s->start = r->start;
        s->bytes = r->end - r->start;
    }
}

/* Collects this rank's range of a dump from all ranks. */
static int bring_together(struct token_state *s, int64_t dump, const void *buf)
{
    find_range(s, dump);
    return io_gather_move(&s->gather, dump, buf, &(struct io_sink){s, token_place, NULL});
}

static int token_wait(const struct io_context *ctx)
{
    if (ctx->rank < ctx->tuning.group) return 0;
    return par_check(MPI_Recv(NULL, 0, MPI_BYTE, ctx->rank - (int)ctx->tuning.group, TOKEN_TAG,
                              ctx->comm, MPI_STATUS_IGNORE),
                     "MPI_Recv");
}

static int token_pass(const struct io_context *ctx)
{
    if (ctx->tuning.group >= ctx->size - ctx->rank) return 0;
    return par_check(
        MPI_Send(NULL, 0, MPI_BYTE, ctx->rank + (int)ctx->tuning.group, TOKEN_TAG, ctx->comm),
        "MPI_Send");
}

static int token_write(void *state, const struct io_context *ctx, int64_t dump, const void *buf)
{
    struct token_state *s = state;
    int rc = s->gathers ? bring_together(s, dump, buf) : 0;
    TRY(token_wait(ctx));
    if (rc == 0)
        rc = s->gathers ? io_fd_write(ctx, s->fd, s->range, s->bytes, s->start)
                        : io_fd_slot_write(s, ctx, dump, buf);
    TRY(token_pass(ctx));
    TRY_MPI(MPI_Barrier(ctx->comm));
    return rc;
}

/* The rank's pieces, or its range of the dump, under the token; a range is spread over the ranks when
 * everybody has got one, or, where all may read at the same time, piece by piece. */
static int token_read(void *state, const struct io_context *ctx, int64_t dump,
                      const struct io_taker *to)
{
    struct token_state *s = state;
    struct io_fd_source fd = {.ctx = ctx, .fd = s->fd};
    int rc = 0;
    if (s->gathers && !s->range)
        return io_gather_spread(&s->gather, dump, &(struct io_source){&fd, io_fd_source_get}, to);
    if (s->gathers) find_range(s, dump);
    TRY(token_wait(ctx));
    if (!s->gathers)
        rc = io_pick_slot_read(s, ctx, dump, to);
    else if (s->bytes > 0)
        rc = io_fd_read(ctx, s->fd, s->range, s->bytes, s->start);
    TRY(token_pass(ctx));
    if (!s->gathers) return rc;
    int spread = io_gather_spread(&s->gather, dump, &(struct io_source){s, token_get}, to);
    return rc < 0 ? rc : spread;
}

static int token_close(void *state, const struct io_context *ctx)
{
    struct token_state *s = state;
    io_gather_free(&s->gather);
    free(s->range);
    return io_fd_close(ctx, &s->fd);
}

const struct io_writer io_writer_token = {
    .name = "token",
    .help = "as posix, but only --group ranks write at a time",
    .caps = IO_CAP_SERIAL_FILE | IO_CAP_GROUP,
    .state_size = sizeof(struct token_state),
    .open = io_fd_slot_open,
    .write = token_write,
    .read = token_read,
    .sync = io_fd_slot_sync,
    .close = token_close,
};

const struct io_writer io_writer_token_gather = {
    .name = "token-gather",
    .help = "as token, and where pieces are short each rank collects one long range first",
    .caps = IO_CAP_SERIAL_FILE | IO_CAP_GROUP,
    .state_size = sizeof(struct token_state),
    .open = token_gather_open,
    .write = token_write,
    .read = token_read,
    .sync = io_fd_slot_sync,
    .close = token_close,
};
