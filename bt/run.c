/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "base/nodes.h"
#include "base/progress.h"
#include "base/simulation.h"
#include "base/stop.h"
#include "base/watch.h"
#include "bt/dump.h"
#include "bt/options.h"
#include "bt/restart.h"
#include "io/target/parts.h"
#include "io/target/place.h"
#include "io/writers/writer.h"

/* What a run owns while it goes on. */
struct run_state {
    const struct bt_run_request *q;
    struct io_file *file;  /* NULL: only compute */
    unsigned char *staged; /* io_view_bytes of this rank's view; NULL: the writer has memory */
    struct bt_dump dump;
    /* [dumps planned + 1] this rank's time in I/O up to the end of each dump, then of the file; of that, data */
    double *in_io_s, *data_s;
    double start_s, end_s; /* this rank's clock */
    double stop_s;
    int asked, answer;                       /* somebody was asked to stop: this rank, any rank */
    MPI_Request stop;                        /* the question under way */
    struct disturbance_sample before, after; /* the clock */
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

/* Opens the file. That of an earlier run brings the state of the last dump that is kept, after which
 * the run goes on. */
static int open_file(struct run_state *w, struct bt_run *run)
{
    const struct bt_run_request *q = w->q;
    struct io_spec spec = *q->io;
    struct bt_state x;
    double *u = bt_solver_state_edit(q->solver, &x);
    const struct io_array to = {.u = u, .sm = x.sm, .sj = x.sj, .sk = x.sk};
    if (spec.resume) spec.resume_to = &to;
    TRY(io_file_open(&w->file, q->comm, &spec));
    if (!spec.resume) return 0;
    const struct io_resumed *past = io_file_resumed(w->file);
    run->resumed = true;
    run->bitwise = bt_restart_bitwise(past->kernel, w->q->io->kernel);
    run->first_step = run->steps_done = past->step;
    run->kept_n = past->dumps_n;
    run->claimed_n = past->claimed_n;
    run->read_s = past->read_s;
    snprintf(run->past_kernel, sizeof run->past_kernel, "%s", past->kernel);
    if (past->dumps_n == 0) bt_solver_reset(q->solver);
    return 0;
}

/* Before the clock starts. */
static int prepare(struct run_state *w, struct bt_run *run)
{
    const struct bt_run_request *q = w->q;
    const bool resume = q->io && q->io->resume;
    int rc = 0;
    if (q->io) {
        TRY(open_file(w, run));
        const size_t bytes = (size_t)io_view_bytes(io_file_view(w->file));
        rc = bt_dump_new(&w->dump, q->problem->n);
        w->in_io_s = mem_new(q->io->dumps_n + 1, sizeof *w->in_io_s, "times in I/O");
        w->data_s = mem_new(q->io->dumps_n + 1, sizeof *w->data_s, "times of data");
        if (!w->in_io_s || !w->data_s) rc = ERR_NOMEM;
        /* Touched here, so that no page is touched for the first time inside the clock. The time of a
         * part of a run says nothing: that goes on at once, and unwarmed. */
        if (rc == 0 && !io_file_buffer(w->file)) {
            w->staged = resume ? malloc(bytes + 1) : buffer_new(bytes);
            if (!w->staged) rc = mem_error("a staging buffer of %zu bytes", bytes);
        }
    }
    TRY(par_agree(q->comm, rc));
    if (!resume && !q->setup->opt.charge) { /* what is charged needs no warming up */
        bt_solver_reset(q->solver);
        TRY(bt_solver_step(q->solver));
        bt_solver_reset(q->solver);
    }
    bt_solver_phases_clear(q->solver);
    return 0;
}

/* Whether any rank was asked to stop or could not write. */
static int stop_answer(struct run_state *w, bool *stop)
{
    const double t0 = watch_now();
    TRY_MPI(MPI_Wait(&w->stop, MPI_STATUS_IGNORE));
    *stop = w->answer != 0;
    w->stop_s += watch_now() - t0;
    return 0;
}

/* Phases of io/ that move data; the others are bookkeeping. */
static bool moves_data(int phase)
{
    return phase == IO_PHASE_WRITE || phase == IO_PHASE_DRAIN || phase == IO_PHASE_SYNC ||
           phase == IO_PHASE_CLOSE;
}

/* Keeps what this rank has spent in I/O so far: with the i-th dump, or behind the dumps with the end. */
static void keep_spent(struct run_state *w, int64_t i)
{
    const double *phase_s = io_file_stats(w->file)->phase_s;
    w->in_io_s[i] = w->dump.stage_s + w->dump.digest_s;
    w->data_s[i] = 0;
    for (int p = IO_PHASE_WRITE; p < IO_PHASES; p++) {
        w->in_io_s[i] += phase_s[p];
        if (moves_data(p)) w->data_s[i] += phase_s[p];
    }
}

/* spent_s: what was kept; what each dump and the end took takes its place. */
static int sum_slowest(const struct run_state *w, double *spent_s, double *sum_s)
{
    const struct io_stats *stats = io_file_stats(w->file);
    const int64_t first = stats->kept_n, end = stats->dumps_n;
    for (int64_t i = end; i > first; i--)
        spent_s[i] -= spent_s[i - 1];
    return par_slowest(w->q->comm, spent_s + first, end - first + 1, sum_s);
}

static int spread_phases(const struct run_state *w, struct bt_run *run)
{
    double mine[BT_RUN_PHASES] = {0}, known = 0;
    memcpy(mine, bt_solver_phases_s(w->q->solver), BT_PHASES * sizeof mine[0]);
    mine[BT_RUN_STAGE] = w->dump.stage_s;
    mine[BT_RUN_DIGEST] = w->dump.digest_s;
    mine[BT_RUN_STOP] = w->stop_s;
    for (int i = IO_PHASE_WRITE; w->file && i < IO_PHASES; i++)
        mine[BT_RUN_IO + i - IO_PHASE_WRITE] = io_file_stats(w->file)->phase_s[i];
    for (int i = 0; i < BT_RUN_IDLE; i++)
        known += mine[i];
    mine[BT_RUN_IDLE] = fmax(0, run->t_t_s - known);
    for (int i = 0; i < BT_RUN_PHASES; i++)
        TRY(par_spread(w->q->comm, mine[i], &run->phase[i]));
    return 0;
}

static int spread_dumps(const struct run_state *w, struct bt_run *run)
{
    const MPI_Comm comm = w->q->comm;
    const struct io_stats *stats = io_file_stats(w->file);
    run->dumps_n = stats->dumps_n;
    run->dump = mem_new(stats->dumps_n, sizeof *run->dump, "the times of %lld dumps",
                        (long long)stats->dumps_n);
    TRY(par_agree_memory(comm, run->dump));
    for (int64_t i = stats->kept_n; i < run->dumps_n; i++) {
        const struct io_dump_times *t = &stats->dump[i];
        struct bt_run_dump *d = &run->dump[i];
        struct par_spread entered, start, end;
        TRY(par_spread(comm, t->start_s - w->start_s, &entered));
        TRY(par_spread(comm, t->write_s - w->start_s, &start));
        TRY(par_spread(comm, t->write_s - w->start_s + t->post_s, &end));
        TRY(par_spread(comm, t->post_s, &d->post));
        TRY(par_spread(comm, t->wait_s, &d->wait));
        d->step = t->step;
        d->start_s = entered.min;
        d->window_s = end.max - start.min;
        run->writing_s += d->window_s;
    }
    return 0;
}

static int statistics(const struct run_state *w, struct bt_run *run)
{
    const MPI_Comm comm = w->q->comm;
    struct par_spread t;
    TRY(par_spread(comm, w->end_s - w->start_s, &t));
    run->t_t_s = t.max;
    TRY(spread_phases(w, run));
    if (!w->file) return 0;
    const struct io_stats *stats = io_file_stats(w->file);
    TRY(sum_slowest(w, w->in_io_s, &run->in_io_s));
    TRY(sum_slowest(w, w->data_s, &run->data_s));
    const int64_t mine[2] = {stats->bytes, stats->requests_n};
    int64_t all[2];
    TRY_MPI(MPI_Allreduce(mine, all, 2, MPI_INT64_T, MPI_SUM, comm));
    run->bytes = all[0];
    run->requests_n = all[1];
    TRY(par_spread(comm, stats->phase_s[IO_PHASE_CREATE], &t));
    run->create_s = t.max;
    TRY(par_spread(comm, stats->phase_s[IO_PHASE_OPEN], &t));
    run->open_s = t.max;
    run->file = io_file_json(w->file);
    TRY(spread_dumps(w, run));
    TRY(par_spread(comm, stats->compute_s, &run->compute));
    TRY(par_spread(comm, stats->io_s, &run->io));
    TRY(par_spread(comm, stats->both_s, &run->both));
    run->writing_s = fmax(run->writing_s, run->io.max);
    return 0;
}

static int take_norms(const struct run_state *w, struct bt_run *run)
{
    const struct bt_problem *p = w->q->problem;
    const struct bt_reference *ref = bt_reference_find(p->n, p->steps, p->dt);
    run->norms = ref;
    if (run->interrupted) return 0;
    if (w->q->setup->opt.charge) {
        run->norms = NULL; /* there is no solution */
        return 0;
    }
    TRY(bt_solver_error_norms(w->q->solver, run->xce));
    TRY(bt_solver_residual_norms(w->q->solver, run->xcr));
    if (!ref) return 0;
    run->norms_deviation = fmax(bt_reference_deviation(run->xce, ref->error),
                                bt_reference_deviation(run->xcr, ref->residual));
    run->norms_ok = run->norms_deviation <= BT_TOLERANCE;
    return 0;
}

static int interrupted(const struct bt_run_request *q, const struct bt_run *run)
{
    const bool dumps = q->restart && run->dumps_n > 0;
    return err_set(ERR_INTERRUPT, "interrupted after step %lld of %lld%s%s",
                   (long long)run->steps_done, (long long)q->problem->steps,
                   dumps        ? ": the dumps up to then are complete; continue with "
                   : q->restart ? ", before the first dump was complete: start anew"
                                : "",
                   dumps ? q->restart : "");
}

/* Reads the dumps back, where that was asked for and they can be right. */
static int read_back(const struct bt_run_request *q, struct bt_run *run)
{
    if (!q->io || !q->reads || run->kept_wrong) return 0;
    const struct bt_read_request reading = {
        .comm = q->comm,
        .setup = q->setup,
        .plan = q->reads,
        .solver = q->solver,
        .io = q->io,
        .nodes = q->nodes,
        .run_id = json_string_value(json_object_get(run->file, "run_id")),
        .round = run->round};
    return bt_read_make(&reading, &run->readings);
}

/* What is in memory of the one file, serial, or else of the parts that ranks have, if they have. */
static int find_cached(const struct bt_run_request *q, bool serial, struct cache *c)
{
    char part[IO_PLACE_PATH_MAX];
    const bool parts = !serial && (io_writer_caps(q->io->writer) & IO_CAP_PARTS) != 0;
    if (!serial && !parts) return 0;
    io_part_path(q->io->path, q->nodes->rank, part);
    return cache_ask(q->nodes, parts ? part : q->io->path, parts, q->io->sync != IO_SYNC_NONE, c);
}

int bt_run_make(const struct bt_run_request *q, struct bt_run *run)
{
    const struct bt_problem *p = q->problem;
    struct run_state w = {.q = q, .stop = MPI_REQUEST_NULL};
    double written = 0;
    bool stop = false, kept_right;
    int rc;
    for (int m = 0; m < BT_NCOMP; m++)
        run->xce[m] = run->xcr[m] = NAN;
    const double since_s = watch_now();
    TRY_TO(out, rc, prepare(&w, run));
    const bool of_node = q->nodes && q->nodes->node_rank == 0;
    if (q->nodes) disturbance_take(&w.before, DISTURBANCE_BEFORE, of_node);

    /* The clock runs: the steps with their dumps, and the end of the file. The question of one step
     * whether to stop is answered after the next one, so that nobody waits for it, and nobody
     * computes up to the next dump for nothing. */
    TRY_MPI_TO(out, rc, MPI_Barrier(q->comm));
    w.start_s = watch_now();
    run->ready_s = w.start_s - since_s;
    if (w.file) io_file_start(w.file);
    for (int64_t s = run->first_step + 1; s <= p->steps && !stop; s++) {
        TRY_TO(out, rc, bt_solver_step(q->solver));
        if (w.file && bt_problem_dump_due(p, s)) {
            const struct bt_state state = bt_solver_state(q->solver);
            void *staged = w.staged ? w.staged : io_file_buffer(w.file);
            bt_dump_take(&w.dump, &state, io_file_view(w.file), staged);
            TRY_TO(out, rc, io_file_write(w.file, s, staged, w.dump.digest));
            keep_spent(&w, io_file_stats(w.file)->dumps_n - 1);
            written += (double)io_dump_bytes(q->io->layout, p->n);
            progress_rate(q->progress, written / (watch_now() - w.start_s));
        }
        TRY_TO(out, rc, stop_answer(&w, &stop));
        w.asked = stop_requested() || (w.file && io_file_error(w.file) < 0) ? 1 : 0;
        w.answer = 0;
        if (!simulation()) /* whose nonblocking reductions are a message from each rank to each */
            TRY_MPI_TO(out, rc,
                       MPI_Iallreduce(&w.asked, &w.answer, 1, MPI_INT, MPI_MAX, q->comm, &w.stop));
        run->steps_done = s;
        progress_update(q->progress, s);
    }
    TRY_TO(out, rc, stop_answer(&w, &stop));
    run->interrupted = stop && run->steps_done < p->steps;
    if (w.file) TRY_TO(out, rc, io_file_end(w.file));
    w.end_s = watch_now();
    if (q->nodes) disturbance_take(&w.after, DISTURBANCE_AFTER, of_node);

    /* The clock has stopped. First what is in memory, before anything changes that. */
    if (w.file && q->nodes) TRY_TO(out, rc, find_cached(q, io_file_has_file(w.file), &run->cache));
    if (w.file) {
        keep_spent(&w, io_file_stats(w.file)->dumps_n);
        TRY_TO(out, rc, io_file_settle(w.file));
    }
    TRY_TO(out, rc, statistics(&w, run));
    if (q->nodes) /* a rank that writes does not compute all the time */
        TRY_TO(out, rc,
               nodes_disturbance(q->nodes, &w.before, &w.after, w.file ? 0 : q->threads,
                                 &run->disturbance));
    TRY_TO(out, rc, take_norms(&w, run));
    if (run->resumed && !run->interrupted) {
        TRY_TO(out, rc, io_file_kept_right(w.file, &kept_right));
        run->kept_wrong = !kept_right;
    }
    if (run->interrupted) rc = interrupted(q, run);
    run->completed = rc == 0;
out:
    if (w.stop != MPI_REQUEST_NULL) MPI_Wait(&w.stop, MPI_STATUS_IGNORE);
    disturbance_free(&w.before);
    disturbance_free(&w.after);
    io_file_free(w.file);
    free(w.staged);
    free(w.in_io_s);
    free(w.data_s);
    bt_dump_free(&w.dump);
    return rc < 0 ? rc : read_back(q, run);
}

void bt_run_free(struct bt_run *run)
{
    free(run->dump);
    bt_readings_free(&run->readings);
    disturbance_end(&run->disturbance);
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
