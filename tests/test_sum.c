/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact sums: against quadruple precision where that is exact, and the same bits for every order
 * and every way of splitting the addends over accumulators. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/sum.h"

static double sum_of(const double *x, int n)
{
    struct sum s;
    sum_clear(&s);
    for (int i = 0; i < n; i++) {
        sum_add(&s, x[i]);
    }
    return sum_value(&s);
}

static void same_bits(double a, double b)
{
    if (memcmp(&a, &b, sizeof a) != 0) fail_msg("%a is not %a", a, b);
}

/* A high-entropy double with an exponent between lo and hi. */
static double draw(int lo, int hi)
{
    double mantissa = (double)(random() - (1L << 30)) + (double)random() * 0x1p-31;
    return ldexp(mantissa, lo + (int)(random() % (hi - lo + 1)) - 31);
}

static void shuffle(double *x, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int other = (int)(random() % (i + 1));
        double t = x[i];
        x[i] = x[other];
        x[other] = t;
    }
}

static void few_values(void **state)
{
    (void)state;
    same_bits(sum_of(NULL, 0), 0.0);
    same_bits(sum_of((double[]){0.1}, 1), 0.1);
    same_bits(sum_of((double[]){-2.385}, 1), -2.385);
    same_bits(sum_of((double[]){1.0, 2.0, -3.5}, 3), -0.5);
    same_bits(sum_of((double[]){-0.0, 0.0}, 2), 0.0);
}

static void single_values_come_back(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        double x = draw(-1060, 1020);
        same_bits(sum_of(&x, 1), x);
    }
    const double edge[] = {DBL_MAX,      -DBL_MAX,      DBL_MIN,
                           DBL_TRUE_MIN, -DBL_TRUE_MIN, DBL_MIN - DBL_TRUE_MIN};
    for (int i = 0; i < 6; i++) {
        same_bits(sum_of(&edge[i], 1), edge[i]);
    }
}

static void cancellation(void **state)
{
    (void)state;
    same_bits(sum_of((double[]){1e300, 1.0, -1e300, 2.0}, 4), 3.0);
    same_bits(sum_of((double[]){DBL_MAX, DBL_TRUE_MIN, -DBL_MAX}, 3), DBL_TRUE_MIN);
    same_bits(sum_of((double[]){DBL_MAX, DBL_MAX, -DBL_MAX, -DBL_MAX, -1.0}, 5), -1.0);
    same_bits(sum_of((double[]){DBL_TRUE_MIN, DBL_TRUE_MIN}, 2), 2 * DBL_TRUE_MIN);
    same_bits(sum_of((double[]){1e-320, -3e-320, 1e16, -1e16}, 4), 1e-320 - 3e-320);
    same_bits(sum_of((double[]){DBL_MAX, DBL_MAX}, 2), INFINITY);
}

/* 1 + u/2 is a tie; whatever lies below decides, on either side and for either sign. */
static void rounding(void **state)
{
    (void)state;
    const double u = DBL_EPSILON;
    same_bits(sum_of((double[]){1.0, u / 2}, 2), 1.0);
    same_bits(sum_of((double[]){1.0, u / 2, 1e-300}, 3), 1.0 + u);
    same_bits(sum_of((double[]){1.0, u / 2, -1e-300}, 3), 1.0);
    same_bits(sum_of((double[]){1.0 + u, u / 2}, 2), 1.0 + 2 * u);
    same_bits(sum_of((double[]){-1.0, -u / 2, -DBL_TRUE_MIN}, 3), -1.0 - u);
}

/* Of 113 bits: x86's own long double has 64. */
#if __LDBL_MANT_DIG__ >= 113
typedef long double quadruple;
#else
typedef __float128 quadruple;
#endif

/* Exponents within 30 of each other: 1000 addends fit exactly. */
static void against_quadruple(void **state)
{
    (void)state;
    enum { N = 1000 };
    static double x[N];
    for (int trial = 0; trial < 200; trial++) {
        quadruple want = 0;
        for (int i = 0; i < N; i++) {
            x[i] = draw(-10, 20);
            want += x[i];
        }
        same_bits(sum_of(x, N), (double)want);
    }
}

static void any_order(void **state)
{
    (void)state;
    enum { N = 3000 };
    static double x[N];
    for (int i = 0; i < N; i++) {
        x[i] = i % 3 ? draw(-40, 40) : draw(-1060, 1000);
    }
    double want = sum_of(x, N);
    for (int trial = 0; trial < 50; trial++) {
        shuffle(x, N);
        same_bits(sum_of(x, N), want);
    }
}

static void add_all(struct sum *to, const struct sum *from)
{
    for (int b = 0; b < SUM_BINS; b++) {
        to->bin[b] += from->bin[b];
    }
    to->pending += from->pending;
    to->special += from->special;
}

static void any_split(void **state)
{
    (void)state;
    enum { N = 3000, PARTS = 7 };
    static double x[N];
    for (int i = 0; i < N; i++) {
        x[i] = draw(-300, 300);
    }
    double want = sum_of(x, N);
    for (int parts = 1; parts <= PARTS; parts++) {
        struct sum part[PARTS], total;
        sum_clear(&total);
        for (int p = 0; p < parts; p++) {
            sum_clear(&part[p]);
        }
        for (int i = 0; i < N; i++) {
            sum_add(&part[random() % parts], x[i]);
        }
        for (int p = 0; p < parts; p++) {
            sum_carry(&part[p]);
            add_all(&total, &part[p]);
        }
        same_bits(sum_value(&total), want);
    }
}

/* As many carried accumulators as there may be ranks, all bins full. */
static void many_ranks(void **state)
{
    (void)state;
    struct sum one, total;
    sum_clear(&one);
    sum_clear(&total);
    for (int e = -1000; e < 900; e += 16) {
        sum_add(&one, ldexp(-1.9999999999999998, e));
    }
    sum_carry(&one);
    double alone = sum_value(&one);
    for (int r = 0; r < 1 << 20; r++) {
        add_all(&total, &one);
    }
    same_bits(sum_value(&total), ldexp(alone, 20));
}

static void carries_in_time(void **state)
{
    (void)state;
    struct sum s;
    sum_clear(&s);
    s.pending = (1 << 29) - 2; /* as after very many additions, bins nearly full */
    s.bin[35] = INT64_C(0x3fffffff00000000);
    double want = ldexp((double)s.bin[35], 32 * 35 - 1120);
    for (int i = 0; i < 4; i++) {
        sum_add(&s, 1.0);
    }
    assert_true(s.pending < 4);
    same_bits(sum_value(&s), want + 4.0);
}

static void not_finite(void **state)
{
    (void)state;
    assert_true(isnan(sum_of((double[]){1.0, NAN}, 2)));
    assert_true(isnan(sum_of((double[]){INFINITY, 1.0}, 2)));
    assert_true(isnan(sum_of((double[]){INFINITY, -INFINITY}, 2)));
}

int main(void)
{
    srandom(1234);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_values),        cmocka_unit_test(single_values_come_back),
        cmocka_unit_test(cancellation),      cmocka_unit_test(rounding),
        cmocka_unit_test(against_quadruple), cmocka_unit_test(any_order),
        cmocka_unit_test(any_split),         cmocka_unit_test(many_ranks),
        cmocka_unit_test(carries_in_time),   cmocka_unit_test(not_finite),
    };
    return cmocka_run_group_tests_name("sum", tests, NULL, NULL);
}
