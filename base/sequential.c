/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/sequential.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/stat.h"

/* Evidence from which on a sample counts as skewed or as correlated, chosen by the simulations of
 * docs/statistics.md: generous, since a needless sign test or widening costs some rounds, a missed
 * one a wrong verdict. */
static const double SKEW_P = 0.2, SERIAL_P = 0.3;
/* A trend makes a verdict meaningless; here the needless ones cost a look. */
static const double TREND_P = 0.01;
/* Signed ranks decide nothing that the sign test of the same values contradicts: its interval with
 * this share on one side. */
static const double GUARD_SHARE = 0.02;
static const double CORRELATION_MAX = 0.9;
/* Of deciding with as many rounds as are said to be needed. */
static const double POWER = 0.8;
static const double ROUNDS_TOLD_MAX = 1e6;
static const double LEFT_MIN = 1e-3; /* of the error, for an estimate */

/* The share of the error that may be spent up to so many of the rounds of a plan. */
static double share_spent(int rounds, int horizon)
{
    return log1p(expm1(1) * rounds / horizon);
}

/* How much of the error on one side may be spent up to the look. before: what earlier stages have spent. */
static double error_spent(const struct sequential_plan *p, int look, double before)
{
    if ((look == p->n - 1 && !p->goes_on) || p->rounds[look] == p->horizon[look])
        return p->error / 2;
    const int first = p->first[look], horizon = p->horizon[look];
    const double from = share_spent(first > 0 ? p->rounds[first - 1] : 0, horizon);
    return before +
           (p->error / 2 - before) * (share_spent(p->rounds[look], horizon) - from) / (1 - from);
}

/* The same, from what has been spent up to each look before it. */
static double error_of(const struct sequential_plan *p, int look, const double *spent)
{
    return error_spent(p, look, p->first[look] > 0 ? spent[p->first[look] - 1] : 0);
}

static int spend_on_ranks(struct sequential_plan *p)
{
    double spent = 0;
    for (int k = 0; k < p->n; k++) {
        double *tail = &p->tail[RANK_SIGNED][k];
        TRY(rank_cut(RANK_SIGNED, p->rounds[k], error_of(p, k, p->spent[RANK_SIGNED]) - spent,
                     &p->cut[RANK_SIGNED][k], tail));
        spent += *tail;
        p->spent[RANK_SIGNED][k] = spent;
    }
    return 0;
}

/* share[s]: P(s values lie below the centre, and no interval so far was above it). What is at or
 * under the cut of a look is taken out there: its interval is above the centre. Both arrays have room
 * for the rounds of the last look and one. */
static void spend_on_signs(struct sequential_plan *p, double *share, double *tail)
{
    double spent = 0;
    int n = 0;
    share[0] = 1;
    for (int k = 0; k < p->n; k++) {
        for (; n < p->rounds[k]; n++) {
            share[n + 1] = 0;
            for (int s = n + 1; s >= 0; s--)
                share[s] = 0.5 * (share[s] + (s > 0 ? share[s - 1] : 0));
        }
        const double allowed = error_of(p, k, p->spent[RANK_SIGN]);
        int cut = -1;
        while (2 * (cut + 1) < n && stat_within(spent + share[cut + 1], allowed)) {
            spent += share[++cut];
            share[cut] = 0;
        }
        p->cut[RANK_SIGN][k] = cut;
        rank_tails(RANK_SIGN, n, tail);
        p->tail[RANK_SIGN][k] = cut < 0 ? 0 : tail[cut];
        p->spent[RANK_SIGN][k] = spent;
    }
}

static int set_bounds(struct sequential_plan *p)
{
    const size_t room = (size_t)p->rounds[p->n - 1] + 1;
    double *share =
        mem_new((int64_t)(2 * room), sizeof *share, "a plan of %d rounds", p->rounds[p->n - 1]);
    if (!share) return ERR_NOMEM;
    spend_on_signs(p, share, share + room);
    free(share);
    return spend_on_ranks(p);
}

