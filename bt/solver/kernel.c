/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arithmetic of BT, once for all directions, widths and instruction sets. Compiled once per entry
 * of the Makefile's ISAS with BT_ISA set to its name.
 *
 * Sources: right-hand side [BTF] section 4; line solve [BTF] sections 1, 2. Components are
 * numbered in direction order here: 0, a, b, c, 4, where a is the momentum along the direction and
 * b < c are the other two. Every operation on a point happens in the order written, whichever lane,
 * rank or thread it lands on. */
#include "bt/solver/kernel.h"

#include "base/isa.h"
#include "bt/solver/lanes.h"
#include "bt/solver/problem.h"

#define INLINE static inline __attribute__((always_inline))

/* Momentum components in direction order: PERM[dir] = {a, b, c}. */
static const int perm[3][3] = {{1, 2, 3}, {2, 1, 3}, {3, 1, 2}};

/* ------------------------------------------------------------------ right-hand side */

/* A grid point: conservative variables, k = t1 kappa / rho, pressure p. */
struct point {
    vd cons[5];
    vd k, p;
};

INLINE void point_load(struct point *x, const double *u, int64_t um)
{
    for (int m = 0; m < 5; m++)
        x->cons[m] = vload(u + m * um);
}

INLINE void point_derive(struct point *x, const struct bt_coef *c)
{
    vd square = x->cons[1] * x->cons[1];
    square = vfma(x->cons[2], x->cons[2], square);
    square = vfma(x->cons[3], x->cons[3], square);
    x->k = c->t1_kappa / x->cons[0];
    x->p = vfnma(c->square_p * x->k, square, BT_C2 * x->cons[4]);
}

INLINE void point_from_prim(struct point *x, const double *prim, int64_t pm)
{
    x->k = vload(prim);
    x->p = vload(prim + pm);
}

static void prim_row(const struct bt_coef *c, const double *u, int64_t um, int64_t n, double *prim,
                     int64_t pm)
{
    for (int64_t i = -LANES; i <= n; i += LANES) {
        struct point x;
        point_load(&x, u + i, um);
        point_derive(&x, c);
        vstore(prim + i, x.k);
        vstore(prim + pm + i, x.p);
    }
}

/* Adds what a point next to the one in question contributes, [BTF] section 4: by the fluxes of
 * direction dir, and by the linear terms with coefficient lin. above: whether it is the upper one. */
INLINE void add_beside(vd acc[5], const struct bt_coef *c, const int dir, const bool above, vd lin,
                       const struct point *x)
{
    const int a = dir + 1;
    const double sign = above ? 1.0 : -1.0;
    vd v = x->cons[a] * x->k;
    vd f = (sign * c->v_flux) * v;
    vd s = lin - f, sk = s + x->k;
    acc[0] = vfma(s, x->cons[0], acc[0]);
    for (int b = 1; b <= 3; b++)
        acc[b] = vfma(b == a ? vfma(vset(BT_A43 - 1.0), x->k, sk) : sk, x->cons[b], acc[b]);
    acc[a] = vfnma(vset(sign * c->t2), x->p, acc[a]);
    acc[4] = vfma(sk, x->cons[4], acc[4]);
    acc[4] = vfma(vfma(vset((BT_C1 * BT_C1 - 1.0) / BT_C2), x->k, -f), x->p, acc[4]);
    acc[4] = vfma(c->square_v * v, v, acc[4]);
}

/* Adds what the point itself contributes in all three directions. */
INLINE void add_middle(vd acc[5], vd lin, const struct point *x)
{
    const double f3 = BT_A43 + 2.0, g3 = 3.0 * (BT_C1 * BT_C1 - 1.0) / BT_C2 - 1.0 / (3.0 * BT_C2);
    vd sk = vfnma(vset(2.0 * f3), x->k, lin);
    acc[0] = vfma(lin, x->cons[0], acc[0]);
    for (int m = 1; m < 5; m++)
        acc[m] = vfma(sk, x->cons[m], acc[m]);
    acc[4] = vfnma((2.0 * g3) * x->k, x->p, acc[4]);
}

/* The contributions of the points at distance two: a new sum. */
INLINE void far_points(vd acc[5], const double lin[5], const double *u, int64_t um, int64_t s)
{
    const double *above = vbase(u + 2 * s), *below = vbase(u - 2 * s);
    for (int m = 0; m < 5; m++)
        acc[m] = vfma(vset(lin[4]), vload(above + m * um), lin[0] * vload(below + m * um));
}

