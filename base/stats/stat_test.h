/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STATS_STAT_TEST_H
#define STATS_STAT_TEST_H
/* What tests of whether samples differ need, on GSL. Local. */

/* Values a side up to which the rank test is exact. */
enum { STAT_EXACT_MAX = 50 };

/* The rank test of Mann and Whitney [Mann]: P(U <= u) without ties for u = 0 .. nx ny, into tail, which has room for
 * them: exact up to STAT_EXACT_MAX values a side, else the normal approximation. nx, ny >= 1. Returns 0 or ERR_NOMEM. */
int stat_mann_whitney_tails(int nx, int ny, double *tail);

/* Holm's correction of m values of p for m tests made together, in place: a p below 0.05 means
 * then that not one of the m is there by chance, with 95 % certainty [Holm]. Returns 0 or
 * ERR_NOMEM. */
int stat_holm(double *p, int m);

#endif