int sequential_plan_at(double error, const int *rounds, int n, struct sequential_plan *out)
{
    ERR_ASSERT(error > 0 && error < 1 && n >= 1 && n <= SEQUENTIAL_LOOKS_MAX);
    *out = (struct sequential_plan){.error = error, .n = n};
    for (int k = 0; k < n; k++) {
        ERR_ASSERT(rounds[k] > (k > 0 ? rounds[k - 1] : 0) && rounds[k] <= SEQUENTIAL_ROUNDS_MAX);
        out->rounds[k] = rounds[k];
        out->horizon[k] = rounds[n - 1];
    }
    return set_bounds(out);
}

/* Rounds of the looks of a plan; returns how many. */
static int planned(double error, int rounds_max, int rounds[SEQUENTIAL_LOOKS_MAX])
{
    int n = 1;
    rounds[0] = SEQUENTIAL_ROUNDS_MIN;
    while (rounds[0] < rounds_max &&
           !stat_within(ldexp(1, -rounds[0]), error / 2 * share_spent(rounds[0], rounds_max)))
        rounds[0]++;
    while (rounds[n - 1] < rounds_max) {
        const int next = (4 * rounds[n - 1] + 2) / 3;
        rounds[n++] = next + next / 8 < rounds_max ? next : rounds_max;
    }
    return n;
}

int sequential_plan(double error, int rounds_max, struct sequential_plan *out)
{
    ERR_ASSERT(error > 0 && error < 1 && rounds_max >= SEQUENTIAL_ROUNDS_MIN &&
               rounds_max <= SEQUENTIAL_ROUNDS_MAX);
    int rounds[SEQUENTIAL_LOOKS_MAX] = {0};
    return sequential_plan_at(error, rounds, planned(error, rounds_max, rounds), out);
}

/* Adds looks above from rounds, up to rounds to, as a stage. */
static int add_stage(struct sequential_plan *p, const int *rounds, int n, int from, int to)
{
    const int first = p->n;
    for (int k = 0; k < n; k++) {
        if (rounds[k] <= from || rounds[k] > to) continue;
        if (p->n == SEQUENTIAL_LOOKS_MAX)
            return err_set(ERR_USAGE, "at most %d looks are expected", SEQUENTIAL_LOOKS_MAX);
        p->rounds[p->n] = rounds[k];
        p->horizon[p->n] = rounds[n - 1];
        p->first[p->n++] = first;
    }
    return 0;
}

int sequential_plan_stages(double error, const struct sequential_stage *stage, int n,
                           struct sequential_plan *out)
{
    ERR_ASSERT(error > 0 && error < 1 && n >= 1);
    *out = (struct sequential_plan){.error = error, .goes_on = true};
    for (int i = 0, from = 0; i < n; from = stage[i++].rounds) {
        const int end = stage[i].rounds, most = stage[i].rounds_max;
        int rounds[SEQUENTIAL_LOOKS_MAX] = {end};
        ERR_ASSERT((end > from || (end == 0 && i == n - 1 && most > from)) &&
                   end <= SEQUENTIAL_ROUNDS_MAX && most <= SEQUENTIAL_ROUNDS_MAX &&
                   (most == 0 || most >= SEQUENTIAL_ROUNDS_MIN));
        const int looks = most > 0 ? planned(error, most, rounds) : 1;
        TRY(add_stage(out, rounds, looks, from, end > 0 ? end : most));
    }
    if (out->n > 0) return set_bounds(out);
    return err_set(ERR_USAGE, "stages that end before the first look of a plan have none");
}

int sequential_plan_end(struct sequential_plan *p, int rounds)
{
    ERR_ASSERT(rounds >= 1 && rounds <= SEQUENTIAL_ROUNDS_MAX);
    int taken = 0;
    while (taken < p->n && taken < SEQUENTIAL_LOOKS_MAX - 1 && p->rounds[taken] < rounds)
        taken++;
    p->rounds[taken] = rounds;
    if (taken >= p->n) {
        p->horizon[taken] = p->horizon[p->n - 1];
        p->first[taken] = p->first[p->n - 1];
    }
    p->n = taken + 1;
    return set_bounds(p); /* looks before it are as they were: they depend on the horizon alone */
}

