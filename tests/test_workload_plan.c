/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From working points to calls: fractions, sizes, places, at several numbers of processes; and the
 * content of files. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "companions/workload/data.h"
#include "companions/workload/plan.h"

static const double fractions[] = {0, 0.1, 0.33, 0.5, 0.78, 1};
#define FRACTIONS_N (sizeof fractions / sizeof fractions[0])

static struct workload one_point(struct workload_point *p, uint64_t seed)
{
    return (struct workload){.seed = seed, .points_n = 1, .point = p};
}

static struct workload_point point(int procs, double size, int64_t unique)
{
    return (struct workload_point){.process_num = procs,
                                   .size_mean = size,
                                   .unique_bytes = unique,
                                   .read_frac = 0.4,
                                   .coll_frac = 0.3,
                                   .sync_frac = 0.6,
                                   .seq_frac = 0.5,
                                   .shared_frac = 0.2,
                                   .cont_mean = size};
}

/* Every fraction is met to within one call, whatever the others are, on every process alike. */
static void fractions_are_met(void **state)
{
    (void)state;
    for (size_t f = 0; f < 5 * FRACTIONS_N; f++) {
        struct workload_point p = point(3, 10, 3 * 10 * 37);
        double *const frac[] = {&p.read_frac, &p.coll_frac, &p.sync_frac, &p.seq_frac,
                                &p.shared_frac};
        *frac[f % 5] = fractions[f / 5];
        struct workload w = one_point(&p, 11);
        struct workload_plan plan, other;
        struct workload_achieved a = {0};
        const struct workload_view view = workload_point_view(&p, 1);
        assert_int_equal(workload_plan_make(&w, 0, 1, &plan), 0);
        assert_int_equal(workload_plan_make(&w, 0, 2, &other), 0);
        assert_int_equal(plan.n, 37);
        struct workload_stand stand = {.begin = plan.begin};
        for (int64_t c = 0; c < plan.n; c++) {
            assert_non_null(workload_kind_name(plan.call[c].kind));
            assert_int_equal(plan.call[c].kind, other.call[c].kind);
            if (workload_kind_of(plan.call[c].kind).position == WORKLOAD_SHARED)
                assert_int_equal(plan.call[c].seek, other.call[c].seek);
            workload_achieved_count(&a, &view, &stand, &plan.call[c]);
        }
        const struct workload_point got = workload_achieved_point(&a, &p);
        for (int i = 3; i < 8; i++) {
            const double missed = workload_point_number(&got, i) - workload_point_number(&p, i);
            /* The first call counts as sequential where none is asked for, too. */
            assert_true(fabs(missed) <= (p.seq_frac > 0 ? 0.5001 : 1.0001) / 37);
        }
        workload_plan_free(&plan);
        workload_plan_free(&other);
    }
}

/* Sequential is by position: of the calls of a process as many begin where the one before ended, whichever
 * pointer either used, as are asked for. */
static void sequential_is_by_position(void **state)
{
    (void)state;
    for (size_t f = 0; f < FRACTIONS_N; f++) {
        struct workload_point p = point(2, 100, 2 * 100 * 100);
        p.seq_frac = fractions[f];
        p.shared_frac = 0;
        struct workload w = one_point(&p, 3);
        for (int r = 0; r < 2; r++) {
            struct workload_plan plan;
            assert_int_equal(workload_plan_make(&w, 0, r, &plan), 0);
            int64_t next = plan.begin, n = 0;
            for (int64_t c = 0; c < plan.n; c++) {
                n += plan.call[c].offset == next;
                next = plan.call[c].offset + plan.call[c].bytes;
            }
            assert_int_equal(n, f == 0 ? 1 : llround(100 * fractions[f]));
            workload_plan_free(&plan);
        }
    }
}

