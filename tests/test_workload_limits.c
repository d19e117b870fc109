/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Planning with sizes near 2^63: a second calculation, in long double, says what fits. What does is
 * exact and all accesses lie in the file; what does not is refused and never becomes a small number. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/num.h"
#include "companions/workload/accesses.h"
#include "companions/workload/plan.h"
#include "companions/workload/random.h"

enum { TRIES = 30000, BUFFER_BYTES = 1 << 28 };
#define BYTES_MAX (INT64_C(1) << 60)

/* 1 to most, all orders of magnitude equally often, powers of two and their neighbours too. */
static int64_t some(struct random *r, int64_t most)
{
    int bits = 0;
    while (bits < 62 && INT64_C(1) << (bits + 1) <= most)
        bits++;
    const int64_t power = INT64_C(1) << random_below(r, bits + 1);
    int64_t x = power;
    if (random_below(r, 2)) x += random_below(r, power);
    if (random_below(r, 4) == 0) x += random_below(r, 3) - 1;
    return x < 1 ? 1 : x > most ? most : x;
}

static struct workload_shape some_shape(struct random *r, int64_t most)
{
    const int64_t rows = some(r, 1 << 30), columns = some(r, 1 << 30);
    return (struct workload_shape){.pattern =
                                       (enum workload_pattern)random_below(r, WORKLOAD_PATTERNS),
                                   .procs = (int)some(r, 64),
                                   .n = some(r, most),
                                   .record_bytes = some(r, most),
                                   .seed = 1,
                                   .packed = random_below(r, 2),
                                   .inner = some(r, 1000000),
                                   .rows = rows,
                                   .columns = columns,
                                   .element_bytes = some(r, 1000000000),
                                   .overlap_rows = random_below(r, rows),
                                   .overlap_columns = random_below(r, columns),
                                   .blocks = some(r, 1000000),
                                   .vary = some(r, 1000),
                                   .cells = some(r, 1000),
                                   .guard = some(r, 1000),
                                   .variables = some(r, 1000),
                                   .plot = some(r, 1000),
                                   .values = some(r, 10000000)};
}

/* Bytes of all processes; exact where they fit. */
static long double bytes_of(const struct workload_shape *s)
{
    const long double n = (long double)s->n, procs = s->procs;
    long double blocks = 0;
    switch (s->pattern) {
    case WORKLOAD_NESTED:
        return n * procs * (long double)s->inner * (long double)s->record_bytes;
    case WORKLOAD_TILED:
        return n * procs * (long double)s->rows * (long double)s->columns *
               (long double)s->element_bytes;
    case WORKLOAD_FLASH:
        for (int p = 0; p < s->procs; p++)
            blocks += (long double)(s->blocks + p % s->vary);
        return n * blocks * (long double)(s->cells * s->cells * s->cells) *
               (long double)(8 * s->variables + 4 * s->plot);
    case WORKLOAD_MESH:
        return n * procs * (long double)s->values * 8;
    default:
        return n * procs * (long double)s->record_bytes;
    }
}

/* Accesses of a process. */
static long double accesses_of(const struct workload_shape *s)
{
    const long double n = (long double)s->n;
    return s->pattern == WORKLOAD_NESTED  ? n * (long double)s->inner
           : s->pattern == WORKLOAD_TILED ? n * (long double)s->rows
           : s->pattern == WORKLOAD_FLASH ? n * (long double)(s->variables + s->plot)
                                          : n;
}

static void as_calculated(int64_t got, long double want)
{
    if (want >= 0x1p63L)
        assert_true(got == NUM_ENDLESS);
    else
        assert_true((long double)got == want);
}

static void lengths_of_files_near_2_to_the_63(void **state)
{
    (void)state;
    struct random r = random_begin(27, 1);
    int fitted = 0;
    for (int t = 0; t < TRIES; t++) {
        const struct workload_shape s = some_shape(&r, INT64_MAX);
        const int64_t bytes = workload_shape_bytes(&s), length = workload_shape_length(&s);
        as_calculated(bytes, bytes_of(&s));
        assert_true(length >= 1);
        if (bytes == NUM_ENDLESS || length == NUM_ENDLESS) continue;
        fitted++;
        const int64_t all = workload_shape_accesses(&s);
        const int64_t some_access = random_below(&r, all);
        const int64_t no[] = {0, some_access, all - 1};
        for (int k = 0; k < 3; k++)
            for (int rank = 0; rank<s.procs; rank += s.procs> 1 ? s.procs - 1 : 1) {
                const struct workload_extent e = workload_shape_extent(&s, rank, no[k]);
                assert_true(e.offset >= 0 && e.bytes >= 1 && e.bytes <= length - e.offset);
                assert_true(e.bytes <= workload_shape_longest(&s, rank));
            }
    }
    assert_true(fitted > TRIES / 20);
}

