/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/rounds.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdio.h>
#include <string.h>

#include "base/par.h"
#include "base/stop.h"
#include "base/watch.h"
#include "bt/compute.h"
#include "bt/warmup.h"

#define COMPUTE_ONLY (-1) /* in an order: the run without writing */

static const char *run_id(const struct bt_outcome *o)
{
    return json_string_value(json_object_get(o->run.file, "run_id"));
}

/* Rank 0 has the file read back; everybody learns the state. The lock on the file went when its run
 * ended: a verdict on what another run has put there since is none on this one. */
static int prove(const struct bt_job *job, struct bt_outcome *o)
{
    int state = BT_PROOF_NONE, rc = 0;
    if (!o->serial_file || strcmp(job->setup->opt.verify, "never") == 0) return 0;
    if (job->rank == 0) {
        struct bt_proof *p = &o->proof;
        bt_prove(o->path, p);
        const bool judged = p->state == BT_PROOF_RIGHT || p->state == BT_PROOF_WRONG;
        if (judged && run_id(o) && !io_file_is_of(o->path, run_id(o))) {
            p->state = BT_PROOF_FAILED;
            snprintf(p->note, sizeof p->note,
                     "%.300s is not this run's any more: another run took it, or its manifest was "
                     "changed, before it was verified",
                     o->path);
        }
        state = (int)p->state;
        if (p->state == BT_PROOF_FAILED && stop_requested())
            rc = err_set(ERR_INTERRUPT, "interrupted while %s was verified", o->path);
    }
    TRY(par_agree(job->comm, rc));
    TRY_MPI(MPI_Bcast(&state, 1, MPI_INT, 0, job->comm));
    o->proof.state = (enum bt_proof_state)state;
    return 0;
}

/* The verdict on a run that wrote, once its norms are known to be no wrong ones. */
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

static int run_writer(struct bt_job *job, struct bt_solver *solver, int writer, int round)
{
    const struct bt_setup *s = job->setup;
    const bool serial_file = bt_setup_leaves_file(s, writer);
    struct bt_outcome *o = NULL;
    char path[4096];
    bt_setup_path(s, writer, path);
    struct io_spec spec = bt_setup_spec(s, writer, path);
    spec.kernel = job->kernel;
    for (int a = 0; a < 3; a++) {
        spec.box.lo[a] = job->decomp.lo[a];
        spec.box.n[a] = job->decomp.count[a];
    }
    const int rc = bt_job_run(job, solver, s->writer[writer], round, &spec, &o);
    if (o) {
        o->serial_file = serial_file;
        if (serial_file) snprintf(o->path, sizeof o->path, "%s", path);
    }
    TRY(rc);
    TRY(prove(job, o));
    if (!o->wrong) judge_file(o);
    const bool suspect = o->wrong || o->proof.state == BT_PROOF_FAILED;
    const bool remove = s->all && !s->opt.keep && serial_file && !suspect;
    return remove ? io_file_remove(job->comm, path, run_id(o)) : 0;
}

/* Makes the solver of the rounds, and notes how long that took and what it tells about itself. */
static int solver_new(struct bt_job *job, struct bt_solver **solver)
{
    const struct bt_setup *s = job->setup;
    struct par_spread took;
    const double start_s = watch_now();
    TRY(bt_solver_new(solver, job->comm, &s->problem, &job->decomp, s->opt.isa));
    TRY(par_spread(job->comm, watch_now() - start_s, &took));
    job->setup_s = took.max;
    const double mine = (double)bt_solver_memory_bytes(*solver);
    snprintf(job->kernel, sizeof job->kernel, "%s/%s", BT_KERNEL_VERSION, bt_solver_isa(*solver));
    TRY_MPI(MPI_Allreduce(&mine, &job->memory_bytes, 1, MPI_DOUBLE, MPI_SUM, job->comm));
    return 0;
}

int bt_rounds_make(struct bt_job *job)
{
    const struct bt_setup *s = job->setup;
    struct bt_solver *solver = NULL;
    int rc, order[BT_RUNS_MAX + 1], n = 0;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    TRY_TO(out, rc, par_agree(job->comm, rng ? 0 : err_set(ERR_NOMEM, "no memory for an order")));
    gsl_rng_set(rng, s->seed);
    TRY_TO(out, rc, solver_new(job, &solver));
    if (s->writers_n > 0 && !s->opt.restart) TRY_TO(out, rc, bt_warmup(job));
    if (bt_setup_computes(s)) order[n++] = COMPUTE_ONLY;
    for (int w = 0; w < s->writers_n; w++)
        order[n++] = w;
    for (int round = 1; round <= s->opt.repeat; round++) {
        gsl_ran_shuffle(rng, order, (size_t)n, sizeof order[0]);
        for (int i = 0; i < n; i++)
            TRY_TO(out, rc,
                   order[i] == COMPUTE_ONLY ? bt_compute_run(job, solver, &job->decomp, round)
                                            : run_writer(job, solver, order[i], round));
    }
out:
    bt_solver_free(solver);
    if (rng) gsl_rng_free(rng);
    return rc;
}
