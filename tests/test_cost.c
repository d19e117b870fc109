/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cost model of a step: what must follow from it whatever its parameters are worth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "bt/solver/charge.h"
#include "bt/solver/cost.h"
#include "bt/solver/plan.h"

static struct bt_cost_block block(const char *decomp, int64_t n, int ranks, int64_t node_ranks)
{
    struct bt_decomp d;
    assert_int_equal(bt_decomp_make(decomp, n, ranks, 0, &d), 0);
    return bt_cost_block(&d, node_ranks);
}

static double step_s(const struct bt_cost_machine *m, const struct bt_cost_block *b,
                     int64_t threads)
{
    return bt_cost_step(m, b, threads, 1).step_s;
}

static void test_one_core_has_nothing_but_work(void **state)
{
    (void)state;
    const struct bt_cost_block b = block("3d", 66, 1, 1);
    const struct bt_cost c = bt_cost_step(&bt_cost_reference, &b, 1, 1);
    assert_true(c.exchange_s == 0 && c.pipe_s == 0 && c.step_s == c.work_s);
    /* 64^3 interior cells are whole vectors in every phase. */
    const double expected = 64.0 * 64 * 64 * 1.06 * (12.1e-9 + 18.3e-9 + 16.0e-9 + 17.2e-9);
    assert_true(c.work_s > 0.9999 * expected && c.work_s < 1.0001 * expected);
}

static void test_more_latency_overhead_or_bytes_never_help(void **state)
{
    (void)state;
    const struct bt_cost_block b = block("3d", 408, 512, 8);
    double before = 0;
    for (int i = 0; i < 20; i++) {
        struct bt_cost_machine m = bt_cost_reference;
        m.network.latency_s *= i;
        m.network.s_per_byte *= i;
        m.overhead_s *= i;
        const double s = step_s(&m, &b, 1);
        assert_true(s > before);
        before = s;
    }
}

/* In a direction that is whole, and with teams that cost nothing. */
static void test_threads_share_the_work(void **state)
{
    (void)state;
    struct bt_cost_machine m = bt_cost_reference;
    m.team_s = 0;
    const struct bt_cost_block b = block("3d", 258, 1, 1);
    for (int64_t threads = 1; threads < 128; threads *= 2)
        assert_true(step_s(&m, &b, 2 * threads) < step_s(&m, &b, threads));
    /* More threads than batches have nothing to do. */
    const struct bt_cost_block small = block("3d", 12, 1, 1);
    assert_true(step_s(&m, &small, 1000) == step_s(&m, &small, 100000));
}

static void test_messages_that_leave_a_node(void **state)
{
    (void)state;
    const struct bt_cost_block alone = block("4x4x4", 102, 64, 1),
                               rows = block("4x4x4", 102, 64, 4),
                               planes = block("4x4x4", 102, 64, 16),
                               all = block("4x4x4", 102, 64, 64);
    for (int q = 0; q < 3; q++)
        assert_true(alone.leaves[q] == 1 && all.leaves[q] == 0);
    assert_true(rows.leaves[0] == 0 && rows.leaves[1] == 1 && rows.leaves[2] == 1);
    assert_true(planes.leaves[0] == 0 && planes.leaves[1] == 0 && planes.leaves[2] == 1);
    /* On one node its link does not matter. */
    struct bt_cost_machine m = bt_cost_reference;
    m.network = (struct bt_cost_link){1, 1};
    assert_true(step_s(&m, &all, 1) == step_s(&bt_cost_reference, &all, 1));
}

/* What a step waits for in its halo exchange when a cell takes cell_s in the right-hand side. */
static double exchange_s(const struct bt_cost_block *b, double cell_s, double latency_s)
{
    struct bt_cost_machine m = bt_cost_reference;
    m.network.latency_s = latency_s;
    m.cell_s[BT_COST_RHS] = cell_s;
    return bt_cost_step(&m, b, 1, 1).exchange_s;
}

/* The inner lines of blocks of 51 and 26 cells hide two of three axes, if they take long enough;
 * blocks of 17 have none. */
