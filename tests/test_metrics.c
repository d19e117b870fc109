/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The arithmetic of R_IO and zeta on the results published in [F93] tables 2 to 6. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "bt/metrics.h"

struct published {
    const char *system;
    int64_t n, steps, interval;
    double t_c_s, t_t_s, r_io, zeta;
};

/* Rows that agree with themselves. */
static const struct published rows[] = {
    {"Y-MP 1", 102, 200, 5, 3554, 3740, 453993, 0.052},
    {"Y-MP 2", 102, 200, 5, 1816, 1857, 914342, 0.023},
    {"Y-MP 4", 102, 200, 5, 930.6, 975.3, 1740934, 0.048},
    {"Y-MP 6", 102, 200, 5, 645.0, 774.5, 2192295, 0.201},
    {"Y-MP 8", 102, 200, 5, 506.4, 694.8, 2443772, 0.372},
    {"CM-2 SampleBT", 12, 60, 10, 60.25, 81.85, 5067, 0.359},
    {"CM-2 SampleBT", 64, 200, 5, 5526, 5621, 74618, 0.017},
    {"CM-2 RNRBT", 64, 200, 5, 3754, 3901, 107519, 0.039},
    {"CM-2 RNRBT", 102, 200, 5, 63426, 64769, 26215, 0.021},
    {"iPSC 16 1-D", 12, 60, 10, 37.96, 39.82, 10415, 0.049},
    {"iPSC 64 1-D", 64, 200, 5, 6663, 9262, 45285, 0.390},
    {"iPSC 8", 12, 60, 10, 9.694, 10.20, 40659, 0.052},
    {"iPSC 32", 64, 200, 5, 1381, 1567, 267665, 0.135},
    {"iPSC 64", 64, 200, 5, 753.0, 1036, 404856, 0.376},
    {"iPSC 128", 102, 200, 5, 1566, 2663, 637602, 0.701},
};

/* Published to four digits of time: R_IO within a part in a thousand, zeta within its last digit.
 */
static void published_results(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct published *r = &rows[i];
        const double r_io = bt_metric_r_io(r->n, r->steps, r->interval, r->t_t_s);
        if (fabs(r_io / r->r_io - 1) > 1e-3) fail_msg("%s: R_IO %.0f", r->system, r_io);
        const double zeta = bt_metric_zeta(r->t_t_s, r->t_c_s);
        if (fabs(zeta - r->zeta) > 0.0011) fail_msg("%s: zeta %.4f", r->system, zeta);
    }
}

/* Two rows of the paper contradict themselves: the formulas give the other value. */
static void published_contradictions(void **state)
{
    (void)state;
    const double r_io = bt_metric_r_io(64, 200, 5, 141.7);
    assert_true(fabs(r_io - 2959989) < 100);
    assert_false(fabs(r_io / 2442810 - 1) < 0.1);
    assert_true(fabs(bt_metric_zeta(141.7, 117.9) - 0.202) < 0.001);
    const double zeta = bt_metric_zeta(779.9, 435.6);
    assert_true(fabs(zeta - 0.790) < 0.001);
    assert_false(fabs(zeta - 0.719) < 0.01);
    assert_true(fabs(bt_metric_r_io(64, 200, 5, 779.9) / 537800 - 1) < 1e-3);
}

static void both_forms_of_r_io(void **state)
{
    (void)state;
    const double regular = bt_metric_r_io(102, 200, 5, 100.0);
    assert_true(fabs(regular / bt_metric_r_io_dumps(102, 40, 100.0) - 1) < 1e-14);
    assert_true(fabs(regular - 40.0 * 42448320 / 100) < 1e-3);
    assert_true(bt_metric_r_io_dumps(2560, 50, 1.0) > 3.3e13);
}

static void unknown_values(void **state)
{
    (void)state;
    assert_true(isnan(bt_metric_r_io(64, 200, 0, 10)));
    assert_true(isnan(bt_metric_r_io(64, 200, 5, 0)));
    assert_true(isnan(bt_metric_r_io_dumps(64, 40, NAN)));
    assert_true(isnan(bt_metric_zeta(10, 0)));
    assert_true(isnan(bt_metric_zeta(10, NAN)));
    assert_true(isnan(bt_metric_implied_rate(1e9, 10, 10)));
    assert_true(isnan(bt_metric_implied_rate(1e9, 10, NAN)));
    assert_true(fabs(bt_metric_implied_rate(1e9, 12, 10) - 5e8) < 1);
}

static void official_case(void **state)
{
    (void)state;
    struct bt_problem p;
    assert_int_equal(bt_problem_class('B', &p), 0);
    assert_true(bt_metric_is_official_case(&p));
    p.interval = 10;
    assert_false(bt_metric_is_official_case(&p));
    p.interval = 5;
    p.steps = 100;
    assert_false(bt_metric_is_official_case(&p));
    assert_int_equal(bt_problem_class('A', &p), 0);
    assert_false(bt_metric_is_official_case(&p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_results),  cmocka_unit_test(published_contradictions),
        cmocka_unit_test(both_forms_of_r_io), cmocka_unit_test(unknown_values),
        cmocka_unit_test(official_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
