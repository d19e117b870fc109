/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every rank writes its own extents with pwrite, all at the same time. */
#include "io/writer.h"
#include "io/fd.h"

struct posix_state {
    int fd;
};

static int posix_open(void *state, const struct io_context *ctx)
{
    struct posix_state *s = state;
    return io_fd_open(ctx, &s->fd);
}

static int posix_write(void *state, const struct io_context *ctx, int64_t dump, const void *buf)
{
    struct posix_state *s = state;
    return io_fd_write_view(ctx, s->fd, dump, buf);
}

static int posix_sync(void *state, const struct io_context *ctx)
{
    struct posix_state *s = state;
    return io_fd_sync(ctx, s->fd);
}

static int posix_close(void *state, const struct io_context *ctx)
{
    struct posix_state *s = state;
    return io_fd_close(ctx, &s->fd);
}

const struct io_writer io_writer_posix = {
    .name = "posix",
    .help = "every rank writes its own pieces with pwrite",
    .caps = IO_CAP_SERIAL_FILE,
    .state_size = sizeof(struct posix_state),
    .open = posix_open,
    .write = posix_write,
    .sync = posix_sync,
    .close = posix_close,
};
