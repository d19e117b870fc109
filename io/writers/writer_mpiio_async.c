/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nonblocking MPI-IO: a copy of the staged dump is handed to the library with MPI_File_iwrite_at
 * through the subarray view, in one call or, where it is long, in several, and waited for when its
 * memory is needed again.
 *
 * Why the independent call: of the libraries at hand it overlaps with computation in Open MPI's
 * OMPIO and in MPICH, and does no harm in Open MPI's ROMIO, where it writes at once. The collective
 * one crashes in that ROMIO and does all its work in the wait in MPICH.
 *
 * When a transfer really ended is the library's secret: the time it was under way is an upper bound
 * of the time of writing, and the result says so.
 *
 * Reading: ranges of at most tuning.call_bytes with this rank's cells of all dumps in the plan, as
 * io/writers/pick.h has them, one after the other with MPI_File_iread_at. While one is put into place,
 * tuning.staging of those behind it are under way, those of the next dump among them. Without the
 * view, of which OMPIO would make a request for each row. */
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/watch.h"
#include "io/writers/busy.h"
#include "io/writers/fd.h"
#include "io/writers/guard.h"
#include "io/writers/mpiio.h"
#include "io/writers/pick.h"

/* A dump under way, or a range of one that is read. */
struct flight {
    char *copy;           /* [mine_bytes], or of a range */
    MPI_Request *request; /* [pieces_n] of its pieces */
    int64_t posted_n, landed_n;
    int64_t dump;
    double start_s;
    /* Of reading: */
    int64_t plan_at; /* of which dump in the plan */
    struct io_mpiio_piece range;
};

struct mpiio_async_state {
    struct io_mpiio m;
    struct flight *flight; /* [flights_n], a ring */
    int flights_n, head, posted_n;
    int64_t dumps_done, dumps_posted;
    int rc; /* the first failure */
    /* Of reading: */
    int64_t plan_at;       /* the dump that is asked for next */
    int64_t next_at;       /* the one of which ranges are being posted */
    struct io_cursor next; /* the first cell of it that is not */
};

static const char iwrite[] = "MPI_File_iwrite_at", iread[] = "MPI_File_iread_at";

static int alloc_flights(struct mpiio_async_state *s, const struct io_context *ctx)
{
    const int n = (int)ctx->tuning.staging + (ctx->plan ? 1 : 0);
    const size_t bytes = (size_t)(ctx->plan ? ctx->tuning.call_bytes : s->m.mine_bytes) + 1;
    s->flight = calloc((size_t)n, sizeof *s->flight);
    s->flights_n = s->flight ? n : 0;
    for (int i = 0; i < s->flights_n; i++) {
        s->flight[i].copy = buffer_new(bytes);
        s->flight[i].request = calloc((size_t)s->m.pieces_n, sizeof(MPI_Request));
        if (!s->flight[i].copy || !s->flight[i].request)
            return mem_error("staging %d dumps of %zu bytes: take a smaller --staging", n, bytes);
    }
    return s->flight ? 0 : mem_error("staging dumps");
}

static int mpiio_async_open(void *state, const struct io_context *ctx)
{
    struct mpiio_async_state *s = state;
    s->dumps_done = s->dumps_posted = ctx->first_dump;
    io_cursor_start(&s->next, ctx->view);
    int rc = io_mpiio_open(&s->m, ctx, !ctx->plan);
    return rc < 0 ? rc : alloc_flights(s, ctx);
}

/* Takes what has arrived; wait: the oldest in any case. Between its calls the library goes on, so a
 * crash anywhere may be its own. */
