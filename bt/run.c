/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/progress.h"
#include "base/stop.h"
#include "base/watch.h"
#include "bt/dump.h"
#include "bt/options.h"
#include "bt/restart.h"

/* What a run owns while it goes on. */
struct work {
    const struct bt_run_request *q;
    struct io_file *file;  /* NULL: only compute */
    unsigned char *staged; /* io_view_bytes of this rank's view; NULL: the writer has memory */
    struct bt_dump dump;
    double start_s, end_s; /* this rank's clock */
    double stop_s;
    int asked, answer; /* somebody was asked to stop: this rank, any rank */
    MPI_Request stop;  /* the question under way */
};

const char *bt_run_phase_name(int phase)
{
    static const char *const own[BT_RUN_PHASES] = {[BT_RUN_STAGE] = "stage",
                                                   [BT_RUN_DIGEST] = "digest",
                                                   [BT_RUN_STOP] = "stop",
                                                   [BT_RUN_IDLE] = "idle"};
    if (own[phase]) return own[phase];
    return phase < BT_PHASES ? bt_phase_name[phase]
                             : io_phase_name[phase - BT_RUN_IO + IO_PHASE_WRITE];
}

/* Buffers are touched here, so that no page is touched for the first time inside the clock. */
static int buffers_make(struct work *w)
{
    TRY(bt_dump_new(&w->dump, w->q->problem->n));
    const size_t bytes = (size_t)io_view_bytes(io_file_view(w->file));
    if (io_file_buffer(w->file)) return 0;
    w->staged = buffer_new(bytes);
    if (!w->staged) return err_set(ERR_NOMEM, "no memory for a staging buffer of %zu bytes", bytes);
    return 0;
}

/* Takes the last dump that was kept for the state, after which the run goes on. */
static int resume(struct work *w, struct bt_run *run)
{
    const struct io_resumed *past = io_file_resumed(w->file);
    struct bt_state x;
    struct io_array to = {.u = bt_solver_state_edit(w->q->solver, &x)};
    run->resumed = true;
    run->bitwise = bt_restart_bitwise(past->kernel, w->q->io->kernel);
    run->first_step = run->steps_done = past->step;
    run->kept_n = past->dumps_n;
    run->claimed_n = past->claimed_n;
    snprintf(run->past_kernel, sizeof run->past_kernel, "%s", past->kernel);
    to.sm = x.sm;
    to.sj = x.sj;
    to.sk = x.sk;
    return past->dumps_n > 0 ? io_file_read(w->file, past->dumps_n - 1, &to) : 0;
}

static int prepare(struct work *w, struct bt_run *run)
{
    const struct bt_run_request *q = w->q;
    int rc = 0;
    if (q->io) {
        TRY(io_file_open(&w->file, q->comm, q->io));
        rc = buffers_make(w);
    }
    TRY(par_agree(q->comm, rc));
    bt_solver_reset(q->solver);
    TRY(bt_solver_step(q->solver));
    bt_solver_reset(q->solver);
    if (q->io && q->io->resume) TRY(resume(w, run));
    bt_solver_phases_clear(q->solver);
    return 0;
}

static int dump(struct work *w, int64_t step)
{
    const struct bt_state state = bt_solver_state(w->q->solver);
    void *staged = w->staged ? w->staged : io_file_buffer(w->file);
    bt_dump_take(&w->dump, &state, io_file_view(w->file), staged);
    return io_file_write(w->file, step, staged, w->dump.digest);
}

/* Has any rank been asked to stop, or could it not write? The question of one step is answered
 * after the next, so that nobody waits for it, and nobody computes up to the next dump for nothing.
 */
static int stop_answer(struct work *w, bool *stop)
{
    const double t0 = watch_now();
    TRY_MPI(MPI_Wait(&w->stop, MPI_STATUS_IGNORE));
    *stop = w->answer != 0;
    w->stop_s += watch_now() - t0;
    return 0;
}

