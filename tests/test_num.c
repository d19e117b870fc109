/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arithmetic with sizes: what fits is exact, what does not is NUM_ENDLESS and stays so. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/num.h"
#include "companions/workload/random.h"

enum { TRIES = 100000 };

/* A size, as often as not beside a power of two, up to 2^63 - 1. */
static int64_t some(struct random *r)
{
    const int64_t power = INT64_C(1) << random_below(r, 63), near = random_below(r, 5) - 2;
    const int64_t any = random_below(r, INT64_MAX);
    switch (random_below(r, 4)) {
    case 0:
        return any;
    case 1:
        return any >> random_below(r, 63);
    case 2:
        return INT64_MAX - random_below(r, 4);
    default:
        return power + near > 0 ? power + near : 0;
    }
}

/* What the arithmetic promises of an exact result. */
static int64_t fitting(__int128 exact)
{
    return exact > INT64_MAX ? NUM_ENDLESS : (int64_t)exact;
}

static void sizes_near_2_to_the_63(void **state)
{
    (void)state;
    struct random r = random_begin(27, 5);
    for (int t = 0; t < TRIES; t++) {
        const int64_t a = some(&r), b = some(&r), c = some(&r);
        assert_true(num_product(a, b) == fitting((__int128)a * b));
        assert_true(num_sum(a, b) == fitting((__int128)a + b));
        if (a < NUM_ENDLESS && b > 0)
            assert_true(num_quotient_up(a, b) == (int64_t)(((__int128)a + b - 1) / b));
        if (num_product(a, b) == NUM_ENDLESS) {
            assert_true(num_sum(num_product(a, b), c) == NUM_ENDLESS);
            assert_true(c == 0 || num_product(num_product(a, b), c) == NUM_ENDLESS);
            assert_true(num_quotient_up(num_product(a, b), c) == NUM_ENDLESS);
        }
    }
}

static void what_is_no_size_is_endless(void **state)
{
    (void)state;
    assert_true(num_product(-1, 0) == NUM_ENDLESS && num_product(3, -1) == NUM_ENDLESS);
    assert_true(num_sum(-1, 1) == NUM_ENDLESS && num_sum(1, INT64_MIN) == NUM_ENDLESS);
    assert_true(num_quotient_up(1, 0) == NUM_ENDLESS && num_quotient_up(-1, 1) == NUM_ENDLESS);
    assert_true(num_round(-0.6) == NUM_ENDLESS && num_round(NAN) == NUM_ENDLESS);
    assert_true(num_round(0x1p63) == NUM_ENDLESS && num_round(1e300) == NUM_ENDLESS);
    assert_true(num_round(0x1.fffffffffffffp62) == INT64_MAX - 1023 && num_round(2.5) == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_near_2_to_the_63),
        cmocka_unit_test(what_is_no_size_is_endless),
    };
    return cmocka_run_group_tests_name("num", tests, NULL, NULL);
}
