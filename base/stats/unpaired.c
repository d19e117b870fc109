/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two samples of a quantity that do not belong together value by value, as those of two jobs: the ratio
 * of their medians. The interval is that of Hodges and Lehmann, between two of the sorted ratios of all
 * pairs, exact where the samples differ by a factor alone [Hollander]; the test is Mann and Whitney's.
 * Both take the values of a side to be independent; where they resemble the one before, the distance of the
 * statistic from its centre counts less, by the rule of base/sequential.h. So it does where jobs differ: values of
 * one job are then no independent ones. */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/rank.h"
#include "base/stat.h"
#include "base/stats/request.h"
#include "base/stats/stat_test.h"

enum { QUANTITIES_MAX = 1000, ROUNDS_MIN = 4 };
/* Evidence of each; docs/statistics.md. */
static const double SERIAL_P = 0.3, TREND_P = 0.01, JOBS_P = 0.5;
static const double CORRELATION_MAX = 0.9, NEEDED_MAX = 1e6;

struct unpaired {
    struct values a, b;
    /* The job of each value, as a number; n 0 where that is not told. */
    struct values a_jobs, b_jobs;
    double a_median, b_median;
    double correlation, widening;
    bool drifting;
    double lo, hi, attained; /* of the logarithm of the ratio; NAN without an interval */
    double p;                /* 1 where values drift */
    double needed;           /* values a side that would decide; NAN where that is not known */
};

static void look_at_order(const struct values *v, struct unpaired *u)
{
    struct rank_order order;
    rank_order(v->x, v->n, &order);
    u->drifting = u->drifting || order.trend_p < TREND_P;
    if (order.serial_p < SERIAL_P)
        u->correlation = fmax(u->correlation, fmin(order.serial, CORRELATION_MAX));
    u->widening = sqrt((1 + u->correlation) / (1 - u->correlation));
}

/* Sums of squares of the logarithms, between jobs of a side and within them, with their degrees of freedom. alike: of
 * each side how many values a job has, in the mean over its values. */
struct spread {
    double between, within, alike[2];
    int between_df, within_df;
};

static void add_side(const struct values *v, const struct values *jobs, struct spread *s, int side)
{
    double whole = 0;
    for (int i = 0; i < v->n; i++)
        whole += log(v->x[i]) / v->n;
    s->between_df--;
    for (int i = 0; i < v->n; i++) {
        double mean = 0;
        int n = 0, first = v->n;
        for (int k = v->n - 1; k >= 0; k--)
            if (jobs->x[k] == jobs->x[i]) {
                mean += log(v->x[k]);
                n++;
                first = k;
            }
        mean /= n;
        s->alike[side] += (double)n / v->n;
        s->within += pow(log(v->x[i]) - mean, 2);
        s->between += pow(mean - whole, 2);
        s->between_df += first == i;
        s->within_df += first != i;
    }
}

/* Where jobs differ by more than chance, a side has fewer independent values than values: the variance of its mean is
 * 1 + (m - 1) r times as large, r the share of what jobs have in common, m the values of a job in the mean over
 * values [Kish]; and how much jobs differ is known from few of them, which Student's t has wider. */
static void look_at_jobs(struct unpaired *u, double level)
{
    if (u->a_jobs.n == 0) return;
    struct spread s = {0};
    add_side(&u->a, &u->a_jobs, &s, 0);
    add_side(&u->b, &u->b_jobs, &s, 1);
    if (s.between_df < 1 || s.within_df < 1) return;
    const double between = s.between / s.between_df, within = s.within / s.within_df;
    if (!(between > within) ||
        gsl_cdf_fdist_Q(between / within, s.between_df, s.within_df) >= JOBS_P)
        return;
    /* Variance between jobs by the method of moments, with jobs of unlike sizes [Searle]. */
    const double n = (u->a.n - s.alike[0] + u->b.n - s.alike[1]) / s.between_df;
    const double common = (between - within) / (between + (n - 1) * within);
    const double a = 1.0 / u->a.n, b = 1.0 / u->b.n; /* shares of the variance of the difference */
    const double m = (a * s.alike[0] + b * s.alike[1]) / (a + b), tail = (1 + level) / 2;
    u->widening =
        fmax(u->widening, sqrt(1 + (m - 1) * common) * gsl_cdf_tdist_Pinv(tail, s.between_df) /
                              gsl_cdf_ugaussian_Pinv(tail));
}

/* How far more than half of the n logarithms lie beyond an edge, above it or below. */
static double beyond(const double *d, int n, double edge, bool above)
{
    double count = -n / 2.0;
    for (int i = 0; i < n; i++)
        count += d[i] == edge ? 0.5 : (d[i] > edge) == above ? 1 : 0;
    return fmax(count, 0);
}

