/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/search/race.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/balance.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/rank.h"
#include "base/sequential.h"
#include "base/stat.h"

#define ROUNDS_MIN  2    /* of a rung; the first of a rung that is cut short may stay alone */
#define ROUNDS_MAX  7    /* of a rung before the last: then more dumps tell more */
#define ROUNDS_END  64   /* of the last rung: what they do not tell apart is tied */
#define LOOKS_FIT   2    /* of the last rung that its time is to suffice for */
#define SURE        0.99 /* level at which a candidate leaves within a rung */
#define ERROR       0.05 /* of all that is concluded in the last rung, and of any other interval */
#define SKEW_P      0.2  /* ratios as skewed as that by chance get the sign test */
#define FIRST_SHARE 0.6  /* of the time before the last rung, for one round of the first rung */
#define CAUTION     1.1  /* on estimates of time */
#define PATIENCE    3    /* times what a run is expected to take, and some seconds more: */
#define PATIENCE_S  10
#define UNKNOWN_S   30  /* for one of which nothing is known */
#define PAIRS_MAX   200 /* runs of a candidate, or pairs of runs, that are looked at */

enum phase { FIRST_RUNS, SELECT, LAST, OVER };

struct runner {
    enum race_state state;
    double took_s; /* of its last run that did not wait, or of the try */
    int64_t dumps; /* of that */
    bool waited;   /* its last run took longer than its patience_s, the one before did not */
    bool finalist; /* takes part in the last rung */
};

struct race {
    struct race_plan plan;
    struct race_entry *entry;
    struct runner *runner; /* [n] */
    struct runner compute; /* the run without writing */
    int *order;            /* [n + 1] of the round */
    int order_n, at;       /* runs of the round, the next of them */
    enum phase phase;
    int rung, round; /* from 1 */
    int64_t dumps;
    double end_s;    /* of the race */
    double select_s; /* when the last rung has to begin */
    double rung_end_s;
    bool settled;
    bool last; /* the last rung has begun */
    bool late; /* and was ended by the time */
    /* Looks of the last rung: a finalist against the plain one, with its share of ERROR, and any other
     * comparison. */
    struct sequential_plan paired, alone;
    int incumbent; /* fastest so far in the rungs before the last, -1: none */
    struct race_trial *trial;
    int trials_n, trials_room;
    struct race_rung rungs[RACE_RUNGS_MAX];
    gsl_rng *rng;
    double *location; /* [n], of the comparison */
};

/* ------------------------------------------------------------------ statistics of the times */

static const struct race_trial *find(const struct race *r, int candidate, int rung, int round)
{
    for (int i = r->trials_n - 1; i >= 0; i--) {
        const struct race_trial *t = &r->trial[i];
        if (t->candidate == candidate && t->rung == rung && t->round == round) return t;
    }
    return NULL;
}

/* Logarithms of T_T of a over b, one for each of the rung's first rounds that both ran. */
static int log_ratios(const struct race *r, int rung, int rounds, int a, int b, double *x, int room)
{
    int n = 0;
    for (int i = 0; i < r->trials_n && n < room; i++) {
        const struct race_trial *t = &r->trial[i];
        if (t->candidate != a || t->rung != rung || t->round > rounds || isnan(t->t_t_s)) continue;
        const struct race_trial *with = find(r, b, rung, t->round);
        if (with && !isnan(with->t_t_s)) x[n++] = log(t->t_t_s / with->t_t_s);
    }
    return n;
}

/* Where a candidate stands in a rung: the logarithm of its T_T less what its rounds had in common,
 * the median of all in them; the median of that over its rounds. What slows a whole round drops out,
 * and what slows one run of three. INFINITY: it did not run. Also the standard deviation of what is
 * left, over all candidates, and its degrees of freedom. */
