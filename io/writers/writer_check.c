/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wraps another writer, "check:NAME", and watches both sides of the contract of io/writers/writer.h: calls
 * in order, the same call on all ranks, dumps counted up from 0 within what was planned, the view
 * one of everybody's, and a buffer that the writer leaves as it was; when reading, the order of the
 * plan, every byte once, and, where there is one file, what pread has to say. What it finds is an
 * error of the program; it is reported like any other. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/par.h"
#include "io/cursor.h"
#include "io/writers/fd.h"
#include "io/writers/pick.h"
#include "io/writers/writer.h"

enum check_stage { CHECK_NEW, CHECK_OPEN, CHECK_CLOSED };

/* What a rank is about to do, compared over ranks. */
struct call {
    const char *name;
    int64_t number; /* differs between calls */
};

struct check_state {
    enum check_stage stage;
    void *inner; /* the wrapped writer's state */
    int64_t dumps_done;
    int64_t dumps_claimed; /* by the writer's done */
    bool lied;             /* it took something back, or claimed what was never written */
    int64_t dumps_right;   /* as long as none has failed */
    int fd;                /* when reading one file, to compare */
};

/* Every rank must be at the same call, or the wrapped writer's messages would cross. */
static int same_call(const struct io_context *ctx, struct call c)
{
    int64_t mine[2] = {c.number, -c.number}, all[2];
    TRY_MPI(MPI_Allreduce(mine, all, 2, MPI_INT64_T, MPI_MAX, ctx->comm));
    if (all[0] == -all[1]) return 0;
    return err_set(ERR_INVALID, "check:%s: ranks make different calls; here it is %s",
                   ctx->inner->name, c.name);
}

static int broken(const struct io_context *ctx, const char *call, const char *what)
{
    return err_set(ERR_INVALID, "check:%s: %s %s", ctx->inner->name, call, what);
}

static int check_views(const struct io_context *ctx)
{
    const struct io_view *mine = ctx->view, *listed = &ctx->all_views[ctx->rank];
    int64_t bytes = 0;
    for (int r = 0; r < ctx->size; r++) {
        bytes += io_view_bytes(&ctx->all_views[r]);
    }
    if (memcmp(&mine->box, &listed->box, sizeof mine->box) != 0) {
        return broken(ctx, "open", "with a view that is not mine in the list");
    }
    if (bytes != ctx->dump_bytes) return broken(ctx, "open", "with views that miss bytes");
    return 0;
}

static int check_open(void *state, const struct io_context *ctx)
{
    struct check_state *s = state;
    int rc = 0;
    TRY(same_call(ctx, (struct call){"open", -1}));
    if (s->stage != CHECK_NEW) rc = broken(ctx, "open", "a second time");
    if (rc == 0) rc = check_views(ctx);
    if (rc == 0) {
        s->inner = mem_new(1, ctx->inner->state_size + 1, "the state of a writer");
        if (!s->inner) rc = ERR_NOMEM;
    }
    int fd = -1;
    const bool compares = (ctx->inner->caps & IO_CAP_SERIAL_FILE) && ctx->body.data_offset >= 0;
    if (rc == 0 && ctx->plan && compares) rc = io_fd_open(ctx, &fd);
    rc = par_agree(ctx->comm, rc);
    if (rc < 0) io_fd_close(ctx, &fd);
    TRY(rc);
    s->fd = fd;
    s->stage = CHECK_OPEN;
    s->dumps_done = s->dumps_right = s->dumps_claimed = ctx->first_dump;
    return ctx->inner->open(s->inner, ctx);
}

static int check_write(void *state, const struct io_context *ctx, int64_t dump, const void *buf)
{
    struct check_state *s = state;
    int rc = 0;
    TRY(same_call(ctx, (struct call){"write", dump}));
    if (s->stage != CHECK_OPEN)
        rc = broken(ctx, "write", "without open");
    else if (dump != s->dumps_done)
        rc = broken(ctx, "write", "of a dump out of order");
    else if (dump >= ctx->dumps_n)
        rc = broken(ctx, "write", "of more dumps than planned");
    else if (!buf && io_view_bytes(ctx->view) > 0)
        rc = broken(ctx, "write", "without a buffer");
    TRY(par_agree(ctx->comm, rc));
    size_t bytes = (size_t)io_view_bytes(ctx->view);
    const uint64_t before = digest_bytes(buf, bytes);
    rc = ctx->inner->write(s->inner, ctx, dump, buf);
    if (rc == 0 && digest_bytes(buf, bytes) != before) {
        rc = broken(ctx, "write", "changed the caller's buffer");
    }
    s->dumps_done++;
    if (rc == 0) s->dumps_right++;
    return rc;
}

static void *check_buffer(void *state, const struct io_context *ctx, int64_t dump)
{
    struct check_state *s = state;
    return ctx->inner->buffer ? ctx->inner->buffer(s->inner, ctx, dump) : NULL;
}

/* The number of finished dumps never decreases and never exceeds those that were written. */
static int64_t check_done(void *state, const struct io_context *ctx)
{
    struct check_state *s = state;
    if (s->stage != CHECK_OPEN || !ctx->inner->done) return s->dumps_right;
    int64_t done = ctx->inner->done(s->inner, ctx);
    if (done > s->dumps_done || done < s->dumps_claimed) s->lied = true;
    s->dumps_claimed = done;
    return done;
}

