/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/search/race.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/stat.h"

#define ROUNDS_MIN   2    /* of a rung; the first of a rung that is cut short may stay alone */
#define ROUNDS_MAX   7    /* of a rung before the last: then more dumps tell more */
#define ROUNDS_LAST  5    /* of the last rung before anything is concluded from it */
#define PAIRS_MEDIAN 5    /* from so many on the interval is that of a median, without a model */
#define ROUNDS_END   60   /* of the last rung: what they do not tell apart is alike to anybody */
#define SURE         0.99 /* level at which a candidate leaves within a rung */
#define LEVEL        0.95 /* of what is reported */
#define FIRST_SHARE  0.6  /* of the time before the last rung, for one round of the first rung */
#define CAUTION      1.1  /* on estimates of time */
#define PATIENCE     3    /* times what a run is expected to take, and some seconds more: */
#define PATIENCE_S   10
#define UNKNOWN_S    30   /* for one of which nothing is known */
#define PAIRS_MAX    1000 /* runs of a candidate in a rung that are looked at */

enum phase { TRY, SELECT, LAST, OVER };

struct runner {
    enum race_state state;
    double took_s; /* of its last run that did not wait, or of the try */
    int64_t dumps; /* of that */
    bool waited;   /* its last run took longer than its patience_s, the one before did not */
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
    bool last;     /* the last rung has begun */
    int incumbent; /* -1: none */
    struct race_trial *trial;
    int trials_n, trials_room;
    struct race_rung rungs[RACE_RUNGS_MAX];
    gsl_rng *rng;
    double *location; /* [n], of the comparison */
};

/* ------------------------------------------------------------------ what the times say */

static const struct race_trial *find(const struct race *r, int candidate, int rung, int round)
{
    for (int i = r->trials_n - 1; i >= 0; i--) {
        const struct race_trial *t = &r->trial[i];
        if (t->candidate == candidate && t->rung == rung && t->round == round) return t;
    }
    return NULL;
}

