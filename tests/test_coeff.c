/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sparse coefficients of [BTF] section 1, which the kernels are built on, against products of
 * the dense Jacobians of [BT] section 8 at random states. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/oracle.h"

enum { NC = BT_NCOMP, STATES = 2000 };

/* One cell and one direction: primitive quantities and t1 d, t1, t2 of the system. */
struct cell {
    double u[NC]; /* conservative state */
    double vel[4], r, q, th;
    int a; /* 1, 2, 3: momentum component of the direction */
    double t1, t2, d;
};

/* Uniform in [low, high), reproducible. */
static double random_in(double low, double high)
{
    return low + (high - low) * ((double)rand() / ((double)RAND_MAX + 1.0));
}

static void random_cell(struct cell *c)
{
    c->u[0] = random_in(0.5, 3.0);
    c->u[4] = random_in(4.0, 30.0);
    c->r = 1.0 / c->u[0];
    c->q = 0.0;
    for (int b = 1; b <= 3; b++) {
        c->u[b] = random_in(-2.385, 2.385);
        c->vel[b] = c->u[b] * c->r;
        c->q += 0.5 * c->vel[b] * c->vel[b];
    }
    c->th = BT_C2 * (c->u[4] * c->r - c->q);
    c->a = 1 + rand() % 3;
    c->t1 = random_in(0.01, 2.0);
    c->t2 = random_in(0.01, 0.5);
    c->d = random_in(0.5, 1.5);
}

/* A row in the frame that moves with the velocity of a cell, over t2. */
static void to_frame(const struct cell *frame, double t2, double x[NC])
{
    for (int b = 1; b <= 3; b++) {
        x[b] -= frame->vel[b] * x[0];
        x[4] -= frame->vel[b] * x[b];
    }
    x[4] -= frame->q * x[0];
    for (int m = 0; m < NC; m++)
        x[m] /= t2;
}

/* (flux A + viscous N + unit I) M w by dense products. */
static void dense(const struct cell *c, const double weight[3], const double w[NC], double out[NC])
{
    double a[NC][NC], v[NC][NC], x[NC];
    oracle_jacobian_flux(c->u, c->a - 1, a);
    oracle_jacobian_viscous(c->u, c->a - 1, v);
    oracle_increment(c->u, w, x);
    for (int p = 0; p < NC; p++) {
        out[p] = weight[2] * x[p];
        for (int s = 0; s < NC; s++)
            out[p] += (weight[0] * a[p][s] + weight[1] * v[p][s]) * x[s];
    }
}

static double viscosity(const struct cell *c, int b)
{
    return (b == c->a ? BT_A43 : 1.0) * BT_KAPPA * c->r;
}

/* -Lo M w of the cell with t = t1 / t2, or Up M w with its negative, in the frame of another cell. */
static void sparse_off_diagonal(const struct cell *c, const struct cell *frame, double t,
                                const double w[NC], double out[NC])
{
    int a = c->a;
    double s = c->vel[a] + t * c->d, heat = t * BT_KE / BT_C2 * c->r, q = 0.0, v[4];
    double al = s * w[0] + w[a];
    for (int b = 1; b <= 3; b++) {
        v[b] = c->vel[b] - frame->vel[b];
        q += 0.5 * v[b] * v[b];
    }
    out[0] = al;
    out[4] = (q * s - heat * c->th) * w[0] + (s / BT_C2 + v[a] + heat) * w[4];
    for (int b = 1; b <= 3; b++) {
        double g = s + t * viscosity(c, b);
        out[b] = v[b] * al + g * w[b] + (b == a ? w[4] : 0.0);
        out[4] += (b == a ? q + v[a] * g + BT_C1 / BT_C2 * c->th : v[b] * g) * w[b];
    }
}

static void sparse_diagonal(const struct cell *c, const struct cell *frame, const double w[NC],
                            double out[NC])
{
    double t = c->t1 / c->t2, del = 1.0 / c->t2 + 2.0 * t * c->d;
    double heat = 2.0 * t * BT_KE / BT_C2 * c->r, q = 0.0;
    out[0] = del * w[0];
    out[4] = (del / BT_C2 + heat) * w[4];
    for (int b = 1; b <= 3; b++) {
        double h = del + 2.0 * t * viscosity(c, b), v = c->vel[b] - frame->vel[b];
        out[b] = del * v * w[0] + h * w[b];
        out[4] += v * h * w[b];
        q += 0.5 * v * v;
    }
    out[4] += (del * q - heat * c->th) * w[0];
}

