/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer about the balance from pairs that no program saw together, as the rounds of several jobs: the
 * rule of base/balance.h: with one look at all of them, or with those of rounds that go on until it is decided. */
#include "base/balance.h"

#include <math.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/stat.h"
#include "base/stats/jobs.h"
#include "base/stats/plan.h"
#include "base/stats/request.h"

/* What is known of the rounds. */
struct rounds {
    struct values zeta, data, disturbed, shared;
    struct values zeta_judged, data_judged; /* the same, or medians of jobs where these count */
    struct balance_estimate of_zeta, of_data;
    double zeta_median, data_median;
};

static int median_of(const double *x, int n, double *to)
{
    *to = NAN;
    return n > 0 ? stat_median(x, n, to) : 0;
}

/* Medians over the rounds that were not disturbed. [out] e. Sorts these to the front of zeta and data, so it
 * comes last. */
static int evidence_of(struct rounds *r, struct balance_rounds *e)
{
    int n = 0;
    *e = (struct balance_rounds){.rounds = r->zeta.n};
    for (int i = 0; i < r->zeta.n; i++) {
        e->disturbed += r->disturbed.x[i] != 0;
        e->shared += r->shared.x[i] != 0;
        if (r->disturbed.x[i] != 0) continue;
        r->zeta.x[n] = r->zeta.x[i];
        r->data.x[n++] = r->data.x[i];
    }
    TRY(median_of(r->zeta.x, n, &e->zeta));
    return median_of(r->data.x, n, &e->data);
}

static json_t *part(double median, const struct balance_estimate *e)
{
    return json_pack("{so so so}", "median", js_real(median), "lo", js_real(e->lo), "hi",
                     js_real(e->hi));
}

static int read_rounds(struct request *r, struct rounds *to)
{
    static const char *const names[] = {"zeta", "data", "disturbed", "shared"};
    struct values *const all[] = {&to->zeta, &to->data, &to->disturbed, &to->shared};
    for (int i = 0; i < 4; i++) {
        TRY(request_values(r, r->json, names[i], 1, all[i]));
        TRY(request_same_length(r, "zeta", to->zeta.n, names[i], all[i]->n));
    }
    TRY(jobs_medians(r, r->json, &to->zeta, &to->zeta_judged));
    TRY(jobs_medians(r, r->json, &to->data, &to->data_judged));
    if (to->zeta.n <= SEQUENTIAL_ROUNDS_MAX) return 0;
    return err_set(ERR_USAGE, "%s: at most %d rounds are expected, there are %d", r->where,
                   SEQUENTIAL_ROUNDS_MAX, to->zeta.n);
}

/* One look at n rounds, the number of which had nothing to do with their values, or those of rounds that were to go on
 * until it is decided. */
static int read_plan(struct request *r, int n, struct sequential_plan *plan)
{
    double level;
    TRY(request_level(r, &level));
    if (isnan(level)) level = 1 - BALANCE_ERROR;
    if (!plan_given(r)) return sequential_plan_at(1 - level, &n, 1, plan);
    TRY(plan_of(r, 1 - level, plan));
    return plan_covers(r, plan, n);
}

/* Several jobs' rounds do not end at the look that decides: what is said of all of them has no interval where the last
 * look has none, and one that holds their median. */
static void fit(struct balance_estimate *e, double median, const double at[BALANCE_BOUNDS])
{
    e->lo = e->none_at_last ? NAN : fmin(e->lo, median);
    e->hi = e->none_at_last ? NAN : fmax(e->hi, median);
    for (int b = 0; b < BALANCE_BOUNDS; b++)
        if (!(e->side[b] > 0 ? e->lo > at[b] : e->hi <= at[b])) e->side[b] = 0;
}

/* One quantity. one_look: how many rounds there are was fixed in advance, so that a few jobs may be judged by Student's
 * t. */
static int look(const struct sequential_plan *plan, const struct values *judged, int rounds,
                bool one_look, struct balance_estimate *to, double *median)
{
    static const double at[BALANCE_BOUNDS] = {
        [BALANCE_AT_NEEDLESS] = BALANCE_NEEDLESS, [BALANCE_AT_GOAL] = BALANCE_GOAL};
    TRY(balance_look(plan, judged->x, judged->n, to));
    /* Of the rounds that the interval is of. */
    TRY(stat_median(judged->x, isfinite(to->lo) ? to->looked_at : judged->n, median));
    if (one_look && jobs_few(judged, rounds)) {
        jobs_interval(judged, 1 - plan->error, &to->lo, &to->hi);
        for (int b = 0; b < BALANCE_BOUNDS; b++)
            to->side[b] = to->lo > at[b] ? 1 : to->hi <= at[b] ? -1 : 0;
    } else if (isfinite(to->lo)) {
        fit(to, *median, at);
    }
    return 0;
}

int answer_balance(struct request *r, json_t **out)
{
    static const char *const code[] = {[BALANCE_UNDECIDED] = "undecided",
                                       [BALANCE_MET] = "balanced",
                                       [BALANCE_FASTER] = "io-faster-than-needed",
                                       [BALANCE_MISSED] = "io-too-slow",
                                       [BALANCE_NOT_DATA] = "not-measurable"};
    struct rounds rounds;
    struct balance_rounds evidence;
    struct sequential_plan plan;
    char why[BALANCE_WHY];
    TRY(read_rounds(r, &rounds));
    const bool one_look = !plan_given(r); /* not until it is decided */
    const int n = rounds.zeta.n, jobs = rounds.zeta_judged.n;
    TRY(read_plan(r, jobs, &plan));
    TRY(look(&plan, &rounds.zeta_judged, n, one_look, &rounds.of_zeta, &rounds.zeta_median));
    TRY(look(&plan, &rounds.data_judged, n, one_look, &rounds.of_data, &rounds.data_median));
    balance_mean(rounds.zeta.x, n, &rounds.of_zeta); /* of all, also where jobs count */
    TRY(evidence_of(&rounds, &evidence));
    const enum balance found = balance_of(&rounds.of_zeta, &rounds.of_data);
    const char *reason =
        balance_spoiled(&evidence, found, rounds.of_zeta.conflict || rounds.of_data.conflict,
                        "rounds", "while they only computed", why);
    const double needed = found == BALANCE_UNDECIDED && jobs == n
                              ? balance_needed(&rounds.of_zeta, &rounds.of_data, rounds.zeta_median)
                              : NAN;
    const bool settled = rounds.of_zeta.looked_at > 0 && (reason || found != BALANCE_UNDECIDED) &&
                         !balance_may_pass(reason);
    *out = json_pack(
        "{si so so ss so so so so si so so sb}", "n", n, "jobs",
        jobs < n ? json_integer(jobs) : json_null(), "looked_at",
        rounds.of_zeta.looked_at > 0 ? json_integer(rounds.of_zeta.looked_at) : json_null(),
        "answer", reason ? "not-measurable" : code[found], "reason",
        js_text(reason                      ? reason
                : found == BALANCE_NOT_DATA ? "not-data"
                                            : NULL),
        "why", js_text(reason ? why : NULL), "zeta", part(rounds.zeta_median, &rounds.of_zeta),
        "data", part(rounds.data_median, &rounds.of_data), "above_n", rounds.of_zeta.above, "mean",
        js_real(rounds.of_zeta.mean), "rounds_needed", js_real(needed), "settled", settled);
    if (found == BALANCE_FASTER)
        js_set(*out, "data_factor",
               js_real(balance_spare(&rounds.of_zeta, &rounds.of_data, INFINITY)));
    return *out ? 0 : mem_error("the answer");
}