static void estimate(const struct race *r, int rung, double *location, double *sd, int *freedom)
{
    const int n = r->plan.n;
    double *left = malloc(((size_t)n + PAIRS_MAX) * sizeof *left), *own = left ? left + n : NULL;
    double squares = 0;
    int rounds = 0;
    *freedom = 0;
    *sd = NAN;
    for (int c = 0; c < n; c++)
        location[c] = INFINITY;
    for (int i = 0; i < r->trials_n; i++)
        if (r->trial[i].rung == rung && r->trial[i].round > rounds) rounds = r->trial[i].round;
    double *common = calloc((size_t)rounds + 1, sizeof *common);
    for (int round = 1; left && common && round <= rounds; round++) {
        int k = 0;
        for (int i = 0; i < r->trials_n; i++) {
            const struct race_trial *t = &r->trial[i];
            if (t->rung == rung && t->round == round && t->candidate >= 0 && !isnan(t->t_t_s) &&
                r->runner[t->candidate].state != RACE_FAILED && k < n)
                left[k++] = log(t->t_t_s);
        }
        if (k == 0 || stat_median(left, k, &common[round]) < 0) common[round] = 0;
    }
    for (int c = 0; left && common && c < n; c++) {
        int k = 0;
        double median;
        if (r->runner[c].state == RACE_FAILED) continue;
        for (int i = 0; i < r->trials_n && k < PAIRS_MAX; i++) {
            const struct race_trial *t = &r->trial[i];
            if (t->candidate == c && t->rung == rung && !isnan(t->t_t_s))
                own[k++] = log(t->t_t_s) - common[t->round];
        }
        if (k == 0 || stat_median(own, k, &median) < 0) continue;
        location[c] = median;
        for (int i = 0; i < k; i++)
            squares += (own[i] - median) * (own[i] - median);
        *freedom += k - 1;
    }
    if (*freedom > 0) *sd = sqrt(squares / *freedom);
    free(common);
    free(left);
}

/* The centre of n log ratios and its interval, of all looks that were taken together: their
 * intersection. NaN where there is none, as with fewer rounds than the first look has. */
static void sequential_interval(const struct sequential_plan *plan, const double *x, int n,
                                bool symmetric, double *ratio, double *lo, double *hi)
{
    const struct sequential_data d = {.x = x, .n = n, .symmetric = symmetric, .burst = 1};
    struct sequential_state state = {0};
    double middle;
    *ratio = *lo = *hi = NAN;
    if (n == 0 || stat_median(x, n, &middle) < 0) return;
    *ratio = exp(middle);
    if (sequential_run(plan, &d, &state, NULL, 0) < 0) {
        err_clear(); /* without memory nothing is concluded */
        return;
    }
    if (state.looks == 0 || state.conflict) return;
    *ratio = exp(fmin(fmax(state.last.centre, state.common_lo), state.common_hi));
    if (isfinite(state.common_lo)) *lo = exp(state.common_lo);
    if (isfinite(state.common_hi)) *hi = exp(state.common_hi);
}

/* The same at one number of rounds, of pairs in any order. */
static void interval(const double *x, int n, double *ratio, double *lo, double *hi)
{
    double skew_p, share, middle;
    int cut;
    *ratio = *lo = *hi = NAN;
    if (n == 0 || stat_median(x, n, &middle) < 0) return;
    *ratio = exp(middle);
    if (n < SEQUENTIAL_ROUNDS_MIN || rank_skew(x, n, &skew_p) < 0) return;
    const enum rank_method method = skew_p < SKEW_P ? RANK_SIGN : RANK_SIGNED;
    if (rank_cut(method, n, ERROR / 2, &cut, &share) < 0 || cut < 0) return;
    if (rank_interval(method, x, n, cut, &middle, lo, hi) < 0) return;
    *ratio = exp(middle);
    *lo = exp(*lo);
    *hi = exp(*hi);
}

