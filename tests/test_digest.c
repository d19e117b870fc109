/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Digests: rows against value-by-value hashing, additivity, sensitivity; files against the
 * library's one-shot hash. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/digest.h"
#include "base/err.h"

enum { NMAX = 40, WORDS_MAX = 3 * NMAX + 5 };

static double field[5][NMAX][NMAX][NMAX]; /* [m][k][j][i] */

static void fill(void)
{
    for (double *u = &field[0][0][0][0]; u < &field[0][0][0][0] + 5 * NMAX * NMAX * NMAX; u++) {
        *u = ((double)random() - 1e9) * 1.7e-9;
    }
    field[1][2][3][4] = -0.0;
    field[2][3][4][5] = NAN;
}

/* The definition, one value at a time, with its own arithmetic. */
static uint64_t hash_by_text(double u, uint64_t g)
{
    uint64_t x;
    memcpy(&x, &u, sizeof x);
    x += (g + 1) * 0x9e3779b97f4a7c15ULL;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9ULL;
    x ^= x >> 32;
    return x;
}

static void oracle(uint64_t *w, int n)
{
    memset(w, 0, WORDS_MAX * sizeof *w);
    for (int c = 0; c < 5 * n * n * n; c++) {
        int m = c % 5, i = c / 5 % n, j = c / 5 / n % n, k = c / 5 / n / n;
        uint64_t h = hash_by_text(field[m][k][j][i], (uint64_t)c);
        w[i] += h;
        w[n + j] += h;
        w[2 * n + k] += h;
        w[3 * n + m] += h;
    }
}

/* Rows cut at i = cut, the two halves in separate digests that are added. */
static void by_rows(uint64_t *w, int n, int cut)
{
    uint64_t part[2][WORDS_MAX] = {{0}};
    for (int m = 0; m < 5; m++) {
        for (int c = n * n - 1; c >= 0; c--) {
            const double *row = field[m][c / n][c % n];
            digest_row(part[0], n, 0, cut, c % n, c / n, m, row);
            digest_row(part[1], n, cut, n - cut, c % n, c / n, m, row + cut);
        }
    }
    for (int b = 0; b < WORDS_MAX; b++) {
        w[b] = part[0][b] + part[1][b];
    }
}

static void rows_match_the_definition(void **state)
{
    (void)state;
    for (int n = 6; n <= NMAX; n += 1 + n % 7) {
        uint64_t want[WORDS_MAX], got[WORDS_MAX];
        oracle(want, n);
        for (int cut = 0; cut <= n; cut += 5) {
            by_rows(got, n, cut);
            assert_memory_equal(got, want, (size_t)digest_words(n) * sizeof *got);
        }
    }
}

static void total_is_the_same_by_every_axis(void **state)
{
    (void)state;
    const int n = 13;
    uint64_t w[WORDS_MAX], by_i = 0, by_j = 0, by_k = 0;
    oracle(w, n);
    for (int i = 0; i < n; i++) {
        by_i += w[i];
        by_j += w[n + i];
        by_k += w[2 * n + i];
    }
    assert_true(by_i == by_j && by_j == by_k && by_i != 0);
}

static void a_flipped_bit_is_located(void **state)
{
    (void)state;
    const int n = 12;
    uint64_t good[WORDS_MAX], bad[WORDS_MAX], bits;
    by_rows(good, n, 0);
    double *u = &field[3][7][9][2], keep = *u;
    memcpy(&bits, u, sizeof bits);
    bits ^= 1;
    memcpy(u, &bits, sizeof bits);
    by_rows(bad, n, 0);
    *u = keep;
    for (int b = 0; b < digest_words(n); b++) {
        int hit = b == 2 || b == n + 9 || b == 2 * n + 7 || b == 3 * n + 3;
        assert_int_equal(good[b] != bad[b], hit);
    }
}

static void swapped_values_are_seen(void **state)
{
    (void)state;
    const int n = 12;
    uint64_t good[WORDS_MAX], bad[WORDS_MAX];
    by_rows(good, n, 0);
    double *a = &field[0][1][1][1], *b = &field[0][1][1][2], keep = *a;
    *a = *b;
    *b = keep;
    by_rows(bad, n, 0);
    *b = *a;
    *a = keep;
    assert_memory_not_equal(good + 3 * n, bad + 3 * n, 5 * sizeof *good);
}

/* Every byte counts, and where it stands; so does a length that is no multiple of 8. */
static void changed_bytes_are_seen(void **state)
{
    (void)state;
    unsigned char bytes[45], other[45];
    for (size_t b = 0; b < sizeof bytes; b++)
        bytes[b] = (unsigned char)(37 * b + 1);
    const uint64_t sum = digest_bytes(bytes, sizeof bytes);
    for (size_t b = 0; b < sizeof bytes; b++) {
        memcpy(other, bytes, sizeof other);
        other[b] ^= 4;
        assert_true(digest_bytes(other, sizeof other) != sum);
    }
    memcpy(other, bytes, sizeof other);
    memcpy(other, bytes + 8, 8);
    memcpy(other + 8, bytes, 8);
    assert_true(digest_bytes(other, sizeof other) != sum);
    assert_int_equal(digest_bytes(NULL, 0), 0);
}

int main(void)
{
    srandom(1234);
    fill();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_match_the_definition),
        cmocka_unit_test(total_is_the_same_by_every_axis),
        cmocka_unit_test(a_flipped_bit_is_located),
        cmocka_unit_test(swapped_values_are_seen),
        cmocka_unit_test(changed_bytes_are_seen),
    };
    return cmocka_run_group_tests_name("digest", tests, NULL, NULL);
}
