/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_KERNEL_H
#define BT_KERNEL_H
/* Layer 2, private to the solver. The arithmetic of BT on rows and on batches of lines: one generic
 * source, kernel.c, compiled once per instruction set; the solver chooses a table of functions at
 * start. Nothing here knows about ranks, threads or decompositions. */
#include <stdbool.h>
#include <stdint.h>

#define BT_LANES_MAX 8
/* Vectors that the elimination of a cell leaves for the next cell: E and the right-hand side. Vectors
 * that it stores for back substitution: these and, along zeta, u_a, u_b, u_c and q. */
#define BT_CARRY 30
#define BT_STORE 34

/* Numbers that hold for the whole run; functions of N and dt alone. */
struct bt_coef {
    double t1, t2; /* dt / h^2, dt / (2 h) */
    double td[3];  /* t1 d_s along xi, eta, zeta */
    /* Of the right-hand side: t1 kappa; t2, c2 / 2 and 1 / 6 over it. */
    double t1_kappa, v_flux, square_p, square_v;
    /* The equations of the line solves are divided by t2: 1 / t2^3 for all three of them, and over
     * t2: t1 kappa, t1 kE / c2, t1 d_s, 1 + 2 t1 d_s, the latter over c2. */
    double inv_t2_cubed, visc, heat;
    double diff[3], del[3], del4[3];
};

/* A row along i: right-hand side at n points of one (j,k). Pointers are at the row's first interior
 * point, component m at +m*um (U) or +m*rm (R, H), neighbouring rows at +-uj, +-uk (U). */
struct bt_rhs_row {
    const double *u;
    int64_t um, uj, uk;
    const double *h; /* dt H, or NULL for zero */
    double *r;
    int64_t rm;
    int64_t n;
    const double *prim[3]; /* k and p of rows j-1, j, j+1, made by prim_row */
    int64_t pm;            /* their stride between quantities */
    const double *lin_xi;  /* [5][lin_stride]: linear stencil along i for offsets -2..2 */
    int64_t lin_stride;
    const double *lin_eta, *lin_zeta; /* [5]: the row's and the plane's */
    int64_t rk;                       /* to the same row of the next plane in R, for prefetching */
};

/* A batch of lines, lane v of a vector belonging to line v: n cells along the sweep. Component m of
 * cell l is the vector at u + l*ul + m*um; cells -1 and n are read, too: the one gives the first row
 * its frame and its lower block, the other's Jacobian closes the last row. */
struct bt_batch_data {
    const double *u;
    int64_t ul, um;
    double *r;
    int64_t rl, rm;
    int64_t n;
    const double *u_ahead, *r_ahead; /* what to prefetch, at the same strides, or NULL */
};

struct bt_kernel {
    const char *name;
    int lanes;
    bool (*supported)(void);

    /* t1 kappa / rho and pressure at cells -1..n of a row: 2 quantities at stride pm. prim: [out]
     * at cell 0; LANES values before it and beyond n must exist, in U too. */
    void (*prim_row)(const struct bt_coef *c, const double *u, int64_t um, int64_t n, double *prim,
                     int64_t pm);

    /* R = dt (L(U) + H) on a row, [BT] sections 5 and 9.1. */
    void (*rhs_row)(const struct bt_coef *c, const struct bt_rhs_row *row);

    /* Elimination from low to high index on a batch, by direction. R is conservative along xi, else
     * what backward left. in, out: BT_CARRY vectors from the cell before and for the cell after,
     * zero before the first interior cell; may be the same, out may be NULL. store: [out] n *
     * BT_STORE vectors. [BTF] sections 1, 2. */
    void (*forward[3])(const struct bt_coef *c, const struct bt_batch_data *b, double *store,
                       const double *in, double *out);

    /* Back substitution from high to low index. w_in: 5 vectors, the primitive increment of the
     * cell after the last one, zero at the end of the domain; w_out: that of the first cell; may be
     * the same, w_out may be NULL. The increment of cell l, along zeta the conservative one, replaces R (x at stride
     * xl, xm) or, with add, is added to what is there. Lanes >= nv are left alone. */
    void (*backward[3])(const double *store, int64_t n, const double *w_in, double *w_out,
                        double *x, int64_t xl, int64_t xm, int nv, bool add);

    /* Gathers cells 0..n-1 of ncomp components of LANES lines into vectors [l][m]. Cells of a line
     * are sl apart, components sm. dst: room for n rounded up to LANES. */
    void (*pack)(const double *const line[BT_LANES_MAX], int64_t sl, int64_t sm, int64_t n,
                 double *dst);

    /* The inverse for the first nv lines; adds instead of storing with add. */
    void (*unpack)(const double *src, double *const line[BT_LANES_MAX], int64_t sl, int64_t sm,
                   int64_t n, int nv, bool add);
};

/* The kernels of this binary, best first. */
const struct bt_kernel *bt_kernel_at(int i);

#endif
