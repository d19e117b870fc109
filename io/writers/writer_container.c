/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dumps as one variable of an HDF5 or netCDF (CDF-5) file, each rank's cells a part of it: by
 * collective calls, or each rank for itself. The library's own calls are in the plug-ins,
 * io/writers/format/hdf5.c and netcdf.c. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/err.h"
#include "base/num.h"
#include "base/par.h"
#include "base/stop.h"
#include "io/writers/container.h"
#include "io/writers/fd.h"
#include "io/writers/guard.h"
#include "io/writers/mpiio.h"
#include "io/writers/writer.h"

#define STRUCTURE_BYTES (1 << 20) /* of a container whose chunks lie among it */

static int64_t values_of(const struct io_format_block *b)
{
    return b->count[0] * b->count[1] * b->count[2] * b->count[3];
}

/* What of a box comes next: the longest block that begins with its value number at, counted as the
 * values lie in the staging buffer, is contiguous there and has no more than most values. Returns how
 * many it has; none behind the last. */
static int64_t next_block(const struct io_format_block *box, int64_t at, int64_t most,
                          struct io_format_block *b)
{
    const int64_t left = values_of(box) - at;
    int64_t whole = 1,
            rest = at; /* values of what is taken as a whole along all faster dimensions */
    int cut = IO_FORMAT_DIMS - 1; /* the dimension that is cut */
    *b = (struct io_format_block){{0}, {0}};
    if (left <= 0) return 0;
    if (most > left) most = left;
    while (cut > 0 && at % (whole * box->count[cut]) == 0 && whole * box->count[cut] <= most)
        whole *= box->count[cut--];
    for (int q = IO_FORMAT_DIMS - 1; q >= 0; q--) {
        const int64_t first = rest % box->count[q];
        rest /= box->count[q];
        b->start[q] = box->start[q] + first;
        b->count[q] = q > cut    ? box->count[q]
                      : q == cut ? num_min(box->count[q] - first, most / whole)
                                 : 1;
    }
    return values_of(b);
}

/* Values of one call at most. */
static int64_t most_values(const struct io_context *ctx)
{
    return num_max(1, ctx->tuning.call_bytes / IO_WORD_BYTES);
}

/* Whether this rank can read the structure, or as much of it as there is before the dumps: HDF5 does not come
 * back, on any rank, where one cannot. */
static int read_structure(const struct io_context *ctx, int fd)
{
    const struct io_body *body = &ctx->body;
    const int64_t bytes =
        body->data_offset >= 0 ? body->data_offset : num_min(body->file_bytes, STRUCTURE_BYTES);
    char piece[16384];
    for (int64_t at = 0; at < bytes;) {
        const ssize_t done = pread(fd, piece, (size_t)num_min(bytes - at, sizeof piece), (off_t)at);
        if (done == 0) break; /* the library says what is wrong */
        if (done < 0 && errno != EINTR)
            return err_set_errno(ERR_IO, errno, "reading the structure of %s at offset %" PRId64,
                                 ctx->path, at);
        if (done > 0) at += done;
    }
    return 0;
}

static int open_container(void *state, const struct io_context *ctx, bool collective)
{
    struct io_container *c = state;
    const enum io_format format = ctx->body.format;
    char longer[4], why[IO_FORMAT_WHY] = "";
    *c = (struct io_container){
        .fd = -1, .collective = collective, .mine = io_container_block(ctx->view)};
    for (int r = 0; r < ctx->size; r++) {
        struct io_format_block b;
        const struct io_format_block box = io_container_block(&ctx->all_views[r]);
        int64_t calls = 0, n;
        for (int64_t at = 0; (n = next_block(&box, at, most_values(ctx), &b)) > 0; at += n)
            calls++;
        c->calls_n = num_max(c->calls_n, calls);
    }
    /* As in io_mpiio_open: an error of one rank alone has to be found before the collective call. */
    int rc = io_fd_open(ctx, &c->fd), opened;
    const int seen = rc == 0 ? open(ctx->path, O_RDONLY | O_CLOEXEC) : -1;
    if (rc == 0 && seen < 0) rc = err_set_errno(ERR_IO, errno, "open %s for reading", ctx->path);
    if (rc == 0) rc = read_structure(ctx, seen);
    if (rc == 0) rc = io_container_load(format);
    rc = par_agree(ctx->comm, rc);
    if (rc < 0) {
        if (seen >= 0) close(seen);
        return rc;
    }
    c->plugin = io_container_plugin(format);
    io_guard_begin(ctx);
    io_guard_opening(seen);
    rc = c->plugin->open(ctx->comm, par_file_name(ctx->path, longer), !ctx->plan, collective,
                         ctx->info, &c->file, why);
    io_guard_at(NULL);
    close(seen);
    rc = par_agree(ctx->comm, io_mpiio_judge(ctx, rc < 0, "opening", why));
    if (rc == 0) return 0;
    /* Closing is collective: a handle that only some ranks have is abandoned. */
    opened = c->file != NULL;
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &opened, 1, MPI_INT, MPI_MIN, ctx->comm));
    if (!opened) c->file = NULL;
    return rc;
}