/* Once per cache line: the same line of R in the next plane, and the next line of H and of U two
 * planes below and above. */
INLINE void rhs_prefetch(const struct bt_rhs_row *row, int64_t i)
{
    if (i % BT_LANES_MAX != 0) return;
    const double *r = vbase(row->r + row->rk + i);
    const double *below = vbase(row->u + i + BT_LANES_MAX - 2 * row->uk);
    const double *above = vbase(below + 4 * row->uk);
    for (int m = 0; m < 5; m++) {
        __builtin_prefetch(r + m * row->rm, 1, 2);
        __builtin_prefetch(below + m * row->um, 0, 3);
        __builtin_prefetch(above + m * row->um, 0, 3);
    }
    if (!row->h) return;
    const double *h = vbase(row->h + i + BT_LANES_MAX);
    for (int m = 0; m < 5; m++)
        __builtin_prefetch(h + m * row->rm, 0, 3);
}

INLINE void rhs_vector(const struct bt_coef *c, const struct bt_rhs_row *row, int64_t i)
{
    const double *u = vbase(row->u + i), *lin_xi = row->lin_xi + i;
    const int64_t um = row->um, ls = row->lin_stride;
    const double *h = row->h ? vbase(row->h + i) : NULL;
    double *r = row->r + i;
    struct point mid, lo, hi;
    vd xi[5], eta[5], zeta[5];

    rhs_prefetch(row, i);
    point_load(&mid, u, um);
    point_from_prim(&mid, row->prim[1] + i, row->pm);
    for (int m = 0; m < 5; m++)
        xi[m] = h ? vload(h + m * row->rm) : vset(0.0);
    add_middle(xi, vload(lin_xi + 2 * ls) + (row->lin_eta[2] + row->lin_zeta[2]), &mid);

    const double *prim = row->prim[1] + i;
    for (int m = 0; m < 5; m++) {
        lo.cons[m] = VBEFORE(u + m * um, mid.cons[m], 1);
        hi.cons[m] = VAFTER(u + m * um, mid.cons[m], 1);
        xi[m] = vfma(vload(lin_xi), VBEFORE(u + m * um, mid.cons[m], 2), xi[m]);
        xi[m] = vfma(vload(lin_xi + 4 * ls), VAFTER(u + m * um, mid.cons[m], 2), xi[m]);
    }
    lo.k = VBEFORE(prim, mid.k, 1), lo.p = VBEFORE(prim + row->pm, mid.p, 1);
    hi.k = VAFTER(prim, mid.k, 1), hi.p = VAFTER(prim + row->pm, mid.p, 1);
    add_beside(xi, c, 0, false, vload(lin_xi + ls), &lo);
    add_beside(xi, c, 0, true, vload(lin_xi + 3 * ls), &hi);

    far_points(eta, row->lin_eta, u, um, row->uj);
    point_load(&lo, vbase(u - row->uj), um);
    point_from_prim(&lo, row->prim[0] + i, row->pm);
    add_beside(eta, c, 1, false, vset(row->lin_eta[1]), &lo);
    point_load(&hi, vbase(u + row->uj), um);
    point_from_prim(&hi, row->prim[2] + i, row->pm);
    add_beside(eta, c, 1, true, vset(row->lin_eta[3]), &hi);

    far_points(zeta, row->lin_zeta, u, um, row->uk);
    point_load(&lo, vbase(u - row->uk), um);
    point_derive(&lo, c);
    add_beside(zeta, c, 2, false, vset(row->lin_zeta[1]), &lo);
    point_load(&hi, vbase(u + row->uk), um);
    point_derive(&hi, c);
    add_beside(zeta, c, 2, true, vset(row->lin_zeta[3]), &hi);

    for (int m = 0; m < 5; m++)
        vstore(r + m * row->rm, (xi[m] + eta[m]) + zeta[m]);
}

static void rhs_row(const struct bt_coef *c, const struct bt_rhs_row *row)
{
    for (int64_t i = 0; i < row->n; i += LANES)
        rhs_vector(c, row, i);
}

/* ------------------------------------------------------------------ line solve */

