/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening a file for dumps: arguments, what every rank knows of the others, the target on rank 0,
 * the writer. Each step ends in an agreement, so that all ranks go on or none does. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/conf.h"
#include "base/digest.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/watch.h"
#include "io/context.h"
#include "io/file_state.h"
#include "io/writers/hint.h"
#include "io/target/owner.h"
#include "io/target/parts.h"
#include "io/target/resume.h"

/* Parameters; no other rank is needed. */
static void init_file(struct io_file *f, const struct io_spec *spec, const struct io_writer *writer)
{
    const struct io_writer *inner = spec->writer ? io_writer_inner(spec->writer) : NULL;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): io_writer_unknown fails */
    const unsigned caps = writer->caps | (inner ? inner->caps : 0);
    f->spec = *spec;
    f->writer = writer;
    f->structure.fd = -1;
    f->format = inner ? inner->format : writer->format;
    f->place = f->part = IO_PLACE_NONE;
    f->ctx = (struct io_context){
        IO_CONTEXT_NONE,
        .path = f->target.path,
        .requests_n = &f->stats.requests_n,
        .wait_s = &f->waited_s,
    };
    f->has_file = (caps & IO_CAP_SERIAL_FILE) != 0;
    f->has_parts = (caps & IO_CAP_PARTS) != 0;
}

/* What the writer is given, and memory. */
static int setup(struct io_file *f, MPI_Comm comm)
{
    const size_t words = (size_t)digest_words(f->spec.n);
    TRY(io_context_make(&f->ctx, comm, &f->spec));
    f->state = calloc(1, f->writer->state_size + 1);
    f->digest_part = calloc(words, sizeof *f->digest_part);
    f->digest_sum = calloc(words, sizeof *f->digest_sum);
    f->busy = f->ctx.busy = io_busy_new();
    const bool all = f->busy && f->state && f->digest_part && f->digest_sum;
    return par_agree(f->ctx.comm, all ? 0 : mem_error("writing dumps of N = %" PRId64, f->spec.n));
}

/* Whether this run makes or continues files at all. */
static bool has_target(const struct io_file *f)
{
    return f->has_file || f->has_parts;
}

/* Everything that is asked before anything is touched. Every rank looks at its own part:
 * directories may be on different nodes. [out] claimed_n: dumps of the old file that are to be
 * looked at. */
static int check_target(struct io_file *f, int64_t *claimed_n)
{
    struct io_target *t = &f->target;
    const bool here = f->ctx.rank == 0 && has_target(f), resume = f->spec.resume;
    MPI_Comm comm = f->ctx.comm;
    char word[CONF_WORD_MAX];
    if (resume && f->has_parts) {
        return err_set(ERR_USAGE,
                       "writer %s leaves a file for each rank and cannot go on with one: name "
                       "another with --io, such as --io posix, after nht1-verify --merge %s where "
                       "that file was begun by %s",
                       f->writer->name, conf_file_word(f->spec.path, word), f->writer->name);
    }
    if (resume && !f->has_file)
        return err_set(ERR_USAGE,
                       "writer %s leaves no file in serial format that could be continued",
                       f->writer->name);
    int rc = here ? io_target_take(t, f->spec.path, f->spec.lock) : 0;
    if (rc == 0 && here && resume) rc = io_resume_take(f, claimed_n);
    TRY(par_agree(comm, rc));
    if (!has_target(f)) return 0;
    int64_t ours_n = t->parts_n;
    TRY_MPI(MPI_Bcast(t->path, sizeof t->path, MPI_CHAR, 0, comm));
    TRY_MPI(MPI_Bcast(t->stem, sizeof t->stem, MPI_CHAR, 0, comm));
    if (resume) TRY(io_resume_last(f, claimed_n));
    const enum io_owner_ask ask = !resume                  ? IO_OWNER_REPLACE
                                  : f->resumed.dumps_n > 0 ? IO_OWNER_SEEN
                                                           : IO_OWNER_RESUME;
    TRY(io_owner_check(comm, t, ask, f->spec.force));
    if (!f->has_parts) return 0;
    TRY_MPI(MPI_Bcast(&ours_n, 1, MPI_INT64_T, 0, comm));
    return par_agree(comm, io_part_check(t->path, f->ctx.rank, ours_n, f->spec.force));
}

/* What FILE will be: dumps alone, or a container, whose structure is made here. The manifest is made
 * as well, since the number of the run goes into that. */
