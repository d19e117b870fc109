/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/resume.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/num.h"
#include "base/par.h"
#include "io/parts.h"
#include "io/read.h"
#include "io/reread.h"

/* ------------------------------------------------------------------ rank 0: is it this run */

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
    if (p->body.format != f->format)
        return err_set(ERR_USAGE,
                       "%s has format %s and writer %s writes %s: name another with --io, or none "
                       "for the one that began it",
                       f->target.path, io_format_name(p->body.format), f->writer->name,
                       io_format_name(f->format));
    if (p->layout == s->layout) return 0;
    return err_set(ERR_USAGE, "%s has layout %s and not %s", f->target.path,
                   io_layout_name(p->layout), io_layout_name(s->layout));
}

int io_resume_take(struct io_file *f, int64_t *claimed_n)
{
    struct io_target *t = &f->target;
    struct io_past *past = &t->past;
    /* Dumps in files of single ranks are continued once they are in one. */
    if (t->parts_n > 0 && t->old_bytes == 0)
        return err_set(ERR_USAGE,
                       "%s is empty, its dumps are in %s.rank00000 and so on: make one file of "
                       "them with nht1-verify --merge %s, then --restart again",
                       t->path, io_path_base(t->path), t->path);
    if (!t->old) TRY(io_manifest_load(&t->old, t->manifest, io_path_base(t->path), past));
    TRY(same_run(f, past));
    f->ctx.body = past->body;
    *claimed_n =
        num_min(past->complete_n, io_body_holds(&past->body, f->ctx.dump_bytes, t->old_bytes));
    f->resumed.claimed_n = past->complete_n;
    snprintf(f->resumed.kernel, sizeof f->resumed.kernel, "%s", past->kernel);
    return 0;
}

/* ------------------------------------------------------------------ reading */

int io_file_read(struct io_file *f, int64_t dump, const struct io_array *to)
{
    const struct io_spec *s = &f->spec;
    const struct io_read_spec spec = {.path = f->ctx.path,
                                      .writer = s->writer,
                                      .layout = s->layout,
                                      .n = s->n,
                                      .box = s->box,
                                      .dumps = &dump,
                                      .dumps_n = 1,
                                      .group = s->group,
                                      .tuning = s->tuning,
                                      .hints_n = s->hints_n,
                                      .hints = s->hints};
    struct io_reading *r;
    if (f->failed < 0) return f->failed;
    TRY(io_read_open(&r, f->ctx.comm, &spec));
    const int rc = io_read_dump(r, dump, to), close_rc = io_read_close(r);
    return rc < 0 ? rc : close_rc;
}

/* Rank 0: the manifest with the claims that hold, then a file of full length. */
static int put_claims(struct io_file *f)
{
    const struct io_identity id[] = {f->place.id, f->place.old};
    const bool merged = f->resumed.dumps_n == f->resumed.claimed_n;
    struct io_manifest *m = f->target.old;
    TRY(io_manifest_identities(m, id, 2));
    TRY(io_manifest_room(m, f->spec.dumps_n));
    f->manifest = m;
    f->target.old = NULL;
    TRY(io_manifest_resume(m, f->resumed.dumps_n, &f->spec, merged));
    /* Files of single ranks go when all that they held is in the one file, and before the manifest
     * that lists them: what is left of them is known to be ours. */
    if (merged) TRY(io_parts_remove(&f->target, 0));
    TRY(io_manifest_write(m, true));
    TRY(io_place_take(&f->place));
    /* With no dump to keep, a structure that is damaged is no loss. */
    if (f->format == IO_RAW || f->resumed.dumps_n > 0) return 0;
    TRY(io_container_make(&f->structure, f->format, &f->spec, io_manifest_run_id(m), f->ctx.info));
    const struct io_body *was = &f->ctx.body, *is = &f->structure.body;
    if (is->file_bytes != was->file_bytes || is->data_offset != was->data_offset)
        return err_set(
            ERR_USAGE,
            "%s was made by another version of the library and has no dump that could be "
            "kept: run without --restart",
            f->target.path);
    return io_container_put(&f->structure, f->target.path);
}

int io_resume(struct io_file *f, int64_t claimed_n)
{
    MPI_Comm comm = f->ctx.comm;
    const size_t bytes = (size_t)digest_words(f->spec.n) * sizeof *f->digest_part;
    const struct io_body *body = &f->ctx.body;
    int fd = -1, rc = 0;
    bool right = true;
    TRY_MPI(MPI_Bcast(&claimed_n, 1, MPI_INT64_T, 0, comm));
    if (claimed_n > 0) rc = par_agree(comm, io_reread_open(f->ctx.path, true, &fd));
    for (int64_t d = 0; rc == 0 && d < claimed_n; d++) {
        int64_t step = 0;
        memset(f->digest_part, 0, bytes);
        const struct io_reread from = {.fd = fd,
                                       .path = f->ctx.path,
                                       .start = body->data_offset + d * f->ctx.dump_bytes,
                                       .swapped = io_body_swapped(body)};
        rc = par_agree(comm, io_reread_digest(&from, f->ctx.view, f->digest_part));
        if (rc == 0)
            rc = io_manifest_has(comm, f->target.old, f->spec.n, d, f->digest_part, &step, &right);
        if (rc < 0 || !right) break;
        f->resumed.dumps_n = d + 1;
        f->resumed.step = step;
    }
    if (fd >= 0) close(fd);
    TRY(rc);
    TRY(par_agree(comm, f->ctx.rank == 0 ? put_claims(f) : 0));
    TRY_MPI(MPI_Bcast(&f->resumed, sizeof f->resumed, MPI_BYTE, 0, comm));
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
