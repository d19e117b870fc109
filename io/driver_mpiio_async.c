/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nonblocking MPI-IO: a copy of the staged dump is handed to the library with one
 * MPI_File_iwrite_at through the subarray view, and waited for when its memory is needed again.
 *
 * Why the independent call: of the libraries at hand it overlaps with computation in Open MPI's
 * OMPIO and in MPICH, and does no harm in Open MPI's ROMIO, where it writes at once. The collective
 * one crashes in that ROMIO and does all its work in the wait in MPICH.
 *
 * When a transfer really ended is the library's secret: the time it was under way is an upper bound
 * of the time of writing, and the result says so.
 *
 * On a full disk OMPIO does not fail but crash, so a write that could meet one, because the file's
 * blocks are not all there, is refused when there is no room. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/watch.h"
#include "io/busy.h"
#include "io/fd.h"
#include "io/mpiio.h"

/* A dump under way. */
struct flight {
    char *copy; /* [mine_bytes] */
    MPI_Request request;
    double start_s;
};

struct mpiio_async_state {
    MPI_File fh;
    MPI_Datatype memory_type;
    int64_t mine_bytes;
    struct flight *flight; /* [staging], a ring */
    int head, posted_n;
    int64_t dumps_done, dumps_posted;
    int rc; /* the first failure */
};

static int alloc_flights(struct mpiio_async_state *s, const struct io_context *ctx)
{
    const int n = ctx->tuning.staging;
    const size_t bytes = (size_t)s->mine_bytes + 1;
    s->flight = calloc((size_t)n, sizeof *s->flight);
    for (int i = 0; s->flight && i < n; i++) {
        s->flight[i].copy = malloc(bytes);
        if (!s->flight[i].copy)
            return err_set(ERR_NOMEM,
                           "no memory for staging %d dumps of %zu bytes: take a smaller --staging",
                           n, bytes);
        memset(s->flight[i].copy, 0, bytes); /* no first touch inside the clock */
    }
    return s->flight ? 0 : err_set(ERR_NOMEM, "no memory for staging dumps");
}

static int mpiio_async_open(void *state, const struct io_context *ctx)
{
    struct mpiio_async_state *s = state;
    s->memory_type = MPI_DATATYPE_NULL;
    s->mine_bytes = io_view_bytes(ctx->view);
    s->dumps_done = s->dumps_posted = ctx->first_dump;
    TRY(io_mpiio_open(ctx, &s->fh));
    int rc = io_mpiio_set_view(ctx, s->fh);
    int type_rc = io_mpiio_bytes_type(s->mine_bytes, &s->memory_type);
    int alloc_rc = alloc_flights(s, ctx);
    return rc < 0 ? rc : type_rc < 0 ? type_rc : alloc_rc;
}

static int land(struct mpiio_async_state *s, const struct io_context *ctx, int mpi_rc,
                const MPI_Status *status)
{
    struct flight *f = &s->flight[s->head];
    int rc = io_mpiio_check(ctx, mpi_rc, "MPI_File_iwrite_at", status, s->mine_bytes);
    io_busy_add(ctx->busy, f->start_s, watch_now());
    s->head = (s->head + 1) % ctx->tuning.staging;
    s->posted_n--;
    if (s->rc == 0) s->rc = rc;
    if (s->rc == 0) s->dumps_done++;
    return s->rc;
}

/* Takes what has arrived; wait: the oldest in any case. */
static void reap(struct mpiio_async_state *s, const struct io_context *ctx, bool wait)
{
    while (s->posted_n > 0) {
        MPI_Status status;
        int there = 1;
        MPI_Request *request = &s->flight[s->head].request;
        int mpi_rc = wait ? MPI_Wait(request, &status) : MPI_Test(request, &there, &status);
        if (!there) return;
        land(s, ctx, mpi_rc, &status);
        wait = false;
    }
}

/* Whether the library can be trusted with a write. */
static int check_room(const struct mpiio_async_state *s, const struct io_context *ctx)
{
    struct stat st;
    if (stat(ctx->path, &st) != 0) return err_set_errno(ERR_IO, errno, "stat %s", ctx->path);
    if ((int64_t)st.st_blocks * 512 >= (int64_t)st.st_size) return 0;
    const int64_t room = io_free_bytes(ctx->path);
    if (room < 0 || room >= s->mine_bytes * (s->posted_n + 1)) return 0;
    const struct io_fd_fault fault = {ENOSPC, s->mine_bytes, s->dumps_posted * ctx->dump_bytes};
    return io_fd_failed(ctx, &fault);
}

