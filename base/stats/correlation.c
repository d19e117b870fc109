/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether one quantity goes up or down with another: Spearman's rank correlation. */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_permutation.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/stats/request.h"

#define EXACT_MAX 8 /* 40320 orders */

/* Of all orders of y, how many correlate at least as strongly, either way. */
static double permutation_p(const double *x, const double *y, int n, double rho)
{
    double order[EXACT_MAX], work[2 * EXACT_MAX];
    size_t index[EXACT_MAX];
    gsl_permutation p = {(size_t)n, index};
    int64_t all = 0, as_strong = 0;
    gsl_permutation_init(&p);
    do {
        for (int i = 0; i < n; i++)
            order[i] = y[index[i]];
        as_strong += fabs(gsl_stats_spearman(x, 1, order, 1, (size_t)n, work)) >= fabs(rho) - 1e-9;
        all++;
    } while (gsl_permutation_next(&p) == GSL_SUCCESS);
    return (double)as_strong / (double)all;
}

static double student_p(int n, double rho)
{
    if (fabs(rho) >= 1) return 0;
    const double t = fabs(rho) * sqrt((n - 2) / (1 - rho * rho));
    return 2 * gsl_cdf_tdist_Q(t, n - 2);
}

int answer_correlation(struct request *r, json_t **out)
{
    struct values x, y;
    double x_lo, x_hi, y_lo, y_hi;
    TRY(request_points(r, &x, &y));
    gsl_stats_minmax(&x_lo, &x_hi, x.x, 1, (size_t)x.n);
    gsl_stats_minmax(&y_lo, &y_hi, y.x, 1, (size_t)y.n);
    if (x.n < 3 || x_lo == x_hi || y_lo == y_hi)
        return err_set(ERR_INVALID, "a rank correlation takes three points that differ");
    double *work = mem_new(2 * x.n, sizeof *work, "%d points", x.n);
    if (!work) return ERR_NOMEM;
    const double rho = gsl_stats_spearman(x.x, 1, y.x, 1, (size_t)x.n, work);
    free(work);
    *out = json_pack(
        "{si so so}", "n", x.n, "spearman", js_real(rho), "p",
        js_real(x.n <= EXACT_MAX ? permutation_p(x.x, y.x, x.n, rho) : student_p(x.n, rho)));
    return 0;
}
