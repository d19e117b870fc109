/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_EXACT_H
#define BT_EXACT_H
/* Layer 2, free of MPI and io/. The exact steady solution and the initial condition of [BT]
 * sections 3 and 7. Both are sums or blends of polynomials in one coordinate each, so tables along
 * the axes hold everything that depends on a single index. Plain multiplications and additions: the
 * same bits on every machine. */
#include <stdint.h>

#include "bt/solver/problem.h"

/* Ue_m(x,y,z) = c0_m + X_m(x) + Y_m(y) + Z_m(z), added in this order. */
struct bt_exact {
    int64_t n;
    double *axis[3]; /* [i][m]: X_m(i h), Y_m(j h), Z_m(k h); i = 0..n-1 global */
};

/* Coordinate of global index i on an n-point axis: i / (n - 1), exactly 1 at the end. */
double bt_exact_coordinate(int64_t n, int64_t i);

/* Makes the tables for an n^3 grid. ERR_NOMEM when there is no room. */
int bt_exact_new(struct bt_exact *e, int64_t n);
void bt_exact_free(struct bt_exact *e);

/* Exact solution at global point (i,j,k). Local. */
void bt_exact_at(const struct bt_exact *e, int64_t i, int64_t j, int64_t k, double u[BT_NCOMP]);

/* Initial condition at global point (i,j,k): transfinite interpolation of the boundary values, and
 * the exact solution itself on the six faces. Local. */
void bt_exact_initial(const struct bt_exact *e, int64_t i, int64_t j, int64_t k,
                      double u[BT_NCOMP]);

#endif
