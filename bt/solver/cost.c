/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/solver/cost.h"

#include <limits.h>
#include <math.h>

#include "base/err.h"
#include "base/num.h"
#include "bt/solver/problem.h"
#include "bt/solver/plan.h"

/* Bytes handed on per lane of a batch, up and down. */
#define CARRY_BYTES (8.0 * (BT_CARRY + BT_NCOMP))
#define TIED        1.02 /* times slower: not worth more ranks */

const struct bt_cost_machine bt_cost_reference = {
    .cell_s = {12.1e-9, 18.3e-9, 16.0e-9, 17.2e-9},
    .copy_s_per_byte = 0.58e-9,
    .busy = 1.06,
    .overhead_s = 0.5e-6,
    .team_s = 1e-6,
    .remote = 0.2,
    .network = {2e-6, 1 / 25e9},
    .inside = {0.5e-6, 1 / 5e9},
    .lanes = 8,
};

/* Of the messages along an axis that the ranks of a node in the middle send, the share that leaves it. */
static double leaving(const struct bt_decomp *d, int axis, int64_t node_ranks)
{
    const int64_t ranks = (int64_t)d->p[0] * d->p[1] * d->p[2];
    const int64_t node = ranks / node_ranks / 2, first = node * node_ranks;
    const int64_t past = num_min(first + node_ranks, ranks);
    int64_t sent = 0, left = 0;
    for (int64_t r = first; r < past; r++) {
        const int64_t at[3] = {r % d->p[0], r / d->p[0] % d->p[1], r / d->p[0] / d->p[1]};
        const int64_t apart = axis == 0 ? 1 : axis == 1 ? d->p[0] : (int64_t)d->p[0] * d->p[1];
        if (at[axis] > 0) sent++, left += r - apart < first;
        if (at[axis] < d->p[axis] - 1) sent++, left += r + apart >= past;
    }
    return sent > 0 ? (double)left / (double)sent : 0;
}

struct bt_cost_block bt_cost_block(const struct bt_decomp *d, int64_t node_ranks)
{
    struct bt_cost_block b = {.size = d->n, .node_ranks = node_ranks};
    for (int q = 0; q < 3; q++) {
        b.parts[q] = d->p[q];
        b.leaves[q] = leaving(d, q, node_ranks);
        for (int p = 0; p < d->p[q]; p++) {
            const int64_t lo = bt_decomp_first(d->n, d->p[q], p);
            const int64_t hi = bt_decomp_first(d->n, d->p[q], p + 1);
            b.n[q] = bt_max64(b.n[q], bt_min64(hi, d->n - 1) - bt_max64(lo, 1));
            b.full[q] = bt_max64(b.full[q], hi - lo);
        }
    }
    return b;
}

/* Direction of a phase; the right-hand side runs along x. */
static int direction_of(enum bt_cost_phase ph)
{
    return ph <= BT_COST_XI ? 0 : ph == BT_COST_ETA ? 1 : 2;
}

double bt_cost_cells(const struct bt_cost_block *b, enum bt_cost_phase ph, int64_t lanes)
{
    const int q = direction_of(ph);
    if (ph == BT_COST_RHS)
        return (double)(bt_plan_div_up(b->n[0], lanes) * lanes * b->n[1] * b->n[2]);
    return (double)(bt_plan_batches(q, b->n, lanes) * lanes * b->n[q]);
}

double bt_cost_lines(const struct bt_cost_block *b, enum bt_cost_phase ph, int64_t lanes)
{
    return bt_cost_cells(b, ph, lanes) / (double)b->n[direction_of(ph)];
}

/* Messages along an axis. */
static double sides_of(const struct bt_cost_block *b, int axis)
{
    return b->parts[axis] == 1 ? 0 : b->parts[axis] == 2 ? 1 : 2;
}

/* Bytes of one of them: two planes. */
static double face_bytes(const struct bt_cost_block *b, int axis)
{
    return 2.0 * BT_NCOMP * 8 * (double)(b->full[(axis + 1) % 3] * b->full[(axis + 2) % 3]);
}

double bt_cost_halo(const struct bt_cost_block *b, double *bytes)
{
    double messages = 0;
    *bytes = 0;
    for (int q = 0; q < 3; q++) {
        messages += sides_of(b, q);
        *bytes += sides_of(b, q) * face_bytes(b, q);
    }
    return messages;
}

static double latency_of(const struct bt_cost_machine *m, const struct bt_cost_block *b, int axis)
{
    return b->leaves[axis] * m->network.latency_s + (1 - b->leaves[axis]) * m->inside.latency_s;
}

/* Seconds for a byte that every rank of a node sends to a neighbour along an axis. */
static double byte_s(const struct bt_cost_machine *m, const struct bt_cost_block *b, int axis)
{
    return b->leaves[axis] * (double)b->node_ranks * m->network.s_per_byte +
           (1 - b->leaves[axis]) * m->inside.s_per_byte;
}

static double team_s(const struct bt_cost_machine *m, int64_t threads)
{
    return m->team_s * log2((double)threads);
}

/* The share of xi's batches that need no halo along y and z (bt/solver/batch.c), on the ranks that have least. */
static double inner_share(const struct bt_cost_block *b, int64_t lanes)
{
    const int64_t n[3] = {b->n[0], num_min(b->n[1], b->size / b->parts[1]),
                          num_min(b->n[2], b->size / b->parts[2])};
    int64_t past[3], first[3]; /* rows and planes in between need none */
    for (int q = 1; q < 3; q++) {
        first[q] = b->parts[q] > 2 ? BT_HALO : 0;
        past[q] = b->parts[q] > 1 ? n[q] - BT_HALO : n[q];
    }
    const int64_t whole = n[1] / lanes * lanes;
    const int64_t strips = num_min(past[1], whole) / lanes - bt_plan_div_up(first[1], lanes);
    if (strips <= 0 || past[2] <= first[2]) return 0;
    return (double)(strips * (past[2] - first[2])) / (double)bt_plan_batches(0, n, lanes);
}

