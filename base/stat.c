/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/stat.h"

#include <float.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/* Scales the median absolute deviation to the standard deviation of a normal distribution. */
static const double MAD_TO_SD = 1.4826;

/* Relative, of probabilities by incomplete beta functions. */
static const double ROUNDING = 1e-9;

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

double stat_sorted_median(const double *s, int n)
{
    const double median = gsl_stats_median_from_sorted_data(s, 1, (size_t)n);
    return isfinite(median) ? median : s[(n - 1) / 2] / 2 + s[n / 2] / 2; /* a sum too large */
}

/* Multiplies s by a power of two, so that squares are not too large or too small for a number. */
static double scaled_sd(double *s, int n, double mean)
{
    int exponent;
    frexp(fmax(fabs(s[0]), fabs(s[n - 1])), &exponent);
    for (int i = 0; i < n; i++)
        s[i] = ldexp(s[i], -exponent);
    return ldexp(gsl_stats_sd_m(s, 1, (size_t)n, ldexp(mean, -exponent)), exponent);
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
    out->median = stat_sorted_median(s, n);
    out->q3 = gsl_stats_quantile_from_sorted_data(s, 1, count, 0.75);
    out->sd = n > 1 ? scaled_sd(s, n, out->mean) : 0.0;
    free(s);
    return 0;
}

int stat_median(const double *x, int n, double *out)
{
    double *s = sorted_copy(x, n);
    if (!s) return no_memory(n);
    *out = stat_sorted_median(s, n);
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

bool stat_within(double p, double share)
{
    return p <= share * (1 + ROUNDING) + DBL_EPSILON; /* 1 minus a level is off by as much */
}

/* The largest number of values below the median that is less probable than share: coins, n of them. -1: none is. */
static int sign_cut(int n, double share)
{
    int lowest = -1, beyond = n / 2; /* P(at most n / 2 heads) >= 0.5 */
    while (beyond - lowest > 1) {
        const int k = lowest + (beyond - lowest) / 2;
        if (stat_within(gsl_cdf_binomial_P((unsigned)k, 0.5, (unsigned)n), share))
            lowest = k;
        else
            beyond = k;
    }
    return lowest;
}

int stat_median_ci(const double *x, int n, double level, double *lo, double *hi)
{
    ERR_ASSERT(n >= 1 && level > 0 && level < 1);
    const int cut = sign_cut(n, (1 - level) / 2);
    *lo = *hi = NAN;
    if (cut < 0) return 0;
    double *s = sorted_copy(x, n);
    if (!s) return no_memory(n);
    *lo = s[cut];
    *hi = s[n - 1 - cut];
    free(s);
    return 0;
}

double stat_t(double level, double freedom)
{
    return gsl_cdf_tdist_Pinv((1 + level) / 2, freedom);
}

int stat_outliers(const double *x, int n, double limit)
{
    double *away = sorted_copy(x, n);
    if (!away) return no_memory(n);
    double median = stat_sorted_median(away, n);
    for (int i = 0; i < n; i++) {
        away[i] = fabs(x[i] - median);
    }
    gsl_sort(away, 1, (size_t)n);
    double mad = stat_sorted_median(away, n);
    int count = 0;
    for (int i = 0; i < n && mad > 0; i++) {
        count += away[i] > limit * MAD_TO_SD * mad;
    }
    free(away);
    return count;
}