/* What fits is planned in full by accesses_make: so much memory it takes, and no more. */
static void needs_of_phases_do_not_wrap(void **state)
{
    (void)state;
    struct random r = random_begin(27, 2);
    int made = 0;
    for (int t = 0; t < TRIES; t++) {
        struct workload_phase p = {.shape = some_shape(&r, t % 4 ? 1 << 10 : BYTES_MAX),
                                   .temporal =
                                       (enum workload_temporal)random_below(&r, WORKLOAD_TEMPORALS),
                                   .method = (enum workload_method)random_below(&r, 3),
                                   .group = some(&r, 1000000000),
                                   .memory = {random_below(&r, 2), some(&r, BYTES_MAX)},
                                   .fraction = random_below(&r, 2) ? 1 : 0.3};
        p.pattern = p.shape.pattern;
        p.view = p.group > 1 || random_below(&r, 2);
        const struct workload_shape s = p.shape;
        const int rank = s.procs - 1;
        const struct workload_need need = workload_phase_need(&p, &s, rank, BUFFER_BYTES);
        const long double list = accesses_of(&s) * sizeof(struct workload_access);
        assert_true(need.file >= 1 && need.list >= 1 && need.ready >= 0 && need.data >= 1);
        assert_true(need.data > need.ready || need.data == NUM_ENDLESS);
        assert_true(workload_need_memory(&need) >= need.list);
        assert_true(workload_need_memory(&need) >= need.data);
        assert_true(list >= 0x1p63L ? need.list == NUM_ENDLESS : (long double)need.list >= list);
        if (need.file == NUM_ENDLESS || need.list > 1 << 16) continue;
        struct workload_accesses a;
        assert_int_equal(workload_accesses_make(&p, &s, rank, &a), 0);
        assert_true(a.all * (int64_t)sizeof *a.access <= need.list);
        if (need.ready > 0) assert_true(need.ready == num_product(a.slots_n, a.slot_bytes));
        /* What is said to be moved is what the calls move. */
        const struct workload_amount amount = workload_phase_amount(&p, &s, rank);
        int64_t bytes = 0;
        for (int64_t c = 0; c < amount.calls; c++)
            bytes = num_sum(bytes, workload_accesses_bytes(&a, &p, c));
        assert_true(amount.bytes == num_product(p.temporal == WORKLOAD_MODIFY ? 2 : 1, bytes));
        assert_true(a.n == amount.accesses && a.calls == amount.calls);
        made++;
        workload_accesses_free(&a);
    }
    assert_true(made > TRIES / 100);
}

/* The description of the first report: 2^59 accesses of a byte. */
static void a_list_of_2_to_the_59_accesses(void **state)
{
    (void)state;
    const struct workload_phase p = {.pattern = WORKLOAD_SIMPLE,
                                     .shape = {.pattern = WORKLOAD_SIMPLE, .record_bytes = 1},
                                     .data_bytes = INT64_C(1) << 59,
                                     .group = 1,
                                     .fraction = 1};
    const int64_t n = workload_phase_repetitions(&p, 1);
    const struct workload_shape s = workload_phase_shape(&p, 1, n);
    assert_true(n == INT64_C(1) << 59);
    const struct workload_need need = workload_phase_need(&p, &s, 0, BUFFER_BYTES);
    assert_true(need.file == INT64_C(1) << 59);
    assert_true(workload_need_memory(&need) == NUM_ENDLESS);
}

/* --- working points ------------------------------------------------------------------------- */

static int check(const struct workload_point *p)
{
    err_clear();
    const int rc = workload_point_check(p, false, "w: ");
    if (rc < 0) assert_true(rc == ERR_USAGE && err_message()[0]);
    err_clear();
    return rc;
}

