/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/stats/stat_test.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

static const double ROUNDING = 1e-7; /* of probabilities that are the same */

static int no_memory(int n)
{
    return mem_error("the test of %d values", n);
}

/* In how many of the orders of nx and ny different values U is u, as a share of all orders, for
 * u = 0 .. nx ny. Built up value by value: the largest of all is either one of x, and then above
 * all of y, or one of y. share: [(ny + 1)][nx ny + 1], row j for j values of y. */
static void add_one_x(double *share, int i, int ny, int width)
{
    for (int j = 1; j <= ny; j++) {
        double *here = share + (size_t)j * (size_t)width, *fewer_y = here - width;
        const double px = (double)i / (i + j), py = (double)j / (i + j);
        for (int u = width - 1; u >= 0; u--)
            here[u] = px * (u >= j ? here[u - j] : 0) + py * fewer_y[u];
    }
}

int stat_mann_whitney_tails(int nx, int ny, double *tail)
{
    ERR_ASSERT(nx >= 1 && ny >= 1);
    const int width = nx * ny + 1;
    if (nx > STAT_EXACT_MAX || ny > STAT_EXACT_MAX) {
        const double sd = sqrt((double)nx * ny / 12 * (nx + ny + 1));
        for (int u = 0; u < width; u++)
            tail[u] = gsl_cdf_ugaussian_P((u + 0.5 - (double)nx * ny / 2) / sd);
        return 0;
    }
    double *share = calloc((size_t)(ny + 1) * (size_t)width, sizeof *share);
    if (!share) return no_memory(nx + ny);
    for (int j = 0; j <= ny; j++)
        share[(size_t)j * (size_t)width] = 1; /* no value of x yet: U = 0 */
    for (int i = 1; i <= nx; i++)
        add_one_x(share, i, ny, width);
    const double *last = share + (size_t)ny * (size_t)width;
    for (int u = 0; u < width; u++)
        tail[u] = last[u] + (u > 0 ? tail[u - 1] : 0);
    free(share);
    return 0;
}

int stat_holm(double *p, int m)
{
    if (m <= 0) return 0;
    size_t *order = calloc((size_t)m, sizeof *order);
    if (!order) return no_memory(m);
    gsl_sort_index(order, p, 1, (size_t)m);
    double largest = 0;
    for (int i = 0; i < m; i++) {
        largest = fmax(largest, fmin((m - i) * p[order[i]], 1));
        p[order[i]] = largest;
    }
    free(order);
    return 0;
}

int stat_far(const double *x, int n, double median, bool above)
{
    int far = 0;
    for (int i = 0; i < n; i++)
        far += above ? x[i] > STAT_FAR * median : x[i] < median / STAT_FAR;
    return far;
}

double stat_fisher(int a, int a_n, int b, int b_n)
{
    ERR_ASSERT(a >= 0 && a <= a_n && b >= 0 && b <= b_n);
    const unsigned some = (unsigned)(a + b), others = (unsigned)(a_n + b_n) - some;
    const double found = gsl_ran_hypergeometric_pdf((unsigned)a, some, others, (unsigned)a_n);
    double p = 0;
    for (int k = 0; k <= a + b; k++) {
        const double one = gsl_ran_hypergeometric_pdf((unsigned)k, some, others, (unsigned)a_n);
        if (one <= found * (1 + ROUNDING)) p += one;
    }
    return fmin(p, 1);
}

double stat_signs(int heads, int tails)
{
    const unsigned fewer = (unsigned)(heads < tails ? heads : tails);
    return fmin(2 * gsl_cdf_binomial_P(fewer, 0.5, (unsigned)(heads + tails)), 1);
}