/* d: the logarithms of all ratios, sorted; tail: of the statistic, the number of them below an edge. within: the
 * logarithm of the ratio at the edge of what counts as the same. p is that of the edge which the values are beyond:
 * a ratio between the edges has a larger one. */
static void judge(struct unpaired *u, const double *d, const double *tail, double level,
                  double within)
{
    const int n = u->a.n * u->b.n;
    const double ratio = log(u->b_median) - log(u->a_median);
    int cut = -1;
    const double away =
        fmax(beyond(d, n, within, true), beyond(d, n, -within, false)) / u->widening;
    u->p = u->drifting ? 1 : fmin(2 * tail[(int)ceil(n / 2.0 - away)], 1);
    while (2 * (cut + 2) < n && stat_within(tail[cut + 1], (1 - level) / 2))
        cut++;
    u->attained = cut >= 0 ? 1 - 2 * tail[cut] : NAN;
    if (cut >= 0) cut = (int)floor(n / 2.0 - u->widening * (n / 2.0 - cut));
    if (cut < 0 || u->drifting) {
        u->attained = NAN;
        return;
    }
    u->lo = fmin(d[cut], ratio);
    u->hi = fmax(d[n - 1 - cut], ratio);
}

/* From the width so far, which goes with 1 / sqrt(n): until the interval lies beyond the margin, as the ratio does,
 * or within it. */
static void estimate_needed(struct unpaired *u, double within)
{
    const int n = u->a.n < u->b.n ? u->a.n : u->b.n;
    const double distance = fabs(fabs(log(u->b_median) - log(u->a_median)) - within);
    if (u->drifting) return;
    if (isnan(u->lo)) {
        u->needed = n < ROUNDS_MIN ? ROUNDS_MIN : n + 1;
        return;
    }
    const double needed = ceil(n * pow((u->hi - u->lo) / 2 / distance, 2));
    if (needed <= NEEDED_MAX) u->needed = fmax(needed, n + 1);
}

static int measure(struct unpaired *u, double level, double margin)
{
    if (u->a.n > RANK_VALUES_MAX || u->b.n > RANK_VALUES_MAX)
        return err_set(ERR_USAGE, "at most %d values on a side are expected", RANK_VALUES_MAX);
    const size_t n = (size_t)u->a.n * (size_t)u->b.n;
    double *d = calloc(n, sizeof *d), *tail = calloc(n + 1, sizeof *tail);
    int rc = d && tail ? stat_mann_whitney_tails(u->a.n, u->b.n, tail) : mem_error("%zu ratios", n);
    if (rc == 0) rc = stat_median(u->a.x, u->a.n, &u->a_median);
    if (rc == 0) rc = stat_median(u->b.x, u->b.n, &u->b_median);
    if (rc == 0) {
        for (size_t i = 0; i < n; i++)
            d[i] = log(u->b.x[i % (size_t)u->b.n]) - log(u->a.x[i / (size_t)u->b.n]);
        gsl_sort(d, 1, n);
        look_at_order(&u->a, u);
        look_at_order(&u->b, u);
        look_at_jobs(u, level);
        judge(u, d, tail, level, isnan(margin) ? 0 : log1p(margin));
        if (!isnan(margin)) estimate_needed(u, log1p(margin));
    }
    free(tail);
    free(d);
    return rc;
}

static json_t *write_one(const struct unpaired *u, double p_corrected)
{
    return json_pack("{si si so so so so so so so so so so so so}", "a_n", u->a.n, "b_n", u->b.n,
                     "a_median", js_real(u->a_median), "b_median", js_real(u->b_median), "ratio",
                     js_real(u->b_median / u->a_median), "ratio_lo", js_real(exp(u->lo)),
                     "ratio_hi", js_real(exp(u->hi)), "attained", js_real(u->attained), "p",
                     js_real(u->p), "p_corrected", js_real(p_corrected), "correlation",
                     js_real(u->correlation), "widening", js_real(u->widening), "drifting",
                     json_boolean(u->drifting), "rounds_needed", js_real(u->needed));
}

static int read_jobs(struct request *r, const json_t *from, struct unpaired *u)
{
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
        u[i] = (struct unpaired){.lo = NAN, .hi = NAN, .attained = NAN, .needed = NAN};
        rc = request_sides(r, json_array_get(quantities, (size_t)i), false, &u[i].a, &u[i].b);
        if (rc == 0) rc = read_jobs(r, json_array_get(quantities, (size_t)i), &u[i]);
        if (rc == 0) rc = measure(&u[i], level, margin);
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