static int stop_question(struct work *w)
{
    const bool failed = w->file && io_file_trouble(w->file) < 0;
    w->asked = stop_requested() || failed ? 1 : 0;
    w->answer = 0;
    TRY_MPI(MPI_Iallreduce(&w->asked, &w->answer, 1, MPI_INT, MPI_MAX, w->q->comm, &w->stop));
    return 0;
}

static int steps(struct work *w, struct bt_run *run)
{
    const struct bt_problem *p = w->q->problem;
    bool stop = false;
    for (int64_t s = run->first_step + 1; s <= p->steps && !stop; s++) {
        TRY(bt_solver_step(w->q->solver));
        if (w->file && bt_problem_dump_due(p, s)) TRY(dump(w, s));
        TRY(stop_answer(w, &stop));
        TRY(stop_question(w));
        run->steps_done = s;
        progress_update(w->q->progress, s);
    }
    TRY(stop_answer(w, &stop));
    run->interrupted = stop && run->steps_done < p->steps;
    return 0;
}

static int timed(struct work *w, struct bt_run *run)
{
    w->stop = MPI_REQUEST_NULL;
    TRY_MPI(MPI_Barrier(w->q->comm));
    w->start_s = watch_now();
    if (w->file) io_file_start(w->file);
    int rc = steps(w, run);
    if (w->file && rc == 0) rc = io_file_end(w->file);
    w->end_s = watch_now();
    return rc;
}

static int spread_phases(const struct work *w, struct bt_run *run)
{
    double mine[BT_RUN_PHASES] = {0};
    memcpy(mine, bt_solver_phases_s(w->q->solver), BT_PHASES * sizeof mine[0]);
    mine[BT_RUN_STAGE] = w->dump.stage_s;
    mine[BT_RUN_DIGEST] = w->dump.digest_s;
    mine[BT_RUN_STOP] = w->stop_s;
    for (int i = IO_PHASE_WRITE; w->file && i < IO_PHASES; i++)
        mine[BT_RUN_IO + i - IO_PHASE_WRITE] = io_file_stats(w->file)->phase_s[i];
    double known = 0;
    for (int i = 0; i < BT_RUN_IDLE; i++)
        known += mine[i];
    mine[BT_RUN_IDLE] = fmax(0, run->t_t_s - known);
    for (int i = 0; i < BT_RUN_PHASES; i++)
        TRY(par_spread(w->q->comm, mine[i], &run->phase[i]));
    return 0;
}

static int spread_dump(const struct work *w, const struct io_dump_times *t, struct bt_run_dump *d)
{
    struct par_spread entered, start, end;
    const double begin = t->write_s - w->start_s;
    TRY(par_spread(w->q->comm, t->start_s - w->start_s, &entered));
    TRY(par_spread(w->q->comm, begin, &start));
    TRY(par_spread(w->q->comm, begin + t->post_s, &end));
    TRY(par_spread(w->q->comm, t->post_s, &d->post));
    TRY(par_spread(w->q->comm, t->wait_s, &d->wait));
    d->step = t->step;
    d->start_s = entered.min;
    d->window_s = end.max - start.min;
    return 0;
}

static int spread_dumps(const struct work *w, struct bt_run *run)
{
    const struct io_stats *stats = io_file_stats(w->file);
    run->dumps_n = stats->dumps_n;
    run->dump = calloc((size_t)stats->dumps_n + 1, sizeof *run->dump);
    TRY(par_agree(w->q->comm, run->dump ? 0
                                        : err_set(ERR_NOMEM, "no memory for %lld dump records",
                                                  (long long)stats->dumps_n)));
    for (int64_t d = stats->kept_n; d < run->dumps_n; d++) {
        TRY(spread_dump(w, &stats->dump[d], &run->dump[d]));
        run->writing_s += run->dump[d].window_s;
    }
    return 0;
}

static int spread_overlap(const struct work *w, struct bt_run *run)
{
    const struct io_stats *stats = io_file_stats(w->file);
    TRY(par_spread(w->q->comm, stats->compute_s, &run->compute));
    TRY(par_spread(w->q->comm, stats->io_s, &run->io));
    TRY(par_spread(w->q->comm, stats->both_s, &run->both));
    run->writing_s = fmax(run->writing_s, run->io.max);
    return 0;
}

