/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Grouped writing [F93 2.2, RNRBT_3D]: at most `group` ranks write at a time. Tokens run down
 * `group` chains of ranks,
 *
 *     r  ->  r + group  ->  r + 2 group  ->  ...        for r = 0 .. group-1
 *
 * a rank writes while it holds its chain's token, and a barrier ends the dump. A rank that fails
 * passes its token on all the same.
 *
 * Blocks of a 3-D decomposition are many short rows of the file, but those of a few ranks together
 * make up long runs: where rows are shorter than TOKEN_ROW_BYTES on average, the ranks first bring
 * them together (io/gather.h), each collecting one contiguous range of as many bytes as it had. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/par.h"
#include "io/writer.h"
#include "io/fd.h"
#include "io/gather.h"

#define TOKEN_TAG       1
#define TOKEN_ROW_BYTES (INT64_C(64) << 10)

struct token_state {
    int fd;
    struct io_context ctx; /* with every rank an aggregator */
    struct io_gather gather;
    char *range; /* my contiguous range of a dump; NULL: extents are long, they are written */
    int64_t start, bytes;
};

/* Known to every rank alike. */
static bool rows_are_short(const struct io_context *ctx)
{
    int64_t extents_n = 0;
    for (int r = 0; r < ctx->size; r++)
        extents_n += io_view_extents(&ctx->all_views[r]);
    return ctx->dump_bytes < extents_n * TOKEN_ROW_BYTES;
}

static int open_gather(struct token_state *s, const struct io_context *ctx)
{
    s->ctx = *ctx;
    s->ctx.tuning.aggregators = ctx->size;
    int rc = io_gather_open(&s->gather, &s->ctx, 1);
    const size_t bytes = rc == 0 ? (size_t)io_gather_bytes_max(&s->gather) : 1;
    s->range = malloc(bytes);
    if (!s->range) return err_set(ERR_NOMEM, "no memory for collecting rows");
    memset(s->range, 0, bytes); /* no first touch inside the clock */
    return rc;
}

static int token_open(void *state, const struct io_context *ctx)
{
    struct token_state *s = state;
    s->fd = -1;
    if (ctx->size > 1 && rows_are_short(ctx)) TRY(open_gather(s, ctx));
    return io_fd_open(ctx, &s->fd);
}

static char *token_place(void *state, int64_t start, int64_t bytes)
{
    struct token_state *s = state;
    (void)bytes;
    return s->range + (start - s->start);
}

static int token_keep(void *state, const char *data, int64_t start, int64_t bytes)
{
    char *place = token_place(state, start, bytes);
    if (place != data) memcpy(place, data, (size_t)bytes);
    return 0;
}

static int bring_together(struct token_state *s, int64_t dump, const void *buf)
{
    const struct io_sink sink = {s, token_place, token_keep};
    s->bytes = 0;
    io_gather_prepare(&s->gather, dump);
    for (int i = 0; i < s->gather.ranges_n; i++) {
        const struct io_range *r = &s->gather.range[i];
        if (r->owner != s->ctx.rank) continue;
        s->start = r->start;
        s->bytes = r->end - r->start;
    }
    return io_gather_move(&s->gather, dump, buf, &sink);
}

static int write_mine(struct token_state *s, const struct io_context *ctx, int64_t dump,
                      const void *buf)
{
    if (!s->range) return io_fd_write_view(ctx, s->fd, dump, buf);
    return io_fd_write(ctx, s->fd, s->range, s->bytes, s->start);
}

static int token_take(const struct io_context *ctx)
{
    if (ctx->rank < ctx->group) return 0;
    TRY_MPI(MPI_Recv(NULL, 0, MPI_BYTE, ctx->rank - ctx->group, TOKEN_TAG, ctx->comm,
                     MPI_STATUS_IGNORE));
    return 0;
}

static int token_pass(const struct io_context *ctx)
{
    if (ctx->group >= ctx->size - ctx->rank) return 0;
    TRY_MPI(MPI_Send(NULL, 0, MPI_BYTE, ctx->rank + ctx->group, TOKEN_TAG, ctx->comm));
    return 0;
}

static int token_write(void *state, const struct io_context *ctx, int64_t dump, const void *buf)
{
    struct token_state *s = state;
    int rc = s->range ? bring_together(s, dump, buf) : 0;
    int take = token_take(ctx);
    if (rc == 0) rc = take;
    if (rc == 0) rc = write_mine(s, ctx, dump, buf);
    int pass = token_pass(ctx);
    if (rc == 0) rc = pass;
    TRY_MPI(MPI_Barrier(ctx->comm));
    return rc;
}

static int token_sync(void *state, const struct io_context *ctx)
{
    struct token_state *s = state;
    return io_fd_sync(ctx, s->fd);
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
    .help =
        "as posix, but only --group ranks write at a time; short rows are brought together first",
    .caps = IO_CAP_SERIAL_FILE | IO_CAP_COLLECTIVE | IO_CAP_GROUP,
    .state_size = sizeof(struct token_state),
    .open = token_open,
    .write = token_write,
    .sync = token_sync,
    .close = token_close,
};
