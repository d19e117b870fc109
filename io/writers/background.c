/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/writers/background.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/par.h"
#include "base/stop.h"
#include "base/watch.h"

static int64_t block_down(int64_t offset)
{
    return offset / IO_BLOCK_BYTES * IO_BLOCK_BYTES;
}

int64_t io_background_align(const struct io_background *b)
{
    return b->direct ? IO_BLOCK_BYTES : 1;
}

static int64_t file_bytes(const struct io_background *b)
{
    return b->ctx->dumps_n * b->ctx->dump_bytes;
}

/* Whether this rank keeps what follows the last whole block of a dump. */
static bool has_carry(const struct io_background *b)
{
    return b->direct && b->gather.own == 0;
}

/* Opens the file around the page cache: all aggregators do, or none. Some file systems refuse at
 * open, others only when data come: so a block is read. Collective. */
static int choose_direct(struct io_background *b)
{
    const struct io_context *ctx = b->ctx;
    int can = 1, all = 0;
    if (b->owns) {
        b->fd = open(ctx->path, (ctx->plan ? O_RDONLY : O_RDWR) | O_DIRECT | O_CLOEXEC);
        can = b->fd >= 0 && pread(b->fd, b->carry, IO_BLOCK_BYTES, 0) >= 0;
    }
    TRY_MPI(MPI_Allreduce(&can, &all, 1, MPI_INT, MPI_MIN, ctx->comm));
    b->direct = all != 0;
    b->refused = !b->direct;
    return b->direct ? 0 : io_fd_close(ctx, &b->fd);
}

/* This rank can stage directly into the buffer that is written when its data are one extent and make up
 * its whole range, up to the edges of blocks. */
static int64_t find_in_place(const struct io_background *b)
{
    const struct io_gather *g = &b->gather;
    struct io_cursor c;
    int64_t pieces, offset = -1;
    for (int a = 0; a < g->aggregators_n; a++) {
        const int64_t bytes = g->share_bytes[a + 1] - g->share_bytes[a];
        if (bytes < 2 * IO_BLOCK_BYTES) return -1;
        if (a == g->own && bytes == io_view_bytes(b->ctx->view)) offset = g->share_bytes[a];
    }
    io_cursor_start(&c, b->ctx->view);
    if (c.left.offset_bytes != offset) return -1;
    io_cursor_skip(&c, b->ctx->dump_bytes, &pieces);
    return pieces == 1 ? offset : -1;
}

int io_background_open(struct io_background *b, const struct io_context *ctx,
                       const struct io_engine *engine)
{
    *b = (struct io_background){.ctx = ctx, .engine = engine, .fd = -1, .tail_fd = -1};
    const bool reads = ctx->plan != NULL, aligned = ctx->tuning.direct && !reads;
    int rc = io_gather_open(&b->gather, ctx, aligned ? IO_BLOCK_BYTES : 1);
    b->owns = b->gather.own >= 0;
    b->carry = buffer_new(IO_BLOCK_BYTES);
    if (rc == 0 && !b->carry) rc = mem_error("a block");
    TRY(par_agree(ctx->comm, rc));
    if (ctx->tuning.direct) TRY(choose_direct(b));
    if (!b->direct) b->gather.align = 1;
    b->dumps_done = b->dumps_posted = ctx->first_dump;
    b->in_place_bytes = find_in_place(b);
    b->slot_bytes = reads ? ctx->tuning.buffer_bytes : io_gather_bytes_max(&b->gather);
    b->slots_n = (int)ctx->tuning.staging + (reads ? 1 : 0);
    if (!b->owns) return 0;
    TRY(io_fd_open(ctx, b->direct ? &b->tail_fd : &b->fd));
    const size_t bytes = (size_t)block_down(b->slot_bytes + 2 * IO_BLOCK_BYTES);
    b->job = mem_new(b->slots_n, sizeof *b->job, "writing in the background");
    b->engine_state = mem_new(1, engine->state_size, "writing in the background");
    if (!b->job || !b->engine_state) return ERR_NOMEM;
    for (int s = 0; s < b->slots_n; s++) {
        b->job[s].data = buffer_new(bytes);
        if (!b->job[s].data)
            return mem_error("staging %d %s of %zu bytes: take a smaller --staging", b->slots_n,
                             reads ? "pieces" : "dumps", bytes);
    }
    return engine->start(b);
}

/* Takes finished jobs out of the ring; wait: the oldest in any case. */
static void reap(struct io_background *b, bool wait)
{
    while (b->posted_n > 0) {
        struct io_job *job = &b->job[b->head];
        if (!b->engine->finished(b, job, wait)) return;
        *b->ctx->requests_n += job->requests_n;
        if (job->fault.errnum && b->rc == 0) b->rc = io_fd_failed(b->ctx, &job->fault);
        if (b->rc == 0 && b->dumps_done < job->done_after) b->dumps_done = job->done_after;
        b->head = (b->head + 1) % b->slots_n;
        b->posted_n--;
        wait = false;
    }
}