int race_ratio(const struct race *r, int rung, int a, int b, double *ratio, double *lo, double *hi)
{
    double x[PAIRS_MAX];
    const bool last = r->last && rung == r->rung, alone = b == RACE_COMPUTE;
    const int rounds = last ? r->rungs[rung - 1].rounds : INT_MAX;
    const int n = log_ratios(r, rung, rounds, a, b, x, PAIRS_MAX);
    if (!last) {
        interval(x, n, ratio, lo, hi);
        return n;
    }
    /* Time ends a rung whatever was measured; so this may be one more look, for those still in it. */
    const int plain = race_plain(r);
    struct sequential_plan plan = a == plain || b == plain ? r->paired : r->alone;
    if (alone) plan = r->alone;
    const bool in = r->runner[a].state == RACE_IN && (alone || r->runner[b].state == RACE_IN);
    if (r->late && in && n == rounds && n >= SEQUENTIAL_ROUNDS_MIN && n < ROUNDS_END &&
        sequential_plan_end(&plan, n) < 0)
        err_clear();
    sequential_interval(&plan, x, n, !alone, ratio, lo, hi);
    return n;
}

int race_effect(const struct race *r, const struct race_pair *pair, int pairs_n, double *ratio,
                double *lo, double *hi)
{
    double x[PAIRS_MAX];
    int n = 0;
    for (int p = 0; p < pairs_n; p++)
        for (int rung = 1; rung <= r->rung; rung++)
            n += log_ratios(r, rung, INT_MAX, pair[p].a, pair[p].b, x + n, PAIRS_MAX - n);
    interval(x, n, ratio, lo, hi);
    return n;
}

/* ------------------------------------------------------------------ decisions */

/* Of an interval of a ratio; false where it is not known. */
static bool equivalent(double lo, double hi)
{
    return lo >= 1 - RACE_MARGIN && hi <= 1 + RACE_MARGIN;
}

static bool slower(double lo, double hi)
{
    return lo > 1 && !equivalent(lo, hi);
}

static bool faster(double lo, double hi)
{
    return hi < 1 && !equivalent(lo, hi);
}

static int runs_of(const struct race *r, int candidate)
{
    int n = 0;
    for (int i = 0; i < r->trials_n; i++)
        n += r->trial[i].candidate == candidate ? 1 : 0;
    return n;
}

int race_plain(const struct race *r)
{
    int plain = -1;
    for (int c = 0; c < r->plan.n; c++) {
        if (r->runner[c].state == RACE_FAILED || (r->last && !r->runner[c].finalist)) continue;
        if (plain < 0 || r->entry[c].cost < r->entry[plain].cost) plain = c;
    }
    return plain;
}

bool race_disturbed(const struct race *r, int *runs, int *disturbed)
{
    *runs = *disturbed = 0;
    for (int i = 0; i < r->trials_n; i++) {
        if (r->trial[i].rung != r->rung) continue;
        *runs += 1;
        *disturbed += r->trial[i].disturbed;
    }
    return r->last && balance_half(*disturbed, *runs);
}

/* The finalist with the smallest ratio to the plain one of those shown to be faster; the plain one
 * where there is none, or too much was disturbed. */
static int fastest(const struct race *r)
{
    const int plain = race_plain(r);
    double ratio, lo, hi, least = INFINITY;
    int first = plain, runs, disturbed;
    if (race_disturbed(r, &runs, &disturbed)) return plain;
    for (int c = 0; c < r->plan.n; c++) {
        if (c == plain || !r->runner[c].finalist || r->runner[c].state == RACE_FAILED) continue;
        (void)race_ratio(r, r->rung, c, plain, &ratio, &lo, &hi);
        if (!faster(lo, hi) || ratio >= least) continue;
        least = ratio;
        first = c;
    }
    return first;
}

/* The simplest of those shown to be faster than the plain one and not shown to be slower than the
 * fastest. */
static int winner(const struct race *r)
{
    const int plain = race_plain(r), first = fastest(r);
    double ratio, lo, hi;
    int best = first;
    for (int c = 0; first != plain && c < r->plan.n; c++) {
        if (c == plain || !r->runner[c].finalist || r->runner[c].state == RACE_FAILED) continue;
        (void)race_ratio(r, r->rung, c, plain, &ratio, &lo, &hi);
        if (!faster(lo, hi) || r->entry[c].cost >= r->entry[best].cost) continue;
        (void)race_ratio(r, r->rung, c, first, &ratio, &lo, &hi);
        if (!slower(lo, hi)) best = c;
    }
    return best;
}

