/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classes, published values, dump schedule and nominal operations. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "bt/solver/problem.h"

static const char classes[] = "SWABCDEF";

static void test_classes(void **state)
{
    (void)state;
    static const int64_t n[] = {12, 24, 64, 102, 162, 408, 1020, 2560};
    static const int64_t steps[] = {60, 200, 200, 200, 200, 250, 250, 250};
    static const double dt[] = {1e-2, 8e-4, 8e-4, 3e-4, 1e-4, 2e-5, 4e-6, 6e-7};
    for (int c = 0; classes[c] != '\0'; c++) {
        struct bt_problem p;
        assert_int_equal(bt_problem_class(classes[c], &p), ERR_OK);
        assert_int_equal(p.cls, classes[c]);
        assert_int_equal(p.n, n[c]);
        assert_int_equal(p.steps, steps[c]);
        assert_true(p.dt == dt[c]);
        assert_int_equal(p.interval, classes[c] == 'S' ? 10 : 5);
        assert_false(p.last);
    }
}

static void test_unknown_class(void **state)
{
    (void)state;
    const char wrong[] = "GUsX ";
    for (int c = 0; wrong[c] != '\0'; c++) {
        struct bt_problem p;
        err_clear();
        assert_int_equal(bt_problem_class(wrong[c], &p), ERR_USAGE);
        assert_non_null(strstr(err_message(), "--class"));
        assert_non_null(strstr(err_message(), "S W A B C D E F"));
    }
    err_clear();
}

static void test_reference_of_every_class(void **state)
{
    (void)state;
    for (int c = 0; classes[c] != '\0'; c++) {
        struct bt_problem p;
        assert_int_equal(bt_problem_class(classes[c], &p), ERR_OK);
        const struct bt_reference *ref = bt_reference_find(p.n, p.steps, p.dt);
        assert_non_null(ref);
        assert_int_equal(ref->cls, classes[c]);
        assert_int_equal(ref->has_mean, classes[c] != 'F');
        for (int m = 0; m < BT_NCOMP; m++) {
            assert_true(ref->residual[m] > 0.0 && ref->error[m] > 0.0);
            assert_int_equal(ref->mean_error[m] > 0.0, ref->has_mean);
        }
    }
}

static void test_no_reference_elsewhere(void **state)
{
    (void)state;
    assert_null(bt_reference_find(64, 200, 8.2e-4));
    assert_null(bt_reference_find(64, 199, 8e-4));
    assert_null(bt_reference_find(65, 200, 8e-4));
    assert_non_null(bt_reference_find(64, 200, 8e-4 * (1 + 0.9e-6)));
    assert_null(bt_reference_find(64, 200, 8e-4 * (1 + 1.1e-6)));
    assert_null(bt_reference_find(64, 200, -8e-4));
    assert_non_null(bt_reference_find(12, 60, 1e-2 + 0.9e-8));
    assert_null(bt_reference_find(12, 60, 1e-2 + 1.1e-8));
    assert_null(bt_reference_find(64, 200, NAN));
}

/* Fewer steps of class A have norms, but are no class. */
static void test_class_a_with_fewer_steps(void **state)
{
    (void)state;
    for (int steps = 20; steps <= 200; steps += 20) {
        const struct bt_reference *ref = bt_reference_find(64, steps, 8e-4);
        assert_non_null(ref);
        assert_int_equal(ref->computed, steps < 200);
        assert_true(ref->cls == 'A' && ref->steps == steps && ref->has_mean);
    }
    for (int i = 0; bt_reference_at(i); i++)
        assert_false(bt_reference_at(i)->computed);
}

/* A dt of 1e-8 beside that of class F is 1.6 % off. */
static void test_small_dt_is_told_apart(void **state)
{
    (void)state;
    assert_non_null(bt_reference_find(2560, 250, 6e-7));
    assert_null(bt_reference_find(2560, 250, 6.1e-7));
    assert_null(bt_reference_find(1020, 250, 4.01e-6));
}

