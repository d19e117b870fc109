/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beff/pattern.h"

#include <gsl/gsl_randist.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

static int larger(int a, int b)
{
    return a > b ? a : b;
}

int beff_ring_standard(int i, int n)
{
    const int size[BEFF_RINGS_N] = {2, 4, 8, larger(16, n / 4), larger(32, n / 2), n};
    return size[i] < n ? size[i] : n;
}

struct beff_rings beff_rings_of(enum beff_definition definition, int n, int standard)
{
    /* Number of rings: n / standard, rounded up from 0.6 on, but every ring has two processes. */
    const int64_t near = (10 * (int64_t)n + 4 * (int64_t)standard) / (10 * (int64_t)standard);
    const int64_t most = n / 2;
    int rings = (int)(near < 1 ? 1 : near < most ? near : most);
    /* The paper says so in words for the second pattern; the rule alone would give 4 + 3. */
    if (definition == BEFF_PAPER && standard == 4 && n <= 7) rings = 1;
    ERR_ASSERT(rings >= 1);
    const int low = n / rings, high_n = n % rings;
    if (high_n == 0) return (struct beff_rings){n, rings, low, 0, 0};
    /* The even size comes first. */
    if (low % 2) return (struct beff_rings){n, high_n, low + 1, rings - high_n, low};
    return (struct beff_rings){n, rings - high_n, low, high_n, low + 1};
}

int beff_ring_at(const struct beff_rings *r, int position, int *start)
{
    const int border = r->first_n * r->first;
    if (position < border) {
        *start = position - position % r->first;
        return r->first;
    }
    *start = position - (position - border) % r->second;
    return r->second;
}

const char *beff_ring_name(const struct beff_rings *r, char out[BEFF_NAME_MAX])
{
    const char *others = r->second_n == 0 ? "fix" : r->second > r->first ? "&+1" : "&-1";
    snprintf(out, BEFF_NAME_MAX, "ring-%d*%d%s", r->first_n + r->second_n, r->first, others);
    return out;
}

/* 0, 1, 2, ... */
static void order_row(int n, int *order)
{
    for (int i = 0; i < n; i++)
        order[i] = i;
}

/* GSL takes a seed of 0 for the generator's default one, 4357; 2^32 is its way to say 0. */
#define SEED_ZERO (UINT64_C(1) << 32)

gsl_rng *beff_shuffle_begin(uint64_t seed)
{
    gsl_error_handler_t *before = gsl_set_error_handler_off();
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_set_error_handler(before);
    if (rng) gsl_rng_set(rng, (unsigned long)(seed ? seed : SEED_ZERO));
    return rng;
}

void beff_shuffle_next(gsl_rng *rng, int n, int *order)
{
    order_row(n, order);
    gsl_ran_shuffle(rng, order, (size_t)n, sizeof *order);
}

void beff_order_worst(int n, int *order)
{
    for (int i = 0; i < n; i++)
        order[i] = i % 2 ? n - 1 - i / 2 : i / 2;
}

/* A pattern as a whole: positions 0..n-1 in a row or grid, order tells which rank stands where. */
struct shape {
    enum beff_definition definition;
    int n; /* processes that take part */
    const int *order;
    struct beff_rings rings;
    int dims[3];
    unsigned axes; /* bit d: messages go along dimension d */
    bool periodic;
    /* The slots of a position, with positions for ranks. Returns how many there are. */
    int (*slots)(const struct shape *s, int position, struct beff_slot slot[BEFF_SLOTS_MAX]);
};

/* Messages to both neighbours: one slot to next and from previous, one the other way round. Where
 * both are one process, the second message needs a call of its own, or is not there. */
static int both_ways(const struct shape *s, int next, int previous, struct beff_slot *slot)
{
    const bool same = next == previous && next != BEFF_NONE;
    slot[0] = (struct beff_slot){next, previous, 0};
    if (same && s->definition == BEFF_36) return 1;
    slot[1] = (struct beff_slot){previous, next, same};
    return 2;
}

static int ring_slots(const struct shape *s, int position, struct beff_slot slot[BEFF_SLOTS_MAX])
{
    int start;
    const int size = beff_ring_at(&s->rings, position, &start), i = position - start;
    return both_ways(s, start + (i + 1) % size, start + (i + size - 1) % size, slot);
}

