/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Line solves of one direction, batch by batch (batch.c); those of a direction that is divided among
 * ranks are pipe.c's. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/watch.h"
#include "bt/solver/plan.h"
#include "bt/solver/priv.h"

/* Seconds that the right-hand sides of the sweep took, mean over threads; starts anew. */
static double rhs_seconds(struct bt_solver *s)
{
    double sum = 0;
    for (int i = 0; i < s->threads; i++) {
        struct bt_scratch *t = &s->scratch[i];
        if (t->timed > 0) sum += t->rhs_s * (double)t->rhs_n / (double)t->timed;
        t->rhs_s = 0;
        t->rhs_n = t->timed = 0;
    }
    return sum / s->threads;
}

/* Adds what a sweep took to its phase, and to that of the right-hand side. */
static void account(struct bt_solver *s, int dir, double spent)
{
    static const enum bt_phase phase[3] = {BT_PHASE_XI, BT_PHASE_ETA, BT_PHASE_ZETA};
    const double rhs = dir == 0 ? fmin(rhs_seconds(s), spent) : 0;
    s->phase_s[BT_PHASE_RHS] += rhs;
    /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.ArraySubscript): dir < 3 */
    s->phase_s[phase[dir]] += spent - rhs;
}

/* Seconds of waiting that steps have contained so far. */
static double waiting(const struct bt_solver *s)
{
    return s->phase_s[BT_PHASE_PIPE_WAIT] + s->phase_s[BT_PHASE_EXCHANGE];
}

/* Batches of a direction that is whole on this rank, by the threads of a team, each from end to end. */
static void sweep_whole(struct bt_solver *s, int dir, unsigned flags, int64_t begin, int64_t end)
{
    const int64_t first[3] = {begin, bt_min64(bt_batch_gathered(s, dir), end), end};
    struct bt_scratch *t = &s->scratch[omp_get_thread_num()];
    /* Gathered batches come last and take longer: each thread gets its share of them. */
    for (int part = 0; part < 2; part++)
#pragma omp for schedule(static) nowait
        for (int64_t b = first[part]; b < first[part + 1]; b++) {
            bt_batch_forward(s, t, dir, flags, b, t->store, s->zero, NULL);
            bt_batch_backward(s, t, dir, flags, b, t->store, s->zero, NULL);
        }
#pragma omp barrier
}

/* The inner batches of an xi that is whole on this rank, while the halo is under way. */
static int sweep_inner(struct bt_solver *s, unsigned flags)
{
    const double start = watch_now();
    if (s->charge) {
        bt_charge_forward(s, 0, s->inner);
        bt_charge_backward(s, 0, s->inner);
    } else {
#pragma omp parallel num_threads(s->threads)
        sweep_whole(s, 0, flags, 0, s->inner);
    }
    account(s, 0, watch_now() - start);
    return bt_exchange_end(s);
}

int bt_sweep(struct bt_solver *s, int first, int end, unsigned flags)
{
    static const unsigned valid[3] = {BT_SWEEP_RHS, 0, BT_SWEEP_ADD};
    int64_t inner = 0; /* batches that are done */
    if (!s->active) return 0;
    if (flags & BT_SWEEP_RHS && !s->chain[0].divided && s->inner > 0) {
        TRY(sweep_inner(s, BT_SWEEP_RHS));
        inner = s->inner;
    }
    for (int dir = first, past; dir < end; dir = past) {
        double start = watch_now();
        const double waited = waiting(s);
        past = dir + 1;
        if (s->chain[dir].divided) {
            /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): dir < end <= 3 */
            TRY(bt_pipe_sweep(s, dir, flags & valid[dir]));
            account(s, dir, watch_now() - start - (waiting(s) - waited));
            continue;
        }
        if (s->charge) {
            const int64_t n = bt_batch_count(s, dir) - (dir == 0 ? inner : 0);
            bt_charge_forward(s, dir, n);
            bt_charge_backward(s, dir, n);
            account(s, dir, watch_now() - start);
            continue;
        }
        while (past < end && !s->chain[past].divided)
            past++;
            /* One team for all of them: starting it costs more than the barriers between them. That the team waits for a
             * processor before the first and behind the last of them counts as computing, too. */
#pragma omp parallel num_threads(s->threads)
        for (int d = dir; d < past; d++) {
            /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): d < end <= 3 */
            sweep_whole(s, d, flags & valid[d], d == 0 ? inner : 0, bt_batch_count(s, d));
#pragma omp master
            {
                const double now = watch_now();
                account(s, d, now - start);
                start = now;
            }
        }
        account(s, past - 1, watch_now() - start);
    }
    return 0;
}

/* One thread's working memory as one block, first touched by that thread. */
static double *scratch_new(struct bt_solver *s, struct bt_scratch *t)
{
    const int64_t lanes = s->kernel->lanes;
    int64_t store = 0, n = 0;
    for (int dir = 0; dir < 3; dir++) {
        if (s->ni[dir] > n) n = s->ni[dir];
        if (!s->chain[dir].divided && s->ni[dir] * BT_STORE * lanes > store)
            store = s->ni[dir] * BT_STORE * lanes;
    }
    const int64_t packed = bt_plan_div_up(n + 2, lanes) * lanes * BT_NCOMP * lanes;
    const int64_t prim = 3 * 2 * s->prim_stride + 2 * BT_LANES_MAX;
    const int64_t total = store + 2 * packed + prim;
    double *p = bt_doubles(total);
    if (!p) return NULL;
    if (!s->charge) memset(p, 0, (size_t)total * sizeof *p);
    t->store = p, p += store;
    t->u = p, p += packed;
    t->r = p, p += packed;
    t->prim = p;
#pragma omp atomic
    s->memory_bytes += total * (int64_t)sizeof *p;
    return p;
}

int bt_sweep_new(struct bt_solver *s)
{
    int missing = 0;
    s->prim_stride = bt_plan_div_up(s->ni[0] + 2, BT_LANES_MAX) * BT_LANES_MAX + 2 * BT_LANES_MAX;
    s->scratch = mem_new(s->threads, sizeof *s->scratch, "threads");
    if (!s->scratch) return ERR_NOMEM;
    for (int dir = 0; dir < 3; dir++)
        if (s->active && s->d.p[dir] > 1) TRY(bt_pipe_new(s, dir));
    TRY(bt_pipe_store_new(s));
#pragma omp parallel num_threads(s->threads)
    scratch_new(s, &s->scratch[omp_get_thread_num()]);
    /* With OMP_DYNAMIC fewer threads may have come now than come later. */
    for (int i = 0; i < s->threads; i++)
        if (!s->scratch[i].store) missing += !scratch_new(s, &s->scratch[i]);
    return missing ? mem_error("the working storage of threads") : 0;
}

void bt_sweep_free(struct bt_solver *s)
{
    for (int dir = 0; dir < 3; dir++)
        bt_pipe_free(&s->chain[dir]);
    free(s->pipe_store);
    for (int i = 0; s->scratch && i < s->threads; i++)
        free(s->scratch[i].store);
    free(s->scratch);
}
