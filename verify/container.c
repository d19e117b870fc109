/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "verify/container.h"

#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/beside.h"
#include "base/crash.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "verify/plugin/plugin.h"

#define HEADER_MAX (INT64_C(256) << 20) /* bytes of memory for what describes the values */

struct container {
    const struct plugin *plugin;
    struct plugin_file file;
    struct shape shape;
    const char *path;
};

static const struct {
    const char *library, *package; /* what people call it, and Debian */
} formats[SHAPE_FORMATS] = {
    [SHAPE_HDF5] = {"HDF5", "libhdf5-dev"},
    [SHAPE_NETCDF] = {"netCDF", "libnetcdf-dev"},
};

static const char *const dimensions[SHAPE_LAYOUTS][PLUGIN_RANK] = {
    [SHAPE_MIJK] = {"dump", "z", "y", "x", "component"},
    [SHAPE_IJKM] = {"dump", "component", "z", "y", "x"},
};

int container_detect(const struct shape_file *f, int *format)
{
    char magic[8] = "";
    *format = SHAPE_RAW;
    if (pread(f->fd, magic, sizeof magic, 0) < 0)
        return err_set_errno(ERR_IO, errno, "%s: reading at byte 0", f->path);
    if (memcmp(magic, "\x89HDF\r\n\x1a\n", 8) == 0) *format = SHAPE_HDF5;
    if (memcmp(magic, "CDF", 3) == 0 && magic[3] && strchr("\1\2\5", magic[3]))
        *format = SHAPE_NETCDF;
    return 0;
}

/* A wrong count in a header can make a library ask for all memory that there is, and fill it. Sets
 * the limit of what the process may have to so many bytes more than it has. Returns the one before. */
static struct rlimit limit_memory(int64_t more_bytes)
{
    struct rlimit before = {RLIM_INFINITY, RLIM_INFINITY}, limit;
    long long data_pages = -1;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (statm && fscanf(statm, "%*s %*s %*s %*s %*s %lld", &data_pages) != 1) data_pages = -1;
    if (statm) fclose(statm);
    getrlimit(RLIMIT_DATA, &before);
    limit = before;
    limit.rlim_cur = (rlim_t)(data_pages * sysconf(_SC_PAGESIZE) + more_bytes);
    if (data_pages >= 0 && limit.rlim_cur < before.rlim_cur) setrlimit(RLIMIT_DATA, &limit);
    return before;
}

/* The plug-in is never unloaded, as its library may have left functions to be called at the end of the
 * program. */
static int load(struct container *c, int format)
{
    char file[64], name[PATH_MAX];
    snprintf(file, sizeof file, "libnht1-read-%s.so", shape_format_name(format));
    TRY(beside_library(name, file));
    const char *library = formats[format].library, *package = formats[format].package;
    if (access(name, F_OK) < 0)
        return err_set(ERR_IO,
                       "%s: this is %s, and nht1 was built without that library: install it (on "
                       "Debian %s) and build nht1 again",
                       c->path, library, package);
    void *object = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    c->plugin = object ? dlsym(object, PLUGIN_SYMBOL) : NULL;
    if (c->plugin) return 0;
    return err_set(ERR_IO,
                   "%s: this is %s, and that library cannot be loaded; install it (on Debian %s): "
                   "%s",
                   c->path, library, package, dlerror());
}

