/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two samples of a quantity that do not belong together value by value, as those of two jobs: the ratio
 * of their medians. The interval is that of Hodges and Lehmann, between two of the sorted ratios of all
 * pairs, exact where the samples differ by a factor alone [Hollander]; the test is Mann and Whitney's.
 * Both take the values of a side to be independent; where they resemble the one before, the distance of the
 * statistic from its centre counts less, by the rule of base/sequential.h. Values of one job are no independent ones:
 * where there are several jobs with several values, each counts once, by a median (base/stats/jobs.h), and Student's t
 * of the logarithms takes the place of ranks. What medians say nothing of, a share of the values far on the bad side of
 * theirs, is counted for each side, with Fisher's exact test. */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/rank.h"
#include "base/stat.h"
#include "base/stats/jobs.h"
#include "base/stats/request.h"
#include "base/stats/stat_test.h"

enum { QUANTITIES_MAX = 1000 };
/* Evidence of each; docs/statistics.md. */
static const double SERIAL_P = 0.3, TREND_P = 0.01, JOBS_TREND_P = 0.025;
static const double CORRELATION_MAX = 0.9, NEEDED_MAX = 1e6;
static const double ROUNDING = 1e-12; /* of means of logarithms */

struct unpaired {
    struct values a, b;
    /* The job of each value, as a number; n 0 where that is not told. */
    struct values a_jobs, b_jobs;
    double a_median, b_median;
    struct values x, y; /* what is judged */
    bool jobs;          /* these are medians of jobs */
    double correlation, widening;
    bool drifting;
    double lo, hi, attained; /* of the logarithm of the ratio; NAN without an interval */
    double p;                /* 1 where values drift */
    double needed;           /* values a side that would decide; NAN where that is not known */
    bool high;               /* higher values are better */
    int a_far, b_far;        /* values far on the bad side of the median of their own side */
    double far_p;            /* that such shares are the same; NAN where jobs count */
};

struct edges {
    double level, within; /* within: logarithm of the ratio up to which A and B count as the same */
};

static void look_at_order(const struct values *v, struct unpaired *u)
{
    struct rank_order order;
    rank_order(v->x, v->n, &order);
    u->drifting = u->drifting || order.trend_p < (u->jobs ? JOBS_TREND_P : TREND_P);
    if (order.serial_p < SERIAL_P)
        u->correlation = fmax(u->correlation, fmin(order.serial, CORRELATION_MAX));
    u->widening = sqrt((1 + u->correlation) / (1 - u->correlation));
}

/* How far more than half of the n logarithms lie beyond an edge, above it or below. */
static double beyond(const double *d, int n, double edge, bool above)
{
    double count = -n / 2.0;
    for (int i = 0; i < n; i++)
        count += d[i] == edge ? 0.5 : (d[i] > edge) == above ? 1 : 0;
    return fmax(count, 0);
}

/* d: the logarithms of all ratios, sorted; tail: of the statistic, the number of them below an edge. p is that of the
 * edge which the values are beyond. */
static void judge(struct unpaired *u, const double *d, const double *tail, const struct edges *e)
{
    const int n = u->x.n * u->y.n;
    int cut = -1;
    const double away =
        fmax(beyond(d, n, e->within, true), beyond(d, n, -e->within, false)) / u->widening;
    u->p = fmin(2 * tail[(int)ceil(n / 2.0 - away)], 1);
    while (2 * (cut + 2) < n && stat_within(tail[cut + 1], (1 - e->level) / 2))
        cut++;
    u->attained = cut >= 0 ? 1 - 2 * tail[cut] : NAN;
    if (cut >= 0) cut = (int)floor(n / 2.0 - u->widening * (n / 2.0 - cut));
    if (cut < 0) {
        u->attained = NAN;
        return;
    }
    u->lo = d[cut];
    u->hi = d[n - 1 - cut];
}

static int judge_ranks(struct unpaired *u, const struct edges *e)
{
    const struct values *x = &u->x, *y = &u->y;
    const size_t n = (size_t)x->n * (size_t)y->n;
    double *d = calloc(n, sizeof *d), *tail = calloc(n + 1, sizeof *tail);
    const int rc =
        d && tail ? stat_mann_whitney_tails(x->n, y->n, tail) : mem_error("%zu ratios", n);
    if (rc == 0) {
        for (size_t i = 0; i < n; i++)
            d[i] = log(y->x[i % (size_t)y->n]) - log(x->x[i / (size_t)y->n]);
        gsl_sort(d, 1, n);
        judge(u, d, tail, e);
    }
    free(tail);
    free(d);
    return rc;
}

