/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/par.h"
#include "base/stop.h"
#include "base/sys.h"
#include "base/watch.h"
#include "bt/finding.h"
#include "bt/rounds.h"
#include "io/mpiio.h"
#include "io/writer.h"

/* What the values of the settings follow from. Rank 0's view of the target holds for all. */
static int look_around(const struct bt_job *job, struct bt_surroundings *a)
{
    const struct bt_setup *s = job->setup;
    *a = (struct bt_surroundings){.ranks = job->size,
                                  .nodes = job->machine.nodes.count,
                                  .dump_bytes = io_dump_bytes(s->layout, s->problem.n),
                                  .dumps_n = bt_problem_dumps(&s->problem),
                                  .fixed = s->fixed};
    if (job->rank == 0) {
        struct sys_fs fs;
        if (sys_path_fs(s->opt.out, &fs) < 0) {
            err_clear(); /* the first run will say what is wrong with the folder */
            fs.type[0] = '\0';
        }
        a->readers = io_mpiio_readers(fs.type);
        a->striped = strcmp(fs.type, "lustre") == 0;
    }
    TRY_MPI(MPI_Bcast(a, sizeof *a, MPI_BYTE, 0, job->comm));
    return 0;
}

/* The candidates, the same on every rank, and on rank 0 the race of them. The default settings of
 * mpiio and posix are what others are compared with. */
static int prepare(struct bt_job *job, struct bt_search *search)
{
    const struct bt_setup *s = job->setup;
    struct bt_surroundings around;
    struct race_entry entry[BT_SPACE_MAX] = {{0}};
    TRY(look_around(job, &around));
    TRY(bt_space_make(&search->space, s->candidate, s->writers_n, &around));
    search->why = calloc((size_t)search->space.n + 1, sizeof *search->why);
    if (!search->why) return err_set(ERR_NOMEM, "no memory for the search");
    if (job->rank != 0) return 0;
    for (int i = 0; i < search->space.n; i++) {
        const char *writer = search->space.candidate[i].writer;
        const bool plain = search->space.kind[i] == BT_AS_IT_STANDS;
        entry[i].order = (int)search->space.kind[i];
        entry[i].yardstick =
            plain && (strcmp(writer, "mpiio") == 0 || strcmp(writer, "posix") == 0);
    }
    const struct race_plan plan = {.n = search->space.n,
                                   .entry = entry,
                                   .budget_s = 60 * s->opt.minutes,
                                   .dumps_n = around.dumps_n,
                                   .seed = s->seed};
    return race_new(&search->race, &plan, watch_now());
}

/* The problem with as many dumps as the trial has. */
static struct bt_problem shortened(const struct bt_problem *whole, int64_t dumps)
{
    struct bt_problem p = *whole;
    if (dumps >= bt_problem_dumps(whole)) return p;
    p.steps = dumps * p.interval;
    p.last = false;
    p.cls = 'U';
    return p;
}

/* Whether a run is worth its time: it came to its end, and what it left is right. Why not, in why. */
static bool counts(const struct bt_outcome *o, int rc, char why[ERR_MESSAGE_MAX])
{
    why[0] = '\0';
    if (rc < 0)
        snprintf(why, ERR_MESSAGE_MAX, "%s", err_message()[0] ? err_message() : err_text(rc));
    else if (o->wrong || o->proof.state == BT_PROOF_FAILED)
        snprintf(why, ERR_MESSAGE_MAX, "%s", o->verdict);
    return !why[0];
}

/* One run of the race. Trouble of a candidate is its own; that of the target, which all would have,
 * and of computing is returned. */
