/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/compute.h"

#include <stdio.h>
#include <string.h>

#include "base/par.h"
#include "bt/rounds.h"

#define PROBE_STEPS 3
#define PROBES_MAX  4
#define AGAIN_MAX   2 /* measurements that are made again when they cannot be right */

/* An entry for a compute-only run of this job. */
static struct bt_tc_entry entry_of(const struct bt_job *job, const struct bt_outcome *o,
                                   const char *isa)
{
    struct bt_tc_entry e = {.t_c_s = o->run.t_t_s,
                            .verified = o->run.norms_published && o->run.norms_ok,
                            .ranks = job->size,
                            .threads = job->machine.threads};
    snprintf(e.decomp, sizeof e.decomp, "%s", o->decomp);
    snprintf(e.isa, sizeof e.isa, "%s", isa);
    snprintf(e.host, sizeof e.host, "%s", job->machine.nodes.host);
    return e;
}

/* Trouble with the store is no reason to lose a run: it is told and the run goes on. */
static void store_trouble(struct bt_job *job)
{
    bt_job_notice(job, "T_C store: %s.", err_message());
    err_clear();
    job->tc.store[0] = '\0';
    job->tc.trouble = true;
}

static bool store_usable(struct bt_job *job)
{
    if (job->tc.trouble) return false;
    if (bt_tc_path(job->setup->opt.tc_store, job->tc.store, sizeof job->tc.store) == 0) return true;
    store_trouble(job);
    return false;
}

static void offer(struct bt_job *job, const struct bt_tc_entry *e)
{
    const struct bt_tc_key key = bt_job_tc_key(job);
    if (!store_usable(job)) return;
    const int rc = bt_tc_offer(job->tc.store, &key, e);
    if (rc < 0) store_trouble(job);
    if (rc == 1) job->tc.stored = true;
}

int bt_compute_note(struct bt_job *job, const struct bt_outcome *o, const char *isa)
{
    if (o->wrong || o->run.interrupted) return 0;
    const struct bt_tc_entry e = entry_of(job, o, isa);
    if (!job->has_measured || bt_tc_is_better(&e, &job->measured)) job->measured = e;
    job->has_measured = true;
    if (job->rank == 0) offer(job, &e);
    return 0;
}

/* Looks into the store on rank 0. Returns 1 on every rank when it has a time for this job. */
static int look_up(struct bt_job *job)
{
    int found = 0;
    if (job->rank == 0 && store_usable(job)) {
        const struct bt_tc_key key = bt_job_tc_key(job);
        found = bt_tc_find(job->tc.store, &key, &job->tc.entry);
        if (found < 0) store_trouble(job);
    }
    TRY_MPI(MPI_Bcast(&found, 1, MPI_INT, 0, job->comm));
    if (found != 1) return 0;
    TRY_MPI(MPI_Bcast(&job->tc.entry, sizeof job->tc.entry, MPI_BYTE, 0, job->comm));
    job->tc.origin = BT_TC_FROM_STORE;
    return 1;
}

static int probe(struct bt_job *job, const struct bt_decomp *d, double *seconds)
{
    const struct bt_setup *s = job->setup;
    struct bt_solver *solver = NULL;
    TRY(bt_solver_new(&solver, job->comm, &s->problem, d, s->opt.isa));
    const int rc = bt_run_probe(job->comm, solver, PROBE_STEPS, seconds);
    bt_solver_free(solver);
    return rc;
}

/* The decompositions worth trying, the asked one first; those that leave a rank without cells and
 * repetitions are left out. Returns how many. */
static int candidates(const struct bt_job *job, struct bt_decomp *d)
{
    static const char *const names[] = {"1d:z", "1d:y", "3d"};
    int n = 1;
    d[0] = job->decomp;
    for (size_t c = 0; c < sizeof names / sizeof names[0]; c++) {
        struct bt_decomp *new = &d[n];
        bool known = false;
        if (bt_decomp_make(names[c], job->decomp.n, job->size, job->rank, new) < 0) {
            err_clear();
            continue;
        }
        for (int i = 0; i < n; i++)
            known = known || memcmp(d[i].p, new->p, sizeof new->p) == 0;
        n += known ? 0 : 1;
    }
    return n;
}

/* The fastest of a few decompositions, by a few steps each. */
static int choose(struct bt_job *job, struct bt_decomp *best)
{
    struct bt_decomp d[PROBES_MAX];
    double shortest = 0;
    const int n = candidates(job, d);
    *best = d[0];
    for (int i = 0; n > 1 && i < n; i++) {
        double seconds;
        TRY(probe(job, &d[i], &seconds));
        if (i == 0 || seconds < shortest) {
            shortest = seconds;
            *best = d[i];
        }
    }
    return 0;
}

static int measure(struct bt_job *job)
{
    struct bt_decomp d;
    TRY(choose(job, &d));
    return bt_rounds_compute(job, &d);
}

/* A run with writing that is faster than the best one without shows that the latter was disturbed.
 */
static bool contradicted(const struct bt_job *job)
{
    for (int i = 0; i < job->outcomes_n; i++) {
        const struct bt_run *run = &job->outcome[i].run;
        if (run->completed && run->bytes > 0 && run->t_t_s < job->measured.t_c_s) return true;
    }
    return false;
}

/* Takes the best compute-only time of this job, made again when it cannot be right. */
static int use_measured(struct bt_job *job)
{
    for (int i = 0; i < AGAIN_MAX && job->has_measured && contradicted(job); i++)
        TRY(measure(job));
    if (!job->has_measured) return 0;
    job->tc.entry = job->measured;
    job->tc.origin = BT_TC_MEASURED;
    return 0;
}

int bt_compute_find(struct bt_job *job)
{
    const struct bt_setup *s = job->setup;
    if (s->tc_source == BT_TC_GIVEN) {
        job->tc.entry = (struct bt_tc_entry){.t_c_s = s->tc_given_s};
        job->tc.origin = BT_TC_FROM_USER;
        return 0;
    }
    if (s->tc_source == BT_TC_BEST) {
        const int found = look_up(job);
        if (found != 0) return found < 0 ? found : 0;
    }
    if (!job->has_measured) TRY(measure(job));
    return use_measured(job);
}

void bt_compute_words(const struct bt_job *job, char *out, size_t size)
{
    const struct bt_tc_entry *e = &job->tc.entry;
    const char *best = e->verified ? "best verified" : "best, not verified (no published norms)";
    switch (job->tc.origin) {
    case BT_TC_UNKNOWN:
        snprintf(out, size, "unknown");
        break;
    case BT_TC_FROM_STORE:
        snprintf(out, size,
                 "%s time remembered for this system and problem (ranks x threads "
                 "%lld x %lld, decomposition %s)",
                 best, (long long)e->ranks, (long long)e->threads, e->decomp);
        break;
    case BT_TC_MEASURED:
        snprintf(out, size, "measured on the spot, %s (decomposition %s)",
                 e->verified ? "verified" : "not verified (no published norms)", e->decomp);
        break;
    case BT_TC_FROM_USER:
        snprintf(out, size, "given with --tc, not measured here");
        break;
    }
}