/* First one sends, then the other sends back. */
static int pair_slots(int partner, bool first, struct beff_slot slot[BEFF_SLOTS_MAX])
{
    slot[first ? 0 : 1] = (struct beff_slot){partner, BEFF_NONE, 0};
    slot[first ? 1 : 0] = (struct beff_slot){BEFF_NONE, partner, 0};
    return 2;
}

static int near_slots(const struct shape *s, int position, struct beff_slot slot[BEFF_SLOTS_MAX])
{
    (void)s;
    return pair_slots(position ^ 1, position % 2 == 0, slot);
}

static int far_slots(const struct shape *s, int position, struct beff_slot slot[BEFF_SLOTS_MAX])
{
    return pair_slots(s->n - 1 - position, position < s->n / 2, slot);
}

/* The position one step along a dimension, BEFF_NONE outside a grid that is not periodic. */
static int step(const struct shape *s, int position, int d, int by)
{
    int stride = 1;
    for (int e = d + 1; e < 3; e++)
        stride *= s->dims[e];
    const int at = position / stride % s->dims[d], to = at + by;
    if (!s->periodic && (to < 0 || to >= s->dims[d])) return BEFF_NONE;
    return position + ((to + s->dims[d]) % s->dims[d] - at) * stride;
}

static int grid_slots(const struct shape *s, int position, struct beff_slot slot[BEFF_SLOTS_MAX])
{
    int n = 0;
    for (int d = 0; d < 3; d++)
        if ((s->axes >> d & 1) && s->dims[d] > 1)
            n += both_ways(s, step(s, position, d, 1), step(s, position, d, -1), slot + n);
    return n;
}

static uint64_t mix(uint64_t digest, int value)
{
    return (digest ^ (uint64_t)(uint32_t)value) * UINT64_C(0x100000001b3);
}

/* Adds a pattern: goes over all positions, counts, digests and keeps the slots of this plan's rank.
 */
static struct beff_pattern *add(struct beff_plan *plan, const struct shape *s, enum beff_kind kind,
                                const char *name)
{
    struct beff_pattern *p = &plan->pattern[plan->patterns_n++];
    struct beff_slot slot[BEFF_SLOTS_MAX];
    *p = (struct beff_pattern){.kind = kind, .processes_n = s->n, .calls_n = 1};
    snprintf(p->name, sizeof p->name, "%s", name);
    for (int position = 0; position < s->n; position++) {
        const int n = s->slots(s, position, slot), rank = s->order[position];
        int sends = 0;
        for (int i = 0; i < n; i++) {
            if (slot[i].to != BEFF_NONE) slot[i].to = s->order[slot[i].to];
            if (slot[i].from != BEFF_NONE) slot[i].from = s->order[slot[i].from];
            sends += slot[i].to != BEFF_NONE;
            if (slot[i].call == p->calls_n) p->calls_n++;
            plan->digest = mix(mix(mix(plan->digest, rank), slot[i].to), slot[i].from);
            if (rank == plan->rank) p->slot[i] = slot[i];
        }
        p->messages_n += sends;
        if (n > p->slots_max) p->slots_max = n;
        if (rank != plan->rank) continue;
        p->slots_n = n;
        p->sends_n = sends;
    }
    return p;
}

static void add_rings(struct beff_plan *plan, enum beff_definition definition, int *order)
{
    char name[BEFF_NAME_MAX];
    const int n = plan->n;
    order_row(n, order);
    for (int i = 0; i < BEFF_RINGS_N; i++) {
        const struct shape s = {.definition = definition,
                                .n = n,
                                .order = order,
                                .slots = ring_slots,
                                .rings = beff_rings_of(definition, n, beff_ring_standard(i, n))};
        add(plan, &s, BEFF_RING, beff_ring_name(&s.rings, name))->rings = s.rings;
    }
}

/* One ring through all processes in the given order. */
static struct shape one_ring(enum beff_definition definition, int n, const int *order)
{
    return (struct shape){.definition = definition,
                          .n = n,
                          .order = order,
                          .slots = ring_slots,
                          .rings = {n, 1, n, 0, 0}};
}