static int run(struct bt_job *job, struct bt_solver *solver, struct race_trial *t)
{
    struct bt_search *search = job->search;
    const struct bt_candidate *c =
        t->candidate == RACE_COMPUTE ? NULL : &search->space.candidate[t->candidate];
    const struct bt_problem p = shortened(&job->setup->problem, t->dumps);
    const double start_s = watch_now();
    char path[4096], label[BT_LABEL_MAX] = "computing", line[BT_LABEL_MAX + 64];
    char why[ERR_MESSAGE_MAX];
    struct bt_outcome o;
    if (c) bt_candidate_label(c, label);
    snprintf(line, sizeof line, "rung %d, round %d: %s", t->rung, t->round, label);
    bt_setup_path(job->setup, BT_SEARCH_NAME, path);
    const struct bt_task task = {
        .candidate = c, .problem = &p, .path = path, .label = line, .round = 0, .remove = true};
    int rc = bt_job_make_run(job, solver, &task, &o);
    const bool good = counts(&o, rc, why);
    t->t_t_s = good ? o.run.t_t_s : NAN;
    bt_outcome_free(&o);
    if (!good && rc == 0 && !c) rc = err_set(ERR_VERIFY, "computing alone: %s", why);
    if (!good && c && rc != ERR_USAGE) {
        const bool interrupted = rc == ERR_INTERRUPT;
        err_clear();
        /* Nothing of it is of use; what else is wrong with the file the next run will meet. */
        if (io_file_remove(job->comm, path, NULL) < 0) err_clear();
        if (!interrupted) snprintf(search->why[t->candidate], ERR_MESSAGE_MAX, "%s", why);
        rc = interrupted ? ERR_INTERRUPT : 0;
    }
    t->took_s = watch_now() - start_s;
    return rc;
}

/* The runs that rank 0's race asks for, one after the other. */
static int race_all(struct bt_job *job, struct bt_solver *solver, FILE *to)
{
    struct bt_search *search = job->search;
    struct {
        struct race_trial trial;
        int more;
    } next;
    int told = 0, rc = 0;
    for (;;) {
        memset(&next, 0, sizeof next);
        if (job->rank == 0) {
            next.more = race_next(search->race, watch_now(), &next.trial);
            if (to && next.trial.rung > told + 1) bt_finding_rung(job, ++told, to);
        }
        TRY_MPI(MPI_Bcast(&next, sizeof next, MPI_BYTE, 0, job->comm));
        if (!next.more) break;
        TRY(run(job, solver, &next.trial));
        if (job->rank == 0) rc = race_told(search->race, &next.trial);
        TRY(par_agree(job->comm, rc));
    }
    if (to) bt_finding_rung(job, told + 1, to);
    return 0;
}

/* All candidates failed: the first of them says why. */
static int nobody(const struct bt_job *job)
{
    const struct bt_search *search = job->search;
    char label[BT_LABEL_MAX];
    for (int i = 0; i < search->space.n; i++) {
        if (!search->why[i][0]) continue;
        bt_candidate_label(&search->space.candidate[i], label);
        return err_set(ERR_IO, "no candidate of --io auto could write; %s: %s", label,
                       search->why[i]);
    }
    return err_set(ERR_INVALID,
                   "--minutes %g is over before any candidate was measured: give more time",
                   job->setup->opt.minutes);
}

int bt_search_make(struct bt_job *job, FILE *to)
{
    struct bt_search *search = calloc(1, sizeof *search);
    struct bt_solver *solver = NULL;
    const double start_s = watch_now();
    int rc, found = 1;
    job->search = search;
    TRY(par_agree(job->comm, search ? 0 : err_set(ERR_NOMEM, "no memory for the search")));
    TRY(par_agree(job->comm, prepare(job, search)));
    if (to) bt_finding_begin(job, to);
    rc = bt_rounds_begin(job, &solver);
    if (rc == 0) rc = race_all(job, solver, to);
    bt_solver_free(solver);
    search->seconds = watch_now() - start_s;
    if (rc == ERR_INTERRUPT) {
        search->end = BT_SEARCH_INTERRUPTED;
        err_clear();
        return err_set(ERR_INTERRUPT, "interrupted: the search was not finished");
    }
    TRY(rc);
    if (job->rank == 0) {
        search->end = race_settled(search->race) ? BT_SEARCH_SETTLED : BT_SEARCH_BUDGET;
        found = race_best(search->race) >= 0;
    }
    TRY_MPI(MPI_Bcast(&found, 1, MPI_INT, 0, job->comm));
    job->rounds_done = (int)job->setup->opt.repeat;
    return found ? 0 : nobody(job);
}

bool bt_search_found(const struct bt_search *search)
{
    return search && search->race && race_best(search->race) >= 0;
}

void bt_search_free(struct bt_search *search)
{
    if (!search) return;
    bt_space_free(&search->space);
    race_free(search->race);
    free(search->why);
    free(search);
}