static void check_equal(const double x[NC], const double ref[NC])
{
    double scale = 0.0;
    for (int m = 0; m < NC; m++)
        scale = fmax(scale, fabs(ref[m]));
    for (int m = 0; m < NC; m++)
        assert_true(fabs(x[m] - ref[m]) <= 1e-12 * scale);
}

static void random_increment(double w[NC])
{
    for (int m = 0; m < NC; m++)
        w[m] = random_in(-1.0, 1.0);
}

static void test_lower_block(void **state)
{
    (void)state;
    srand(1234);
    for (int n = 0; n < STATES; n++) {
        struct cell c;
        double w[NC], x[NC], ref[NC];
        random_cell(&c);
        random_increment(w);
        sparse_off_diagonal(&c, &c, c.t1 / c.t2, w, x);
        dense(&c, (double[3]){c.t2, c.t1, c.t1 * c.d}, w, ref);
        to_frame(&c, c.t2, ref);
        check_equal(x, ref);
    }
}

static void test_upper_block(void **state)
{
    (void)state;
    srand(2345);
    for (int n = 0; n < STATES; n++) {
        struct cell c, frame;
        double w[NC], x[NC], ref[NC];
        random_cell(&c);
        random_cell(&frame);
        random_increment(w);
        sparse_off_diagonal(&c, &frame, -c.t1 / c.t2, w, x);
        dense(&c, (double[3]){c.t2, -c.t1, -c.t1 * c.d}, w, ref);
        to_frame(&frame, c.t2, ref);
        check_equal(x, ref);
    }
}

static void test_diagonal_block(void **state)
{
    (void)state;
    srand(3456);
    for (int n = 0; n < STATES; n++) {
        struct cell c, frame;
        double w[NC], x[NC], ref[NC];
        random_cell(&c);
        random_cell(&frame);
        random_increment(w);
        sparse_diagonal(&c, &frame, w, x);
        dense(&c, (double[3]){0.0, 2.0 * c.t1, 1.0 + 2.0 * c.t1 * c.d}, w, ref);
        to_frame(&frame, c.t2, ref);
        check_equal(x, ref);
    }
}

/* What a sweep leaves, in the frame of the cell below: the right-hand side of the next sweep. */
static void test_between_sweeps(void **state)
{
    (void)state;
    srand(4567);
    for (int n = 0; n < STATES; n++) {
        struct cell c, frame;
        double w[NC], x[NC], ref[NC], v, q = 0.0;
        random_cell(&c);
        random_cell(&frame);
        random_increment(w);
        x[0] = w[0];
        x[4] = w[4] / BT_C2;
        for (int b = 1; b <= 3; b++) {
            v = c.vel[b] - frame.vel[b];
            q += 0.5 * v * v;
            x[b] = w[b] + v * w[0];
            x[4] += v * w[b];
        }
        x[4] += q * w[0];
        oracle_increment(c.u, w, ref);
        to_frame(&frame, 1.0, ref);
        check_equal(x, ref);
    }
}

/* The Jacobians themselves against centred differences of a flux written on its own. */
static void flux_along(const double u[NC], int a, double f[NC])
{
    double v = u[a] / u[0];
    double kinetic = 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / u[0];
    double p = BT_C2 * (u[4] - kinetic);
    f[0] = u[a];
    f[4] = (u[4] + p) * v;
    for (int b = 1; b <= 3; b++)
        f[b] = u[b] * v + (b == a ? p : 0.0);
}

static void test_flux_jacobian_is_the_derivative(void **state)
{
    (void)state;
    srand(4567);
    for (int n = 0; n < 100; n++) {
        struct cell c;
        double jacobian[NC][NC];
        random_cell(&c);
        oracle_jacobian_flux(c.u, c.a - 1, jacobian);
        for (int s = 0; s < NC; s++) {
            double step = 1e-5, low[NC], high[NC], f[2][NC];
            for (int m = 0; m < NC; m++) {
                low[m] = c.u[m] - (m == s ? step : 0.0);
                high[m] = c.u[m] + (m == s ? step : 0.0);
            }
            flux_along(low, c.a, f[0]);
            flux_along(high, c.a, f[1]);
            for (int m = 0; m < NC; m++)
                assert_true(fabs((f[1][m] - f[0][m]) / (2.0 * step) - jacobian[m][s]) < 1e-6);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lower_block),
        cmocka_unit_test(test_upper_block),
        cmocka_unit_test(test_diagonal_block),
        cmocka_unit_test(test_between_sweeps),
        cmocka_unit_test(test_flux_jacobian_is_the_derivative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
