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
    const double visc = c->t1 * BT_KAPPA;
    vd square = x->cons[1] * x->cons[1];
    square = vfma(x->cons[2], x->cons[2], square);
    square = vfma(x->cons[3], x->cons[3], square);
    x->k = visc / x->cons[0];
    x->p = vfnma((0.5 * BT_C2 / visc) * x->k, square, BT_C2 * x->cons[4]);
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
 * direction dir, and by the linear terms with coefficient lin. side: 1 above, -1 below. */
INLINE void add_beside(vd acc[5], const struct bt_coef *c, const int dir, const double side, vd lin,
                       const struct point *x)
{
    const int a = dir + 1;
    const double t2 = side * c->t2, visc = c->t1 * BT_KAPPA;
    vd v = x->cons[a] * x->k;
    vd f = (t2 / visc) * v;
    vd s = lin - f, sk = s + x->k;
    acc[0] = vfma(s, x->cons[0], acc[0]);
    for (int b = 1; b <= 3; b++)
        acc[b] = vfma(b == a ? vfma(vset(BT_A43 - 1.0), x->k, sk) : sk, x->cons[b], acc[b]);
    acc[a] = vfnma(vset(t2), x->p, acc[a]);
    acc[4] = vfma(sk, x->cons[4], acc[4]);
    acc[4] = vfma(vfma(vset((BT_C1 * BT_C1 - 1.0) / BT_C2), x->k, -f), x->p, acc[4]);
    acc[4] = vfma((1.0 / (6.0 * visc)) * v, v, acc[4]);
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
    for (int m = 0; m < 5; m++)
        acc[m] = vfma(vset(lin[4]), vload(u + m * um + 2 * s), lin[0] * vload(u + m * um - 2 * s));
}

INLINE void rhs_vector(const struct bt_coef *c, const struct bt_rhs_row *row, int64_t i)
{
    const double *u = row->u + i, *lin_xi = row->lin_xi + i;
    const int64_t um = row->um, ls = row->lin_stride;
    struct point mid, lo, hi;
    vd xi[5], eta[5], zeta[5];

    for (int m = 0; m < 5; m++)
        __builtin_prefetch(row->r + row->rk + m * row->rm + i, 1, 2);
    point_load(&mid, u, um);
    point_from_prim(&mid, row->prim[1] + i, row->pm);
    for (int m = 0; m < 5; m++)
        xi[m] = row->h ? vload(row->h + m * row->rm + i) : vset(0.0);
    add_middle(xi, vload(lin_xi + 2 * ls) + (row->lin_eta[2] + row->lin_zeta[2]), &mid);

    /* Neighbours along i: out of three aligned vectors. */
    for (int m = 0; m < 5; m++) {
        vd before = vload(u + m * um - LANES), after = vload(u + m * um + LANES);
        lo.cons[m] = VSHIFT(before, mid.cons[m], LANES - 1);
        hi.cons[m] = VSHIFT(mid.cons[m], after, 1);
        xi[m] = vfma(vload(lin_xi), VSHIFT(before, mid.cons[m], LANES - 2), xi[m]);
        xi[m] = vfma(vload(lin_xi + 4 * ls), VSHIFT(mid.cons[m], after, 2), xi[m]);
    }
    point_from_prim(&lo, row->prim[1] + i - LANES, row->pm);
    point_from_prim(&hi, row->prim[1] + i + LANES, row->pm);
    lo.k = VSHIFT(lo.k, mid.k, LANES - 1), lo.p = VSHIFT(lo.p, mid.p, LANES - 1);
    hi.k = VSHIFT(mid.k, hi.k, 1), hi.p = VSHIFT(mid.p, hi.p, 1);
    add_beside(xi, c, 0, -1.0, vload(lin_xi + ls), &lo);
    add_beside(xi, c, 0, 1.0, vload(lin_xi + 3 * ls), &hi);

    far_points(eta, row->lin_eta, u, um, row->uj);
    point_load(&lo, u - row->uj, um);
    point_from_prim(&lo, row->prim[0] + i, row->pm);
    add_beside(eta, c, 1, -1.0, vset(row->lin_eta[1]), &lo);
    point_load(&hi, u + row->uj, um);
    point_from_prim(&hi, row->prim[2] + i, row->pm);
    add_beside(eta, c, 1, 1.0, vset(row->lin_eta[3]), &hi);

    far_points(zeta, row->lin_zeta, u, um, row->uk);
    point_load(&lo, u - row->uk, um);
    point_derive(&lo, c);
    add_beside(zeta, c, 2, -1.0, vset(row->lin_zeta[1]), &lo);
    point_load(&hi, u + row->uk, um);
    point_derive(&hi, c);
    add_beside(zeta, c, 2, 1.0, vset(row->lin_zeta[3]), &hi);

    for (int m = 0; m < 5; m++)
        vstore(row->r + m * row->rm + i, (xi[m] + eta[m]) + zeta[m]);
}

