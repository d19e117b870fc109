/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NC = BT_NCOMP };

static const double table[NC][13] = {
    {2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
    {1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
    {5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2},
};

/* Second-order dissipation along xi, eta, zeta. */
static const double dissipation[3] = {0.75, 0.75, 1.0};

static double *array_new(int n)
{
    double *w = calloc((size_t)n * (size_t)n * (size_t)n * NC, sizeof *w);
    if (w == NULL) {
        fprintf(stderr, "oracle: no memory for N = %d\n", n);
        abort();
    }
    return w;
}

double *oracle_at(const struct oracle *o, double *w, int i, int j, int k)
{
    size_t n = (size_t)o->n;
    return w + (((size_t)k * n + (size_t)j) * n + (size_t)i) * NC;
}

/* The point 'steps' away from 'at' along dir. */
static double *shifted(const struct oracle *o, double *w, const int at[3], int dir, int steps)
{
    int p[3] = {at[0], at[1], at[2]};
    p[dir] += steps;
    return oracle_at(o, w, p[0], p[1], p[2]);
}

void oracle_exact(double x, double y, double z, double u[NC])
{
    for (int m = 0; m < NC; m++) {
        u[m] = table[m][0];
        for (int e = 1; e <= 4; e++)
            u[m] += table[m][3 * e - 2] * pow(x, e) + table[m][3 * e - 1] * pow(y, e) +
                    table[m][3 * e] * pow(z, e);
    }
}

static double coordinate(const struct oracle *o, int i)
{
    return (double)i / (o->n - 1);
}

static void exact_point(const struct oracle *o, int i, int j, int k, double u[NC])
{
    oracle_exact(coordinate(o, i), coordinate(o, j), coordinate(o, k), u);
}

/* Fluxes F and viscous vectors G of one point, [BT] section 4; a = 1, 2, 3 is the momentum of the
 * direction. */
static void fluxes(const double u[NC], int dir, double f[NC], double g[NC])
{
    int a = dir + 1;
    double r = 1.0 / u[0];
    double kinetic = 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) * r;
    double q = kinetic * r, p = BT_C2 * (u[4] - kinetic), v = u[a] * r;
    f[0] = u[a];
    g[0] = 0.0;
    for (int b = 1; b <= 3; b++) {
        f[b] = u[b] * v + (b == a ? p : 0.0);
        g[b] = BT_KAPPA * (b == a ? BT_A43 : 1.0) * u[b] * r;
    }
    f[4] = (BT_C1 * u[4] - BT_C2 * kinetic) * v;
    g[4] = BT_KAPPA * (-0.96 * q + v * v / 6.0 + 1.96 * u[4] * r);
}

/* Weights of the fourth difference at offsets -2..2 of line index l, [BT] section 5. */
static void fourth_weights(int l, int n, double w[5])
{
    static const double inner[5] = {1.0, -4.0, 6.0, -4.0, 1.0};
    memcpy(w, inner, sizeof inner);
    if (l <= 2) w[0] = 0.0;
    if (l >= n - 3) w[4] = 0.0;
    if (l == 1) w[1] = 0.0;
    if (l == n - 2) w[3] = 0.0;
    if (l == 1 || l == n - 2) w[2] = 5.0;
}

static void add_fourth(const struct oracle *o, double *w, const int at[3], int dir, double out[NC])
{
    double weight[5];
    fourth_weights(at[dir], o->n, weight);
    for (int d = -2; d <= 2; d++) {
        if (weight[d + 2] == 0.0) continue;
        const double *u = shifted(o, w, at, dir, d);
        for (int m = 0; m < NC; m++)
            out[m] -= BT_EPS4 * weight[d + 2] * u[m];
    }
}

/* Adds L^s(w) at an interior point to out. */
static void add_direction(const struct oracle *o, double *w, const int at[3], int dir,
                          double out[NC])
{
    double h = 1.0 / (o->n - 1), f[3][NC], g[3][NC];
    const double *u[3];
    for (int d = 0; d < 3; d++) {
        u[d] = shifted(o, w, at, dir, d - 1);
        fluxes(u[d], dir, f[d], g[d]);
    }
    for (int m = 0; m < NC; m++)
        out[m] += -(f[2][m] - f[0][m]) / (2.0 * h) + (g[2][m] - 2.0 * g[1][m] + g[0][m]) / (h * h) +
                  dissipation[dir] * (u[2][m] - 2.0 * u[1][m] + u[0][m]) / (h * h);
    add_fourth(o, w, at, dir, out);
}

/* L(w) at an interior point. */
static void space_operator(const struct oracle *o, double *w, const int at[3], double out[NC])
{
    memset(out, 0, NC * sizeof *out);
    for (int dir = 0; dir < 3; dir++)
        add_direction(o, w, at, dir, out);
}

typedef void point_fn(struct oracle *o, const int at[3], void *arg);

/* Calls fn at every point from first to n - 1 - first. */
static void each_point(struct oracle *o, int first, point_fn *fn, void *arg)
{
    for (int k = first; k < o->n - first; k++)
        for (int j = first; j < o->n - first; j++)
            for (int i = first; i < o->n - first; i++)
                fn(o, (const int[3]){i, j, k}, arg);
}

static void set_exact(struct oracle *o, const int at[3], void *arg)
{
    exact_point(o, at[0], at[1], at[2], oracle_at(o, arg, at[0], at[1], at[2]));
}

static void set_forcing(struct oracle *o, const int at[3], void *exact)
{
    double *h = oracle_at(o, o->h, at[0], at[1], at[2]);
    space_operator(o, exact, at, h);
    for (int m = 0; m < NC; m++)
        h[m] = -h[m];
}

/* Linear blend of the exact values on two opposite faces. */
static void face_blend(double x, const double low[NC], const double high[NC], double p[NC])
{
    for (int m = 0; m < NC; m++)
        p[m] = x * high[m] + (1.0 - x) * low[m];
}

static void set_initial(struct oracle *o, const int at[3], void *arg)
{
    (void)arg;
    double p[3][NC], *u = oracle_at(o, o->u, at[0], at[1], at[2]);
    for (int dir = 0; dir < 3; dir++) {
        double x[3], low[NC], high[NC], here;
        for (int q = 0; q < 3; q++)
            x[q] = coordinate(o, at[q]);
        here = x[dir];
        x[dir] = 0.0;
        oracle_exact(x[0], x[1], x[2], low);
        x[dir] = 1.0;
        oracle_exact(x[0], x[1], x[2], high);
        face_blend(here, low, high, p[dir]);
    }
    for (int m = 0; m < NC; m++) {
        double x = p[0][m], y = p[1][m], z = p[2][m];
        u[m] = x + y + z - x * y - x * z - y * z + x * y * z;
    }
}

void oracle_reset(struct oracle *o)
{
    each_point(o, 0, set_exact, o->u);
    each_point(o, 1, set_initial, NULL);
}

void oracle_new(struct oracle *o, int n, double dt)
{
    *o = (struct oracle){.n = n, .dt = dt};
    o->u = array_new(n);
    o->r = array_new(n);
    o->h = array_new(n);
    each_point(o, 0, set_exact, o->u);
    each_point(o, 1, set_forcing, o->u);
    oracle_reset(o);
}

void oracle_free(struct oracle *o)
{
    free(o->u);
    free(o->r);
    free(o->h);
    *o = (struct oracle){0};
}

static void set_rhs(struct oracle *o, const int at[3], void *arg)
{
    (void)arg;
    double *r = oracle_at(o, o->r, at[0], at[1], at[2]);
    const double *h = oracle_at(o, o->h, at[0], at[1], at[2]);
    space_operator(o, o->u, at, r);
    for (int m = 0; m < NC; m++)
        r[m] = o->dt * (r[m] + h[m]);
}

void oracle_rhs(struct oracle *o)
{
    each_point(o, 1, set_rhs, NULL);
}

static void jacobian_energy_row(const double u[NC], int dir, double row[NC])
{
    int a = dir + 1;
    double r = 1.0 / u[0];
    double kinetic = 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) * r;
    row[0] = (2.0 * BT_C2 * kinetic - BT_C1 * u[4]) * u[a] * r * r;
    for (int b = 1; b <= 3; b++)
        row[b] = -BT_C2 * u[b] * u[a] * r * r;
    row[a] = BT_C1 * u[4] * r - BT_C2 * (kinetic * r + u[a] * u[a] * r * r);
    row[4] = BT_C1 * u[a] * r;
}

