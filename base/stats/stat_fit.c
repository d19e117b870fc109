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

/* Of the largest singular value: with smaller ones fewer than six digits would be right. */
#define RANK_TOLERANCE 1e-10

/* Different values of x, counted up to one more than a fit can need. */
static int different(const double *x, int n)
{
    double found[STAT_DEGREE_MAX + 1];
    int count = 0;
    for (int i = 0; i < n && count <= STAT_DEGREE_MAX; i++) {
        int before = 0;
        while (before < count && found[before] != x[i])
            before++;
        if (before == count) found[count++] = x[i];
    }
    return count;
}

/* The middle of all x, and a power of two, which divides exactly, of the size of their spread. */
static void centre_of(const double *x, int n, struct stat_poly *out)
{
    double lo = x[0], hi = x[0];
    int exponent;
    for (int i = 1; i < n; i++) {
        lo = fmin(lo, x[i]);
        hi = fmax(hi, x[i]);
    }
    const double half = hi / 2 - lo / 2; /* hi - lo may overflow */
    frexp(half, &exponent);
    out->centre = lo + half;
    out->scale = half > 0 ? ldexp(1, exponent - 1) : 1;
}

/* Takes the coefficients of powers of u, and makes of them those of powers of x. known: their covariances are. */
static int take(const gsl_vector *c, const gsl_matrix *cov, bool known, struct stat_poly *p)
{
    const size_t terms = (size_t)p->degree + 1;
    const double a = 1 / p->scale, b = -p->centre / p->scale; /* u = a x + b */
    const double of_u[STAT_DEGREE_MAX + 1][STAT_DEGREE_MAX + 1] = {
        {1, b, b * b}, {0, a, 2 * a * b}, {0, 0, a * a}};
    for (size_t i = 0; i < terms; i++) {
        p->u_c[i] = gsl_vector_get(c, i);
        for (size_t k = 0; k < terms; k++)
            p->u_cov[i][k] = known ? gsl_matrix_get(cov, i, k) : NAN;
    }
    for (size_t i = 0; i < terms; i++) {
        for (size_t k = i; k < terms; k++)
            p->c[i] += of_u[i][k] * p->u_c[k];
        for (size_t j = 0; j < terms; j++)
            for (size_t k = i; k < terms; k++)
                for (size_t l = j; l < terms; l++)
                    p->cov[i][j] += of_u[i][k] * p->u_cov[k][l] * of_u[j][l];
        if (!isfinite(p->c[i]))
            return err_set(ERR_INVALID, "a coefficient of the fit is too large for a number");
    }
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
    centre_of(x, n, out);
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
            const double u = (x[i] - out->centre) / out->scale;
            double power = 1;
            for (size_t k = 0; k < terms; k++, power *= u)
                gsl_matrix_set(powers, i, k, power);
            gsl_vector_set(values, i, y[i]);
            gsl_vector_set(weight, i, sd ? 1 / (sd[i] * sd[i]) : 1);
        }
        const int failed = sd ? gsl_multifit_wlinear(powers, weight, values, c, cov, &chi2, work)
                              : gsl_multifit_linear(powers, values, c, cov, &chi2, work);
        if (failed) rc = err_set(ERR_INVALID, "least-squares fit: %s", gsl_strerror(failed));
    }
    if (rc == 0 && gsl_multifit_linear_rank(RANK_TOLERANCE, work) < terms)
        rc = err_set(ERR_INVALID,
                     "a fit of degree %d: points are too close to each other, or of "
                     "too little weight",
                     degree);
    if (rc == 0) {
        rc = take(c, cov, sd || rows > terms, out);
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
    const double u = (x - p->centre) / p->scale;
    const double power[STAT_DEGREE_MAX + 1] = {1, u, u * u};
    double y = 0, variance = 0;
    ERR_ASSERT(p->degree <= STAT_DEGREE_MAX);
    for (int i = 0; i <= p->degree; i++) {
        y += p->u_c[i] * power[i];
        for (int k = 0; k <= p->degree; k++)
            variance += power[i] * power[k] * p->u_cov[i][k];
    }
    if (sd) *sd = variance >= 0 ? sqrt(variance) : isnan(variance) ? NAN : 0;
    return y;
}

bool stat_poly_reaches(const struct stat_poly *p, double level, double lo, double hi, double *x,
                       double *sd)
{
    double root[2];
    const int roots =
        gsl_poly_solve_quadratic(p->u_c[2], p->u_c[1], p->u_c[0] - level, &root[0], &root[1]);
    for (int i = 0; i < roots; i++) {
        const double slope = (p->u_c[1] + 2 * p->u_c[2] * root[i]) / p->scale;
        const double there = p->centre + p->scale * root[i];
        if (!(slope > 0) || there < lo || there > hi) continue;
        double y_sd;
        stat_poly_at(p, there, &y_sd);
        *x = there;
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