int race_best(const struct race *r)
{
    int best = -1;
    if (r->last) {
        best = winner(r);
        return best >= 0 && runs_of(r, best) > 0 ? best : -1;
    }
    for (int c = 0; c < r->plan.n; c++)
        if (r->runner[c].state != RACE_FAILED && runs_of(r, c) > 0 &&
            (best < 0 || r->entry[c].cost < r->entry[best].cost))
            best = c;
    return best;
}

/* ------------------------------------------------------------------ time */

/* Predicts the time of a run of so many dumps from the candidate's last run, longer for more dumps. */
static double predict_run_s(const struct race *r, int candidate, int64_t dumps)
{
    const struct runner *c = candidate == RACE_COMPUTE ? &r->compute : &r->runner[candidate];
    double sum = 0;
    int known = 0;
    if (c->dumps > 0) return c->took_s * (double)dumps / (double)num_min(c->dumps, dumps);
    for (int i = 0; i < r->plan.n; i++) {
        if (r->runner[i].dumps == 0) continue;
        sum += r->runner[i].took_s * (double)dumps / (double)num_min(r->runner[i].dumps, dumps);
        known++;
    }
    return known > 0 ? sum / known : 0;
}

/* The time of a round of all that still run. */
static double predict_round_s(const struct race *r, int64_t dumps)
{
    double sum = predict_run_s(r, RACE_COMPUTE, dumps);
    for (int c = 0; c < r->plan.n; c++)
        if (r->runner[c].state == RACE_IN) sum += predict_run_s(r, c, dumps);
    return CAUTION * sum;
}

/* ------------------------------------------------------------------ rounds and rungs */

static int running(const struct race *r)
{
    int n = 0;
    for (int c = 0; c < r->plan.n; c++)
        n += r->runner[c].state == RACE_IN ? 1 : 0;
    return n;
}

static void begin_round(struct race *r, int round)
{
    r->round = round;
    r->at = r->order_n = 0;
    r->order[r->order_n++] = RACE_COMPUTE;
    for (int c = 0; c < r->plan.n; c++)
        if (r->runner[c].state == RACE_IN) r->order[r->order_n++] = c;
    gsl_ran_shuffle(r->rng, r->order, (size_t)r->order_n, sizeof r->order[0]);
}

static void begin_rung(struct race *r, int64_t dumps, double end_s)
{
    r->dumps = dumps;
    r->rung_end_s = end_s;
    r->rungs[r->rung++] = (struct race_rung){.dumps = dumps, .candidates_n = running(r)};
    begin_round(r, 1);
}

/* Rungs that halving takes until the finalists are left. */
static int rungs_left(int n)
{
    int rungs = 1;
    for (; n > 2 * RACE_FINALISTS; n = (n + 1) / 2)
        rungs++;
    return rungs;
}

/* The candidate with the smallest location among those in a state; -1: none that ran. */
static int first_of(const struct race *r, enum race_state state)
{
    int best = -1;
    for (int c = 0; c < r->plan.n; c++)
        if (r->runner[c].state == state && isfinite(r->location[c]) &&
            (best < 0 || r->location[c] < r->location[best]))
            best = c;
    return best;
}

/* The best of those that still run, keep of them, stay; the others leave. */
static void keep_best(struct race *r, int keep)
{
    while (running(r) > keep) {
        int worst = -1;
        for (int c = 0; c < r->plan.n; c++)
            if (r->runner[c].state == RACE_IN &&
                (worst < 0 || r->location[c] >= r->location[worst]))
                worst = c;
        r->runner[worst].state = isfinite(r->location[worst]) ? RACE_CUT : RACE_UNTRIED;
    }
}

