/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/rank.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/stat.h"

static int no_memory(int n)
{
    return mem_error("the ranks of %d values", n);
}

const char *rank_name(enum rank_method method)
{
    return method == RANK_SIGN ? "sign test" : "signed ranks";
}

int rank_max(enum rank_method method, int n)
{
    return method == RANK_SIGN ? n : n * (n + 1) / 2;
}

/* Each value is below the centre with probability 1/2 and then adds 1, or its rank. In the first loop
 * tail[k] is P(sum over the values so far = k). Halves and sums of positive numbers: exact up to n = 53, a
 * few rounding errors beyond. */
void rank_tails(enum rank_method method, int n, double *tail)
{
    const int most = rank_max(method, n);
    ERR_ASSERT(n >= 1 && n <= RANK_VALUES_MAX);
    memset(tail, 0, ((size_t)most + 1) * sizeof *tail);
    tail[0] = 1;
    for (int i = 1; i <= n; i++) {
        const int adds = method == RANK_SIGN ? 1 : i;
        for (int k = rank_max(method, i); k >= 0; k--)
            tail[k] = 0.5 * (tail[k] + (k >= adds ? tail[k - adds] : 0));
    }
    for (int k = 1; k <= most; k++)
        tail[k] += tail[k - 1];
}

int rank_cut(enum rank_method method, int n, double share, int *cut, double *attained)
{
    double *tail = malloc(((size_t)rank_max(method, n) + 1) * sizeof *tail);
    if (!tail) return no_memory(n);
    rank_tails(method, n, tail);
    *cut = -1;
    while (2 * (*cut + 1) < rank_max(method, n) && stat_within(tail[*cut + 1], share))
        (*cut)++;
    *attained = *cut < 0 ? 0 : tail[*cut];
    free(tail);
    return 0;
}

/* Sorted: the values, or all their Walsh averages. To be freed; NULL without memory. */
static double *candidates(enum rank_method method, const double *x, int n)
{
    const size_t count = (size_t)rank_max(method, n);
    double *all = calloc(count, sizeof *all), *next = all;
    if (!all) return NULL;
    for (int i = 0; i < n; i++)
        for (int j = method == RANK_SIGN ? i : 0; j <= i; j++)
            *next++ = 0.5 * x[i] + 0.5 * x[j];
    gsl_sort(all, 1, count);
    return all;
}

int rank_interval(enum rank_method method, const double *x, int n, int cut, double *centre,
                  double *lo, double *hi)
{
    const int most = rank_max(method, n);
    ERR_ASSERT(n >= 1 && cut >= 0 && 2 * cut < most);
    double *all = candidates(method, x, n);
    if (!all) return no_memory(n);
    *centre = stat_sorted_median(all, most);
    *lo = all[cut];
    *hi = all[most - 1 - cut];
    free(all);
    return 0;
}

int rank_widen(enum rank_method method, int n, int cut, double wider)
{
    const double middle = 0.5 * (rank_max(method, n) - 1);
    if (cut < 0 || !(wider > 1)) return cut;
    const double widened = floor(middle - (middle - cut) * wider);
    return widened >= 0 ? (int)widened : -1;
}

/* The cut that is widened to this one or to a lower one, at the least. */
static int widened_cut(enum rank_method method, int n, int cut, double wider)
{
    const double middle = 0.5 * (rank_max(method, n) - 1);
    return wider > 1 && cut < middle ? (int)ceil(middle - (middle - cut) / wider) : cut;
}

int rank_p(enum rank_method method, const double *x, int n, double at, double wider, double *p)
{
    const int most = rank_max(method, n);
    double *all = candidates(method, x, n), *tail = calloc((size_t)most + 1, sizeof *tail);
    const bool room = all && tail;
    if (room) {
        int above = 0, below = 0;
        for (int i = 0; i < most; i++) {
            above += all[i] > at;
            below += all[i] < at;
        }
        rank_tails(method, n, tail);
        /* P(statistic >= above) = P(statistic <= most - above). */
        *p = fmin(1, 2 * fmin(tail[widened_cut(method, n, most - above, wider)],
                              tail[widened_cut(method, n, most - below, wider)]));
    }
    free(all);
    free(tail);
    return room ? 0 : no_memory(n);
}

static int sign(double x)
{
    return (x > 0) - (x < 0);
}

/* 1 where the middle one of three values is nearer to the lowest, -1 where to the highest. */
static int triple(double a, double b, double c)
{
    return sign(sign(a + b - 2 * c) + sign(a + c - 2 * b) + sign(b + c - 2 * a));
}

int rank_skew(const double *x, int n, double *p)
{
    ERR_ASSERT(n <= RANK_VALUES_MAX);
    *p = 1;
    if (n < 6) return 0;
    /* Triples with a value, and with two of them: [n], [n][n]. */
    int *one = calloc((size_t)n * (size_t)(n + 1), sizeof *one);
    if (!one) return no_memory(n);
    int *two = one + n, total = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            for (int k = 0; k < j; k++) {
                const int t = triple(x[i], x[j], x[k]);
                total += t;
                one[i] += t, one[j] += t, one[k] += t;
                two[i * n + j] += t, two[i * n + k] += t, two[j * n + k] += t;
            }
    double ones = 0, twos = 0;
    for (int i = 0; i < n; i++) {
        ones += (double)one[i] * one[i];
        for (int j = 0; j < i; j++)
            twos += (double)two[i * n + j] * two[i * n + j];
    }
    free(one);
    /* [Hollander], section 3.9. */
    const double m = n, all = m * (m - 1) * (m - 2);
    const double variance = (m - 3) * (m - 4) / ((m - 1) * (m - 2)) * ones +
                            (m - 3) / (m - 4) * twos + all / 6 -
                            (1 - (m - 3) * (m - 4) * (m - 5) / all) * (double)total * total;
    if (total != 0)
        *p = variance > 0 ? 2 * gsl_cdf_ugaussian_Q(fabs((double)total) / sqrt(variance)) : 0;
    return 0;
}

/* Rank of value i counted from the mean rank; equal values share theirs. */
static double rank_of(const double *x, int n, int i)
{
    double rank = -0.5 * (n - 1);
    for (int j = 0; j < n; j++)
        rank += j == i ? 0 : x[j] < x[i] ? 1.0 : x[j] == x[i] ? 0.5 : 0.0;
    return rank;
}

void rank_order(const double *x, int n, struct rank_order *out)
{
    ERR_ASSERT(n <= RANK_VALUES_MAX);
    *out = (struct rank_order){.serial_p = 1, .trend_p = 1};
    double before = 0, steps = 0, spread = 0, along = 0, index = 0;
    for (int i = 0; i < n; i++) {
        const double rank = rank_of(x, n, i), place = i - 0.5 * (n - 1);
        spread += rank * rank;
        index += place * place;
        along += rank * place;
        if (i > 0) steps += (rank - before) * (rank - before);
        before = rank;
    }
    if (n < 4 || !(spread > 0)) return;
    const double m = n, ratio = steps / spread;
    const double variance =
        4 * (m - 2) * (5 * m * m - 2 * m - 9) / (5 * m * (m + 1) * (m - 1) * (m - 1));
    out->serial = 1 - 0.5 * ratio;
    out->serial_p = gsl_cdf_ugaussian_Q((2 - ratio) / sqrt(variance));
    out->trend = along / sqrt(index * spread);
    out->trend_p = 2 * gsl_cdf_ugaussian_Q(fabs(out->trend) * sqrt(m - 1));
}