static void test_the_halo_behind_inner_lines(void **state)
{
    (void)state;
    const struct bt_cost_block b = block("3d", 408, 512, 1), x = block("1d:x", 408, 8, 1);
    const struct bt_cost_block thin = block("3d", 102, 64, 1), small = block("3d", 102, 216, 1);
    /* Messages of a second, two along each axis. */
    assert_true(exchange_s(&b, 0, 1) > 5.9);
    assert_true(exchange_s(&b, 1, 1) > 1.9 && exchange_s(&b, 1, 1) < 2.1);
    assert_true(exchange_s(&x, 1, 1) > 1.9);
    assert_true(exchange_s(&thin, 1, 1) < 2.1 && exchange_s(&thin, 1e-5, 1) > 5.5);
    assert_true(exchange_s(&small, 1, 1) > 5.9);
    assert_true(exchange_s(&small, 1, 1) == exchange_s(&small, 0, 1));
}

/* By the model, from which the rule follows with some simplification: chains of three to 16 ranks. The model
 * knows nothing of caches, so only groups are compared whose blocks on the way stay in them. */
static void test_the_size_of_messages_is_near_the_best(void **state)
{
    (void)state;
    static const int64_t grids[][2] = {{64, 27},   {102, 64},   {102, 216},  {162, 216},  {408, 64},
                                       {408, 512}, {408, 4096}, {1020, 512}, {2560, 4096}};
    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++) {
        const struct bt_cost_block b = block("3d", grids[i][0], (int)grids[i][1], 1);
        const int64_t lanes = 8, cells = bt_plan_div_up(b.size, b.parts[0]);
        const int64_t under_way = (2 * b.parts[0] - 1) * cells * bt_plan_cell_bytes(lanes);
        struct bt_cost_machine m = bt_cost_reference;
        m.network.s_per_byte = 1e-9;
        const double chosen = step_s(&m, &b, 1);
        for (m.group = 1; m.group == 1 || m.group * under_way <= BT_PLAN_STORE_NEAR; m.group++)
            assert_true(step_s(&m, &b, 1) > 0.97 * chosen);
    }
}

static int64_t group_of(int64_t size, int64_t parts, int64_t cells, int64_t cache_bytes)
{
    const int64_t n[3] = {cells, cells, cells};
    return bt_plan_group(size, parts, bt_plan_batches(2, n, 8), 8, 1, bt_plan_near(cache_bytes));
}

/* Blocks on the way up and down a chain were to fit in 2 MiB on every processor, so that cores with 512 KiB
 * read them back from further away. */
static void test_small_caches_hold_fewer_lines_under_way(void **state)
{
    (void)state;
    const int64_t kib = 1 << 10;
    assert_int_equal(bt_plan_near(2048 * kib), BT_PLAN_STORE_NEAR);
    assert_int_equal(bt_plan_near(0), BT_PLAN_STORE_NEAR);
    assert_int_equal(bt_plan_near(16384 * kib), BT_PLAN_STORE_NEAR); /* shared by cores */
    assert_int_equal(bt_plan_near(512 * kib), BT_PLAN_STORE_NEAR / 4);
    /* Chains of three ranks: blocks of 22 cells of class A. */
    assert_true(group_of(64, 3, 22, 512 * kib) < group_of(64, 3, 22, 2048 * kib));
    for (int64_t cache = 256 * kib; cache <= 2048 * kib; cache *= 2)
        for (int64_t parts = 3; parts <= 16; parts++) {
            const int64_t size = 102, cells = bt_plan_div_up(size, parts);
            const int64_t line = cells * bt_plan_cell_bytes(8), under_way = (2 * parts - 1) * line;
            const int64_t group = group_of(size, parts, cells, cache);
            assert_true(group == 1 ||
                        group * under_way <= bt_max64(bt_plan_near(cache), BT_PLAN_STORE_CACHED));
        }
    /* Chains of two follow the other rule. */
    assert_int_equal(group_of(102, 2, 51, 256 * kib), group_of(102, 2, 51, 2048 * kib));
}

