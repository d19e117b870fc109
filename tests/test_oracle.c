/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The oracle against the published and intermediate values of [BT], so that the solver can be
 * compared with it at any N. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <gsl/gsl_linalg.h>

#include "tests/bt_values.h"
#include "tests/oracle.h"
#include "tests/skip.h"

/* Relative tolerance of the intermediate values. */
#define CLOSE 1e-12

static void check_five(const char *what, const double x[BT_NCOMP], const double ref[BT_NCOMP],
                       double tolerance)
{
    double deviation = bt_reference_deviation(x, ref);
    if (!(deviation <= tolerance)) fail_msg("%s is off by %.3g", what, deviation);
}

static void make(struct oracle *o, char cls)
{
    struct bt_problem p;
    assert_int_equal(bt_problem_class(cls, &p), 0);
    oracle_new(o, (int)p.n, p.dt);
}

static void start_values(const struct bt_values *v)
{
    struct oracle o;
    double x[BT_NCOMP];
    make(&o, v->cls);
    oracle_rms(&o, o.h, x);
    check_five("RMS of the forcing term", x, v->rms_forcing, CLOSE);
    oracle_exact(1.0 / (o.n - 1), 2.0 / (o.n - 1), 3.0 / (o.n - 1), x);
    check_five("exact solution", x, v->exact, CLOSE);
    check_five("initial condition", oracle_at(&o, o.u, 1, 2, 3), v->initial, CLOSE);
    check_five("forcing term", oracle_at(&o, o.h, 1, 2, 3), v->forcing, CLOSE);
    oracle_free(&o);
}

static void phase_values(const struct bt_values *v)
{
    static const char *const name[4] = {"rhs", "R after xi", "R after eta", "R after zeta"};
    struct oracle o;
    make(&o, v->cls);
    oracle_rhs(&o);
    for (int phase = 0; phase < 4; phase++) {
        if (phase > 0) oracle_sweep(&o, phase - 1);
        check_five(name[phase], oracle_at(&o, o.r, 5, 5, 5), v->r[phase], CLOSE);
    }
    oracle_free(&o);
}

static void step_values(const struct bt_values *v)
{
    struct oracle o;
    double x[BT_NCOMP];
    int step = 0;
    make(&o, v->cls);
    for (int s = 0; s < BT_VALUES_STEPS; s++) {
        for (; step < bt_values_step[s]; step++)
            oracle_step(&o);
        oracle_error_norms(&o, x);
        check_five("error norm", x, v->error[s], CLOSE);
        oracle_residual_norms(&o, x);
        check_five("residual norm", x, v->residual[s], CLOSE);
    }
    oracle_free(&o);
}

static void test_start(void **state)
{
    (void)state;
    start_values(&bt_values[0]);
    start_values(&bt_values[1]);
}

static void test_phases(void **state)
{
    (void)state;
    phase_values(&bt_values[0]);
    phase_values(&bt_values[1]);
}

static void test_steps(void **state)
{
    (void)state;
    step_values(&bt_values[0]);
    step_values(&bt_values[1]);
}

static void test_class_s_to_the_end(void **state)
{
    (void)state;
    struct oracle o;
    double x[BT_NCOMP], mean[BT_NCOMP] = {0.0};
    const struct bt_reference *ref = bt_reference_find(12, 60, 1e-2);
    assert_non_null(ref);
    make(&o, 'S');
    for (int s = 1; s <= 60; s++) {
        oracle_step(&o);
        oracle_error_norms(&o, x);
        for (int m = 0; s % 5 == 0 && m < BT_NCOMP; m++)
            mean[m] += x[m] / 12.0;
    }
    check_five("final error norm", x, ref->error, BT_TOLERANCE);
    check_five("final error norm", x, bt_values[0].error_final, 1e-10);
    oracle_residual_norms(&o, x);
    check_five("final residual norm", x, ref->residual, BT_TOLERANCE);
    check_five("final residual norm", x, bt_values[0].residual_final, 1e-10);
    check_five("mean error norm", mean, ref->mean_error, BT_TOLERANCE);
    check_five("mean error norm", mean, bt_values[0].error_mean, CLOSE);
    oracle_free(&o);
}

/* Five minutes: the norms of class A with fewer steps, and at its end the published ones. */
static void test_class_a_with_fewer_steps(void **state)
{
    (void)state;
    struct oracle o;
    double x[BT_NCOMP], sum[BT_NCOMP] = {0.0}, mean[BT_NCOMP];
    int computed_n = 0;
    if (!getenv("NHT1_FULL")) SKIP_WITH("slow: part of make check-full");
    make(&o, 'A');
    for (int s = 1; s <= 200; s++) {
        oracle_step(&o);
        if (s % 5 != 0) continue;
        oracle_error_norms(&o, x);
        for (int m = 0; m < BT_NCOMP; m++) {
            sum[m] += x[m];
            mean[m] = sum[m] / (s / 5);
        }
        const struct bt_reference *ref = bt_reference_find(64, s, 8e-4);
        if (!ref) continue;
        computed_n += ref->computed;
        check_five("error norm", x, ref->error, ref->computed ? CLOSE : BT_TOLERANCE);
        check_five("mean error norm", mean, ref->mean_error, ref->computed ? CLOSE : BT_TOLERANCE);
        oracle_residual_norms(&o, x);
        check_five("residual norm", x, ref->residual, ref->computed ? CLOSE : BT_TOLERANCE);
    }
    assert_int_equal(computed_n, 9);
    oracle_free(&o);
}

