/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beff/measure.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/par.h"
#include "base/progress.h"
#include "base/stop.h"
#include "base/watch.h"
#include "companions/beff/loop.h"
#include "companions/beff/traffic.h"

enum {
    WARM_SIZES = 18,    /* the first so many sizes have a warm-up iteration */
    CALIBRATE_36 = 10,  /* iterations at 1 B before each repetition */
    CALIBRATE_PAPER = 2 /* and before the first one, only to find out about very slow systems */
};

struct run {
    MPI_Comm comm;
    const struct beff_plan *plan;
    const struct beff_setup *setup;
    int64_t lmax_bytes;
    struct beff_measured *m;
    struct beff_traffic traffic;
    double begin_s;
    struct progress *progress;
    int rc; /* the first error of this rank; all go on to the next agreement */

    /* Of the size that is measured, [method][pattern]. */
    int cells;
    int64_t *loop; /* iterations, 0: left out */
    /* What the ranks tell each other after it: maxima over ranks of time, of bandwidth and of its
     * negative, of rank 0 alone the time of each method, and of the seconds since the start; and
     * sums of bandwidth. */
    double *maxima, *sum;
    int maxima_n;
    double *time, *high, *low, *method_s, *elapsed_s; /* in maxima */

    /* Release 3.6: the most iterations of a method in this repetition, and those of the size
     * before, which took so long, patterns summed. */
    int64_t cap[BEFF_METHODS_N], last_loop[BEFF_METHODS_N];
    double last_s[BEFF_METHODS_N];
};

static int run_allocate(struct run *run)
{
    const int cells = run->cells;
    run->maxima_n = 3 * cells + BEFF_METHODS_N + 1;
    run->loop = mem_new(cells, sizeof *run->loop, "%d measurements", cells);
    run->maxima = mem_new(run->maxima_n + cells, sizeof *run->maxima, "%d measurements", cells);
    if (!run->loop || !run->maxima) return ERR_NOMEM;
    run->time = run->maxima;
    run->high = run->time + cells;
    run->low = run->high + cells;
    run->method_s = run->low + cells;
    run->elapsed_s = run->method_s + BEFF_METHODS_N;
    run->sum = run->elapsed_s + 1;
    return 0;
}

static int cell_of(const struct run *run, int method, int pattern)
{
    return method * run->plan->patterns_n + pattern;
}

static void share_set(struct run *run, int cell, const struct beff_share *mine)
{
    run->time[cell] = mine->time_s;
    run->high[cell] = mine->high;
    run->low[cell] = mine->low;
    run->sum[cell] = mine->sum;
}

bool beff_measure_wants(const struct beff_setup *setup, int method, const struct beff_pattern *p)
{
    return p->ping_pong ? method == BEFF_SENDRECV : setup->method[method];
}

/* Whether a rank was asked to stop; collective. */
static bool asked_to_stop(struct run *run)
{
    int stop = stop_requested();
    const int rc = par_check(MPI_Allreduce(MPI_IN_PLACE, &stop, 1, MPI_INT, MPI_MAX, run->comm),
                             "MPI_Allreduce");
    if (run->rc == 0) run->rc = rc;
    return stop;
}

/* Every byte of one iteration of each measurement, once per size, apart from what is timed. */
static void verify_all(struct run *run, int size)
{
    struct beff_exchange ex = {.bytes = run->m->size_bytes[size]};
    for (int p = 0; p < run->plan->patterns_n && !asked_to_stop(run); p++)
        for (ex.method = 0; ex.method < BEFF_METHODS_N; ex.method++) {
            ex.pattern = &run->plan->pattern[p];
            if (run->loop[cell_of(run, ex.method, p)] == 0) continue;
            const int rc = beff_traffic_verify(&run->traffic, &ex);
            if (run->rc == 0) run->rc = rc;
        }
}

/* All measurements of one size, and everybody's numbers of them; errors are agreed on. */
static int time_all(struct run *run, int size)
{
    struct beff_exchange ex = {.bytes = run->m->size_bytes[size],
                               .warm_up = size < WARM_SIZES,
                               .tagged = run->setup->definition == BEFF_36};
    bool stop = false;
    for (int i = 0; i < run->cells; i++)
        share_set(run, i, &BEFF_NO_SHARE);
    for (int m = 0; m < BEFF_METHODS_N; m++)
        run->method_s[m] = 0;
    for (int p = 0; p < run->plan->patterns_n && !(stop = asked_to_stop(run)); p++) {
        ex.pattern = &run->plan->pattern[p];
        for (ex.method = 0; ex.method < BEFF_METHODS_N; ex.method++) {
            const int cell = cell_of(run, ex.method, p);
            double time_s = 0;
            ex.loop = run->loop[cell];
            if (ex.loop == 0) continue;
            const int rc = beff_traffic_time(&run->traffic, &ex, &time_s);
            if (run->rc == 0) run->rc = rc;
            const struct beff_share mine = beff_share_of(ex.pattern, ex.bytes, ex.loop, time_s);
            share_set(run, cell, &mine);
            if (run->traffic.rank == 0) run->method_s[ex.method] += time_s;
        }
    }
    *run->elapsed_s = watch_now() - run->begin_s;
    TRY(par_agree(run->comm, run->rc));
    TRY_MPI(
        MPI_Allreduce(MPI_IN_PLACE, run->maxima, run->maxima_n, MPI_DOUBLE, MPI_MAX, run->comm));
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, run->sum, run->cells, MPI_DOUBLE, MPI_SUM, run->comm));
    return stop ? err_set(ERR_INTERRUPT, "interrupted: no result") : 0;
}