/* What of the exchange the ranks wait for, when the right-hand side and xi take xi_s. What travels along y and
 * z does so behind the inner batches; packing and unpacking take their time anyway. */
static double exchange_s(const struct bt_cost_machine *m, const struct bt_cost_block *b,
                         int64_t threads, double xi_s)
{
    double s = 0, late_s = 0;
    for (int q = 0; q < 3; q++) {
        s += sides_of(b, q) * (2 * m->overhead_s + 2 * team_s(m, threads) +
                               face_bytes(b, q) * m->copy_s_per_byte / (double)threads);
        *(q > 0 ? &late_s : &s) +=
            sides_of(b, q) * (latency_of(m, b, q) + face_bytes(b, q) * byte_s(m, b, q));
    }
    return s + fmax(0, late_s - xi_s * inner_share(b, m->lanes));
}

/* One direction: adds to work_s what the threads take for its batches, a thread alone work_s, and to pipe_s
 * what the division adds, the way up and down the chain; a rank that may have no more groups under way
 * waits for the first of them to come back. */
static void add_direction(struct bt_cost *cost, const struct bt_cost_machine *m,
                          const struct bt_cost_block *b, int q, int64_t threads, double alone_s)
{
    const int64_t lanes = m->lanes, parts = b->parts[q], batches = bt_plan_batches(q, b->n, lanes);
    if (parts == 1) {
        cost->work_s += alone_s * (double)bt_plan_div_up(batches, threads) / (double)batches +
                        team_s(m, threads);
        return;
    }
    const int64_t g =
        m->group > 0 ? m->group
                     : bt_plan_group(b->size, parts, batches, lanes, threads, BT_PLAN_STORE_NEAR);
    const int64_t window = bt_plan_window(b->size, parts, 0, batches, lanes, g);
    const double groups = (double)bt_plan_div_up(batches, g), group_lanes = (double)(lanes * g);
    const double work_s = alone_s * (double)bt_plan_div_up(g, threads) / (double)g;
    const double busy_s =
        work_s / groups + 4 * m->overhead_s + (g > 1 ? 2 * team_s(m, threads) : 0);
    /* A hop that leaves the node shares the link with the chains beside it. */
    const double hop_s = 2 * latency_of(m, b, q) + CARRY_BYTES * group_lanes * byte_s(m, b, q);
    const double trip_s = busy_s + (double)(parts - 1) * (busy_s + hop_s);
    const double link_s = 8.0 * BT_CARRY * group_lanes * byte_s(m, b, q);
    const double each_s = fmax(fmax(busy_s, link_s), trip_s / (double)window);
    cost->work_s += work_s;
    cost->pipe_s += trip_s + (groups - 1) * each_s - work_s;
}

struct bt_cost bt_cost_step(const struct bt_cost_machine *m, const struct bt_cost_block *b,
                            int64_t threads, int64_t sockets)
{
    struct bt_cost cost = {0};
    const double slower = m->busy * (1 + m->remote * (1 - 1 / (double)sockets));
    double alone_s[3] = {0};
    for (int i = 0; i < BT_COST_PHASES; i++) {
        const enum bt_cost_phase ph = (enum bt_cost_phase)i;
        alone_s[direction_of(ph)] += slower * (m->cell_s[i] * bt_cost_cells(b, ph, m->lanes) +
                                               m->line_s[i] * bt_cost_lines(b, ph, m->lanes));
    }
    cost.exchange_s = exchange_s(m, b, threads, alone_s[0] / (double)threads);
    for (int q = 0; q < 3; q++)
        add_direction(&cost, m, b, q, threads, alone_s[q]);
    cost.step_s = cost.work_s + cost.exchange_s + cost.pipe_s;
    return cost;
}

int bt_cost_splits(const struct bt_cost_machine *m, const char *decomp, int64_t n, int64_t nodes,
                   int64_t cores, int64_t sockets, struct bt_cost_split out[BT_COST_SPLITS],
                   int *best)
{
    const struct {
        const char *per;
        int64_t node_ranks;
    } way[BT_COST_SPLITS] = {{"node", 1}, {"socket", sockets}, {"core", cores}};
    int found = 0;
    *best = 0;
    for (int i = 0; i < BT_COST_SPLITS; i++) {
        const int64_t ranks = num_product(nodes, way[i].node_ranks);
        struct bt_decomp d;
        if ((i > 0 && way[i].node_ranks <= way[i - 1].node_ranks) ||
            cores % way[i].node_ranks != 0 || ranks > INT_MAX)
            continue;
        if (bt_decomp_make(decomp, n, (int)ranks, 0, &d) < 0) {
            err_clear();
            continue;
        }
        const struct bt_cost_block b = bt_cost_block(&d, way[i].node_ranks);
        struct bt_cost_split *s = &out[found];
        *s = (struct bt_cost_split){
            .per = way[i].per, .ranks = ranks, .threads = cores / way[i].node_ranks};
        s->cost = bt_cost_step(m, &b, s->threads, bt_max64(1, sockets / way[i].node_ranks));
        bt_decomp_name(&d, s->grid);
        if (s->cost.step_s * TIED < out[*best].cost.step_s) *best = found;
        found++;
    }
    return found;
}