/* The calls of one process lie inside the file, and sequential ones continue. Returns their bytes. */
static int64_t plan_checked(const struct workload *w, const struct workload_point *p, int r)
{
    struct workload_plan plan;
    const struct workload_view view = workload_point_view(p, r);
    const int64_t length = workload_point_length(p, false, 0);
    int64_t bytes = 0, next = -1, pointer;
    assert_int_equal(workload_plan_make(w, 0, r, &plan), 0);
    next = pointer = plan.begin;
    for (int64_t c = 0; c < plan.n; c++) {
        const struct workload_call *call = &plan.call[c];
        const struct workload_kind k = workload_kind_of(call->kind);
        bytes += call->bytes;
        assert_true(call->bytes >= 0 && call->bytes <= plan.longest_bytes);
        if (call->seek != WORKLOAD_NO_SEEK)
            assert_true(call->seek >= 0 && call->seek < p->unique_bytes);
        if (k.position == WORKLOAD_SHARED) continue;
        if (call->bytes > 0)
            assert_true(workload_view_place(&view, call->offset) >= 0 &&
                        workload_view_place(&view, call->offset + call->bytes - 1) < length);
        if (k.position == WORKLOAD_INDIVIDUAL) {
            assert_int_equal(call->offset, next);
            assert_int_equal(call->seek == WORKLOAD_NO_SEEK ? pointer : call->seek, next);
            pointer = call->offset + call->bytes;
        }
        next = call->offset + call->bytes;
    }
    assert_int_equal(bytes, plan.bytes);
    workload_plan_free(&plan);
    return bytes;
}

static void calls_lie_in_the_file(void **state)
{
    (void)state;
    static const double sizes[] = {1, 7, 64, 100.5, 3000};
    for (int procs = 1; procs <= 8; procs++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
            for (int holes = 0; holes < 2; holes++) {
                struct workload_point p = point(procs, sizes[s], 10007);
                if (holes) p.cont_mean = sizes[s] / 3 < 1 ? 1 : floor(sizes[s] / 3);
                if (holes) p.shared_frac = 0;
                struct workload w = one_point(&p, 5);
                int64_t sum = 0;
                assert_true(workload_point_length(&p, false, 0) >= p.unique_bytes);
                for (int r = 0; r < procs; r++)
                    sum += plan_checked(&w, &p, r);
                assert_int_equal(sum, p.unique_bytes);
            }
}

static void views_of_processes_are_disjoint(void **state)
{
    (void)state;
    struct workload_point p = point(3, 50, 3000);
    /* A process with blocks of its own; its share needs more of them than the others' theirs. */
    struct workload_rank own = {.of = 1, .calls = 20, .bytes = 1000, .cont_mean = 4};
    p.cont_mean = 7;
    for (int ranks_n = 0; ranks_n < 2; ranks_n++) {
        p.ranks_n = ranks_n;
        p.rank = &own;
        const int64_t length = workload_point_length(&p, false, 0);
        assert_int_equal(length, ranks_n == 0 ? 143 * 21 : 250 * 18);
        unsigned char *count = calloc((size_t)length, 1);
        assert_non_null(count);
        for (int r = 0; r < 3; r++) {
            const struct workload_view view = workload_point_view(&p, r);
            assert_int_equal(view.block_bytes, ranks_n == 1 && r == 1 ? 4 : 7);
            for (int64_t at = 0; at < length / view.tile_bytes * view.block_bytes; at++)
                count[workload_view_place(&view, at)]++;
        }
        for (int64_t b = 0; b < length; b++)
            assert_int_equal(count[b], 1);
        free(count);
    }
}

/* Calls that end where a block ends have the pieces that the blocks have, each process its own. */
static void contiguity_is_that_of_each_process(void **state)
{
    (void)state;
    const int kind = workload_kind_find("write_at");
    struct workload_calls list = {.kind = kind, .n = 2, .bytes = 30};
    struct workload_calls own_list = {.kind = kind, .n = 2, .bytes = 40};
    struct workload_rank own = {
        .of = 1, .calls = 2, .bytes = 40, .cont_mean = 10, .list_n = 1, .list = &own_list};
    struct workload_point p = {.process_num = 2,
                               .size_mean = 17.5,
                               .unique_bytes = 70,
                               .sync_frac = 1,
                               .cont_mean = 5,
                               .list_n = 1,
                               .list = &list,
                               .ranks_n = 1,
                               .rank = &own};
    struct workload w = one_point(&p, 1);
    assert_int_equal(workload_point_check(&p, false, ""), 0);
    for (int r = 0; r < 2; r++) {
        struct workload_plan plan;
        struct workload_achieved a = {0};
        struct workload_stand stand = {0};
        const struct workload_view view = workload_point_view(&p, r);
        assert_int_equal(workload_plan_make(&w, 0, r, &plan), 0);
        for (int64_t c = 0; c < plan.n; c++)
            workload_achieved_count(&a, &view, &stand, &plan.call[c]);
        assert_int_equal(a.pieces, r == 0 ? 6 : 4);
        assert_true(workload_achieved_point(&a, &p).cont_mean == (r == 0 ? 5 : 10));
        workload_plan_free(&plan);
    }
}

/* Calls with explicit offsets that do not follow each other keep how much they skip, how often, and
 * their span; those of the processes interleave. */
static void a_span_keeps_the_gaps(void **state)
{
    (void)state;
    const int kind = workload_kind_find("write_at");
    static const struct {
        int64_t span, skips;
    } shapes[] = {{290, 9}, {290, 3}, {101, 1}, {50, 9}};
    enum { BEGIN = 1000 };
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        struct workload_calls list = {.kind = kind,
                                      .n = 10,
                                      .bytes = 100,
                                      .span = shapes[s].span,
                                      .skips = shapes[s].skips,
                                      .begin = BEGIN};
        struct workload_point p = {.process_num = 3,
                                   .size_mean = 10,
                                   .unique_bytes = 300,
                                   .sync_frac = 1,
                                   .cont_mean = 10,
                                   .list_n = 1,
                                   .list = &list};
        struct workload w = one_point(&p, 1);
        assert_int_equal(workload_point_check(&p, false, ""), 0);
        const int64_t length = workload_point_length(&p, false, 0);
        assert_int_equal(length, BEGIN + 20 + shapes[s].span);
        for (int r = 0; r < 3; r++) {
            struct workload_plan plan;
            int64_t lowest = INT64_MAX, highest = 0, skips = 0;
            assert_int_equal(workload_plan_make(&w, 0, r, &plan), 0);
            for (int64_t c = 0; c < plan.n; c++) {
                const struct workload_call *call = &plan.call[c];
                assert_int_equal(call->bytes, 10);
                skips += c > 0 && call->offset != call[-1].offset + 10;
                if (call->offset < lowest) lowest = call->offset;
                if (call->offset + 10 > highest) highest = call->offset + 10;
            }
            assert_int_equal(lowest, BEGIN + 10 * r);
            assert_int_equal(highest, BEGIN + 10 * r + shapes[s].span);
            /* A span that is shorter than the bytes is begun anew. */
            assert_int_equal(skips, shapes[s].span < 100 ? 1 : shapes[s].skips);
            workload_plan_free(&plan);
        }
    }
}

