/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beff/measure.h"

#include <math.h>
#include <stdlib.h>

#include "base/par.h"
#include "base/stop.h"
#include "base/watch.h"
#include "beff/loop.h"
#include "beff/traffic.h"

enum {
    WARM_SIZES = 18,    /* the first so many sizes have a warm-up iteration */
    CALIBRATE_36 = 10,  /* iterations at 1 B before each repetition */
    CALIBRATE_PAPER = 2 /* and before the first one, only to find out about very slow systems */
};

/* What the ranks tell each other after a size: one maximum and one sum over all ranks. Per method
 * and pattern, [method][pattern]: time, bandwidth and its negative; then of rank 0 alone the time
 * of each method; then seconds since the start. */
struct exchange {
    int cells;
    double *time, *high, *low; /* maxima of time, of bandwidth, of -bandwidth */
    double *method_s, *elapsed_s;
    double *sum; /* sums of bandwidth */
    double *max_all;
    int max_n;
};

struct run {
    MPI_Comm comm;
    const struct beff_plan *plan;
    const struct beff_measure_spec *spec;
    struct beff_measured *m;
    struct beff_traffic traffic;
    struct exchange x;
    double begin_s;
    struct progress *progress;
    int rc;                      /* the first error of this rank; all go on to the next agreement */
    int64_t cap[BEFF_METHODS_N]; /* release 3.6: most iterations in this repetition */
    int64_t last_loop[BEFF_METHODS_N]; /* and those of the size before, */
    double last_s[BEFF_METHODS_N];     /* which took so long, patterns summed */
};

static int exchange_make(struct exchange *x, int cells)
{
    x->cells = cells;
    x->max_n = 3 * cells + BEFF_METHODS_N + 1;
    x->max_all = malloc((size_t)(x->max_n + cells) * sizeof *x->max_all);
    if (!x->max_all) return err_set(ERR_NOMEM, "no memory for %d measurements", cells);
    x->time = x->max_all;
    x->high = x->time + cells;
    x->low = x->high + cells;
    x->method_s = x->low + cells;
    x->elapsed_s = x->method_s + BEFF_METHODS_N;
    x->sum = x->elapsed_s + 1;
    return 0;
}

static void exchange_set(struct exchange *x, int cell, const struct beff_share *mine)
{
    x->time[cell] = mine->time_s;
    x->high[cell] = mine->high;
    x->low[cell] = mine->low;
    x->sum[cell] = mine->sum;
}

static int cell_of(const struct run *run, int method, int pattern)
{
    return method * run->plan->patterns_n + pattern;
}

static void keep(struct run *run, int rep, int size, const int64_t *loop)
{
    const struct exchange *x = &run->x;
    for (int m = 0; m < BEFF_METHODS_N; m++)
        for (int p = 0; p < run->plan->patterns_n; p++) {
            const struct beff_pattern *pattern = &run->plan->pattern[p];
            const int i = cell_of(run, m, p);
            const struct beff_share all = {x->time[i], x->high[i], x->low[i], x->sum[i]};
            if (loop[i] > 0)
                *beff_cell_at(&run->m->cube, rep, size, m, p) = beff_cell_of(
                    run->spec->rule.definition, pattern, run->m->size_bytes[size], loop[i], &all);
        }
}

/* Every byte of one iteration of each shot, once per size, apart from what is timed. */
static void verify_all(struct run *run, int size, const int64_t *loop)
{
    struct beff_shot shot = {.bytes = run->m->size_bytes[size]};
    for (int p = 0; p < run->plan->patterns_n; p++)
        for (shot.method = 0; shot.method < BEFF_METHODS_N; shot.method++) {
            shot.pattern = &run->plan->pattern[p];
            if (loop[cell_of(run, shot.method, p)] == 0) continue;
            const int rc = beff_traffic_verify(&run->traffic, &shot);
            if (run->rc == 0) run->rc = rc;
        }
}

/* All shots of one size, and everybody's numbers of them; errors are agreed on. loop:
 * [method][pattern], 0 for those that are left out. */
