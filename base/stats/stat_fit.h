/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STATS_STAT_FIT_H
#define STATS_STAT_FIT_H
/* Least-squares fits with the uncertainty of what comes out, on GSL. Serial. Points are finite and
 * borrowed. Local. */
#include <stdbool.h>

#define STAT_DEGREE_MAX 2

/* y = c[0] + c[1] x + c[2] x^2, up to the degree. */
struct stat_poly {
    int n, degree;
    double c[STAT_DEGREE_MAX + 1];
    /* Of c; NaN when nothing is known of it. */
    double cov[STAT_DEGREE_MAX + 1][STAT_DEGREE_MAX + 1];
    double r2; /* share of the variance of y that the fit explains; NaN when y has none */
    /* The same in powers of u = (x - centre) / scale, |u| < 2. Where x lie far from 0, terms c[i] x^i are
     * large and cancel each other; these do not. */
    double centre, scale;
    double u_c[STAT_DEGREE_MAX + 1], u_cov[STAT_DEGREE_MAX + 1][STAT_DEGREE_MAX + 1];
};

/* Fits x[0..n-1], y[0..n-1]. sd: standard deviation of each y (all > 0), which weighs the points
 * and gives the covariances; NULL: all alike, and the covariances come from the residuals, NaN when
 * the points are just enough for the fit. degree: 0 to STAT_DEGREE_MAX. Returns 0, ERR_NOMEM, or
 * ERR_INVALID when there are fewer different x than coefficients, or some so close to each other, or of
 * so little weight, that they do not tell the coefficients. */
int stat_fit_poly(const double *x, const double *y, const double *sd, int n, int degree,
                  struct stat_poly *out);

/* The fit at x. sd: [out] its standard deviation, may be NULL. */
double stat_poly_at(const struct stat_poly *p, double x, double *sd);

/* The smallest x in [lo, hi] at which the fit comes up to a level from below, with its standard
 * deviation to first order (NaN when the covariances are). Returns whether there is one. */
bool stat_poly_reaches(const struct stat_poly *p, double level, double lo, double hi, double *x,
                       double *sd);

/* y = factor x^exponent, a line between the logarithms. */
struct stat_power {
    int n;
    double factor, factor_sd, exponent, exponent_sd; /* sd NaN with two points */
    double r2;
};

/* Fits positive points. Returns as stat_fit_poly, ERR_INVALID for values that are not positive. */
int stat_fit_power(const double *x, const double *y, int n, struct stat_power *out);

#endif