static bool has_next_look(const struct sequential_plan *p, const struct sequential_data *d,
                          const struct sequential_state *s)
{
    return s->looks < p->n && p->rounds[s->looks] <= d->n;
}

/* Method and widening of a look, by rules that were fixed in advance. */
static int choose(const struct sequential_data *d, struct sequential_look *look)
{
    double skew_p;
    struct rank_order order;
    look->method = d->symmetric ? RANK_SIGNED : RANK_SIGN;
    if (d->symmetric) {
        TRY(rank_skew(d->x, look->rounds, &skew_p));
        look->skewed = skew_p < SKEW_P;
        if (look->skewed) look->method = RANK_SIGN;
    }
    rank_order(d->x, look->rounds, &order);
    look->drifting = order.trend_p < TREND_P;
    if (order.serial_p < SERIAL_P) look->correlation = fmin(order.serial, CORRELATION_MAX);
    /* The variance of a count over values each of which has a share r in the one before. Signs that
     * coins have decided owe nothing to those before, whatever the values do. */
    const double inflation =
        d->symmetric && !look->skewed ? 1 : (1 + look->correlation) / (1 - look->correlation);
    look->widening = sqrt(fmax(inflation, (d->burst + 1) / 2));
    return 0;
}

static void judge(const struct sequential_state *s, struct sequential_bound *bound, int bounds_n)
{
    for (int i = 0; i < bounds_n; i++) {
        struct sequential_bound *b = &bound[i];
        if (s->conflict) *b = (struct sequential_bound){.at = b->at};
        if (b->side != 0 || s->conflict) continue;
        b->side = s->last.lo > b->at ? 1 : s->last.hi <= b->at ? -1 : 0;
        b->rounds = b->side != 0 ? s->last.rounds : 0;
    }
}

/* The interval of a look with the cut of the plan. */
static int interval(const struct sequential_data *d, int cut, struct sequential_look *look)
{
    double centre, lo, hi, tail;
    int guard;
    cut = rank_widen(look->method, look->rounds, cut, look->widening);
    look->exists = cut >= 0 && !look->drifting;
    TRY(rank_interval(look->method, d->x, look->rounds, look->exists ? cut : 0, &look->centre, &lo,
                      &hi));
    look->lo = look->exists ? lo : -INFINITY;
    look->hi = look->exists ? hi : INFINITY;
    if (!look->exists || look->method == RANK_SIGN) return 0;
    TRY(rank_cut(RANK_SIGN, look->rounds, GUARD_SHARE, &guard, &tail));
    if (guard < 0) return 0;
    TRY(rank_interval(RANK_SIGN, d->x, look->rounds, guard, &centre, &lo, &hi));
    look->lo = fmin(look->lo, lo);
    look->hi = fmax(look->hi, hi);
    return 0;
}

int sequential_look(const struct sequential_plan *p, const struct sequential_data *d,
                    struct sequential_state *s, struct sequential_bound *bound, int bounds_n)
{
    ERR_ASSERT(has_next_look(p, d, s) && d->burst >= 1);
    struct sequential_look look = {.rounds = p->rounds[s->looks]};
    TRY(choose(d, &look));
    TRY(interval(d, p->cut[look.method][s->looks], &look));
    s->common_lo = s->looks == 0 ? look.lo : fmax(s->common_lo, look.lo);
    s->common_hi = s->looks == 0 ? look.hi : fmin(s->common_hi, look.hi);
    s->conflict = s->common_lo > s->common_hi;
    s->last = look;
    s->looks++;
    judge(s, bound, bounds_n);
    return 0;
}

int sequential_run(const struct sequential_plan *p, const struct sequential_data *d,
                   struct sequential_state *s, struct sequential_bound *bound, int bounds_n)
{
    while (has_next_look(p, d, s))
        TRY(sequential_look(p, d, s, bound, bounds_n));
    return 0;
}