/* --- how often each measurement is repeated in its loop --- */

static double time_before(const struct run *run, int rep, int size, int method, int pattern)
{
    if (rep < 0 || size < 0) return 0;
    return beff_iteration_s(beff_cell_at(&run->m->cube, rep, size, method, pattern));
}

/* The paper's rule, by the shortest iteration of this size in earlier repetitions; in the first
 * one, at 1 B, by that of the calibration. */
static int64_t loop_paper(const struct run *run, int rep, int size, int method, int pattern)
{
    const double growth = beff_size_growth(run->lmax_bytes, size);
    const double last_s = time_before(run, rep, size - 1, method, pattern);
    double same_s = 0;
    if (rep == 0 && size == 0) same_s = run->time[cell_of(run, method, pattern)] / CALIBRATE_PAPER;
    for (int r = 0; r < rep; r++) {
        const double s = time_before(run, r, size, method, pattern);
        if (s > 0 && (same_s == 0 || s < same_s)) same_s = s;
    }
    return beff_loop_paper(&run->setup->rule, growth, same_s,
                           size > 0 && last_s == 0 ? same_s : last_s,
                           time_before(run, rep, size - 2, method, pattern));
}

/* The method that was best at the size before, in the first repetition. */
static int best_method(const struct run *run, int size, int pattern)
{
    int best = BEFF_SENDRECV;
    double most = 0;
    for (int m = 0; m < BEFF_METHODS_N; m++) {
        const struct beff_cell *cell = beff_cell_at(&run->m->cube, 0, size - 1, m, pattern);
        if (cell->loop == 0 || !(cell->bandwidth > most)) continue;
        most = cell->bandwidth;
        best = m;
    }
    return best;
}

static void loops_set(struct run *run, int rep, int size, enum beff_effort effort)
{
    const struct beff_loop_rule *rule = &run->setup->rule;
    for (int p = 0; p < run->plan->patterns_n; p++)
        for (int m = 0; m < BEFF_METHODS_N; m++) {
            int64_t *l = &run->loop[cell_of(run, m, p)];
            if (!beff_measure_wants(run->setup, m, &run->plan->pattern[p]))
                *l = 0;
            else if (effort == BEFF_BEST_METHOD)
                *l = m == best_method(run, size, p);
            else if (rule->definition == BEFF_PAPER)
                *l = loop_paper(run, rep, size, m, p);
            else if (size == 0)
                *l = run->cap[m] / 2;
            else
                *l = beff_loop_36_next(rule, beff_size_growth(run->lmax_bytes, size), run->cap[m],
                                       run->last_loop[m], run->last_s[m]);
        }
}

/* A first look at 1 B: release 3.6 limits the loops of the repetition by it. */
static int calibrate(struct run *run)
{
    const struct beff_loop_rule *rule = &run->setup->rule;
    const int64_t loop = rule->definition == BEFF_PAPER ? CALIBRATE_PAPER : CALIBRATE_36;
    for (int p = 0; p < run->plan->patterns_n; p++)
        for (int m = 0; m < BEFF_METHODS_N; m++)
            run->loop[cell_of(run, m, p)] =
                beff_measure_wants(run->setup, m, &run->plan->pattern[p]) ? loop : 0;
    TRY(time_all(run, 0));
    for (int m = 0; m < BEFF_METHODS_N; m++)
        run->cap[m] = beff_loop_36_cap(rule, run->method_s[m]);
    return 0;
}

/* --- what fits into the time --- */

/* What the sizes from this one on took in the first repetition. */
static double known_rest(const struct run *run, int size)
{
    double sum_s = 0;
    for (int i = size; i < BEFF_SIZES_N; i++)
        sum_s += run->m->wall_s[0][i];
    return sum_s;
}

/* Short messages take almost no time, and predict nothing about long ones. */
static double rest_of_rep(const struct run *run, int rep, int size)
{
    if (rep > 0) return known_rest(run, size);
    if (size < BEFF_FIXED_N) return 0;
    return beff_forecast_rest(&run->m->cube, &run->setup->rule, run->lmax_bytes,
                              run->m->wall_s[0][size - 1], size);
}

