/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sizes, loop lengths, averages fed with known bandwidths, and the content of messages. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "companions/beff/cube.h"
#include "companions/beff/loop.h"
#include "companions/beff/traffic.h"

enum { RANDOM = 4, PATTERNS = BEFF_RINGS_N + RANDOM + 1, REPS = 3 };

static void near(double got, double want)
{
    if (fabs(got - want) <= 1e-12 * fabs(want)) return;
    print_error("%.17g, expected %.17g\n", got, want);
    fail();
}

static void sizes_of_a_known_run(void **state)
{
    (void)state;
    static const int64_t want[] = {4096,   9742,   23170,   55109,  131072,
                                   311744, 741455, 1763488, 4194304};
    int64_t size[BEFF_SIZES_N];
    assert_int_equal(beff_size_lmax(BEFF_36, INT64_C(512) << 20), 4194304);
    beff_sizes(4194304, size);
    for (int i = 0; i < BEFF_FIXED_N; i++)
        assert_int_equal(size[i], 1 << i);
    for (int i = 0; i < 9; i++)
        assert_int_equal(size[12 + i], want[i]);
}

static void lmax_has_a_cap_and_two_roundings(void **state)
{
    (void)state;
    int64_t size[BEFF_SIZES_N];
    assert_int_equal(beff_size_lmax(BEFF_PAPER, INT64_C(1) << 50), 1 << 27);
    assert_int_equal(beff_size_lmax(BEFF_36, INT64_C(16384) << 20), 1 << 27);
    assert_int_equal(beff_size_lmax(BEFF_36, (INT64_C(512) << 20) + 12800), 4194304);
    assert_int_equal(beff_size_lmax(BEFF_PAPER, (INT64_C(512) << 20) + 12800), 4194404);
    const int64_t odd[] = {BEFF_LMAX_MIN, 10007, 99999989, BEFF_LMAX_CAP};
    for (int i = 0; i < 4; i++) {
        beff_sizes(odd[i], size);
        assert_int_equal(size[BEFF_SIZES_N - 1], odd[i]);
        for (int k = 1; k < BEFF_SIZES_N; k++)
            assert_true(size[k] > size[k - 1]);
    }
}

static void loops_of_the_paper(void **state)
{
    (void)state;
    const struct beff_loop_rule rule = beff_loop_standard(BEFF_PAPER);
    assert_int_equal(beff_loop_paper(&rule, 2, 0, 0, 0), 300);
    assert_int_equal(beff_loop_paper(&rule, 2, 1e-4, 0, 0), 300); /* 30 ms: as the paper says */
    assert_int_equal(beff_loop_paper(&rule, 2, 1e-2, 0, 0), 1);   /* 3 s: not so */
    assert_int_equal(beff_loop_paper(&rule, 2, 0, 1e-6, 1e-6), 300);
    assert_int_equal(beff_loop_paper(&rule, 2, 0, 1.6e-5, 1.6e-5), 300); /* 4.8 ms */
    /* Whatever the growth within its bounds, the loop stays in the window. */
    for (double s = 2e-5; s < 1e-3; s *= 1.3)
        for (double grew = 1; grew <= 2; grew += 0.25) {
            const int64_t loop = beff_loop_paper(&rule, 2, 0, s, s / grew);
            assert_true((double)loop * s * grew <= 5e-3 && (double)(loop + 1) * s * grew >= 2.5e-3);
        }
    assert_int_equal(beff_loop_paper(&rule, 3, 0, 1.0, 0.4), 1);
    assert_int_equal(beff_loop_paper(&rule, 3, 1e-3, 1.0, 0.4), 3); /* known from before */
}

static void loops_of_release_36(void **state)
{
    (void)state;
    const struct beff_loop_rule rule = beff_loop_standard(BEFF_36);
    assert_int_equal(beff_loop_36_cap(&rule, 0.001), 5000);
    assert_int_equal(beff_loop_36_cap(&rule, 3.0), 10);
    assert_int_equal(beff_loop_36_next(&rule, 2, 5000, 1000, 0.25), 1000);
    assert_int_equal(beff_loop_36_next(&rule, 2, 5000, 1000, 5.0), 500);
    assert_int_equal(beff_loop_36_next(&rule, 2, 5000, 4000, 0.01), 5000);
    assert_int_equal(beff_loop_36_next(&rule, 2, 5000, 1, 9.0), 1);
}

