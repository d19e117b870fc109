/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The patterns as a whole: what one rank sends, another one expects; counts; the same on all ranks
 * for one seed; the shuffle prefers nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "companions/beff/pattern.h"

enum { MOST = 32 };
static int rows[MOST];

static const struct {
    int n, two[3], three[3], patterns;
} grids[] = {
    {2, {2, 1, 1}, {2, 1, 1}, 46},  {3, {3, 1, 1}, {3, 1, 1}, 46},  {4, {2, 2, 1}, {2, 2, 1}, 48},
    {5, {2, 2, 1}, {2, 2, 1}, 48},  {7, {3, 2, 1}, {3, 2, 1}, 48},  {8, {4, 2, 1}, {2, 2, 2}, 49},
    {11, {5, 2, 1}, {2, 2, 2}, 49}, {28, {7, 4, 1}, {7, 2, 2}, 49},
};
enum { CASES = sizeof grids / sizeof grids[0] };

static struct beff_plan plan_of(enum beff_definition definition, int c, int rank, uint64_t seed)
{
    struct beff_plan_spec spec = {
        definition, grids[c].n, rank, 30, seed, true, {{{0}, rows}, {{0}, rows}}};
    memcpy(spec.grid[0].dims, grids[c].two, sizeof grids[c].two);
    memcpy(spec.grid[1].dims, grids[c].three, sizeof grids[c].three);
    struct beff_plan plan;
    assert_int_equal(beff_plan_make(&spec, &plan), 0);
    return plan;
}

/* All ranks' views of all patterns of a case. */
static void plans_make(enum beff_definition definition, int c, struct beff_plan plan[MOST])
{
    for (int r = 0; r < grids[c].n; r++)
        plan[r] = plan_of(definition, c, r, 7);
}

static void plans_free(int c, struct beff_plan plan[MOST])
{
    for (int r = 0; r < grids[c].n; r++)
        beff_plan_free(&plan[r]);
}

static void for_all_cases(void (*look)(enum beff_definition, int, const struct beff_plan *))
{
    struct beff_plan plan[MOST];
    for (int d = 0; d < 2; d++)
        for (int c = 0; c < CASES; c++) {
            plans_make((enum beff_definition)d, c, plan);
            look((enum beff_definition)d, c, plan);
            plans_free(c, plan);
        }
}

static void partners(enum beff_definition definition, int c, const struct beff_plan *plan)
{
    (void)definition;
    for (int p = 0; p < plan[0].patterns_n; p++)
        for (int r = 0; r < grids[c].n; r++)
            for (int s = 0; s < plan[r].pattern[p].slots_n; s++) {
                const struct beff_slot *mine = &plan[r].pattern[p].slot[s];
                assert_int_not_equal(mine->to, r);
                if (mine->to != BEFF_NONE) {
                    const struct beff_pattern *other = &plan[mine->to].pattern[p];
                    assert_true(s < other->slots_n);
                    assert_int_equal(other->slot[s].from, r);
                    assert_int_equal(other->slot[s].call, mine->call);
                }
                if (mine->from != BEFF_NONE)
                    assert_int_equal(plan[mine->from].pattern[p].slot[s].to, r);
            }
}

static void what_one_sends_another_expects(void **state)
{
    (void)state;
    for_all_cases(partners);
}

static void calls(enum beff_definition definition, int c, const struct beff_plan *plan)
{
    for (int p = 0; p < plan[0].patterns_n; p++) {
        int most = 1;
        for (int r = 0; r < grids[c].n; r++) {
            const struct beff_pattern *mine = &plan[r].pattern[p];
            for (int s = 0; s < mine->slots_n; s++) {
                if (mine->slot[s].call + 1 > most) most = mine->slot[s].call + 1;
                for (int t = 0; t < s; t++)
                    assert_false(mine->slot[s].call == mine->slot[t].call &&
                                 mine->slot[s].to != BEFF_NONE &&
                                 mine->slot[s].to == mine->slot[t].to);
            }
        }
        assert_int_equal(plan[0].pattern[p].calls_n, most);
        if (definition == BEFF_36) assert_int_equal(most, 1);
    }
}

