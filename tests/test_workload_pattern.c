/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spatial patterns against a stupid second implementation that fills in the owner of every
 * byte of the file, at several numbers of ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "companions/workload/pattern.h"

static const int procs[] = {1, 2, 3, 4, 6, 7, 8};
#define PROCS_N (sizeof procs / sizeof procs[0])

static struct workload_shape shape(enum workload_pattern p, int size, int64_t n)
{
    return (struct workload_shape){.pattern = p,
                                   .procs = size,
                                   .n = n,
                                   .record_bytes = 24,
                                   .seed = 5,
                                   .inner = 3,
                                   .rows = 4,
                                   .columns = 5,
                                   .element_bytes = 3,
                                   .overlap_rows = 1,
                                   .overlap_columns = 2,
                                   .blocks = 2,
                                   .vary = 3,
                                   .cells = 2,
                                   .guard = 1,
                                   .variables = 3,
                                   .plot = 2,
                                   .values = 3};
}

/* How many accesses touch each byte; fails outside the file. */
static unsigned char *touched(const struct workload_shape *s, int64_t *length)
{
    *length = workload_shape_length(s);
    unsigned char *count = calloc((size_t)*length, 1);
    assert_non_null(count);
    int64_t sum = 0;
    for (int r = 0; r < s->procs; r++) {
        int64_t mine = 0;
        for (int64_t i = 0; i < workload_shape_accesses(s); i++) {
            const struct workload_extent e = workload_shape_extent(s, r, i);
            assert_true(e.offset >= 0 && e.bytes > 0 && e.offset + e.bytes <= *length);
            for (int64_t b = 0; b < e.bytes; b++)
                count[e.offset + b]++;
            mine += e.bytes;
        }
        assert_int_equal(mine, workload_shape_rank_bytes(s, r));
        sum += mine;
    }
    assert_int_equal(sum, workload_shape_bytes(s));
    return count;
}

static void every_byte_touched(const struct workload_shape *s, int size, int times)
{
    int64_t length;
    unsigned char *count = touched(s, &length);
    for (int64_t b = 0; b < length; b++)
        if (count[b] != times)
            fail_msg("%s on %d: byte %d touched %d times", workload_pattern_name(s->pattern), size,
                     (int)b, count[b]);
    free(count);
}

static void every_byte_once(void **state)
{
    (void)state;
    for (int p = 0; p < WORKLOAD_PATTERNS; p++)
        for (size_t k = 0; k < PROCS_N; k++)
            for (int64_t n = 1; n <= 4; n++)
                for (int packed = 0; packed < 2; packed++) {
                    struct workload_shape s = shape((enum workload_pattern)p, procs[k], n);
                    s.packed = packed;
                    if (p == WORKLOAD_TILED && !packed) s.overlap_rows = s.overlap_columns = 0;
                    every_byte_touched(&s, procs[k],
                                       p == WORKLOAD_SEQUENTIAL && !packed ? procs[k] : 1);
                }
}

static bool follow_each_other(const struct workload_shape *s, int rank)
{
    int64_t next = workload_shape_extent(s, rank, 0).offset;
    for (int64_t i = 0; i < workload_shape_accesses(s); i++) {
        const struct workload_extent e = workload_shape_extent(s, rank, i);
        if (e.offset != next) return false;
        next += e.bytes;
    }
    return true;
}

/* Packed records of a rank are contiguous and ascending. So are those of a rank alone, the vertices of a
 * mesh in the order of the file. */
static void no_gaps_where_so_said(void **state)
{
    (void)state;
    for (int p = 0; p < WORKLOAD_PATTERNS; p++)
        for (int size = 1; size < 6; size++)
            for (int r = 0; r < size; r++) {
                struct workload_shape s = shape((enum workload_pattern)p, size, 5);
                if (workload_shape_gapless(&s) && p != WORKLOAD_MESH)
                    assert_true(follow_each_other(&s, r));
                else if (size == 4)
                    assert_false(follow_each_other(&s, r));
                s.packed = true;
                assert_true(workload_shape_gapless(&s) && follow_each_other(&s, r));
            }
}