/* A free slot; may wait for one. */
static struct io_job *free_slot(struct io_background *b)
{
    const double since_s = watch_now();
    reap(b, b->posted_n == b->slots_n);
    *b->ctx->wait_s += watch_now() - since_s;
    struct io_job *job = &b->job[(b->head + b->posted_n) % b->slots_n];
    *job = (struct io_job){.data = job->data};
    return job;
}

/* The beginning of a block whose other part an earlier run has written. */
static int load_carry(struct io_background *b, int64_t base)
{
    b->begun = true;
    b->carry_start = block_down(base);
    b->carry_first = base / b->ctx->dump_bytes;
    if (!has_carry(b) || base == b->carry_start) return 0;
    ssize_t got = pread(b->fd, b->carry, IO_BLOCK_BYTES, b->carry_start);
    if (got < base - b->carry_start)
        return err_set_errno(ERR_IO, got < 0 ? errno : EIO, "pread of a block at %" PRId64 " of %s",
                             b->carry_start, b->ctx->path);
    b->carry_bytes = base - b->carry_start;
    return 0;
}

/* The part of the prepared dump that is written now: this rank's range, preceded by the carry. */
static void plan_job(struct io_background *b, struct io_job *job, int64_t dump)
{
    const int64_t base = dump * b->ctx->dump_bytes, past = base + b->ctx->dump_bytes;
    job->done_after = dump + 1;
    for (int i = 0; i < b->gather.ranges_n; i++) {
        const struct io_range *r = &b->gather.range[i];
        if (r->owner != b->ctx->rank || (b->direct && r->start >= block_down(past))) continue;
        job->start = r->start;
        job->bytes = r->end - r->start;
    }
    if (!has_carry(b) || job->bytes == 0) return;
    job->bytes += job->start - b->carry_start;
    job->start = b->carry_start;
    memcpy(job->data, b->carry, (size_t)b->carry_bytes);
    b->carry_bytes = 0;
}

/* The part of the dump behind the last whole block of the file becomes the carry, or, at the end of
 * the file, the tail of the job. */
static void keep_tail(struct io_background *b, struct io_job *job, int64_t dump)
{
    const int64_t past = (dump + 1) * b->ctx->dump_bytes;
    if (!has_carry(b)) return;
    if (job->bytes > 0 || b->carry_bytes == 0) {
        b->carry_start = block_down(past);
        b->carry_first = dump;
    }
    b->carry_bytes = past - b->carry_start;
    if (b->carry_bytes > 0) job->done_after = b->carry_first;
    if (past < file_bytes(b) || b->carry_bytes == 0) return;
    job->tail_start = b->carry_start;
    job->tail = b->carry; /* no other dump follows that would write into it */
    job->tail_bytes = b->carry_bytes;
    job->done_after = dump + 1;
    b->carry_bytes = 0;
}

/* Copies bytes of the file into the slot or into the carry. */
static char *background_place(void *state, int64_t start, int64_t bytes)
{
    struct io_background *b = state;
    const struct io_job *job = b->filling;
    (void)bytes;
    if (start >= job->start && start < job->start + job->bytes)
        return job->data + (start - job->start);
    return b->carry + (start - block_down(start));
}

static void begin(struct io_background *b, int64_t dump)
{
    b->filling = b->owns ? free_slot(b) : NULL;
    if (b->owns && !b->begun && b->rc == 0) b->rc = load_carry(b, dump * b->ctx->dump_bytes);
    io_gather_prepare(&b->gather, dump);
    if (b->filling) plan_job(b, b->filling, dump);
}

void *io_background_slot_buffer(void *state, const struct io_context *ctx, int64_t dump)
{
    struct io_background *b = state;
    if (b->in_place_bytes < 0) return NULL;
    if (!b->filling) begin(b, dump);
    return b->filling->data + (dump * ctx->dump_bytes + b->in_place_bytes - b->filling->start);
}

/* After an error a rank goes on receiving, because others send; it writes no more. */
int io_background_slot_write(void *state, const struct io_context *ctx, int64_t dump,
                             const void *buf)
{
    struct io_background *b = state;
    const struct io_sink sink = {b, background_place, NULL};
    (void)ctx;
    if (!b->filling) begin(b, dump);
    int rc = io_gather_move(&b->gather, dump, buf, &sink);
    if (b->rc == 0) b->rc = rc;
    if (b->filling) {
        keep_tail(b, b->filling, dump);
        if (b->rc == 0) b->rc = b->engine->post(b, b->filling);
        if (b->rc == 0) b->posted_n++;
    }
    b->filling = NULL;
    b->dumps_posted = dump + 1;
    return b->rc;
}

/* ------------------------------------------------------------------ reading */