static enum beff_effort effort_of(const struct run *run, int rep, int size, double rep_s)
{
    struct beff_budget b = {.limit_s = run->setup->limit_s,
                            .elapsed_s = run->m->elapsed_s,
                            .rep_s = rep_s,
                            .rep_left_s = rest_of_rep(run, rep, size),
                            .rep = rep,
                            .reps_n = run->setup->reps_n};
    if (rep > 0)
        b.size_s = run->m->wall_s[0][size];
    else if (size >= BEFF_FIXED_N)
        b.size_s = beff_forecast_size(&run->m->cube, &run->setup->rule, run->lmax_bytes,
                                      run->m->wall_s[0][size - 1], size - 1, size);
    const enum beff_effort effort = beff_loop_effort(&b);
    return rep > 0 && effort == BEFF_FULL ? run->m->effort[0][size] : effort;
}

static void show_progress(struct run *run, int rep, int next_size, double rep_s)
{
    if (rep == 0 && next_size < BEFF_FIXED_N) return;
    const double rest_s = rest_of_rep(run, rep, next_size);
    const double whole_s = rep == 0 ? rep_s + rest_s : known_rest(run, 0);
    const double left_s = rest_s + whole_s * (run->setup->reps_n - 1 - rep);
    const double all_s = fmin(run->m->elapsed_s + left_s, fmax(run->setup->limit_s, 1e-9));
    progress_update(run->progress, (int64_t)(1000 * fmin(1, run->m->elapsed_s / all_s)));
}

/* --- the order of measuring --- */

/* A size in a repetition that began at began_s. */
static int measure_size(struct run *run, int rep, int size, double began_s)
{
    struct beff_measured *m = run->m;
    const double before_s = m->elapsed_s;
    const enum beff_effort effort = effort_of(run, rep, size, before_s - began_s);
    m->effort[rep][size] = effort;
    if (effort != BEFF_FULL) m->reduced = true;
    if (effort == BEFF_SKIPPED) return 0;
    loops_set(run, rep, size, effort);
    if (rep == 0) verify_all(run, size);
    TRY(time_all(run, size));
    for (int k = 0; k < BEFF_METHODS_N; k++)
        for (int p = 0; p < run->plan->patterns_n; p++) {
            const int i = cell_of(run, k, p);
            const struct beff_share all = {run->time[i], run->high[i], run->low[i], run->sum[i]};
            if (run->loop[i] > 0)
                *beff_cell_at(&m->cube, rep, size, k, p) =
                    beff_cell_of(run->setup->definition, &run->plan->pattern[p],
                                 m->size_bytes[size], run->loop[i], &all);
        }
    m->elapsed_s = *run->elapsed_s;
    m->wall_s[rep][size] = m->elapsed_s - before_s;
    show_progress(run, rep, size + 1, m->elapsed_s - began_s);
    return 0;
}

static int measure_repetition(struct run *run, int rep)
{
    const double began_s = run->m->elapsed_s;
    double calibration_s[BEFF_METHODS_N] = {0};
    if (rep == 0 || run->setup->definition == BEFF_36) {
        TRY(calibrate(run));
        for (int m = 0; m < BEFF_METHODS_N; m++)
            calibration_s[m] = run->method_s[m];
    }
    for (int i = 0; i < BEFF_SIZES_N; i++) {
        TRY(measure_size(run, rep, i, began_s));
        /* What release 3.6 derives the next loops from. */
        for (int m = 0; m < BEFF_METHODS_N && run->m->effort[rep][i] == BEFF_FULL; m++) {
            if (run->loop[cell_of(run, m, 0)] == 0) continue;
            run->last_loop[m] = run->loop[cell_of(run, m, 0)];
            run->last_s[m] = run->method_s[m] + calibration_s[m];
            calibration_s[m] = 0;
        }
    }
    return 0;
}

int beff_measure(MPI_Comm comm, const struct beff_plan *plan, const struct beff_setup *setup,
                 int64_t lmax_bytes, struct beff_measured *m)
{
    struct run run = {.comm = comm,
                      .plan = plan,
                      .setup = setup,
                      .lmax_bytes = lmax_bytes,
                      .m = m,
                      .cells = BEFF_METHODS_N * plan->patterns_n};
    *m = (struct beff_measured){.elapsed_s = 0};
    beff_sizes(lmax_bytes, m->size_bytes);
    int rc = beff_cube_make(setup->reps_n, plan->patterns_n, plan->random_n, &m->cube);
    if (rc == 0) rc = run_allocate(&run);
    rc = par_agree(comm, rc);
    if (rc == 0)
        rc = beff_traffic_make(comm, lmax_bytes, (int)setup->opt.buffers, setup->buffer_offset,
                               &run.traffic);
    m->offset_bytes[0] = run.traffic.offset_bytes[0];
    m->offset_bytes[1] = run.traffic.offset_bytes[1];
    run.begin_s = watch_now();
    if (rc == 0 && run.traffic.rank == 0 && !setup->opt.quiet)
        run.progress = progress_begin(progress_mode_of(setup->opt.progress), "b_eff", "part", 1000);
    for (int r = 0; rc == 0 && r < setup->reps_n; r++)
        rc = measure_repetition(&run, r);
    progress_end(run.progress);
    beff_traffic_free(&run.traffic);
    free(run.maxima);
    free(run.loop);
    return rc;
}

void beff_measured_free(struct beff_measured *m)
{
    beff_cube_free(&m->cube);
}