/* When there is no time for one round of all, those stay whose order says so. */
static void drop_least_promising(struct race *r, double time_s)
{
    int order = 0;
    for (int c = 0; c < r->plan.n; c++)
        if (r->entry[c].order > order) order = r->entry[c].order;
    for (; order > 0; order--)
        for (int c = r->plan.n - 1; c >= 0; c--)
            if (r->entry[c].order == order && predict_round_s(r, r->dumps) > time_s)
                r->runner[c].state = RACE_UNTRIED;
}

static void begin_select(struct race *r, double now_s)
{
    const double time_s = r->select_s - now_s;
    r->phase = SELECT;
    drop_least_promising(r, FIRST_SHARE * time_s);
    begin_rung(r, r->dumps, now_s + time_s / rungs_left(running(r)));
}

/* The last rung: the finalists, the yardsticks and the plain candidate, with as many dumps as leave
 * time for LOOKS_FIT looks. Without memory for their plan the race is over, undecided. */
static void begin_last_rung(struct race *r, double now_s)
{
    const int plain = race_plain(r);
    double sd;
    int freedom, against = 0;
    estimate(r, r->rung, r->location, &sd, &freedom);
    r->incumbent = first_of(r, RACE_IN);
    keep_best(r, RACE_FINALISTS);
    r->phase = OVER;
    if (r->incumbent < 0) return;
    for (int c = 0; c < r->plan.n; c++) {
        struct runner *one = &r->runner[c];
        if ((r->entry[c].yardstick || c == plain) && one->state != RACE_FAILED)
            one->state = RACE_IN;
        one->finalist = one->state == RACE_IN;
        against += one->finalist && c != plain ? 1 : 0;
    }
    if (sequential_plan(ERROR / (against > 1 ? against : 1), ROUNDS_END, &r->paired) < 0 ||
        sequential_plan_at(ERROR, r->paired.rounds, r->paired.n, &r->alone) < 0) {
        err_clear();
        return;
    }
    r->phase = LAST;
    r->last = true;
    const double time_s = r->end_s - now_s, round_s = predict_round_s(r, r->dumps);
    const double fit = (double)r->dumps * time_s / (r->paired.rounds[LOOKS_FIT - 1] * round_s);
    const int64_t most = num_min(r->plan.dumps_n, INT64_C(1) << 30);
    int64_t dumps = fit < (double)most ? (int64_t)fit : most;
    dumps = num_max(dumps, num_min(RACE_DUMPS_MIN, most));
    begin_rung(r, dumps, r->end_s);
}

/* After a round of a rung before the last. */
static void end_rung_round(struct race *r, double now_s)
{
    const int started = r->rungs[r->rung - 1].candidates_n;
    const int target = (int)num_max(RACE_FINALISTS, (started + 1) / 2);
    double sd;
    int freedom;
    estimate(r, r->rung, r->location, &sd, &freedom);
    r->incumbent = first_of(r, RACE_IN);
    if (r->incumbent < 0) {
        r->phase = OVER;
        return;
    }
    if (r->round >= ROUNDS_MIN && freedom >= 2) {
        const double far = stat_t(SURE, freedom) * sd * sqrt(2.0 / r->round);
        for (int c = 0; c < r->plan.n; c++)
            if (r->runner[c].state == RACE_IN && r->location[c] - r->location[r->incumbent] > far)
                r->runner[c].state = RACE_SLOWER;
    }
    const double round_s = predict_round_s(r, r->dumps);
    const bool must = r->round < ROUNDS_MIN && now_s + round_s <= r->select_s;
    const bool may =
        r->round < ROUNDS_MAX && running(r) > target && now_s + round_s <= r->rung_end_s;
    if (must || (may && running(r) > 1)) {
        begin_round(r, r->round + 1);
        return;
    }
    keep_best(r, target);
    const int left = running(r);
    int64_t dumps = num_min(2 * r->dumps, r->plan.dumps_n);
    if (now_s + predict_round_s(r, dumps) > r->select_s) dumps = r->dumps;
    const bool time = now_s + predict_round_s(r, dumps) <= r->select_s;
    if (left <= RACE_FINALISTS || !time || r->rung == RACE_RUNGS_MAX - 1)
        begin_last_rung(r, now_s);
    else
        begin_rung(r, dumps, now_s + (r->select_s - now_s) / rungs_left(left));
}