/* Standard deviation that makes intervals as wide as those of the data, by the one that reaches about
 * a standard error to either side. */
static int interval_sd(const struct sequential_data *d, struct sequential_look *at, double *sd)
{
    double tail, lo, hi;
    int cut;
    TRY(choose(d, at));
    TRY(rank_cut(at->method, at->rounds, gsl_cdf_ugaussian_Q(1), &cut, &tail));
    TRY(rank_interval(at->method, d->x, at->rounds, cut, &at->centre, &lo, &hi));
    *sd = at->widening * sqrt(at->rounds) * (hi - lo) / 2 / gsl_cdf_ugaussian_Qinv(tail);
    return 0;
}

/* Raises *rounds to the fewest of which there is an interval, where one look has all of the error. */
static int least_rounds(const struct sequential_plan *p, const struct sequential_look *at,
                        double *rounds)
{
    for (; *rounds <= SEQUENTIAL_ROUNDS_MAX; ++*rounds) {
        const int n = (int)*rounds;
        double tail;
        int cut;
        TRY(rank_cut(at->method, n, p->error / 2, &cut, &tail));
        if (rank_widen(at->method, n, cut, at->widening) >= 0) break;
    }
    return 0;
}

int sequential_needed(const struct sequential_plan *p, const struct sequential_data *d,
                      const struct sequential_state *s, double bound, double *rounds)
{
    struct sequential_look at = {.rounds =
                                     d->n < SEQUENTIAL_ROUNDS_MAX ? d->n : SEQUENTIAL_ROUNDS_MAX};
    double sd;
    *rounds = NAN;
    if (at.rounds < SEQUENTIAL_ROUNDS_MIN) return 0;
    TRY(interval_sd(d, &at, &sd));
    const double away = fabs(at.centre - bound);
    double reach = INFINITY; /* of the interval of the last look, times the root of its rounds */
    for (int k = s->looks; k < p->n; k++) {
        if (rank_widen(at.method, p->rounds[k], p->cut[at.method][k], at.widening) < 0) continue;
        reach =
            sd * (gsl_cdf_ugaussian_Qinv(p->tail[at.method][k]) + gsl_cdf_ugaussian_Pinv(POWER));
        if (p->rounds[k] <= d->n || reach > away * sqrt(p->rounds[k])) continue;
        *rounds = p->rounds[k];
        return 0;
    }
    /* No look of the plan: a longer one has the share of this one's last, or what this one leaves. */
    if (isinf(reach) || p->goes_on) {
        const double share =
            p->goes_on ? fmax(p->error / 2 - p->spent[at.method][p->n - 1], LEFT_MIN * p->error)
                       : p->error / 2 / p->n;
        reach = sd * (gsl_cdf_ugaussian_Qinv(share) + gsl_cdf_ugaussian_Pinv(POWER));
    }
    *rounds = fmax(ceil(reach / away * (reach / away)), fmax(d->n, p->rounds[p->n - 1]) + 1);
    TRY(least_rounds(p, &at, rounds));
    if (!(*rounds <= ROUNDS_TOLD_MAX)) *rounds = INFINITY;
    return 0;
}

int sequential_p(const struct sequential_data *d, double at, double *p)
{
    struct sequential_look look = {.rounds = d->n};
    double sign_p;
    ERR_ASSERT(d->n >= 1 && d->n <= SEQUENTIAL_ROUNDS_MAX && d->burst >= 1);
    TRY(choose(d, &look));
    if (look.drifting) {
        *p = 1;
        return 0;
    }
    TRY(rank_p(look.method, d->x, d->n, at, look.widening, p));
    if (look.method == RANK_SIGN) return 0;
    TRY(rank_p(RANK_SIGN, d->x, d->n, at, 1, &sign_p));
    if (sign_p > 2 * GUARD_SHARE) *p = fmax(*p, sign_p);
    return 0;
}
