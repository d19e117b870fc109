/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening a file for dumps: arguments, what every rank knows of the others, the target on rank 0,
 * the writer. Each step ends in an agreement, so that all ranks go on or none does. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/par.h"
#include "base/watch.h"
#include "io/file_state.h"
#include "io/hint.h"
#include "io/parts.h"
#include "io/resume.h"

static int check_counts(const struct io_spec *s)
{
    int64_t total;
    if (s->n < 1 || s->n > IO_N_MAX)
        return err_set(ERR_USAGE, "N = %" PRId64 " is out of range", s->n);
    if (s->layout == IO_RECORDS && s->n > IO_RECORDS_N_MAX) {
        return err_set(ERR_USAGE, "layout records has 32-bit record lengths and ends at N = %d",
                       IO_RECORDS_N_MAX);
    }
    if (s->group < 1) return err_set(ERR_USAGE, "the group of writers needs 1 rank at least");
    if (s->dumps_n < 1) return err_set(ERR_USAGE, "there is no dump to write");
    if (__builtin_mul_overflow(s->dumps_n, io_dump_bytes(s->layout, s->n), &total)) {
        return err_set(ERR_USAGE, "the file would be longer than 2^63 bytes");
    }
    return 0;
}

static int check_box(const struct io_spec *s)
{
    for (int q = 0; q < 3; q++) {
        int64_t lo = s->box.lo[q], n = s->box.n[q];
        if (lo < 0 || n < 0 || lo > s->n || n > s->n - lo) {
            return err_set(ERR_USAGE, "a rank's box reaches outside the %" PRId64 "^3 cells", s->n);
        }
    }
    return 0;
}

static int check_tuning(const struct io_tuning *t)
{
    if (t->aggregators < 0) return err_set(ERR_USAGE, "the number of aggregators is negative");
    if (t->staging < 0 || t->staging > IO_STAGING_MAX)
        return err_set(ERR_USAGE, "between 1 and %d dumps can be staged", IO_STAGING_MAX);
    if (t->buffer_bytes == 0) return 0;
    if (t->buffer_bytes >= IO_BUFFER_BYTES_MIN && t->buffer_bytes <= IO_BUFFER_BYTES_MAX) return 0;
    return err_set(ERR_USAGE, "a buffer of %" PRId64 " bytes is outside of 4 KiB to 1 GiB",
                   t->buffer_bytes);
}

static int check_writer(const struct io_spec *s, const struct io_writer *d)
{
    if (!(d->caps & IO_CAP_WRAPPER) || (s->writer && io_writer_inner(s->writer))) return 0;
    return err_set(ERR_USAGE, "writer %s wraps another: write %s:NAME", d->name, d->name);
}

static int check_spec(const struct io_spec *s, const struct io_writer *d)
{
    TRY(check_counts(s));
    TRY(check_box(s));
    TRY(check_writer(s, d));
    TRY(check_tuning(&s->tuning));
    return io_hints_check(s->hints_n, s->hints);
}

/* The parts that need no other rank. */
static int alloc_parts(struct io_file *f)
{
    const size_t words = (size_t)digest_words(f->spec.n);
    f->state = calloc(1, f->writer->state_size + 1);
    f->all_views = calloc((size_t)f->ctx.size, sizeof *f->all_views);
    f->digest_part = calloc(words, sizeof *f->digest_part);
    f->digest_sum = calloc(words, sizeof *f->digest_sum);
    f->busy = f->ctx.busy = io_busy_new();
    if (f->busy && f->state && f->all_views && f->digest_part && f->digest_sum) return 0;
    return err_set(ERR_NOMEM, "no memory for writing dumps of N = %" PRId64, f->spec.n);
}

/* An absurd number of dumps needs more space than memory: asked for once the space is there. */
static int alloc_times(struct io_file *f)
{
    f->times = calloc((size_t)f->spec.dumps_n, sizeof *f->times);
    f->stats.dump = f->times;
    if (f->times) return 0;
    return err_set(ERR_NOMEM,
                   "no memory for writing %" PRId64 " dumps of N = %" PRId64
                   ": choose a longer --interval or fewer --steps",
                   f->spec.dumps_n, f->spec.n);
}