static void a_call_has_one_message_per_pair(void **state)
{
    (void)state;
    for_all_cases(calls);
}

static void counted(enum beff_definition definition, int c, const struct beff_plan *plan)
{
    (void)definition;
    for (int p = 0; p < plan[0].patterns_n; p++) {
        int64_t messages = 0;
        int processes = 0;
        for (int r = 0; r < grids[c].n; r++) {
            messages += plan[r].pattern[p].sends_n;
            processes += plan[r].pattern[p].slots_n > 0;
        }
        for (int r = 0; r < grids[c].n; r++) {
            assert_int_equal(plan[r].pattern[p].messages_n, messages);
            assert_int_equal(plan[r].pattern[p].processes_n, processes);
        }
        assert_int_equal(plan[0].digest, plan[grids[c].n - 1].digest);
    }
}

static void messages_are_counted(void **state)
{
    (void)state;
    for_all_cases(counted);
}

static int64_t messages(enum beff_definition definition, int c, int pattern)
{
    struct beff_plan plan = plan_of(definition, c, 0, 7);
    const int64_t n = plan.pattern[pattern].messages_n;
    beff_plan_free(&plan);
    return n;
}

static void rings_of_two_send_two_messages_or_one(void **state)
{
    (void)state;
    for (int p = 0; p < BEFF_RINGS_N + 30; p++) {
        assert_int_equal(messages(BEFF_PAPER, 0, p), 4);
        assert_int_equal(messages(BEFF_36, 0, p), 2);
    }
    /* Five processes: a ring of two and one of three. */
    assert_int_equal(messages(BEFF_PAPER, 3, 0), 10);
    assert_int_equal(messages(BEFF_36, 3, 0), 8);
    assert_int_equal(messages(BEFF_PAPER, 3, 5), 10);
    assert_int_equal(messages(BEFF_36, 3, 5), 10);
}

static void names_and_numbers_of_patterns(void **state)
{
    (void)state;
    static const char *const analysis[BEFF_ANALYSIS_MAX] = {
        "worst-cycle",    "best-bisection", "worst-bisection", "ping-pong",     "acyclic-2d-all",
        "acyclic-3d-all", "cyclic-2d-x",    "cyclic-2d-y",     "cyclic-2d-all", "cyclic-3d-x",
        "cyclic-3d-y",    "cyclic-3d-z",    "cyclic-3d-all"};
    for (int c = 0; c < CASES; c++) {
        struct beff_plan plan = plan_of(BEFF_PAPER, c, 0, 7);
        assert_int_equal(plan.patterns_n, grids[c].patterns);
        assert_string_equal(plan.pattern[6].name, "random-01");
        assert_string_equal(plan.pattern[35].name, "random-30");
        for (int i = 0; plan.patterns_n == 49 && i < BEFF_ANALYSIS_MAX; i++)
            assert_string_equal(plan.pattern[36 + i].name, analysis[i]);
        beff_plan_free(&plan);
    }
}

static void the_seed_makes_the_patterns(void **state)
{
    (void)state;
    struct beff_plan a = plan_of(BEFF_PAPER, 6, 3, 1), b = plan_of(BEFF_PAPER, 6, 3, 1),
                     other = plan_of(BEFF_PAPER, 6, 3, 2);
    assert_int_equal(a.digest, b.digest);
    assert_int_not_equal(a.digest, other.digest);
    for (int p = 0; p < a.patterns_n; p++)
        assert_memory_equal(&a.pattern[p], &b.pattern[p], sizeof a.pattern[p]);
    beff_plan_free(&a);
    beff_plan_free(&b);
    beff_plan_free(&other);
}