/* Logarithms of T_T of a over b, one for each round of the rung that both ran. */
static int logs(const struct race *r, int rung, int a, int b, double *x, int room)
{
    int n = 0;
    for (int i = 0; i < r->trials_n && n < room; i++) {
        const struct race_trial *t = &r->trial[i];
        if (t->candidate != a || t->rung != rung || isnan(t->t_t_s)) continue;
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

/* The interval of the median of n log ratios: without a model from PAIRS_MEDIAN on; below, as if
 * what is left in a rung were normal, with the deviation that all its candidates share; over several
 * rungs, rung 0, with that of the ratios themselves. */
static void interval(const struct race *r, int rung, const double *x, int n, double *ratio,
                     double *lo, double *hi)
{
    double middle, sd;
    int freedom;
    *ratio = *lo = *hi = NAN;
    if (n == 0 || stat_median(x, n, &middle) < 0) return;
    *ratio = exp(middle);
    if (n >= PAIRS_MEDIAN) {
        if (stat_median_ci(x, n, LEVEL, r->plan.seed, lo, hi) < 0) return;
        *lo = exp(*lo);
        *hi = exp(*hi);
        return;
    }
    if (n < ROUNDS_MIN) return;
    double half;
    if (rung < 1) {
        struct stat_summary own;
        if (stat_summary(x, n, &own) < 0) return;
        half = stat_t(LEVEL, n - 1) * own.sd / sqrt(n);
    } else {
        estimate(r, rung, r->location, &sd, &freedom);
        if (freedom < 2) return;
        half = stat_t(LEVEL, freedom) * sd * sqrt(2.0 / n);
    }
    *lo = exp(middle - half);
    *hi = exp(middle + half);
}

int race_ratio(const struct race *r, int rung, int a, int b, double *ratio, double *lo, double *hi)
{
    double x[PAIRS_MAX];
    const int n = logs(r, rung, a, b, x, PAIRS_MAX);
    interval(r, rung, x, n, ratio, lo, hi);
    return n;
}

int race_effect(const struct race *r, const struct race_pair *pair, int pairs_n, double *ratio,
                double *lo, double *hi)
{
    double x[PAIRS_MAX];
    int n = 0;
    for (int p = 0; p < pairs_n; p++)
        for (int rung = 1; rung <= r->rung; rung++)
            n += logs(r, rung, pair[p].a, pair[p].b, x + n, PAIRS_MAX - n);
    interval(r, 0, x, n, ratio, lo, hi);
    return n;
}

/* ------------------------------------------------------------------ time */

/* What a run of so many dumps will take: as its last one, more for more dumps. */
static double guess(const struct race *r, int candidate, int64_t dumps)
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

/* And a round of all that still run. */
static double guess_round(const struct race *r, int64_t dumps)
{
    double sum = guess(r, RACE_COMPUTE, dumps);
    for (int c = 0; c < r->plan.n; c++)
        if (r->runner[c].state == RACE_IN) sum += guess(r, c, dumps);
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

/* Of the running ones the keep best stay, the others leave. */
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
static void thin(struct race *r, double time_s)
{
    int order = 0;
    for (int c = 0; c < r->plan.n; c++)
        if (r->entry[c].order > order) order = r->entry[c].order;
    for (; order > 0; order--)
        for (int c = r->plan.n - 1; c >= 0; c--)
            if (r->entry[c].order == order && guess_round(r, r->dumps) > time_s)
                r->runner[c].state = RACE_UNTRIED;
}

static void begin_select(struct race *r, double now_s)
{
    const double time_s = r->select_s - now_s;
    r->phase = SELECT;
    thin(r, FIRST_SHARE * time_s);
    begin_rung(r, r->dumps, now_s + time_s / rungs_left(running(r)));
}

/* The last rung: the finalists and the yardsticks, with as many dumps as leave time for ROUNDS_LAST
 * rounds. */
static void begin_last(struct race *r, double now_s)
{
    double sd;
    int freedom;
    estimate(r, r->rung, r->location, &sd, &freedom);
    r->incumbent = first_of(r, RACE_IN);
    keep_best(r, RACE_FINALISTS);
    for (int c = 0; c < r->plan.n; c++) {
        struct runner *one = &r->runner[c];
        const bool can = one->state != RACE_FAILED;
        if (r->entry[c].yardstick && can) one->state = RACE_IN;
    }
    if (r->incumbent < 0) {
        r->phase = OVER;
        return;
    }
    r->phase = LAST;
    r->last = true;
    const double time_s = r->end_s - now_s, round_s = guess_round(r, r->dumps);
    const double fit = (double)r->dumps * time_s / (ROUNDS_LAST * round_s);
    const int64_t most = num_min(r->plan.dumps_n, INT64_C(1) << 30);
    int64_t dumps = fit < (double)most ? (int64_t)fit : most;
    dumps = num_max(dumps, num_min(RACE_DUMPS_MIN, most));
    begin_rung(r, dumps, r->end_s);
}

/* After a round of a rung before the last. */
static void go_on(struct race *r, double now_s)
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
    const double round_s = guess_round(r, r->dumps);
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
    if (now_s + guess_round(r, dumps) > r->select_s) dumps = r->dumps;
    const bool time = now_s + guess_round(r, dumps) <= r->select_s;
    if (left <= RACE_FINALISTS || !time || r->rung == RACE_RUNGS_MAX - 1)
        begin_last(r, now_s);
    else
        begin_rung(r, dumps, now_s + (r->select_s - now_s) / rungs_left(left));
}

/* Whether a candidate of the last rung is as good as told apart from the best, or as good as equal;
 * one that is slower runs no more, unless it is a yardstick. */
static bool decided(struct race *r, int c)
{
    double ratio, lo, hi;
    if (c == r->incumbent || r->runner[c].state != RACE_IN) return true;
    (void)race_ratio(r, r->rung, c, r->incumbent, &ratio, &lo, &hi);
    if (lo > 1 && !r->entry[c].yardstick) r->runner[c].state = RACE_SLOWER;
    return lo > 1 || (lo >= 1 - RACE_ALIKE && hi <= 1 + RACE_ALIKE) || hi < 1;
}

/* After a round of the last rung. */
static void conclude(struct race *r)
{
    bool all = r->round >= ROUNDS_LAST;
    for (int c = 0; r->round >= ROUNDS_LAST && c < r->plan.n; c++)
        all = decided(r, c) && all;
    r->settled = all;
    if (all || r->round == ROUNDS_END)
        r->phase = OVER;
    else
        begin_round(r, r->round + 1);
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
    if (r->phase == TRY) {
        if (!try_again(r)) begin_select(r, now_s);
        return;
    }
    r->rungs[r->rung - 1].rounds = r->round;
    if (r->phase == SELECT)
        go_on(r, now_s);
    else
        conclude(r);
}

bool race_next(struct race *r, double now_s, struct race_trial *trial)
{
    while (r->phase != OVER) {
        if (r->at == r->order_n) {
            end_round(r, now_s);
            continue;
        }
        const int c = r->order[r->at++];
        const double takes_s = guess(r, c, r->dumps), done_s = now_s + CAUTION * takes_s;
        if (c != RACE_COMPUTE && r->runner[c].state != RACE_IN) continue;
        if (r->phase == SELECT && done_s > r->select_s && r->trials_n > 0) {
            /* Out of time within a round: what there is has to do. */
            r->at = r->order_n;
            begin_last(r, now_s);
            continue;
        }
        if (r->phase == LAST && done_s > r->end_s) {
            r->phase = OVER;
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

int race_told(struct race *r, const struct race_trial *done)
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
        struct race_trial *grown = realloc(r->trial, (size_t)room * sizeof *grown);
        if (!grown) return err_set(ERR_NOMEM, "no memory for the times of %d runs", room);
        r->trial = grown;
        r->trials_room = room;
    }
    r->trial[r->trials_n++] = *done;
    return 0;
}

/* ------------------------------------------------------------------ beginning, end */

int race_new(struct race **race, const struct race_plan *plan, double now_s)
{
    const size_t n = (size_t)plan->n;
    struct race *r = calloc(1, sizeof *r);
    *race = r;
    if (!r) return err_set(ERR_NOMEM, "no memory for a race");
    r->plan = *plan;
    r->entry = calloc(n + 1, sizeof *r->entry);
    r->runner = calloc(n + 1, sizeof *r->runner);
    r->order = calloc(n + 2, sizeof *r->order);
    r->location = calloc(n + 1, sizeof *r->location);
    r->rng = gsl_rng_alloc(gsl_rng_mt19937);
    if (!r->entry || !r->runner || !r->order || !r->location || !r->rng)
        return err_set(ERR_NOMEM, "no memory for a race of %d", plan->n);
    memcpy(r->entry, plan->entry, n * sizeof *r->entry);
    gsl_rng_set(r->rng, plan->seed);
    for (int c = 0; c < plan->n; c++)
        r->runner[c].state = RACE_IN;
    r->incumbent = -1;
    r->dumps = num_min(RACE_DUMPS_MIN, plan->dumps_n);
    r->end_s = now_s + plan->budget_s;
    r->select_s = now_s + (1 - RACE_LAST_SHARE) * plan->budget_s;
    /* What a run takes is not known yet: one without writing, and one of a yardstick. */
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

/* The incumbent, unless the last rung shows another to be faster: then the fastest of those. */
int race_best(const struct race *r)
{
    double ratio, lo, hi, least = 1;
    int best = r->incumbent;
    if (best < 0 || r->runner[best].state == RACE_FAILED) {
        double sd;
        int freedom;
        best = -1;
        for (int rung = r->rung; rung > 0 && best < 0; rung--) {
            estimate(r, rung, r->location, &sd, &freedom);
            for (int c = 0; c < r->plan.n; c++)
                if (isfinite(r->location[c]) && (best < 0 || r->location[c] < r->location[best]))
                    best = c;
        }
        return best;
    }
    if (!r->last || r->rungs[r->rung - 1].rounds < ROUNDS_LAST) return best;
    for (int c = 0; c < r->plan.n; c++) {
        if (c == r->incumbent || r->runner[c].state == RACE_FAILED) continue;
        if (race_ratio(r, r->rung, c, r->incumbent, &ratio, &lo, &hi) < ROUNDS_LAST) continue;
        if (!(hi < 1) || ratio >= least) continue;
        least = ratio;
        best = c;
    }
    return best;
}

void race_stand(const struct race *r, struct race_standing *to)
{
    const int best = race_best(r);
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
        } else if (s->state == RACE_IN || (s->rung == r->rung && r->rung > 0 &&
                                           s->state != RACE_FAILED && s->state != RACE_CUT)) {
            s->state = s->runs == 0 ? RACE_UNTRIED : s->lo > 1 ? RACE_SLOWER : RACE_TIED;
        }
    }
}

int race_rungs(const struct race *r, const struct race_rung **rung, bool *last)
{
    *rung = r->rungs;
    *last = r->last;
    return r->rung;
}