void oracle_increment(const double u[NC], const double w[NC], double x[NC])
{
    double q = 0.0;
    x[0] = w[0];
    x[4] = w[4] / BT_C2;
    for (int b = 1; b <= 3; b++) {
        const double v = u[b] / u[0];
        q += 0.5 * v * v;
        x[b] = v * w[0] + w[b];
        x[4] += v * w[b];
    }
    x[4] += q * w[0];
}

void oracle_jacobian_flux(const double u[NC], int dir, double a[NC][NC])
{
    int n = dir + 1;
    double r = 1.0 / u[0];
    double q = 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) * r * r;
    memset(a, 0, sizeof(double[NC][NC]));
    a[0][n] = 1.0;
    for (int b = 1; b <= 3; b++) {
        if (b == n) continue;
        a[b][0] = -u[b] * u[n] * r * r;
        a[b][b] = u[n] * r;
        a[b][n] = u[b] * r;
        a[n][b] = -BT_C2 * u[b] * r;
    }
    a[n][0] = -u[n] * u[n] * r * r + BT_C2 * q;
    a[n][n] = (2.0 - BT_C2) * u[n] * r;
    a[n][4] = BT_C2;
    jacobian_energy_row(u, dir, a[4]);
}

void oracle_jacobian_viscous(const double u[NC], int dir, double a[NC][NC])
{
    double r = 1.0 / u[0];
    memset(a, 0, sizeof(double[NC][NC]));
    a[4][0] = -BT_KE * u[4] * r * r;
    for (int b = 1; b <= 3; b++) {
        double f = b == dir + 1 ? BT_A43 : 1.0;
        a[b][0] = -f * BT_KAPPA * u[b] * r * r;
        a[b][b] = f * BT_KAPPA * r;
        a[4][0] -= (f * BT_KAPPA - BT_KE) * u[b] * u[b] * r * r * r;
        a[4][b] = (f * BT_KAPPA - BT_KE) * u[b] * r * r;
    }
    a[4][4] = BT_KE * r;
}

