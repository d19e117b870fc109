/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of rank r holds, dump after dump, the bytes of r's box in the order of the serial file:
 *
 *   mijk      [k][j][i][m]       ijkm      [m][k][j][i]       records   for each k: the leading
 *   marker if the box holds cell (0,0) of the plane, [m][j][i], the trailing marker if it holds
 *   cell (N-1,N-1)
 *
 * The dump is put together plane by plane (verify/shape.h), so that memory does not grow with it.
 */
#include "verify/merge.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/own.h"
#include "verify/manifest.h"
#include "verify/target.h"

#define BESIDE 64 /* files that are open beside the parts */

struct part {
    int64_t lo[3], n[3];
    int64_t dump_bytes; /* of this part */
    int64_t lead_bytes, trail_bytes;
    struct shape_file file;
    char path[4200];
};

struct merge {
    struct manifest manifest;
    const struct shape *shape;
    int64_t parts_n;
    struct part *part;
    unsigned char *plane, *slab; /* a plane of the file; a part's share of one, at most as long */
    int out;
    char tmp[4200];
    struct own *own; /* the lock, and the file until it is whole */
};

static int64_t slab_bytes(const struct merge *m, const struct part *p)
{
    return 8 * shape_plane_comps(m->shape) * p->n[0] * p->n[1] + p->lead_bytes + p->trail_bytes;
}

static int read_box(struct merge *m, const json_t *box, struct part *p)
{
    for (size_t q = 0; q < 3; q++) {
        p->lo[q] = (int64_t)json_integer_value(json_array_get(box, q));
        p->n[q] = (int64_t)json_integer_value(json_array_get(box, q + 3));
        const bool inside = p->lo[q] >= 0 && p->n[q] >= 0 && p->lo[q] <= m->shape->n &&
                            p->n[q] <= m->shape->n - p->lo[q];
        if (json_array_size(box) != 6 || !inside)
            return err_set(ERR_USAGE, "%s: its part has a box outside of the grid", p->path);
    }
    const int64_t n = m->shape->n, marker = shape_marker_bytes(m->shape);
    const bool last = p->lo[0] + p->n[0] == n && p->lo[1] + p->n[1] == n;
    const bool empty = p->n[0] * p->n[1] * p->n[2] == 0;
    p->lead_bytes = !empty && p->lo[0] == 0 && p->lo[1] == 0 ? marker : 0;
    p->trail_bytes = !empty && last ? marker : 0;
    const int64_t comps = 5 / shape_plane_comps(m->shape);
    p->dump_bytes = empty ? 0 : comps * p->n[2] * slab_bytes(m, p);
    return 0;
}

/* Whether a box shares a cell with one before it. */
static bool overlaps(const struct merge *m, const struct part *p)
{
    for (const struct part *q = m->part; q < p && p->dump_bytes > 0; q++) {
        bool apart = q->dump_bytes == 0;
        for (int a = 0; a < 3; a++)
            apart |= q->lo[a] + q->n[a] <= p->lo[a] || p->lo[a] + p->n[a] <= q->lo[a];
        if (!apart) return true;
    }
    return false;
}

/* All parts are open at a time; the limit that a shell sets is often 1024. Where it may not be raised so far,
 * opening says so. */
static void allow_open(int64_t files_n)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    const rlim_t needed = (rlim_t)files_n + BESIDE;
    if (limit.rlim_cur >= needed) return;
    limit.rlim_cur = needed < limit.rlim_max ? needed : limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) errno = 0;
}

static int read_parts(struct merge *m, const char *path)
{
    char name[4200];
    int64_t cells = 0, bytes;
    snprintf(name, sizeof name, "%s.json", path);
    const int there = manifest_read(name, &m->manifest);
    TRY(there);
    if (there == 0) return err_set(ERR_USAGE, "%s is missing: the manifest lists the parts", name);
    m->shape = &m->manifest.shape;
    m->parts_n = (int64_t)json_array_size(m->manifest.parts);
    if (m->parts_n == 0)
        return err_set(ERR_USAGE, "%s lists no parts: there is nothing to merge", name);
    m->part = mem_new(m->parts_n, sizeof *m->part, "%" PRId64 " parts", m->parts_n);
    if (!m->part) return ERR_NOMEM;
    for (int64_t r = 0; r < m->parts_n; r++)
        m->part[r].file.fd = -1;
    allow_open(m->parts_n);
    for (int64_t r = 0; r < m->parts_n; r++) {
        struct part *p = &m->part[r];
        snprintf(p->path, sizeof p->path, "%s.rank%05d", path, (int)r);
        TRY(read_box(m, json_array_get(m->manifest.parts, (size_t)r), p));
        TRY(shape_open(&p->file, "", p->path, &bytes));
        const int64_t least = m->manifest.complete_n * p->dump_bytes;
        if (bytes < least)
            return err_set(ERR_IO, "%s has %" PRId64 " bytes, the complete dumps need %" PRId64,
                           p->path, bytes, least);
        if (overlaps(m, p)) return err_set(ERR_USAGE, "%s: the boxes of two parts overlap", name);
        cells = num_sum(cells, p->n[0] * p->n[1] * p->n[2]);
    }
    if (cells == m->shape->n * m->shape->n * m->shape->n) return 0;
    return err_set(ERR_USAGE, "%s: the parts do not make up the grid", name);
}