static int sum_file(const struct work *w, struct bt_run *run)
{
    const struct io_stats *stats = io_file_stats(w->file);
    const int64_t mine[2] = {stats->bytes, stats->requests_n};
    int64_t all[2];
    struct par_spread t;
    TRY_MPI(MPI_Allreduce(mine, all, 2, MPI_INT64_T, MPI_SUM, w->q->comm));
    run->bytes = all[0];
    run->requests_n = all[1];
    TRY(par_spread(w->q->comm, stats->phase_s[IO_PHASE_CREATE], &t));
    run->create_s = t.max;
    TRY(par_spread(w->q->comm, stats->phase_s[IO_PHASE_OPEN], &t));
    run->open_s = t.max;
    run->file = io_file_json(w->file);
    TRY(spread_dumps(w, run));
    return spread_overlap(w, run);
}

static int statistics(const struct work *w, struct bt_run *run)
{
    struct par_spread t;
    TRY(par_spread(w->q->comm, w->end_s - w->start_s, &t));
    run->t_t_s = t.max;
    TRY(spread_phases(w, run));
    return w->file ? sum_file(w, run) : 0;
}

/* Right after the clock, before anything else changes what is in memory. */
static int ask_cache(const struct work *w, struct bt_run *run)
{
    const struct bt_run_request *q = w->q;
    if (!io_file_leaves_one(w->file)) return 0;
    return cache_ask(q->nodes, q->io->path, q->io->sync != IO_SYNC_NONE, &run->cache);
}

static int norms(const struct work *w, struct bt_run *run)
{
    const struct bt_problem *p = w->q->problem;
    const struct bt_reference *ref = bt_reference_find(p->n, p->steps, p->dt);
    run->norms_published = ref != NULL;
    if (run->interrupted) return 0;
    TRY(bt_solver_error_norms(w->q->solver, run->xce));
    TRY(bt_solver_residual_norms(w->q->solver, run->xcr));
    if (!ref) return 0;
    run->norms_deviation = fmax(bt_reference_deviation(run->xce, ref->error),
                                bt_reference_deviation(run->xcr, ref->residual));
    run->norms_ok = run->norms_deviation <= BT_TOLERANCE;
    return 0;
}

int bt_run_make(const struct bt_run_request *q, struct bt_run *run)
{
    struct work w = {.q = q, .stop = MPI_REQUEST_NULL};
    int rc;
    for (int m = 0; m < BT_NCOMP; m++)
        run->xce[m] = run->xcr[m] = NAN;
    TRY_TO(out, rc, prepare(&w, run));
    TRY_TO(out, rc, timed(&w, run));
    if (w.file && q->nodes) TRY_TO(out, rc, ask_cache(&w, run));
    TRY_TO(out, rc, statistics(&w, run));
    TRY_TO(out, rc, norms(&w, run));
    if (run->interrupted)
        rc = err_set(ERR_INTERRUPT, "interrupted after step %lld of %lld%s",
                     (long long)run->steps_done, (long long)q->problem->steps,
                     w.file ? ": the dumps up to then are complete; --restart goes on "
                              "from there"
                            : "");
    run->completed = rc == 0;
out:
    if (w.stop != MPI_REQUEST_NULL) MPI_Wait(&w.stop, MPI_STATUS_IGNORE);
    io_file_free(w.file);
    free(w.staged);
    bt_dump_free(&w.dump);
    return rc;
}

void bt_run_free(struct bt_run *run)
{
    free(run->dump);
    json_decref(run->file);
    run->dump = NULL;
    run->file = NULL;
}

int bt_run_probe(MPI_Comm comm, struct bt_solver *solver, int steps_n, double *seconds)
{
    struct par_spread t;
    bt_solver_reset(solver);
    TRY(bt_solver_step(solver));
    TRY_MPI(MPI_Barrier(comm));
    const double start_s = watch_now();
    for (int s = 0; s < steps_n; s++)
        TRY(bt_solver_step(solver));
    TRY(par_spread(comm, watch_now() - start_s, &t));
    *seconds = t.max;
    return 0;
}