/* What the three blocks of a cell are made of. */
struct cell {
    vd ua, ub, uc; /* velocities; ua along the sweep */
    vd q;          /* half the velocity squared */
    vd visc, heat; /* t1/t2 kappa / rho; t1/t2 kE / (c2 rho) */
    vd ht, ct;     /* with th = p / rho: heat th, c1/c2 th */
};

INLINE struct cell cell_load(const struct bt_coef *c, const int dir, const double *u, int64_t um)
{
    struct cell x;
    const vd r = 1.0 / vload(u);
    x.ua = vload(u + perm[dir][0] * um) * r;
    x.ub = vload(u + perm[dir][1] * um) * r;
    x.uc = vload(u + perm[dir][2] * um) * r;
    x.q = 0.5 * vfma(x.uc, x.uc, vfma(x.ub, x.ub, x.ua * x.ua));
    const vd th = BT_C2 * vfma(vload(u + 4 * um), r, -x.q);
    x.visc = c->visc * r;
    x.heat = c->heat * r;
    x.ht = x.heat * th;
    x.ct = (BT_C1 / BT_C2) * th;
    return x;
}

/* A cell's velocities relative to those of the cell below the row, in whose frame the row's
 * equations are, and half their square. */
struct relative {
    vd a, b, c, q;
};

INLINE struct relative relative_to(const struct cell *below, const struct cell *x)
{
    struct relative v = {.a = x->ua - below->ua, .b = x->ub - below->ub, .c = x->uc - below->uc};
    v.q = 0.5 * vfma(v.c, v.c, vfma(v.b, v.b, v.a * v.a));
    return v;
}

/* The lower block, -Lo M, at rest in its frame:
 *   row 0: s W_0 + w_a
 *   row a: ga w_a + w_4,  row b: gb w_b,  row c: gb w_c
 *   row 4: -ht W_0 + ct w_a + e4 w_4 */
struct lower {
    vd s, ga, gb, ht, ct, e4;
};

INLINE struct lower lower_make(const struct bt_coef *c, const int dir, const struct cell *x)
{
    struct lower b = {.s = x->ua + c->diff[dir], .ht = x->ht, .ct = x->ct};
    b.ga = vfma(vset(BT_A43), x->visc, b.s);
    b.gb = b.s + x->visc;
    b.e4 = vfma(vset(1.0 / BT_C2), b.s, x->heat);
    return b;
}

/* A row of -Lo M w. */
INLINE vd lower_row(const struct lower *b, const int row, const double *w)
{
    switch (row) {
    case 0:
        return vfma(b->s, vload(w), vload(w + LANES));
    case 1:
        return vfma(b->ga, vload(w + LANES), vload(w + 4 * LANES));
    case 2:
    case 3:
        return b->gb * vload(w + row * LANES);
    default:
        return vfma(b->ct, vload(w + LANES), vfnma(b->ht, vload(w), b->e4 * vload(w + 4 * LANES)));
    }
}

/* The upper block, Up M, of a cell with velocity v in the row's frame:
 *   row 0: al = s W_0 + w_a
 *   row a: v_a al + ga w_a + w_4,  row b: v_b al + gb w_b,  row c: v_c al + gb w_c
 *   row 4: e0 W_0 + ea w_a + v_b gb w_b + v_c gb w_c + e4 w_4 */
struct upper {
    vd s, ga, gb, e0, ea, eb, ec, e4;
};

INLINE struct upper upper_make(const struct bt_coef *c, const int dir, const struct cell *x,
                               const struct relative *v)
{
    struct upper b = {.s = x->ua - c->diff[dir]};
    b.ga = vfnma(vset(BT_A43), x->visc, b.s);
    b.gb = b.s - x->visc;
    b.e0 = vfma(v->q, b.s, x->ht);
    b.ea = vfma(v->a, b.ga, v->q + x->ct);
    b.eb = v->b * b.gb;
    b.ec = v->c * b.gb;
    b.e4 = vfma(vset(1.0 / BT_C2), b.s, v->a) - x->heat;
    return b;
}

/* A row of D = Di M - Lo M E, for a cell with velocity v in the row's frame; e: the columns of the
 * E of the cell below. */