static int plan(struct io_file *f)
{
    const bool here = f->ctx.rank == 0 && has_target(f) && !f->spec.resume;
    struct io_target *t = &f->target;
    int rc = here ? io_manifest_new(&f->manifest, t->manifest, io_path_base(t->path), &f->spec) : 0;
    if (here && rc == 0 && f->format != IO_RAW) {
        rc = io_container_make(&f->structure, f->format, &f->spec, io_manifest_run_id(f->manifest),
                               f->ctx.info);
        f->ctx.body = f->structure.body;
        if (rc == 0) rc = io_manifest_body(f->manifest, &f->ctx.body);
    }
    TRY(par_agree(f->ctx.comm, rc));
    return par_check(MPI_Bcast(&f->ctx.body, sizeof f->ctx.body, MPI_BYTE, 0, f->ctx.comm),
                     "MPI_Bcast");
}

struct part_room {
    struct io_file *f;
    const struct io_striping *want;
};

static int prove_part(void *arg)
{
    const struct part_room *r = arg;
    struct io_file *f = r->f;
    char part[IO_PLACE_PATH_MAX];
    io_part_path(f->target.path, f->ctx.rank, part);
    return io_place_prove(&f->part, part, f->target.stem,
                          f->spec.dumps_n * io_view_bytes(f->ctx.view), false, r->want);
}

/* Proves room: for the file on rank 0, for its part on one rank after the other, and for times in memory: an
 * absurd number of dumps needs more space than memory, so that comes last. */
static int prove_room(struct io_file *f)
{
    const struct io_target *t = &f->target;
    const struct io_spec *s = &f->spec;
    const int64_t dumps_bytes = f->has_file ? f->ctx.dump_bytes * s->dumps_n : 0;
    const int64_t bytes = f->format == IO_RAW ? dumps_bytes : f->ctx.body.file_bytes;
    const char *count = io_hint_value(s->hints_n, s->hints, "striping_factor");
    const char *unit = io_hint_value(s->hints_n, s->hints, "striping_unit");
    const struct io_striping want = {.count = count ? strtoll(count, NULL, 10) : 0,
                                     .unit_bytes = unit ? strtoll(unit, NULL, 10) : 0};
    struct part_room parts = {f, &want};
    int rc = 0;
    if (f->ctx.rank == 0 && has_target(f)) {
        io_target_sweep(t);
        rc = io_place_prove(&f->place, t->path, t->stem, bytes, s->resume, &want);
    }
    TRY(par_agree(f->ctx.comm, rc)); /* the sweep is over */
    if (f->has_parts) rc = par_in_turn(f->ctx.comm, prove_part, &parts);
    if (rc == 0)
        f->times = mem_new(s->dumps_n, sizeof *f->times,
                           "writing %" PRId64 " dumps of N = %" PRId64
                           ": choose a longer --interval or fewer --steps",
                           s->dumps_n, s->n);
    f->stats.dump = f->times;
    return par_agree(f->ctx.comm, rc == 0 && !f->times ? ERR_NOMEM : rc);
}

/* What the files of this run are, and what those were that they replace: [out] id, on rank 0, of
 * FILE and each part, first the new ones. To be freed. */
static int gather_identities(const struct io_file *f, struct identity **id, int64_t *ids_n)
{
    const int64_t n = f->has_parts ? f->ctx.size + 1 : 1;
    const int words = IDENTITY_WORDS;
    *ids_n = 2 * n;
    struct identity *made = mem_new(2 * n, sizeof *made, "a list of files"), *old = made + n;
    *id = made;
    TRY(par_agree_memory(f->ctx.comm, made));
    made[0] = f->place.id;
    old[0] = f->place.old;
    if (!f->has_parts) return 0;
    TRY_MPI(
        MPI_Gather(&f->part.id, words, MPI_INT64_T, made + 1, words, MPI_INT64_T, 0, f->ctx.comm));
    TRY_MPI(
        MPI_Gather(&f->part.old, words, MPI_INT64_T, old + 1, words, MPI_INT64_T, 0, f->ctx.comm));
    return 0;
}

/* Rank 0: a manifest without dumps in the place of the old one. Parts of an earlier run that this
 * one does not replace go before, and first of all the claims on them. */
