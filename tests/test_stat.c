/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics against answers worked out by hand. */
#include <float.h>
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

static void about(double got, double want, double within)
{
    if (!(fabs(got - want) <= within)) fail_msg("%.9g is not %.9g", got, want);
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
    assert_int_equal(stat_median_ci(&x, 1, 0.95, &lo, &hi), 0);
    assert_true(isnan(lo) && isnan(hi));
    assert_int_equal(stat_outliers(&x, 1, 3.5), 0);
}

/* Of n values, the highest share that leaves out k on each side: 2 P(at most k of n coins). 9 values leave out the lowest
 * and the highest with 2 (1 + 9) / 512 = 3.9 %, 8 with 7.0 %. */
static void median_between_sorted_values(void **state)
{
    (void)state;
    const double x[] = {50, 10, 90, 30, 70, 20, 60, 40, 80};
    double lo, hi;
    for (int n = 1; n <= 5; n++) {
        assert_int_equal(stat_median_ci(x, n, 0.95, &lo, &hi), 0);
        assert_true(isnan(lo) && isnan(hi));
    }
    assert_int_equal(stat_median_ci(x, 6, 0.95, &lo, &hi), 0);
    assert_true(lo == 10 && hi == 90);
    assert_int_equal(stat_median_ci(x, 8, 0.95, &lo, &hi), 0);
    assert_true(lo == 10 && hi == 90);
    assert_int_equal(stat_median_ci(x, 9, 0.95, &lo, &hi), 0);
    assert_true(lo == 20 && hi == 80);
    assert_int_equal(stat_median_ci(x, 9, 0.97, &lo, &hi), 0);
    assert_true(lo == 10 && hi == 90);
    assert_int_equal(stat_median_ci(x, 3, 0.7, &lo, &hi), 0);
    assert_true(lo == 10 && hi == 90);
}

/* What n values attain is such a level, as it is written with 17 digits, too. */
static void median_at_levels_that_are_attained(void **state)
{
    (void)state;
    double x[60], lo, hi, tail = 0, ways = 1;
    for (int i = 0; i < 60; i++)
        x[i] = i;
    for (int n = 1; n <= 40; n++) {
        assert_int_equal(stat_median_ci(x, n, n > 1 ? 1 - ldexp(1, 1 - n) : 1e-12, &lo, &hi), 0);
        assert_true(n == 1 || (lo == 0 && hi == n - 1));
    }
    for (int k = 0; k < 29; k++) {
        tail += ldexp(ways, -60);
        ways *= (60.0 - k) / (k + 1);
        if (tail < 1e-9) continue;
        assert_int_equal(stat_median_ci(x, 60, 1 - 2 * tail, &lo, &hi), 0);
        assert_true(lo == k && hi == 59 - k);
        assert_int_equal(stat_median_ci(x, 60, 1 - 2 * tail * (1 - 1e-6), &lo, &hi), 0);
        assert_true(isnan(lo) || (lo == k - 1 && hi == 60 - k));
    }
}

