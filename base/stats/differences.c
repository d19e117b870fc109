/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several quantities, each measured repeatedly on two sides: which of them differ beyond chance. A
 * test decides about each, Welch's test over all that are to be pooled about their average, and
 * Holm's correction makes the p of all of them stand together. */
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/stats/request.h"
#include "base/stats/stat_test.h"

enum { RUNS_MIN = 3 }; /* values on a side that a test needs, where the request does not say */

struct pair {
    struct values a, b;
    bool pool, tested;
    double p_rank, p_welch, p;
    const char *test;
};

/* All that are pooled, as one. The means are those of logarithms, of all values of a pair, then over
 * the pairs: what Welch's test tests, so that ratio, interval and p are of one estimate. */
struct pooled {
    int n;
    struct stat_strata_means means;
    double p;
};

/* Ratios are compared as differences of logarithms. */
static double *logs_of(const struct pair *p)
{
    double *logs = mem_new(p->a.n + p->b.n, sizeof *logs, "the differences");
    for (int i = 0; logs && i < p->a.n; i++)
        logs[i] = log(p->a.x[i]);
    for (int i = 0; logs && i < p->b.n; i++)
        logs[p->a.n + i] = log(p->b.x[i]);
    return logs;
}

/* The rank test assumes nothing about the distribution, but few values among many pairs can never
 * reach its level: Welch's test decides then. pool: takes what is to be pooled. */
static int test_pair(struct pair *p, double level, int tests_n, struct stat_strata *pool)
{
    struct stat_test rank, welch;
    double *logs = logs_of(p);
    if (!logs) return ERR_NOMEM;
    stat_welch(logs, p->a.n, logs + p->a.n, p->b.n, &welch);
    if (p->pool) stat_strata_add(pool, logs, p->a.n, logs + p->a.n, p->b.n);
    free(logs);
    TRY(stat_mann_whitney(p->a.x, p->a.n, p->b.x, p->b.n, &rank));
    const bool ranks = tests_n * stat_mann_whitney_min_p(p->a.n, p->b.n) < 1 - level;
    p->test = ranks ? "Mann-Whitney" : "Welch";
    p->p_rank = rank.p;
    p->p_welch = welch.p;
    p->p = ranks ? rank.p : welch.p;
    return 0;
}

static int read_pairs(struct request *r, struct pair *pair, int n, int runs_min)
{
    for (int i = 0; i < n; i++) {
        const json_t *one = json_array_get(json_object_get(r->json, "pairs"), (size_t)i);
        pair[i] = (struct pair){.p = NAN, .p_rank = NAN, .p_welch = NAN};
        TRY(request_sides(r, one, false, &pair[i].a, &pair[i].b));
        if (json_object_get(one, "pool")) TRY(js_get_bool(one, r->where, "pool", &pair[i].pool));
        pair[i].tested = pair[i].a.n >= runs_min && pair[i].b.n >= runs_min;
    }
    return 0;
}

/* The pairs with their tests. */
static int write_pairs(const struct pair *pair, int n, double level, uint64_t seed,
                       const struct pooled *pool, double pooled_p, json_t **out)
{
    json_t *list = json_array(), *pooled = json_null();
    *out = json_pack("{so}", "pairs", list);
    for (int i = 0; i < n; i++) {
        const struct pair *p = &pair[i];
        json_t *one;
        TRY(answer_ratio(&p->a, &p->b, level, seed, &one));
        js_set(one, "tested", json_boolean(p->tested));
        js_set(one, "p_mann_whitney", js_real(p->p_rank));
        js_set(one, "p_welch", js_real(p->p_welch));
        js_set(one, "p_corrected", js_real(p->p));
        js_set(one, "test", js_text(p->test));
        json_array_append_new(list, one);
    }
    if (pool->n >= 2) {
        const double a = exp(pool->means.x), b = exp(pool->means.y);
        pooled =
            json_pack("{si so so so so so so so ss}", "n", pool->n, "a_mean", js_real(a), "b_mean",
                      js_real(b), "ratio", js_real(b / a), "ratio_lo", js_real(exp(pool->means.lo)),
                      "ratio_hi", js_real(exp(pool->means.hi)), "p_welch", js_real(pool->p),
                      "p_corrected", js_real(pooled_p), "test", "Welch, pooled");
    }
    return json_object_set_new(*out, "pooled", pooled) < 0 ? mem_error("the answer") : 0;
}

static int judge(struct request *r, struct pair *pair, int n, double *p, json_t **out)
{
    struct stat_strata strata = {0};
    struct pooled pool = {0};
    double level;
    uint64_t seed;
    int64_t runs_min = RUNS_MIN;
    int tests_n = 1, m = 0;
    TRY(js_get_real(r->json, r->where, "level", &level));
    TRY(request_level(r, &level, &seed));
    if (json_object_get(r->json, "runs_min"))
        TRY(js_get_int(r->json, r->where, "runs_min", 2, STATS_VALUES_MAX, &runs_min));
    TRY(read_pairs(r, pair, n, (int)runs_min));
    for (int i = 0; i < n; i++)
        tests_n += pair[i].tested;
    for (int i = 0; i < n; i++) {
        if (!pair[i].tested) continue;
        TRY(test_pair(&pair[i], level, tests_n, &strata));
        p[m++] = pair[i].p;
    }
    if (strata.n >= 2) {
        struct stat_test t;
        stat_strata_test(&strata, level, &pool.means, &t);
        pool.n = strata.n;
        p[m++] = pool.p = t.p;
    }
    TRY(stat_holm(p, m));
    m = 0;
    for (int i = 0; i < n; i++)
        if (pair[i].tested) pair[i].p = p[m++];
    return write_pairs(pair, n, level, seed, &pool, p[m], out);
}

int answer_differences(struct request *r, json_t **out)
{
    json_t *pairs;
    TRY(js_get_array(r->json, r->where, "pairs", &pairs));
    const size_t n = json_array_size(pairs);
    if (n > STATS_VALUES_MAX)
        return err_set(ERR_USAGE, "%s: \"pairs\": at most %d are expected", r->where,
                       STATS_VALUES_MAX);
    struct pair *pair = mem_new((int64_t)n + 1, sizeof *pair, "the differences");
    double *p = mem_new((int64_t)n + 1, sizeof *p, "the differences");
    const int rc = pair && p ? judge(r, pair, (int)n, p, out) : ERR_NOMEM;
    free(p);
    free(pair);
    return rc;
}