static int shoot_all(struct run *run, int size, const int64_t *loop)
{
    struct exchange *x = &run->x;
    struct beff_shot shot = {.bytes = run->m->size_bytes[size], .warm_up = size < WARM_SIZES};
    int stop = 0;
    for (int i = 0; i < x->cells; i++)
        exchange_set(x, i, &BEFF_NO_SHARE);
    for (int m = 0; m < BEFF_METHODS_N; m++)
        x->method_s[m] = 0;
    for (int p = 0; p < run->plan->patterns_n && !stop; p++) {
        shot.pattern = &run->plan->pattern[p];
        for (shot.method = 0; shot.method < BEFF_METHODS_N; shot.method++) {
            const int cell = cell_of(run, shot.method, p);
            double time_s = 0;
            shot.loop = loop[cell];
            if (shot.loop == 0) continue;
            const int rc = beff_traffic_shoot(&run->traffic, &shot, &time_s);
            if (run->rc == 0) run->rc = rc;
            const struct beff_share mine =
                beff_share_of(shot.pattern, shot.bytes, shot.loop, time_s);
            exchange_set(x, cell, &mine);
            if (run->traffic.rank == 0) x->method_s[shot.method] += time_s;
        }
        const int asked = stop_requested();
        const int rc = par_check(MPI_Allreduce(&asked, &stop, 1, MPI_INT, MPI_MAX, run->comm),
                                 "MPI_Allreduce");
        if (run->rc == 0) run->rc = rc;
    }
    *x->elapsed_s = watch_now() - run->begin_s;
    TRY(par_agree(run->comm, run->rc));
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, x->max_all, x->max_n, MPI_DOUBLE, MPI_MAX, run->comm));
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, x->sum, x->cells, MPI_DOUBLE, MPI_SUM, run->comm));
    return stop ? err_set(ERR_INTERRUPT, "interrupted: no result") : 0;
}

/* Whether a pattern is measured by a method in this run. */
static bool wanted(const struct run *run, int method, const struct beff_pattern *p)
{
    if (p->ping_pong) return method == BEFF_SENDRECV;
    return run->spec->method[method];
}

static double time_before(const struct run *run, int rep, int size, int method, int pattern)
{
    if (rep < 0 || size < 0) return 0;
    return beff_iteration_s(beff_cell_at(&run->m->cube, rep, size, method, pattern));
}

/* The paper's rule, by the shortest iteration of this size in earlier repetitions; in the first one,
 * at 1 B, by that of the calibration. */
static int64_t loop_paper(const struct run *run, int rep, int size, int method, int pattern)
{
    const double growth = beff_size_growth(run->spec->lmax_bytes, size);
    const double last_s = time_before(run, rep, size - 1, method, pattern);
    double same_s = 0;
    if (rep == 0 && size == 0)
        same_s = run->x.time[cell_of(run, method, pattern)] / CALIBRATE_PAPER;
    for (int r = 0; r < rep; r++) {
        const double s = time_before(run, r, size, method, pattern);
        if (s > 0 && (same_s == 0 || s < same_s)) same_s = s;
    }
    return beff_loop_paper(&run->spec->rule, growth, same_s,
                           size > 0 && last_s == 0 ? same_s : last_s,
                           time_before(run, rep, size - 2, method, pattern));
}