INLINE void diagonal_row(const struct bt_coef *c, const int dir, const int row,
                         const struct cell *x, const struct relative *v, const struct lower *low,
                         const double *e, vd d[5])
{
    const vd del = vset(c->del[dir]);
    const vd ha = vfma(vset(2.0 * BT_A43), x->visc, del), hb = vfma(vset(2.0), x->visc, del);
    for (int j = 0; j < 5; j++)
        d[j] = lower_row(low, row, e + 5 * j * LANES);
    switch (row) {
    case 0:
        d[0] = d[0] + del;
        break;
    case 1:
    case 2:
    case 3:
        d[0] = vfma(del, row == 1 ? v->a : row == 2 ? v->b : v->c, d[0]);
        d[row] = d[row] + (row == 1 ? ha : hb);
        break;
    default:
        d[0] = vfma(del, v->q, vfnma(vset(2.0), x->ht, d[0]));
        d[1] = vfma(v->a, ha, d[1]);
        d[2] = vfma(v->b, hb, d[2]);
        d[3] = vfma(v->c, hb, d[3]);
        d[4] = vfma(vset(2.0), x->heat, d[4] + c->del4[dir]);
    }
}

/* y = y + R, a conservative R taken into the frame of the cell below and scaled for all three
 * sweeps. */
INLINE void add_conservative(const struct bt_coef *c, const int dir, const struct cell *below,
                             const double *r, int64_t rm, vd y[5])
{
    const vd scale = vset(c->inv_t2_cubed), r0 = vload(r);
    const vd ra = vfnma(below->ua, r0, vload(r + perm[dir][0] * rm));
    const vd rb = vfnma(below->ub, r0, vload(r + perm[dir][1] * rm));
    const vd rc = vfnma(below->uc, r0, vload(r + perm[dir][2] * rm));
    vd r4 = vfnma(below->q, r0, vload(r + 4 * rm));
    r4 = vfnma(below->ua, ra, r4);
    r4 = vfnma(below->ub, rb, r4);
    r4 = vfnma(below->uc, rc, r4);
    y[0] = vfma(scale, r0, y[0]);
    y[1] = vfma(scale, ra, y[1]);
    y[2] = vfma(scale, rb, y[2]);
    y[3] = vfma(scale, rc, y[3]);
    y[4] = vfma(scale, r4, y[4]);
}

/* The same for primitive increments, of a cell with velocity v in that frame. */
INLINE void add_primitive(const int dir, const struct relative *v, const double *r, int64_t rm,
                          vd y[5])
{
    const vd w0 = vload(r), wa = vload(r + perm[dir][0] * rm), wb = vload(r + perm[dir][1] * rm);
    const vd wc = vload(r + perm[dir][2] * rm), w4 = vload(r + 4 * rm);
    vd e = vfma(vset(1.0 / BT_C2), w4, v->q * w0);
    e = vfma(v->a, wa, e);
    e = vfma(v->b, wb, e);
    e = vfma(v->c, wc, e);
    y[0] = y[0] + w0;
    y[1] = y[1] + vfma(v->a, w0, wa);
    y[2] = y[2] + vfma(v->b, w0, wb);
    y[3] = y[3] + vfma(v->c, w0, wc);
    y[4] = y[4] + e;
}

/* D in blocks [P Q; S T] of 2 + 3 rows: P^-1 = [p0 -p1; -p2 p3], q = P^-1 Q, s = S and
 * (T - S q)^-1 = zr z. What can go on without the quotient zr does not wait for it. */
struct factor {
    vd p[4], q[6], s[6], z[9], zr;
};

/* The cofactors of t, transposed. */
INLINE void cofactors(const vd t[9], vd z[9])
{
    z[0] = vfnma(t[5], t[7], t[4] * t[8]);
    z[3] = vfnma(t[3], t[8], t[5] * t[6]);
    z[6] = vfnma(t[4], t[6], t[3] * t[7]);
    z[1] = vfnma(t[1], t[8], t[2] * t[7]);
    z[4] = vfnma(t[2], t[6], t[0] * t[8]);
    z[7] = vfnma(t[0], t[7], t[1] * t[6]);
    z[2] = vfnma(t[2], t[4], t[1] * t[5]);
    z[5] = vfnma(t[0], t[5], t[2] * t[3]);
    z[8] = vfnma(t[1], t[3], t[0] * t[4]);
}

/* D is made row by row, as it is needed, and never exists as a whole: there are not enough
 * registers. */