/* Rank 0 alone, as a program writes a header. */
static void a_process_may_make_no_calls(void **state)
{
    (void)state;
    struct workload_calls list = {.kind = workload_kind_find("write_at"), .n = 3, .bytes = 30};
    struct workload_rank idle = {.of = 1};
    struct workload_point p = {.process_num = 2,
                               .size_mean = 10,
                               .unique_bytes = 30,
                               .sync_frac = 1,
                               .cont_mean = 10,
                               .list_n = 1,
                               .list = &list,
                               .ranks_n = 1,
                               .rank = &idle};
    struct workload w = one_point(&p, 1);
    assert_int_equal(workload_point_check(&p, false, ""), 0);
    for (int r = 0; r < 2; r++) {
        struct workload_plan plan;
        assert_int_equal(workload_plan_make(&w, 0, r, &plan), 0);
        assert_int_equal(plan.n, r == 0 ? 3 : 0);
        workload_plan_free(&plan);
    }
    /* But not where the others wait for it. */
    list.kind = workload_kind_find("write_at_all");
    assert_int_equal(workload_point_check(&p, false, ""), ERR_USAGE);
    list.kind = workload_kind_find("write_at");
    idle.bytes = 10;
    p.unique_bytes = 40;
    assert_int_equal(workload_point_check(&p, false, ""), ERR_USAGE);
}

static void the_seed_makes_the_calls(void **state)
{
    (void)state;
    struct workload_point p = point(2, 10, 2000);
    struct workload w = one_point(&p, 1);
    struct workload_plan a, b, c;
    assert_int_equal(workload_plan_make(&w, 0, 0, &a), 0);
    assert_int_equal(workload_plan_make(&w, 0, 0, &b), 0);
    w.seed = 2;
    assert_int_equal(workload_plan_make(&w, 0, 0, &c), 0);
    assert_memory_equal(a.call, b.call, (size_t)a.n * sizeof *a.call);
    assert_memory_not_equal(a.call, c.call, (size_t)a.n * sizeof *a.call);
    workload_plan_free(&a);
    workload_plan_free(&b);
    workload_plan_free(&c);
}

