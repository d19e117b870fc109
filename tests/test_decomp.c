/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decompositions: every cell has one owner, extents differ by one at most, and texts that cannot be
 * met are refused with advice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "bt/solver/decomp.h"

static void check_axis(int64_t n, int parts)
{
    assert_int_equal(bt_decomp_first(n, parts, 0), 0);
    assert_int_equal(bt_decomp_first(n, parts, parts), n);
    for (int p = 0; p < parts; p++) {
        int64_t first = bt_decomp_first(n, parts, p), past = bt_decomp_first(n, parts, p + 1);
        assert_true(past - first == n / parts || past - first == (n + parts - 1) / parts);
    }
}

static void test_axis(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 70; n++)
        for (int parts = 1; parts <= n; parts++)
            check_axis(n, parts);
    for (int parts = 1; parts <= 2560; parts++)
        check_axis(2560, parts);
    check_axis(65536, 65535);
}

/* What is left over goes to the parts that own boundary planes, so that the parts have equally many
 * planes to advance. */
static void test_outer_parts_are_larger(void **state)
{
    (void)state;
    assert_int_equal(bt_decomp_first(102, 4, 1), 26);
    assert_int_equal(bt_decomp_first(102, 4, 2), 51);
    assert_int_equal(bt_decomp_first(102, 4, 3), 76);
}

/* Marks the cells of every rank in a map of owners. */
static void check_tiling(const char *text, int64_t n, int size)
{
    int *owner = calloc((size_t)(n * n * n), sizeof *owner);
    assert_non_null(owner);
    for (int rank = 0; rank < size; rank++) {
        struct bt_decomp d;
        assert_int_equal(bt_decomp_make(text, n, size, rank, &d), ERR_OK);
        assert_int_equal(d.n, n);
        assert_int_equal(bt_decomp_rank(&d, d.at), rank);
        assert_int_equal((int64_t)d.p[0] * d.p[1] * d.p[2], size);
        assert_true(d.count[0] >= 1 && d.count[1] >= 1 && d.count[2] >= 1);
        for (int64_t k = d.lo[2]; k < d.lo[2] + d.count[2]; k++)
            for (int64_t j = d.lo[1]; j < d.lo[1] + d.count[1]; j++)
                for (int64_t i = d.lo[0]; i < d.lo[0] + d.count[0]; i++)
                    owner[(k * n + j) * n + i]++;
    }
    for (int64_t c = 0; c < n * n * n; c++)
        assert_int_equal(owner[c], 1);
    free(owner);
}

static void test_tiling(void **state)
{
    (void)state;
    static const char *const names[] = {"auto", "1d", "1d:x", "1d:y", "1d:z", "3d"};
    for (size_t s = 0; s < sizeof names / sizeof names[0]; s++)
        for (int size = 1; size <= 12; size++)
            check_tiling(names[s], 13, size);
    check_tiling("2x3x4", 7, 24);
    check_tiling("6x6x6", 6, 216);
    check_tiling("1x5x2", 6, 10);
}

static void check_name(const char *text, int64_t n, int size, const char *name)
{
    struct bt_decomp d;
    char out[40];
    assert_int_equal(bt_decomp_make(text, n, size, size - 1, &d), ERR_OK);
    bt_decomp_name(&d, out);
    assert_string_equal(out, name);
}

static void test_names(void **state)
{
    (void)state;
    check_name("1d", 12, 12, "1x1x12");
    check_name("1d:x", 12, 12, "12x1x1");
    check_name("1d:y", 12, 12, "1x12x1");
    check_name("1d:z", 12, 12, "1x1x12");
    check_name("3d", 12, 8, "2x2x2");
    check_name("3d", 12, 12, "2x2x3");
    check_name("3d", 12, 7, "1x1x7");
    check_name("3d", 64, 64, "4x4x4");
    check_name("3d", 6, 36, "3x3x4");
    check_name("4x2x1", 12, 8, "4x2x1");
}

static void test_auto(void **state)
{
    (void)state;
    check_name("auto", 102, 1, "1x1x1");
    check_name("auto", 102, 2, "1x1x2");
    check_name("auto", 102, 25, "1x1x25");
    check_name("auto", 12, 3, "1x1x3");
    check_name("auto", 12, 4, "1x2x2");
    check_name("auto", 12, 8, "1x2x4");
    check_name("auto", 102, 64, "1x8x8");
    check_name("auto", 13, 13, "1x1x13");
    check_name("auto", 6, 1, "1x1x1");
}

static void check_refused(const char *text, int64_t n, int size, const char *says)
{
    struct bt_decomp d;
    err_clear();
    assert_int_equal(bt_decomp_make(text, n, size, 0, &d), ERR_USAGE);
    if (strstr(err_message(), "--decomp") == NULL || strstr(err_message(), text) == NULL ||
        strstr(err_message(), says) == NULL)
        fail_msg("--decomp %s, N = %d, %d ranks: says '%s'", text, (int)n, size, err_message());
    err_clear();
    assert_int_equal(bt_decomp_of_option("--other", text, n, size, 0, &d), ERR_USAGE);
    assert_int_equal(strncmp(err_message(), "--other ", 8), 0);
    assert_null(strstr(err_message(), "--decomp"));
    err_clear();
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",       "2d",     "1d:w",   "2x2",     "2x2x2x1", "0x1x1",
        "-1x1x1", "2x2x2 ", " 2x2x2", "2X2X2",   "axbxc",   "2x+1x4",
        "AUTO",   "1d:",    "2x2x",   "1e0x1x8", "8x1x1.0", "99999999999999999999x1x1"};
    for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; w++)
        check_refused(wrong[w], 12, 8, "is not understood");
    check_refused("2x2x1", 12, 8, "the number of ranks is 8");
    check_refused("1000000x1000000x1000000", 12, 8, "the number of ranks is 8");
    check_refused("1d:z", 12, 16, "auto (1x4x4)");
    check_refused("16x1x1", 12, 16, "at most 12 parts");
    check_refused("1d:x", 6, 7, "number of ranks");
    check_refused("auto", 12, 13, "number of ranks");
    check_refused("3d", 12, 26, "N = 12");
    check_refused("auto", 6, 217, "N = 6");
}

static void test_sizes_beyond_32_bits(void **state)
{
    (void)state;
    struct bt_decomp d;
    int64_t cells = 0;
    for (int rank = 0; rank < 7; rank++) {
        assert_int_equal(bt_decomp_make("1x1x7", 2560, 7, rank, &d), ERR_OK);
        cells += d.count[0] * d.count[1] * d.count[2];
    }
    assert_int_equal(cells, INT64_C(16777216000));
    assert_int_equal(cells * 40, INT64_C(671088640000));
    assert_int_equal(bt_decomp_make("2560x2560x1", 2560, 2560 * 2560, 2560 * 2560 - 1, &d), ERR_OK);
    assert_int_equal(d.lo[0], 2559);
    assert_int_equal(d.count[2], 2560);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axis),
        cmocka_unit_test(test_outer_parts_are_larger),
        cmocka_unit_test(test_tiling),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_auto),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_sizes_beyond_32_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