static int make_info(struct io_file *f)
{
    TRY_MPI(MPI_Info_create(&f->ctx.info));
    for (int h = 0; h < f->spec.hints_n; h++) {
        const char *hint = f->spec.hints[h], *equals = strchr(hint, '=');
        char key[MPI_MAX_INFO_KEY + 1] = "";
        memcpy(key, hint, (size_t)(equals - hint));
        TRY_MPI(MPI_Info_set(f->ctx.info, key, equals + 1));
    }
    return 0;
}

static int share_views(struct io_file *f)
{
    struct io_context *c = &f->ctx;
    int64_t covered_bytes = 0;
    f->view = (struct io_view){f->spec.n, f->spec.layout, f->spec.box};
    TRY_MPI(MPI_Allgather(&f->view, (int)sizeof f->view, MPI_BYTE, f->all_views,
                          (int)sizeof f->view, MPI_BYTE, c->comm));
    for (int r = 0; r < c->size; r++) {
        covered_bytes += io_view_bytes(&f->all_views[r]);
    }
    if (covered_bytes == c->dump_bytes) return 0;
    return err_set(ERR_USAGE, "the ranks' boxes hold %" PRId64 " bytes of a dump of %" PRId64,
                   covered_bytes, c->dump_bytes);
}

static struct io_tuning tuning_of(const struct io_spec *s)
{
    struct io_tuning t = s->tuning;
    if (t.buffer_bytes == 0) t.buffer_bytes = IO_BUFFER_BYTES;
    if (t.staging == 0) t.staging = IO_STAGING;
    if (t.call_bytes == 0) t.call_bytes = IO_CALL_BYTES;
    return t;
}

static void init(struct io_file *f, const struct io_spec *spec, const struct io_writer *writer)
{
    f->spec = *spec;
    f->writer = writer;
    f->target.lock_fd = -1;
    f->target.allocated = "none";
    f->stats.dump = f->times;
    f->ctx = (struct io_context){
        .comm = MPI_COMM_NULL,
        .info = MPI_INFO_NULL,
        .path = f->target.path,
        .view = &f->view,
        .dump_bytes = io_dump_bytes(spec->layout, spec->n),
        .dumps_n = spec->dumps_n,
        .group = spec->group,
        .tuning = tuning_of(spec),
        .sync = spec->sync,
        .requests_n = &f->stats.requests_n,
        .wait_s = &f->waited_s,
        .inner = spec->writer ? io_writer_inner(spec->writer) : NULL,
    };
    unsigned caps = writer->caps | (f->ctx.inner ? f->ctx.inner->caps : 0);
    f->has_file = (caps & IO_CAP_SERIAL_FILE) != 0;
    f->has_parts = (caps & IO_CAP_PARTS) != 0;
}

/* Errors of the communicator come back as codes. */
static int setup(struct io_file *f, MPI_Comm comm)
{
    struct io_context *c = &f->ctx;
    TRY_MPI(MPI_Comm_dup(comm, &c->comm));
    TRY_MPI(MPI_Comm_set_errhandler(c->comm, MPI_ERRORS_RETURN));
    TRY_MPI(MPI_Comm_rank(c->comm, &c->rank));
    TRY_MPI(MPI_Comm_size(c->comm, &c->size));
    TRY(par_agree(c->comm, alloc_parts(f)));
    c->all_views = f->all_views;
    TRY(share_views(f));
    return par_agree(c->comm, make_info(f));
}

/* Rank 0's part of what comes before a new file is touched. */
static int claim_here(struct io_file *f)
{
    TRY(io_target_take(&f->target, f->spec.path, f->spec.force));
    return io_target_space(&f->target, f->ctx.dump_bytes * f->ctx.dumps_n);
}

/* Every rank looks at its own part: directories may be on different nodes. */
static int claim_parts(struct io_file *f)
{
    MPI_Comm comm = f->ctx.comm;
    int64_t ours_n = f->target.parts_n;
    if (!f->has_parts) return 0;
    TRY_MPI(MPI_Bcast(&ours_n, 1, MPI_INT64_T, 0, comm));
    TRY_MPI(MPI_Bcast(f->target.path, IO_PATH_MAX, MPI_CHAR, 0, comm));
    return par_agree(comm, io_part_check(f->target.path, f->ctx.rank, ours_n, f->spec.force));
}

