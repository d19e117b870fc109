/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/writers/container.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beside.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/sys.h"
#include "base/version.h"
#include "io/writers/hint.h"
#include "io/writers/writer.h"

#define STEP_BYTES   16   /* of each dump: its step and time */
#define VARIABLES_N  3    /* step, time and solution */
#define HEADER_BYTES 1536 /* of netCDF: dimensions, variables and attributes, at most */
/* Of HDF5 1.10 in version 1.8's format: what is first in the file, with its first block. That has room for
 * so many nodes of the index of chunks, of 4176 bytes each, and so has every further one. */
#define FIRST_BYTES  (IO_FORMAT_BLOCK_BYTES + IO_FORMAT_PAGE_BYTES)
#define BLOCK_NODES  3
#define NODE_ENTRIES 64    /* of a node at most: of the chunks, or of the nodes a level below */
#define NODE_KEPT    57    /* that stay in a full one: the others go to a new one behind it */
#define BLOCKS_SPARE 128   /* of so many one more: here and there a page is left unused */
#define SPARE_BYTES  65536 /* more, for other versions of a library, where one crashes without */

/* ------------------------------------------------------------------ formats and their libraries */

static struct {
    const char *name, *library, *package;
    const struct io_format_plugin *plugin; /* once it was loaded */
} formats[] = {
    [IO_RAW] = {.name = "raw"},
    [IO_HDF5] = {"hdf5", "a parallel HDF5", "libhdf5-openmpi-dev", NULL},
    [IO_NETCDF] = {"netcdf", "the PnetCDF", "libpnetcdf-dev", NULL},
};

const char *io_format_name(enum io_format format)
{
    return formats[format].name;
}

int io_format_find(const char *name)
{
    for (int f = IO_RAW; f <= IO_NETCDF; f++)
        if (strcmp(formats[f].name, name) == 0) return f;
    return -1;
}

bool io_body_swapped(const struct io_body *b)
{
    const uint16_t probe = 1;
    const bool little = *(const unsigned char *)&probe == 1;
    return b->format != IO_RAW && little != (b->format == IO_HDF5);
}

int64_t io_body_holds(const struct io_body *b, int64_t dump_bytes, int64_t bytes)
{
    if (b->data_offset < 0) return bytes >= b->file_bytes ? INT64_MAX : 0;
    return bytes > b->data_offset ? (bytes - b->data_offset) / dump_bytes : 0;
}

int io_container_load(enum io_format format)
{
    char file[64], path[PATH_MAX];
    if (formats[format].plugin) return 0;
    snprintf(file, sizeof file, "libnht1-%s.so", formats[format].name);
    TRY(beside_library(path, file));
    if (access(path, R_OK) != 0)
        return err_set(
            ERR_USAGE,
            "this program was built without %s library for its MPI: install one (on Debian "
            "%s) and run make again",
            formats[format].library, formats[format].package);
    void *loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct io_format_plugin *plugin = loaded ? dlsym(loaded, IO_FORMAT_SYMBOL) : NULL;
    if (!plugin)
        return err_set(ERR_USAGE, "cannot load %s library: %s", formats[format].library, dlerror());
    if (plugin->bytes != sizeof *plugin)
        return err_set(ERR_USAGE, "%s belongs to another version of this program", path);
    formats[format].plugin = plugin;
    return 0;
}

const struct io_format_plugin *io_container_plugin(enum io_format format)
{
    return formats[format].plugin;
}

/* ------------------------------------------------------------------ the structure of a file */

struct io_format_block io_container_block(const struct io_view *v)
{
    struct io_format_block b = {{0}, {0}};
    const int first = v->layout == IO_IJKM; /* of z */
    const int component = v->layout == IO_IJKM ? 0 : 3;
    for (int q = 0; q < 3; q++) {
        b.start[first + q] = v->box.lo[2 - q];
        b.count[first + q] = v->box.n[2 - q];
    }
    b.count[component] = IO_NCOMP;
    return b;
}

/* Dimensions of the values, and of chunks of so many cells along each side, 0: there are none. */
static void set_dimensions(struct io_format_shape *shape, const struct io_spec *spec, int64_t cells)
{
    const struct io_view whole = {spec->n, spec->layout, {{0}, {spec->n, spec->n, spec->n}}};
    const struct io_format_block b = io_container_block(&whole);
    shape->dim[0] = spec->dumps_n;
    memcpy(shape->dim + 1, b.count, sizeof b.count);
    if (cells == 0) return;
    shape->chunk[0] = 1;
    for (int q = 0; q < IO_FORMAT_DIMS; q++)
        shape->chunk[q + 1] = num_min(b.count[q], cells);
    /* All components of a cell, or one of each. */
    shape->chunk[spec->layout == IO_IJKM ? 1 : 4] = spec->layout == IO_IJKM ? 1 : IO_NCOMP;
}

