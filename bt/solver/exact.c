/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/solver/exact.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/* Constant terms c0_m of the exact solution, [BT] section 3. */
static const double constant[BT_NCOMP] = {2.0, 1.0, 2.0, 2.0, 5.0};

/* Coefficients of x, x^2, x^3, x^4 by axis and component. */
static const double quartic[3][BT_NCOMP][4] = {
    {{0.0, 5.0, 0.02, 0.5},
     {0.0, 1.0, 0.01, 0.4},
     {2.0, 0.0, 0.04, 0.3},
     {2.0, 0.0, 0.03, 0.2},
     {4.0, 0.1, 0.05, 0.1}},
    {{0.0, 3.0, 0.01, 0.4},
     {0.0, 2.0, 0.03, 0.3},
     {0.0, 2.0, 0.03, 0.5},
     {0.0, 2.0, 0.05, 0.1},
     {3.0, 0.4, 0.04, 0.3}},
    {{4.0, 0.5, 0.03, 0.3},
     {0.0, 3.0, 0.02, 0.5},
     {0.0, 3.0, 0.05, 0.4},
     {0.0, 3.0, 0.04, 0.3},
     {2.0, 0.3, 0.03, 0.2}},
};

double bt_exact_coordinate(int64_t n, int64_t i)
{
    return (double)i / (double)(n - 1);
}

int bt_exact_new(struct bt_exact *e, int64_t n)
{
    size_t row = (size_t)n * BT_NCOMP;
    memset(e, 0, sizeof *e);
    double *block = mem_new(3 * n * BT_NCOMP, sizeof *block, "the exact solution, N = %lld",
                            (long long)n); /* all three tables, owned by axis[0] */
    if (!block) return ERR_NOMEM;
    e->n = n;
    for (int q = 0; q < 3; q++) {
        e->axis[q] = block + (size_t)q * row;
        for (int64_t i = 0; i < n; i++) {
            const double x = bt_exact_coordinate(n, i);
            for (int m = 0; m < BT_NCOMP; m++) {
                const double *c = quartic[q][m]; /* Horner's rule */
                e->axis[q][i * BT_NCOMP + m] = (((c[3] * x + c[2]) * x + c[1]) * x + c[0]) * x;
            }
        }
    }
    return ERR_OK;
}

void bt_exact_free(struct bt_exact *e)
{
    free(e->axis[0]);
    memset(e, 0, sizeof *e);
}

void bt_exact_at(const struct bt_exact *e, int64_t i, int64_t j, int64_t k, double u[BT_NCOMP])
{
    const double *x = e->axis[0] + i * BT_NCOMP;
    const double *y = e->axis[1] + j * BT_NCOMP;
    const double *z = e->axis[2] + k * BT_NCOMP;
    for (int m = 0; m < BT_NCOMP; m++)
        u[m] = ((constant[m] + x[m]) + y[m]) + z[m];
}

/* Exact values on the two faces of axis q met by the line through 'at', blended linearly. */
static void blend(const struct bt_exact *e, int q, const int64_t at[3], double p[BT_NCOMP])
{
    int64_t low[3] = {at[0], at[1], at[2]}, high[3] = {at[0], at[1], at[2]};
    double from[BT_NCOMP], to[BT_NCOMP];
    double x = bt_exact_coordinate(e->n, at[q]);
    low[q] = 0;
    high[q] = e->n - 1;
    bt_exact_at(e, low[0], low[1], low[2], from);
    bt_exact_at(e, high[0], high[1], high[2], to);
    for (int m = 0; m < BT_NCOMP; m++)
        p[m] = x * to[m] + (1.0 - x) * from[m];
}

void bt_exact_initial(const struct bt_exact *e, int64_t i, int64_t j, int64_t k, double u[BT_NCOMP])
{
    const int64_t last = e->n - 1;
    if (i == 0 || j == 0 || k == 0 || i == last || j == last || k == last) {
        bt_exact_at(e, i, j, k, u);
        return;
    }
    double p[3][BT_NCOMP];
    for (int q = 0; q < 3; q++)
        blend(e, q, (const int64_t[3]){i, j, k}, p[q]);
    for (int m = 0; m < BT_NCOMP; m++) {
        double x = p[0][m], y = p[1][m], z = p[2][m];
        u[m] = x + y + z - x * y - x * z - y * z + x * y * z;
    }
}
