/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_STAT_H
#define BASE_STAT_H
/* Layer 0. Statistics of repeated measurements, on GSL; tests and fits are in base/stats/.
 * Samples are small (tens of values), finite and borrowed; nothing here changes them. All functions
 * are local. */
#include <stdbool.h>

struct stat_summary {
    int n;
    double min, max, mean;
    double q1, median, q3; /* quartiles, linear between order statistics */
    double sd; /* of the sample (divisor n - 1); 0 when n is 1, INFINITY when it is too large */
};

/* Summary of x[0..n-1], n >= 1. Returns 0 or ERR_NOMEM. */
int stat_summary(const double *x, int n, struct stat_summary *out);

/* Median of x[0..n-1], n >= 1; the mean of the two middle values when n is even. Returns 0 or
 * ERR_NOMEM. */
int stat_median(const double *x, int n, double *out);

/* The same of s[0..n-1] in ascending order. */
double stat_sorted_median(const double *s, int n);

/* Quantiles of x[0..n-1], n >= 1: out[i] is that of the share p[i], 0.9 for 90 %, linear between
 * order statistics. out may be p. Returns 0 or ERR_NOMEM. */
int stat_quantiles(const double *x, int n, const double *p, int quantiles_n, double *out);

/* Whether a probability is a share at the most: both are the results of calculations, so more by rounding alone is none. */
bool stat_within(double p, double share);

/* Confidence interval of the median by the sign test: between two of the sorted values, exact for independent values of
 * any distribution (docs/statistics.md). It covers the median with at least level, 0.95 for 95 %. [out] lo, hi: NaN
 * where n values have no such interval, of 95 % below 6 values. Returns 0 or ERR_NOMEM. */
int stat_median_ci(const double *x, int n, double level, double *lo, double *hi);

/* Student's t: a share level of a t distribution with freedom >= 1 degrees of freedom lies between -t
 * and t. */
double stat_t(double level, double freedom);

/* Number of values further than limit scaled median absolute deviations (1.4826 MAD, the standard
 * deviation of a normal sample) from the median; 3.5 is a usual limit [Iglewicz]. A sample of which
 * more than half is equal has no MAD to measure by: the count is 0 then. A negative cause on
 * failure. */
int stat_outliers(const double *x, int n, double limit);

#endif
