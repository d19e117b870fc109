/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparisons of samples whose difference is known. */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "report/compare.h"

enum { RUNS = 5, WRITERS = 4, TRIALS = 100 };

static void begin(struct compare *c, double threshold)
{
    *c = (struct compare){.level = 0.95, .threshold = threshold};
    c->reasons = json_array();
    c->notes = json_array();
}

/* n run times about 2 s with a spread of 3 % and a tail to long ones, as run times have. */
static void draw(gsl_rng *rng, double scale, double *x, int n)
{
    for (int i = 0; i < n; i++) {
        x[i] = scale * 2 * exp(gsl_ran_gaussian(rng, 0.03));
        if (gsl_rng_uniform(rng) < 0.1) x[i] *= 1.1;
    }
}

static void add(struct compare *c, const double *a, const double *b, int n, bool pooled)
{
    double x[64], y[64];
    memcpy(x, a, (size_t)n * sizeof *x);
    memcpy(y, b, (size_t)n * sizeof *y);
    const struct compare_metric m = {
        .name = strdup("T_T"), .unit = "s", .pooled = pooled, .a_n = n, .b_n = n, .a = x, .b = y};
    assert_int_equal(compare_add(c, &m), 0);
}

/* What is found in a comparison of several writers, B being slower by the factor. */
static bool found(gsl_rng *rng, double factor, int runs, double threshold)
{
    struct compare c;
    double a[64], b[64];
    begin(&c, threshold);
    for (int w = 0; w < WRITERS; w++) {
        draw(rng, 1 + 0.2 * w, a, runs);
        draw(rng, factor * (1 + 0.2 * w), b, runs);
        add(&c, a, b, runs, true);
    }
    assert_int_equal(compare_judge(&c), 0);
    assert_true(compare_is_possible(&c));
    const bool worse = compare_is_worse(&c), better = compare_has(&c, COMPARE_BETTER);
    compare_free(&c);
    return factor == 1 ? worse || better : factor < 1 ? better : worse;
}

static int times_found(double factor, int runs, double threshold)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int n = 0;
    gsl_rng_set(rng, 20240131);
    for (int t = 0; t < TRIALS; t++)
        n += found(rng, factor, runs, threshold);
    gsl_rng_free(rng);
    return n;
}

static void ten_percent_are_found(void **state)
{
    (void)state;
    assert_true(times_found(1.10, RUNS, 0.05) >= 95);
    assert_true(times_found(1 / 1.10, RUNS, 0.05) >= 95);
}

/* With and without a threshold: it is the correction for many metrics that keeps chance out. */
static void the_same_is_called_the_same(void **state)
{
    (void)state;
    assert_true(times_found(1, RUNS, 0.05) <= 5);
    assert_true(times_found(1, 20, 0) <= 5);
}

static void single_metrics(void **state)
{
    (void)state;
    struct compare c;
    const double a[] = {1.00, 1.01, 0.99, 1.02, 0.98}, b[] = {1.30, 1.31, 1.29, 1.32, 1.28};
    const double close[] = {1.03, 1.04, 1.02, 1.05, 1.01}, wild[] = {0.7, 1.9, 1.2, 0.8, 3.0};
    begin(&c, 0.05);
    add(&c, a, b, 5, false);
    add(&c, b, a, 5, false);
    add(&c, a, close, 5, false);
    add(&c, a, wild, 5, false);
    add(&c, a, b, 2, false);
    assert_int_equal(compare_judge(&c), 0);
    assert_int_equal(c.metric[0].verdict, COMPARE_WORSE);
    assert_int_equal(c.metric[1].verdict, COMPARE_BETTER);
    assert_int_equal(c.metric[2].verdict, COMPARE_SAME);
    assert_int_equal(c.metric[3].verdict, COMPARE_UNCLEAR);
    assert_int_equal(c.metric[4].verdict, COMPARE_FEW);
    assert_true(fabs(c.metric[0].ratio.ratio - 1.3) < 1e-12);
    assert_true(fabs(c.metric[0].worse_by - 0.3) < 1e-12);
    assert_true(compare_is_worse(&c));
    compare_free(&c);
}

/* Of a rate the larger one is the better one. */
static void rates(void **state)
{
    (void)state;
    struct compare c;
    double a[] = {100, 101, 99, 102, 98}, b[] = {80, 81, 79, 82, 78};
    begin(&c, 0.05);
    const struct compare_metric m = {.name = strdup("rate"),
                                     .unit = "bytes/s",
                                     .higher_better = true,
                                     .a_n = 5,
                                     .b_n = 5,
                                     .a = a,
                                     .b = b};
    assert_int_equal(compare_add(&c, &m), 0);
    assert_int_equal(compare_judge(&c), 0);
    assert_int_equal(c.metric[0].verdict, COMPARE_WORSE);
    assert_true(fabs(c.metric[0].worse_by - 0.25) < 1e-12);
    compare_free(&c);
}

/* Three runs each of writers that all lost a third: no single one shows it, all together do. */
static void many_writers_together(void **state)
{
    (void)state;
    struct compare c;
    const double a[] = {1.0, 1.2, 0.9}, b[] = {1.5, 1.3, 1.75};
    begin(&c, 0.05);
    for (int w = 0; w < WRITERS; w++)
        add(&c, a, b, 3, true);
    assert_int_equal(compare_judge(&c), 0);
    assert_int_equal(c.metrics_n, WRITERS + 1);
    assert_int_equal(c.metric[0].verdict, COMPARE_WORSE);
    assert_true(c.metric[0].ratio.lo > 1.2 && c.metric[0].ratio.hi < 1.8);
    for (int w = 1; w <= WRITERS; w++)
        assert_int_equal(c.metric[w].verdict, COMPARE_UNCLEAR);
    compare_free(&c);
}

static void nothing_to_say(void **state)
{
    (void)state;
    struct compare c;
    const double a[] = {1, 2};
    begin(&c, 0.05);
    assert_int_equal(compare_judge(&c), 0);
    assert_false(compare_is_possible(&c));
    add(&c, a, a, 2, true);
    assert_int_equal(compare_judge(&c), 0);
    assert_false(compare_is_possible(&c));
    assert_false(compare_is_worse(&c));
    compare_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_percent_are_found), cmocka_unit_test(the_same_is_called_the_same),
        cmocka_unit_test(single_metrics),        cmocka_unit_test(rates),
        cmocka_unit_test(many_writers_together), cmocka_unit_test(nothing_to_say),
    };
    return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