static int64_t pages(int64_t bytes)
{
    return num_product(num_quotient_up(bytes, IO_FORMAT_PAGE_BYTES), IO_FORMAT_PAGE_BYTES);
}

/* The index of chunks is a B-tree of version 1 ([HDF5] III.A.1), to which they are added in order. */
static int64_t index_nodes(int64_t chunks_n)
{
    int64_t all_n = 0, level_n = chunks_n;
    do {
        level_n = 1 + num_quotient_up(num_max(level_n - NODE_ENTRIES, 0), NODE_KEPT);
        all_n += level_n;
    } while (level_n > 1);
    return all_n;
}

/* Of a chunk, where there are any, or of all values. */
static int64_t piece_bytes_of(const struct io_format_shape *shape)
{
    int64_t bytes = IO_WORD_BYTES;
    for (int q = 0; q <= IO_FORMAT_DIMS; q++)
        bytes = num_product(bytes, shape->chunk[0] > 0 ? shape->chunk[q] : shape->dim[q]);
    return bytes;
}

bool io_container_apart(const struct io_body *b, const struct io_spec *spec)
{
    struct io_format_shape shape = {0};
    set_dimensions(&shape, spec, b->chunk);
    return b->chunk == 0 || piece_bytes_of(&shape) >= IO_FORMAT_PAGED_BYTES;
}

static int64_t hdf5_bytes(const struct io_format_shape *shape)
{
    const int64_t series_bytes = num_product(shape->dim[0], STEP_BYTES);
    const bool chunked = shape->chunk[0] > 0;
    int64_t pieces_n = 1, piece_bytes = piece_bytes_of(shape);
    for (int q = 0; chunked && q <= IO_FORMAT_DIMS; q++)
        pieces_n = num_product(pieces_n, num_quotient_up(shape->dim[q], shape->chunk[q]));
    int64_t first_bytes = num_sum(FIRST_BYTES, series_bytes);
    if (series_bytes / 2 >= IO_FORMAT_PAGED_BYTES)
        first_bytes = num_sum(first_bytes, 2 * IO_FORMAT_PAGE_BYTES);
    if (piece_bytes >= IO_FORMAT_PAGED_BYTES) first_bytes = pages(first_bytes);
    /* Every chunk is whole, also one that reaches past the end of the cube. */
    if (chunked && piece_bytes >= IO_FORMAT_PAGED_BYTES) piece_bytes = pages(piece_bytes);
    const int64_t more_nodes = chunked ? num_max(index_nodes(pieces_n) - BLOCK_NODES, 0) : 0;
    int64_t blocks_n = num_quotient_up(more_nodes, BLOCK_NODES);
    blocks_n += blocks_n / BLOCKS_SPARE;
    const int64_t blocks_bytes = num_product(blocks_n, IO_FORMAT_BLOCK_BYTES);
    return num_sum(num_sum(first_bytes, blocks_bytes), num_product(pieces_n, piece_bytes));
}

/* Hints may align the first variable, or each of them. */
static int64_t netcdf_bytes(const struct io_spec *spec)
{
    const int64_t values_bytes = num_product(spec->dumps_n, io_dump_bytes(spec->layout, spec->n));
    const int64_t series_bytes = num_product(spec->dumps_n, STEP_BYTES);
    const char *header = io_hint_value(spec->hints_n, spec->hints, "nc_header_align_size");
    const char *each = io_hint_value(spec->hints_n, spec->hints, "nc_var_align_size");
    const int64_t header_bytes = header ? strtoll(header, NULL, 10) : 0;
    const int64_t aligned_bytes = header_bytes + VARIABLES_N * (each ? strtoll(each, NULL, 10) : 0);
    const int64_t first_bytes = header_bytes > 0 ? num_sum(pages(HEADER_BYTES), series_bytes)
                                                 : pages(num_sum(HEADER_BYTES, series_bytes));
    return num_sum(num_sum(first_bytes, aligned_bytes), values_bytes);
}

int64_t io_container_bytes(enum io_format format, const struct io_spec *spec)
{
    struct io_format_shape shape = {0};
    if (format == IO_RAW) return num_product(spec->dumps_n, io_dump_bytes(spec->layout, spec->n));
    if (format == IO_NETCDF) return netcdf_bytes(spec);
    set_dimensions(&shape, spec, spec->tuning.chunk);
    return hdf5_bytes(&shape);
}