static void take_arrived(struct mpiio_async_state *s, const struct io_context *ctx, bool wait)
{
    while (s->posted_n > 0) {
        struct flight *f = &s->flight[s->head];
        for (; f->landed_n < f->posted_n; f->landed_n++) {
            MPI_Status status;
            MPI_Request *request = &f->request[f->landed_n];
            int there = 1;
            int mpi_rc = wait ? MPI_Wait(request, &status) : MPI_Test(request, &there, &status);
            if (!there) return;
            int rc = io_mpiio_wrote(&s->m, ctx, mpi_rc, iwrite, &status, f->dump, f->copy,
                                    io_mpiio_piece(&s->m, ctx, f->landed_n));
            io_guard_at(iwrite);
            if (s->rc == 0) s->rc = rc;
        }
        io_busy_add(ctx->busy, f->start_s, watch_now());
        s->head = (s->head + 1) % (int)ctx->tuning.staging;
        s->posted_n--;
        if (s->rc == 0) s->dumps_done++;
        wait = false;
    }
    io_guard_at(NULL);
}

/* The pieces before one that cannot be posted are under way all the same. */
static int post_pieces(struct mpiio_async_state *s, const struct io_context *ctx, int64_t dump,
                       const void *buf)
{
    struct flight *f = &s->flight[(s->head + s->posted_n) % ctx->tuning.staging];
    int rc = 0;
    if (buf != f->copy) memcpy(f->copy, buf, (size_t)s->m.mine_bytes);
    f->dump = dump;
    f->posted_n = f->landed_n = 0;
    f->start_s = watch_now();
    s->posted_n++;
    io_guard_at(iwrite);
    for (int64_t i = 0; i < s->m.pieces_n; i++) {
        const struct io_mpiio_piece p = io_mpiio_piece(&s->m, ctx, i);
        if (p.bytes == 0) break;
        ++*ctx->requests_n;
        int mpi_rc = MPI_File_iwrite_at(s->m.fh, (MPI_Offset)(dump * s->m.mine_bytes + p.start),
                                        f->copy + p.start, (int)p.bytes, MPI_BYTE, &f->request[i]);
        rc = io_mpiio_check(ctx, mpi_rc, iwrite);
        if (rc < 0) break;
        f->posted_n++;
    }
    return rc;
}

static void *mpiio_async_buffer(void *state, const struct io_context *ctx, int64_t dump)
{
    struct mpiio_async_state *s = state;
    const double since_s = watch_now();
    (void)dump;
    take_arrived(s, ctx, s->posted_n == ctx->tuning.staging);
    *ctx->wait_s += watch_now() - since_s;
    return s->flight[(s->head + s->posted_n) % ctx->tuning.staging].copy;
}

static int mpiio_async_write(void *state, const struct io_context *ctx, int64_t dump,
                             const void *buf)
{
    struct mpiio_async_state *s = state;
    const double since_s = watch_now();
    take_arrived(s, ctx, s->posted_n == ctx->tuning.staging);
    *ctx->wait_s += watch_now() - since_s;
    if (s->m.mine_bytes > 0) {
        if (s->rc == 0) s->rc = post_pieces(s, ctx, dump, buf);
    } else {
        s->dumps_done++;
    }
    s->dumps_posted++;
    return s->rc;
}

static int64_t mpiio_async_done(void *state, const struct io_context *ctx)
{
    struct mpiio_async_state *s = state;
    take_arrived(s, ctx, false);
    return s->dumps_done;
}

static int mpiio_async_drain(void *state, const struct io_context *ctx)
{
    struct mpiio_async_state *s = state;
    while (s->posted_n > 0)
        take_arrived(s, ctx, true);
    return s->rc;
}

/* The next range of the plan that is to be read; false at its end. */
static bool next_range(struct mpiio_async_state *s, const struct io_context *ctx,
                       struct io_extent *range)
{
    while (!io_pick_next(&s->next, ctx->tuning.call_bytes, range)) {
        if (++s->next_at >= ctx->plan_n) return false;
        io_cursor_start(&s->next, ctx->view);
    }
    return true;
}