static void rhs_row(const struct bt_coef *c, const struct bt_rhs_row *row)
{
    for (int64_t i = 0; i < row->n; i += LANES)
        rhs_vector(c, row, i);
}

/* ------------------------------------------------------------------ line solve */

/* What the three blocks of a cell are made of. */
struct cell {
    vd r;          /* 1 / rho */
    vd ua, ub, uc; /* velocities; ua along the sweep */
    vd q;          /* half the velocity squared */
    vd th;         /* p / rho */
};

INLINE struct cell cell_load(const int dir, const double *u, int64_t um)
{
    struct cell x;
    x.r = 1.0 / vload(u);
    x.ua = vload(u + perm[dir][0] * um) * x.r;
    x.ub = vload(u + perm[dir][1] * um) * x.r;
    x.uc = vload(u + perm[dir][2] * um) * x.r;
    x.q = 0.5 * vfma(x.uc, x.uc, vfma(x.ub, x.ub, x.ua * x.ua));
    x.th = BT_C2 * vfma(vload(u + 4 * um), x.r, -x.q);
    return x;
}

/* The off-diagonal block of a cell in the unknowns W: -Lo M with sign = +1, Up M with sign = -1.
 *   row 0: al = s W_0 + t2 w_a
 *   row a: u_a al + ga w_a + t2 c2 w_4
 *   row b: u_b al + gb w_b,  row c: u_c al + gb w_c
 *   row 4: e0 W_0 + ea w_a + u_b gb w_b + u_c gb w_c + e4 w_4 */
struct block {
    vd s, ga, gb, e0, ea, eb, ec, e4;
};

INLINE struct block block_make(const struct bt_coef *c, const int dir, const struct cell *x,
                               double sign)
{
    struct block b;
    const double t1 = sign * c->t1, td = sign * c->td[dir];
    vd ke = (t1 * BT_KE) * x->r;
    b.s = vfma(vset(c->t2), x->ua, vset(td));
    b.ga = vfma(vset(t1 * BT_KAPPA * BT_A43), x->r, b.s);
    b.gb = vfma(vset(t1 * BT_KAPPA), x->r, b.s);
    b.e0 = vfnma(ke * (1.0 / BT_C2), x->th, x->q * b.s);
    b.ea = vfma(x->ua, b.ga, vfma(vset(c->t2), x->q, (c->t2 * (BT_C1 / BT_C2)) * x->th));
    b.eb = x->ub * b.gb;
    b.ec = x->uc * b.gb;
    b.e4 = vfma(vset(c->t2 * BT_C1), x->ua, td + ke);
    return b;
}

/* out = block * w, a 5-vector. */
INLINE void block_apply(const struct bt_coef *c, const struct cell *x, const struct block *b,
                        const vd w[5], vd out[5])
{
    vd al = vfma(b->s, w[0], c->t2 * w[1]);
    out[0] = al;
    out[1] = vfma(x->ua, al, vfma(b->ga, w[1], (c->t2 * BT_C2) * w[4]));
    out[2] = vfma(x->ub, al, b->gb * w[2]);
    out[3] = vfma(x->uc, al, b->gb * w[3]);
    vd e = vfma(b->e4, w[4], b->ec * w[3]);
    e = vfma(b->eb, w[2], e);
    e = vfma(b->ea, w[1], e);
    out[4] = vfma(b->e0, w[0], e);
}

/* D = Di M + carry, row by row; carry and d may be the same array. */
INLINE void add_diagonal(const struct bt_coef *c, const int dir, const struct cell *x, vd d[25])
{
    const double del = 1.0 + 2.0 * c->td[dir];
    vd ke = (2.0 * c->t1 * BT_KE) * x->r;
    vd ha = vfma(vset(2.0 * c->t1 * BT_KAPPA * BT_A43), x->r, vset(del));
    vd hb = vfma(vset(2.0 * c->t1 * BT_KAPPA), x->r, vset(del));
    d[0] = d[0] + del;
    d[5] = vfma(vset(del), x->ua, d[5]);
    d[6] = d[6] + ha;
    d[10] = vfma(vset(del), x->ub, d[10]);
    d[12] = d[12] + hb;
    d[15] = vfma(vset(del), x->uc, d[15]);
    d[18] = d[18] + hb;
    d[20] = d[20] + vfnma(ke * (1.0 / BT_C2), x->th, del * x->q);
    d[21] = vfma(x->ua, ha, d[21]);
    d[22] = vfma(x->ub, hb, d[22]);
    d[23] = vfma(x->uc, hb, d[23]);
    d[24] = d[24] + (del + ke);
}

