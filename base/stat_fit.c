/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/stat_fit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_poly.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/stat_impl.h"

struct problem {
    gsl_matrix *x, *cov;
    gsl_vector *y, *weight, *c;
    gsl_multifit_linear_workspace *work;
};

static void problem_free(struct problem *p)
{
    if (p->work) gsl_multifit_linear_free(p->work);
    gsl_vector_free(p->c);
    gsl_vector_free(p->weight);
    gsl_vector_free(p->y);
    gsl_matrix_free(p->cov);
    gsl_matrix_free(p->x);
}

static bool problem_make(struct problem *p, int n, int terms)
{
    const size_t rows = (size_t)n, columns = (size_t)terms;
    *p = (struct problem){.x = gsl_matrix_alloc(rows, columns),
                          .cov = gsl_matrix_alloc(columns, columns),
                          .y = gsl_vector_alloc(rows),
                          .weight = gsl_vector_alloc(rows),
                          .c = gsl_vector_alloc(columns),
                          .work = gsl_multifit_linear_alloc(rows, columns)};
    return p->x && p->cov && p->y && p->weight && p->c && p->work;
}

static void problem_fill(struct problem *p, const double *x, const double *y, const double *sd)
{
    for (size_t i = 0; i < p->y->size; i++) {
        double power = 1;
        for (size_t k = 0; k < p->c->size; k++, power *= x[i])
            gsl_matrix_set(p->x, i, k, power);
        gsl_vector_set(p->y, i, y[i]);
        gsl_vector_set(p->weight, i, sd ? 1 / (sd[i] * sd[i]) : 1);
    }
}

static int different(const double *x, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        int before = 0;
        while (before < i && x[before] != x[i])
            before++;
        count += before == i;
    }
    return count;
}

/* Share of the weighted variance of y that is explained; chi2: weighted sum of squared residuals.
 */
static double explained(const struct problem *p, double chi2)
{
    const double total =
        gsl_stats_wtss(p->weight->data, p->weight->stride, p->y->data, p->y->stride, p->y->size);
    return total > 0 ? 1 - chi2 / total : NAN;
}

static int problem_solve(struct problem *p, bool weighted, struct stat_poly *out)
{
    double chi2;
    const int failed =
        weighted ? gsl_multifit_wlinear(p->x, p->weight, p->y, p->c, p->cov, &chi2, p->work)
                 : gsl_multifit_linear(p->x, p->y, p->c, p->cov, &chi2, p->work);
    if (failed) return err_set(ERR_INVALID, "least-squares fit: %s", gsl_strerror(failed));
    const bool known = weighted || p->y->size > p->c->size;
    for (size_t i = 0; i < p->c->size; i++) {
        out->c[i] = gsl_vector_get(p->c, i);
        for (size_t k = 0; k < p->c->size; k++)
            out->cov[i][k] = known ? gsl_matrix_get(p->cov, i, k) : NAN;
    }
    out->r2 = explained(p, chi2);
    return 0;
}

int stat_fit_poly(const double *x, const double *y, const double *sd, int n, int degree,
                  struct stat_poly *out)
{
    ERR_ASSERT(degree >= 0 && degree <= STAT_DEGREE_MAX);
    *out = (struct stat_poly){.n = n, .degree = degree};
    if (different(x, n) <= degree)
        return err_set(ERR_INVALID, "a fit of degree %d needs %d different points", degree,
                       degree + 1);
    gsl_error_handler_t *before = gsl_set_error_handler_off();
    struct problem p;
    int rc = problem_make(&p, n, degree + 1) ? 0 : stat_no_memory(n);
    if (rc == 0) {
        problem_fill(&p, x, y, sd);
        rc = problem_solve(&p, sd != NULL, out);
    }
    problem_free(&p);
    gsl_set_error_handler(before);
    return rc;
}

double stat_poly_at(const struct stat_poly *p, double x, double *sd)
{
    const double power[STAT_DEGREE_MAX + 1] = {1, x, x * x};
    double y = 0, variance = 0;
    for (int i = 0; i <= p->degree; i++) {
        y += p->c[i] * power[i];
        for (int k = 0; k <= p->degree; k++)
            variance += power[i] * power[k] * p->cov[i][k];
    }
    if (sd) *sd = variance >= 0 ? sqrt(variance) : isnan(variance) ? NAN : 0;
    return y;
}

bool stat_poly_reaches(const struct stat_poly *p, double level, double lo, double hi, double *x,
                       double *sd)
{
    double root[2];
    const int roots =
        gsl_poly_solve_quadratic(p->c[2], p->c[1], p->c[0] - level, &root[0], &root[1]);
    for (int i = 0; i < roots; i++) {
        const double slope = p->c[1] + 2 * p->c[2] * root[i];
        if (!(slope > 0) || root[i] < lo || root[i] > hi) continue;
        double y_sd;
        stat_poly_at(p, root[i], &y_sd);
        *x = root[i];
        if (sd) *sd = y_sd / slope;
        return true;
    }
    return false;
}

int stat_fit_power(const double *x, const double *y, int n, struct stat_power *out)
{
    for (int i = 0; i < n; i++)
        if (!(x[i] > 0 && y[i] > 0))
            return err_set(ERR_INVALID, "a power law needs positive values");
    if (n < 2) return err_set(ERR_INVALID, "a power law needs 2 different points");
    double *logs = malloc(2 * (size_t)n * sizeof *logs);
    if (!logs) return stat_no_memory(n);
    for (int i = 0; i < n; i++) {
        logs[i] = log(x[i]);
        logs[n + i] = log(y[i]);
    }
    struct stat_poly line;
    const int rc = stat_fit_poly(logs, logs + n, NULL, n, 1, &line);
    free(logs);
    if (rc < 0) return rc;
    const double factor = exp(line.c[0]);
    *out = (struct stat_power){.n = n,
                               .factor = factor,
                               .factor_sd = factor * sqrt(line.cov[0][0]),
                               .exponent = line.c[1],
                               .exponent_sd = sqrt(line.cov[1][1]),
                               .r2 = line.r2};
    return 0;
}
