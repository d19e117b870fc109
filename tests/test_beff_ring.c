/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ring rule: sizes of the rings of every pattern, for every number of processes up to 32 and
 * some larger ones, as release 3.6 gives them; properties for all others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "companions/beff/pattern.h"

/* Processes, then count*size in rank order for the six standard sizes. */
static const struct {
    int n;
    const char *rings[BEFF_RINGS_N];
} table[] = {
    {2, {"1*2", "1*2", "1*2", "1*2", "1*2", "1*2"}},
    {3, {"1*3", "1*3", "1*3", "1*3", "1*3", "1*3"}},
    {4, {"2*2", "1*4", "1*4", "1*4", "1*4", "1*4"}},
    {5, {"1*2+1*3", "1*5", "1*5", "1*5", "1*5", "1*5"}},
    {6, {"3*2", "1*6", "1*6", "1*6", "1*6", "1*6"}},
    {7, {"2*2+1*3", "1*4+1*3", "1*7", "1*7", "1*7", "1*7"}},
    {8, {"4*2", "2*4", "1*8", "1*8", "1*8", "1*8"}},
    {9, {"3*2+1*3", "1*4+1*5", "1*9", "1*9", "1*9", "1*9"}},
    {10, {"5*2", "2*5", "1*10", "1*10", "1*10", "1*10"}},
    {11, {"4*2+1*3", "2*4+1*3", "1*11", "1*11", "1*11", "1*11"}},
    {12, {"6*2", "3*4", "1*12", "1*12", "1*12", "1*12"}},
    {13, {"5*2+1*3", "2*4+1*5", "1*6+1*7", "1*13", "1*13", "1*13"}},
    {14, {"7*2", "1*4+2*5", "2*7", "1*14", "1*14", "1*14"}},
    {15, {"6*2+1*3", "3*4+1*3", "1*8+1*7", "1*15", "1*15", "1*15"}},
    {16, {"8*2", "4*4", "2*8", "1*16", "1*16", "1*16"}},
    {17, {"7*2+1*3", "3*4+1*5", "1*8+1*9", "1*17", "1*17", "1*17"}},
    {18, {"9*2", "2*4+2*5", "2*9", "1*18", "1*18", "1*18"}},
    {19, {"8*2+1*3", "4*4+1*3", "1*10+1*9", "1*19", "1*19", "1*19"}},
    {20, {"10*2", "5*4", "2*10", "1*20", "1*20", "1*20"}},
    {21, {"9*2+1*3", "4*4+1*5", "3*7", "1*21", "1*21", "1*21"}},
    {22, {"11*2", "3*4+2*5", "1*8+2*7", "1*22", "1*22", "1*22"}},
    {23, {"10*2+1*3", "5*4+1*3", "2*8+1*7", "1*23", "1*23", "1*23"}},
    {24, {"12*2", "6*4", "3*8", "1*24", "1*24", "1*24"}},
    {25, {"11*2+1*3", "5*4+1*5", "2*8+1*9", "1*25", "1*25", "1*25"}},
    {26, {"13*2", "4*4+2*5", "1*8+2*9", "2*13", "1*26", "1*26"}},
    {27, {"12*2+1*3", "6*4+1*3", "3*9", "1*14+1*13", "1*27", "1*27"}},
    {28, {"14*2", "7*4", "1*10+2*9", "2*14", "1*28", "1*28"}},
    {29, {"13*2+1*3", "6*4+1*5", "1*8+3*7", "1*14+1*15", "1*29", "1*29"}},
    {30, {"15*2", "5*4+2*5", "2*8+2*7", "2*15", "1*30", "1*30"}},
    {31, {"14*2+1*3", "7*4+1*3", "3*8+1*7", "1*16+1*15", "1*31", "1*31"}},
    {32, {"16*2", "8*4", "4*8", "2*16", "1*32", "1*32"}},
    {36, {"18*2", "9*4", "4*9", "2*18", "1*36", "1*36"}},
    {40, {"20*2", "10*4", "5*8", "2*20", "1*40", "1*40"}},
    {48, {"24*2", "12*4", "6*8", "3*16", "1*48", "1*48"}},
    {64, {"32*2", "16*4", "8*8", "4*16", "2*32", "1*64"}},
    {65, {"31*2+1*3", "15*4+1*5", "7*8+1*9", "3*16+1*17", "1*32+1*33", "1*65"}},
    {96, {"48*2", "24*4", "12*8", "4*24", "2*48", "1*96"}},
    {100, {"50*2", "25*4", "8*8+4*9", "4*25", "2*50", "1*100"}},
    {127, {"62*2+1*3", "31*4+1*3", "15*8+1*7", "3*32+1*31", "1*64+1*63", "1*127"}},
    {128, {"64*2", "32*4", "16*8", "4*32", "2*64", "1*128"}},
    {256, {"128*2", "64*4", "32*8", "4*64", "2*128", "1*256"}},
    {512, {"256*2", "128*4", "64*8", "4*128", "2*256", "1*512"}},
};