static void slow_systems_are_measured_less(void **state)
{
    (void)state;
    struct beff_budget b = {.limit_s = 240, .elapsed_s = 10, .rep_left_s = 100, .reps_n = 3};
    assert_int_equal(beff_loop_effort(&b), BEFF_FULL);
    /* The whole would not fit, this size and one method for the rest do: 10 + 20 + 580 / 6. */
    b.rep_left_s = 600;
    b.size_s = 20;
    assert_int_equal(beff_loop_effort(&b), BEFF_FULL);
    b.size_s = 80;
    assert_int_equal(beff_loop_effort(&b), BEFF_BEST_METHOD);
    b = (struct beff_budget){240, 110, 10, 0, 50, 1, 3}; /* began at 100: 70 s for each of two */
    assert_int_equal(beff_loop_effort(&b), BEFF_FULL);
    b.size_s = 61;
    assert_int_equal(beff_loop_effort(&b), BEFF_SKIPPED);
    b.rep = 2;
    assert_int_equal(beff_loop_effort(&b), BEFF_FULL); /* the last one has all that is left */
}

/* Iterations of a second each at 4096 B, in loops of one: a size takes two more for the warm-up and
 * the look at the messages, and everything grows by the factor between sizes. */
static void forecast_of_long_messages(void **state)
{
    (void)state;
    const struct beff_loop_rule rule = beff_loop_standard(BEFF_PAPER);
    const int64_t lmax = 4096 * 256; /* a factor of 2 */
    const int cells = BEFF_METHODS_N * PATTERNS;
    struct beff_cube c;
    assert_int_equal(beff_cube_make(1, PATTERNS, RANDOM, &c), 0);
    for (int m = 0; m < BEFF_METHODS_N; m++)
        for (int p = 0; p < PATTERNS; p++)
            *beff_cell_at(&c, 0, 12, m, p) = (struct beff_cell){.loop = 1, .time_s = 1.0};
    const double wall_s = 3 * cells + 5; /* 5 s that are none of the loops */
    near(beff_forecast_size(&c, &rule, lmax, wall_s, 12, 13), 2 * 3 * cells + 5);
    near(beff_forecast_size(&c, &rule, lmax, wall_s, 12, 14), 4 * 3 * cells + 5);
    near(beff_forecast_rest(&c, &rule, lmax, wall_s, 13), 510.0 * 3 * cells + 8 * 5);
    beff_cube_free(&c);
}

/* Bandwidth of a measurement: distinct factors for each index, so that a mistaken axis shows. */
static double known(int rep, int size, int method, int pattern)
{
    static const double by_rep[REPS] = {0.7, 1.0, 0.9};
    static const double by_method[BEFF_METHODS_N][2] = {{1.0, 0.8}, {0.5, 0.5}, {0.9, 1.0}};
    const double by_pattern = pattern < BEFF_RINGS_N ? pow(2, pattern) : 100 * pow(3, pattern);
    return by_rep[rep] * by_method[method][size >= 10] * by_pattern * (size + 1);
}

static void fill(struct beff_cube *c)
{
    assert_int_equal(beff_cube_make(REPS, PATTERNS, RANDOM, c), 0);
    for (int r = 0; r < REPS; r++)
        for (int i = 0; i < BEFF_SIZES_N; i++)
            for (int m = 0; m < BEFF_METHODS_N; m++)
                for (int p = 0; p < PATTERNS; p++)
                    *beff_cell_at(c, r, i, m, p) =
                        (struct beff_cell){10, 1.0, known(r, i, m, p), 0, 0, 0};
}

/* Geometric means of the pattern factors: 2^2.5, and 100 * 3^7.5. */
static const double RINGS = 5.656854249492381;

static double randoms(void)
{
    return 100 * pow(3, 7.5);
}

static void averages_of_known_bandwidths(void **state)
{
    (void)state;
    struct beff_cube c;
    fill(&c);
    const double sizes = 231.0 / 21; /* the best method is 1.0 everywhere */
    struct beff_mean m = beff_logavg(&c, BEFF_EVERYTHING);
    near(m.rings, RINGS * sizes);
    near(m.random, randoms() * sizes);
    near(m.both, sqrt(RINGS * randoms()) * sizes);
    m = beff_logavg(&c, (struct beff_pick){BEFF_ALL, BEFF_ALL, 20});
    near(m.rings, RINGS * 21);
    m = beff_logavg(&c, (struct beff_pick){0, BEFF_ALL, BEFF_ALL});
    near(m.rings, 0.7 * RINGS * sizes);
    m = beff_logavg(&c, (struct beff_pick){BEFF_ALL, 1, BEFF_ALL});
    near(m.rings, 0.5 * RINGS * sizes);
    m = beff_logavg(&c, (struct beff_pick){BEFF_ALL, 0, 0});
    near(m.random, randoms());
    /* 55 of the sizes' weights below index 10, 176 from there on. */
    m = beff_logavg_method_last(&c);
    near(m.rings, RINGS * (0.9 * 55 + 176) / 21);
    m = beff_logavg(&c, (struct beff_pick){BEFF_ALL, 0, BEFF_ALL});
    near(m.rings, RINGS * (55 + 0.8 * 176) / 21);
    beff_cube_free(&c);
}