static void points_near_the_limits(void **state)
{
    (void)state;
    struct random r = random_begin(27, 3);
    int taken = 0;
    for (int t = 0; t < TRIES; t++) {
        struct workload_calls calls[3] = {{.n = 0}};
        struct workload_rank rank = {.of = 0, .calls = some(&r, 1 << 20), .bytes = 1};
        struct workload_point p = {.process_num = some(&r, WORKLOAD_PROCESSES_MAX),
                                   .size_mean = (double)some(&r, BYTES_MAX),
                                   .unique_bytes = some(&r, BYTES_MAX),
                                   .read_frac = 0.5,
                                   .sync_frac = 1,
                                   .cont_mean = (double)some(&r, BYTES_MAX)};
        struct workload w = {.points_n = 1, .point = &p};
        if (random_below(&r, 2)) {
            rank.bytes = some(&r, p.unique_bytes);
            rank.cont_mean = (double)some(&r, BYTES_MAX);
            p.rank = &rank;
            p.ranks_n = 1;
        }
        if (random_below(&r, 2)) {
            p.list = calls;
            p.list_n = 1;
            calls[0].kind = WORKLOAD_KIND(EXPLICIT, 0, BLOCKING, 0);
            calls[0].n = some(&r, 1 << 20);
            calls[0].bytes = p.unique_bytes / p.process_num;
            p.unique_bytes = num_max(calls[0].bytes, 1) * p.process_num;
            if (random_below(&r, 2)) {
                calls[0].skips = 1;
                calls[0].span = some(&r, BYTES_MAX);
                calls[0].begin = some(&r, BYTES_MAX);
            }
        }
        if (check(&p) < 0) continue;
        taken++;
        const int last = (int)p.process_num - 1, all[] = {0, last / 2, last};
        for (int k = 0; k < 3; k++) {
            const int64_t length = workload_point_length(&p, false, all[k]);
            const struct workload_view v = workload_point_view(&p, all[k]);
            assert_true(length >= 0 && length <= INT64_C(1) << 62);
            assert_true(v.begin >= 0 && v.block_bytes >= 1 && v.tile_bytes >= v.block_bytes);
            const int64_t memory = workload_plan_memory(&w, 0, all[k], BUFFER_BYTES, 1024);
            assert_true(memory >= 1);
            if (memory > 1 << 22) continue;
            struct workload_plan plan;
            assert_int_equal(workload_plan_make(&w, 0, all[k], &plan), 0);
            int64_t sum = 0;
            for (int64_t c = 0; c < plan.n; c++)
                sum += plan.call[c].bytes;
            assert_true(plan.n == 0 || sum == plan.bytes);
            workload_plan_free(&plan);
        }
    }
    assert_true(taken > TRIES / 100);
}

/* A sum over processes that is 16 when it wraps. */
static void parts_that_add_up_to_2_to_the_64(void **state)
{
    (void)state;
    const int kind = WORKLOAD_KIND(EXPLICIT, 0, BLOCKING, 0);
    struct workload_calls calls[] = {{.kind = kind, .n = 1, .bytes = BYTES_MAX},
                                     {.kind = kind, .n = 1, .bytes = 1}};
    struct workload_point p = {.process_num = 16,
                               .size_mean = 1,
                               .unique_bytes = 16,
                               .sync_frac = 1,
                               .cont_mean = 1,
                               .list_n = 2,
                               .list = calls};
    assert_int_equal(check(&p), ERR_USAGE);
}

/* One call is 2^59 bytes long, and so is each slot: of these there would be 66. */
static void slots_that_add_up_to_2_to_the_65(void **state)
{
    (void)state;
    const int kind = WORKLOAD_KIND(EXPLICIT, 0, BLOCKING, 0);
    struct workload_calls calls[] = {{.kind = kind, .n = 1, .bytes = INT64_C(1) << 59},
                                     {.kind = kind, .n = 500, .bytes = 1000}};
    struct workload_point p = {.process_num = 1,
                               .size_mean = 1e9,
                               .unique_bytes = (INT64_C(1) << 59) + 1000,
                               .sync_frac = 1,
                               .cont_mean = 1e9,
                               .list_n = 2,
                               .list = calls};
    struct workload w = {.points_n = 1, .point = &p};
    assert_int_equal(check(&p), 0);
    assert_true(workload_plan_memory(&w, 0, 0, BUFFER_BYTES, 64) == NUM_ENDLESS);
}

/* Of all calls but one the number is known; that of the last process is 2^50. */
static void calls_of_the_process_that_is_left(void **state)
{
    (void)state;
    struct workload_rank rank = {.of = 0, .calls = 1, .bytes = 1};
    const struct workload_point p = {.process_num = 2,
                                     .size_mean = 1,
                                     .unique_bytes = INT64_C(1) << 31,
                                     .sync_frac = 1,
                                     .cont_mean = 1,
                                     .ranks_n = 1,
                                     .rank = &rank};
    assert_int_equal(check(&p), ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_of_files_near_2_to_the_63),
        cmocka_unit_test(needs_of_phases_do_not_wrap),
        cmocka_unit_test(a_list_of_2_to_the_59_accesses),
        cmocka_unit_test(points_near_the_limits),
        cmocka_unit_test(parts_that_add_up_to_2_to_the_64),
        cmocka_unit_test(slots_that_add_up_to_2_to_the_65),
        cmocka_unit_test(calls_of_the_process_that_is_left),
    };
    return cmocka_run_group_tests_name("workload_limits", tests, NULL, NULL);
}
