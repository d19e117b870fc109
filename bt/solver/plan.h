/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_PLAN_H
#define BT_PLAN_H
/* Layer 2, free of MPI and io/. How the lines of a direction are grouped: into batches of vectors,
 * and batches into the messages of a pipeline. Pure rules over sizes, for the solver and for the
 * model of its cost (bt/solver/cost.h). */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "bt/solver/kernel.h"

/* What stored blocks may take beside the 120 bytes per cell of the fields, and in blocks of few cells, where
 * that is too little for a long chain; the three directions use the same memory in turn. And what they should
 * take, so as to be in cache still when back substitution reads them. */
#define BT_PLAN_STORE_PER_CELL 20          /* bytes */
#define BT_PLAN_STORE_LEAST    (4 << 20)   /* bytes per rank */
#define BT_PLAN_STORE_CACHED   (450 << 10) /* bytes per thread */
/* With more than that, larger messages cost more than they save: chosen on cores with so large a second-level cache. */
#define BT_PLAN_STORE_NEAR (1400 << 10) /* bytes per thread */
#define BT_PLAN_NEAR_CACHE (2 << 20)    /* bytes per core */
#define BT_PLAN_GROUP_MAX  32
/* What the size of messages is weighed with: a core's time for a cell of a line, and for the four messages of a
 * group (bt/solver/cost.h, bt_cost_reference). */
#define BT_PLAN_CELL_S     17e-9
#define BT_PLAN_MESSAGES_S 2e-6

#define BT_HALO 2 /* planes of a neighbour that the stencils reach */

static inline int64_t bt_plan_div_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static inline int64_t bt_min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t bt_max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Whether the lines of a direction have to be gathered into vectors: they lie apart along x, and
 * where a block has fewer cells along x than a vector has lanes. n: interior cells of the block. */
static inline bool bt_plan_packed(int dir, const int64_t n[3], int64_t lanes)
{
    return dir == 0 || n[0] < lanes;
}

/* Lines, along x, that are left over by whole vectors and gathered although the others are not: a
 * direct batch of few of them would waste more than the gathering costs, where such batches are
 * many. */
static inline int64_t bt_plan_gathered(int dir, const int64_t n[3], int64_t lanes)
{
    const int64_t left = n[0] % lanes;
    const bool pays = 2 * left <= lanes && n[0] < 8 * lanes;
    return !bt_plan_packed(dir, n, lanes) && pays ? left : 0;
}

/* Batches that these lines take: several rows of a plane share one. */
static inline int64_t bt_plan_gathered_batches(int dir, const int64_t n[3], int64_t lanes)
{
    return bt_plan_div_up(bt_plan_gathered(dir, n, lanes) * n[dir == 1 ? 2 : 1], lanes);
}

/* Batches of lines of a direction. Those along x are taken from a plane, what its whole vectors
 * leave over from several planes. */
static inline int64_t bt_plan_batches(int dir, const int64_t n[3], int64_t lanes)
{
    const int64_t other = dir == 1 ? n[2] : n[1], gathered = bt_plan_gathered(dir, n, lanes);
    if (dir == 0) return n[1] / lanes * n[2] + bt_plan_div_up(n[1] % lanes * n[2], lanes);
    if (bt_plan_packed(dir, n, lanes)) return bt_plan_div_up(n[0] * other, lanes);
    return bt_plan_div_up(n[0] - gathered, lanes) * other + bt_plan_gathered_batches(dir, n, lanes);
}

/* Room for what the elimination stores for a cell of every line of a batch. */
static inline int64_t bt_plan_cell_bytes(int64_t lanes)
{
    return BT_STORE * lanes * (int64_t)sizeof(double);
}

/* Batches that may be stored at a time out of all those of a direction of size cells over parts ranks. */
static inline int64_t bt_plan_stored(int64_t size, int64_t parts, int64_t batches, int64_t lanes)
{
    const int64_t line = bt_plan_cell_bytes(lanes) * bt_plan_div_up(size, parts);
    return bt_max64(batches * lanes * BT_PLAN_STORE_PER_CELL / bt_plan_cell_bytes(lanes),
                    bt_min64(batches, BT_PLAN_STORE_LEAST / line));
}

/* Groups that rank `at` of a chain of parts may have between elimination and back substitution. To the top
 * and back 2 (parts - at) - 1 groups are under way, more if messages are late: with more room than that a
 * rank would run ahead, and its stored blocks out of the cache. */
static inline int64_t bt_plan_window(int64_t size, int64_t parts, int64_t at, int64_t batches,
                                     int64_t lanes, int64_t group)
{
    const int64_t stored = bt_plan_stored(size, parts, batches, lanes);
    return bt_min64(bt_max64(stored / group, 2), 3 * (parts - at) - 2);
}

/* What groups under way may store, per thread, on cores with a second-level cache of so many bytes: the share of it that was
 * measured to be best. No more for a larger cache, which cores may share; 0: not known. */
static inline int64_t bt_plan_near(int64_t cache_bytes)
{
    const int64_t known = cache_bytes > 0 ? cache_bytes : BT_PLAN_NEAR_CACHE;
    return bt_min64(known, BT_PLAN_NEAR_CACHE) * BT_PLAN_STORE_NEAR / BT_PLAN_NEAR_CACHE;
}

/* Batches in a message with which a pipeline takes least: the first group goes up the chain and down in the time
 * of 2 parts - 1 groups, and there are as many messages as groups. No more than leave the stored blocks near the
 * core. Chains of two ranks are in one node and their messages cheap: for them larger groups were measured not
 * to be worth what they take of the cache. */
static inline int64_t bt_plan_shortest(int64_t size, int64_t parts, int64_t batches, int64_t lanes,
                                       int64_t threads, int64_t near_bytes)
{
    if (parts <= 2) return 1;
    const int64_t cells = lanes * bt_plan_div_up(size, parts), under_way = 2 * parts - 1;
    const double group_s = BT_PLAN_CELL_S * (double)(under_way * cells);
    const int64_t shortest =
        llround(sqrt(BT_PLAN_MESSAGES_S * (double)(batches * threads) / group_s));
    const int64_t line = bt_plan_cell_bytes(lanes) * bt_plan_div_up(size, parts);
    return bt_min64(shortest, threads * near_bytes / (under_way * line));
}

/* Batches in a message of a pipeline over parts ranks of a grid of size^3 cells. While a group is
 * on its way up and down the chain, the lowest rank eliminates 2 parts - 1 others. Made of numbers
 * that the ranks of the chain have in common; near_bytes: bt_plan_near of their smallest cache. */
static inline int64_t bt_plan_group(int64_t size, int64_t parts, int64_t batches, int64_t lanes,
                                    int64_t threads, int64_t near_bytes)
{
    const int64_t line = bt_plan_cell_bytes(lanes) * bt_plan_div_up(size, parts);
    const int64_t cached = threads * BT_PLAN_STORE_CACHED / ((2 * parts - 1) * line);
    const int64_t fits = bt_plan_stored(size, parts, batches, lanes) / (2 * parts + 1);
    const int64_t wanted =
        bt_max64(cached, bt_plan_shortest(size, parts, batches, lanes, threads, near_bytes));
    int64_t group = bt_min64(fits, wanted);
    group = group < 1 ? 1 : group > BT_PLAN_GROUP_MAX ? BT_PLAN_GROUP_MAX : group;
    return group > threads ? group - group % threads : group;
}

#endif
