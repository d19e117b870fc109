/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dispatcher: writing and ending. A dump's life, with what runs between two calls of
 * io_file_write in the middle column:
 *
 *   io_file_write d                                        io_file_write d + 1 (or io_file_end)
 *   writer writes d, maybe flushes it     the solver       all ranks agree on d
 *   agreement and digest of d start  ->   computes    ->   rank 0 puts d into the manifest
 *                                                          writer writes d + 1 ...
 *
 * The manifest is on disk at any moment, most of it in its journal, until io_file_settle makes one text of it.
 *
 * A writer that goes on in the background says how many dumps are done: the minimum over ranks
 * travels with the agreement, and only those dumps are called complete. io_file_end drains it.
 *
 * So the outcome of a dump on other ranks is known one call later, and nobody waits for it before.
 * A rank that fails returns success like the others until then; afterwards every call returns the
 * agreed code without a message, because the ranks know of each other's failure. */
#include "io/file.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/par.h"
#include "base/simulation.h"
#include "base/watch.h"
#include "io/context.h"
#include "io/file_state.h"
#include "io/target/owner.h"

const char *const io_phase_name[IO_PHASES] = {
    [IO_PHASE_CREATE] = "create", [IO_PHASE_OPEN] = "open",   [IO_PHASE_WRITE] = "write",
    [IO_PHASE_DRAIN] = "drain",   [IO_PHASE_AGREE] = "agree", [IO_PHASE_MANIFEST] = "manifest",
    [IO_PHASE_SYNC] = "sync",     [IO_PHASE_CLOSE] = "close",
};

void io_phase_add(struct io_file *f, enum io_phase phase, double *since_s)
{
    double now_s = watch_now();
    f->stats.phase_s[phase] += now_s - *since_s;
    *since_s = now_s;
}

/* Dumps from the file's first on whose bytes of this rank's are in the file. */
static int64_t dumps_done(struct io_file *f)
{
    if (f->writer->done && f->writer_open) return f->writer->done(f->state, &f->ctx);
    return f->stats.dumps_n - (f->pending.rc < 0 ? 1 : 0);
}

/* Starts the agreement on a dump: two words, and the digest's sum on rank 0. */
static int agreement_start(struct io_file *f, const uint64_t *digest)
{
    struct io_pending *p = &f->pending;
    const int words = (int)digest_words(f->spec.n);
    p->word[0] = p->rc < 0 ? p->rc : 0;
    p->word[1] = dumps_done(f);
    memcpy(f->digest_part, digest, (size_t)words * sizeof *digest);
    if (simulation()) { /* whose nonblocking reductions send a message from each rank to each */
        p->request[0] = p->request[1] = MPI_REQUEST_NULL;
        TRY_MPI(MPI_Allreduce(p->word, p->lowest, 2, MPI_INT64_T, MPI_MIN, f->ctx.comm));
        TRY_MPI(MPI_Reduce(f->digest_part, f->digest_sum, words, MPI_UINT64_T, MPI_SUM, 0,
                           f->ctx.comm));
    } else {
        TRY_MPI(MPI_Iallreduce(p->word, p->lowest, 2, MPI_INT64_T, MPI_MIN, f->ctx.comm,
                               &p->request[0]));
        TRY_MPI(MPI_Ireduce(f->digest_part, f->digest_sum, words, MPI_UINT64_T, MPI_SUM, 0,
                            f->ctx.comm, &p->request[1]));
    }
    p->active = true;
    return 0;
}

/* Puts the dump into the manifest. Rank 0's error is agreed on with the next dump. */
static int manifest_update(struct io_file *f)
{
    const struct io_pending *p = &f->pending;
    bool durable = p->lowest[0] == 0 && f->spec.sync == IO_SYNC_DUMP;
    if (durable) f->ctx.durable_n = p->lowest[1];
    if (!f->manifest) return 0;
    TRY(io_manifest_add(f->manifest, p->step, false, false, f->digest_sum));
    io_manifest_mark_complete(f->manifest, p->lowest[1]);
    if (durable) io_manifest_mark_durable(f->manifest);
    return io_manifest_update(f->manifest, durable);
}

/* Finishes the agreement on the last dump. [out] manifest_rc: this rank's own outcome of the
 * manifest's update. Returns the agreed code. */
static int agreement_finish(struct io_file *f, int *manifest_rc)
{
    struct io_pending *p = &f->pending;
    double since_s = watch_now();
    *manifest_rc = 0;
    if (!p->active) return 0;
    p->active = false;
    TRY_MPI(MPI_Waitall(2, p->request, MPI_STATUSES_IGNORE));
    int rc = p->lowest[0] < 0 ? par_agree(f->ctx.comm, p->rc) : 0;
    io_phase_add(f, IO_PHASE_AGREE, &since_s);
    *manifest_rc = manifest_update(f);
    io_phase_add(f, IO_PHASE_MANIFEST, &since_s);
    return rc;
}

static int writer_drain(struct io_file *f)
{
    double since_s = watch_now();
    if (!f->writer->drain) return 0;
    int rc = f->writer->drain(f->state, &f->ctx);
    io_phase_add(f, IO_PHASE_DRAIN, &since_s);
    return rc;
}

