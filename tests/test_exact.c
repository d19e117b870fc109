/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact solution and initial condition against the oracle, which evaluates them straight from the
 * published table. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "bt/solver/exact.h"
#include "tests/bt_values.h"
#include "tests/oracle.h"

static void check_point(const double x[BT_NCOMP], const double ref[BT_NCOMP])
{
    assert_true(bt_reference_deviation(x, ref) <= 1e-13);
}

static void check_grid(int n)
{
    struct bt_exact e;
    struct oracle o;
    double u[BT_NCOMP], ref[BT_NCOMP];
    assert_int_equal(bt_exact_new(&e, n), ERR_OK);
    oracle_new(&o, n, 1e-3);
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                bt_exact_at(&e, i, j, k, u);
                oracle_exact((double)i / (n - 1), (double)j / (n - 1), (double)k / (n - 1), ref);
                check_point(u, ref);
                bt_exact_initial(&e, i, j, k, u);
                check_point(u, oracle_at(&o, o.u, i, j, k));
            }
    oracle_free(&o);
    bt_exact_free(&e);
}

static void test_every_point(void **state)
{
    (void)state;
    check_grid(6);
    check_grid(7);
    check_grid(12);
    check_grid(33);
}

static void test_intermediate_values(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        struct bt_problem p;
        struct bt_exact e;
        double u[BT_NCOMP];
        assert_int_equal(bt_problem_class(bt_values[c].cls, &p), ERR_OK);
        assert_int_equal(bt_exact_new(&e, p.n), ERR_OK);
        bt_exact_at(&e, 1, 2, 3, u);
        check_point(u, bt_values[c].exact);
        bt_exact_initial(&e, 1, 2, 3, u);
        check_point(u, bt_values[c].initial);
        bt_exact_free(&e);
    }
}

/* On the faces the initial condition is the exact solution to the last bit: error norms count on
 * boundary terms that vanish. */
static void test_faces_are_exact(void **state)
{
    (void)state;
    const int64_t n = 11;
    struct bt_exact e;
    assert_int_equal(bt_exact_new(&e, n), ERR_OK);
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b < n; b++)
            for (int face = 0; face < 6; face++) {
                int64_t at[3] = {a, a, b}, s = face % 2 * (n - 1);
                double u[BT_NCOMP], ref[BT_NCOMP];
                if (face / 2 == 2) at[1] = b;
                at[face / 2] = s;
                bt_exact_initial(&e, at[0], at[1], at[2], u);
                bt_exact_at(&e, at[0], at[1], at[2], ref);
                assert_memory_equal(u, ref, sizeof u);
            }
    bt_exact_free(&e);
}

static void test_coordinates(void **state)
{
    (void)state;
    for (int64_t n = BT_N_MIN; n < 3000; n++) {
        assert_true(bt_exact_coordinate(n, 0) == 0.0);
        assert_true(bt_exact_coordinate(n, n - 1) == 1.0);
        assert_true(bt_exact_coordinate(n, n - 2) < 1.0);
    }
    assert_true(bt_exact_coordinate(5, 1) == 0.25);
}

static void test_corner_values(void **state)
{
    (void)state;
    static const double origin[BT_NCOMP] = {2.0, 1.0, 2.0, 2.0, 5.0};
    static const double far[BT_NCOMP] = {15.76, 8.26, 10.32, 9.72, 15.52};
    struct bt_exact e;
    double u[BT_NCOMP];
    assert_int_equal(bt_exact_new(&e, 2560), ERR_OK);
    bt_exact_at(&e, 0, 0, 0, u);
    assert_memory_equal(u, origin, sizeof u);
    bt_exact_at(&e, 2559, 2559, 2559, u);
    check_point(u, far);
    bt_exact_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_point),     cmocka_unit_test(test_intermediate_values),
        cmocka_unit_test(test_faces_are_exact), cmocka_unit_test(test_coordinates),
        cmocka_unit_test(test_corner_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
