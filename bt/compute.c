/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/compute.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mpilib.h"
#include "base/par.h"
#include "base/sys.h"
#include "base/units.h"

#define PROBE_STEPS 3
#define PROBES_MAX  4
#define AGAIN_MAX   2 /* measurements that are made again when they cannot be right */
/* A stored time is contradicted by a run that is faster by more than this, and by this many undisturbed
 * compute-only runs, all of the job, that are slower by more than SLOWER. */
#define FASTER   0.02
#define SLOWER   0.10
#define SLOWER_N 3

struct bt_tc_key bt_compute_key(const struct nodes *n, int64_t nodes, int64_t cores,
                                const struct bt_problem *p)
{
    struct bt_tc_key key = {
        .nodes = nodes, .cores = cores, .n = p->n, .steps = p->steps, .dt = p->dt};
    struct sys_memory memory;
    sys_memory(&memory);
    key.memory_gib = (memory.total_bytes + (INT64_C(1) << 29)) >> 30;
    snprintf(key.mpi, sizeof key.mpi, "%.60s", mpilib()->name);
    snprintf(key.cpu, sizeof key.cpu, "%s", n->cpu);
    snprintf(key.kernel, sizeof key.kernel, "%s", BT_KERNEL_VERSION);
    bt_tc_hosts(n->host, nodes, key.hosts);
    return key;
}

static struct bt_tc_key key_of(const struct bt_job *job)
{
    const struct nodes *n = &job->machine.nodes;
    return bt_compute_key(n, n->count, job->machine.cores_in_use, &job->setup->problem);
}

/* A store that cannot be used is no reason to lose a run: a notice says so and the run goes on. */
static void drop_store(struct bt_job *job)
{
    bt_notice(job->notices, "T_C store: %s.", err_message());
    err_clear();
    job->tc.store[0] = '\0';
    job->tc.unusable = true;
}

static bool store_usable(struct bt_job *job)
{
    if (job->tc.unusable) return false;
    if (bt_tc_path(job->setup->opt.tc_store, job->tc.store, sizeof job->tc.store) == 0) return true;
    drop_store(job);
    return false;
}

int bt_compute_run(struct bt_job *job, struct bt_solver *solver, const struct bt_decomp *d,
                   int round)
{
    TRY(bt_job_run(job, solver, BT_COMPUTE_ONLY, round));
    struct bt_outcome *o = &job->outcome[job->outcomes_n - 1];
    bt_decomp_name(d, o->decomp);
    if (o->wrong) return 0;
    struct bt_tc_entry e = {.t_c_s = o->run.t_t_s,
                            .verified = o->run.norms && o->run.norms_ok,
                            .ranks = job->size,
                            .threads = job->machine.threads,
                            .undisturbed = o->run.disturbance.undisturbed,
                            .share_min = o->run.disturbance.share_min,
                            .steal = o->run.disturbance.steal,
                            .others = o->run.disturbance.others};
    snprintf(e.decomp, sizeof e.decomp, "%s", o->decomp);
    snprintf(e.isa, sizeof e.isa, "%s", bt_solver_isa(solver));
    snprintf(e.host, sizeof e.host, "%s", job->machine.nodes.host);
    snprintf(e.utc, sizeof e.utc, "%s", job->started_utc);
    if (!job->has_measured || bt_tc_is_better(&e, &job->measured)) job->measured = e;
    job->has_measured = true;
    if (job->rank == 0 && store_usable(job)) {
        const struct bt_tc_key key = key_of(job);
        const int rc = bt_tc_offer(job->tc.store, &key, &e);
        if (rc < 0) drop_store(job);
        if (rc == 1) job->tc.stored = true;
    }
    return 0;
}

/* Rank 0 searches the store; a time for this job is broadcast. */
static int look_up(struct bt_job *job)
{
    int found = 0;
    if (job->rank == 0 && store_usable(job)) {
        const struct bt_tc_key key = key_of(job);
        char why[BT_TC_WHY_MAX];
        found = bt_tc_find(job->tc.store, &key, &job->tc.entry, why);
        if (found < 0) drop_store(job);
        if (found == 0 && why[0] && !job->tc.noticed) bt_notice(job->notices, "%s.", why);
        job->tc.noticed = job->tc.noticed || why[0];
    }
    TRY_MPI(MPI_Bcast(&found, 1, MPI_INT, 0, job->comm));
    if (found != 1) return 0;
    TRY_MPI(MPI_Bcast(&job->tc.entry, sizeof job->tc.entry, MPI_BYTE, 0, job->comm));
    /* A disturbed run is not stored, but nothing makes a run faster than it can be. */
    const bool faster = job->has_measured && bt_tc_is_better(&job->measured, &job->tc.entry) &&
                        job->measured.t_c_s < job->tc.entry.t_c_s;
    if (faster) job->tc.entry = job->measured;
    const bool own = job->has_measured && job->tc.entry.t_c_s == job->measured.t_c_s;
    job->tc.origin = own ? BT_TC_MEASURED : BT_TC_FROM_STORE;
    return 0;
}

/* The decompositions to try, the one that was asked for first, without duplicates and those that leave a
 * rank without cells. Returns how many. */
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