void io_file_start(struct io_file *f)
{
    f->start_s = watch_now();
}

void *io_file_buffer(struct io_file *f)
{
    if (!f->writer->buffer || f->failed < 0 || f->ended || f->stats.dumps_n >= f->spec.dumps_n)
        return NULL;
    struct io_dump_times *t = &f->times[f->stats.dumps_n];
    t->asked_s = watch_now();
    f->waited_s = 0;
    void *buf = f->writer->buffer(f->state, &f->ctx, f->stats.dumps_n);
    f->stats.phase_s[IO_PHASE_DRAIN] += f->waited_s;
    t->wait_s = f->waited_s;
    t->given_s = watch_now();
    return buf;
}

int io_file_write(struct io_file *f, int64_t step, const void *buf, const uint64_t *digest)
{
    if (f->failed < 0) return f->failed;
    if (f->ended) return err_set(ERR_INVALID, "a dump after the end of %s", f->ctx.path);
    if (f->stats.dumps_n >= f->spec.dumps_n)
        return err_set(ERR_INVALID, "more dumps than were planned for %s", f->ctx.path);
    struct io_dump_times *t = &f->times[f->stats.dumps_n];
    int manifest_rc;
    t->step = step;
    t->start_s = watch_now();
    f->failed = agreement_finish(f, &manifest_rc);
    t->wait_s += watch_now() - t->start_s;
    TRY(f->failed);

    /* The writer's part; rc is this rank's own. What it waits for earlier dumps counts as
     * draining. */
    double since_s = watch_now();
    t->write_s = since_s;
    f->waited_s = 0;
    int rc = f->writer->write(f->state, &f->ctx, f->stats.dumps_n, buf);
    io_phase_add(f, IO_PHASE_WRITE, &since_s);
    /* A wrapper goes on behind the caller's back if what it wraps does. */
    const bool in_background = (f->ctx.inner ? f->ctx.inner : f->writer)->done != NULL;
    if (!in_background) io_busy_add(f->busy, t->write_s, since_s);
    f->stats.phase_s[IO_PHASE_WRITE] -= f->waited_s;
    f->stats.phase_s[IO_PHASE_DRAIN] += f->waited_s;
    t->post_s = since_s - t->write_s - f->waited_s;
    t->wait_s += f->waited_s;
    if (rc == 0) f->stats.bytes += io_view_bytes(f->ctx.view);
    if (f->spec.sync == IO_SYNC_DUMP) {
        const double before_s = watch_now();
        int drain_rc = writer_drain(f);
        since_s = watch_now();
        int sync_rc = f->writer->sync(f->state, &f->ctx);
        io_phase_add(f, IO_PHASE_SYNC, &since_s);
        t->wait_s += since_s - before_s;
        if (rc == 0) rc = drain_rc < 0 ? drain_rc : sync_rc;
    }

    f->stats.dumps_n++;
    f->pending.rc = manifest_rc < 0 ? manifest_rc : rc;
    f->pending.step = step;
    f->failed = agreement_start(f, digest);
    t->end_s = watch_now();
    return f->failed;
}

/* Waits for a writer in the background, and tells the manifest which dumps are there now. Returns
 * the agreed code; [out] manifest_rc: this rank's own outcome of the manifest's update. */
static int finish_drain(struct io_file *f, int *manifest_rc)
{
    if (!f->writer->drain) return 0;
    int rc = writer_drain(f);
    double since_s = watch_now();
    int64_t word[2] = {rc, dumps_done(f)}, lowest[2];
    TRY_MPI(MPI_Allreduce(word, lowest, 2, MPI_INT64_T, MPI_MIN, f->ctx.comm));
    if (lowest[0] < 0) rc = par_agree(f->ctx.comm, rc);
    io_phase_add(f, IO_PHASE_AGREE, &since_s);
    if (!f->manifest) return rc;
    io_manifest_mark_complete(f->manifest, lowest[1]);
    *manifest_rc = io_manifest_update(f->manifest, false);
    io_phase_add(f, IO_PHASE_MANIFEST, &since_s);
    return rc;
}

/* Flushes by policy and says so in the manifest. The code is this rank's own. */
static int finish_durably(struct io_file *f)
{
    if (f->spec.sync != IO_SYNC_END) return 0;
    double since_s = watch_now();
    int rc = par_agree(f->ctx.comm, f->writer->sync(f->state, &f->ctx));
    io_phase_add(f, IO_PHASE_SYNC, &since_s);
    if (rc < 0 || !f->manifest) return rc;
    io_manifest_mark_durable(f->manifest);
    rc = io_manifest_update(f->manifest, false);
    io_phase_add(f, IO_PHASE_MANIFEST, &since_s);
    return rc;
}

int io_file_close_writer(struct io_file *f)
{
    if (!f->writer_open) return 0;
    f->writer_open = false;
    double since_s = watch_now();
    int rc = f->writer->close(f->state, &f->ctx);
    io_phase_add(f, IO_PHASE_CLOSE, &since_s);
    return rc;
}

