/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parallel solver against the published norms and the intermediate values of [BT] section 12,
 * classes S and W. */
#include <math.h>
#include <mpi.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/bt_runs.h"
#include "tests/bt_values.h"

enum { NC = BT_NCOMP };

/* Relative tolerance of intermediate values. */
#define CLOSE 1e-12

/* Checks R on the rank that owns (5,5,5), or dt H on that of (1,2,3), against a listed value. */
static void check_listed(const char *what, struct bt_state a, const int64_t at[3], double scale,
                         const double ref[NC])
{
    double x[NC];
    if (!runs_owns(&a, at)) return;
    for (int m = 0; m < NC; m++)
        x[m] = runs_value(&a, at, m) * scale;
    runs_check_five(what, "listed value", x, ref, CLOSE);
}

static void add_square(const struct bt_state *a, const int64_t at[3], void *sum)
{
    for (int m = 0; m < NC; m++)
        ((double *)sum)[m] += runs_value(a, at, m) * runs_value(a, at, m);
}

static void check_forcing_rms(const struct bt_solver *s, const struct runs_case *run,
                              const double ref[NC])
{
    double sum[NC] = {0.0};
    runs_each_cell(bt_solver_forcing(s), add_square, sum);
    MPI_Allreduce(MPI_IN_PLACE, sum, NC, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int m = 0; m < NC; m++)
        sum[m] = sqrt(sum[m] / pow((double)run->n - 2.0, 3.0)) / run->dt;
    runs_check_five("RMS of the forcing term", run->decomp, sum, ref, CLOSE);
}

static void check_phases(struct bt_solver *s, const struct runs_case *run,
                         const struct bt_values *v)
{
    static const int64_t middle[3] = {5, 5, 5};
    static const char *const name[4] = {"rhs", "R after xi", "R after eta", "R after zeta"};
    for (int phase = 0; phase < 4; phase++) {
        runs_must(phase == 0 ? bt_solver_rhs(s) : bt_solver_sweep(s, phase - 1), name[phase]);
        struct bt_state x;
        runs_increments(s, run, phase, &x);
        check_listed(name[phase], x, middle, 1.0, v->r[phase]);
        free((double *)x.u);
    }
}

static void listed_start(const struct runs_case *run, const struct bt_values *v)
{
    static const int64_t corner[3] = {1, 2, 3};
    struct bt_solver *s = runs_new(MPI_COMM_WORLD, run);
    check_forcing_rms(s, run, v->rms_forcing);
    check_listed("forcing term", bt_solver_forcing(s), corner, 1.0 / run->dt, v->forcing);
    check_listed("initial condition", bt_solver_state(s), corner, 1.0, v->initial);
    check_phases(s, run, v);
    bt_solver_free(s);
}

static void check_norms(struct bt_solver *s, const char *when, const double error[NC],
                        const double residual[NC], double tolerance)
{
    double x[NC];
    runs_must(bt_solver_error_norms(s, x), "bt_solver_error_norms");
    runs_check_five("error norms", when, x, error, tolerance);
    runs_must(bt_solver_residual_norms(s, x), "bt_solver_residual_norms");
    runs_check_five("residual norms", when, x, residual, tolerance);
}

static void listed_steps(const struct runs_case *run, const struct bt_values *v)
{
    struct bt_solver *s = runs_new(MPI_COMM_WORLD, run);
    for (int c = 0; c < BT_VALUES_STEPS; c++) {
        char when[40];
        snprintf(when, sizeof when, "class %c, step %d", v->cls, bt_values_step[c]);
        runs_advance(s, bt_values_step[c] - (c > 0 ? bt_values_step[c - 1] : 0));
        check_norms(s, when, v->error[c], v->residual[c], CLOSE);
    }
    bt_solver_free(s);
}

/* To the last step; the state is made anew after one step, as in a timed run. */
static void listed_end(const struct runs_case *run, const struct bt_values *v)
{
    const struct bt_reference *ref = bt_reference_find(run->n, run->steps, run->dt);
    double x[NC], mean[NC] = {0.0};
    struct bt_solver *s = runs_new(MPI_COMM_WORLD, run);
    runs_advance(s, 1);
    bt_solver_reset(s);
    for (int64_t step = 5; step <= run->steps; step += 5) {
        runs_advance(s, 5);
        runs_must(bt_solver_error_norms(s, x), "bt_solver_error_norms");
        for (int m = 0; m < NC; m++)
            mean[m] += x[m] * 5.0 / (double)run->steps;
    }
    assert_non_null(ref);
    check_norms(s, "published, last step", ref->error, ref->residual, BT_TOLERANCE);
    check_norms(s, "listed, last step", v->error_final, v->residual_final, 1e-10);
    runs_check_five("mean error norms", "published", mean, ref->mean_error, BT_TOLERANCE);
    runs_check_five("mean error norms", "listed", mean, v->error_mean, CLOSE);
    bt_solver_free(s);
}

static void check_class(const struct bt_values *v)
{
    static const char *const decomps[] = {"auto", "1d:x", "3d"};
    struct bt_problem p;
    runs_must(bt_problem_class(v->cls, &p), "bt_problem_class");
    for (size_t c = 0; c < sizeof decomps / sizeof decomps[0]; c++) {
        struct runs_case run = {.n = p.n, .steps = p.steps, .dt = p.dt, .decomp = decomps[c]};
        listed_start(&run, v);
        listed_steps(&run, v);
        if (c == 0) listed_end(&run, v);
    }
}

static void test_class_s(void **state)
{
    (void)state;
    runs_failures = 0;
    check_class(&bt_values[0]);
    assert_int_equal(runs_failures, 0);
}

static void test_class_w(void **state)
{
    (void)state;
    runs_failures = 0;
    check_class(&bt_values[1]);
    assert_int_equal(runs_failures, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_class_s),
        cmocka_unit_test(test_class_w),
    };
    runs_begin(&argc, &argv);
    return runs_end("mpi_bt_values", cmocka_run_group_tests(tests, NULL, NULL));
}
