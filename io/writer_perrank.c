/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file per rank, FILE.rank00000 and so on, as NPB's epio does: rank r's file holds its staging
 * stream of each dump, one dump after the other. FILE itself stays empty; its manifest lists the
 * boxes of the ranks under "parts", from which nht1-verify --merge makes FILE. */
#include "io/fd.h"
#include "io/parts.h"
#include "io/writer.h"

struct perrank_state {
    struct io_context ctx; /* with the name of my own file, and what of a dump is in it */
    char path[IO_PLACE_PATH_MAX];
    int fd;
};

/* My file is there with its full length, like FILE for other writers. */
static int perrank_open(void *state, const struct io_context *ctx)
{
    struct perrank_state *s = state;
    io_part_path(ctx->path, ctx->rank, s->path);
    s->ctx = *ctx;
    s->ctx.path = s->path;
    s->ctx.dump_bytes = io_view_bytes(ctx->view);
    return io_fd_open(&s->ctx, &s->fd);
}

static int perrank_write(void *state, const struct io_context *ctx, int64_t dump, const void *buf)
{
    struct perrank_state *s = state;
    const int64_t bytes = s->ctx.dump_bytes;
    (void)ctx;
    return io_fd_write(&s->ctx, s->fd, buf, bytes, dump * bytes);
}

static int perrank_sync(void *state, const struct io_context *ctx)
{
    struct perrank_state *s = state;
    (void)ctx;
    return io_fd_sync(&s->ctx, s->fd);
}

static int perrank_close(void *state, const struct io_context *ctx)
{
    struct perrank_state *s = state;
    (void)ctx;
    return io_fd_close(&s->ctx, &s->fd);
}

const struct io_writer io_writer_perrank = {
    .name = "perrank",
    .help = "every rank writes a file of its own; nht1-verify --merge makes one of them",
    .caps = IO_CAP_PARTS,
    .state_size = sizeof(struct perrank_state),
    .open = perrank_open,
    .write = perrank_write,
    .sync = perrank_sync,
    .close = perrank_close,
};