static int claim(struct io_file *f)
{
    const bool made = (f->has_file || f->has_parts) && !f->spec.resume;
    const bool here = made && f->ctx.rank == 0;
    TRY(par_agree(f->ctx.comm, here ? claim_here(f) : 0));
    if (made) TRY(claim_parts(f));
    return par_agree(f->ctx.comm, alloc_times(f));
}

/* Rank 0's part of creating the file. */
static int create_here(struct io_file *f)
{
    struct io_target *t = &f->target;
    const int64_t bytes = f->ctx.dump_bytes * f->ctx.dumps_n;
    TRY(io_manifest_new(&f->manifest, t->manifest, io_path_base(t->path), &f->spec));
    if (f->has_file) return io_target_make(t, f->manifest, bytes);
    t->parts_kept_n = f->ctx.size;
    TRY(io_manifest_parts(f->manifest, f->all_views, f->ctx.size));
    return io_target_make(t, f->manifest, 0);
}

static int check_resume(const struct io_file *f)
{
    if (f->has_file || !f->spec.resume) return 0;
    if (f->has_parts) {
        return err_set(ERR_USAGE,
                       "writer %s leaves a file for each rank and cannot go on with one: name "
                       "another with --io, such as --io posix, after nht1-verify --merge %s where "
                       "that file was begun by %s",
                       f->writer->name, f->spec.path, f->writer->name);
    }
    return err_set(ERR_USAGE, "writer %s leaves no file in serial format that could be continued",
                   f->writer->name);
}

static int create(struct io_file *f)
{
    int64_t claimed_n = 0;
    int rc = 0;
    TRY(check_resume(f));
    if (!f->has_file && !f->has_parts) return 0;
    if (f->ctx.rank == 0) rc = f->spec.resume ? io_resume_take(f, &claimed_n) : create_here(f);
    TRY(par_agree(f->ctx.comm, rc));
    TRY_MPI(MPI_Bcast(f->target.path, IO_PATH_MAX, MPI_CHAR, 0, f->ctx.comm));
    return f->spec.resume ? io_resume_check(f, claimed_n) : 0;
}

static int open_writer(struct io_file *f)
{
    f->writer_open = true;
    int rc = f->writer->open(f->state, &f->ctx);
    return par_agree(f->ctx.comm, rc);
}

static int open_steps(struct io_file *f, MPI_Comm comm)
{
    TRY(setup(f, comm));
    double since_s = watch_now();
    TRY(claim(f));
    TRY(create(f));
    io_phase_add(f, IO_PHASE_CREATE, &since_s);
    TRY(open_writer(f));
    io_phase_add(f, IO_PHASE_OPEN, &since_s);
    return io_record_make(f);
}

int io_file_open_with(struct io_file **out, MPI_Comm comm, const struct io_spec *spec,
                      const struct io_writer *writer)
{
    *out = NULL;
    TRY(par_agree(comm, check_spec(spec, writer)));
    struct io_file *f = calloc(1, sizeof *f);
    int rc = par_agree(comm, f ? 0 : err_set(ERR_NOMEM, "no memory for a file"));
    if (rc < 0) {
        free(f);
        return rc;
    }
    init(f, spec, writer);
    rc = open_steps(f, comm);
    if (rc < 0) {
        io_file_close_writer(f);
        if (f->ctx.rank == 0) io_target_undo(&f->target);
        io_file_free(f);
        return rc;
    }
    *out = f;
    return 0;
}

int io_file_open(struct io_file **f, MPI_Comm comm, const struct io_spec *spec)
{
    *f = NULL;
    const struct io_writer *writer = spec->writer ? io_writer_find(spec->writer) : NULL;
    int rc = writer ? 0 : io_writer_unknown(spec->writer ? spec->writer : "");
    TRY(par_agree(comm, rc));
    return io_file_open_with(f, comm, spec, writer);
}
