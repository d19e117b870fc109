/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/compare.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define SEED 1993

void compare_say(json_t *to, const char *fmt, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) >= 0) json_array_append_new(to, json_string(text));
    va_end(args);
    free(text);
}

static double *copy(const double *x, int n)
{
    double *out = malloc((n > 0 ? (size_t)n : 1) * sizeof *out);
    if (out && n > 0) memcpy(out, x, (size_t)n * sizeof *out);
    return out;
}

static void metric_free(struct compare_metric *m)
{
    free(m->name);
    free(m->a);
    free(m->b);
}

int compare_add(struct compare *c, const struct compare_metric *m)
{
    struct compare_metric own = *m;
    own.a = copy(m->a, m->a_n);
    own.b = copy(m->b, m->b_n);
    if (c->metrics_n == c->room) {
        const int room = c->room ? 2 * c->room : 32;
        struct compare_metric *wider = realloc(c->metric, (size_t)room * sizeof *wider);
        if (wider) c->metric = wider;
        if (wider) c->room = room;
    }
    if (!own.name || !own.a || !own.b || c->metrics_n == c->room) {
        metric_free(&own);
        return err_set(ERR_NOMEM, "no memory for the comparison");
    }
    c->metric[c->metrics_n++] = own;
    return 0;
}

void compare_free(struct compare *c)
{
    for (int i = 0; i < c->metrics_n; i++)
        metric_free(&c->metric[i]);
    free(c->metric);
    json_decref(c->reasons);
    json_decref(c->notes);
    c->metric = NULL;
    c->metrics_n = c->room = 0;
    c->reasons = c->notes = NULL;
}

static bool is_testable(const struct compare_metric *m)
{
    return m->a_n >= COMPARE_RUNS_MIN && m->b_n >= COMPARE_RUNS_MIN;
}

/* The logarithms of both samples, one after the other, malloc'ed: ratios are compared as their
 * differences. */
static double *logs_of(const struct compare_metric *m)
{
    double *logs = malloc((size_t)(m->a_n + m->b_n) * sizeof *logs);
    for (int i = 0; logs && i < m->a_n; i++)
        logs[i] = log(m->a[i]);
    for (int i = 0; logs && i < m->b_n; i++)
        logs[m->a_n + i] = log(m->b[i]);
    return logs;
}

/* The rank test assumes nothing about the distribution, but few values among many metrics can never
 * reach its level: Welch's test decides then. */
static int test(struct compare_metric *m, const struct compare *c, int tests_n)
{
    struct stat_test rank, welch;
    double *logs = logs_of(m);
    if (!logs) return err_set(ERR_NOMEM, "no memory for the comparison");
    stat_welch(logs, m->a_n, logs + m->a_n, m->b_n, &welch);
    free(logs);
    TRY(stat_mann_whitney(m->a, m->a_n, m->b, m->b_n, &rank));
    m->p_rank = rank.p;
    m->p_welch = welch.p;
    const bool ranks = tests_n * stat_mann_whitney_min_p(m->a_n, m->b_n) < 1 - c->level;
    m->test = ranks ? "Mann-Whitney" : "Welch";
    m->p = ranks ? m->p_rank : m->p_welch;
    return 0;
}

static int measure(struct compare_metric *m, const struct compare *c, int tests_n)
{
    TRY(stat_median(m->a, m->a_n, &m->a_median));
    TRY(stat_median(m->b, m->b_n, &m->b_median));
    TRY(stat_ratio_ci(m->a, m->a_n, m->b, m->b_n, c->level, SEED, &m->ratio));
    m->p_rank = m->p_welch = m->p = NAN;
    return m->tested ? test(m, c, tests_n) : 0;
}

/* The metric of all that are to be pooled: geometric means, and Welch's test over pairs. */
static int pool(const struct compare *c, struct compare_metric *out)
{
    struct stat_strata s = {0};
    struct stat_test t;
    double a = 0, b = 0, mean, lo, hi;
    for (int i = 0; i < c->metrics_n; i++) {
        const struct compare_metric *m = &c->metric[i];
        if (!m->pooled || !m->tested) continue;
        double *logs = logs_of(m);
        if (!logs) return err_set(ERR_NOMEM, "no memory for the comparison");
        stat_strata_add(&s, logs, m->a_n, logs + m->a_n, m->b_n);
        free(logs);
        a += log(m->a_median);
        b += log(m->b_median);
    }
    if (s.n < 2) return 0;
    stat_strata_test(&s, c->level, &mean, &lo, &hi, &t);
    out->a_median = exp(a / s.n);
    out->b_median = exp(b / s.n);
    out->ratio = (struct stat_ratio){exp(mean), exp(lo), exp(hi)};
    out->p_rank = NAN;
    out->p_welch = out->p = t.p;
    out->test = "Welch, pooled";
    return s.n;
}