/* Makes a compute-only run with the fastest of a few decompositions, chosen by a few steps of each. */
static int measure(struct bt_job *job)
{
    const struct bt_setup *s = job->setup;
    struct bt_decomp d[PROBES_MAX];
    struct bt_solver *solver = NULL;
    const int n = candidates(job, d);
    double shortest = 0;
    int best = 0;
    for (int i = 0; n > 1 && i < n; i++) {
        double seconds;
        TRY(bt_solver_new(&solver, job->comm, &s->problem, &d[i], s->opt.isa));
        const int rc = bt_run_probe(job->comm, solver, PROBE_STEPS, &seconds);
        bt_solver_free(solver);
        TRY(rc);
        if (i > 0 && seconds >= shortest) continue;
        shortest = seconds;
        best = i;
    }
    TRY(bt_solver_new(&solver, job->comm, &s->problem, &d[best], s->opt.isa));
    const int rc = bt_compute_run(job, solver, &d[best], 0);
    bt_solver_free(solver);
    return rc;
}

/* A run with writing that is faster than the best one without, by more than this share of it, shows that
 * the latter was disturbed. [out] shortest_s: the time of the fastest one. */
static bool beaten_by_writing(const struct bt_job *job, double t_c_s, double noise,
                              double *shortest_s)
{
    *shortest_s = t_c_s * (1 - noise);
    for (int i = 0; i < job->outcomes_n; i++) {
        const struct bt_run *run = &job->outcome[i].run;
        if (run->completed && !run->resumed && run->bytes > 0)
            *shortest_s = fmin(*shortest_s, run->t_t_s);
    }
    return *shortest_s < t_c_s * (1 - noise);
}

/* Whether undisturbed compute-only runs were repeatedly slower than the stored time. [out] least_s: the
 * fastest of these runs, runs_n: how many there were. */
static bool not_reached(const struct bt_job *job, double *least_s, int *runs_n)
{
    *least_s = INFINITY;
    *runs_n = 0;
    for (int i = 0; i < job->outcomes_n; i++) {
        const struct bt_run *run = &job->outcome[i].run;
        if (!run->completed || strcmp(run->writer, BT_COMPUTE) != 0) continue;
        *least_s = fmin(*least_s, run->t_t_s);
        *runs_n += run->disturbance.undisturbed;
    }
    return *runs_n >= SLOWER_N && *least_s > (1 + SLOWER) * job->tc.entry.t_c_s;
}

static void take_measured(struct bt_job *job)
{
    if (!job->has_measured) return;
    job->tc.entry = job->measured;
    job->tc.origin = BT_TC_MEASURED;
}

int bt_compute_known(struct bt_job *job)
{
    const struct bt_setup *s = job->setup;
    if (s->tc_source == BT_TC_GIVEN) {
        job->tc.entry = (struct bt_tc_entry){.t_c_s = s->tc_given_s};
        job->tc.origin = BT_TC_FROM_USER;
        return 0;
    }
    if (s->tc_source == BT_TC_BEST) {
        TRY(look_up(job));
        if (job->tc.origin == BT_TC_FROM_STORE) return 0;
    }
    take_measured(job);
    return 0;
}

int bt_compute_find(struct bt_job *job)
{
    double other_s;
    int runs_n;
    TRY(bt_compute_known(job));
    if (job->tc.origin == BT_TC_FROM_USER) return 0;
    if (job->tc.origin == BT_TC_FROM_STORE) {
        const double stored_s = job->tc.entry.t_c_s;
        if (beaten_by_writing(job, stored_s, FASTER, &other_s)) {
            bt_notice(job->notices,
                      "The T_C stored for this system and problem, %.4g s, is contradicted: a run "
                      "with writing took %.4g s. It was measured again.",
                      stored_s, other_s);
            TRY(measure(job));
            if (job->measured.t_c_s < stored_s) take_measured(job);
            return 0;
        }
        if (!not_reached(job, &other_s, &runs_n)) return 0;
        bt_notice(job->notices,
                  "The T_C stored for this system and problem, %.4g s, is not used: of %d "
                  "undisturbed compute-only runs of this job none took less than %.4g s. Where the "
                  "stored one is known to be wrong, remove it from %s.",
                  stored_s, runs_n, other_s, job->tc.store[0] ? job->tc.store : "the store");
        take_measured(job);
        return 0;
    }
    if (!job->has_measured) TRY(measure(job));
    for (int i = 0; i < AGAIN_MAX && job->has_measured &&
                    beaten_by_writing(job, job->measured.t_c_s, 0, &other_s);
         i++)
        TRY(measure(job));
    take_measured(job);
    if (job->has_measured && !job->measured.undisturbed && !job->tc.stored)
        bt_notice(job->notices,
                  "T_C, %.4g s, is not stored: nothing shows that its run was undisturbed. Measure "
                  "it when the system is quiet.",
                  job->measured.t_c_s);
    return 0;
}

void bt_compute_origin(const struct bt_job *job, char *out, size_t size)
{
    const struct bt_tc_entry *e = &job->tc.entry;
    const bool stored = job->tc.origin == BT_TC_FROM_STORE;
    if (job->tc.origin == BT_TC_UNKNOWN)
        snprintf(out, size, "unknown");
    else if (job->tc.origin == BT_TC_FROM_USER)
        snprintf(out, size, "given with --tc, not measured here");
    else
        snprintf(
            out, size, "%s, %s; %lld rank%s x %lld thread%s, decomposition %s, %s, on %s, %.16s",
            stored ? "best time stored for this system and problem" : "measured by this job",
            e->verified ? "verified" : "not verified (no norms are known)", (long long)e->ranks,
            units_plural(e->ranks), (long long)e->threads, units_plural(e->threads), e->decomp,
            e->isa, e->host, e->utc[0] ? e->utc : "undated");
}