static void test_exact_solution_is_steady(void **state)
{
    (void)state;
    struct oracle o;
    double rms[BT_NCOMP];
    oracle_new(&o, 9, 1e-3);
    for (int k = 0; k < 9; k++)
        for (int j = 0; j < 9; j++)
            for (int i = 0; i < 9; i++)
                oracle_exact(i / 8.0, j / 8.0, k / 8.0, oracle_at(&o, o.u, i, j, k));
    oracle_residual_norms(&o, rms);
    for (int m = 0; m < BT_NCOMP; m++)
        assert_true(rms[m] < 1e-11);
    oracle_free(&o);
}

/* Uniform in [low, high), reproducible. */
static double random_in(double low, double high)
{
    return low + (high - low) * ((double)rand() / ((double)RAND_MAX + 1.0));
}

static void random_state(double u[BT_NCOMP])
{
    u[0] = random_in(0.5, 3.0);
    for (int b = 1; b <= 3; b++)
        u[b] = random_in(-2.385, 2.385);
    u[4] = random_in(4.0, 30.0);
}

/* Copies a 5x5 block into the dense matrix of a line. */
static void put_block(gsl_matrix *matrix, int row, int column, double b[BT_NCOMP][BT_NCOMP])
{
    for (int p = 0; p < BT_NCOMP; p++)
        for (int q = 0; q < BT_NCOMP; q++)
            gsl_matrix_set(matrix, (size_t)(row * BT_NCOMP + p), (size_t)(column * BT_NCOMP + q),
                           b[p][q]);
}

static gsl_matrix *line_matrix(const struct oracle *o, int dir, const int at[3])
{
    size_t size = (size_t)o->n * BT_NCOMP;
    gsl_matrix *matrix = gsl_matrix_calloc(size, size);
    for (int l = 0; l < o->n; l++) {
        struct oracle_row row;
        oracle_line_row(o, dir, at, l, &row);
        if (l > 0) put_block(matrix, l, l - 1, row.lower);
        put_block(matrix, l, l, row.diagonal);
        if (l < o->n - 1) put_block(matrix, l, l + 1, row.upper);
    }
    return matrix;
}

/* The right-hand side of a line, or its solution after the sweep. */
static gsl_vector *line_vector(const struct oracle *o, int dir, const int at[3])
{
    gsl_vector *v = gsl_vector_alloc((size_t)o->n * BT_NCOMP);
    int p[3] = {at[0], at[1], at[2]};
    for (p[dir] = 0; p[dir] < o->n; p[dir]++)
        for (int m = 0; m < BT_NCOMP; m++)
            gsl_vector_set(v, (size_t)(p[dir] * BT_NCOMP + m),
                           oracle_at(o, o->r, p[0], p[1], p[2])[m]);
    return v;
}

/* Replaces b by the solution of matrix x = b; frees the matrix. */
static void solve_dense(gsl_matrix *matrix, gsl_vector *b)
{
    int sign;
    gsl_permutation *p = gsl_permutation_alloc(b->size);
    gsl_linalg_LU_decomp(matrix, p, &sign);
    gsl_linalg_LU_svx(matrix, p, b);
    gsl_permutation_free(p);
    gsl_matrix_free(matrix);
}

static void random_fill(struct oracle *o)
{
    for (int c = 0; c < o->n * o->n * o->n; c++) {
        random_state(o->u + c * BT_NCOMP);
        for (int m = 0; m < BT_NCOMP; m++)
            o->r[c * BT_NCOMP + m] = random_in(-1.0, 1.0);
    }
}

static void check_line_solve(int dir)
{
    struct oracle o;
    const int at[3] = {2, 3, 4};
    oracle_new(&o, 8, 3e-3);
    random_fill(&o);
    gsl_vector *dense = line_vector(&o, dir, at);
    solve_dense(line_matrix(&o, dir, at), dense);
    oracle_sweep(&o, dir);
    gsl_vector *swept = line_vector(&o, dir, at);
    for (size_t c = BT_NCOMP; c < dense->size - BT_NCOMP; c++)
        assert_true(fabs(gsl_vector_get(dense, c) - gsl_vector_get(swept, c)) < 1e-11);
    gsl_vector_free(dense);
    gsl_vector_free(swept);
    oracle_free(&o);
}

static void test_line_solve_against_dense_lu(void **state)
{
    (void)state;
    srand(1234);
    for (int dir = 0; dir < 3; dir++)
        check_line_solve(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_class_s_to_the_end),
        cmocka_unit_test(test_class_a_with_fewer_steps),
        cmocka_unit_test(test_exact_solution_is_steady),
        cmocka_unit_test(test_line_solve_against_dense_lu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