static int add_random(struct beff_plan *plan, const struct beff_plan_spec *spec, int *order)
{
    char name[BEFF_NAME_MAX];
    gsl_rng *rng = beff_shuffle_begin(spec->seed);
    if (!rng) return mem_error("a random number generator");
    for (int i = 0; i < spec->random_n; i++) {
        beff_shuffle_next(rng, plan->n, order);
        const struct shape s = one_ring(spec->definition, plan->n, order);
        snprintf(name, sizeof name, "random-%02d", i + 1);
        add(plan, &s, BEFF_RANDOM, name);
    }
    gsl_rng_free(rng);
    return 0;
}

static void add_grid(struct beff_plan *plan, struct shape *s, int d, const char *directions)
{
    char name[BEFF_NAME_MAX];
    snprintf(name, sizeof name, "%s-%dd-%s", s->periodic ? "cyclic" : "acyclic", d, directions);
    struct beff_pattern *p = add(plan, s, BEFF_ANALYSIS, name);
    for (int e = 0; e < 3; e++)
        p->dims[e] = s->dims[e];
}

/* A direction in which the grid is one process thick is left out. */
static void add_grids(struct beff_plan *plan, const struct beff_plan_spec *spec)
{
    struct shape grid[2];
    for (int g = 0; g < 2; g++) {
        const int *dims = spec->grid[g].dims;
        grid[g] = (struct shape){.definition = spec->definition,
                                 .n = dims[0] * dims[1] * dims[2],
                                 .order = spec->grid[g].order,
                                 .dims = {dims[0], dims[1], dims[2]},
                                 .axes = 7,
                                 .slots = grid_slots};
        add_grid(plan, &grid[g], g + 2, "all");
    }
    for (int g = 0; g < 2; g++) {
        grid[g].periodic = true;
        for (int d = 0; d < g + 2; d++) {
            const char direction[2] = {"xyz"[d], '\0'};
            grid[g].axes = 1u << d;
            if (grid[g].dims[d] > 1) add_grid(plan, &grid[g], g + 2, direction);
        }
        grid[g].axes = 7;
        add_grid(plan, &grid[g], g + 2, "all");
    }
}

static void add_analysis(struct beff_plan *plan, const struct beff_plan_spec *spec, int *order)
{
    beff_order_worst(plan->n, order);
    const struct shape worst = one_ring(spec->definition, plan->n, order);
    add(plan, &worst, BEFF_ANALYSIS, "worst-cycle");
    struct shape pairs = {.n = plan->n - plan->n % 2, .order = order, .slots = near_slots};
    order_row(plan->n, order);
    add(plan, &pairs, BEFF_ANALYSIS, "best-bisection");
    pairs.slots = far_slots;
    add(plan, &pairs, BEFF_ANALYSIS, "worst-bisection");
    pairs.n = 2;
    add(plan, &pairs, BEFF_ANALYSIS, "ping-pong")->ping_pong = true;
    add_grids(plan, spec);
}

int beff_plan_make(const struct beff_plan_spec *spec, struct beff_plan *plan)
{
    const int most = BEFF_RINGS_N + spec->random_n + BEFF_ANALYSIS_MAX;
    int *order = mem_new(spec->n, sizeof *order, "the patterns of %d processes", spec->n);
    *plan = (struct beff_plan){.n = spec->n, .rank = spec->rank, .random_n = spec->random_n};
    plan->digest = UINT64_C(0xcbf29ce484222325);
    plan->pattern = mem_new(most, sizeof *plan->pattern, "%d patterns", most);
    int rc = order && plan->pattern ? 0 : ERR_NOMEM;
    if (rc == 0) add_rings(plan, spec->definition, order);
    if (rc == 0) rc = add_random(plan, spec, order);
    if (rc == 0 && spec->analysis) add_analysis(plan, spec, order);
    free(order);
    return rc;
}

void beff_plan_free(struct beff_plan *plan)
{
    free(plan->pattern);
    *plan = (struct beff_plan){0};
}

const char *beff_kind_name(enum beff_kind kind)
{
    static const char *const name[] = {"ring", "random", "analysis"};
    return name[kind];
}

bool beff_grid_suits(int m, int last)
{
    return last > 1 || (m < 8 && m % 2 == 0) || m < 4;
}