static int put_manifest(struct io_file *f, const struct identity *id, int64_t ids_n)
{
    struct io_target *t = &f->target;
    const int64_t kept_n = f->has_parts ? f->ctx.size : 0;
    if (f->has_parts) TRY(io_manifest_parts(f->manifest, f->ctx.all_views, f->ctx.size));
    TRY(io_manifest_identities(f->manifest, id, ids_n));
    TRY(io_manifest_room(f->manifest, f->spec.dumps_n));
    if (t->old && t->parts_n > kept_n) {
        struct identity *old = io_parts_identities(t);
        int rc = old ? 0 : mem_error("a list of files");
        if (rc == 0) rc = io_manifest_withdraw_claims(t->old, old, t->parts_n + 1);
        free(old);
        if (rc == 0) rc = io_parts_remove(t, kept_n);
        TRY(rc);
    }
    return io_manifest_write(f->manifest, true);
}

/* What is made under the lock of a caller is tried and goes again: where it is killed, the next run of any
 * program removes it. */
static int note_passing(const struct io_file *f)
{
    struct own *own = f->spec.lock->own;
    const struct io_target *t = &f->target;
    TRY(own_expect(own, io_path_base(t->path), f->place.id));
    TRY(own_expect_text(own, io_path_base(t->manifest), io_manifest_run_id(f->manifest)));
    return own_expect_text(own, io_path_base(t->journal), io_manifest_run_id(f->manifest));
}

/* In the order in which it may end at any moment, once room is proved: a manifest that claims
 * nothing and knows both the old files and the new ones, then the new ones in their places, then a
 * manifest that knows them alone. */
static int make_file(struct io_file *f)
{
    MPI_Comm comm = f->ctx.comm;
    const bool here = f->ctx.rank == 0;
    struct identity *id = NULL;
    int64_t ids_n;
    int rc = gather_identities(f, &id, &ids_n);
    if (rc == 0) rc = par_agree(comm, here && f->spec.lock ? note_passing(f) : 0);
    if (rc == 0) rc = par_agree(comm, here ? put_manifest(f, id, ids_n) : 0);
    if (rc == 0) rc = io_place_take(&f->place);
    if (rc == 0) rc = io_place_take(&f->part);
    if (rc == 0 && here && f->format != IO_RAW)
        rc = io_container_put(&f->structure, f->target.path);
    rc = par_agree(comm, rc);
    if (rc == 0 && here) rc = io_manifest_identities(f->manifest, id, ids_n / 2);
    if (rc == 0 && here) rc = io_manifest_begin(f->manifest, true);
    free(id);
    return par_agree(comm, rc);
}

/* After a failure: what was made new goes, and with it a manifest where there was none. */
static void undo_file(struct io_file *f)
{
    const struct io_target *t = &f->target;
    const bool ours = f->ctx.rank == 0 && f->manifest && t->kind == IO_MANIFEST_NONE;
    io_place_undo(&f->part);
    io_place_undo(&f->place);
    if (!ours) return;
    if (io_manifest_is_of_run(t->manifest, io_manifest_run_id(f->manifest))) unlink(t->manifest);
    io_manifest_drop_journal(f->manifest);
}

static int open_steps(struct io_file *f, MPI_Comm comm)
{
    int64_t claimed_n = 0;
    TRY(setup(f, comm));
    double since_s = watch_now();
    TRY(check_target(f, &claimed_n));
    TRY(plan(f));
    TRY(prove_room(f));
    if (has_target(f)) TRY(f->spec.resume ? io_resume(f, claimed_n) : make_file(f));
    io_phase_add(f, IO_PHASE_CREATE, &since_s);
    f->writer_open = true;
    TRY(par_agree(f->ctx.comm, f->writer->open(f->state, &f->ctx)));
    io_phase_add(f, IO_PHASE_OPEN, &since_s);
    return io_record_make(f);
}

int io_file_open_with(struct io_file **out, MPI_Comm comm, const struct io_spec *spec,
                      const struct io_writer *writer)
{
    *out = NULL;
    TRY(par_agree(comm, io_spec_check(spec)));
    struct io_file *f = mem_new(1, sizeof *f, "a file");
    int rc = par_agree_memory(comm, f != NULL);
    if (rc < 0) {
        free(f);
        return rc;
    }
    init_file(f, spec, writer);
    rc = open_steps(f, comm);
    if (rc < 0) {
        io_file_close_writer(f);
        undo_file(f);
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
