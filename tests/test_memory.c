/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which ranks aggregate, and what writers hold in memory (io/aggregate.h, io/setting.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "io/aggregate.h"
#include "io/setting.h"

enum { MIB = 1 << 20, PART = 10 * MIB };

static void aggregators_are_spread_evenly(void **state)
{
    (void)state;
    for (int64_t ranks = 1; ranks <= 40; ranks++) {
        for (int64_t n = 1; n <= ranks; n++) {
            int64_t found = 0;
            for (int64_t r = 0; r < ranks; r++) {
                if (!io_aggregates(r, ranks, n)) continue;
                assert_int_equal(r, found * ranks / n);
                found++;
            }
            assert_int_equal(found, n);
        }
    }
}

static void no_more_aggregators_than_ranks(void **state)
{
    (void)state;
    assert_int_equal(io_aggregators(0, 64, 2), 2 * IO_AGGREGATORS_PER_NODE);
    assert_int_equal(io_aggregators(0, 5, 2), 5);
    assert_int_equal(io_aggregators(3, 64, 2), 3);
    assert_int_equal(io_aggregators(3, 2, 2), 2);
}

/* Of 16 ranks on two nodes. */
static void holds(const char *writer, struct io_tuning t, int64_t holders_n, int64_t bytes)
{
    const struct io_memory m = io_writer_memory(writer, &t, 16, 2, PART);
    assert_int_equal(m.holders_n, holders_n);
    assert_int_equal(m.bytes, bytes);
}

static void what_writers_hold(void **state)
{
    (void)state;
    const struct io_tuning usual = {0};
    /* Eight aggregators have two ranks each, two dumps and two pieces of 8 MiB. */
    holds("async", usual, 8, INT64_C(2) * 2 * PART + 2 * 8 * MIB);
    holds("check:async", usual, 8, INT64_C(2) * 2 * PART + 2 * 8 * MIB);
    holds("async", (struct io_tuning){.aggregators = 1, .staging = 64}, 1,
          INT64_C(64) * 16 * PART + 2 * 8 * MIB);
    /* Five have four at most, which is less than a buffer. */
    holds("twophase", (struct io_tuning){.aggregators = 5, .buffer_bytes = 64 * MIB}, 5,
          2 * 40 * MIB);
    holds("mpiio-async", (struct io_tuning){.staging = 3}, 16, INT64_C(3) * PART);
    holds("mpiio", usual, 16, PART);
}

static void what_readers_hold(void **state)
{
    (void)state;
    const struct io_tuning usual = {0}, large = {.buffer_bytes = INT64_C(1) << 30, .staging = 4};
    assert_int_equal(io_reader_memory("posix", &usual, 10 * MIB), 4 * IO_READ_BYTES);
    assert_int_equal(io_reader_memory("async", &usual, 10 * MIB), 7 * IO_READ_BYTES);
    /* No more at a time than a dump. */
    assert_int_equal(io_reader_memory("mpiio-async", &large, 10 * MIB), 9 * 10 * MIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aggregators_are_spread_evenly),
        cmocka_unit_test(no_more_aggregators_than_ranks),
        cmocka_unit_test(what_writers_hold),
        cmocka_unit_test(what_readers_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
