/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics against answers worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/stat.h"

static void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-12 * fabs(want))) fail_msg("%.17g is not %.17g", got, want);
}

static void summary_of_odd_sample(void **state)
{
    (void)state;
    const double x[] = {3.1, 1.2, 9.7, 4.4, 2.8};
    struct stat_summary s;
    assert_int_equal(stat_summary(x, 5, &s), 0);
    assert_int_equal(s.n, 5);
    near(s.min, 1.2);
    near(s.q1, 2.8);
    near(s.median, 3.1);
    near(s.q3, 4.4);
    near(s.max, 9.7);
    near(s.mean, 4.24);
    near(s.sd, sqrt(42.452 / 4));
    assert_true(x[0] == 3.1 && x[4] == 2.8);
}

static void summary_of_even_sample(void **state)
{
    (void)state;
    const double x[] = {8, 1, 4, 2};
    struct stat_summary s;
    double median;
    assert_int_equal(stat_summary(x, 4, &s), 0);
    near(s.q1, 1.75);
    near(s.median, 3);
    near(s.q3, 5);
    near(s.sd, sqrt(28.75 / 3));
    assert_int_equal(stat_median(x, 4, &median), 0);
    near(median, 3);
}

static void summary_of_one_value(void **state)
{
    (void)state;
    const double x = 2.385;
    struct stat_summary s;
    double lo, hi;
    assert_int_equal(stat_summary(&x, 1, &s), 0);
    assert_true(s.min == x && s.q1 == x && s.median == x && s.q3 == x && s.max == x);
    assert_true(s.mean == x && s.sd == 0);
    assert_int_equal(stat_median_ci(&x, 1, 0.95, 1, &lo, &hi), 0);
    assert_true(lo == x && hi == x);
    assert_int_equal(stat_outliers(&x, 1, 3.5), 0);
}

/* The resampled median of three values is the lowest in 7 of 27 cases, the highest in 7 of 27. */
static void bootstrap_of_three(void **state)
{
    (void)state;
    const double x[] = {30, 10, 20};
    double lo, hi;
    assert_int_equal(stat_median_ci(x, 3, 0.95, 42, &lo, &hi), 0);
    assert_true(lo == 10 && hi == 30);
    assert_int_equal(stat_median_ci(x, 3, 0.40, 42, &lo, &hi), 0);
    assert_true(lo == 20 && hi == 20);
}

/* 101 values 0 .. 100: by order statistics the 95 % interval is about [40, 60]. */
static void bootstrap_of_many(void **state)
{
    (void)state;
    double x[101], lo, hi, lo2, hi2;
    for (int i = 0; i < 101; i++) {
        x[i] = i * 37 % 101;
    }
    assert_int_equal(stat_median_ci(x, 101, 0.95, 7, &lo, &hi), 0);
    assert_true(lo >= 37 && lo <= 43 && hi >= 57 && hi <= 63);
    assert_int_equal(stat_median_ci(x, 101, 0.95, 7, &lo2, &hi2), 0);
    assert_true(lo == lo2 && hi == hi2);
    assert_int_equal(stat_median_ci(x, 101, 0.5, 7, &lo2, &hi2), 0);
    assert_true(lo < lo2 && lo2 < 50 && 50 < hi2 && hi2 < hi);
}

/* Median 10, MAD 1: the limit 3.5 lies at 10 +- 5.19. */
static void outliers(void **state)
{
    (void)state;
    const double x[] = {9, 11, 10, 9, 11, 10, 15.1, 4.9, 10.5};
    assert_int_equal(stat_outliers(x, 9, 3.5), 0);
    const double y[] = {9, 11, 10, 9, 11, 10, 15.3, 4.7, 11};
    assert_int_equal(stat_outliers(y, 9, 3.5), 2);
    const double equal[] = {5, 5, 5, 5, 9};
    assert_int_equal(stat_outliers(equal, 5, 3.5), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summary_of_odd_sample), cmocka_unit_test(summary_of_even_sample),
        cmocka_unit_test(summary_of_one_value),  cmocka_unit_test(bootstrap_of_three),
        cmocka_unit_test(bootstrap_of_many),     cmocka_unit_test(outliers),
    };
    return cmocka_run_group_tests_name("stat", tests, NULL, NULL);
}