/* After a round of the last rung. At a look those leave that are not faster than the plain one, or
 * slower than the fastest; it is over when all others are shown to be faster than the plain one and as
 * fast as the fastest, and the cost of the winner's writing has an interval. */
static void conclude(struct race *r, double now_s)
{
    const int plain = race_plain(r), first = fastest(r);
    double ratio, lo, hi, to_lo, to_hi;
    int runs, disturbed;
    bool is_look = false, all = true;
    for (int k = 0; k < r->paired.n; k++)
        is_look = is_look || r->paired.rounds[k] == r->round;
    for (int c = 0; is_look && c < r->plan.n; c++) {
        if (c == plain || c == first || r->runner[c].state != RACE_IN) continue;
        (void)race_ratio(r, r->rung, c, plain, &ratio, &lo, &hi);
        (void)race_ratio(r, r->rung, c, first, &ratio, &to_lo, &to_hi);
        const bool behind = slower(lo, hi) || slower(to_lo, to_hi),
                   out = behind || equivalent(lo, hi);
        if (out && !r->entry[c].yardstick) r->runner[c].state = behind ? RACE_SLOWER : RACE_TIED;
        all = all && (out || (faster(lo, hi) && equivalent(to_lo, to_hi)));
    }
    (void)race_ratio(r, r->rung, winner(r), RACE_COMPUTE, &ratio, &lo, &hi);
    all = all && isfinite(lo) && isfinite(hi);
    const bool end = r->round == ROUNDS_END;
    r->settled = ((is_look && all) || end) && !race_disturbed(r, &runs, &disturbed);
    if (r->settled || end)
        r->phase = OVER;
    else if (now_s + predict_round_s(r, r->dumps) > r->end_s) {
        r->phase = OVER; /* what only part of a round tells is not used */
        r->late = true;
    } else
        begin_round(r, r->round + 1);
}

/* Rounds all together that would probably tell about a finalist: that it is faster than the plain one or
 * slower, or, by both bounds, within the margin; ROUNDS_END tell in any case. NaN: nobody can say. */
static double needed_of(const struct race *r, int candidate, int plain)
{
    const double bound[] = {0, log(1 - RACE_MARGIN), log(1 + RACE_MARGIN)};
    double x[PAIRS_MAX], rounds[3];
    const int n =
        log_ratios(r, r->rung, r->rungs[r->rung - 1].rounds, candidate, plain, x, PAIRS_MAX);
    const struct sequential_data d = {.x = x, .n = n, .symmetric = true, .burst = 1};
    struct sequential_state state = {0};
    if (n == 0 || sequential_run(&r->paired, &d, &state, NULL, 0) < 0) return NAN;
    for (int b = 0; b < 3; b++)
        if (sequential_needed(&r->paired, &d, &state, bound[b], &rounds[b]) < 0) return NAN;
    return isnan(rounds[0]) ? NAN : fmin(fmin(rounds[0], fmax(rounds[1], rounds[2])), ROUNDS_END);
}

void race_needed(const struct race *r, double *rounds, double *seconds)
{
    const int plain = race_plain(r);
    double ratio, lo, hi;
    int64_t dumps = r->dumps;
    *rounds = *seconds = NAN;
    for (int c = 0; r->last && plain >= 0 && c < r->plan.n; c++) {
        if (c == plain || !r->runner[c].finalist || r->runner[c].state != RACE_IN) continue;
        (void)race_ratio(r, r->rung, c, plain, &ratio, &lo, &hi);
        if (slower(lo, hi) || faster(lo, hi) || equivalent(lo, hi)) continue;
        const double own = needed_of(r, c, plain);
        if (isnan(*rounds) || own > *rounds) *rounds = own;
    }
    /* More time makes the runs longer before it makes more rounds of them: see begin_last_rung. */
    if (r->last && *rounds > r->paired.rounds[LOOKS_FIT - 1]) dumps = r->plan.dumps_n;
    *seconds = *rounds * predict_round_s(r, dumps) / CAUTION / RACE_LAST_SHARE;
}