static int pool_add(struct compare *c)
{
    struct compare_metric m = {.unit = "s", .pooled = true, .tested = true};
    const int pairs = pool(c, &m);
    if (pairs < 2) return pairs < 0 ? pairs : 0;
    if (asprintf(&m.name, "T_T, mean of the %d below", pairs) < 0) m.name = NULL;
    TRY(compare_add(c, &m));
    m = c->metric[c->metrics_n - 1];
    memmove(&c->metric[1], &c->metric[0], (size_t)(c->metrics_n - 1) * sizeof m);
    c->metric[0] = m;
    return 0;
}

static enum compare_verdict verdict_of(const struct compare_metric *m, const struct compare *c)
{
    const double better_by = 1 / (1 + m->worse_by) - 1;
    const bool matters = m->worse_by > c->threshold || better_by > c->threshold;
    if (!m->tested) return COMPARE_FEW;
    if (!matters) return COMPARE_SAME;
    if (!(m->p < 1 - c->level)) return COMPARE_UNCLEAR;
    return m->worse_by > 0 ? COMPARE_WORSE : COMPARE_BETTER;
}

/* Holm's correction of the p of all metrics that were tested. */
static int correct(struct compare *c)
{
    double *p = malloc((c->metrics_n > 0 ? (size_t)c->metrics_n : 1) * sizeof *p);
    int n = 0, rc;
    if (!p) return err_set(ERR_NOMEM, "no memory for the comparison");
    for (int i = 0; i < c->metrics_n; i++)
        if (c->metric[i].tested) p[n++] = c->metric[i].p;
    rc = stat_holm(p, n);
    n = 0;
    for (int i = 0; rc == 0 && i < c->metrics_n; i++)
        if (c->metric[i].tested) c->metric[i].p = p[n++];
    free(p);
    return rc;
}

int compare_judge(struct compare *c)
{
    int tests_n = 1;
    for (int i = 0; i < c->metrics_n; i++) {
        c->metric[i].tested = is_testable(&c->metric[i]);
        tests_n += c->metric[i].tested;
    }
    for (int i = 0; i < c->metrics_n; i++)
        TRY(measure(&c->metric[i], c, tests_n));
    TRY(pool_add(c));
    TRY(correct(c));
    for (int i = 0; i < c->metrics_n; i++) {
        struct compare_metric *m = &c->metric[i];
        m->worse_by = m->higher_better ? 1 / m->ratio.ratio - 1 : m->ratio.ratio - 1;
        m->verdict = verdict_of(m, c);
    }
    return 0;
}

int compare_docs(struct compare *c, const struct docs *a, const struct docs *b)
{
    c->metrics_n = c->room = 0;
    c->metric = NULL;
    c->reasons = json_array();
    c->notes = json_array();
    if (!c->reasons || !c->notes) return err_set(ERR_NOMEM, "no memory for the comparison");
    TRY(compare_bt(c, a, b));
    TRY(compare_values(c, a, b));
    if (c->metrics_n == 0 && json_array_size(c->reasons) == 0)
        compare_say(c->reasons, "A holds results of %s, B of %s", a->doc[0].kind, b->doc[0].kind);
    return compare_judge(c);
}

bool compare_has(const struct compare *c, enum compare_verdict v)
{
    for (int i = 0; i < c->metrics_n; i++)
        if (c->metric[i].verdict == v) return true;
    return false;
}

bool compare_is_possible(const struct compare *c)
{
    bool judged = false;
    for (int i = 0; i < c->metrics_n; i++)
        judged = judged || c->metric[i].tested;
    return json_array_size(c->reasons) == 0 && judged;
}

bool compare_is_worse(const struct compare *c)
{
    return compare_is_possible(c) && compare_has(c, COMPARE_WORSE);
}