/* "2*2+1*3". */
static const char *text_of(const struct beff_rings *r, char out[64])
{
    const int used = snprintf(out, 64, "%d*%d", r->first_n, r->first);
    if (r->second_n > 0) snprintf(out + used, 64 - (size_t)used, "+%d*%d", r->second_n, r->second);
    return out;
}

static void rings_of_release_36(void **state)
{
    (void)state;
    char text[64];
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++)
        for (int i = 0; i < BEFF_RINGS_N; i++) {
            const struct beff_rings r =
                beff_rings_of(BEFF_36, table[t].n, beff_ring_standard(i, table[t].n));
            assert_string_equal(text_of(&r, text), table[t].rings[i]);
        }
}

static void paper_differs_for_seven_processes_only(void **state)
{
    (void)state;
    char paper[64], release[64];
    for (int n = 2; n < 2000; n++)
        for (int i = 0; i < BEFF_RINGS_N; i++) {
            const int s = beff_ring_standard(i, n);
            const struct beff_rings p = beff_rings_of(BEFF_PAPER, n, s);
            const struct beff_rings q = beff_rings_of(BEFF_36, n, s);
            if (n == 7 && i == 1) {
                assert_string_equal(text_of(&p, paper), "1*7");
                assert_string_equal(text_of(&q, release), "1*4+1*3");
            } else {
                assert_string_equal(text_of(&p, paper), text_of(&q, release));
            }
        }
}

/* What the paper says in words. */
static void words_of_the_paper(void **state)
{
    (void)state;
    for (int n = 2; n < 2000; n++) {
        const struct beff_rings two = beff_rings_of(BEFF_PAPER, n, beff_ring_standard(0, n));
        if (n > 3) assert_int_equal(two.first, 2);
        assert_true(two.second_n == 0 || (two.second == 3 && two.second_n == 1));
        const struct beff_rings four = beff_rings_of(BEFF_PAPER, n, beff_ring_standard(1, n));
        if (n <= 7) {
            assert_int_equal(four.first, n);
        } else {
            assert_true(four.first == 4 || (four.first == 5 && four.first_n <= 2));
            assert_true(four.second_n == 0 || (four.second == 3 && four.second_n == 1) ||
                        (four.second == 5 && four.second_n <= 2));
        }
        const struct beff_rings eight = beff_rings_of(BEFF_PAPER, n, beff_ring_standard(2, n));
        if (n < 29) continue;
        assert_true(eight.first == 8 || (eight.first == 9 && eight.first_n <= 4));
        assert_true(eight.second_n == 0 || (eight.second == 7 && eight.second_n <= 3) ||
                    (eight.second == 9 && eight.second_n <= 4));
    }
}

static void every_process_is_in_one_ring(void **state)
{
    (void)state;
    for (int n = 2; n < 300; n++)
        for (int i = 0; i < BEFF_RINGS_N; i++) {
            const struct beff_rings r = beff_rings_of(BEFF_36, n, beff_ring_standard(i, n));
            int next = 0, start;
            while (next < n) {
                const int size = beff_ring_at(&r, next, &start);
                assert_int_equal(start, next);
                assert_true(size >= 2);
                for (int p = next; p < next + size; p++) {
                    assert_int_equal(beff_ring_at(&r, p, &start), size);
                    assert_int_equal(start, next);
                }
                next += size;
            }
            assert_int_equal(next, n);
        }
}

static void names(void **state)
{
    (void)state;
    char name[BEFF_NAME_MAX];
    const struct {
        int n, i;
        const char *name;
    } c[] = {{4, 0, "ring-2*2fix"},  {5, 0, "ring-2*2&+1"},  {7, 0, "ring-3*2&+1"},
             {11, 0, "ring-5*2&+1"}, {11, 1, "ring-3*4&-1"}, {28, 2, "ring-3*10&-1"}};
    for (size_t k = 0; k < sizeof c / sizeof c[0]; k++) {
        const struct beff_rings r =
            beff_rings_of(BEFF_36, c[k].n, beff_ring_standard(c[k].i, c[k].n));
        assert_string_equal(beff_ring_name(&r, name), c[k].name);
    }
}

static void large_numbers_do_not_overflow(void **state)
{
    (void)state;
    const int n = 2000000000;
    for (int i = 0; i < BEFF_RINGS_N; i++) {
        const struct beff_rings r = beff_rings_of(BEFF_36, n, beff_ring_standard(i, n));
        assert_true((int64_t)r.first_n * r.first + (int64_t)r.second_n * r.second == n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_of_release_36),
        cmocka_unit_test(paper_differs_for_seven_processes_only),
        cmocka_unit_test(words_of_the_paper),
        cmocka_unit_test(every_process_is_in_one_ring),
        cmocka_unit_test(names),
        cmocka_unit_test(large_numbers_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