static void what_was_not_measured(void **state)
{
    (void)state;
    struct beff_cube c;
    fill(&c);
    /* Method 1 and repetition 2 left out at the last size. */
    for (int r = 0; r < REPS; r++)
        for (int p = 0; p < PATTERNS; p++) {
            *beff_cell_at(&c, r, 20, 1, p) = (struct beff_cell){0};
            for (int m = 0; r == 2 && m < BEFF_METHODS_N; m++)
                *beff_cell_at(&c, r, 20, m, p) = (struct beff_cell){0};
        }
    near(beff_logavg(&c, BEFF_EVERYTHING).rings, RINGS * 11);
    near(beff_logavg(&c, (struct beff_pick){BEFF_ALL, 1, BEFF_ALL}).rings,
         RINGS * (0.5 * 210 + 21) / 21);
    near(beff_logavg(&c, (struct beff_pick){2, BEFF_ALL, BEFF_ALL}).rings,
         RINGS * (0.9 * 210 + 21) / 21);
    /* A pattern without a value at some size leaves no average. */
    for (int r = 0; r < REPS; r++)
        for (int m = 0; m < BEFF_METHODS_N; m++)
            beff_cell_at(&c, r, 3, m, 2)->bandwidth = 0;
    assert_true(isnan(beff_logavg(&c, BEFF_EVERYTHING).both));
    assert_true(beff_logavg(&c, BEFF_EVERYTHING).random > 0);
    beff_cube_free(&c);
}

static void disturbance_shows_in_the_times(void **state)
{
    (void)state;
    struct beff_cube c;
    fill(&c);
    const double rep_s = (double)BEFF_SIZES_N * BEFF_METHODS_N * PATTERNS;
    struct beff_elapsed e = beff_elapsed(&c);
    near(e.measured_s, 3 * rep_s);
    near(e.undisturbed_s, 3 * rep_s);
    beff_cell_at(&c, 1, 4, 0, 0)->time_s += 100;
    e = beff_elapsed(&c);
    near(e.measured_s, 3 * rep_s + 100);
    near(e.undisturbed_s, 3 * rep_s);
    /* A loop half as long in half the time is no disturbance. */
    beff_cell_at(&c, 2, 4, 0, 0)->time_s = 0.5;
    beff_cell_at(&c, 2, 4, 0, 0)->loop = 5;
    e = beff_elapsed(&c);
    near(e.measured_s, 3 * rep_s + 99.5); /* never more than the loops really took */
    near(e.undisturbed_s / e.measured_s, 3 * rep_s / (3 * rep_s + 100));
    beff_cube_free(&c);
}

/* b(pattern, size, method, repetition) of five processes in rings of two and three, from times that
 * were made up: 100 B, three iterations. */