/* Mean of the logarithms, and the sum of squares about it. */
static double mean_log(const struct values *v, double *squares)
{
    double mean = 0;
    *squares = 0;
    for (int i = 0; i < v->n; i++)
        mean += log(v->x[i]) / v->n;
    for (int i = 0; i < v->n; i++)
        *squares += pow(log(v->x[i]) - mean, 2);
    return mean;
}

/* Student's t of the logarithms. Each side has its own variance, with Welch and Satterthwaite's degrees of freedom, but no
 * more of them than with as many jobs on the other side: with a common variance t would be too large where the side that
 * varies more has fewer jobs, or both have few. One job says nothing of how its side varies: then as the other one. */
static void judge_jobs(struct unpaired *u, const struct edges *e)
{
    double a, b;
    const int m = u->x.n, n = u->y.n, least = m < n ? m : n;
    const double distance = -mean_log(&u->x, &a) + mean_log(&u->y, &b);
    double freedom = m + n - 2, square = (a + b) / freedom * (1.0 / m + 1.0 / n);
    if (least > 1) {
        const double of_a = a / (m - 1) / m, of_b = b / (n - 1) / n;
        square = of_a + of_b;
        freedom = 2.0 * (least - 1);
        if (square > 0)
            freedom =
                fmin(freedom, square * square / (of_a * of_a / (m - 1) + of_b * of_b / (n - 1)));
    }
    const double error = u->widening * sqrt(square), reach = stat_t(e->level, freedom) * error,
                 away = fabs(distance) - e->within;
    u->p = away > ROUNDING ? 2 * gsl_cdf_tdist_Q(away / error, freedom) : 1;
    if (!isfinite(exp(distance + reach))) return; /* an end that is no number */
    u->attained = e->level;
    u->lo = distance - reach;
    u->hi = distance + reach;
}

/* From the width so far, which goes with 1 / sqrt(n): until the interval lies beyond the margin, as the ratio does,
 * or within it. Without an interval that is not known. */
static void estimate_needed(struct unpaired *u, double ratio, double within)
{
    const int n = u->a.n < u->b.n ? u->a.n : u->b.n;
    const double needed = ceil(n * pow((u->hi - u->lo) / 2 / fabs(fabs(ratio) - within), 2));
    if (needed <= NEEDED_MAX) u->needed = fmax(needed, n + 1);
}

static int fewest(const struct values *jobs)
{
    int least = jobs->n;
    for (int i = 0; i < jobs->n; i++) {
        int n = 0;
        for (int k = 0; k < jobs->n; k++)
            n += jobs->x[k] == jobs->x[i];
        least = n < least ? n : least;
    }
    return least;
}

/* What is judged: all values, or the medians of jobs where there are several on a side and one has several values. They
 * are medians of as many values each, so that jobs of both sides vary alike. */
static int choose_values(struct request *r, struct unpaired *u)
{
    u->x = u->a;
    u->y = u->b;
    if (u->a_jobs.n == 0) return 0;
    struct values x, y;
    const int a = fewest(&u->a_jobs), b = fewest(&u->b_jobs), most = a < b ? a : b;
    TRY(jobs_medians_of(r, &u->a, &u->a_jobs, most, &x));
    TRY(jobs_medians_of(r, &u->b, &u->b_jobs, most, &y));
    u->jobs = x.n + y.n > 2 && x.n + y.n < u->a.n + u->b.n;
    if (!u->jobs) return 0;
    u->x = x;
    u->y = y;
    return 0;
}

static void count_far(struct unpaired *u)
{
    u->a_far = stat_far(u->a.x, u->a.n, u->a_median, !u->high);
    u->b_far = stat_far(u->b.x, u->b.n, u->b_median, !u->high);
    if (!u->jobs) u->far_p = stat_fisher(u->a_far, u->a.n, u->b_far, u->b.n);
}

static double mean_ratio(const struct values *a, const struct values *b)
{
    return gsl_stats_mean(b->x, 1, (size_t)b->n) / gsl_stats_mean(a->x, 1, (size_t)a->n);
}

static int measure(struct request *r, struct unpaired *u, double level, double margin)
{
    const struct edges e = {.level = level, .within = isnan(margin) ? 0 : log1p(margin)};
    if (u->a.n > RANK_VALUES_MAX || u->b.n > RANK_VALUES_MAX)
        return err_set(ERR_USAGE, "at most %d values on a side are expected", RANK_VALUES_MAX);
    TRY(stat_median(u->a.x, u->a.n, &u->a_median));
    TRY(stat_median(u->b.x, u->b.n, &u->b_median));
    TRY(choose_values(r, u));
    count_far(u);
    look_at_order(&u->x, u);
    look_at_order(&u->y, u);
    if (u->drifting) {
        u->p = 1;
        return 0;
    }
    if (u->jobs)
        judge_jobs(u, &e);
    else
        TRY(judge_ranks(u, &e));
    const double ratio = log(u->b_median) - log(u->a_median);
    if (!isnan(u->lo)) {
        u->lo = fmin(u->lo, ratio);
        u->hi = fmax(u->hi, ratio);
    }
    if (!isnan(margin) && !u->jobs) estimate_needed(u, ratio, e.within);
    return 0;
}