/* After the try, by which all others are judged. Where every run took long, the problem is large; one
 * that did alone may have waited for a file system, and runs again. */
static bool try_again(struct race *r)
{
    int n = 0;
    for (int i = 0; i < r->order_n; i++) {
        const int c = r->order[i];
        if (c == RACE_COMPUTE ? r->compute.waited : r->runner[c].waited) r->order[n++] = c;
    }
    if (n == 0 || n == r->order_n) return false;
    r->order_n = n;
    r->at = 0;
    return true;
}

static void end_round(struct race *r, double now_s)
{
    if (r->phase == FIRST_RUNS) {
        if (!try_again(r)) begin_select(r, now_s);
        return;
    }
    r->rungs[r->rung - 1].rounds = r->round;
    if (r->phase == SELECT)
        end_rung_round(r, now_s);
    else
        conclude(r, now_s);
}

bool race_next(struct race *r, double now_s, struct race_trial *trial)
{
    while (r->phase != OVER) {
        if (r->at == r->order_n) {
            end_round(r, now_s);
            continue;
        }
        const int c = r->order[r->at++];
        const double takes_s = predict_run_s(r, c, r->dumps), done_s = now_s + CAUTION * takes_s;
        if (c != RACE_COMPUTE && r->runner[c].state != RACE_IN) continue;
        if (r->phase == SELECT && done_s > r->select_s && r->trials_n > 0) {
            /* Out of time within a round: the decision rests on what has been measured. */
            r->at = r->order_n;
            begin_last_rung(r, now_s);
            continue;
        }
        if (r->phase == LAST && done_s > r->end_s) {
            r->phase = OVER;
            r->late = true;
            return false;
        }
        *trial = (struct race_trial){.candidate = c,
                                     .rung = r->rung,
                                     .round = r->round,
                                     .dumps = r->dumps,
                                     .patience_s =
                                         takes_s > 0 ? PATIENCE * takes_s + PATIENCE_S : UNKNOWN_S,
                                     .t_t_s = NAN};
        return true;
    }
    return false;
}

int race_add_result(struct race *r, const struct race_trial *done)
{
    const int c = done->candidate;
    struct runner *one = c == RACE_COMPUTE ? &r->compute : &r->runner[c];
    if (isnan(done->t_t_s)) {
        if (c != RACE_COMPUTE) one->state = RACE_FAILED;
        return 0;
    }
    /* A file system that did not answer for a while says nothing about the next run; twice in a row it
     * is the candidate. In the try nothing better is known: see try_again. */
    one->waited = done->took_s > done->patience_s && !one->waited;
    if (!one->waited || done->rung == 0) {
        one->took_s = done->took_s;
        one->dumps = done->dumps;
    }
    if (done->rung == 0) return 0;
    if (r->trials_n == r->trials_room) {
        const int room = 2 * r->trials_room + 256;
        struct race_trial *grown =
            mem_grow(r->trial, room, sizeof *grown, "the times of %d runs", room);
        if (!grown) return ERR_NOMEM;
        r->trial = grown;
        r->trials_room = room;
    }
    r->trial[r->trials_n++] = *done;
    return 0;
}

/* ------------------------------------------------------------------ making and freeing */