/* Gives the engine the next jobs of the plan, as far as there are slots. */
static void read_ahead(struct io_background *b)
{
    const struct io_context *ctx = b->ctx;
    const int64_t step = ctx->tuning.buffer_bytes;
    const int64_t first = b->gather.share_bytes[b->gather.own];
    const int64_t past = b->gather.share_bytes[b->gather.own + 1];
    const int64_t in_dump = (past - first + step - 1) / step;
    while (b->rc == 0 && b->posted_n < b->slots_n && b->reads_n < ctx->plan_n * in_dump) {
        const int64_t base = ctx->plan[b->reads_n / in_dump] * ctx->dump_bytes;
        const int64_t start = base + first + b->reads_n % in_dump * step;
        const int64_t end = num_min(start + step, base + past);
        struct io_job *job = &b->job[(b->head + b->posted_n) % b->slots_n];
        *job = (struct io_job){.data = job->data, .start = start, .bytes = end - start};
        if (b->direct) {
            job->start = block_down(start);
            job->bytes = block_down(end + IO_BLOCK_BYTES - 1) - job->start;
        }
        job->need_bytes = end - job->start;
        b->rc = b->engine->post(b, job);
        if (b->rc < 0) return;
        b->posted_n++;
        b->reads_n++;
    }
}

/* Frees the slot of the job whose data the ranks have received. */
static void let_go(struct io_background *b)
{
    if (b->held) {
        b->head = (b->head + 1) % b->slots_n;
        b->posted_n--;
    }
    b->held = false;
    read_ahead(b);
}

/* A source of io_gather_spread, which asks for ranges in the order of the jobs. */
static int background_get(void *state, int64_t start, int64_t bytes, const char **data)
{
    struct io_background *b = state;
    let_go(b);
    struct io_job *job = &b->job[b->head];
    (void)bytes;
    *data = job->data;
    if (b->rc == 0 && stop_requested()) b->rc = io_fd_interrupted(b->ctx);
    if (b->rc < 0) return b->rc;
    b->engine->finished(b, job, true);
    b->held = true;
    *b->ctx->requests_n += job->requests_n;
    if (job->fault.errnum) b->rc = io_fd_failed(b->ctx, &job->fault);
    *data = job->data + (start - job->start);
    return b->rc;
}

int io_background_slot_read(void *state, const struct io_context *ctx, int64_t dump,
                            const struct io_taker *to)
{
    struct io_background *b = state;
    (void)ctx;
    int rc = io_gather_spread(&b->gather, dump, &(struct io_source){b, background_get}, to);
    if (b->owns) let_go(b);
    return rc < 0 ? rc : b->rc;
}

int64_t io_background_slot_done(void *state, const struct io_context *ctx)
{
    struct io_background *b = state;
    (void)ctx;
    if (!b->owns) return b->dumps_posted;
    reap(b, false);
    return b->dumps_done;
}

int io_background_slot_drain(void *state, const struct io_context *ctx)
{
    struct io_background *b = state;
    while (b->posted_n > 0)
        reap(b, true);
    if (b->rc == 0 && b->carry_bytes > 0) {
        /* The carry is written before its block is full. No other job is in flight. */
        const bool whole = b->carry_start + IO_BLOCK_BYTES <= file_bytes(b);
        memset(b->carry + b->carry_bytes, 0, (size_t)(IO_BLOCK_BYTES - b->carry_bytes));
        b->rc = io_fd_write(ctx, whole ? b->fd : b->tail_fd, b->carry,
                            whole ? IO_BLOCK_BYTES : b->carry_bytes, b->carry_start);
    }
    if (b->rc == 0) b->dumps_done = b->dumps_posted;
    return b->rc;
}

int io_background_slot_sync(void *state, const struct io_context *ctx)
{
    struct io_background *b = state;
    int rc = io_fd_sync(ctx, b->fd);
    int tail_rc = io_fd_sync(ctx, b->tail_fd);
    return rc < 0 ? rc : tail_rc;
}

int io_background_slot_close(void *state, const struct io_context *ctx)
{
    struct io_background *b = state;
    if (b->engine_state) b->engine->stop(b);
    for (int s = 0; b->job && s < b->slots_n; s++)
        free(b->job[s].data);
    free(b->job);
    free(b->engine_state);
    free(b->carry);
    io_gather_free(&b->gather);
    int rc = io_fd_close(ctx, &b->fd);
    int tail_rc = io_fd_close(ctx, &b->tail_fd);
    return rc < 0 ? rc : tail_rc;
}

int io_background_slot_describe(void *state, const struct io_context *ctx, json_t *into)
{
    const struct io_background *b = state;
    (void)ctx;
    io_gather_describe(&b->gather, into);
    json_object_set_new(into, "staging", json_integer(b->slots_n));
    json_object_set_new(into, "staging_bytes",
                        json_integer(b->owns ? b->slots_n * b->slot_bytes : 0));
    json_object_set_new(into, "direct", json_boolean(b->direct));
    if (b->refused)
        json_array_append_new(
            json_object_get(into, "notices"),
            json_string("The file system refuses direct writes (O_DIRECT): the data "
                        "went through the page cache."));
    return 0;
}