static const char *method_of(const struct unpaired *u)
{
    if (u->jobs) return "Student's t";
    return u->x.n <= STAT_EXACT_MAX && u->y.n <= STAT_EXACT_MAX ? "ranks, exact"
                                                                : "ranks, normal approximation";
}

static json_t *write_one(const struct unpaired *u, double p_corrected)
{
    return json_pack("{si si so ss so so so so so so so so so so so so si si so so}", "a_n", u->a.n,
                     "b_n", u->b.n, "jobs", u->jobs ? json_integer(u->x.n + u->y.n) : json_null(),
                     "method", method_of(u), "a_median", js_real(u->a_median), "b_median",
                     js_real(u->b_median), "ratio", js_real(u->b_median / u->a_median), "ratio_lo",
                     js_real(exp(u->lo)), "ratio_hi", js_real(exp(u->hi)), "attained",
                     js_real(u->attained), "p", js_real(u->p), "p_corrected", js_real(p_corrected),
                     "correlation", js_real(u->correlation), "widening", js_real(u->widening),
                     "drifting", json_boolean(u->drifting), "rounds_needed", js_real(u->needed),
                     "a_far_n", u->a_far, "b_far_n", u->b_far, "far_p", js_real(u->far_p),
                     "mean_ratio", js_real(mean_ratio(&u->a, &u->b)));
}

/* What may stand beside the values. */
static int read_more(struct request *r, const json_t *from, struct unpaired *u)
{
    if (json_object_get(from, "higher_is_better"))
        TRY(js_get_bool(from, r->where, "higher_is_better", &u->high));
    if (!json_object_get(from, "a_jobs") && !json_object_get(from, "b_jobs")) return 0;
    TRY(request_values(r, from, "a_jobs", 1, &u->a_jobs));
    TRY(request_values(r, from, "b_jobs", 1, &u->b_jobs));
    TRY(request_same_length(r, "a_jobs", u->a_jobs.n, "a", u->a.n));
    return request_same_length(r, "b_jobs", u->b_jobs.n, "b", u->b.n);
}

static int answer_all(struct request *r, const json_t *quantities, double *p, json_t **out)
{
    const int n = (int)json_array_size(quantities);
    double level, margin = NAN;
    TRY(js_get_real(r->json, r->where, "level", &level));
    TRY(request_level(r, &level));
    if (json_object_get(r->json, "margin")) {
        TRY(js_get_real(r->json, r->where, "margin", &margin));
        if (!(margin >= 0))
            return err_set(ERR_USAGE, "%s: \"margin\": a share from 0 on is expected", r->where);
    }
    struct unpaired *u = mem_new(n, sizeof *u, "%d quantities", n);
    if (!u) return ERR_NOMEM;
    int rc = 0;
    for (int i = 0; i < n && rc == 0; i++) {
        u[i] =
            (struct unpaired){.lo = NAN, .hi = NAN, .attained = NAN, .needed = NAN, .far_p = NAN};
        rc = request_sides(r, json_array_get(quantities, (size_t)i), false, &u[i].a, &u[i].b);
        if (rc == 0) rc = read_more(r, json_array_get(quantities, (size_t)i), &u[i]);
        if (rc == 0) rc = measure(r, &u[i], level, margin);
        p[i] = u[i].p;
    }
    if (rc == 0) rc = stat_holm(p, n);
    json_t *list = json_array();
    for (int i = 0; i < n && rc == 0; i++)
        json_array_append_new(list, write_one(&u[i], p[i]));
    *out = json_pack("{so so}", "level", js_real(level), "quantities", list);
    free(u);
    return rc;
}

int answer_unpaired(struct request *r, json_t **out)
{
    json_t *quantities;
    TRY(js_get_array(r->json, r->where, "quantities", &quantities));
    const size_t n = json_array_size(quantities);
    if (n < 1 || n > QUANTITIES_MAX)
        return err_set(ERR_USAGE, "%s: \"quantities\": 1 to %d are expected", r->where,
                       QUANTITIES_MAX);
    double *p = mem_new((int64_t)n, sizeof *p, "%zu quantities", n);
    const int rc = p ? answer_all(r, quantities, p, out) : ERR_NOMEM;
    free(p);
    return rc;
}
