/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/stat.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/stat_impl.h"

/* Scales the median absolute deviation to the standard deviation of a normal distribution. */
static const double MAD_TO_SD = 1.4826;

int stat_no_memory(int n)
{
    return err_set(ERR_NOMEM, "no memory for the statistics of %d values", n);
}

double *stat_sorted_copy(const double *x, int n)
{
    ERR_ASSERT(n >= 1);
    double *s = malloc((size_t)n * sizeof *s);
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
    double *s = stat_sorted_copy(x, n);
    if (!s) return stat_no_memory(n);
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
    double *s = stat_sorted_copy(x, n);
    if (!s) return stat_no_memory(n);
    *out = sorted_median(s, n);
    free(s);
    return 0;
}

int stat_quantiles(const double *x, int n, const double *p, int quantiles_n, double *out)
{
    double *s = stat_sorted_copy(x, n);
    if (!s) return stat_no_memory(n);
    for (int i = 0; i < quantiles_n; i++)
        out[i] = gsl_stats_quantile_from_sorted_data(s, 1, (size_t)n, p[i]);
    free(s);
    return 0;
}

/* GSL ends the program when it has no memory, unless its handler is off. */
gsl_rng *stat_rng(uint64_t seed)
{
    gsl_error_handler_t *before = gsl_set_error_handler_off();
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_set_error_handler(before);
    if (rng) gsl_rng_set(rng, seed);
    return rng;
}

double stat_resampled_median(gsl_rng *rng, const double *x, double *draw, int n)
{
    for (int i = 0; i < n; i++) {
        draw[i] = x[gsl_rng_uniform_int(rng, (unsigned)n)];
    }
    gsl_sort(draw, 1, (size_t)n);
    return sorted_median(draw, n);
}

int stat_median_ci(const double *x, int n, double level, uint64_t seed, double *lo, double *hi)
{
    ERR_ASSERT(n >= 1 && level > 0 && level < 1);
    int rc = 0;
    double *draw = malloc(((size_t)n + STAT_RESAMPLES) * sizeof *draw);
    gsl_rng *rng = stat_rng(seed);
    if (!draw || !rng) {
        rc = stat_no_memory(n);
    } else {
        double *median = draw + n;
        for (int b = 0; b < STAT_RESAMPLES; b++) {
            median[b] = stat_resampled_median(rng, x, draw, n);
        }
        gsl_sort(median, 1, STAT_RESAMPLES);
        *lo = gsl_stats_quantile_from_sorted_data(median, 1, STAT_RESAMPLES, (1 - level) / 2);
        *hi = gsl_stats_quantile_from_sorted_data(median, 1, STAT_RESAMPLES, (1 + level) / 2);
    }
    if (rng) gsl_rng_free(rng);
    free(draw);
    return rc;
}

int stat_outliers(const double *x, int n, double limit)
{
    double *away = stat_sorted_copy(x, n);
    if (!away) return stat_no_memory(n);
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
