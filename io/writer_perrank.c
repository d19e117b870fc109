/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file per rank, FILE.rank00000 and so on, as NPB's epio does: rank r's file holds its staging
 * stream of each dump, one dump after the other. FILE itself stays empty; its manifest lists the
 * boxes of the ranks under "parts", from which nht1-verify --merge makes FILE. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/err.h"
#include "base/par.h"
#include "io/writer.h"
#include "io/fd.h"
#include "io/parts.h"

struct perrank_state {
    struct io_context ctx; /* with the name of my own file */
    char path[IO_PART_PATH_MAX];
    bool fresh; /* there was no such file before */
    int fd;
    int64_t mine_bytes;
};

/* Space is taken before the clock starts, as for the other writers. */
static int preallocate(const struct perrank_state *s, int64_t bytes)
{
    if (ftruncate(s->fd, 0) != 0) return err_set_errno(ERR_IO, errno, "ftruncate %s", s->path);
    if (bytes == 0 || fallocate(s->fd, 0, 0, (off_t)bytes) == 0) return 0;
    if (errno == EOPNOTSUPP || errno == ENOSYS) return 0;
    return err_set_errno(ERR_IO, errno,
                         "cannot preallocate %" PRId64
                         " bytes for %s; make room or choose another directory with --out",
                         bytes, s->path);
}

static int make_part(struct perrank_state *s)
{
    const int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
    s->fresh = access(s->path, F_OK) != 0;
    s->fd = open(s->path, flags, 0666);
    if (s->fd < 0) return err_set_errno(ERR_IO, errno, "open %s for writing", s->path);
    return preallocate(s, s->ctx.dumps_n * s->mine_bytes);
}

/* When one rank has no room the others' new files go as well. */
static int perrank_open(void *state, const struct io_context *ctx)
{
    struct perrank_state *s = state;
    io_part_path(ctx->path, ctx->rank, s->path);
    s->ctx = *ctx;
    s->ctx.path = s->path;
    s->mine_bytes = io_view_bytes(ctx->view);
    const int rc = par_agree(ctx->comm, make_part(s));
    if (rc < 0 && s->fd >= 0 && s->fresh) unlink(s->path);
    return rc;
}

static int perrank_write(void *state, const struct io_context *ctx, int64_t dump, const void *buf)
{
    struct perrank_state *s = state;
    (void)ctx;
    return io_fd_write(&s->ctx, s->fd, buf, s->mine_bytes, dump * s->mine_bytes);
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