static void bandwidth_of_a_pattern_from_times_of_its_processes(void **state)
{
    (void)state;
    static const double time_s[5] = {2.0, 1.0, 2.0, 1.5, 2.5};
    static const struct {
        enum beff_definition definition;
        int pattern; /* 0: rings of 2 and 3; -1: the ping-pong */
        double bandwidth, least, mean, most, time_s;
    } c[] = {
        /* ten messages in 2.5 s; 300, 600, 300, 400 and 240 B/s of the processes */
        {BEFF_PAPER, 0, 100 * 10 * 3 / 2.5, 240, 368, 600, 2.5},
        /* one message each in the ring of two: 150, 300, 300, 400 and 240; five times the least */
        {BEFF_36, 0, 5 * 150, 150, 278, 400, 2.5},
        /* two messages in 2 s, whatever the definition */
        {BEFF_PAPER, -1, 300, 150, 225, 300, 2.0},
        {BEFF_36, -1, 300, 150, 225, 300, 2.0},
    };
    int order[2][8] = {{0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        struct beff_share all = BEFF_NO_SHARE;
        struct beff_cell cell = {0};
        for (int rank = 0; rank < 5; rank++) {
            struct beff_plan plan;
            const struct beff_plan_spec spec = {
                .definition = c[i].definition,
                .n = 5,
                .rank = rank,
                .random_n = 1,
                .seed = 1,
                .analysis = true,
                .grid = {{{2, 2, 1}, order[0]}, {{2, 2, 1}, order[1]}}};
            assert_int_equal(beff_plan_make(&spec, &plan), 0);
            const int p = c[i].pattern >= 0 ? c[i].pattern : beff_ping_pong(&plan);
            const struct beff_share mine = beff_share_of(&plan.pattern[p], 100, 3, time_s[rank]);
            all.time_s = fmax(all.time_s, mine.time_s);
            all.high = fmax(all.high, mine.high);
            all.low = fmax(all.low, mine.low);
            all.sum += mine.sum;
            if (rank == 4) cell = beff_cell_of(c[i].definition, &plan.pattern[p], 100, 3, &all);
            beff_plan_free(&plan);
        }
        near(cell.bandwidth, c[i].bandwidth);
        near(cell.process_min, c[i].least);
        near(cell.process_mean, c[i].mean);
        near(cell.process_max, c[i].most);
        near(cell.time_s, c[i].time_s);
    }
}

/* Every byte of a message of every length: wrong, it is found, and where. */
static void a_wrong_byte_is_found(void **state)
{
    (void)state;
    enum { ROOM = 256, AT = 64 };
    unsigned char buffer[ROOM];
    for (int64_t bytes = 1; bytes <= 100; bytes++) {
        beff_message_fill(buffer, ROOM, 5);
        assert_int_equal(beff_message_check_all(buffer, AT, bytes, 5), -1);
        assert_int_equal(beff_message_check_ends(buffer, AT, bytes, 5), -1);
        assert_int_equal(beff_message_check_all(buffer, AT, bytes, 6), 0);
        assert_int_equal(beff_message_check_ends(buffer, AT, bytes, 4), 0);
        for (int64_t b = 0; b < bytes; b++) {
            buffer[AT + b] ^= 4;
            assert_int_equal(beff_message_check_all(buffer, AT, bytes, 5), b);
            const int end = b < 8 || b >= bytes - 8;
            if (beff_message_check_ends(buffer, AT, bytes, 5) != (end ? b : -1)) fail();
            buffer[AT + b] ^= 4;
        }
    }
}

static void a_message_that_never_came_is_found(void **state)
{
    (void)state;
    enum { ROOM = 256, AT = 64 };
    unsigned char buffer[ROOM], before[ROOM];
    for (int64_t bytes = 1; bytes <= 100; bytes++) {
        beff_message_fill(buffer, ROOM, 5);
        memcpy(before, buffer, ROOM);
        beff_message_poison(buffer, AT, bytes, 5);
        assert_int_equal(beff_message_check_ends(buffer, AT, bytes, 5), 0);
        for (int b = 0; b < ROOM; b++) {
            const int inside = b >= AT && b < AT + bytes && (b < AT + 8 || b >= AT + bytes - 8);
            assert_int_equal(buffer[b] != before[b], inside);
        }
    }
}

static void places_of_messages(void **state)
{
    (void)state;
    assert_int_equal(beff_message_stride(1), 8);
    assert_int_equal(beff_message_stride(8), 8);
    assert_int_equal(beff_message_stride(9742), 9744);
    assert_int_equal(beff_message_places(6 * 9744 + 7, 9742), 6);
    for (int64_t i = 0; i < 999; i++)
        assert_true(beff_message_byte(3, i) != beff_message_byte(4, i));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_a_known_run),
        cmocka_unit_test(lmax_has_a_cap_and_two_roundings),
        cmocka_unit_test(loops_of_the_paper),
        cmocka_unit_test(loops_of_release_36),
        cmocka_unit_test(slow_systems_are_measured_less),
        cmocka_unit_test(forecast_of_long_messages),
        cmocka_unit_test(averages_of_known_bandwidths),
        cmocka_unit_test(what_was_not_measured),
        cmocka_unit_test(disturbance_shows_in_the_times),
        cmocka_unit_test(bandwidth_of_a_pattern_from_times_of_its_processes),
        cmocka_unit_test(a_wrong_byte_is_found),
        cmocka_unit_test(a_message_that_never_came_is_found),
        cmocka_unit_test(places_of_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