/* The shape that the dimensions have. Their names must be the right ones where they have any. */
static int read_shape(struct container *c, int64_t file_bytes)
{
    const int64_t *length = c->file.length;
    struct shape *s = &c->shape;
    const bool slow = length[1] == BT_NCOMP;
    *s = (struct shape){length[3], slow ? SHAPE_IJKM : SHAPE_MIJK,
                        htole16(1) == 1 ? SHAPE_LITTLE : SHAPE_BIG, length[0]};
    const int64_t first = slow ? 2 : 1, comps = slow ? length[1] : length[4];
    if (comps != BT_NCOMP || length[first] != s->n || length[first + 1] != s->n ||
        length[first + 2] != s->n || s->n < BT_N_MIN || s->n > BT_N_MAX)
        return err_set(ERR_VERIFY,
                       "solution has %" PRId64 " x %" PRId64 " x %" PRId64 " x %" PRId64
                       " x %" PRId64 " values: these are not dumps of BT (D x N x N x N x 5 or "
                       "D x 5 x N x N x N)",
                       length[0], length[1], length[2], length[3], length[4]);
    if (s->dumps_n > INT64_MAX / shape_dump_bytes(s) ||
        s->dumps_n * shape_dump_bytes(s) / PLUGIN_RATIO_MAX > file_bytes)
        return err_set(ERR_VERIFY,
                       "solution has %" PRId64 " dumps of %" PRId64
                       " bytes, more than a file of %" PRId64 " bytes can hold",
                       s->dumps_n, shape_dump_bytes(s), file_bytes);
    for (int q = 0; q < PLUGIN_RANK; q++) {
        const char *name = c->file.dimension[q], *right = dimensions[s->layout][q];
        if (name[0] && strcmp(name, right) != 0)
            return err_set(ERR_VERIFY, "dimension %d of solution is called \"%s\", not \"%s\"", q,
                           name, right);
    }
    return 0;
}

/* Whether there is as much memory as reading a sound file can take. Returns 0 or ERR_NOMEM. */
static int check_memory(const struct container *c)
{
    int64_t chunk_bytes = 8; /* unpacked, and while that grows its packed values and a copy */
    for (int q = 0; q < PLUGIN_RANK; q++)
        chunk_bytes = num_product(chunk_bytes, c->file.chunk[q]);
    void *all = mem_new(1, (size_t)num_sum(HEADER_MAX, num_product(4, chunk_bytes)),
                        "reading %s: %s", c->path, c->file.error);
    free(all);
    return all ? 0 : ERR_NOMEM;
}

/* After a call of the library that failed, with errno 0 before it and errnum after it: 0 where it makes no sense
 * of what is there, ERR_IO or ERR_NOMEM where it could not read the file. A library that asks the system for what
 * cannot be, a place before the beginning of the file or more memory than a sound file takes, has met damage; whatever else
 * the system refuses is not the file's. */
static int unreadable(const struct container *c, int errnum)
{
    if (errnum == 0 || errnum == EINVAL) return 0;
    if (errnum == ENOMEM) return check_memory(c);
    return err_set(ERR_IO, "%s: reading: %s", c->path, c->file.error);
}

/* A range of values is read as boxes, each as large as one can be: of a dimension as much as is
 * wanted, of those inside it all. Of whole values; ERR_VERIFY where the library cannot make sense of the
 * file, whose name the message lacks, or ERR_IO. */
static int read_values(struct container *c, void *to, int64_t bytes, int64_t offset)
{
    const int64_t *length = c->file.length;
    double *out = to;
    int64_t at = offset / 8, left = bytes / 8;
    while (left > 0) {
        int64_t from[PLUGIN_RANK], count[PLUGIN_RANK] = {1, 1, 1, 1, 1};
        int64_t rest = at, box = 1;
        for (int q = PLUGIN_RANK - 1; q >= 0; rest /= length[q--])
            from[q] = rest % length[q];
        for (int q = PLUGIN_RANK - 1; q >= 0; q--) {
            const int64_t wanted = left / box, there = length[q] - from[q];
            count[q] = wanted < there ? wanted : there;
            box *= count[q];
            if (count[q] < length[q]) break;
        }
        errno = 0;
        if (c->plugin->read(&c->file, from, count, out) < 0) {
            TRY(unreadable(c, errno));
            return err_set(ERR_VERIFY, "dump %" PRId64 ": %s", from[0], c->file.error);
        }
        at += box;
        out += box;
        left -= box;
    }
    return 0;
}