static int check_drain(void *state, const struct io_context *ctx)
{
    struct check_state *s = state;
    TRY(same_call(ctx, (struct call){"drain", -4}));
    if (s->stage != CHECK_OPEN) return broken(ctx, "drain", "without open");
    if (!ctx->inner->drain) return 0;
    int rc = ctx->inner->drain(s->inner, ctx);
    if (rc == 0 && ctx->inner->done && ctx->inner->done(s->inner, ctx) != s->dumps_done)
        rc = broken(ctx, "drain", "came back before all dumps were done");
    return rc < 0 || !s->lied ? rc : broken(ctx, "done", "counts dumps that are not there");
}

/* What a reader hands over, on its way to the caller. */
struct check_taker {
    const struct io_context *ctx;
    const struct io_taker *to;
    int fd;
    int64_t dump, cells_bytes, wrong_bytes;
    const char *data; /* now, and where it begins in the staging buffer */
    int64_t start;
    int rc;
};

static void compare(void *state, const struct io_view *v, const char *data, int64_t start,
                    int64_t bytes)
{
    struct check_taker *p = state;
    (void)v;
    if (memcmp(data, p->data + (start - p->start), (size_t)bytes) != 0) p->wrong_bytes += bytes;
}

static void pass_on(void *state, const struct io_view *v, const char *data, int64_t start,
                    int64_t bytes)
{
    struct check_taker *p = state;
    char buf[16384];
    p->cells_bytes += bytes;
    p->data = data;
    p->start = start;
    const struct io_body *body = &p->ctx->body;
    struct io_pick pick = {.get = io_body_swapped(body) ? io_pick_fd_swapped : io_pick_fd,
                           .source = &p->fd,
                           .ctx = p->ctx,
                           .buf = buf,
                           .room = sizeof buf,
                           .view = v,
                           .to = &(struct io_taker){p, compare, NULL}};
    if (p->fd >= 0 && p->rc == 0)
        p->rc = io_pick_view(&pick, body->data_offset + p->dump * p->ctx->dump_bytes, start, bytes);
    p->to->take(p->to->state, v, data, start, bytes);
}

static void pick_on(void *state, const struct io_view *v, const char *data, int64_t start,
                    int64_t bytes)
{
    struct check_taker *p = state;
    struct io_cursor c;
    struct io_extent e;
    io_cursor_start(&c, v);
    io_cursor_skip(&c, start, NULL);
    while (io_cursor_take(&c, start + bytes, &e))
        pass_on(p, v, data + (e.offset_bytes - start), e.buffer_bytes, e.length_bytes);
}

static int check_read(void *state, const struct io_context *ctx, int64_t dump,
                      const struct io_taker *to)
{
    struct check_state *s = state;
    struct check_taker p = {.ctx = ctx, .to = to, .fd = s->fd, .dump = dump};
    int rc = 0;
    TRY(same_call(ctx, (struct call){"read", dump}));
    if (s->stage != CHECK_OPEN || !ctx->plan)
        rc = broken(ctx, "read", "without open for it");
    else if (s->dumps_done >= ctx->plan_n || ctx->plan[s->dumps_done] != dump)
        rc = broken(ctx, "read", "of a dump that is not the next of the plan");
    TRY(par_agree(ctx->comm, rc));
    s->dumps_done++;
    rc = ctx->inner->read(s->inner, ctx, dump, &(struct io_taker){&p, pass_on, pick_on});
    if (rc == 0) rc = p.rc;
    if (rc == 0 && p.wrong_bytes > 0) rc = broken(ctx, "read", "brought other bytes than pread");
    if (rc == 0 && s->fd >= 0 && p.cells_bytes != io_view_bytes(ctx->view))
        rc = broken(ctx, "read", "brought more or less than everything");
    return rc;
}

static int check_sync(void *state, const struct io_context *ctx)
{
    struct check_state *s = state;
    TRY(same_call(ctx, (struct call){"sync", -2}));
    if (s->stage != CHECK_OPEN) return broken(ctx, "sync", "without open");
    return ctx->inner->sync(s->inner, ctx);
}

static int check_close(void *state, const struct io_context *ctx)
{
    struct check_state *s = state;
    int rc = same_call(ctx, (struct call){"close", -3});
    if (rc == 0 && s->stage == CHECK_CLOSED) rc = broken(ctx, "close", "a second time");
    if (rc == 0 && s->stage == CHECK_OPEN) rc = ctx->inner->close(s->inner, ctx);
    if (s->stage == CHECK_OPEN) io_fd_close(ctx, &s->fd);
    free(s->inner);
    s->inner = NULL;
    s->stage = CHECK_CLOSED;
    return rc;
}

static int check_describe(void *state, const struct io_context *ctx, json_t *into)
{
    struct check_state *s = state;
    return ctx->inner->describe ? ctx->inner->describe(s->inner, ctx, into) : 0;
}

const struct io_writer io_writer_check = {
    .name = "check",
    .help = "check:NAME runs writer NAME and checks that the writer contract is kept",
    .caps = IO_CAP_WRAPPER,
    .state_size = sizeof(struct check_state),
    .open = check_open,
    .buffer = check_buffer,
    .write = check_write,
    .read = check_read,
    .done = check_done,
    .drain = check_drain,
    .sync = check_sync,
    .close = check_close,
    .describe = check_describe,
};