static void test_deviation(void **state)
{
    (void)state;
    const double ref[BT_NCOMP] = {1.0, -2.0, 4.0, 8.0, 16.0};
    double x[BT_NCOMP] = {1.0, -2.0, 4.0, 8.0, 16.0};
    assert_true(bt_reference_deviation(x, ref) == 0.0);
    x[1] = -2.5;
    assert_true(bt_reference_deviation(x, ref) == 0.25);
    x[4] = 8.0;
    assert_true(bt_reference_deviation(x, ref) == 0.5);
    x[0] = NAN;
    assert_true(isinf(bt_reference_deviation(x, ref)));
    x[0] = INFINITY;
    assert_true(isinf(bt_reference_deviation(x, ref)));
}

/* Counts dumps one step at a time. */
static int64_t dumps_counted(const struct bt_problem *p)
{
    int64_t dumps = 0;
    for (int64_t s = -3; s <= p->steps + 10; s++)
        dumps += bt_problem_dump_due(p, s) ? 1 : 0;
    return dumps;
}

static void test_dump_schedule(void **state)
{
    (void)state;
    struct bt_problem p = {.n = 12, .dt = 1e-2};
    for (p.steps = 1; p.steps <= 30; p.steps++)
        for (p.interval = 1; p.interval <= 35; p.interval++)
            for (int last = 0; last < 2; last++) {
                p.last = last != 0;
                assert_int_equal(bt_problem_dumps(&p), dumps_counted(&p));
                assert_int_equal(bt_problem_dump_due(&p, p.steps),
                                 last != 0 || p.steps % p.interval == 0);
            }
    p = (struct bt_problem){.steps = 200, .interval = 5};
    assert_int_equal(bt_problem_dumps(&p), 40);
    assert_true(bt_problem_dump_due(&p, 5) && !bt_problem_dump_due(&p, 4));
    p.interval = 7;
    assert_int_equal(bt_problem_dumps(&p), 28);
    p.last = true;
    assert_int_equal(bt_problem_dumps(&p), 29);
}

static void test_nominal_operations(void **state)
{
    (void)state;
    static const struct {
        char cls;
        double gflop;
    } work[] = {{'S', 0.22831380}, {'W', 7.7187634}, {'A', 168.284463}, {'B', 702.179781},
                {'C', 2866.27985}, {'D', 58335.785}, {'E', 918347.496}};
    for (size_t c = 0; c < sizeof work / sizeof work[0]; c++) {
        struct bt_problem p;
        assert_int_equal(bt_problem_class(work[c].cls, &p), ERR_OK);
        assert_true(fabs(bt_problem_flop(&p) * 1e-9 / work[c].gflop - 1.0) < 1e-6);
    }
}

/* Sizes that 32 bits cannot hold; the exact integer is computed beside the double. */
static void test_large_sizes(void **state)
{
    (void)state;
    struct bt_problem p;
    assert_int_equal(bt_problem_class('F', &p), ERR_OK);
    int64_t cells = p.n * p.n * p.n;
    assert_int_equal(cells, INT64_C(16777216000));
    assert_int_equal(cells * BT_NCOMP * 8 * bt_problem_dumps(&p), INT64_C(33554432000000));
    int64_t tenths = INT64_C(34788) * cells - INT64_C(176557) * p.n * p.n + INT64_C(280237) * p.n;
    assert_true(fabs(bt_problem_flop(&p) / ((double)tenths * 25.0) - 1.0) < 1e-14);
    assert_true(INT64_MAX / 40 / BT_N_MAX / BT_N_MAX / BT_N_MAX > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_unknown_class),
        cmocka_unit_test(test_reference_of_every_class),
        cmocka_unit_test(test_no_reference_elsewhere),
        cmocka_unit_test(test_class_a_with_fewer_steps),
        cmocka_unit_test(test_small_dt_is_told_apart),
        cmocka_unit_test(test_deviation),
        cmocka_unit_test(test_dump_schedule),
        cmocka_unit_test(test_nominal_operations),
        cmocka_unit_test(test_large_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