/* Begins reading as far ahead as there is room. Never behind what the file is known to hold. */
static void post_reads(struct mpiio_async_state *s, const struct io_context *ctx)
{
    struct io_extent range;
    while (s->rc == 0 && s->posted_n < s->flights_n && next_range(s, ctx, &range)) {
        struct flight *f = &s->flight[(s->head + s->posted_n) % s->flights_n];
        const int64_t base = ctx->plan[s->next_at] * ctx->dump_bytes;
        f->plan_at = s->next_at;
        f->range = (struct io_mpiio_piece){range.offset_bytes, range.length_bytes};
        ++*ctx->requests_n;
        int mpi_rc = MPI_File_iread_at(s->m.fh, (MPI_Offset)(base + range.offset_bytes), f->copy,
                                       (int)range.length_bytes, MPI_BYTE, &f->request[0]);
        s->rc = io_mpiio_check(ctx, mpi_rc, iread);
        if (s->rc == 0) s->posted_n++;
    }
}

static int mpiio_async_read(void *state, const struct io_context *ctx, int64_t dump,
                            const struct io_taker *to)
{
    struct mpiio_async_state *s = state;
    io_guard_at(iread);
    for (post_reads(s, ctx); s->rc == 0; post_reads(s, ctx)) {
        struct flight *f = &s->flight[s->head];
        MPI_Status status;
        if (s->posted_n == 0 || f->plan_at != s->plan_at) break; /* of a later dump */
        if (stop_requested()) s->rc = io_fd_interrupted(ctx);
        if (s->rc < 0) break;
        int mpi_rc = MPI_Wait(&f->request[0], &status);
        s->rc = io_mpiio_got(&s->m, ctx, mpi_rc, iread, &status, dump, f->copy, f->range);
        io_guard_at(iread);
        if (s->rc == 0) to->pick(to->state, ctx->view, f->copy, f->range.start, f->range.bytes);
        s->head = (s->head + 1) % s->flights_n;
        s->posted_n--;
    }
    s->plan_at++;
    if (s->posted_n == 0) io_guard_at(NULL);
    return s->rc;
}

static int mpiio_async_close(void *state, const struct io_context *ctx)
{
    struct mpiio_async_state *s = state;
    if (s->flight && !ctx->plan) mpiio_async_drain(s, ctx);
    for (; ctx->plan && s->posted_n > 0; s->posted_n--, s->head = (s->head + 1) % s->flights_n)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): what is posted has a flight */
        MPI_Wait(&s->flight[s->head].request[0], MPI_STATUS_IGNORE);
    int rc = io_mpiio_close(&s->m, ctx);
    for (int i = 0; i < s->flights_n; i++) {
        free(s->flight[i].copy);
        free(s->flight[i].request);
    }
    free(s->flight);
    return rc;
}

static int mpiio_async_describe(void *state, const struct io_context *ctx, json_t *into)
{
    struct mpiio_async_state *s = state;
    json_object_set_new(into, "staging", json_integer(ctx->tuning.staging));
    json_object_set_new(into, "staging_bytes", json_integer(ctx->tuning.staging * s->m.mine_bytes));
    json_object_set_new(into, "overlap_basis", json_string("under way"));
    json_array_append_new(
        json_object_get(into, "notices"),
        json_string("mpiio-async uses MPI_File_iwrite_at, not the collective call, which crashes "
                    "in one MPI-IO component and does not overlap in another; its I/O time is the "
                    "time that transfers were under way, an upper bound."));
    return io_mpiio_describe(state, ctx, into);
}

const struct io_writer io_writer_mpiio_async = {
    .name = "mpiio-async",
    .help = "MPI-IO, one nonblocking write of a subarray view per dump, while the ranks compute",
    .caps = IO_CAP_SERIAL_FILE | IO_CAP_HINTS | IO_CAP_STAGING,
    .needs = IO_NEED_NONBLOCKING | IO_NEED_VIEW | IO_NEED_SYNC,
    .state_size = sizeof(struct mpiio_async_state),
    .open = mpiio_async_open,
    .buffer = mpiio_async_buffer,
    .write = mpiio_async_write,
    .read = mpiio_async_read,
    .done = mpiio_async_done,
    .drain = mpiio_async_drain,
    .sync = io_mpiio_sync,
    .close = mpiio_async_close,
    .describe = mpiio_async_describe,
};
