/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STATS_STAT_TEST_H
#define STATS_STAT_TEST_H
/* What tests of whether samples differ need, on GSL. Local. */
#include <stdbool.h>

/* Values a side up to which the rank test is exact. */
enum { STAT_EXACT_MAX = 50 };

/* A value so many times above its median, or below it, is far from it: a median says nothing of a few such values. */
#define STAT_FAR 1.25

/* The rank test of Mann and Whitney [Mann]: P(U <= u) without ties for u = 0 .. nx ny, into tail, which has room for
 * them: exact up to STAT_EXACT_MAX values a side, else the normal approximation. nx, ny >= 1. Returns 0 or ERR_NOMEM. */
int stat_mann_whitney_tails(int nx, int ny, double *tail);

/* Holm's correction of m values of p for m tests made together, in place: a p below 0.05 means
 * then that not one of the m is there by chance, with 95 % certainty [Holm]. Returns 0 or
 * ERR_NOMEM. */
int stat_holm(double *p, int m);

/* How many of x[0..n-1] lie more than STAT_FAR times above median, or below it. */
int stat_far(const double *x, int n, double median, bool above);

/* Fisher's exact test, two-sided: how often chance alone makes shares that differ as much as a of a_n and b of b_n, by the
 * sum over all tables with these margins that are no more probable. */
double stat_fisher(int a, int a_n, int b, int b_n);

/* The sign test, two-sided: how often of so many coins chance alone puts as many more on one side. */
double stat_signs(int heads, int tails);

#endif