static void every_seed_has_patterns_of_its_own(void **state)
{
    (void)state;
    static const uint64_t seed[] = {0, 1, 4357, UINT32_MAX}; /* GSL's 0 is 4357 */
    enum { SEEDS = sizeof seed / sizeof seed[0] };
    uint64_t digest[SEEDS];
    for (int s = 0; s < SEEDS; s++) {
        struct beff_plan plan = plan_of(BEFF_PAPER, 6, 3, seed[s]);
        digest[s] = plan.digest;
        beff_plan_free(&plan);
        for (int before = 0; before < s; before++)
            assert_int_not_equal(digest[before], digest[s]);
    }
}

static void random_patterns_are_one_ring(void **state)
{
    (void)state;
    const int c = 6, n = grids[c].n;
    struct beff_plan plan[MOST];
    plans_make(BEFF_PAPER, c, plan);
    for (int p = BEFF_RINGS_N; p < BEFF_RINGS_N + 30; p++) {
        int at = 0, seen = 0;
        do {
            at = plan[at].pattern[p].slot[0].to;
            seen++;
        } while (at != 0 && seen <= n);
        assert_int_equal(seen, n);
    }
    plans_free(c, plan);
}

/* 24 orders of four, 24000 draws: each 1000 times, standard deviation 31. Linear probing, which is
 * not fair, misses by far more than six of these. */
static void no_order_is_preferred(void **state)
{
    (void)state;
    int count[256] = {0}, order[4], kinds = 0;
    gsl_rng *s = beff_shuffle_begin(11);
    for (int i = 0; i < 24000; i++) {
        beff_shuffle_next(s, 4, order);
        count[order[0] << 6 | order[1] << 4 | order[2] << 2 | order[3]]++;
    }
    gsl_rng_free(s);
    for (int i = 0; i < 256; i++) {
        if (count[i] == 0) continue;
        kinds++;
        assert_in_range(count[i], 1000 - 190, 1000 + 190);
    }
    assert_int_equal(kinds, 24);
}

static void worst_cycle(void **state)
{
    (void)state;
    const int want[7] = {0, 6, 1, 5, 2, 4, 3};
    int order[7];
    beff_order_worst(7, order);
    assert_memory_equal(order, want, sizeof want);
}

static void bisections_leave_the_odd_one_out(void **state)
{
    (void)state;
    struct beff_plan plan[MOST];
    plans_make(BEFF_PAPER, 4, plan);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): plans_make has made all */
    assert_int_equal(plan[6].pattern[37].slots_n, 0);
    assert_int_equal(plan[0].pattern[37].slot[0].to, 1);
    assert_int_equal(plan[1].pattern[37].slot[1].to, 0);
    assert_int_equal(plan[0].pattern[38].slot[0].to, 5);
    assert_int_equal(plan[2].pattern[38].slot[0].to, 3);
    assert_int_equal(plan[0].pattern[38].messages_n, 6);
    assert_true(plan[2].pattern[39].ping_pong && plan[2].pattern[39].slots_n == 0);
    assert_int_equal(plan[2].pattern[39].messages_n, 2);
    plans_free(4, plan);
}

static void grids_that_suit(void **state)
{
    (void)state;
    assert_true(beff_grid_suits(6, 2) && beff_grid_suits(6, 1) && beff_grid_suits(3, 1));
    assert_false(beff_grid_suits(5, 1) || beff_grid_suits(7, 1) || beff_grid_suits(10, 1));
}

int main(void)
{
    for (int i = 0; i < MOST; i++)
        rows[i] = i;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_one_sends_another_expects),
        cmocka_unit_test(a_call_has_one_message_per_pair),
        cmocka_unit_test(messages_are_counted),
        cmocka_unit_test(rings_of_two_send_two_messages_or_one),
        cmocka_unit_test(names_and_numbers_of_patterns),
        cmocka_unit_test(the_seed_makes_the_patterns),
        cmocka_unit_test(every_seed_has_patterns_of_its_own),
        cmocka_unit_test(random_patterns_are_one_ring),
        cmocka_unit_test(no_order_is_preferred),
        cmocka_unit_test(worst_cycle),
        cmocka_unit_test(bisections_leave_the_odd_one_out),
        cmocka_unit_test(grids_that_suit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