static int open_collective(void *state, const struct io_context *ctx)
{
    return open_container(state, ctx, true);
}

static int open_independent(void *state, const struct io_context *ctx)
{
    return open_container(state, ctx, false);
}

/* After an error a rank still makes the remaining collective calls: the others wait in them. */
static int container_write(void *state, const struct io_context *ctx, int64_t dump, const void *buf)
{
    const struct io_container *c = state;
    const char *call = c->plugin->put_name[c->collective];
    const int64_t values = values_of(&c->mine);
    char why[IO_FORMAT_WHY] = "";
    int rc = 0;
    for (int64_t i = 0, at = 0; c->collective ? i < c->calls_n : rc == 0 && at < values; i++) {
        struct io_format_block b;
        const int64_t n = next_block(&c->mine, at, most_values(ctx), &b);
        ++*ctx->requests_n;
        io_guard_at(call);
        const int put_rc = c->plugin->put(c->file, dump, &b, (double *)buf + at, why);
        io_guard_at(NULL);
        const int wrote = io_mpiio_judge(ctx, put_rc < 0, call, why);
        if (rc == 0) rc = wrote;
        at += n;
    }
    return rc;
}

int io_container_read(void *state, const struct io_context *ctx, int64_t dump,
                      const struct io_taker *to)
{
    const struct io_container *c = state;
    const char *call = c->plugin->get_name[c->collective];
    const int64_t values = values_of(&c->mine);
    char why[IO_FORMAT_WHY] = "", which[ERR_MESSAGE_MAX / 2];
    int rc = 0;
    if (!c->collective && stop_requested()) return io_fd_interrupted(ctx);
    for (int64_t i = 0, at = 0; c->collective ? i < c->calls_n : rc == 0 && at < values; i++) {
        struct io_format_block b;
        const int64_t n = next_block(&c->mine, at, most_values(ctx), &b);
        ++*ctx->requests_n;
        io_guard_at(call);
        const int get_rc = c->plugin->get(c->file, dump, &b, (double *)(void *)ctx->part, why);
        io_guard_at(NULL);
        const int got = io_mpiio_judge(ctx, get_rc < 0, call, why);
        if (rc == 0) rc = got;
        if (rc == 0)
            to->take(to->state, ctx->view, ctx->part, at * IO_WORD_BYTES, n * IO_WORD_BYTES);
        at += n;
    }
    if (rc == 0) return 0;
    snprintf(which, sizeof which,
             "cannot read dump %" PRId64
             " of %.256s (the first is 0), take another and see the system's log: ",
             dump, ctx->path);
    err_prefix(which);
    return rc;
}

int io_container_open(struct io_container *c, const char *path, enum io_format format)
{
    char longer[4], why[IO_FORMAT_WHY] = "";
    *c = (struct io_container){0};
    TRY(io_container_load(format));
    c->plugin = io_container_plugin(format);
    crash_expect(path, format == IO_HDF5 ? "HDF5" : "netCDF");
    crash_limit(CRASH_OPEN_S);
    const int rc = c->plugin->open(MPI_COMM_SELF, par_file_name(path, longer), false, false,
                                   MPI_INFO_NULL, &c->file, why);
    crash_limit(0);
    crash_end();
    if (rc == 0) return 0;
    return err_set(ERR_IO, "opening %s: %s", path, why);
}

void io_container_select(struct io_container *c, const struct io_view *v)
{
    c->mine = io_container_block(v);
}

