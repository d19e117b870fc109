/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file per rank, FILE.rank00000 and so on, as NPB's epio does: rank r's file holds its staging
 * stream of each dump, one dump after the other. FILE itself stays empty; its manifest lists the
 * boxes of the ranks under "parts", from which nht1-verify --merge makes FILE, and a reader finds
 * its cells whoever wrote them. */
#include "base/err.h"
#include "io/writers/fd.h"
#include "io/target/parts.h"
#include "io/writers/pick.h"
#include "io/writers/writer.h"

struct perrank_state {
    struct io_context ctx; /* with the name of my own file, and what of a dump is in it */
    char path[IO_PLACE_PATH_MAX];
    int fd;
};

/* The file of a rank, with what of a dump is in it. */
static int open_part(struct perrank_state *s, const struct io_context *ctx, int64_t rank,
                     const struct io_view *view)
{
    io_part_path(ctx->path, rank, s->path);
    s->ctx = *ctx;
    s->ctx.path = s->path;
    s->ctx.dump_bytes = io_view_bytes(view);
    return io_fd_open(&s->ctx, &s->fd);
}

/* This rank's file exists and has its full length, like FILE for other writers. When reading, the files
 * that hold this rank's cells are opened one after the other. */
static int perrank_open(void *state, const struct io_context *ctx)
{
    struct perrank_state *s = state;
    s->fd = -1;
    return ctx->plan ? 0 : open_part(s, ctx, ctx->rank, ctx->view);
}

static int perrank_write(void *state, const struct io_context *ctx, int64_t dump, const void *buf)
{
    struct perrank_state *s = state;
    const int64_t bytes = s->ctx.dump_bytes;
    (void)ctx;
    return io_fd_write(&s->ctx, s->fd, buf, bytes, dump * bytes);
}

static struct io_box common_cells(const struct io_box *a, const struct io_box *b)
{
    struct io_box c;
    for (int q = 0; q < 3; q++) {
        const int64_t a_end = a->lo[q] + a->n[q], b_end = b->lo[q] + b->n[q];
        const int64_t end = a_end < b_end ? a_end : b_end;
        c.lo[q] = a->lo[q] > b->lo[q] ? a->lo[q] : b->lo[q];
        c.n[q] = end > c.lo[q] ? end - c.lo[q] : 0;
    }
    return c;
}

/* Some of a part's cells. A dump would have them at the offsets of their own view: each extent of
 * that lies in one of the part's, whose place in the part is known. */
static int read_common(struct perrank_state *s, const struct io_view *part,
                       const struct io_view *common, int64_t dump, const struct io_taker *to)
{
    struct io_pick p = {.get = io_pick_fd,
                        .source = &s->fd,
                        .ctx = &s->ctx,
                        .buf = s->ctx.part,
                        .room = s->ctx.tuning.buffer_bytes,
                        .view = common,
                        .to = to};
    struct io_walk w;
    struct io_extent e;
    struct io_cursor c;
    io_cursor_start(&c, part);
    for (io_walk_start(&w, common); io_walk_next(&w, &e);) {
        io_cursor_skip(&c, e.offset_bytes, NULL);
        e.offset_bytes = dump * s->ctx.dump_bytes + c.left.buffer_bytes;
        TRY(io_pick_add(&p, e));
    }
    return io_pick_end(&p);
}

static int perrank_read(void *state, const struct io_context *ctx, int64_t dump,
                        const struct io_taker *to)
{
    struct perrank_state *s = state;
    for (int64_t r = 0; r < ctx->boxes_n; r++) {
        const struct io_view *mine = ctx->view, part = {mine->n, mine->layout, ctx->boxes[r]};
        const struct io_view common = {mine->n, mine->layout, common_cells(&mine->box, &part.box)};
        if (io_view_bytes(&common) == 0) continue;
        int rc = open_part(s, ctx, r, &part);
        if (rc == 0) rc = read_common(s, &part, &common, dump, to);
        int close_rc = io_fd_close(&s->ctx, &s->fd);
        TRY(rc);
        TRY(close_rc);
    }
    return 0;
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
    .help = "one file per rank; nht1-verify --merge merges them into one",
    .caps = IO_CAP_PARTS,
    .state_size = sizeof(struct perrank_state),
    .open = perrank_open,
    .write = perrank_write,
    .read = perrank_read,
    .sync = perrank_sync,
    .close = perrank_close,
};
