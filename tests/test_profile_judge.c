/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer about a program whose times are given. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/stamp.h"
#include "companions/profile/judge.h"

#define ROUNDS_MAX 32

static struct profile_round rounds[ROUNDS_MAX];
static const struct profile_pairs fixed = {.most = 1000};

/* What zeta of pairs of runs differs by, about as much as on a quiet machine. */
static const double noise[] = {0.0021, -0.0138, 0.0067, -0.0042, 0.0113, -0.0009,
                               0.0155, -0.0074, 0.0034, -0.0101, 0.0048, -0.0027};

/* n pairs with a T_C of about t_c_s, a zeta of about zeta, and so much of it inside MPI-IO. */
static void pairs(int n, double t_c_s, double zeta, double data)
{
    memset(rounds, 0, sizeof rounds);
    for (int i = 0; i < n; i++) {
        struct profile_round *r = &rounds[i];
        r->t_c_s = t_c_s * (1 + 0.01 * (i % 3));
        r->t_t_s = r->t_c_s * (1 + zeta + noise[i] * (1 + i % 2));
        r->c_io_s = 0.001;
        r->t_io_s = r->c_io_s + r->t_c_s * (data + noise[i] / 4);
        r->took_s = r->t_t_s + r->t_c_s;
    }
}

static void expect(int n, const char *code, const char *reason)
{
    static const enum stamp_code answer[] = {STAMP_BALANCED, STAMP_IO_TOO_SLOW,
                                             STAMP_IO_FASTER_THAN_NEEDED, STAMP_NOT_MEASURABLE,
                                             STAMP_UNDECIDED};
    struct profile_zeta z;
    int found = 0;
    assert_int_equal(profile_judge(rounds, n, &fixed, &z), 0);
    for (size_t i = 0; i < sizeof answer / sizeof answer[0]; i++)
        found += stamp_find(z.stamps, answer[i]) != NULL;
    assert_int_equal(found, 1);
    assert_string_equal(z.answer, code);
    assert_string_equal(z.reason ? z.reason : "", reason);
    profile_zeta_end(&z);
}

static void pairs_far_above_the_goal_are_told_beside_it(void **state)
{
    struct profile_zeta z;
    (void)state;
    pairs(12, 10, 0.02, 0.002);
    for (int i = 1; i < 12; i += 6)
        rounds[i].t_t_s *= 2;
    assert_int_equal(profile_judge(rounds, 12, &fixed, &z), 0);
    const json_t *s = stamp_find(z.stamps, STAMP_IO_FASTER_THAN_NEEDED);
    assert_non_null(
        strstr(stamp_text(s, "sentence"), "; in 2 of 12 pairs zeta lies above 0.10, the mean is "));
    profile_zeta_end(&z);
}

static void each_answer_is_given_when_it_holds(void **state)
{
    (void)state;
    pairs(12, 10, 0.05, 0.04);
    expect(12, "balanced", "");
    pairs(12, 10, 0.02, 0.002);
    expect(12, "io-faster-than-needed", "");
    pairs(12, 10, 0.25, 0.22);
    expect(12, "io-too-slow", "");
    /* What the program takes longer is not inside MPI-IO. */
    pairs(12, 10, 0.25, 0.03);
    expect(12, "not-measurable", "slowdown");
    pairs(12, 10, 0.10, 0.09);
    expect(12, "undecided", "");
}

/* One sentence of the answer holds a text. */
static bool says(int n, const char *text)
{
    struct profile_zeta z;
    assert_int_equal(profile_judge(rounds, n, &fixed, &z), 0);
    const bool found = strstr(stamp_text(json_array_get(z.stamps, 0), "sentence"), text) != NULL;
    profile_zeta_end(&z);
    return found;
}

static void waiting_for_ranks_and_reading_are_told(void **state)
{
    (void)state;
    pairs(12, 10, 0.25, 0.03);
    assert_true(says(12, "slower outside I/O; leave a core to writing"));
    for (int i = 0; i < 12; i++)
        rounds[i].t_wait_s = (rounds[i].c_wait_s = 3) + 2;
    assert_true(says(
        12,
        "ranks are longer in collective calls that the last one has not begun: waiting for it"));
    pairs(12, 10, 0.05, 0.04);
    assert_false(says(12, "Reading"));
    for (int i = 0; i < 12; i++) {
        rounds[i].c_io_s += 8;
        rounds[i].t_io_s += 8;
    }
    assert_true(says(12, "Reading and opening files, which is in both runs, takes 79 % of T_C."));
}

