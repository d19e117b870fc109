/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/target/resume.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/conf.h"
#include "base/digest.h"
#include "base/err.h"
#include "base/num.h"
#include "base/par.h"
#include "base/watch.h"
#include "io/target/parts.h"
#include "io/read.h"
#include "io/target/reread.h"

/* ------------------------------------------------------------------ rank 0: whether it is this run */

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
    char word[CONF_WORD_MAX];
    /* Dumps in files of single ranks are continued once they are in one. */
    if (t->parts_n > 0 && t->old_bytes == 0)
        return err_set(ERR_USAGE,
                       "%s is empty, its dumps are in %s.rank00000 and so on: make one file of "
                       "them with nht1-verify --merge %s, then --restart again",
                       t->path, io_path_base(t->path), conf_file_word(t->path, word));
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

/* Reads the state of a dump with the writer itself, and compares the digest of what it has read. */
static int read_state(struct io_file *f, int64_t dump, bool *right)
{
    const struct io_spec *s = &f->spec;
    const struct io_array *to = s->resume_to;
    const struct io_read_spec spec = {.path = f->ctx.path,
                                      .writer = s->writer,
                                      .layout = s->layout,
                                      .n = s->n,
                                      .box = s->box,
                                      .dumps = &dump,
                                      .dumps_n = 1,
                                      .tuning = s->tuning,
                                      .hints_n = s->hints_n,
                                      .hints = s->hints};
    const double since_s = watch_now();
    struct io_reading *r;
    struct par_spread took;
    TRY(io_read_open(&r, f->ctx.comm, &spec));
    int rc = io_read_dump(r, dump, to);
    if (rc == 0) rc = par_spread(f->ctx.comm, watch_now() - since_s, &took);
    if (rc == 0) {
        memset(f->digest_part, 0, (size_t)digest_words(f->spec.n) * sizeof *f->digest_part);
        io_reread_values(f->ctx.view, to, f->digest_part);
        rc = io_read_right(r, dump, f->digest_part, &f->resumed.step, right);
        f->resumed.read_s = took.max;
    }
    const int close_rc = io_read_close(r);
    return rc < 0 ? rc : close_rc;
}

/* Number of dumps from the first on, at most dumps_n, whose content has the digest in the manifest. fd: of
 * the file. [out] step: of the last of them, on rank 0; 0: there is none. */
static int count_right(struct io_file *f, const struct io_manifest *m, int fd, int64_t dumps_n,
                       int64_t *right_n, int64_t *step)
{
    struct io_reread from = {.fd = fd, .path = f->ctx.path, .body = &f->ctx.body};
    bool right = true;
    *step = 0;
    for (*right_n = 0; *right_n < dumps_n;) {
        int64_t this_step = 0;
        memset(f->digest_part, 0, (size_t)digest_words(f->spec.n) * sizeof *f->digest_part);
        from.dump = *right_n;
        TRY(par_agree(f->ctx.comm, io_reread_digest(&from, f->ctx.view, f->digest_part)));
        TRY(io_manifest_has(f->ctx.comm, m, f->spec.n, *right_n, f->digest_part, &this_step,
                            &right));
        if (!right) break;
        *step = this_step;
        ++*right_n;
    }
    return 0;
}

/* Rank 0: whether the library finds the dumps in a container. */
static bool container_opens(const struct io_file *f)
{
    struct io_container c;
    const bool found = io_container_open(&c, f->target.path, f->format) == 0;
    io_container_close(&c);
    if (!found) err_clear();
    return found;
}

int io_resume_last(struct io_file *f, int64_t *claimed_n)
{
    const bool cut = f->target.old_bytes < f->ctx.body.file_bytes; /* no library opens it then */
    const bool look = f->ctx.rank == 0 && f->format != IO_RAW && *claimed_n > 0 && !cut;
    int64_t word[4] = {*claimed_n, f->target.parts_n, cut, look && !container_opens(f)};
    bool right = false;
    int fd;
    TRY_MPI(MPI_Bcast(&f->ctx.body, sizeof f->ctx.body, MPI_BYTE, 0, f->ctx.comm));
    TRY_MPI(MPI_Bcast(word, 4, MPI_INT64_T, 0, f->ctx.comm));
    *claimed_n = word[0];
    f->damaged = word[3];
    if (word[0] == 0 || word[1] > 0 || word[2] || f->damaged || f->spec.resume_seen ||
        !f->spec.resume_to)
        return 0;
    TRY(par_agree(f->ctx.comm, io_reread_open(f->ctx.path, true, &fd)));
    close(fd);
    const int rc = read_state(f, word[0] - 1, &right);
    /* The library may have opened the file without finding the dumps in it. */
    f->damaged = rc == ERR_IO && f->format != IO_RAW && io_container_apart(&f->ctx.body, &f->spec);
    if (f->damaged) err_clear();
    if (rc < 0) return f->damaged ? 0 : rc;
    if (right) f->resumed.dumps_n = word[0];
    if (right) f->resumed.unseen_n = word[0] - 1;
    return 0;
}

/* Rank 0: a structure like that which a container began with, in its place: all that it says follows
 * from the manifest. */