static int make_file(struct io_structure *s, const struct io_spec *spec, const char *run_id,
                     MPI_Info info, const int64_t *step)
{
    static const char *const mijk[] = {"dump", "z", "y", "x", "component"};
    static const char *const ijkm[] = {"dump", "component", "z", "y", "x"};
    struct io_format_shape shape = {
        .dim_name = spec->layout == IO_MIJK ? mijk : ijkm,
        .step = step,
        .n = spec->n,
        .interval = spec->interval,
        .steps_n = spec->steps_n,
        .dt = spec->dt,
        .layout = io_layout_name(spec->layout),
        .run_id = run_id,
        .source = "nht1-bt " NHT1_VERSION, /* of a length that a restart can make again */
        .info = info};
    const int64_t values_bytes = spec->dumps_n * io_dump_bytes(spec->layout, spec->n);
    char path[64], why[IO_FORMAT_WHY] = "";
    struct stat st;
    set_dimensions(&shape, spec, s->body.chunk);
    /* HDF5 does not survive a file that cannot become as long as it is to be. */
    const int64_t most_bytes = num_sum(io_container_bytes(s->body.format, spec), SPARE_BYTES);
    if (sys_file_limit() < most_bytes)
        return err_set(ERR_IO,
                       "cannot make %s: it takes up to %" PRId64
                       " bytes, and a limit on file sizes (ulimit -f) allows less",
                       spec->path, most_bytes);
    snprintf(path, sizeof path, "/proc/self/fd/%d", s->fd);
    if (formats[s->body.format].plugin->create(&shape, path, &s->body.data_offset, why) < 0)
        return err_set(ERR_IO, "cannot make the structure of %s: %s", spec->path, why);
    const bool chunked = s->body.data_offset < 0;
    const int64_t end = chunked ? 0 : s->body.data_offset + values_bytes;
    if (fstat(s->fd, &st) != 0) return err_set_errno(ERR_IO, errno, "fstat of a file in memory");
    /* A library may not extend the file to its end before somebody writes there. */
    s->body.file_bytes = num_max((int64_t)st.st_size, end);
    if (chunked) return 0;
    if (s->body.data_offset % IO_WORD_BYTES == 0 && s->body.file_bytes == end) return 0;
    return err_set(
        ERR_IO,
        "cannot make the structure of %s: its values begin at byte %" PRId64
        ", at no multiple of %d, or are not its last part; does a hint, or PNETCDF_HINTS "
        "in the environment, align them so?",
        spec->path, s->body.data_offset, IO_WORD_BYTES);
}

int io_container_make(struct io_structure *s, enum io_format format, const struct io_spec *spec,
                      const char *run_id, MPI_Info info)
{
    *s = (struct io_structure){.fd = -1, .body = {.format = format}};
    if (format == IO_HDF5) s->body.chunk = spec->tuning.chunk; /* the others know no chunks */
    TRY(io_container_load(format));
    int64_t *step = mem_new(spec->dumps_n, sizeof *step, "the steps of %s", spec->path);
    s->fd = memfd_create("nht1-structure", MFD_CLOEXEC);
    int rc = step ? 0 : ERR_NOMEM;
    if (s->fd < 0) rc = err_set_errno(ERR_IO, errno, "memfd_create");
    for (int64_t d = 0; rc == 0 && d < spec->dumps_n; d++)
        step[d] = num_min((d + 1) * spec->interval, spec->steps_n);
    if (rc == 0) rc = make_file(s, spec, run_id, info, step);
    free(step);
    return rc;
}

/* Copies what is not a hole; the rest of the file is zeros anyway. */
int io_container_put(const struct io_structure *s, const char *path)
{
    char page[65536];
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    int rc = fd >= 0 ? 0 : err_set_errno(ERR_IO, errno, "open %s for writing", path);
    off_t end = 0;
    for (off_t at; rc == 0 && (at = lseek(s->fd, end, SEEK_DATA)) >= 0;) {
        end = lseek(s->fd, at, SEEK_HOLE);
        for (ssize_t done; rc == 0 && at < end; at += done) {
            const off_t part = num_min(end - at, (off_t)sizeof page);
            done = pread(s->fd, page, (size_t)part, at);
            if (done > 0) done = pwrite(fd, page, (size_t)done, at);
            if (done <= 0)
                rc = err_set_errno(ERR_IO, done < 0 ? errno : EIO, "writing the structure of %s",
                                   path);
        }
    }
    while (rc == 0 && fsync(fd) != 0)
        if (errno != EINTR) rc = err_set_errno(ERR_IO, errno, "fsync %s", path);
    if (fd >= 0) close(fd);
    return rc;
}

void io_container_free(struct io_structure *s)
{
    if (s->fd >= 0) close(s->fd);
    s->fd = -1;
}