static void what_makes_measuring_meaningless_comes_first(void **state)
{
    (void)state;
    pairs(12, 0.2, 0.25, 0.22);
    expect(12, "not-measurable", "too-short");
    pairs(12, 10, 0.05, 0.04);
    rounds[3].page_cache = true;
    expect(12, "not-measurable", "page-cache");
    pairs(12, 10, 0.05, 0.04);
    for (int i = 0; i < 6; i++)
        rounds[i].with.disturbed = true;
    expect(12, "not-measurable", "disturbed");
    rounds[0].with.disturbed = false;
    expect(12, "balanced", "");
    /* The kernel that flushes what is written takes what is its own; without writing nothing does. */
    pairs(12, 10, 0.05, 0.04);
    for (int i = 0; i < 12; i++)
        rounds[i].with.shared = true;
    expect(12, "balanced", "");
    for (int i = 0; i < 6; i++)
        rounds[i].without.shared = true;
    expect(12, "not-measurable", "processors-shared");
}

static void what_is_undecided_says_how_many_pairs_would_decide(void **state)
{
    (void)state;
    struct profile_zeta z;
    pairs(1, 10, 0.25, 0.22);
    assert_int_equal(profile_judge(rounds, 1, &fixed, &z), 0);
    assert_string_equal(z.answer, "undecided");
    const json_t *stamp = json_array_get(z.stamps, 0);
    const json_t *n = json_object_get(stamp, "numbers");
    assert_int_equal((int)json_number_value(json_object_get(n, "rounds_needed_n")), 6);
    assert_true(json_number_value(json_object_get(n, "minutes_needed")) > 2);
    assert_non_null(strstr(stamp_text(stamp, "sentence"), "--repeat auto, or --repeat 6"));
    profile_zeta_end(&z);
    /* On both sides of the goal: more of them than there were. */
    pairs(12, 10, 0.096, 0.09);
    assert_int_equal(profile_judge(rounds, 12, &fixed, &z), 0);
    assert_string_equal(z.answer, "undecided");
    n = json_object_get(json_array_get(z.stamps, 0), "numbers");
    assert_true(json_number_value(json_object_get(n, "rounds_needed_n")) > 12);
    profile_zeta_end(&z);
}

/* --repeat auto: the first look, what is decided there, and the end of the time. */
static void pairs_go_on_until_it_is_decided(void **state)
{
    (void)state;
    struct profile_zeta z;
    struct profile_pairs open = {.most = 1000, .open = true};
    for (int n = 6; n <= 8; n++) {
        pairs(n, 10, 0.05, 0.04);
        assert_int_equal(profile_judge(rounds, n, &open, &z), 0);
        assert_int_equal(balance_settled(z.stamps, z.answer, z.reason), n == BALANCE_ROUNDS_FIRST);
        assert_true(isfinite(z.paired.lo) == (n == BALANCE_ROUNDS_FIRST));
        profile_zeta_end(&z);
    }
    pairs(7, 10, 0.05, 0.04);
    open.cut = true;
    assert_int_equal(profile_judge(rounds, 7, &open, &z), 0);
    assert_string_equal(z.answer, "balanced");
    profile_zeta_end(&z);
    pairs(8, 10, 0.05, 0.04);
    open.cut = false;
    for (int i = 0; i < 4; i++)
        rounds[i].with.disturbed = true;
    assert_int_equal(profile_judge(rounds, 8, &open, &z), 0);
    assert_string_equal(z.reason, "disturbed");
    assert_false(balance_settled(z.stamps, z.answer, z.reason));
    profile_zeta_end(&z);
}

/* Of 31 pairs 15 were disturbed and above the goal. All together are above it, by the sign test; of the 16 that
 * were not disturbed 9 are below. */
static void disturbed_pairs_do_not_outvote_the_others(void **state)
{
    (void)state;
    for (int above = 0; above < 2; above++) {
        memset(rounds, 0, sizeof rounds);
        for (int i = 0; i < 31; i++) {
            const bool spoiled = i % 2 && i < 30, high = spoiled || (i % 4 == 0 && i > 0);
            rounds[i].t_c_s = 10;
            rounds[i].t_t_s = 10 * (high || above ? 1.2 : 1.098) + 0.001 * (i * 7 % 5);
            rounds[i].t_io_s = 10 * (high || above ? 0.19 : 0.09);
            rounds[i].with.disturbed = spoiled;
        }
        expect(31, above ? "io-too-slow" : "not-measurable", above ? "" : "disturbed");
    }
}

/* Two ranks that had their processors on a node where a hypervisor took 3 %, and one that had 40 % of its own
 * elsewhere. */
