/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/rounds.h"

#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/par.h"
#include "base/progress.h"
#include "base/stop.h"
#include "base/watch.h"
#include "bt/compute.h"
#include "bt/warmup.h"

#define COMPUTE_ONLY (-1) /* in an order: the run without writing */

/* xorshift64*: the order must follow from the seed alone, on every system. */
static uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* Fisher and Yates. */
static void shuffle(int *order, int n, uint64_t *state)
{
    for (int i = n - 1; i > 0; i--) {
        const int j = (int)((random_next(state) >> 33) % (uint64_t)(i + 1));
        const int kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

static struct io_spec spec_of(const struct bt_job *job, int writer, const char *path)
{
    const struct bt_setup *s = job->setup;
    struct io_spec spec = {.path = path,
                           .writer = s->writer[writer],
                           .layout = s->layout,
                           .n = s->problem.n,
                           .dumps_n = bt_problem_dumps(&s->problem),
                           .steps_n = s->problem.steps,
                           .dt = s->problem.dt,
                           .interval = s->problem.interval,
                           .group = (int)s->opt.group,
                           .sync = s->sync,
                           .tuning = {.aggregators = (int)s->opt.aggregators,
                                      .buffer_bytes = s->opt.buffer,
                                      .staging = (int)s->opt.staging,
                                      .direct = s->opt.direct},
                           .force = s->opt.force,
                           .resume = s->opt.restart,
                           .hints_n = s->opt.hints.n,
                           .hints = s->opt.hints.item,
                           .kernel = job->kernel};
    for (int a = 0; a < 3; a++) {
        spec.box.lo[a] = job->decomp.lo[a];
        spec.box.n[a] = job->decomp.count[a];
    }
    return spec;
}

static const char *run_id(const struct bt_outcome *o)
{
    return json_string_value(json_object_get(o->run.file, "run_id"));
}

/* The lock on the file went when its run ended. A verdict on what another run has put there since
 * is none on this one. */
static void check_owner(struct bt_outcome *o)
{
    const bool judged = o->proof.state == BT_PROOF_RIGHT || o->proof.state == BT_PROOF_WRONG;
    if (!judged || !run_id(o) || io_file_is_of(o->path, run_id(o))) return;
    o->proof.state = BT_PROOF_FAILED;
    snprintf(o->proof.note, sizeof o->proof.note,
             "%.300s is not this run's any more: another run took it, or its manifest was changed, "
             "before it was verified",
             o->path);
}

/* Rank 0 has the file read back; everybody learns the state. */
static int prove(const struct bt_job *job, struct bt_outcome *o)
{
    int state = BT_PROOF_NONE, rc = 0;
    if (!o->serial_file || strcmp(job->setup->opt.verify, "never") == 0) return 0;
    if (job->rank == 0) {
        bt_prove(o->path, &o->proof);
        check_owner(o);
        state = (int)o->proof.state;
        if (o->proof.state == BT_PROOF_FAILED && stop_requested())
            rc = err_set(ERR_INTERRUPT, "interrupted while %s was verified", o->path);
    }
    TRY(par_agree(job->comm, rc));
    TRY_MPI(MPI_Bcast(&state, 1, MPI_INT, 0, job->comm));
    o->proof.state = (enum bt_proof_state)state;
    return 0;
}

static void judge_norms(struct bt_outcome *o)
{
    const struct bt_run *run = &o->run;
    if (!run->norms_published || run->norms_ok) return;
    o->wrong = true;
    snprintf(o->verdict, sizeof o->verdict,
             "WRONG: the norms differ from the published ones by %.3g, relative",
             run->norms_deviation);
}

static void judge_file(struct bt_outcome *o)
{
    const char *norms = o->run.norms_published ? "norms as published, " : "";
    switch (o->proof.state) {
    case BT_PROOF_RIGHT:
        o->verified = true;
        snprintf(o->verdict, sizeof o->verdict, "verified: %sfile right", norms);
        break;
    case BT_PROOF_NONE:
        snprintf(o->verdict, sizeof o->verdict, "not verified: %s%s", norms,
                 o->serial_file ? "file not read back" : "there is no file to read back");
        break;
    case BT_PROOF_MISSING:
    case BT_PROOF_FAILED:
        snprintf(o->verdict, sizeof o->verdict, "not verified: %s", o->proof.note);
        break;
    case BT_PROOF_WRONG:
        o->wrong = true;
        snprintf(o->verdict, sizeof o->verdict, "WRONG: %s", o->proof.note);
        break;
    }
}

static void judge(struct bt_outcome *o)
{
    judge_norms(o);
    if (o->wrong) return;
    if (strcmp(o->run.writer, BT_COMPUTE) != 0) {
        judge_file(o);
        return;
    }
    o->verified = o->run.norms_published;
    snprintf(o->verdict, sizeof o->verdict, "%s",
             o->verified ? "verified: norms as published"
                         : "not verified: no norms are published for this problem");
}

/* What io/ has to say about the file is told once, however many runs repeat it. */
static void take_notices(struct bt_job *job, const struct bt_run *run)
{
    size_t i, j;
    const json_t *text, *known;
    json_array_foreach(json_object_get(run->file, "notices"), i, text)
    {
        bool told = false;
        json_array_foreach(job->notices, j, known) told = told || json_equal(text, known);
        if (!told && json_is_string(text)) json_array_append(job->notices, (json_t *)text);
    }
}

static void restart_notice(struct bt_job *job, const struct bt_run *run)
{
    if (run->resumed && !run->bitwise)
        bt_job_notice(job,
                      "The dumps taken over were computed by kernel %s and the others by %s: the "
                      "file differs in its last bits from one of a run without interruption.",
                      run->past_kernel, job->kernel);
}

static int run_one(struct bt_job *job, struct bt_solver *solver, struct bt_outcome *o,
                   const struct io_spec *spec)
{
    const struct bt_problem *p = &job->setup->problem;
    const enum progress_mode mode =
        job->rank == 0 ? progress_mode_of(job->setup->opt.progress) : PROGRESS_NEVER;
    struct progress *progress =
        progress_begin(mode, spec ? o->run.writer : "computing", "step", p->steps);
    const struct bt_run_request q = {.comm = job->comm,
                                     .problem = p,
                                     .solver = solver,
                                     .io = spec,
                                     .nodes = &job->machine.nodes,
                                     .progress = progress};
    int rc = bt_run_make(&q, &o->run);
    progress_end(progress);
    if (rc < 0) return rc;
    take_notices(job, &o->run);
    restart_notice(job, &o->run);
    TRY(prove(job, o));
    judge(o);
    return 0;
}

static int run_writer(struct bt_job *job, struct bt_solver *solver, int writer, int round)
{
    const struct bt_setup *s = job->setup;
    struct bt_outcome *o = bt_job_outcome(job);
    char path[4096];
    TRY(par_agree(job->comm, o ? 0 : ERR_NOMEM));
    o->run.round = round;
    snprintf(o->run.writer, sizeof o->run.writer, "%s", s->writer[writer]);
    snprintf(o->decomp, sizeof o->decomp, "%s", job->decomp_name);
    snprintf(o->verdict, sizeof o->verdict, "not verified: the run did not come to its end");
    bt_setup_path(s, writer, path);
    o->serial_file = bt_setup_leaves_file(s, writer);
    if (o->serial_file) snprintf(o->path, sizeof o->path, "%s", path);
    const struct io_spec spec = spec_of(job, writer, path);
    TRY(run_one(job, solver, o, &spec));
    const bool suspect = o->wrong || o->proof.state == BT_PROOF_FAILED;
    const bool remove = s->all && !s->opt.keep && o->serial_file && !suspect;
    return remove ? io_file_remove(job->comm, path, run_id(o)) : 0;
}

static int run_compute(struct bt_job *job, struct bt_solver *solver, const struct bt_decomp *d,
                       int round)
{
    struct bt_outcome *o = bt_job_outcome(job);
    TRY(par_agree(job->comm, o ? 0 : ERR_NOMEM));
    o->run.round = round;
    snprintf(o->run.writer, sizeof o->run.writer, "%s", BT_COMPUTE);
    snprintf(o->verdict, sizeof o->verdict, "not verified: the run did not come to its end");
    bt_decomp_name(d, o->decomp);
    TRY(run_one(job, solver, o, NULL));
    return bt_compute_note(job, o, bt_solver_isa(solver));
}

int bt_rounds_compute(struct bt_job *job, const struct bt_decomp *d)
{
    struct bt_solver *solver = NULL;
    TRY(bt_solver_new(&solver, job->comm, &job->setup->problem, d, job->setup->opt.isa));
    const int rc = run_compute(job, solver, d, 1);
    bt_solver_free(solver);
    return rc;
}

static int round_make(struct bt_job *job, struct bt_solver *solver, int round, uint64_t *state)
{
    int order[BT_RUNS_MAX + 1], n = 0;
    if (job->setup->compute) order[n++] = COMPUTE_ONLY;
    for (int w = 0; w < job->setup->writers_n; w++)
        order[n++] = w;
    shuffle(order, n, state);
    for (int i = 0; i < n; i++)
        TRY(order[i] == COMPUTE_ONLY ? run_compute(job, solver, &job->decomp, round)
                                     : run_writer(job, solver, order[i], round));
    return 0;
}

/* Makes the solver of the rounds and notes how long that took. */
static int solver_new(struct bt_job *job, struct bt_solver **solver)
{
    const struct bt_setup *s = job->setup;
    struct par_spread took;
    const double start_s = watch_now();
    TRY(bt_solver_new(solver, job->comm, &s->problem, &job->decomp, s->opt.isa));
    const int rc = par_spread(job->comm, watch_now() - start_s, &took);
    if (rc == 0) job->setup_s = took.max;
    if (rc < 0) bt_solver_free(*solver);
    return rc;
}

/* What the solver tells about itself goes into the job. */
static int describe(struct bt_job *job, const struct bt_solver *solver)
{
    const double mine = (double)bt_solver_memory_bytes(solver);
    snprintf(job->kernel, sizeof job->kernel, "%s/%s", BT_KERNEL_VERSION, bt_solver_isa(solver));
    TRY_MPI(MPI_Allreduce(&mine, &job->memory_bytes, 1, MPI_DOUBLE, MPI_SUM, job->comm));
    return 0;
}

int bt_rounds_make(struct bt_job *job)
{
    const struct bt_setup *s = job->setup;
    struct bt_solver *solver = NULL;
    uint64_t state = s->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    int rc;
    TRY(solver_new(job, &solver));
    TRY_TO(out, rc, describe(job, solver));
    if (s->writers_n > 0 && !s->opt.restart) TRY_TO(out, rc, bt_warmup(job));
    for (int round = 1; round <= s->opt.repeat; round++)
        TRY_TO(out, rc, round_make(job, solver, round, &state));
out:
    bt_solver_free(solver);
    return rc;
}
