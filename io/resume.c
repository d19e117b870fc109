/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/resume.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/par.h"
#include "io/parts.h"

/* Staged at a time while a file is read: the memory of a run is not to grow with the reading. */
#define PART_BYTES (INT64_C(8) << 20)

/* ------------------------------------------------------------------ rank 0: is it ours */

static int other_run(const struct io_file *f, const char *what, int64_t past, int64_t now)
{
    return err_set(ERR_USAGE,
                   "%s was written by a run with %s %" PRId64 " and this one has %" PRId64
                   ": give --restart the same problem, or another --out",
                   f->target.path, what, past, now);
}

static int same_run(const struct io_file *f, const struct io_past *p)
{
    const struct io_spec *s = &f->spec;
    if (p->n != s->n) return other_run(f, "N =", p->n, s->n);
    if (p->steps_n != s->steps_n)
        return other_run(f, "a number of steps of", p->steps_n, s->steps_n);
    if (p->interval != s->interval) return other_run(f, "an interval of", p->interval, s->interval);
    if (p->dumps_n != s->dumps_n)
        return other_run(f, "a number of dumps of", p->dumps_n, s->dumps_n);
    if (p->dt < s->dt || p->dt > s->dt) {
        return err_set(ERR_USAGE, "%s was written by a run with dt = %.17g and this one has %.17g",
                       f->target.path, p->dt, s->dt);
    }
    if (p->layout == s->layout) return 0;
    return err_set(ERR_USAGE, "%s has layout %s and not %s", f->target.path,
                   io_layout_name(p->layout), io_layout_name(s->layout));
}

/* Dumps in files of single ranks are continued once they are in one. */
static int in_one_file(const struct io_target *t)
{
    if (t->parts_n == 0 || t->old_bytes > 0) return 0;
    return err_set(ERR_USAGE,
                   "%s is empty, its dumps are in %s.rank00000 and so on: make one file of them "
                   "with nht1-verify --merge %s, then --restart again",
                   t->path, io_path_base(t->path), t->path);
}

int io_resume_take(struct io_file *f, int64_t *claimed_n)
{
    struct io_target *t = &f->target;
    struct io_past past;
    const int64_t bytes = f->ctx.dump_bytes * f->ctx.dumps_n;
    TRY(io_target_take(t, f->spec.path, false));
    TRY(in_one_file(t));
    TRY(io_manifest_load(&f->manifest, t->manifest, io_path_base(t->path), &past));
    TRY(same_run(f, &past));
    TRY(io_target_space(t, bytes));
    const int64_t there = t->old_bytes / f->ctx.dump_bytes;
    *claimed_n = past.complete_n < there ? past.complete_n : there;
    f->resumed.claimed_n = past.complete_n;
    snprintf(f->resumed.kernel, sizeof f->resumed.kernel, "%s", past.kernel);
    return io_target_extend(t, bytes);
}

/* ------------------------------------------------------------------ reading */

static int read_failed(const struct io_file *f, int errnum, int64_t bytes, int64_t offset)
{
    return err_set_errno(ERR_IO, errnum, "pread of %" PRId64 " bytes at offset %" PRId64 " of %s",
                         bytes, offset, f->ctx.path);
}

