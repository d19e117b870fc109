/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STATS_STAT_TEST_H
#define STATS_STAT_TEST_H
/* Tests of whether samples differ, on GSL. Serial. Samples are finite and borrowed. Local. */
#include <stdbool.h>

/* Whether two samples differ. */
struct stat_test {
    double statistic; /* U of the first sample; t */
    double dof;       /* degrees of freedom of t; NaN for U, and without any spread */
    double p;         /* two-sided: how probable so large a difference is by chance */
    bool exact;       /* p from the distribution itself, not from a normal approximation */
};

/* Mann-Whitney's rank test [Mann]. p is exact without ties and up to 50 values a side; otherwise
 * from the normal approximation with corrections for ties and continuity. Two samples of one and
 * the same value have p = 1. nx, ny >= 1. Returns 0 or ERR_NOMEM. */
int stat_mann_whitney(const double *x, int nx, const double *y, int ny, struct stat_test *out);

/* P(U <= u) without ties for u = 0 .. nx ny, into tail, which has room for them: exact up to 50 values a
 * side, else the normal approximation. nx, ny >= 1. Returns 0 or ERR_NOMEM. */
int stat_mann_whitney_tails(int nx, int ny, double *tail);

/* The smallest p that stat_mann_whitney can find for samples of these sizes without ties. */
double stat_mann_whitney_min_p(int nx, int ny);

/* Welch's t test: means of samples of unlike spread [Welch]. nx, ny >= 2. Two samples without any
 * spread have p = 1 when they are equal, else 0. */
void stat_welch(const double *x, int nx, const double *y, int ny, struct stat_test *out);

/* Welch's test over several pairs of samples, each pair under conditions of its own: whether the
 * second ones lie off the first ones by the same on average. Starts zeroed. */
struct stat_strata {
    int n;                    /* pairs */
    double x, y;              /* sums over the pairs: the means of each side */
    double variance, squares; /* the variances of their differences; parts of the dof */
};

/* Adds a pair; nx, ny >= 2. */
void stat_strata_add(struct stat_strata *s, const double *x, int nx, const double *y, int ny);

/* x, y: the average of each side; their difference y - x is what is tested to be 0, lo to hi its
 * confidence interval. s->n >= 1. */
struct stat_strata_means {
    double x, y, lo, hi;
};
void stat_strata_test(const struct stat_strata *s, double level, struct stat_strata_means *means,
                      struct stat_test *out);

/* Holm's correction of m values of p for m tests made together, in place: a p below 0.05 means
 * then that not one of the m is there by chance, with 95 % certainty [Holm]. Returns 0 or
 * ERR_NOMEM. */
int stat_holm(double *p, int m);

#endif
