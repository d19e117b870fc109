/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beff/beff_cube.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"

int beff_cube_make(int reps_n, int patterns_n, int random_n, struct beff_cube *out)
{
    const size_t cells = (size_t)reps_n * BEFF_SIZES_N * BEFF_METHODS_N * (size_t)patterns_n;
    *out = (struct beff_cube){reps_n, patterns_n, random_n, calloc(cells, sizeof *out->cell)};
    return out->cell ? 0 : err_set(ERR_NOMEM, "no memory for %zu measurements", cells);
}

void beff_cube_free(struct beff_cube *c)
{
    free(c->cell);
    *c = (struct beff_cube){0};
}

struct beff_cell *beff_cell_at(const struct beff_cube *c, int rep, int size, int method,
                               int pattern)
{
    const int row = (rep * BEFF_SIZES_N + size) * BEFF_METHODS_N + method;
    return &c->cell[(size_t)row * (size_t)c->patterns_n + (size_t)pattern];
}

/* Whether index i is meant by a pick. */
static bool picked(int pick, int i)
{
    return pick == BEFF_ALL || pick == i;
}

/* The largest bandwidth at one size among the picked repetitions and methods; 0: none measured. */
static double largest(const struct beff_cube *c, int pattern, int size, struct beff_pick pick)
{
    double best = 0;
    for (int r = 0; r < c->reps_n; r++)
        for (int m = 0; m < BEFF_METHODS_N; m++) {
            const struct beff_cell *cell = beff_cell_at(c, r, size, m, pattern);
            if (picked(pick.rep, r) && picked(pick.method, m) && cell->loop > 0)
                best = fmax(best, cell->bandwidth);
        }
    return best;
}

double beff_value(const struct beff_cube *c, int pattern, struct beff_pick pick)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < BEFF_SIZES_N; i++) {
        if (!picked(pick.size, i)) continue;
        double best = largest(c, pattern, i, pick);
        if (!(best > 0)) best = largest(c, pattern, i, BEFF_EVERYTHING);
        if (!(best > 0)) return NAN;
        sum += best;
        n++;
    }
    return sum / n;
}

double beff_geometric_mean(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (!(x[i] > 0)) return NAN;
        sum += log(x[i]);
    }
    return n > 0 ? exp(sum / n) : NAN;
}

static double sum_of_logs(const struct beff_cube *c, int first, int n, struct beff_pick pick)
{
    double sum = 0;
    for (int p = first; p < first + n; p++)
        sum += log(beff_value(c, p, pick));
    return sum;
}

static struct beff_mean mean_of(double rings_logs, double random_logs, int random_n)
{
    const double rings = exp(rings_logs / BEFF_RINGS_N), random = exp(random_logs / random_n);
    return (struct beff_mean){rings, random, sqrt(rings * random)};
}

struct beff_mean beff_logavg(const struct beff_cube *c, struct beff_pick pick)
{
    return mean_of(sum_of_logs(c, 0, BEFF_RINGS_N, pick),
                   sum_of_logs(c, BEFF_RINGS_N, c->random_n, pick), c->random_n);
}

struct beff_mean beff_logavg_method_last(const struct beff_cube *c)
{
    double logs[2] = {0, 0};
    for (int p = 0; p < BEFF_RINGS_N + c->random_n; p++) {
        double best = NAN;
        for (int m = 0; m < BEFF_METHODS_N; m++)
            best = fmax(best, beff_value(c, p, (struct beff_pick){BEFF_ALL, m, BEFF_ALL}));
        logs[p >= BEFF_RINGS_N] += log(best);
    }
    return mean_of(logs[0], logs[1], c->random_n);
}

/* Seconds of a repetition's loops; NaN when it left a measurement out that the first one has. */
static double seconds_of(const struct beff_cube *c, int rep)
{
    const int64_t cells = (int64_t)BEFF_SIZES_N * BEFF_METHODS_N * c->patterns_n;
    const struct beff_cell *first = c->cell, *mine = beff_cell_at(c, rep, 0, 0, 0);
    double sum = 0;
    for (int64_t i = 0; i < cells; i++) {
        if (first[i].loop > 0 && mine[i].loop == 0) return NAN;
        /* Loop lengths differ between repetitions: what is compared is the time of one length. */
        if (mine[i].loop > 0) sum += mine[i].time_s * (double)first[i].loop / (double)mine[i].loop;
    }
    return sum;
}

struct beff_elapsed beff_elapsed(const struct beff_cube *c)
{
    struct beff_elapsed e = {0, NAN};
    int whole = 0;
    for (int r = 0; r < c->reps_n; r++) {
        const double s = seconds_of(c, r);
        if (!isfinite(s)) continue;
        e.measured_s += s;
        e.undisturbed_s = fmin(e.undisturbed_s, s);
        whole++;
    }
    e.undisturbed_s *= whole;
    return e;
}