static void periods_are_periods(void **state)
{
    (void)state;
    for (int p = 0; p < WORKLOAD_PATTERNS; p++)
        for (int packed = 0; packed < 2; packed++)
            for (int r = 0; r < 6; r++) {
                struct workload_shape s = shape((enum workload_pattern)p, 6, 4);
                int64_t accesses, bytes;
                s.packed = packed;
                workload_shape_period(&s, r, &accesses, &bytes);
                assert_true(accesses >= 1);
                for (int64_t i = 0; i + accesses < workload_shape_accesses(&s); i++) {
                    const struct workload_extent a = workload_shape_extent(&s, r, i),
                                                 b = workload_shape_extent(&s, r, i + accesses);
                    assert_int_equal(a.offset + bytes, b.offset);
                    assert_int_equal(a.bytes, b.bytes);
                }
            }
}

static void simple_and_segmented(void **state)
{
    (void)state;
    struct workload_shape s = shape(WORKLOAD_SIMPLE, 3, 9);
    assert_int_equal(workload_shape_extent(&s, 2, 4).offset, (4 * 3 + 2) * 24);
    s.pattern = WORKLOAD_SEGMENTED;
    assert_int_equal(workload_shape_extent(&s, 2, 4).offset, (2 * 9 + 4) * 24);
    s.pattern = WORKLOAD_SEQUENTIAL;
    assert_int_equal(workload_shape_extent(&s, 2, 4).offset, 4 * 24);
}

/* A 3-D array of bytes [plane][y][x], its blocks dealt out on a grid, written down naively. */
static void nested_is_a_block_of_an_array(void **state)
{
    (void)state;
    static const struct {
        int procs, px, py;
    } grids[] = {{4, 2, 2}, {6, 3, 2}, {8, 4, 2}, {9, 3, 3}, {7, 7, 1}};
    for (size_t g = 0; g < sizeof grids / sizeof grids[0]; g++) {
        const struct workload_shape s = shape(WORKLOAD_NESTED, grids[g].procs, 2);
        const int64_t width = grids[g].px * s.record_bytes, height = grids[g].py * s.inner;
        for (int r = 0; r < s.procs; r++) {
            int64_t i = 0;
            for (int64_t plane = 0; plane < s.n; plane++)
                for (int64_t y = 0; y < s.inner; y++, i++) {
                    const int64_t row = r / grids[g].px * s.inner + y;
                    const int64_t x = r % grids[g].px * s.record_bytes;
                    assert_int_equal(workload_shape_extent(&s, r, i).offset,
                                     (plane * height + row) * width + x);
                }
            assert_int_equal(i, workload_shape_accesses(&s));
        }
    }
}

static void random_turns_go_round(void **state)
{
    (void)state;
    struct workload_shape s = shape(WORKLOAD_RANDOM, 5, 7);
    int64_t next = 0, different = 0;
    for (int64_t i = 0; i < s.n; i++)
        for (int r = 0; r < s.procs; r++) {
            const struct workload_extent e = workload_shape_extent(&s, r, i);
            assert_int_equal(e.offset, next);
            assert_true(e.bytes >= 1 && e.bytes < 2 * s.record_bytes);
            different += e.bytes != s.record_bytes;
            next += e.bytes;
        }
    assert_true(different > 20);
    for (int r = 0; r < s.procs; r++)
        assert_int_equal(workload_shape_rank_bytes(&s, r), 7 * 24);
    const struct workload_extent before = workload_shape_extent(&s, 1, 2);
    s.seed = 6;
    assert_true(workload_shape_extent(&s, 1, 2).bytes != before.bytes ||
                workload_shape_extent(&s, 1, 2).offset != before.offset);
}

static void tiles_overlap(void **state)
{
    (void)state;
    /* 4 ranks: 2 x 2 tiles of 4 x 5 elements, 1 row and 2 columns shared: 7 rows of 8 elements. */
    const struct workload_shape s = shape(WORKLOAD_TILED, 4, 2);
    int64_t length, twice = 0, never = 0;
    unsigned char *count = touched(&s, &length);
    assert_int_equal(length, 2 * 7 * 8 * 3);
    assert_int_equal(workload_shape_extent(&s, 3, 0).offset, (3 * 8 + 3) * 3);
    assert_int_equal(workload_shape_extent(&s, 3, 5).offset, 7 * 8 * 3 + (4 * 8 + 3) * 3);
    for (int64_t b = 0; b < length; b++) {
        twice += count[b] > 1;
        never += count[b] == 0;
    }
    assert_int_equal(never, 0);
    assert_int_equal(twice, 2 * 3 * (8 + 6 * 2));
    free(count);
}

