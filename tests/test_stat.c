/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics against answers worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/stat.h"
#include "base/stats/stat_fit.h"
#include "base/stats/stat_test.h"

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

/* Values and answers of the examples that come with R's wilcox.test and t.test. */
static const double permeability_x[] = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
static const double permeability_y[] = {1.15, 0.88, 0.90, 0.74, 1.21};
static const double sleep_1[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
static const double sleep_2[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

static void about(double got, double want, double within)
{
    if (!(fabs(got - want) <= within)) fail_msg("%.9g is not %.9g", got, want);
}

static void ranks_of_two_samples(void **state)
{
    (void)state;
    struct stat_test t;
    assert_int_equal(stat_mann_whitney(permeability_x, 10, permeability_y, 5, &t), 0);
    near(t.statistic, 35);
    assert_true(t.exact);
    about(t.p, 0.2544, 5e-5);
    assert_int_equal(stat_mann_whitney(permeability_y, 5, permeability_x, 10, &t), 0);
    near(t.statistic, 15);
    about(t.p, 0.2544, 5e-5);
}

/* All of one sample below all of the other: one order out of C(6, 3), at either end. */
static void ranks_of_apart_samples(void **state)
{
    (void)state;
    const double x[] = {3, 1, 2}, y[] = {4, 6, 5};
    struct stat_test t;
    assert_int_equal(stat_mann_whitney(x, 3, y, 3, &t), 0);
    near(t.statistic + 1, 1);
    near(t.p, 0.1);
    near(stat_mann_whitney_min_p(3, 3), 0.1);
    near(stat_mann_whitney_min_p(5, 5), 2.0 / 252);
    near(stat_mann_whitney_min_p(1, 1), 1);
}

/* U = 2.5 of 25 pairs; two pairs of equal values: variance 25/12 (11 - 12/90). */
static void ranks_with_ties(void **state)
{
    (void)state;
    const double x[] = {1, 2, 2, 3, 5}, y[] = {3, 4, 6, 7, 8}, same[] = {2, 2, 2};
    struct stat_test t;
    assert_int_equal(stat_mann_whitney(x, 5, y, 5, &t), 0);
    near(t.statistic, 2.5);
    assert_false(t.exact);
    near(t.p, erfc((12.5 - 2.5 - 0.5) / sqrt(25.0 / 12 * (11 - 12.0 / 90)) / sqrt(2)));
    assert_int_equal(stat_mann_whitney(same, 3, same, 3, &t), 0);
    near(t.p, 1);
}

static void means_of_two_samples(void **state)
{
    (void)state;
    struct stat_test t;
    stat_welch(sleep_1, 10, sleep_2, 10, &t);
    about(t.statistic, -1.8608, 5e-5);
    about(t.dof, 17.776, 5e-4);
    about(t.p, 0.07939, 5e-6);
    const double one[] = {2, 2, 2}, two[] = {3, 3};
    stat_welch(one, 3, one, 3, &t);
    near(t.p, 1);
    stat_welch(one, 3, two, 2, &t);
    near(t.p + 1, 1);
}

/* One pair is Welch's test; two pairs, of which one is the other's mirror image, cancel. R's
 * interval of the sleep data is -3.3654832 to 0.2054832 for the first minus the second. */
static void means_of_pairs(void **state)
{
    (void)state;
    struct stat_strata s = {0};
    struct stat_test t;
    struct stat_strata_means m;
    stat_strata_add(&s, sleep_1, 10, sleep_2, 10);
    stat_strata_test(&s, 0.95, &m, &t);
    about(m.x, 0.75, 1e-12);
    about(m.y, 2.33, 1e-12);
    about(t.p, 0.07939, 5e-6);
    about(m.lo, -0.2054832, 5e-7);
    about(m.hi, 3.3654832, 5e-7);
    stat_strata_add(&s, sleep_2, 10, sleep_1, 10);
    stat_strata_test(&s, 0.95, &m, &t);
    about(m.x, 1.54, 1e-12);
    about(m.y - m.x, 0, 1e-12);
    about(t.p, 1, 1e-12);
}

static void correction_for_many_tests(void **state)
{
    (void)state;
    double p[] = {0.01, 0.04, 0.03, 0.005, 0.9};
    assert_int_equal(stat_holm(p, 5), 0);
    near(p[3], 0.025);
    near(p[0], 0.04);
    near(p[2], 0.09);
    near(p[1], 0.09);
    near(p[4], 0.9);
    assert_int_equal(stat_holm(p, 0), 0);
}

static void ratio_of_medians(void **state)
{
    (void)state;
    double x[101], y[101];
    for (int i = 0; i < 101; i++) {
        x[i] = 100 + i * 37 % 101;
        y[i] = 1.1 * x[i];
    }
    double lo, hi;
    assert_int_equal(stat_ratio_ci(x, 101, y, 101, 0.95, 3, &lo, &hi), 0);
    assert_true(lo > 0.9 && lo < 1.08 && hi > 1.12 && hi < 1.3);
    const double a = 4, b = 5;
    assert_int_equal(stat_ratio_ci(&a, 1, &b, 1, 0.95, 3, &lo, &hi), 0);
    assert_true(lo == 1.25 && hi == 1.25);
}

/* Sxx = 10, Sxy = 19.9; residuals .06 -.13 .18 -.21 .1: s^2 = 0.107 / 3. */
static void line_through_points(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3, 4, 5}, y[] = {2.1, 3.9, 6.2, 7.8, 10.1}, s2 = 0.107 / 3;
    struct stat_poly p;
    double sd, at;
    assert_int_equal(stat_fit_poly(x, y, NULL, 5, 1, &p), 0);
    about(p.c[0], 0.05, 1e-12);
    about(p.c[1], 1.99, 1e-12);
    about(p.cov[0][0], s2 * 1.1, 1e-12);
    about(p.cov[1][1], s2 / 10, 1e-12);
    about(p.cov[0][1], -s2 * 0.3, 1e-12);
    about(p.r2, 1 - 0.107 / 39.708, 1e-12);
    about(stat_poly_at(&p, 3, &sd), 6.02, 1e-12);
    about(sd, sqrt(s2 / 5), 1e-12);
    assert_true(stat_poly_reaches(&p, 6.02, 0, 10, &at, &sd));
    about(at, 3, 1e-12);
    about(sd, sqrt(s2 / 5) / 1.99, 1e-12);
    assert_false(stat_poly_reaches(&p, 6.02, 3.5, 10, &at, &sd));
}

/* Points of unlike weight: y = 1 twice as uncertain as y = 4 in the mean (1/4 + 4) / (1/4 + 1). */
static void weighted_mean(void **state)
{
    (void)state;
    const double x[] = {1, 2}, y[] = {1, 4}, sd[] = {2, 1};
    struct stat_poly p;
    assert_int_equal(stat_fit_poly(x, y, sd, 2, 0, &p), 0);
    about(p.c[0], 3.4, 1e-12);
    about(p.cov[0][0], 0.8, 1e-12);
}

static void parabola_and_power_law(void **state)
{
    (void)state;
    const double x[] = {1, 2, 4, 8};
    double y[4];
    struct stat_poly p;
    struct stat_power w;
    double at, sd;
    for (int i = 0; i < 4; i++)
        y[i] = 3 - 4 * x[i] + x[i] * x[i];
    assert_int_equal(stat_fit_poly(x, y, NULL, 4, 2, &p), 0);
    assert_true(stat_poly_reaches(&p, 0, 0, 10, &at, &sd)); /* not x = 1, where it comes down */
    about(at, 3, 1e-9);
    assert_false(stat_poly_reaches(&p, -2, 0, 10, &at, &sd));
    for (int i = 0; i < 4; i++)
        y[i] = 2.385 * pow(x[i], -0.9);
    assert_int_equal(stat_fit_power(x, y, 4, &w), 0);
    about(w.factor, 2.385, 1e-12);
    about(w.exponent, -0.9, 1e-12);
    about(w.exponent_sd, 0, 1e-7);
}

static void fits_that_cannot_be(void **state)
{
    (void)state;
    const double x[] = {2, 2, 2}, y[] = {1, 2, 3}, minus[] = {1, -2, 3};
    struct stat_poly p;
    struct stat_power w;
    assert_int_equal(stat_fit_poly(x, y, NULL, 3, 1, &p), ERR_INVALID);
    err_clear();
    assert_int_equal(stat_fit_power(y, minus, 3, &w), ERR_INVALID);
    err_clear();
    assert_int_equal(stat_fit_power(y, y, 1, &w), ERR_INVALID);
    err_clear();
    assert_int_equal(stat_fit_poly(y, y, NULL, 2, 1, &p), 0);
    assert_true(isnan(p.cov[0][0]));
}

static void values_needed(void **state)
{
    (void)state;
    /* Half as far from the goal as the interval is wide: four times as many. */
    assert_true(stat_values_needed(5, 0.05, 0.02, 0.15, 0.10) == 20);
    assert_true(stat_values_needed(5, 0.15, 0.05, 0.16, 0.10) == 21); /* rounded up */
    assert_true(stat_values_needed(5, 0.5, 0.49, 0.51, 0.10) == 6);
    assert_true(isinf(stat_values_needed(5, 0.10, 0.05, 0.15, 0.10)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summary_of_odd_sample), cmocka_unit_test(summary_of_even_sample),
        cmocka_unit_test(summary_of_one_value),  cmocka_unit_test(bootstrap_of_three),
        cmocka_unit_test(bootstrap_of_many),     cmocka_unit_test(outliers),
        cmocka_unit_test(ranks_of_two_samples),  cmocka_unit_test(ranks_of_apart_samples),
        cmocka_unit_test(ranks_with_ties),       cmocka_unit_test(means_of_two_samples),
        cmocka_unit_test(means_of_pairs),        cmocka_unit_test(correction_for_many_tests),
        cmocka_unit_test(ratio_of_medians),      cmocka_unit_test(line_through_points),
        cmocka_unit_test(weighted_mean),         cmocka_unit_test(parabola_and_power_law),
        cmocka_unit_test(fits_that_cannot_be),   cmocka_unit_test(values_needed),
    };
    return cmocka_run_group_tests_name("stat", tests, NULL, NULL);
}