static void test_splits(void **state)
{
    (void)state;
    struct bt_cost_split s[BT_COST_SPLITS];
    const struct bt_cost_machine *m = &bt_cost_reference;
    int best;
    assert_int_equal(bt_cost_splits(m, "3d", 102, 1, 1, 1, s, &best), 1); /* one core */
    assert_int_equal(s[best].ranks * s[best].threads, 1);
    assert_int_equal(bt_cost_splits(m, "3d", 102, 8, 4, 1, s, &best),
                     2); /* node and socket are one */
    assert_string_equal(s[1].per, "core");
    assert_int_equal(bt_cost_splits(m, "3d", 102, 8, 7, 2, s, &best), 2); /* 7 cores on 2 sockets */
    assert_int_equal(bt_cost_splits(m, "2x2x2", 102, 8, 4, 2, s, &best), 1);
    assert_string_equal(s[0].per, "node");
    assert_int_equal(bt_cost_splits(m, "3d", 12, 512, 64, 2, s, &best), 1); /* 12^3 cells */
    assert_int_equal(bt_cost_splits(m, "3d", 2560, INT64_C(1) << 40, 64, 2, s, &best), 0);
    assert_int_equal(bt_cost_splits(m, "3d", 2560, 1024, 64, 2, s, &best), 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(s[i].ranks * s[i].threads, 65536);
        assert_true(s[i].cost.step_s >= 2560.0 * 2560 * 2560 / 65536 * 50e-9);
        assert_true(s[best].cost.step_s <= 1.02 * s[i].cost.step_s);
    }
}

/* A processor that takes no time leaves messages alone, and an endlessly slow one leaves work alone. */
static void test_the_recommendation_follows_the_costs(void **state)
{
    (void)state;
    struct bt_cost_machine slow = bt_cost_reference, fast = bt_cost_reference;
    struct bt_cost_split s[BT_COST_SPLITS];
    int best;
    for (int i = 0; i < BT_COST_PHASES; i++) {
        slow.cell_s[i] *= 1e6;
        fast.cell_s[i] = 0;
    }
    fast.team_s = 0;
    assert_int_equal(bt_cost_splits(&slow, "3d", 408, 8, 64, 2, s, &best), 3);
    assert_string_equal(s[best].per, "core");
    assert_int_equal(bt_cost_splits(&fast, "3d", 24, 1, 64, 1, s, &best), 2);
    assert_string_equal(s[best].per, "node");
}

/* It was read as 0, and simulated computing took no time. */
static void test_a_cost_that_is_no_number_is_not_free(void **state)
{
    (void)state;
    static const char *const wrong[] = {"\"1e-5\"", "null", "-1", "1e300", "[]"};
    for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; w++)
        for (int at = 0; at < 8; at++) {
            const char *v[8];
            json_t *root;
            char path[] = "kernels.XXXXXX";
            for (int i = 0; i < 8; i++)
                v[i] = i == at ? wrong[w] : "1e-5";
            const int fd = mkstemp(path);
            assert_true(fd >= 0);
            dprintf(fd,
                    "{\"schema\": \"nht1-kernels/1\", \"entries\": [{\"shape\": \"x\", "
                    "\"forward_s\": [%s, %s, %s], \"backward_s\": [%s, %s, %s], \"pack_s\": %s, "
                    "\"unpack_s\": %s}]}",
                    v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
            close(fd);
            assert_int_equal(bt_charge_table(path, &root), ERR_USAGE);
            assert_null(root);
            assert_non_null(strstr(err_message(), "name another with --charge"));
            err_clear();
            unlink(path);
        }
    err_clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_core_has_nothing_but_work),
        cmocka_unit_test(test_more_latency_overhead_or_bytes_never_help),
        cmocka_unit_test(test_threads_share_the_work),
        cmocka_unit_test(test_messages_that_leave_a_node),
        cmocka_unit_test(test_the_halo_behind_inner_lines),
        cmocka_unit_test(test_the_size_of_messages_is_near_the_best),
        cmocka_unit_test(test_small_caches_hold_fewer_lines_under_way),
        cmocka_unit_test(test_splits),
        cmocka_unit_test(test_the_recommendation_follows_the_costs),
        cmocka_unit_test(test_a_cost_that_is_no_number_is_not_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