INLINE void factorise(const struct bt_coef *c, const int dir, const struct cell *x,
                      const struct relative *v, const struct lower *low, const double *e,
                      struct factor *f)
{
    vd first[5], second[5], row[5], t[9];
    diagonal_row(c, dir, 0, x, v, low, e, first);
    diagonal_row(c, dir, 1, x, v, low, e, second);
    const vd rd = 1.0 / vfnma(first[1], second[0], first[0] * second[1]);
    for (int j = 0; j < 3; j++) {
        f->q[j] = rd * vfnma(first[1], second[2 + j], second[1] * first[2 + j]);
        f->q[3 + j] = rd * vfnma(second[0], first[2 + j], first[0] * second[2 + j]);
    }
    f->p[0] = second[1] * rd;
    f->p[1] = first[1] * rd;
    f->p[2] = second[0] * rd;
    f->p[3] = first[0] * rd;
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++) {
        diagonal_row(c, dir, 2 + i, x, v, low, e, row);
        f->s[2 * i] = row[0];
        f->s[2 * i + 1] = row[1];
        for (int j = 0; j < 3; j++)
            t[3 * i + j] = vfnma(row[1], f->q[3 + j], vfnma(row[0], f->q[j], row[2 + j]));
    }
    cofactors(t, f->z);
    f->zr = 1.0 / vfma(t[2], f->z[6], vfma(t[1], f->z[3], t[0] * f->z[0]));
}

/* The unknowns of the first block from those of the second, x[2..4], and P^-1 f. */
INLINE void close_first(const struct factor *f, vd x0, vd x1, vd x[5])
{
    for (int j = 0; j < 3; j++) {
        x0 = vfnma(f->q[j], x[2 + j], x0);
        x1 = vfnma(f->q[3 + j], x[2 + j], x1);
    }
    x[0] = x0;
    x[1] = x1;
}

/* x = D^-1 f for f with x0, x1 = P^-1 f of its first block and g of its second. */
INLINE void solve_full(const struct factor *f, vd x0, vd x1, vd g0, vd g1, vd g2, vd x[5])
{
    g0 = vfnma(f->s[1], x1, vfnma(f->s[0], x0, g0));
    g1 = vfnma(f->s[3], x1, vfnma(f->s[2], x0, g1));
    g2 = vfnma(f->s[5], x1, vfnma(f->s[4], x0, g2));
    for (int i = 0; i < 3; i++)
        x[2 + i] = f->zr * vfma(f->z[3 * i + 2], g2, vfma(f->z[3 * i + 1], g1, f->z[3 * i] * g0));
    close_first(f, x0, x1, x);
}

/* x = D^-1 f for f with entries only in row 'row' (2 or 3) and row 4. */
INLINE void solve_momentum(const struct factor *f, int row, vd fb, vd f4, vd x[5])
{
    for (int i = 0; i < 3; i++)
        x[2 + i] = f->zr * vfma(f->z[3 * i + 2], f4, f->z[3 * i + row - 2] * fb);
    close_first(f, vset(0.0), vset(0.0), x);
}

INLINE void store_column(double *e, int col, const vd x[5])
{
    for (int m = 0; m < 5; m++)
        vstore(e + (5 * col + m) * LANES, x[m]);
}

/* The columns of E, and the eliminated right-hand side behind them, from the factors of the diagonal
 * block, the upper block and the right-hand side y. Cheap columns first: they wait least. */
INLINE void columns(const struct factor *f, const struct upper *up, const struct relative *v,
                    const vd y[5], double *e)
{
    vd x[5];
    solve_momentum(f, 2, up->gb, up->eb, x);
    store_column(e, 2, x);
    solve_momentum(f, 3, up->gb, up->ec, x);
    store_column(e, 3, x);
    const vd x0 = vfnma(f->p[1], v->a, f->p[0]), x1 = vfma(f->p[3], v->a, -f->p[2]);
    solve_full(f, up->s * x0, up->s * x1, v->b * up->s, v->c * up->s, up->e0, x);
    store_column(e, 0, x);
    solve_full(f, vfnma(f->p[1], up->ga, x0), vfma(f->p[3], up->ga, x1), v->b, v->c, up->ea, x);
    store_column(e, 1, x);
    solve_full(f, -f->p[1], f->p[3], vset(0.0), vset(0.0), up->e4, x);
    store_column(e, 4, x);
    solve_full(f, vfnma(f->p[1], y[1], f->p[0] * y[0]), vfnma(f->p[2], y[0], f->p[3] * y[1]), y[2],
               y[3], y[4], x);
    store_column(e, 5, x);
}