/* out = alpha A + beta N + gamma I at one point. */
static void combine(const double u[NC], int dir, const double weight[3], double out[NC][NC])
{
    double a[NC][NC], v[NC][NC];
    oracle_jacobian_flux(u, dir, a);
    oracle_jacobian_viscous(u, dir, v);
    for (int p = 0; p < NC; p++)
        for (int q = 0; q < NC; q++)
            out[p][q] = weight[0] * a[p][q] + weight[1] * v[p][q] + (p == q ? weight[2] : 0.0);
}

void oracle_line_row(const struct oracle *o, int dir, const int at[3], int l,
                     struct oracle_row *row)
{
    double h = 1.0 / (o->n - 1), t1 = o->dt / (h * h), t2 = o->dt / (2.0 * h);
    double d = dissipation[dir];
    int p[3] = {at[0], at[1], at[2]};
    p[dir] = l;
    memset(row, 0, sizeof *row);
    if (l == 0 || l == o->n - 1) {
        for (int m = 0; m < NC; m++)
            row->diagonal[m][m] = 1.0;
        return;
    }
    combine(shifted(o, o->u, p, dir, -1), dir, (double[3]){-t2, -t1, -t1 * d}, row->lower);
    combine(shifted(o, o->u, p, dir, 0), dir, (double[3]){0.0, 2.0 * t1, 1.0 + 2.0 * t1 * d},
            row->diagonal);
    combine(shifted(o, o->u, p, dir, 1), dir, (double[3]){t2, -t1, -t1 * d}, row->upper);
}

/* Solves a X = b for cols right-hand sides by Gaussian elimination without pivoting; destroys a. */
static void solve_block(double a[NC][NC], double b[NC][NC + 1])
{
    for (int p = 0; p < NC; p++)
        for (int q = 0; q < NC; q++) {
            double factor = a[q][p] / a[p][p];
            if (q == p) continue;
            for (int c = p; c < NC; c++)
                a[q][c] -= factor * a[p][c];
            for (int c = 0; c <= NC; c++)
                b[q][c] -= factor * b[p][c];
        }
    for (int p = 0; p < NC; p++)
        for (int c = 0; c <= NC; c++)
            b[p][c] /= a[p][p];
}