int container_open(struct shape_file *f, int format, int64_t bytes, struct shape *shape)
{
    char path[64];
    struct container *c = f->container = mem_new(1, sizeof *c, "opening %s", f->path);
    f->read = read_values;
    if (!c) return ERR_NOMEM;
    c->path = f->path;
    TRY(load(c, format));
    crash_expect(f->path, formats[format].library);
    /* By descriptor: the file that is open already, however a library would interpret its name. */
    snprintf(path, sizeof path, "/proc/self/fd/%d", f->fd);
    const struct rlimit before = limit_memory(HEADER_MAX);
    crash_limit(CRASH_OPEN_S);
    errno = 0;
    const int rc = c->plugin->open(&c->file, path, "solution");
    const int errnum = errno;
    crash_limit(0);
    setrlimit(RLIMIT_DATA, &before);
    if (rc < 0) {
        TRY(unreadable(c, errnum));
        return err_set(ERR_VERIFY, "%s", c->file.error);
    }
    TRY(read_shape(c, bytes));
    *shape = c->shape;
    return 0;
}

void container_close(struct shape_file *f)
{
    if (f->container && f->container->plugin) f->container->plugin->close(&f->container->file);
    free(f->container);
    f->container = NULL;
}

const char *container_library(const struct container *c)
{
    return c->file.library;
}

static int expect_number(struct container *c, struct findings *f, const char *name, double want)
{
    double have;
    errno = 0;
    if (c->plugin->number(&c->file, name, &have) < 0) {
        TRY(unreadable(c, errno));
        finding_add(f, "format", -1, "the attribute %s", c->file.error);
    } else if (have != want) {
        finding_add(f, "format", -1, "the attribute %s is %.17g, the manifest says %.17g", name,
                    have, want);
    }
    return 0;
}

static int expect_text(struct container *c, struct findings *f, const char *name, const char *want)
{
    char have[64];
    errno = 0;
    if (c->plugin->text(&c->file, name, have, sizeof have) < 0) {
        TRY(unreadable(c, errno));
        finding_add(f, "format", -1, "the attribute %s", c->file.error);
    } else if (strcmp(have, want) != 0) {
        finding_add(f, "format", -1, "the attribute %s is \"%s\", the manifest says \"%s\"", name,
                    have, want);
    }
    return 0;
}

/* A number for each dump: `factor` times its step. The first wrong one is reported. */
static int expect_series(struct container *c, const struct manifest *m, struct findings *f,
                         const char *name, double factor)
{
    double *have = mem_new(c->shape.dumps_n, sizeof *have + 1, "\"%s\" of the dumps", name);
    if (!have) return ERR_NOMEM;
    int rc = 0;
    errno = 0;
    if (c->plugin->series(&c->file, name, c->shape.dumps_n, have) < 0) {
        rc = unreadable(c, errno);
        if (rc == 0) finding_add(f, "format", -1, "the variable %s", c->file.error);
    } else {
        for (int64_t d = 0; d < m->dumps_n; d++) {
            const double want = factor * (double)m->dump[d].step;
            if (!m->dump[d].complete || fabs(have[d] - want) <= 1e-14 * want) continue;
            finding_add(f, "format", d, "%s of dump %" PRId64 " is %.17g, by the manifest %.17g",
                        name, d, have[d], want);
            break;
        }
    }
    free(have);
    return rc;
}

bool container_has_chunks(const struct container *c, const struct manifest *m)
{
    const int64_t side = m->chunk < m->shape.n ? m->chunk : m->shape.n;
    const bool slow = m->shape.layout == SHAPE_IJKM;
    const int64_t want[PLUGIN_RANK] = {1, slow ? 1 : side, side, side, slow ? side : BT_NCOMP};
    return m->chunk == 0 || memcmp(c->file.chunk, want, sizeof want) == 0;
}

int container_compare(struct container *c, const struct manifest *m, struct findings *findings)
{
    TRY(expect_number(c, findings, "n", (double)m->shape.n));
    TRY(expect_number(c, findings, "steps", (double)m->steps));
    TRY(expect_number(c, findings, "interval", (double)m->interval));
    TRY(expect_number(c, findings, "dt", m->dt));
    TRY(expect_text(c, findings, "layout", shape_layout_name(m->shape.layout)));
    /* A run that continues the file of another one has an identity of its own. */
    if (!m->resumed) TRY(expect_text(c, findings, "run_id", m->run_id));
    TRY(expect_series(c, m, findings, "step", 1));
    return expect_series(c, m, findings, "time", m->dt);
}