/* Copies the rows of a part's share of a plane to their places. */
static void place_share(const struct merge *m, const struct part *p)
{
    const int64_t n = m->shape->n, comps = shape_plane_comps(m->shape);
    const bool apart = m->shape->layout == SHAPE_RECORDS; /* [m][j][i] */
    const int64_t cell = apart ? 8 : 8 * comps, row = cell * p->n[0];
    const int64_t blocks = apart ? comps : 1;
    const unsigned char *from = m->slab;
    unsigned char *payload = m->plane + shape_marker_bytes(m->shape);
    memcpy(m->plane, from, (size_t)p->lead_bytes);
    from += p->lead_bytes;
    for (int64_t b = 0; b < blocks; b++) {
        for (int64_t j = 0; j < p->n[1]; j++, from += row)
            memcpy(payload + cell * (p->lo[0] + n * (p->lo[1] + j + n * b)), from, (size_t)row);
    }
    memcpy(payload + cell * n * n * blocks, from, (size_t)p->trail_bytes);
}

static int write_plane(const struct merge *m, int64_t offset)
{
    const int64_t bytes = shape_plane_bytes(m->shape);
    for (int64_t done = 0; done < bytes;) {
        const ssize_t put =
            pwrite(m->out, m->plane + done, (size_t)(bytes - done), (off_t)(offset + done));
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0)
            return err_set_errno(ERR_IO, put < 0 ? errno : EIO,
                                 "writing at offset %" PRId64 " of %s", offset + done, m->tmp);
        done += put;
    }
    return 0;
}

/* Puts the plane of a dump together from the parts that have a share of it, and writes it. */
static int merge_plane(struct merge *m, int64_t dump, int64_t plane)
{
    const int64_t k = plane % m->shape->n, comp = plane / m->shape->n;
    for (int64_t r = 0; r < m->parts_n; r++) {
        const struct part *p = &m->part[r];
        if (p->dump_bytes == 0 || k < p->lo[2] || k >= p->lo[2] + p->n[2]) continue;
        const int64_t slab = comp * p->n[2] + k - p->lo[2];
        TRY(shape_read_bytes(&p->file, m->slab, slab_bytes(m, p),
                             dump * p->dump_bytes + slab * slab_bytes(m, p)));
        place_share(m, p);
    }
    return write_plane(m, (dump * shape_planes(m->shape) + plane) * shape_plane_bytes(m->shape));
}

static int merge_dumps(struct merge *m)
{
    const int64_t planes = shape_planes(m->shape);
    for (int64_t d = 0; d < m->manifest.dumps_n; d++)
        for (int64_t p = 0; p < planes && manifest_complete(&m->manifest, d); p++)
            TRY(merge_plane(m, d, p));
    const int64_t whole = m->shape->dumps_n * shape_dump_bytes(m->shape);
    if (ftruncate(m->out, (off_t)whole) == 0 && fsync(m->out) == 0) return 0;
    return err_set_errno(ERR_IO, errno, "ftruncate and fsync of %s", m->tmp);
}

static int make_file(struct merge *m, const char *path)
{
    /* What may stand where the file is going to be: nothing, or the empty file that perrank leaves.
     */
    char folder[PATH_MAX];
    struct stat st;
    const bool there = lstat(path, &st) == 0;
    if (!there && errno != ENOENT) return err_set_errno(ERR_IO, errno, "cannot look at %s", path);
    if (there && !S_ISREG(st.st_mode))
        return err_set(ERR_USAGE, "%s is not a regular file: move it away to merge", path);
    if (there && st.st_size > 0)
        return err_set(ERR_USAGE, "%s has content already: move it away to merge again", path);
    m->plane = mem_new(shape_plane_bytes(m->shape), 1, "a plane");
    m->slab = mem_new(shape_plane_bytes(m->shape), 1, "a plane");
    if (!m->plane || !m->slab) return ERR_NOMEM;
    int64_t complete_n = 0;
    for (int64_t d = 0; d < m->manifest.dumps_n; d++)
        complete_n += manifest_complete(&m->manifest, d);
    TRY(target_room("--merge", path, (double)complete_n * (double)shape_dump_bytes(m->shape)));
    snprintf(m->tmp, sizeof m->tmp, "%s.merging", path);
    if (lstat(m->tmp, &st) == 0)
        return err_set(ERR_USAGE, "%s is there, and is not of a merge: move it away", m->tmp);
    TRY(own_make(m->own, own_split(m->tmp, folder)));
    m->out = open(m->tmp, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (m->out < 0) return err_set_errno(ERR_IO, errno, "cannot open %s for writing", m->tmp);
    int rc = merge_dumps(m);
    if (rc == 0 && rename(m->tmp, path) != 0)
        rc = err_set_errno(ERR_IO, errno, "rename %s to %s", m->tmp, path);
    /* Whoever finds the whole file may remove the parts: its name must be durable by then. */
    return rc < 0 ? rc : js_sync_directory(path);
}

int merge_file(const char *path)
{
    struct merge m = {.out = -1};
    char folder[PATH_MAX], lock[4200];
    if (strlen(path) > 4000) return err_set(ERR_USAGE, "the name of the file is too long");
    snprintf(lock, sizeof lock, "%s.lock", own_split(path, folder));
    own_sweep(folder, 0);
    int rc = own_begin(&m.own, folder, 0, false);
    if (rc == 0) rc = own_lock(m.own, lock); /* a run may still be writing its parts */
    if (rc == 0) rc = read_parts(&m, path);
    if (rc == 0) rc = make_file(&m, path);
    for (int64_t r = 0; m.part && r < m.parts_n; r++)
        if (m.part[r].file.fd >= 0) close(m.part[r].file.fd);
    if (m.out >= 0) close(m.out);
    free(m.part);
    free(m.plane);
    free(m.slab);
    manifest_free(&m.manifest);
    own_end(m.own);
    return rc;
}