/* Eliminates the lower block of a row. e: [in] eliminated upper block and right-hand side of the
 * row before, five columns and one; [out] those of this row. */
static void eliminate(struct oracle_row *row, const double rhs[NC], const double before[NC][NC + 1],
                      double e[NC][NC + 1])
{
    for (int p = 0; p < NC; p++) {
        for (int q = 0; q < NC; q++)
            e[p][q] = row->upper[p][q];
        e[p][NC] = rhs[p];
        for (int s = 0; s < NC; s++) {
            for (int q = 0; q < NC; q++)
                row->diagonal[p][q] -= row->lower[p][s] * before[s][q];
            e[p][NC] -= row->lower[p][s] * before[s][NC];
        }
    }
    solve_block(row->diagonal, e);
}

/* Block elimination along one line, then back substitution into R. */
static void solve_line(struct oracle *o, int dir, const int at[3], double (*e)[NC][NC + 1])
{
    static const double nothing[NC][NC + 1];
    int p[3] = {at[0], at[1], at[2]};
    p[dir] = 0;
    for (int l = 0; l < o->n; l++) {
        struct oracle_row row;
        oracle_line_row(o, dir, at, l, &row);
        eliminate(&row, shifted(o, o->r, p, dir, l), l > 0 ? e[l - 1] : nothing, e[l]);
    }
    for (int l = o->n - 1; l >= 0; l--)
        for (int m = 0; m < NC; m++) {
            /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): eliminate has set all of e */
            double x = e[l][m][NC];
            for (int s = 0; l < o->n - 1 && s < NC; s++)
                x -= e[l][m][s] * shifted(o, o->r, p, dir, l + 1)[s];
            shifted(o, o->r, p, dir, l)[m] = x;
        }
}

void oracle_sweep(struct oracle *o, int dir)
{
    double(*e)[NC][NC + 1] = malloc((size_t)o->n * sizeof *e);
    if (e == NULL) abort();
    int second = dir == ORACLE_XI ? 1 : 0, third = dir == ORACLE_ZETA ? 1 : 2;
    int at[3] = {0, 0, 0};
    for (at[third] = 1; at[third] < o->n - 1; at[third]++)
        for (at[second] = 1; at[second] < o->n - 1; at[second]++)
            solve_line(o, dir, at, e);
    free(e);
}

static void add_point(struct oracle *o, const int at[3], void *arg)
{
    (void)arg;
    double *u = oracle_at(o, o->u, at[0], at[1], at[2]);
    const double *r = oracle_at(o, o->r, at[0], at[1], at[2]);
    for (int m = 0; m < NC; m++)
        u[m] += r[m];
}

void oracle_add(struct oracle *o)
{
    each_point(o, 1, add_point, NULL);
}

void oracle_step(struct oracle *o)
{
    oracle_rhs(o);
    for (int dir = ORACLE_XI; dir <= ORACLE_ZETA; dir++)
        oracle_sweep(o, dir);
    oracle_add(o);
}

/* Root mean square over the interior of w, or of w minus the exact solution. */
static void root_mean_square(const struct oracle *o, double *w, bool minus_exact, double out[NC])
{
    double sum[NC] = {0.0}, cells = pow(o->n - 2, 3.0);
    for (int k = 0; k < o->n; k++)
        for (int j = 0; j < o->n; j++)
            for (int i = 0; i < o->n; i++) {
                const double *x = oracle_at(o, w, i, j, k);
                double exact[NC] = {0.0};
                if (minus_exact) exact_point(o, i, j, k, exact);
                for (int m = 0; m < NC; m++)
                    sum[m] += (x[m] - exact[m]) * (x[m] - exact[m]);
            }
    for (int m = 0; m < NC; m++)
        out[m] = sqrt(sum[m] / cells);
}

void oracle_rms(const struct oracle *o, double *w, double rms[NC])
{
    root_mean_square(o, w, false, rms);
}

void oracle_error_norms(const struct oracle *o, double xce[NC])
{
    root_mean_square(o, o->u, true, xce);
}

void oracle_residual_norms(struct oracle *o, double xcr[NC])
{
    oracle_rhs(o);
    root_mean_square(o, o->r, false, xcr);
    for (int m = 0; m < NC; m++)
        xcr[m] /= o->dt;
}