INLINE void prefetch_cell(const double *p, int64_t sm)
{
    for (int m = 0; m < 5; m++)
        __builtin_prefetch(p + m * sm, 0, 3);
}

/* e: E and the eliminated right-hand side of the cell below, from where they were stored. What they
 * add to the next cell is not made before that: it takes more registers than there are. */
INLINE void forward(const struct bt_coef *c, const int dir, const struct bt_batch_data *b,
                    double *store, const double *in, double *out)
{
    const double *e = in;
    struct cell below = cell_load(c, dir, b->u - b->ul, b->um);
    struct cell x = cell_load(c, dir, b->u, b->um);
    for (int64_t l = 0; l < b->n; l++) {
        const struct cell ahead = cell_load(c, dir, b->u + (l + 1) * b->ul, b->um);
        const struct relative v = relative_to(&below, &x), v_ahead = relative_to(&below, &ahead);
        const struct lower low = lower_make(c, dir, &below);
        const double *r = b->r + l * b->rl;
        double *to = store + l * BT_STORE * LANES;
        struct factor f;
        vd y[5];
        if (b->u_ahead) {
            prefetch_cell(b->u_ahead + l * b->ul, b->um);
            prefetch_cell(b->r_ahead + l * b->rl, b->rm);
        }
        factorise(c, dir, &x, &v, &low, e, &f);
        for (int m = 0; m < 5; m++)
            y[m] = lower_row(&low, m, e + 25 * LANES);
        if (dir == 0)
            add_conservative(c, dir, &below, r, b->rm, y);
        else
            add_primitive(dir, &v, r, b->rm, y);
        const struct upper up = upper_make(c, dir, &ahead, &v_ahead);
        columns(&f, &up, &v_ahead, y, to);
        if (dir == 2) {
            vstore(to + 30 * LANES, x.ua);
            vstore(to + 31 * LANES, x.ub);
            vstore(to + 32 * LANES, x.uc);
            vstore(to + 33 * LANES, x.q);
        }
        e = to;
        below = x;
        x = ahead;
    }
    if (out) memcpy(out, e, BT_CARRY * LANES * sizeof *out);
}

/* X = M W in direction order: [BTF] section 1. */
INLINE void increment(const double *store, const vd w[5], vd x[5])
{
    vd ua = vload(store + 30 * LANES), ub = vload(store + 31 * LANES);
    vd uc = vload(store + 32 * LANES), q = vload(store + 33 * LANES);
    x[0] = w[0];
    x[1] = vfma(ua, w[0], w[1]);
    x[2] = vfma(ub, w[0], w[2]);
    x[3] = vfma(uc, w[0], w[3]);
    vd e = vfma(uc, w[3], (1.0 / BT_C2) * w[4]);
    e = vfma(ub, w[2], e);
    e = vfma(ua, w[1], e);
    x[4] = vfma(q, w[0], e);
}

INLINE void put(double *p, vd x, int nv, bool add)
{
    vstore_n(p, add ? vload(p) + x : x, nv);
}

/* Completely unrolled: else gcc 12 copies w through memory, in pieces that cannot be forwarded. */
INLINE void backward(const int dir, const double *store, int64_t n, const double *w_in,
                     double *w_out, double *x_at, int64_t xl, int64_t xm, int nv, bool add)
{
    const int order[5] = {0, perm[dir][0], perm[dir][1], perm[dir][2], 4};
    vd w[5], now[5], x[5];
    for (int m = 0; m < 5; m++)
        w[m] = vload(w_in + m * LANES);
    for (int64_t l = n - 1; l >= 0; l--) {
        const double *s = store + l * BT_STORE * LANES;
#pragma GCC unroll 5
        for (int m = 0; m < 5; m++)
            now[m] = vload(s + (25 + m) * LANES);
#pragma GCC unroll 5
        for (int col = 0; col < 5; col++)
#pragma GCC unroll 5
            for (int m = 0; m < 5; m++)
                now[m] = vfnma(vload(s + (5 * col + m) * LANES), w[col], now[m]);
#pragma GCC unroll 5
        for (int m = 0; m < 5; m++)
            w[m] = x[m] = now[m];
        if (dir == 2) increment(s, w, x);
#pragma GCC unroll 5
        for (int m = 0; m < 5; m++)
            put(x_at + l * xl + order[m] * xm, x[m], nv, add);
    }
    for (int m = 0; w_out && m < 5; m++)
        vstore(w_out + m * LANES, w[m]);
}

