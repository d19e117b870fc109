/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/reread.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/err.h"

/* Staged at a time: the memory of a run is not to grow with the reading. */
#define PART_BYTES (INT64_C(8) << 20)

/* Some planes of a view, as a view of its own. */
struct planes {
    struct io_view view;
    int64_t k0; /* its first plane, counted inside the whole box */
};

static int64_t planes_at_a_time(const struct io_view *v)
{
    const int64_t plane_bytes = IO_NCOMP * IO_WORD_BYTES * v->box.n[0] * v->box.n[1] + 1;
    return plane_bytes < PART_BYTES ? PART_BYTES / plane_bytes : 1;
}

/* The planes after these; {0} before the first call. False behind the last. */
static bool planes_next(const struct io_view *v, struct planes *p)
{
    const int64_t k0 = p->k0 + p->view.box.n[2], most = planes_at_a_time(v);
    p->view = *v;
    p->k0 = k0;
    p->view.box.lo[2] += k0;
    p->view.box.n[2] = v->box.n[2] - k0 < most ? v->box.n[2] - k0 : most;
    return p->view.box.n[2] > 0;
}

static int read_piece(int fd, const char *path, char *to, int64_t bytes, int64_t offset)
{
    while (bytes > 0) {
        const int64_t call = bytes < INT64_C(1) << 30 ? bytes : INT64_C(1) << 30;
        const ssize_t got = pread(fd, to, (size_t)call, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            return err_set_errno(ERR_IO, errno,
                                 "pread of %" PRId64 " bytes at offset %" PRId64 " of %s", bytes,
                                 offset, path);
        }
        if (got == 0) {
            return err_set(ERR_IO, "%s ends at byte %" PRId64 ", before its dumps do", path,
                           offset);
        }
        to += got;
        offset += got;
        bytes -= got;
    }
    return 0;
}

static int read_view(int fd, const char *path, const struct io_view *v, int64_t start, char *buf)
{
    struct io_walk w;
    struct io_extent e;
    for (io_walk_start(&w, v); io_walk_next(&w, &e);) {
        TRY(read_piece(fd, path, buf + e.buffer_bytes, e.length_bytes, start + e.offset_bytes));
    }
    return 0;
}

/* Room for staging, the most that is needed at a time. */
static int staging(const struct io_view *v, bool whole, char **buf)
{
    struct planes p = {0};
    planes_next(v, &p);
    *buf = malloc((size_t)io_view_bytes(whole ? v : &p.view) + 1);
    return *buf ? 0 : err_set(ERR_NOMEM, "no memory for reading a dump");
}

int io_reread_open(const char *path, bool from_device, int *fd)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0) return err_set_errno(ERR_IO, errno, "open %s for reading", path);
    while (from_device && fsync(*fd) != 0) {
        if (errno == EINTR) continue;
        const int rc = err_set_errno(ERR_IO, errno, "fsync %s", path);
        close(*fd);
        *fd = -1;
        return rc;
    }
    if (from_device) posix_fadvise(*fd, 0, 0, POSIX_FADV_DONTNEED);
    return 0;
}

int io_reread_field(int fd, const char *path, const struct io_view *v, int64_t start,
                    const struct io_array *to)
{
    char *buf;
    int rc = staging(v, false, &buf);
    for (struct planes p = {0}; rc == 0 && planes_next(v, &p);) {
        const struct io_array at = {to->u + p.k0 * to->sk, to->sm, to->sj, to->sk};
        rc = read_view(fd, path, &p.view, start, buf);
        if (rc == 0) io_view_unstage(&p.view, buf, &at);
    }
    free(buf);
    return rc;
}

/* Rows of i, [k][j][m][i], as they were unstaged. */
static void digest_rows(const struct io_view *v, const double *u, uint64_t *words)
{
    const struct io_box *b = &v->box;
    for (int64_t row = 0; row < b->n[2] * b->n[1] * IO_NCOMP; row++) {
        const int64_t m = row % IO_NCOMP, j = row / IO_NCOMP % b->n[1],
                      k = row / IO_NCOMP / b->n[1];
        digest_row(words, v->n, b->lo[0], b->n[0], b->lo[1] + j, b->lo[2] + k, (int)m,
                   u + row * b->n[0]);
    }
}

int io_reread_digest(int fd, const char *path, const struct io_view *v, int64_t start, bool packed,
                     uint64_t *words)
{
    const int64_t ni = v->box.n[0], nj = v->box.n[1], most = planes_at_a_time(v);
    const int64_t nk = packed || v->box.n[2] < most ? v->box.n[2] : most;
    char *buf;
    int rc = staging(v, packed, &buf);
    double *u = malloc((size_t)(IO_NCOMP * ni * nj * nk) * sizeof *u + 1);
    const struct io_array to = {u, ni, IO_NCOMP * ni, IO_NCOMP * ni * nj};
    if (!u && rc == 0) rc = err_set(ERR_NOMEM, "no memory for reading a dump");
    if (rc == 0 && packed) {
        rc = read_piece(fd, path, buf, io_view_bytes(v), start);
        if (rc == 0) io_view_unstage(v, buf, &to);
        if (rc == 0) digest_rows(v, u, words);
    }
    for (struct planes p = {0}; rc == 0 && !packed && planes_next(v, &p);) {
        rc = read_view(fd, path, &p.view, start, buf);
        if (rc == 0) io_view_unstage(&p.view, buf, &to);
        if (rc == 0) digest_rows(&p.view, u, words);
    }
    free(u);
    free(buf);
    return rc;
}
