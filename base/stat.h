/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_STAT_H
#define BASE_STAT_H
/* Floor 0. Statistics of repeated measurements, on GSL. Samples are small (tens of values), finite
 * and borrowed; nothing here changes them. All functions are local. */
#include <stdint.h>

struct stat_summary {
    int n;
    double min, max, mean;
    double q1, median, q3; /* quartiles, linear between order statistics */
    double sd;             /* of the sample (divisor n - 1); 0 when n is 1 */
};

/* Summary of x[0..n-1], n >= 1. Returns 0 or ERR_NOMEM. */
int stat_summary(const double *x, int n, struct stat_summary *out);

/* Median of x[0..n-1], n >= 1; the mean of the two middle values when n is even. Returns 0 or
 * ERR_NOMEM. */
int stat_median(const double *x, int n, double *out);

/* Bootstrap confidence interval of the median, percentile method, 4000 resamples [Efron].
 * level: 0.95 for 95 %. seed: of the resampling; the same seed gives the same interval.
 * [out] lo, hi: equal to the value when n is 1. Returns 0 or ERR_NOMEM. */
int stat_median_ci(const double *x, int n, double level, uint64_t seed, double *lo, double *hi);

/* Number of values further than limit scaled median absolute deviations (1.4826 MAD, the standard
 * deviation of a normal sample) from the median; 3.5 is a usual limit [Iglewicz]. A sample of which
 * more than half is equal has no MAD to measure by: the count is 0 then. A negative cause on
 * failure. */
int stat_outliers(const double *x, int n, double limit);

#endif