/* ------------------------------------------------------------------ packing */

/* LANES cells of LANES lines, cells adjoining in memory. */
INLINE void pack_block(const double *const line[BT_LANES_MAX], int64_t offset, double *dst)
{
    vd v[LANES];
    for (int y = 0; y < LANES; y++)
        v[y] = vload(line[y] + offset);
    vtranspose(v);
    for (int x = 0; x < LANES; x++)
        vstore(dst + (int64_t)x * 5 * LANES, v[x]);
}

static void pack(const double *const line[BT_LANES_MAX], int64_t sl, int64_t sm, int64_t n,
                 double *dst)
{
    if (sl == 1) {
        for (int64_t l = 0; l < n; l += LANES)
            for (int m = 0; m < 5; m++)
                pack_block(line, m * sm + l, dst + (5 * l + m) * LANES);
        return;
    }
    for (int64_t l = 0; l < n; l++)
        for (int m = 0; m < 5; m++)
            for (int y = 0; y < LANES; y++)
                dst[(5 * l + m) * LANES + y] = line[y][l * sl + m * sm];
}

INLINE void unpack_block(const double *src, double *const line[BT_LANES_MAX], int64_t offset,
                         int nv, bool add)
{
    vd v[LANES];
    for (int x = 0; x < LANES; x++)
        v[x] = vload(src + (int64_t)x * 5 * LANES);
    vtranspose(v);
    for (int y = 0; y < nv; y++)
        put(line[y] + offset, v[y], LANES, add);
}

static void unpack_cells(const double *src, double *const line[BT_LANES_MAX], int64_t sl,
                         int64_t sm, int64_t first, int64_t n, int nv, bool add)
{
    for (int64_t l = first; l < n; l++)
        for (int m = 0; m < 5; m++)
            for (int y = 0; y < nv; y++) {
                double *p = line[y] + l * sl + m * sm;
                const double x = src[(5 * l + m) * LANES + y];
                *p = add ? *p + x : x;
            }
}

static void unpack(const double *src, double *const line[BT_LANES_MAX], int64_t sl, int64_t sm,
                   int64_t n, int nv, bool add)
{
    int64_t done = 0;
    if (sl == 1)
        for (; done + LANES <= n; done += LANES)
            for (int m = 0; m < 5; m++)
                unpack_block(src + (5 * done + m) * LANES, line, m * sm + done, nv, add);
    unpack_cells(src, line, sl, sm, done, n, nv, add);
}

/* ------------------------------------------------------------------ table */

#define DIRECTION(dir)                                                                             \
    static void forward_##dir(const struct bt_coef *c, const struct bt_batch_data *b,              \
                              double *store, const double *in, double *out)                        \
    {                                                                                              \
        forward(c, dir, b, store, in, out);                                                        \
    }                                                                                              \
    static void backward_##dir(const double *store, int64_t n, const double *w_in, double *w_out,  \
                               double *x, int64_t xl, int64_t xm, int nv, bool add)                \
    {                                                                                              \
        if (add)                                                                                   \
            backward(dir, store, n, w_in, w_out, x, xl, xm, nv, true);                             \
        else                                                                                       \
            backward(dir, store, n, w_in, w_out, x, xl, xm, nv, false);                            \
    }
DIRECTION(0)
DIRECTION(1)
DIRECTION(2)

extern const struct bt_kernel ISA_JOIN(bt_kernel_, BT_ISA);
const struct bt_kernel ISA_JOIN(bt_kernel_, BT_ISA) = {
    .name = ISA_TEXT(BT_ISA),
    .lanes = LANES,
    .supported = isa_supported,
    .prim_row = prim_row,
    .rhs_row = rhs_row,
    .forward = {forward_0, forward_1, forward_2},
    .backward = {backward_0, backward_1, backward_2},
    .pack = pack,
    .unpack = unpack,
};