/* A byte that is changed anywhere is found, at any alignment. */
static void a_changed_byte_is_found(void **state)
{
    (void)state;
    struct workload_data d = {0};
    const struct workload_allowed exact = {3, 3, false}, older = {1, 3, false};
    assert_int_equal(workload_data_make(&d, 3, 4096), 0);
    for (int64_t offset = 0; offset < 5000000; offset += 131071) {
        unsigned char got[100];
        memcpy(got, workload_data_at(&d, offset), sizeof got);
        assert_int_equal(workload_data_check(&d, got, offset, sizeof got, exact), -1);
        assert_int_equal(workload_data_check_anywhere(&d, got, sizeof got, exact), -1);
        assert_true(workload_data_check(&d, got, offset + 8, sizeof got, exact) >= 0);
        for (size_t b = 0; b < sizeof got; b++) {
            got[b] ^= 0x20;
            assert_int_equal(workload_data_check(&d, got, offset, sizeof got, exact), b);
            assert_true(workload_data_check_anywhere(&d, got, sizeof got, exact) >= 0);
            got[b] ^= 0x20;
        }
        for (size_t b = 0; b < sizeof got; b++)
            if ((offset + (int64_t)b) % 8 == 7) got[b] = 1;
        assert_true(workload_data_check(&d, got, offset, sizeof got, exact) >= 0);
        assert_int_equal(workload_data_check(&d, got, offset, sizeof got, older), -1);
    }
    workload_data_free(&d);
}

/* Of any number of phases that wrote, what those that are allowed have left is right and nothing else;
 * 189 in a row are told apart, and from the layout and from what the shared pointer wrote. */
static void generations_are_told_apart(void **state)
{
    (void)state;
    struct workload_data d = {0};
    unsigned char got[8];
    assert_int_equal(workload_data_make(&d, 5, 64), 0);
    memcpy(got, workload_data_at(&d, 0), sizeof got);
    for (int from = WORKLOAD_LAID_OUT; from < 1000; from += 7)
        for (int n = 0; n < 400; n += n < 180 ? 17 : 1) {
            const struct workload_allowed a = {from, from + n - 1, false};
            bool right[256] = {false};
            int bytes = 0;
            for (int g = a.from; g <= a.to; g++)
                right[workload_generation_byte(g)] = true;
            for (int b = 0; b < 256; b++) {
                bytes += right[b];
                got[7] = (unsigned char)b;
                assert_int_equal(workload_data_check(&d, got, 0, sizeof got, a), right[b] ? -1 : 7);
            }
            const int most = from > WORKLOAD_LAID_OUT ? 189 : 190;
            assert_int_equal(bytes, n < most ? n : most);
            assert_false(right[0] || right[WORKLOAD_FLOATING] || (from > 1 && right[1]));
        }
    workload_data_free(&d);
}

/* A piece that begins or ends in what the shared pointer wrote. */
static void floating_bytes_are_accepted_where_they_can_be(void **state)
{
    (void)state;
    struct workload_data d = {0};
    const struct workload_allowed floating = {2, 2, true}, none = {2, 2, false};
    unsigned char got[64];
    assert_int_equal(workload_data_make(&d, 2, 64), 0);
    for (size_t n = 0; n <= sizeof got; n++) {
        memcpy(got, workload_data_at(&d, 12345), sizeof got);
        memset(got, WORKLOAD_FLOATING, n);
        assert_int_equal(workload_data_check_anywhere(&d, got, sizeof got, floating), -1);
        assert_true(n < 2 || workload_data_check(&d, got, 12345, sizeof got, none) >= 0);
    }
    memset(got, 0, sizeof got);
    got[0] = 1;
    assert_true(workload_data_check_anywhere(&d, got, sizeof got, floating) >= 0);
    workload_data_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fractions_are_met),
        cmocka_unit_test(sequential_is_by_position),
        cmocka_unit_test(calls_lie_in_the_file),
        cmocka_unit_test(views_of_processes_are_disjoint),
        cmocka_unit_test(contiguity_is_that_of_each_process),
        cmocka_unit_test(a_span_keeps_the_gaps),
        cmocka_unit_test(a_process_may_make_no_calls),
        cmocka_unit_test(the_seed_makes_the_calls),
        cmocka_unit_test(a_changed_byte_is_found),
        cmocka_unit_test(generations_are_told_apart),
        cmocka_unit_test(floating_bytes_are_accepted_where_they_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
