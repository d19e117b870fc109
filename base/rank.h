/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_RANK_H
#define BASE_RANK_H
/* Layer 0. Where the centre of a few values lies, with a confidence that is computed from the exact
 * distribution and not approximated; docs/statistics.md explains it. Two methods:
 *
 *   RANK_SIGN    the sign test: an interval between two of the sorted values, for the median of
 *                independent values of any distribution;
 *   RANK_SIGNED  Wilcoxon's signed ranks: an interval between two of the sorted Walsh averages (the
 *                means of all pairs of values, and the values), for the centre of a symmetric
 *                distribution, where it is narrower. Without symmetry it is about the
 *                pseudo-median, the median of the mean of two values, and not exact [Hollander].
 *
 * Under the hypothesis the statistic (values, or Walsh averages, below the centre) has a
 * distribution that depends on n alone. An interval is made with a cut: it leaves out the cut
 * lowest and the cut highest, and misses the centre on either side with the probability
 * P(statistic <= cut). Intervals are closed, so that equal values and values on the centre can only
 * make them contain it more often. Values are finite and borrowed; all functions are local. */
#include <stdbool.h>

enum rank_method { RANK_SIGN, RANK_SIGNED, RANK_METHODS };

/* So many values at most: work grows with the third power of their number. */
enum { RANK_VALUES_MAX = 500 };

/* "sign test", "signed ranks". */
const char *rank_name(enum rank_method method);

/* The largest value of the statistic of n values: n, or n (n + 1) / 2. */
int rank_max(enum rank_method method, int n);

/* P(statistic <= k) for k = 0 .. rank_max, into tail, which has room for them: by dynamic programming
 * over the values, exact but for rounding. n <= RANK_VALUES_MAX. */
void rank_tails(enum rank_method method, int n, double *tail);

/* The largest cut that P(statistic <= cut) <= share permits, -1 where there is none at this n: 2^-n
 * is above the share. attained: [out] that probability, 0 for -1. Returns 0 or ERR_NOMEM. */
int rank_cut(enum rank_method method, int n, double share, int *cut, double *attained);

/* The interval that a cut >= 0 makes, cut < rank_max / 2, and the estimate in its middle: the median,
 * or the Hodges-Lehmann estimate. n >= 1. Returns 0 or ERR_NOMEM. */
int rank_interval(enum rank_method method, const double *x, int n, int cut, double *centre,
                  double *lo, double *hi);

/* How often chance alone makes values of the centre at lie as far off it, two-sided: at most 1 -
 * level where an interval of that level leaves at out. Values on at count for it. wider: >= 1, by how
 * much such intervals are made wider. Returns 0 or ERR_NOMEM. */
int rank_p(enum rank_method method, const double *x, int n, double at, double wider, double *p);

/* The cut of an interval that spans as many times more of the sorted values; -1 where there are not
 * as many. cut: -1 stays. wider: >= 1. */
int rank_widen(enum rank_method method, int n, int cut, double wider);

/* Triples test of symmetry [Randles]: how often a symmetric distribution would look as skewed as
 * these values, two-sided. An approximation. n <= RANK_VALUES_MAX; 1 for fewer than 6 values, of
 * which nothing can be said. Returns 0 or ERR_NOMEM. */
int rank_skew(const double *x, int n, double *p);

/* Whether the order of the values says something about them. p: how often values without any order
 * have as large a statistic; approximations. */
struct rank_order {
    double serial,
        serial_p; /* correlation of neighbours: rank version of von Neumann's ratio [Bartels];
                              * p one-sided, of equal neighbours */
    double trend, trend_p; /* Spearman's correlation with the place; p two-sided */
};

/* Statistics 0 and p 1 for fewer than 4 values, and for values all equal. n <= RANK_VALUES_MAX. */
void rank_order(const double *x, int n, struct rank_order *out);

#endif