static void flash_is_variable_block_cells(void **state)
{
    (void)state;
    const struct workload_shape s = shape(WORKLOAD_FLASH, 5, 2);
    /* Blocks 2 3 4 2 3: 14. A block of a variable is 8 cells. */
    static const int64_t first[] = {0, 2, 5, 9, 11, 14};
    const int64_t checkpoint = 3 * 14 * 64, plot = 2 * 14 * 32;
    assert_int_equal(workload_shape_length(&s), 2 * (checkpoint + plot));
    for (int r = 0; r < 5; r++)
        for (int64_t dump = 0; dump < 2; dump++)
            for (int64_t v = 0; v < 5; v++) {
                const struct workload_extent e = workload_shape_extent(&s, r, dump * 5 + v);
                const int64_t cell = v < 3 ? 64 : 32;
                const int64_t var = v < 3 ? v * 14 * 64 : checkpoint + (v - 3) * 14 * 32;
                assert_int_equal(e.offset, dump * (checkpoint + plot) + var + first[r] * cell);
                assert_int_equal(e.bytes, (first[r + 1] - first[r]) * cell);
            }
}

/* What lies in memory is disjoint, complete, and inside the slot. */
static void memory_pieces_are_disjoint(void **state)
{
    (void)state;
    for (int p = 0; p < WORKLOAD_PATTERNS; p++)
        for (int strided = 0; strided < 2; strided++)
            for (int r = 0; r < 3; r++) {
                const struct workload_shape s = shape((enum workload_pattern)p, 3, 4);
                const struct workload_memory m = {.strided = strided, .block_bytes = 7};
                const int64_t group = workload_memory_group(&s, &m);
                const int64_t slot = workload_memory_slot_bytes(&s, &m, r);
                unsigned char *count = calloc((size_t)slot, 1);
                assert_non_null(count);
                for (int64_t i = 0; i < workload_shape_accesses(&s); i++) {
                    int64_t sum = 0;
                    if (i % group == 0) memset(count, 0, (size_t)slot);
                    const int64_t pieces = workload_memory_pieces(&s, &m, r, i);
                    for (int64_t k = 0; k < pieces; k++) {
                        const struct workload_extent e = workload_memory_piece(&s, &m, r, i, k);
                        assert_true(e.offset >= 0 && e.offset + e.bytes <= slot);
                        for (int64_t b = 0; b < e.bytes; b++)
                            assert_int_equal(count[e.offset + b]++, 0);
                        sum += e.bytes;
                    }
                    assert_int_equal(sum, workload_shape_extent(&s, r, i).bytes);
                    assert_true(strided || pieces == 1);
                }
                free(count);
            }
}

/* FLASH's array in memory, written down as the nested array that it is. */
static void flash_memory_has_guard_cells(void **state)
{
    (void)state;
    const struct workload_shape s = shape(WORKLOAD_FLASH, 3, 1);
    const struct workload_memory m = {.strided = true};
    const int rank = 1; /* 3 blocks */
    int64_t k = 0;
    double array[3][4][4][4][3];
    assert_int_equal(workload_memory_slot_bytes(&s, &m, rank), sizeof array + 3 * 2 * 32);
    for (int b = 0; b < 3; b++)
        for (int z = 1; z < 3; z++)
            for (int y = 1; y < 3; y++)
                for (int x = 1; x < 3; x++, k++)
                    assert_int_equal(workload_memory_piece(&s, &m, rank, 2, k).offset,
                                     (char *)&array[b][z][y][x][2] - (char *)array);
    assert_int_equal(k, workload_memory_pieces(&s, &m, rank, 2));
}

static void names(void **state)
{
    (void)state;
    for (int p = 0; p < WORKLOAD_PATTERNS; p++)
        for (int q = 0; q < p; q++)
            assert_string_not_equal(workload_pattern_name((enum workload_pattern)p),
                                    workload_pattern_name((enum workload_pattern)q));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_once),
        cmocka_unit_test(no_gaps_where_so_said),
        cmocka_unit_test(periods_are_periods),
        cmocka_unit_test(simple_and_segmented),
        cmocka_unit_test(nested_is_a_block_of_an_array),
        cmocka_unit_test(random_turns_go_round),
        cmocka_unit_test(tiles_overlap),
        cmocka_unit_test(flash_is_variable_block_cells),
        cmocka_unit_test(memory_pieces_are_disjoint),
        cmocka_unit_test(flash_memory_has_guard_cells),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
