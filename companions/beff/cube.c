/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beff/cube.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

int64_t beff_size_lmax(enum beff_definition definition, int64_t memory_bytes)
{
    const int64_t mib = (int64_t)1 << 20;
    const int64_t counted = definition == BEFF_36 ? memory_bytes / mib * mib : memory_bytes;
    const int64_t lmax = counted / 128;
    return lmax < BEFF_LMAX_CAP ? lmax : BEFF_LMAX_CAP;
}

double beff_size_growth(int64_t lmax_bytes, int i)
{
    if (i < BEFF_FIXED_N) return 2.0;
    return pow((double)lmax_bytes / BEFF_FIXED_MAX, 1.0 / (BEFF_SIZES_N - BEFF_FIXED_N));
}

void beff_sizes(int64_t lmax_bytes, int64_t out[BEFF_SIZES_N])
{
    double size_bytes = BEFF_FIXED_MAX;
    for (int i = 0; i < BEFF_FIXED_N; i++)
        out[i] = (int64_t)1 << i;
    for (int i = BEFF_FIXED_N; i < BEFF_SIZES_N; i++) {
        size_bytes *= beff_size_growth(lmax_bytes, i);
        out[i] = (int64_t)(size_bytes + 0.5);
    }
}

int beff_cube_make(int reps_n, int patterns_n, int random_n, struct beff_cube *out)
{
    const int64_t cells = (int64_t)reps_n * BEFF_SIZES_N * BEFF_METHODS_N * patterns_n;
    *out = (struct beff_cube){
        reps_n, patterns_n, random_n,
        mem_new(cells, sizeof *out->cell, "%lld measurements", (long long)cells)};
    return out->cell ? 0 : ERR_NOMEM;
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

struct beff_share beff_share_of(const struct beff_pattern *p, int64_t bytes, int64_t loop,
                                double time_s)
{
    const double sent = (double)bytes * (double)loop * p->sends_n / time_s;
    if (p->slots_n == 0) return BEFF_NO_SHARE;
    return (struct beff_share){time_s, sent, -sent, sent};
}

struct beff_cell beff_cell_of(enum beff_definition definition, const struct beff_pattern *p,
                              int64_t bytes, int64_t loop, const struct beff_share *all)
{
    const double moved = (double)bytes * (double)p->messages_n * (double)loop;
    const bool by_process = definition == BEFF_36 && p->kind != BEFF_ANALYSIS;
    return (struct beff_cell){.loop = loop,
                              .time_s = all->time_s,
                              .bandwidth =
                                  by_process ? p->processes_n * -all->low : moved / all->time_s,
                              .process_min = -all->low,
                              .process_mean = all->sum / p->processes_n,
                              .process_max = all->high};
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

/* logs: sums of logarithms over the rings, and over the random patterns. */
static struct beff_mean mean_of(const double logs[2], int random_n)
{
    const double rings = exp(logs[0] / BEFF_RINGS_N), random = exp(logs[1] / random_n);
    return (struct beff_mean){rings, random, sqrt(rings * random)};
}

struct beff_mean beff_logavg(const struct beff_cube *c, struct beff_pick pick)
{
    double logs[2] = {0, 0};
    for (int p = 0; p < BEFF_RINGS_N + c->random_n; p++)
        logs[p >= BEFF_RINGS_N] += log(beff_value(c, p, pick));
    return mean_of(logs, c->random_n);
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
    return mean_of(logs, c->random_n);
}

struct beff_elapsed beff_elapsed(const struct beff_cube *c)
{
    const int64_t cells = (int64_t)BEFF_SIZES_N * BEFF_METHODS_N * c->patterns_n;
    const struct beff_cell *first = c->cell;
    struct beff_elapsed e = {0, NAN};
    double alike_s = 0, least_s = INFINITY;
    int whole = 0;
    for (int r = 0; r < c->reps_n; r++) {
        const struct beff_cell *mine = beff_cell_at(c, r, 0, 0, 0);
        double loops_s = 0, as_first_s = 0; /* were its loops as long as those of the first one */
        int64_t i = 0;
        for (; i < cells && (mine[i].loop > 0 || first[i].loop == 0); i++) {
            if (mine[i].loop == 0) continue;
            loops_s += mine[i].time_s;
            as_first_s += mine[i].time_s * (double)first[i].loop / (double)mine[i].loop;
        }
        if (i < cells) continue; /* it left out what the first one has */
        e.measured_s += loops_s;
        alike_s += as_first_s;
        least_s = fmin(least_s, as_first_s);
        whole++;
    }
    if (whole > 0) e.undisturbed_s = e.measured_s * least_s * whole / alike_s;
    return e;
}

enum { LAST = BEFF_SIZES_N - 1 };

int beff_ping_pong(const struct beff_plan *plan)
{
    for (int p = 0; p < plan->patterns_n; p++)
        if (plan->pattern[p].ping_pong) return p;
    return -1;
}

static struct beff_pick pick(int rep, int method, int size)
{
    return (struct beff_pick){rep, method, size};
}

void beff_summary_make(const struct beff_cube *c, const struct beff_plan *plan,
                       const int64_t *size_bytes, int64_t total_bytes, struct beff_summary *out)
{
    const int pair = beff_ping_pong(plan);
    const double n = plan->n, first_bytes = (double)size_bytes[0];
    *out = (struct beff_summary){.n = plan->n};
    out->all = beff_logavg(c, BEFF_EVERYTHING);
    out->method_last = beff_logavg_method_last(c);
    for (int r = 0; r < c->reps_n; r++)
        out->rep[r] = beff_logavg(c, pick(r, BEFF_ALL, BEFF_ALL));
    for (int m = 0; m < BEFF_METHODS_N; m++)
        out->method[m] = beff_logavg(c, pick(BEFF_ALL, m, BEFF_ALL));
    for (int i = 0; i < BEFF_SIZES_N; i++) {
        out->size[i] = beff_logavg(c, pick(BEFF_ALL, BEFF_ALL, i));
        for (int m = 0; m < BEFF_METHODS_N; m++)
            out->size_method[i][m] = beff_logavg(c, pick(BEFF_ALL, m, i));
    }
    out->at_1b = out->size[0];
    out->at_lmax = out->size[LAST];
    out->area_ratio = out->all.both / out->at_lmax.both;
    out->latency_s = first_bytes * n / out->at_1b.both;
    out->rings_latency_s = first_bytes * n / out->at_1b.rings;
    out->ping_pong_s = out->ping_pong_bytes_per_s = NAN;
    if (pair >= 0) {
        out->ping_pong_s = first_bytes / beff_value(c, pair, pick(BEFF_ALL, 0, 0));
        out->ping_pong_bytes_per_s = beff_value(c, pair, pick(BEFF_ALL, 0, LAST));
    }
    out->memory_s = (double)total_bytes / out->all.both;
    out->memory_mixed_s = (double)total_bytes / 1048576.0 / (out->all.both / 1e6);
}
