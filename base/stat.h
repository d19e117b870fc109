/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_STAT_H
#define BASE_STAT_H
/* Floor 0. Statistics of repeated measurements, on GSL; fits are in base/stat_fit.h. Samples are
 * small (tens of values), finite and borrowed; nothing here changes them. All functions are local.
 */
#include <stdbool.h>
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

/* Quantiles of x[0..n-1], n >= 1: out[i] is that of the share p[i], 0.9 for 90 %, linear between
 * order statistics. Returns 0 or ERR_NOMEM. */
int stat_quantiles(const double *x, int n, const double *p, int quantiles_n, double *out);

/* Bootstrap confidence interval of the median, percentile method, 4000 resamples [Efron].
 * level: 0.95 for 95 %. seed: of the resampling; the same seed gives the same interval.
 * [out] lo, hi: equal to the value when n is 1. Returns 0 or ERR_NOMEM. */
int stat_median_ci(const double *x, int n, double level, uint64_t seed, double *lo, double *hi);

/* Number of values further than limit scaled median absolute deviations (1.4826 MAD, the standard
 * deviation of a normal sample) from the median; 3.5 is a usual limit [Iglewicz]. A sample of which
 * more than half is equal has no MAD to measure by: the count is 0 then. A negative cause on
 * failure. */
int stat_outliers(const double *x, int n, double limit);

/* Ratio of the medians of two samples, with a bootstrap confidence interval: both are resampled,
 * 4000 times, percentile method [Efron]. */
struct stat_ratio {
    double ratio;  /* median of y over median of x */
    double lo, hi; /* equal to ratio when both samples have one value */
};

/* x[0..nx-1] is what y[0..ny-1] is compared with; values > 0, nx, ny >= 1. level and seed as in
 * stat_median_ci. Returns 0 or ERR_NOMEM. */
int stat_ratio_ci(const double *x, int nx, const double *y, int ny, double level, uint64_t seed,
                  struct stat_ratio *out);

/* Whether two samples differ. */
struct stat_test {
    double statistic; /* U of the first sample; t */
    double dof;       /* degrees of freedom of t; NaN for U */
    double p;         /* two-sided: how probable so large a difference is by chance */
    bool exact;       /* p from the distribution itself, not from a normal approximation */
};

/* Mann-Whitney's rank test [Mann]. p is exact without ties and up to 50 values a side; otherwise
 * from the normal approximation with corrections for ties and continuity. Two samples of one and
 * the same value have p = 1. nx, ny >= 1. Returns 0 or ERR_NOMEM. */
int stat_mann_whitney(const double *x, int nx, const double *y, int ny, struct stat_test *out);

/* The smallest p that stat_mann_whitney can find for samples of these sizes without ties. */
double stat_mann_whitney_min_p(int nx, int ny);

/* Welch's t test: means of samples of unlike spread [Welch]. nx, ny >= 2. Two samples without any
 * spread have p = 1 when they are equal, else 0. */
void stat_welch(const double *x, int nx, const double *y, int ny, struct stat_test *out);

/* Welch's test over several pairs of samples, each pair under conditions of its own: whether the
 * second ones lie off the first ones by the same on average. Starts zeroed. */
struct stat_strata {
    int n;                          /* pairs */
    double diff, variance, squares; /* sums: means of y - x; their variances; parts of the dof */
};

/* Adds a pair; nx, ny >= 2. */
void stat_strata_add(struct stat_strata *s, const double *x, int nx, const double *y, int ny);

/* The mean of the differences, its confidence interval, and whether it is 0. s->n >= 1. */
void stat_strata_test(const struct stat_strata *s, double level, double *mean, double *lo,
                      double *hi, struct stat_test *out);

/* Holm's correction of m values of p for m tests made together, in place: a p below 0.05 means
 * then that not one of the m is there by chance, with 95 % certainty [Holm]. Returns 0 or
 * ERR_NOMEM. */
int stat_holm(double *p, int m);

#endif