void io_container_close(struct io_container *c)
{
    char why[IO_FORMAT_WHY];
    if (c->file) c->plugin->close(c->file, why);
    c->file = NULL;
}

static int container_sync(void *state, const struct io_context *ctx)
{
    const struct io_container *c = state;
    return c->file ? io_fd_sync(ctx, c->fd) : 0;
}

static int container_close(void *state, const struct io_context *ctx)
{
    struct io_container *c = state;
    char why[IO_FORMAT_WHY] = "";
    int rc = 0;
    io_guard_at(IO_GUARD_CLOSING);
    if (c->file) rc = c->plugin->close(c->file, why);
    io_guard_at(NULL);
    rc = io_mpiio_judge(ctx, rc < 0, IO_GUARD_CLOSING, why);
    c->file = NULL;
    io_guard_end(ctx);
    const int close_rc = io_fd_close(ctx, &c->fd);
    return rc < 0 ? rc : close_rc;
}

static int container_describe(void *state, const struct io_context *ctx, json_t *into)
{
    const struct io_container *c = state;
    char library[64] = "", why[IO_FORMAT_WHY] = "";
    MPI_Info info;
    c->plugin->library(library, sizeof library);
    json_object_set_new(into, "format", json_string(io_format_name(ctx->body.format)));
    json_object_set_new(into, "library", json_string(library));
    json_object_set_new(into, "file_bytes", json_integer(ctx->body.file_bytes));
    if (ctx->body.chunk > 0) json_object_set_new(into, "chunk", json_integer(ctx->body.chunk));
    if (c->plugin->hints(c->file, &info, why) < 0) return err_set(ERR_IO, "%s: %s", ctx->path, why);
    return io_mpiio_report_info(info, into);
}

static bool format_loads(enum io_format format, char *why)
{
    const bool loaded = io_container_load(format) == 0;
    if (!loaded) snprintf(why, IO_WRITER_WHY, "%s", err_message());
    if (!loaded) err_clear();
    return loaded;
}

static bool hdf5_usable(char *why)
{
    return format_loads(IO_HDF5, why);
}

static bool pnetcdf_usable(char *why)
{
    return format_loads(IO_NETCDF, why);
}

#define CAPS (IO_CAP_SERIAL_FILE | IO_CAP_HINTS)
#define CONTAINER                                                                                  \
    .state_size = sizeof(struct io_container), .write = container_write,                           \
    .read = io_container_read, .sync = container_sync, .close = container_close,                   \
    .describe = container_describe

const struct io_writer io_writer_hdf5 = {
    .name = "hdf5",
    .help = "one dataset in an HDF5 file, one collective write of a hyperslab per dump",
    .caps = CAPS | IO_CAP_CHUNK | IO_CAP_COLLECTIVE,
    .needs = IO_NEED_COLLECTIVE | IO_NEED_VIEW,
    .format = IO_HDF5,
    .usable = hdf5_usable,
    .open = open_collective,
    CONTAINER,
};

const struct io_writer io_writer_hdf5_indep = {
    .name = "hdf5-indep",
    .help = "as hdf5, with independent writes",
    .caps = CAPS | IO_CAP_CHUNK,
    .needs = IO_NEED_INDEPENDENT | IO_NEED_VIEW,
    .format = IO_HDF5,
    .usable = hdf5_usable,
    .open = open_independent,
    CONTAINER,
};

const struct io_writer io_writer_pnetcdf = {
    .name = "pnetcdf",
    .help = "one variable in a netCDF file, one collective write of PnetCDF per dump",
    .caps = CAPS | IO_CAP_COLLECTIVE,
    .needs = IO_NEED_COLLECTIVE | IO_NEED_VIEW,
    .format = IO_NETCDF,
    .usable = pnetcdf_usable,
    .open = open_collective,
    CONTAINER,
};

const struct io_writer io_writer_pnetcdf_indep = {
    .name = "pnetcdf-indep",
    .help = "as pnetcdf, with independent writes",
    .caps = CAPS,
    .needs = IO_NEED_INDEPENDENT | IO_NEED_VIEW,
    .format = IO_NETCDF,
    .usable = pnetcdf_usable,
    .open = open_independent,
    CONTAINER,
};