static int read_piece(const struct io_file *f, int fd, char *to, int64_t bytes, int64_t offset)
{
    while (bytes > 0) {
        ssize_t got = pread(fd, to, (size_t)bytes, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return read_failed(f, errno, bytes, offset);
        if (got == 0) {
            return err_set(ERR_IO, "%s ends at byte %" PRId64 ", before its dumps do", f->ctx.path,
                           offset);
        }
        to += got;
        offset += got;
        bytes -= got;
    }
    return 0;
}

static int read_view(const struct io_file *f, int fd, int64_t dump, const struct io_view *v,
                     char *buf)
{
    struct io_walk w;
    struct io_extent e;
    for (io_walk_start(&w, v); io_walk_next(&w, &e);) {
        TRY(read_piece(f, fd, buf + e.buffer_bytes, e.length_bytes,
                       dump * f->ctx.dump_bytes + e.offset_bytes));
    }
    return 0;
}

/* A box is read in parts of a few k-planes, each a box of its own. */
struct part {
    int64_t k0, planes_n; /* within the box */
    struct io_view view;
};

static int64_t planes_at_a_time(const struct io_view *v)
{
    int64_t plane_bytes = IO_NCOMP * IO_WORD_BYTES * v->box.n[0] * v->box.n[1];
    int64_t planes = plane_bytes > 0 ? PART_BYTES / plane_bytes : v->box.n[2];
    return planes > 1 ? planes : 1;
}

static bool part_next(const struct io_view *v, struct part *p)
{
    const int64_t step = planes_at_a_time(v);
    p->k0 += p->planes_n;
    p->planes_n = v->box.n[2] - p->k0 < step ? v->box.n[2] - p->k0 : step;
    p->view = *v;
    p->view.box.lo[2] += p->k0;
    p->view.box.n[2] = p->planes_n;
    return p->planes_n > 0;
}

static int open_to_read(const struct io_file *f, int *fd)
{
    *fd = open(f->ctx.path, O_RDONLY | O_CLOEXEC);
    return *fd >= 0 ? 0 : err_set_errno(ERR_IO, errno, "open %s for reading", f->ctx.path);
}

static int part_buffer(const struct io_view *v, char **buf)
{
    struct part p = {0};
    *buf = NULL;
    if (part_next(v, &p)) *buf = malloc((size_t)io_view_bytes(&p.view) + 1);
    return *buf || v->box.n[2] == 0 ? 0 : err_set(ERR_NOMEM, "no memory for reading a dump");
}

static int read_field(const struct io_file *f, int fd, int64_t dump, const struct io_array *to)
{
    char *buf;
    int rc = part_buffer(&f->view, &buf);
    for (struct part p = {0}; rc == 0 && part_next(&f->view, &p);) {
        const struct io_array part = {to->u + p.k0 * to->sk, to->sm, to->sj, to->sk};
        rc = read_view(f, fd, dump, &p.view, buf);
        if (rc == 0) io_view_unstage(&p.view, buf, &part);
    }
    free(buf);
    return rc;
}

int io_file_read(struct io_file *f, int64_t dump, const struct io_array *to)
{
    int fd;
    if (f->failed < 0) return f->failed;
    int rc = open_to_read(f, &fd);
    if (rc == 0) rc = read_field(f, fd, dump, to);
    if (fd >= 0) close(fd);
    return par_agree(f->ctx.comm, rc);
}

/* ------------------------------------------------------------------ is it right */

/* What a part is unstaged into: rows of i, [k][j][m][i]. */
static void digest_part(const struct part *p, const double *u, uint64_t *w)
{
    const struct io_box *b = &p->view.box;
    for (int64_t row = 0; row < b->n[2] * b->n[1] * IO_NCOMP; row++) {
        const int64_t m = row % IO_NCOMP, j = row / IO_NCOMP % b->n[1],
                      k = row / IO_NCOMP / b->n[1];
        digest_row(w, p->view.n, b->lo[0], b->n[0], b->lo[1] + j, b->lo[2] + k, (int)m,
                   u + row * b->n[0]);
    }
}

static int digest_parts(const struct io_file *f, int fd, int64_t dump, char *buf, double *u)
{
    const int64_t ni = f->view.box.n[0], nj = f->view.box.n[1];
    const struct io_array to = {u, ni, IO_NCOMP * ni, IO_NCOMP * ni * nj};
    for (struct part p = {0}; part_next(&f->view, &p);) {
        TRY(read_view(f, fd, dump, &p.view, buf));
        io_view_unstage(&p.view, buf, &to);
        digest_part(&p, u, f->digest_part);
    }
    return 0;
}

/* This rank's part of the digest of a dump, as the file has it. */
static int digest_here(struct io_file *f, int fd, int64_t dump)
{
    char *buf;
    const struct io_box *b = &f->view.box;
    const size_t words = (size_t)digest_words(f->spec.n);
    const size_t values = (size_t)(IO_NCOMP * b->n[0] * b->n[1] * planes_at_a_time(&f->view));
    memset(f->digest_part, 0, words * sizeof *f->digest_part);
    int rc = part_buffer(&f->view, &buf);
    double *u = malloc((values + 1) * sizeof *u);
    if (!u && rc == 0) rc = err_set(ERR_NOMEM, "no memory for reading a dump");
    if (rc == 0) rc = digest_parts(f, fd, dump, buf, u);
    free(u);
    free(buf);
    return rc;
}

/* Rank 0: whether the manifest has the same digest. Damaged entries are as good as wrong ones. */
static int same_digest(struct io_file *f, int64_t dump, int *same)
{
    const size_t words = (size_t)digest_words(f->spec.n);
    uint64_t *want = malloc(words * sizeof *want);
    int64_t step;
    *same = 0;
    if (!want) return err_set(ERR_NOMEM, "no memory for a digest");
    if (io_manifest_dump(f->manifest, dump, &step, want) == 0) {
        *same = memcmp(want, f->digest_sum, words * sizeof *want) == 0;
        if (*same) f->resumed.step = step;
    } else {
        err_clear();
    }
    free(want);
    return 0;
}

static int check_dump(struct io_file *f, int fd, int64_t dump, int *same)
{
    MPI_Comm comm = f->ctx.comm;
    int rc = 0;
    TRY(par_agree(comm, digest_here(f, fd, dump)));
    TRY_MPI(MPI_Reduce(f->digest_part, f->digest_sum, (int)digest_words(f->spec.n), MPI_UINT64_T,
                       MPI_SUM, 0, comm));
    if (f->ctx.rank == 0) rc = same_digest(f, dump, same);
    TRY(par_agree(comm, rc));
    TRY_MPI(MPI_Bcast(same, 1, MPI_INT, 0, comm));
    return 0;
}

static int count_right(struct io_file *f, int fd, int64_t claimed_n)
{
    int same = 1;
    for (int64_t d = 0; d < claimed_n && same; d++) {
        TRY(check_dump(f, fd, d, &same));
        if (same) f->resumed.dumps_n = d + 1;
    }
    return 0;
}

/* What is in memory may never have reached the device: after a failed flush Linux calls such pages
 * clean. So they are flushed and let go, and what is compared is what the device gives back. */
static int open_to_check(const struct io_file *f, int *fd)
{
    TRY(open_to_read(f, fd));
    while (fsync(*fd) != 0) {
        if (errno != EINTR) return err_set_errno(ERR_IO, errno, "fsync %s", f->ctx.path);
    }
    posix_fadvise(*fd, 0, 0, POSIX_FADV_DONTNEED);
    return 0;
}

static int read_and_count(struct io_file *f, int64_t claimed_n)
{
    int fd;
    int rc = par_agree(f->ctx.comm, open_to_check(f, &fd));
    if (rc == 0) rc = count_right(f, fd, claimed_n);
    if (fd >= 0) close(fd);
    return rc;
}

/* Files of single ranks go when all that they held is in the one file. */
static int withdraw_claims(struct io_file *f)
{
    const bool merged = f->resumed.dumps_n == f->resumed.claimed_n;
    if (f->ctx.rank != 0) return 0;
    TRY(io_manifest_resume(f->manifest, f->resumed.dumps_n, &f->spec, merged));
    if (merged) TRY(io_parts_remove(&f->target));
    return io_manifest_write(f->manifest, true);
}

int io_resume_check(struct io_file *f, int64_t claimed_n)
{
    TRY_MPI(MPI_Bcast(&claimed_n, 1, MPI_INT64_T, 0, f->ctx.comm));
    TRY(read_and_count(f, claimed_n));
    TRY(par_agree(f->ctx.comm, withdraw_claims(f)));
    TRY_MPI(MPI_Bcast(&f->resumed, sizeof f->resumed, MPI_BYTE, 0, f->ctx.comm));
    f->stats.dumps_n = f->stats.kept_n = f->resumed.dumps_n;
    f->ctx.first_dump = f->ctx.durable_n = f->resumed.dumps_n;
    return 0;
}

/* ------------------------------------------------------------------ before a run: what is it */

/* Rank 0's part of io_past_read. */
static int past_here(const char *path, struct io_past *past)
{
    char name[IO_PATH_MAX], manifest[IO_PATH_MAX + 8];
    struct io_manifest *m = NULL;
    if (!realpath(path, name)) snprintf(name, sizeof name, "%s", path);
    snprintf(manifest, sizeof manifest, "%s.json", name);
    TRY(io_manifest_load(&m, manifest, io_path_base(name), past));
    io_manifest_free(m);
    return 0;
}

int io_past_read(MPI_Comm comm, const char *path, struct io_past *past)
{
    int rank;
    memset(past, 0, sizeof *past);
    TRY_MPI(MPI_Comm_rank(comm, &rank));
    TRY(par_agree(comm, rank == 0 ? past_here(path, past) : 0));
    TRY_MPI(MPI_Bcast(past, sizeof *past, MPI_BYTE, 0, comm));
    return 0;
}