int race_new(struct race **race, const struct race_plan *plan, double now_s)
{
    const int n = plan->n;
    struct race *r = mem_new(1, sizeof *r, "a race");
    *race = r;
    if (!r) return ERR_NOMEM;
    r->plan = *plan;
    r->entry = mem_new(n + 1, sizeof *r->entry, "a race of %d", n);
    r->runner = mem_new(n + 1, sizeof *r->runner, "a race of %d", n);
    r->order = mem_new(n + 2, sizeof *r->order, "a race of %d", n);
    r->location = mem_new(n + 1, sizeof *r->location, "a race of %d", n);
    if (!r->entry || !r->runner || !r->order || !r->location) return ERR_NOMEM;
    r->rng = gsl_rng_alloc(gsl_rng_mt19937);
    if (!r->rng) return mem_error("random numbers");
    memcpy(r->entry, plan->entry, (size_t)n * sizeof *r->entry);
    gsl_rng_set(r->rng, plan->seed);
    for (int c = 0; c < plan->n; c++)
        r->runner[c].state = RACE_IN;
    r->incumbent = -1;
    r->dumps = num_min(RACE_DUMPS_MIN, plan->dumps_n);
    r->end_s = now_s + plan->budget_s;
    r->select_s = now_s + (1 - RACE_LAST_SHARE) * plan->budget_s;
    /* First, to learn what runs take: one without writing, and one of a yardstick. */
    r->order[r->order_n++] = RACE_COMPUTE;
    for (int c = 0; c < plan->n && r->order_n < 2; c++)
        if (r->entry[c].yardstick) r->order[r->order_n++] = c;
    return 0;
}

void race_free(struct race *r)
{
    if (!r) return;
    if (r->rng) gsl_rng_free(r->rng);
    free(r->entry);
    free(r->runner);
    free(r->order);
    free(r->location);
    free(r->trial);
    free(r);
}

bool race_settled(const struct race *r)
{
    return r->settled;
}

int race_ahead(const struct race *r)
{
    double sd;
    int freedom, ahead = -1;
    for (int rung = r->rung; rung > 0 && ahead < 0; rung--) {
        estimate(r, rung, r->location, &sd, &freedom);
        for (int c = 0; c < r->plan.n; c++)
            if (isfinite(r->location[c]) && (ahead < 0 || r->location[c] < r->location[ahead]))
                ahead = c;
    }
    return ahead;
}

enum race_verdict race_verdict(const struct race *r)
{
    const int best = race_best(r);
    if (best < 0 || !r->last) return RACE_UNDECIDED;
    if (best != race_plain(r)) return RACE_WINNER;
    return r->settled ? RACE_NO_WINNER : RACE_UNDECIDED;
}

void race_standings(const struct race *r, struct race_standing *to)
{
    const int best = race_best(r);
    int runs, disturbed;
    const bool judged = !race_disturbed(r, &runs, &disturbed) && r->last;
    for (int c = 0; c < r->plan.n; c++) {
        struct race_standing *s = &to[c];
        double x[PAIRS_MAX];
        int n = 0;
        *s = (struct race_standing){
            .state = r->runner[c].state, .ratio = NAN, .lo = NAN, .hi = NAN, .t_t_s = NAN};
        for (int i = 0; i < r->trials_n; i++) {
            if (r->trial[i].candidate != c) continue;
            s->runs++;
            s->rung = r->trial[i].rung > s->rung ? r->trial[i].rung : s->rung;
        }
        for (int i = 0; i < r->trials_n && n < PAIRS_MAX; i++)
            if (r->trial[i].candidate == c && r->trial[i].rung == s->rung)
                x[n++] = r->trial[i].t_t_s;
        if (n > 0) (void)stat_median(x, n, &s->t_t_s);
        if (best >= 0 && c != best && s->rung > 0)
            (void)race_ratio(r, s->rung, c, best, &s->ratio, &s->lo, &s->hi);
        if (c == best) {
            s->state = RACE_BEST;
            s->ratio = s->lo = s->hi = 1;
        } else if (s->state == RACE_IN || s->state == RACE_TIED) {
            const bool known = s->state == RACE_TIED || isfinite(s->lo) || isfinite(s->hi);
            s->state = s->runs == 0           ? RACE_UNTRIED
                       : !judged || !known    ? RACE_IN
                       : slower(s->lo, s->hi) ? RACE_SLOWER
                                              : RACE_TIED;
        }
    }
}

int race_rungs(const struct race *r, const struct race_rung **rung, bool *last)
{
    *rung = r->rungs;
    *last = r->last;
    return r->rung;
}
