/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/stat.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/* Scales the median absolute deviation to the standard deviation of a normal distribution. */
static const double MAD_TO_SD = 1.4826;

enum { RESAMPLES = 4000 };

static int no_memory(int n)
{
    return mem_error("the statistics of %d values", n);
}

/* Sorted, to be freed; NULL without memory. */
static double *sorted_copy(const double *x, int n)
{
    ERR_ASSERT(n >= 1);
    double *s = calloc((size_t)n, sizeof *s);
    if (!s) return NULL;
    memcpy(s, x, (size_t)n * sizeof *s);
    gsl_sort(s, 1, (size_t)n);
    return s;
}

static double sorted_median(const double *s, int n)
{
    return gsl_stats_median_from_sorted_data(s, 1, (size_t)n);
}

int stat_summary(const double *x, int n, struct stat_summary *out)
{
    double *s = sorted_copy(x, n);
    if (!s) return no_memory(n);
    size_t count = (size_t)n;
    out->n = n;
    out->min = s[0];
    out->max = s[n - 1];
    out->mean = gsl_stats_mean(s, 1, count);
    out->q1 = gsl_stats_quantile_from_sorted_data(s, 1, count, 0.25);
    out->median = sorted_median(s, n);
    out->q3 = gsl_stats_quantile_from_sorted_data(s, 1, count, 0.75);
    out->sd = n > 1 ? gsl_stats_sd_m(s, 1, count, out->mean) : 0.0;
    free(s);
    return 0;
}

int stat_median(const double *x, int n, double *out)
{
    double *s = sorted_copy(x, n);
    if (!s) return no_memory(n);
    *out = sorted_median(s, n);
    free(s);
    return 0;
}

int stat_quantiles(const double *x, int n, const double *p, int quantiles_n, double *out)
{
    double *s = sorted_copy(x, n);
    if (!s) return no_memory(n);
    for (int i = 0; i < quantiles_n; i++)
        out[i] = gsl_stats_quantile_from_sorted_data(s, 1, (size_t)n, p[i]);
    free(s);
    return 0;
}

/* The median of n values drawn from x[0..n-1] with replacement. draw: [out] room for n values. */
static double resampled_median(gsl_rng *rng, const double *x, double *draw, int n)
{
    for (int i = 0; i < n; i++)
        draw[i] = x[gsl_rng_uniform_int(rng, (unsigned)n)];
    gsl_sort(draw, 1, (size_t)n);
    return sorted_median(draw, n);
}

/* Interval of the median of x or, where there is a y, of the median of y over that of x. */
static int bootstrap(const double *x, int nx, const double *y, int ny, double level, uint64_t seed,
                     double *lo, double *hi)
{
    ERR_ASSERT(nx >= 1 && level > 0 && level < 1);
    int rc = 0;
    const int longest = nx > ny ? nx : ny;
    /* GSL ends the program when it has no memory, unless its handler is off. */
    gsl_error_handler_t *before = gsl_set_error_handler_off();
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_set_error_handler(before);
    double *draw = malloc(((size_t)longest + RESAMPLES) * sizeof *draw);
    if (!draw || !rng) {
        rc = no_memory(nx + ny);
    } else {
        double *found = draw + longest;
        gsl_rng_set(rng, seed);
        for (int b = 0; b < RESAMPLES; b++) {
            found[b] = resampled_median(rng, x, draw, nx);
            if (y) found[b] = resampled_median(rng, y, draw, ny) / found[b];
        }
        gsl_sort(found, 1, RESAMPLES);
        *lo = gsl_stats_quantile_from_sorted_data(found, 1, RESAMPLES, (1 - level) / 2);
        *hi = gsl_stats_quantile_from_sorted_data(found, 1, RESAMPLES, (1 + level) / 2);
    }
    if (rng) gsl_rng_free(rng);
    free(draw);
    return rc;
}

int stat_median_ci(const double *x, int n, double level, uint64_t seed, double *lo, double *hi)
{
    return bootstrap(x, n, NULL, 0, level, seed, lo, hi);
}

int stat_ratio_ci(const double *x, int nx, const double *y, int ny, double level, uint64_t seed,
                  double *lo, double *hi)
{
    ERR_ASSERT(ny >= 1);
    return bootstrap(x, nx, y, ny, level, seed, lo, hi);
}

double stat_t(double level, int freedom)
{
    return gsl_cdf_tdist_Pinv((1 + level) / 2, freedom);
}

double stat_values_needed(int n, double median, double lo, double hi, double goal)
{
    const double away = fabs(median - goal);
    const double half = median > goal ? median - lo : hi - median;
    if (!(away > 0)) return INFINITY;
    return fmax(n + 1, ceil(n * (half / away) * (half / away)));
}

int stat_outliers(const double *x, int n, double limit)
{
    double *away = sorted_copy(x, n);
    if (!away) return no_memory(n);
    double median = sorted_median(away, n);
    for (int i = 0; i < n; i++) {
        away[i] = fabs(x[i] - median);
    }
    gsl_sort(away, 1, (size_t)n);
    double mad = sorted_median(away, n);
    int count = 0;
    for (int i = 0; i < n && mad > 0; i++) {
        count += away[i] > limit * MAD_TO_SD * mad;
    }
    free(away);
    return count;
}