/* What the statistics say about computing and writing at the same time. */
static void sum_overlap(struct io_file *f, double end_call_s)
{
    struct io_stats *s = &f->stats;
    const struct io_interval whole = {f->start_s, watch_now()};
    struct io_interval *calls = calloc(2 * (size_t)s->dumps_n + 1, sizeof *calls);
    int64_t n = 0;
    if (!calls) return;
    s->compute_s = end_call_s - f->start_s;
    for (int64_t d = 0; d < s->dumps_n; d++) {
        const struct io_dump_times *t = &f->times[d];
        if (t->asked_s > f->start_s) calls[n++] = (struct io_interval){t->asked_s, t->given_s};
        calls[n++] = (struct io_interval){t->start_s, t->end_s};
    }
    for (int64_t c = 0; c < n; c++)
        s->compute_s -= calls[c].end_s - calls[c].start_s;
    calls[n++] = (struct io_interval){end_call_s, whole.end_s};
    s->io_s = io_busy_seconds(f->busy, whole, calls, n, &s->both_s);
    free(calls);
}

/* The last agreement also carries the outcome of everything after it. */
int io_file_end(struct io_file *f)
{
    if (f->ended) return f->failed;
    const double end_call_s = watch_now();
    int manifest_rc = 0;
    f->ended = true;
    if (f->failed == 0) f->failed = agreement_finish(f, &manifest_rc);
    int rc = manifest_rc;
    if (f->failed == 0) f->failed = finish_drain(f, &manifest_rc);
    if (rc == 0) rc = manifest_rc;
    if (f->failed == 0) {
        int durable_rc = finish_durably(f);
        if (rc == 0) rc = durable_rc;
    }
    int close_rc = io_file_close_writer(f);
    if (rc == 0) rc = close_rc;
    double since_s = watch_now();
    int agreed = par_agree(f->ctx.comm, f->failed < 0 ? f->failed : rc);
    io_phase_add(f, IO_PHASE_AGREE, &since_s);
    if (f->failed == 0) f->failed = agreed;
    sum_overlap(f, end_call_s);
    return f->failed;
}

int io_file_settle(struct io_file *f)
{
    return par_agree(f->ctx.comm, f->manifest ? io_manifest_end(f->manifest) : 0);
}

const struct io_stats *io_file_stats(const struct io_file *f)
{
    return &f->stats;
}

const struct io_resumed *io_file_resumed(const struct io_file *f)
{
    return &f->resumed;
}

int io_file_error(const struct io_file *f)
{
    return f->pending.rc;
}

bool io_file_has_file(const struct io_file *f)
{
    return f->has_file;
}

const struct io_view *io_file_view(const struct io_file *f)
{
    return f->ctx.view;
}

json_t *io_file_json(const struct io_file *f)
{
    return json_incref(f->record);
}

int io_file_lock(MPI_Comm comm, const char *path, struct io_lock *lock)
{
    struct io_target t;
    int rank;
    *lock = (struct io_lock){.own = NULL};
    TRY_MPI(MPI_Comm_rank(comm, &rank));
    int rc = 0;
    if (rank == 0) {
        rc = io_target_take(&t, path, NULL);
        lock->own = t.own;
        t.own = NULL;
        io_target_release(&t);
    }
    return par_agree(comm, rc);
}

void io_file_unlock(struct io_lock *lock)
{
    own_end(lock->own);
    lock->own = NULL;
}

int io_file_remove(MPI_Comm comm, const char *path, const char *run_id, const struct io_lock *lock)
{
    struct io_target t = {.own = NULL};
    int rank, ours = 0, rc;
    TRY_MPI(MPI_Comm_rank(comm, &rank));
    TRY_TO(out, rc, par_agree(comm, rank == 0 ? io_target_take(&t, path, lock) : 0));
    if (rank == 0) ours = !run_id || io_manifest_is_of_run(t.manifest, run_id);
    TRY_MPI_TO(out, rc, MPI_Bcast(&ours, 1, MPI_INT, 0, comm));
    if (!ours) goto out;
    TRY_TO(out, rc, io_owner_check(comm, &t, IO_OWNER_REMOVE, false));
    rc = par_agree(comm, rank == 0 ? io_target_remove(&t) : 0);
out:
    io_target_release(&t);
    return rc;
}

void io_file_free(struct io_file *f)
{
    if (!f) return;
    /* Messages that are still under way must arrive before their buffers go. */
    if (f->pending.active) MPI_Waitall(2, f->pending.request, MPI_STATUSES_IGNORE);
    io_file_close_writer(f);
    if (f->manifest)
        (void)io_manifest_end(f->manifest); /* of a failure: its message is the first */
    io_manifest_free(f->manifest);
    io_target_release(&f->target);
    io_container_free(&f->structure);
    json_decref(f->record);
    io_context_free(&f->ctx);
    io_busy_free(f->busy);
    free(f->state);
    free(f->times);
    free(f->digest_part);
    free(f->digest_sum);
    free(f);
}
