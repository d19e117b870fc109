/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_ORACLE_H
#define TESTS_ORACLE_H
/* NAS BT once more, as plainly as possible, for tests to compare with: whole arrays, dense 5x5
 * Jacobians, block elimination. Written section by section from [BT] 3 to 9; shares nothing with
 * bt/ but the constants of bt/solver/problem.h, not even the exact solution. */
#include "bt/solver/problem.h"

struct oracle {
    int n;
    double dt;
    double *u, *r, *h; /* [k][j][i][m], m fastest; 0..n-1 each; state, right-hand side, forcing */
};

enum { ORACLE_XI, ORACLE_ETA, ORACLE_ZETA };

/* Makes the grid, the forcing term and the initial condition; aborts when there is no memory. */
void oracle_new(struct oracle *o, int n, double dt);
void oracle_free(struct oracle *o);

/* The five components of array w (u, r or h) at a point. */
double *oracle_at(const struct oracle *o, double *w, int i, int j, int k);

/* Exact solution at coordinates x, y, z. */
void oracle_exact(double x, double y, double z, double u[BT_NCOMP]);

/* Sets the initial condition. */
void oracle_reset(struct oracle *o);

/* The parts of a step: R = dt (L(U) + H); R solved along a direction; U += R. */
void oracle_rhs(struct oracle *o);
void oracle_sweep(struct oracle *o, int dir);
void oracle_add(struct oracle *o);

/* The parts in their order. */
void oracle_step(struct oracle *o);

/* Jacobians of one point, [BT] section 8; row index first. */
void oracle_jacobian_flux(const double u[BT_NCOMP], int dir, double a[BT_NCOMP][BT_NCOMP]);
void oracle_jacobian_viscous(const double u[BT_NCOMP], int dir, double a[BT_NCOMP][BT_NCOMP]);

/* X = M W: the conservative increment of a cell in state u out of the primitive one, [BTF] section 1. */
void oracle_increment(const double u[BT_NCOMP], const double w[BT_NCOMP], double x[BT_NCOMP]);

/* Row l = 0..n-1 of the block system of the line in direction dir through (i,j,k). */
struct oracle_row {
    double lower[BT_NCOMP][BT_NCOMP], diagonal[BT_NCOMP][BT_NCOMP], upper[BT_NCOMP][BT_NCOMP];
};
void oracle_line_row(const struct oracle *o, int dir, const int at[3], int l,
                     struct oracle_row *row);

/* Error norms of U; residual norms of U (overwrites R); root mean square of an array over the
 * interior, all with the divisor (n - 2)^3. */
void oracle_error_norms(const struct oracle *o, double xce[BT_NCOMP]);
void oracle_residual_norms(struct oracle *o, double xcr[BT_NCOMP]);
void oracle_rms(const struct oracle *o, double *w, double rms[BT_NCOMP]);

#endif