static int64_t loop_36(const struct run *run, int size, int method)
{
    const double growth = beff_size_growth(run->spec->lmax_bytes, size);
    if (size == 0) return run->cap[method] / 2;
    return beff_loop_36_next(&run->spec->rule, growth, run->cap[method], run->last_loop[method],
                             run->last_s[method]);
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

static void loops_set(const struct run *run, int rep, int size, enum beff_effort effort,
                      int64_t *loop)
{
    const bool paper = run->spec->rule.definition == BEFF_PAPER;
    for (int p = 0; p < run->plan->patterns_n; p++)
        for (int m = 0; m < BEFF_METHODS_N; m++) {
            int64_t *l = &loop[cell_of(run, m, p)];
            *l = paper ? loop_paper(run, rep, size, m, p) : loop_36(run, size, m);
            if (effort == BEFF_BEST_METHOD) *l = m == best_method(run, size, p);
            if (!wanted(run, m, &run->plan->pattern[p])) *l = 0;
        }
}

/* A first look at 1 B: release 3.6 limits the loops of the repetition by it. */
static int calibrate(struct run *run, int64_t *loop)
{
    const bool paper = run->spec->rule.definition == BEFF_PAPER;
    for (int p = 0; p < run->plan->patterns_n; p++)
        for (int m = 0; m < BEFF_METHODS_N; m++)
            loop[cell_of(run, m, p)] = !wanted(run, m, &run->plan->pattern[p]) ? 0
                                       : paper                                 ? CALIBRATE_PAPER
                                                                               : CALIBRATE_36;
    TRY(shoot_all(run, 0, loop));
    for (int m = 0; m < BEFF_METHODS_N; m++)
        run->cap[m] = beff_loop_36_cap(&run->spec->rule, run->x.method_s[m]);
    return 0;
}

/* What the sizes from this one on took in the first repetition. */
static double known_rest(const struct run *run, int size)
{
    double sum_s = 0;
    for (int i = size; i < BEFF_SIZES_N; i++)
        sum_s += run->m->wall_s[0][i];
    return sum_s;
}

/* Short messages are over in no time, and nothing follows from them for long ones. */
static double rest_of_rep(const struct run *run, int rep, int size)
{
    if (rep > 0) return known_rest(run, size);
    if (size < BEFF_FIXED_N) return 0;
    return beff_forecast_rest(&run->m->cube, &run->spec->rule, run->spec->lmax_bytes,
                              run->m->wall_s[0][size - 1], size);
}

static enum beff_effort effort_of(struct run *run, int rep, int size, double rep_s)
{
    struct beff_budget b = {.limit_s = run->spec->limit_s,
                            .elapsed_s = run->m->elapsed_s,
                            .rep_s = rep_s,
                            .rep_left_s = rest_of_rep(run, rep, size),
                            .rep = rep,
                            .reps_n = run->spec->reps_n};
    if (rep > 0)
        b.size_s = run->m->wall_s[0][size];
    else if (size >= BEFF_FIXED_N)
        b.size_s = beff_forecast_size(&run->m->cube, &run->spec->rule, run->spec->lmax_bytes,
                                      run->m->wall_s[0][size - 1], size - 1, size);
    const enum beff_effort effort = beff_loop_effort(&b);
    return rep > 0 && effort == BEFF_FULL ? run->m->effort[0][size] : effort;
}

static void show(struct run *run, int rep, int size, double rep_s)
{
    if (rep == 0 && size < BEFF_FIXED_N) return;
    const double rest_s = rest_of_rep(run, rep, size);
    const double whole_s = rep == 0 ? rep_s + rest_s : known_rest(run, 0);
    const double left_s = rest_s + whole_s * (run->spec->reps_n - 1 - rep);
    const double all_s = fmin(run->m->elapsed_s + left_s, fmax(run->spec->limit_s, 1e-9));
    progress_update(run->progress, (int64_t)(1000 * fmin(1, run->m->elapsed_s / all_s)));
}

static int one_size(struct run *run, int rep, int size, double began_s, int64_t *loop)
{
    struct beff_measured *m = run->m;
    const double before_s = m->elapsed_s;
    m->effort[rep][size] = effort_of(run, rep, size, before_s - began_s);
    if (m->effort[rep][size] != BEFF_FULL) m->reduced = true;
    if (m->effort[rep][size] == BEFF_SKIPPED) return 0;
    loops_set(run, rep, size, m->effort[rep][size], loop);
    if (rep == 0) verify_all(run, size, loop);
    TRY(shoot_all(run, size, loop));
    keep(run, rep, size, loop);
    m->elapsed_s = *run->x.elapsed_s;
    m->wall_s[rep][size] = m->elapsed_s - before_s;
    show(run, rep, size + 1, m->elapsed_s - began_s);
    return 0;
}

static int one_rep(struct run *run, int rep, int64_t *loop)
{
    const double began_s = run->m->elapsed_s;
    double calibration_s[BEFF_METHODS_N] = {0};
    if (rep == 0 || run->spec->rule.definition == BEFF_36) {
        TRY(calibrate(run, loop));
        for (int m = 0; m < BEFF_METHODS_N; m++)
            calibration_s[m] = run->x.method_s[m];
    }
    for (int i = 0; i < BEFF_SIZES_N; i++) {
        TRY(one_size(run, rep, i, began_s, loop));
        /* What release 3.6 derives the next loops from. */
        for (int m = 0; m < BEFF_METHODS_N && run->m->effort[rep][i] == BEFF_FULL; m++) {
            if (loop[cell_of(run, m, 0)] == 0) continue;
            run->last_loop[m] = loop[cell_of(run, m, 0)];
            run->last_s[m] = run->x.method_s[m] + calibration_s[m];
            calibration_s[m] = 0;
        }
    }
    return 0;
}

int beff_measure(MPI_Comm comm, const struct beff_plan *plan, const struct beff_measure_spec *spec,
                 struct beff_measured *m)
{
    struct run run = {.comm = comm, .plan = plan, .spec = spec, .m = m};
    const int cells = BEFF_METHODS_N * plan->patterns_n;
    int64_t *loop = calloc((size_t)cells, sizeof *loop);
    *m = (struct beff_measured){.elapsed_s = 0};
    beff_sizes(spec->lmax_bytes, m->size_bytes);
    int rc = beff_cube_make(spec->reps_n, plan->patterns_n, plan->random_n, &m->cube);
    if (rc == 0) rc = exchange_make(&run.x, cells);
    if (rc == 0 && !loop) rc = err_set(ERR_NOMEM, "no memory for %d loop lengths", cells);
    rc = par_agree(comm, rc);
    if (rc == 0) rc = beff_traffic_make(comm, spec->lmax_bytes, spec->room, &run.traffic);
    run.begin_s = watch_now();
    if (rc == 0 && run.traffic.rank == 0)
        run.progress = progress_begin(spec->progress, "b_eff", "part", 1000);
    for (int r = 0; rc == 0 && r < spec->reps_n; r++)
        rc = one_rep(&run, r, loop);
    progress_end(run.progress);
    beff_traffic_free(&run.traffic);
    free(run.x.max_all);
    free(loop);
    return rc;
}

void beff_measured_free(struct beff_measured *m)
{
    beff_cube_free(&m->cube);
}
