/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/stats/stat_test.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { EXACT_MAX = 50 };

static int no_memory(int n)
{
    return mem_error("the test of %d values", n);
}

/* Pairs of which the value of x is the larger one, ties counted half; [out] whether there are any
 * ties. */
static double u_of(const double *x, int nx, const double *y, int ny, bool *tied)
{
    double u = 0;
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < ny; j++) {
            u += x[i] > y[j] ? 1.0 : 0.0;
            if (x[i] == y[j]) {
                u += 0.5;
                *tied = true;
            }
        }
    return u;
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
    if (nx > EXACT_MAX || ny > EXACT_MAX) {
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

/* The two-sided p of U = u, from the distribution itself; negative without memory. */
static double exact_p(double u, int nx, int ny)
{
    double *tail = malloc(((size_t)nx * (size_t)ny + 1) * sizeof *tail), p = -1;
    if (tail && stat_mann_whitney_tails(nx, ny, tail) == 0)
        p = fmin(2 * tail[(int)fmin(u, nx * ny - u)], 1);
    free(tail);
    return p;
}

/* Sum of t^3 - t over the groups of t equal values of a sorted sample. */
static double tie_sum(const double *s, int n)
{
    double sum = 0;
    for (int i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && s[next] == s[i];)
            next++;
        const double t = next - i;
        sum += t * t * t - t;
    }
    return sum;
}

/* The two-sided p by the normal approximation; all: both samples, sorted. */
static double normal_p(double u, int nx, int ny, const double *all)
{
    const double n = nx + ny, pairs = (double)nx * ny;
    const double variance = pairs / 12 * (n + 1 - tie_sum(all, nx + ny) / (n * (n - 1)));
    const double away = fabs(u - pairs / 2) - 0.5;
    if (!(variance > 0) || away <= 0) return 1;
    return fmin(2 * gsl_cdf_ugaussian_Q(away / sqrt(variance)), 1);
}

int stat_mann_whitney(const double *x, int nx, const double *y, int ny, struct stat_test *out)
{
    ERR_ASSERT(nx >= 1 && ny >= 1);
    double *all = calloc((size_t)(nx + ny), sizeof *all);
    if (!all) return no_memory(nx + ny);
    memcpy(all, x, (size_t)nx * sizeof *all);
    memcpy(all + nx, y, (size_t)ny * sizeof *all);
    gsl_sort(all, 1, (size_t)(nx + ny));
    bool tied = tie_sum(all, nx + ny) > 0;
    *out = (struct stat_test){.statistic = u_of(x, nx, y, ny, &tied), .dof = NAN};
    out->exact = !tied && nx <= EXACT_MAX && ny <= EXACT_MAX;
    out->p = out->exact ? exact_p(out->statistic, nx, ny) : normal_p(out->statistic, nx, ny, all);
    free(all);
    return out->p < 0 ? no_memory(nx * ny) : 0;
}

double stat_mann_whitney_min_p(int nx, int ny)
{
    double orders = 1;
    for (int i = 1; i <= nx; i++)
        orders *= (double)(ny + i) / i;
    return fmin(2 / orders, 1);
}

void stat_strata_add(struct stat_strata *s, const double *x, int nx, const double *y, int ny)
{
    ERR_ASSERT(nx >= 2 && ny >= 2);
    const double mx = gsl_stats_mean(x, 1, (size_t)nx), my = gsl_stats_mean(y, 1, (size_t)ny);
    const double ex = gsl_stats_variance_m(x, 1, (size_t)nx, mx) / nx;
    const double ey = gsl_stats_variance_m(y, 1, (size_t)ny, my) / ny;
    s->n++;
    s->x += mx;
    s->y += my;
    s->variance += ex + ey;
    s->squares += ex * ex / (nx - 1) + ey * ey / (ny - 1);
}

void stat_strata_test(const struct stat_strata *s, double level, struct stat_strata_means *means,
                      struct stat_test *out)
{
    ERR_ASSERT(s->n >= 1 && level > 0 && level < 1);
    const double diff = s->y - s->x;
    *means = (struct stat_strata_means){
        .x = s->x / s->n, .y = s->y / s->n, .lo = diff / s->n, .hi = diff / s->n};
    *out = (struct stat_test){
        .statistic = diff == 0 ? 0 : INFINITY, .dof = NAN, .p = diff == 0, .exact = true};
    if (!(s->variance > 0)) return;
    out->statistic = diff / sqrt(s->variance);
    out->dof = s->variance * s->variance / s->squares;
    out->p = fmin(2 * gsl_cdf_tdist_Q(fabs(out->statistic), out->dof), 1);
    const double half = gsl_cdf_tdist_Pinv((1 + level) / 2, out->dof) * sqrt(s->variance) / s->n;
    means->lo -= half;
    means->hi += half;
}

void stat_welch(const double *x, int nx, const double *y, int ny, struct stat_test *out)
{
    struct stat_strata one = {0};
    struct stat_strata_means means;
    stat_strata_add(&one, y, ny, x, nx);
    stat_strata_test(&one, 0.95, &means, out);
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