static void ranks_and_their_node_tell_what_disturbed_them(void **state)
{
    (void)state;
    struct profile_map *m = calloc(3, sizeof *m);
    assert_non_null(m);
    const struct profile_map *rank[] = {&m[0], &m[1], &m[2]};
    const struct profile_run run = {.size = 3, .ranks_n = 3, .rank = rank};
    struct disturbance_part here = {.host = "a",
                                    .wall_s = 11,
                                    .user_s = 20.5,
                                    .of_node = true,
                                    .cpus_n = 2,
                                    .tick_s = 0.01,
                                    .busy_user_s = 20.6,
                                    .kernel_s = NAN,
                                    .pressure = NAN,
                                    .mhz = NAN,
                                    .throttled_s = NAN,
                                    .quota_cpus = NAN};
    struct disturbance d;
    for (int r = 0; r < 3; r++) {
        strcpy(m[r].host, r < 2 ? "a" : "b");
        m[r].last_s = 10;
        m[r].user_s = 9.9;
        m[r].ran_s = 9.9;
        m[r].waited_s = 0.1;
    }
    assert_int_equal(profile_disturbance(&run, &here, &d), 0);
    assert_true(!d.disturbed && !d.shared && d.undisturbed && d.nodes_n == 2);
    assert_true(fabs(d.share_min - 0.99) < 1e-9 && d.others < 0.01);
    disturbance_end(&d);
    here.steal_s = 0.66;
    assert_int_equal(profile_disturbance(&run, &here, &d), 0);
    assert_true(d.disturbed && fabs(d.steal - 0.03) < 1e-9);
    disturbance_end(&d);
    here.steal_s = 0;
    m[2].ran_s = 4;
    m[2].waited_s = 6;
    assert_int_equal(profile_disturbance(&run, &here, &d), 0);
    assert_true(d.share_rank == 2 && fabs(d.share_min - 0.4) < 1e-9 && (d.shared || d.disturbed));
    disturbance_end(&d);
    /* What is not known is not taken for nothing. */
    m[2].ran_s = m[2].waited_s = 0;
    assert_int_equal(profile_disturbance(&run, &here, &d), 0);
    assert_true(!d.undisturbed && !d.disturbed);
    disturbance_end(&d);
    free(m);
}

/* The stamp of rounds with this disturbance beside the answer. */
static const json_t *beside(struct profile_zeta *z, enum stamp_code code)
{
    assert_int_equal(profile_judge(rounds, 12, &fixed, z), 0);
    const json_t *stamp = stamp_find(z->stamps, code);
    assert_non_null(stamp);
    return stamp;
}

static void a_disturbance_does_not_deny_the_answer_beside_it(void **state)
{
    (void)state;
    static const struct disturbance disturbed = {
        .known = true, .disturbed = true, .share_min = 0.9, .sentence = "Disturbed: 90 %."};
    struct profile_zeta z;
    pairs(12, 10, 0.05, 0.04);
    rounds[1].with = disturbed;
    const json_t *stamp = beside(&z, STAMP_DISTURBED);
    assert_string_equal(z.answer, "balanced");
    assert_string_equal(stamp_text(stamp, "severity"), "note");
    assert_string_equal(stamp_text(stamp, "sentence"), "In 1 of 12 pairs. Disturbed: 90 %.");
    profile_zeta_end(&z);
    for (int i = 0; i < 6; i++)
        rounds[i].without = disturbed;
    stamp = beside(&z, STAMP_DISTURBED);
    assert_string_equal(z.answer, "not-measurable");
    assert_string_equal(stamp_text(stamp, "severity"), "warn");
    profile_zeta_end(&z);
}

static void an_answer_says_that_nothing_tells_disturbance(void **state)
{
    (void)state;
    struct profile_zeta z;
    pairs(12, 10, 0.05, 0.04);
    for (int i = 0; i < 12; i++)
        rounds[i].with = rounds[i].without = (struct disturbance){
            .known = true, .share_min = NAN, .others = NAN, .steal = NAN, .sentence = "Not known."};
    const json_t *stamp = beside(&z, STAMP_DISTURBANCE_UNKNOWN);
    assert_string_equal(z.answer, "balanced");
    assert_string_equal(stamp_text(stamp, "severity"), "note");
    assert_int_equal(json_array_size(z.stamps), 2);
    profile_zeta_end(&z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_answer_is_given_when_it_holds),
        cmocka_unit_test(pairs_far_above_the_goal_are_told_beside_it),
        cmocka_unit_test(a_disturbance_does_not_deny_the_answer_beside_it),
        cmocka_unit_test(an_answer_says_that_nothing_tells_disturbance),
        cmocka_unit_test(waiting_for_ranks_and_reading_are_told),
        cmocka_unit_test(what_makes_measuring_meaningless_comes_first),
        cmocka_unit_test(what_is_undecided_says_how_many_pairs_would_decide),
        cmocka_unit_test(pairs_go_on_until_it_is_decided),
        cmocka_unit_test(disturbed_pairs_do_not_outvote_the_others),
        cmocka_unit_test(ranks_and_their_node_tell_what_disturbed_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
