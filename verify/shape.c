/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "verify/shape.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

static const struct {
    const char *name;
    int planes_per_k, comps, marker_bytes;
} layouts[SHAPE_LAYOUTS] = {
    [SHAPE_MIJK] = {"mijk", 1, BT_NCOMP, 0},
    [SHAPE_IJKM] = {"ijkm", BT_NCOMP, 1, 0},
    [SHAPE_RECORDS] = {"records", 1, BT_NCOMP, 4},
};

static const char *const endians[SHAPE_ENDIANS] = {
    [SHAPE_LITTLE] = "little",
    [SHAPE_BIG] = "big",
};

static const char *const formats[SHAPE_FORMATS] = {
    [SHAPE_RAW] = "raw",
    [SHAPE_HDF5] = "hdf5",
    [SHAPE_NETCDF] = "netcdf",
};

const char *shape_format_name(int format)
{
    return formats[format];
}

const char *shape_layout_name(int layout)
{
    return layout == SHAPE_UNKNOWN ? "unknown" : layouts[layout].name;
}

const char *shape_endian_name(int endian)
{
    return endian == SHAPE_UNKNOWN ? "unknown" : endians[endian];
}

int shape_format_find(const char *name)
{
    for (int f = 0; name && f < SHAPE_FORMATS; f++)
        if (strcmp(name, formats[f]) == 0) return f;
    return SHAPE_UNKNOWN;
}

int shape_layout_find(const char *name)
{
    for (int l = 0; name && l < SHAPE_LAYOUTS; l++)
        if (strcmp(name, layouts[l].name) == 0) return l;
    return SHAPE_UNKNOWN;
}

int shape_endian_find(const char *name)
{
    for (int e = 0; name && e < SHAPE_ENDIANS; e++)
        if (strcmp(name, endians[e]) == 0) return e;
    return SHAPE_UNKNOWN;
}

int64_t shape_planes(const struct shape *s)
{
    return layouts[s->layout].planes_per_k * s->n;
}

int shape_plane_comps(const struct shape *s)
{
    return layouts[s->layout].comps;
}

int shape_marker_bytes(const struct shape *s)
{
    return layouts[s->layout].marker_bytes;
}

int64_t shape_plane_bytes(const struct shape *s)
{
    return 8 * shape_plane_comps(s) * s->n * s->n + 2 * shape_marker_bytes(s);
}

int64_t shape_dump_bytes(const struct shape *s)
{
    return shape_planes(s) * shape_plane_bytes(s);
}

int64_t shape_offset(const struct shape *s, int64_t dump, const struct place *at)
{
    const int64_t n = s->n, cell = at->j * n + at->i;
    int64_t plane = at->k, inner;
    if (s->layout == SHAPE_MIJK) {
        inner = BT_NCOMP * cell + at->m;
    } else if (s->layout == SHAPE_IJKM) {
        plane += at->m * n;
        inner = cell;
    } else {
        inner = at->m * n * n + cell;
    }
    return dump * shape_dump_bytes(s) + plane * shape_plane_bytes(s) + shape_marker_bytes(s) +
           8 * inner;
}

uint64_t shape_rank(int64_t n, const struct place *at)
{
    return (uint64_t)(((at->k * n + at->j) * n + at->i) * BT_NCOMP + at->m);
}

uint32_t shape_u32(const struct shape *s, const void *bytes)
{
    uint32_t x;
    memcpy(&x, bytes, sizeof x);
    return s->endian == SHAPE_BIG ? be32toh(x) : le32toh(x);
}

uint64_t shape_u64(const struct shape *s, const void *bytes)
{
    uint64_t x;
    memcpy(&x, bytes, sizeof x);
    return s->endian == SHAPE_BIG ? be64toh(x) : le64toh(x);
}

int shape_open(struct shape_file *f, const char *what, const char *path, int64_t *bytes)
{
    struct stat st;
    int rc = 0;
    *f = (struct shape_file){open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), path, NULL, NULL};
    if (f->fd < 0) return err_set_errno(ERR_IO, errno, "%s%s: opening", what, path);
    if (fstat(f->fd, &st) != 0)
        rc = err_set_errno(ERR_IO, errno, "%s%s: stat", what, path);
    else if (S_ISDIR(st.st_mode))
        rc = err_set(ERR_IO, "%s%s: is a directory; name a file in it", what, path);
    else if (!S_ISREG(st.st_mode))
        rc = err_set(ERR_IO, "%s%s: is not a regular file, and only those are read", what, path);
    else if (bytes)
        *bytes = st.st_size;
    if (rc < 0) {
        close(f->fd);
        f->fd = -1;
    }
    return rc;
}

int shape_read_bytes(const struct shape_file *f, void *to, int64_t bytes, int64_t offset)
{
    if (f->container) return f->read(f->container, to, bytes, offset);
    for (int64_t done = 0; done < bytes;) {
        const ssize_t got =
            pread(f->fd, (char *)to + done, (size_t)(bytes - done), (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return err_set_errno(ERR_IO, errno, "%s: reading at byte %" PRId64, f->path,
                                 offset + done);
        if (got == 0)
            return err_set(ERR_IO,
                           "%s: became shorter while it was read (ends at byte %" PRId64 " now)",
                           f->path, offset + done);
        done += got;
    }
    return 0;
}

int shape_read(const struct shape_file *f, const struct shape *s, int64_t dump,
               const struct place *at, uint64_t *bits)
{
    uint64_t word; /* as it is in the file */
    TRY(shape_read_bytes(f, &word, sizeof word, shape_offset(s, dump, at)));
    *bits = shape_u64(s, &word);
    return 0;
}