/* 101 values 0 .. 100: P(at most 40 of 101) = 0.0230, at most 41 0.0368. */
static void median_between_many_sorted_values(void **state)
{
    (void)state;
    double x[101], lo, hi;
    for (int i = 0; i < 101; i++) {
        x[i] = i * 37 % 101;
    }
    assert_int_equal(stat_median_ci(x, 101, 0.95, &lo, &hi), 0);
    assert_true(lo == 40 && hi == 60);
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

/* R's example of wilcox.test: 10 and 5 values, U = 15 or 35, p = 0.2544. All of 3 values below all of 3 others: one order
 * out of 20. */
static void ranks_of_two_samples(void **state)
{
    (void)state;
    double tail[51];
    assert_int_equal(stat_mann_whitney_tails(10, 5, tail), 0);
    assert_true(fabs(2 * tail[15] - 0.2544) <= 5e-5);
    near(tail[50], 1);
    assert_int_equal(stat_mann_whitney_tails(3, 3, tail), 0);
    near(tail[0], 0.05);
}

/* Ways to choose k of n. */
static double choose(int n, int k)
{
    double ways = 1;
    for (int i = 1; i <= k; i++)
        ways = ways * (n - k + i) / i;
    return k <= n ? ways : 0;
}

/* All tables with the margins of this one, one by one: numbers of ways, which are whole. */
static double fisher_slowly(int a, int a_n, int b, int b_n)
{
    const double found = choose(a_n, a) * choose(b_n, b);
    double ways = 0;
    for (int k = 0; k <= a_n; k++) {
        const double one = a + b >= k ? choose(a_n, k) * choose(b_n, a + b - k) : 0;
        ways += one <= found ? one : 0;
    }
    return ways / choose(a_n + b_n, a + b);
}

/* Fisher's tea: p = 0.4857. 10 of 36 values against none: all ten on one side or on the other. */
static void shares_of_two_samples(void **state)
{
    (void)state;
    near(stat_fisher(3, 4, 1, 4), 34.0 / 70);
    about(stat_fisher(0, 36, 10, 36), 2 * choose(36, 10) / choose(72, 10), 1e-12);
    near(stat_fisher(0, 5, 0, 9), 1);
    for (int m = 1; m <= 12; m++)
        for (int n = 1; n <= 12; n++)
            for (int a = 0; a <= m; a++)
                for (int b = 0; b <= n; b++)
                    about(stat_fisher(a, m, b, n), fisher_slowly(a, m, b, n), 1e-10);
    assert_true(stat_fisher(0, 500, 500, 500) < 1e-290);
    about(stat_fisher(50, 500, 50, 500), 1, 1e-10);
}

static void signs_of_pairs(void **state)
{
    (void)state;
    near(stat_signs(0, 0), 1);
    near(stat_signs(6, 0), 2.0 / 64);
    near(stat_signs(1, 7), 2 * 9.0 / 256);
    near(stat_signs(4, 4), 1);
    for (int n = 1; n <= 20; n++)
        for (int k = 0; k <= n; k++) {
            double p = 0;
            for (int i = 0; i <= n; i++)
                p += 2 * abs(2 * i - n) >= 2 * abs(2 * k - n) ? choose(n, i) / exp2(n) : 0;
            about(stat_signs(k, n - k), p, 1e-10);
        }
}

static void values_far_from_their_median(void **state)
{
    (void)state;
    const double x[] = {10, 12.5, 12.6, 30, 8, 7.9, 10};
    assert_int_equal(stat_far(x, 7, 10, true), 2);
    assert_int_equal(stat_far(x, 7, 10, false), 1);
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

/* Where x lie far from 0 or close together a fit is the one of the same points elsewhere: y = (x - x2)^2 is
 * exact, and with other y the answers move with x. */
static void fits_far_from_0(void **state)
{
    (void)state;
    static const double from[] = {1700000000, -1e12, 0x1p50, 1e-3}, step[] = {1, 1, 2, 0x1p-40};
    const double y[] = {4, 1, 0, 1, 4}, other[] = {4.5, 1.25, 0.25, 0.5, 4},
                 weigh[] = {1, 2, 1, 3, 1};
    const double small[] = {0, 1, 2, 3, 4};
    struct stat_poly p, near_0;
    double x[5], at, sd, want;
    assert_int_equal(stat_fit_poly(small, other, weigh, 5, 2, &near_0), 0);
    for (int f = 0; f < 4; f++) {
        for (int i = 0; i < 5; i++)
            x[i] = from[f] + i * step[f];
        const double h = step[f];
        assert_int_equal(stat_fit_poly(x, y, NULL, 5, 2, &p), 0);
        about(p.c[2] * h * h, 1, 1e-12);
        about(p.c[1] * h * h / x[2], -2, 1e-12);
        about(p.c[0] * h * h / x[2] / x[2], 1, 1e-12);
        about(p.r2, 1, 1e-12);
        for (int i = 0; i < 5; i++)
            about(stat_poly_at(&p, x[i], &sd), y[i], 1e-12);
        assert_true(stat_poly_reaches(&p, 1, x[0], x[4], &at, &sd));
        about((at - x[0]) / h, 3, 1e-12);
        assert_int_equal(stat_fit_poly(x, other, weigh, 5, 2, &p), 0);
        for (int i = 0; i < 5; i++) {
            about(stat_poly_at(&p, x[i], &sd), stat_poly_at(&near_0, i, &want), 1e-12);
            about(sd, want, 1e-12);
        }
        assert_true(stat_poly_reaches(&p, 2.25, x[0], x[4], &at, &sd));
        assert_true(stat_poly_reaches(&near_0, 2.25, 0, 4, &want, NULL));
        about((at - x[0]) / h, want, DBL_EPSILON * fabs(at) / h); /* itself a double far from 0 */
    }
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
    /* What tells a coefficient is below the last digits. */
    const double close[] = {0, 1e-13, 1}, sds[] = {1e-13, 1, 1}, tiny[] = {0, 1e-200, 2e-200};
    assert_int_equal(stat_fit_poly(close, y, NULL, 3, 2, &p), ERR_INVALID);
    err_clear();
    assert_int_equal(stat_fit_poly(y, y, sds, 3, 2, &p), ERR_INVALID);
    err_clear();
    assert_int_equal(stat_fit_poly(tiny, minus, NULL, 3, 2, &p), ERR_INVALID);
    err_clear();
    assert_int_equal(stat_fit_poly(y, y, NULL, 2, 1, &p), 0);
    assert_true(isnan(p.cov[0][0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summary_of_odd_sample),
        cmocka_unit_test(summary_of_even_sample),
        cmocka_unit_test(summary_of_one_value),
        cmocka_unit_test(median_between_sorted_values),
        cmocka_unit_test(median_at_levels_that_are_attained),
        cmocka_unit_test(median_between_many_sorted_values),
        cmocka_unit_test(outliers),
        cmocka_unit_test(ranks_of_two_samples),
        cmocka_unit_test(shares_of_two_samples),
        cmocka_unit_test(signs_of_pairs),
        cmocka_unit_test(values_far_from_their_median),
        cmocka_unit_test(correction_for_many_tests),
        cmocka_unit_test(line_through_points),
        cmocka_unit_test(weighted_mean),
        cmocka_unit_test(parabola_and_power_law),
        cmocka_unit_test(fits_far_from_0),
        cmocka_unit_test(fits_that_cannot_be),
    };
    return cmocka_run_group_tests_name("stat", tests, NULL, NULL);
}