static int renew_structure(struct io_file *f, const struct io_manifest *m)
{
    f->spec.tuning.chunk = f->ctx.body.chunk;
    TRY(io_container_make(&f->structure, f->format, &f->spec, io_manifest_run_id(m), f->ctx.info));
    const struct io_body *was = &f->ctx.body, *is = &f->structure.body;
    if (is->file_bytes != was->file_bytes || is->data_offset != was->data_offset)
        return err_set(ERR_USAGE,
                       "the structure of %s cannot be made again: another version of the library, "
                       "or a hint, gave it another length; use that one, or run without --restart",
                       f->target.path);
    return io_container_put(&f->structure, f->target.path);
}

/* The same, before dumps are read. ERR_IO, and nothing is changed, where values would be lost with it. Collective. */
static int rewrite_structure(struct io_file *f)
{
    if (!io_container_apart(&f->ctx.body, &f->spec))
        return err_set(ERR_IO,
                       "the dumps of %s cannot be read, and its structure cannot be made again "
                       "around chunks of less than %d bytes: repair the file, or run without "
                       "--restart to begin anew",
                       f->ctx.path, IO_FORMAT_PAGED_BYTES);
    TRY(par_agree(f->ctx.comm, f->ctx.rank == 0 ? renew_structure(f, f->target.old) : 0));
    f->mended = true;
    return 0;
}

/* Rank 0: the manifest with the claims that hold, then a file of full length. */
static int withdraw_claims(struct io_file *f)
{
    const struct identity id[] = {f->place.id, f->place.old};
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
    TRY(io_manifest_begin(m, true));
    TRY(io_place_take(&f->place));
    /* With no dump to keep, nothing says that the structure is whole. */
    if (f->format == IO_RAW || f->resumed.dumps_n > 0 || f->mended) return 0;
    return renew_structure(f, m);
}

/* Reads the state of a dump that was found right. A container's structure that leads elsewhere is written
 * again. */
static int read_found(struct io_file *f, int64_t dump)
{
    bool right = false;
    const int rc = read_state(f, dump, &right);
    if (rc == 0 && !right && f->format != IO_RAW && !f->mended) {
        TRY(rewrite_structure(f));
        TRY(read_state(f, dump, &right));
    }
    if (rc < 0 || right) return rc;
    return err_set(ERR_IO,
                   "dump %" PRId64 " of %s (the first is 0) is not the same whenever it is read",
                   dump, f->ctx.path);
}

/* The dumps from the first on that are right, and the state of the last of them. */
static int check_dumps(struct io_file *f, int64_t claimed_n)
{
    int fd;
    f->resumed.step = 0;
    if (claimed_n == 0) return 0;
    if (f->damaged) TRY(rewrite_structure(f));
    TRY(par_agree(f->ctx.comm, io_reread_open(f->ctx.path, true, &fd)));
    int rc = count_right(f, f->target.old, fd, claimed_n, &f->resumed.dumps_n, &f->resumed.step);
    close(fd);
    TRY(rc);
    if (f->resumed.dumps_n == 0 || !f->spec.resume_to) return 0;
    if (f->ctx.rank == 0 && f->target.old_bytes < f->ctx.body.file_bytes &&
        truncate(f->ctx.path, (off_t)f->ctx.body.file_bytes) != 0)
        rc = err_set_errno(ERR_IO, errno, "truncate %s", f->ctx.path);
    TRY(par_agree(f->ctx.comm, rc));
    return read_found(f, f->resumed.dumps_n - 1);
}

int io_resume(struct io_file *f, int64_t claimed_n)
{
    MPI_Comm comm = f->ctx.comm;
    if (f->resumed.dumps_n == 0) TRY(check_dumps(f, claimed_n));
    TRY(par_agree(comm, f->ctx.rank == 0 ? withdraw_claims(f) : 0));
    TRY_MPI(MPI_Bcast(&f->resumed, sizeof f->resumed, MPI_BYTE, 0, comm));
    f->stats.dumps_n = f->stats.kept_n = f->resumed.dumps_n;
    f->ctx.first_dump = f->ctx.durable_n = f->resumed.dumps_n;
    return 0;
}

/* Of these dumps nothing is in memory but what was read since they were dropped from it. */
int io_file_kept_right(struct io_file *f, bool *right)
{
    const int64_t unseen_n = f->resumed.unseen_n;
    int64_t right_n = 0, step;
    int fd;
    *right = true;
    if (unseen_n == 0) return 0;
    TRY(par_agree(f->ctx.comm, io_reread_open(f->ctx.path, false, &fd)));
    const int rc = count_right(f, f->manifest, fd, unseen_n, &right_n, &step);
    close(fd);
    *right = right_n == unseen_n;
    return rc;
}

/* ------------------------------------------------------------------ before a run: what is there */

/* Rank 0's part of io_past_read. */
static int read_past(const char *path, struct io_past *past)
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
    TRY(par_agree(comm, rank == 0 ? read_past(path, past) : 0));
    TRY_MPI(MPI_Bcast(past, sizeof *past, MPI_BYTE, 0, comm));
    return 0;
}
