/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Grouped writing [F93 2.2, RNRBT_3D]: at most `group` ranks write at a time. Tokens run down
 * `group` chains of ranks,
 *
 *     r  ->  r + group  ->  r + 2 group  ->  ...        for r = 0 .. group-1
 *
 * a rank writes while it holds its chain's token, and a barrier ends the dump. A rank that fails
 * passes its token on all the same. */
#include "base/err.h"
#include "base/par.h"
#include "io/driver.h"
#include "io/fd.h"

#define TOKEN_TAG 1

struct token_state {
    int fd;
};

static int token_open(void *state, const struct io_context *ctx)
{
    struct token_state *s = state;
    return io_fd_open(ctx, &s->fd);
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
    int take = token_take(ctx);
    int rc = take < 0 ? take : io_fd_write_view(ctx, s->fd, dump, buf);
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
    return io_fd_close(ctx, &s->fd);
}

const struct io_driver io_driver_token = {
    .name = "token",
    .help = "as posix, but only --group ranks write at a time",
    .caps = IO_CAP_SERIAL_FILE | IO_CAP_COLLECTIVE | IO_CAP_GROUP,
    .state_size = sizeof(struct token_state),
    .open = token_open,
    .write = token_write,
    .sync = token_sync,
    .close = token_close,
};