static int post(struct mpiio_async_state *s, const struct io_context *ctx, int64_t dump,
                const void *buf)
{
    struct flight *f = &s->flight[(s->head + s->posted_n) % ctx->tuning.staging];
    if (buf != f->copy) memcpy(f->copy, buf, (size_t)s->mine_bytes);
    f->start_s = watch_now();
    ++*ctx->requests_n;
    int mpi_rc = MPI_File_iwrite_at(s->fh, (MPI_Offset)(dump * s->mine_bytes), f->copy, 1,
                                    s->memory_type, &f->request);
    TRY(io_mpiio_check(ctx, mpi_rc, "MPI_File_iwrite_at", NULL, 0));
    s->posted_n++;
    return 0;
}

static void *mpiio_async_buffer(void *state, const struct io_context *ctx, int64_t dump)
{
    struct mpiio_async_state *s = state;
    const double since_s = watch_now();
    (void)dump;
    reap(s, ctx, s->posted_n == ctx->tuning.staging);
    *ctx->wait_s += watch_now() - since_s;
    return s->flight[(s->head + s->posted_n) % ctx->tuning.staging].copy;
}

static int mpiio_async_write(void *state, const struct io_context *ctx, int64_t dump,
                             const void *buf)
{
    struct mpiio_async_state *s = state;
    const double since_s = watch_now();
    reap(s, ctx, s->posted_n == ctx->tuning.staging);
    *ctx->wait_s += watch_now() - since_s;
    if (s->mine_bytes > 0) {
        if (s->rc == 0) s->rc = check_room(s, ctx);
        if (s->rc == 0) s->rc = post(s, ctx, dump, buf);
    } else {
        s->dumps_done++;
    }
    s->dumps_posted++;
    return s->rc;
}

static int64_t mpiio_async_done(void *state, const struct io_context *ctx)
{
    struct mpiio_async_state *s = state;
    reap(s, ctx, false);
    return s->dumps_done;
}

static int mpiio_async_drain(void *state, const struct io_context *ctx)
{
    struct mpiio_async_state *s = state;
    while (s->posted_n > 0)
        reap(s, ctx, true);
    return s->rc;
}

static int mpiio_async_sync(void *state, const struct io_context *ctx)
{
    struct mpiio_async_state *s = state;
    return io_mpiio_sync(ctx, s->fh);
}

static int mpiio_async_close(void *state, const struct io_context *ctx)
{
    struct mpiio_async_state *s = state;
    if (s->flight) mpiio_async_drain(s, ctx);
    int rc = io_mpiio_close(ctx, &s->fh);
    if (s->memory_type != MPI_DATATYPE_NULL) MPI_Type_free(&s->memory_type);
    for (int i = 0; s->flight && i < ctx->tuning.staging; i++)
        free(s->flight[i].copy);
    free(s->flight);
    return rc;
}

static int mpiio_async_describe(void *state, const struct io_context *ctx, json_t *into)
{
    struct mpiio_async_state *s = state;
    json_object_set_new(into, "staging", json_integer(ctx->tuning.staging));
    json_object_set_new(into, "staging_bytes", json_integer(ctx->tuning.staging * s->mine_bytes));
    json_object_set_new(into, "overlap_basis", json_string("under way"));
    json_array_append_new(
        json_object_get(into, "notices"),
        json_string("mpiio-async uses MPI_File_iwrite_at, not the collective call, which crashes "
                    "in one MPI-IO component and does not overlap in another; its I/O time is the "
                    "time that transfers were under way, an upper bound."));
    return io_mpiio_describe(ctx, s->fh, into);
}

const struct io_driver io_driver_mpiio_async = {
    .name = "mpiio-async",
    .help = "MPI-IO, one nonblocking write of a subarray view per dump, while the ranks compute",
    .caps = IO_CAP_SERIAL_FILE | IO_CAP_HINTS,
    .state_size = sizeof(struct mpiio_async_state),
    .open = mpiio_async_open,
    .buffer = mpiio_async_buffer,
    .write = mpiio_async_write,
    .done = mpiio_async_done,
    .drain = mpiio_async_drain,
    .sync = mpiio_async_sync,
    .close = mpiio_async_close,
    .describe = mpiio_async_describe,
};
