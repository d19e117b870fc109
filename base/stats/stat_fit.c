/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/stats/stat_fit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_poly.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

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

int stat_fit_poly(const double *x, const double *y, const double *sd, int n, int degree,
                  struct stat_poly *out)
{
    ERR_ASSERT(degree >= 0 && degree <= STAT_DEGREE_MAX);
    *out = (struct stat_poly){.n = n, .degree = degree};
    if (different(x, n) <= degree)
        return err_set(ERR_INVALID, "a fit of degree %d needs %d different points", degree,
                       degree + 1);
    gsl_error_handler_t *before = gsl_set_error_handler_off();
    const size_t rows = (size_t)n, terms = (size_t)degree + 1;
    gsl_matrix *powers = gsl_matrix_alloc(rows, terms), *cov = gsl_matrix_alloc(terms, terms);
    gsl_vector *values = gsl_vector_alloc(rows), *weight = gsl_vector_alloc(rows);
    gsl_vector *c = gsl_vector_alloc(terms);
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(rows, terms);
    int rc =
        powers && cov && values && weight && c && work ? 0 : mem_error("a fit of %d points", n);
    double chi2 = 0; /* weighted sum of squared residuals */
    if (rc == 0) {
        for (size_t i = 0; i < rows; i++) {
            double power = 1;
            for (size_t k = 0; k < terms; k++, power *= x[i])
                gsl_matrix_set(powers, i, k, power);
            gsl_vector_set(values, i, y[i]);
            gsl_vector_set(weight, i, sd ? 1 / (sd[i] * sd[i]) : 1);
        }
        const int failed = sd ? gsl_multifit_wlinear(powers, weight, values, c, cov, &chi2, work)
                              : gsl_multifit_linear(powers, values, c, cov, &chi2, work);
        if (failed) rc = err_set(ERR_INVALID, "least-squares fit: %s", gsl_strerror(failed));
    }
    if (rc == 0) {
        const bool known = sd || rows > terms;
        for (size_t i = 0; i < terms; i++) {
            out->c[i] = gsl_vector_get(c, i);
            for (size_t k = 0; k < terms; k++)
                out->cov[i][k] = known ? gsl_matrix_get(cov, i, k) : NAN;
        }
        const double total = gsl_stats_wtss(weight->data, 1, values->data, 1, rows);
        out->r2 = total > 0 ? 1 - chi2 / total : NAN;
    }
    if (work) gsl_multifit_linear_free(work);
    gsl_vector_free(c);
    gsl_vector_free(weight);
    gsl_vector_free(values);
    gsl_matrix_free(cov);
    gsl_matrix_free(powers);
    gsl_set_error_handler(before);
    return rc;
}

double stat_poly_at(const struct stat_poly *p, double x, double *sd)
{
    const double power[STAT_DEGREE_MAX + 1] = {1, x, x * x};
    double y = 0, variance = 0;
    ERR_ASSERT(p->degree <= STAT_DEGREE_MAX);
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
    double *logs = mem_new(2 * n, sizeof *logs, "a fit of %d points", n);
    if (!logs) return ERR_NOMEM;
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