/* D in blocks [P Q; S T] of 2 + 3 rows: p = P^-1, q = P^-1 Q, s = S, z = (T - S q)^-1. */
struct factor {
    vd p[4], q[6], s[6], z[9];
};

INLINE void invert3(const vd t[9], vd z[9])
{
    vd c0 = vfnma(t[5], t[7], t[4] * t[8]);
    vd c1 = vfnma(t[3], t[8], t[5] * t[6]);
    vd c2 = vfnma(t[4], t[6], t[3] * t[7]);
    vd det = vfma(t[2], c2, vfma(t[1], c1, t[0] * c0));
    vd rd = 1.0 / det;
    z[0] = c0 * rd;
    z[3] = c1 * rd;
    z[6] = c2 * rd;
    z[1] = vfnma(t[1], t[8], t[2] * t[7]) * rd;
    z[4] = vfnma(t[2], t[6], t[0] * t[8]) * rd;
    z[7] = vfnma(t[0], t[7], t[1] * t[6]) * rd;
    z[2] = vfnma(t[2], t[4], t[1] * t[5]) * rd;
    z[5] = vfnma(t[0], t[5], t[2] * t[3]) * rd;
    z[8] = vfnma(t[1], t[3], t[0] * t[4]) * rd;
}

INLINE void factorise(const vd d[25], struct factor *f)
{
    vd rd = 1.0 / vfnma(d[1], d[5], d[0] * d[6]);
    f->p[0] = d[6] * rd;
    f->p[1] = -d[1] * rd;
    f->p[2] = -d[5] * rd;
    f->p[3] = d[0] * rd;
    vd t[9];
    for (int j = 0; j < 3; j++) {
        f->q[j] = vfma(f->p[1], d[7 + j], f->p[0] * d[2 + j]);
        f->q[3 + j] = vfma(f->p[3], d[7 + j], f->p[2] * d[2 + j]);
    }
    for (int i = 0; i < 3; i++) {
        const vd *row = d + 5 * (2 + i);
        f->s[2 * i] = row[0];
        f->s[2 * i + 1] = row[1];
        for (int j = 0; j < 3; j++)
            t[3 * i + j] = vfnma(row[1], f->q[3 + j], vfnma(row[0], f->q[j], row[2 + j]));
    }
    invert3(t, f->z);
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

/* x = D^-1 f for a full right-hand side. */
INLINE void solve_full(const struct factor *f, const vd rhs[5], vd x[5])
{
    vd x0 = vfma(f->p[1], rhs[1], f->p[0] * rhs[0]);
    vd x1 = vfma(f->p[3], rhs[1], f->p[2] * rhs[0]);
    vd g[3];
    for (int i = 0; i < 3; i++)
        g[i] = vfnma(f->s[2 * i + 1], x1, vfnma(f->s[2 * i], x0, rhs[2 + i]));
    for (int i = 0; i < 3; i++)
        x[2 + i] = vfma(f->z[3 * i + 2], g[2], vfma(f->z[3 * i + 1], g[1], f->z[3 * i] * g[0]));
    close_first(f, x0, x1, x);
}

/* x = D^-1 f for f with entries only in row 'row' (2 or 3) and row 4. */
INLINE void solve_momentum(const struct factor *f, int row, vd fb, vd f4, vd x[5])
{
    for (int i = 0; i < 3; i++)
        x[2 + i] = vfma(f->z[3 * i + 2], f4, f->z[3 * i + row - 2] * fb);
    close_first(f, vset(0.0), vset(0.0), x);
}

/* Keeps column col of E for the back substitution and adds its part to the next cell's diagonal. */
INLINE void column_done(const struct bt_coef *c, const struct cell *x, const struct block *low,
                        int col, const vd e[5], double *store, vd next[25])
{
    vd out[5];
    block_apply(c, x, low, e, out);
    for (int m = 0; m < 5; m++) {
        vstore(store + (5 * col + m) * LANES, e[m]);
        next[5 * m + col] = out[m];
    }
}

/* One cell of the elimination: carry d (25) and y (5) come in as the sum of what the cell before
 * adds to diagonal block and right-hand side, and leave as what this cell adds to the next. */
INLINE void eliminate(const struct bt_coef *c, const int dir, const struct cell *x,
                      const struct cell *ahead, vd d[25], vd y[5], double *store)
{
    struct factor f;
    vd e[5], rhs[5];
    add_diagonal(c, dir, x, d);
    factorise(d, &f);
    const struct block low = block_make(c, dir, x, 1.0);
    const struct block up = block_make(c, dir, ahead, -1.0);

    solve_full(&f, y, e);
    for (int m = 0; m < 5; m++)
        vstore(store + (25 + m) * LANES, e[m]);
    block_apply(c, x, &low, e, y);

    rhs[0] = up.s, rhs[1] = ahead->ua * up.s, rhs[2] = ahead->ub * up.s;
    rhs[3] = ahead->uc * up.s, rhs[4] = up.e0;
    solve_full(&f, rhs, e);
    column_done(c, x, &low, 0, e, store, d);

    rhs[0] = vset(c->t2), rhs[1] = vfma(vset(c->t2), ahead->ua, up.ga), rhs[2] = c->t2 * ahead->ub;
    rhs[3] = c->t2 * ahead->uc, rhs[4] = up.ea;
    solve_full(&f, rhs, e);
    column_done(c, x, &low, 1, e, store, d);

    solve_momentum(&f, 2, up.gb, up.eb, e);
    column_done(c, x, &low, 2, e, store, d);
    solve_momentum(&f, 3, up.gb, up.ec, e);
    column_done(c, x, &low, 3, e, store, d);

    rhs[0] = vset(0.0), rhs[1] = vset(c->t2 * BT_C2), rhs[2] = vset(0.0), rhs[3] = vset(0.0);
    rhs[4] = up.e4;
    solve_full(&f, rhs, e);
    column_done(c, x, &low, 4, e, store, d);

    vstore(store + 30 * LANES, x->ua);
    vstore(store + 31 * LANES, x->ub);
    vstore(store + 32 * LANES, x->uc);
    vstore(store + 33 * LANES, x->q);
}

INLINE void prefetch_cell(const double *p, int64_t sm)
{
    for (int m = 0; m < 5; m++)
        __builtin_prefetch(p + m * sm, 0, 3);
}

INLINE void forward(const struct bt_coef *c, const int dir, const struct bt_batch_data *b,
                    double *store, const double *in, double *out)
{
    vd d[25], y[5];
    for (int m = 0; m < 25; m++)
        d[m] = vload(in + m * LANES);
    for (int m = 0; m < 5; m++)
        y[m] = vload(in + (25 + m) * LANES);
    struct cell x = cell_load(dir, b->u, b->um);
    const int order[5] = {0, perm[dir][0], perm[dir][1], perm[dir][2], 4};
    for (int64_t l = 0; l < b->n; l++) {
        const struct cell ahead = cell_load(dir, b->u + (l + 1) * b->ul, b->um);
        for (int m = 0; m < 5; m++)
            y[m] = y[m] + vload(b->r + l * b->rl + order[m] * b->rm);
        if (b->u_ahead) {
            prefetch_cell(b->u_ahead + l * b->ul, b->um);
            prefetch_cell(b->r_ahead + l * b->rl, b->rm);
        }
        eliminate(c, dir, &x, &ahead, d, y, store + l * BT_STORE * LANES);
        x = ahead;
    }
    for (int m = 0; m < 25; m++)
        vstore(out + m * LANES, d[m]);
    for (int m = 0; m < 5; m++)
        vstore(out + (25 + m) * LANES, y[m]);
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
    vd e = vfma(uc, w[3], w[4]);
    e = vfma(ub, w[2], e);
    e = vfma(ua, w[1], e);
    x[4] = vfma(q, w[0], e);
}

INLINE void put(double *p, vd x, int nv, bool add)
{
    vstore_n(p, add ? vload(p) + x : x, nv);
}

INLINE void backward(const int dir, const double *store, int64_t n, const double *w_in,
                     double *w_out, double *x_at, int64_t xl, int64_t xm, int nv, bool add)
{
    const int order[5] = {0, perm[dir][0], perm[dir][1], perm[dir][2], 4};
    vd next[5], now[5], x[5];
    for (int m = 0; m < 5; m++)
        next[m] = vload(w_in + m * LANES);
    for (int64_t l = n - 1; l >= 0; l--) {
        const double *s = store + l * BT_STORE * LANES;
        for (int m = 0; m < 5; m++)
            now[m] = vload(s + (25 + m) * LANES);
        for (int col = 0; col < 5; col++)
            for (int m = 0; m < 5; m++)
                now[m] = vfnma(vload(s + (5 * col + m) * LANES), next[col], now[m]);
        increment(s, now, x);
        for (int m = 0; m < 5; m++) {
            put(x_at + l * xl + order[m] * xm, x[m], nv, add);
            next[m] = now[m];
        }
    }
    for (int m = 0; m < 5; m++)
        vstore(w_out + m * LANES, next[m]);
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
