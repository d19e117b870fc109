/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Right-hand side on strips of rows, and the linear stencils that it needs: the second- and fourth-
 * order dissipation of [BT] section 5 as five coefficients per global index and direction,
 *
 *   t1 d_s (1, -2, 1) - dt eps D4
 *
 * with D4 = (1, -4, 6, -4, 1) but for the two rows next to each boundary. They depend on the global
 * index alone, so boundary rows go through the same operations as all others. */
#include <omp.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "bt/solver/plan.h"
#include "bt/solver/priv.h"

/* The five coefficients of global index l = 1..n-2. */
static void linear_stencil(const struct bt_solver *s, int dir, int64_t l, double lin[5])
{
    static const double second[5] = {0, 1, -2, 1, 0};
    double d4[5] = {1, -4, 6, -4, 1};
    const int64_t n = s->problem.n;
    if (l <= 2) d4[0] = 0;
    if (l >= n - 3) d4[4] = 0;
    if (l == 1) d4[1] = 0, d4[2] = 5;
    if (l == n - 2) d4[3] = 0, d4[2] = 5;
    for (int o = 0; o < 5; o++)
        lin[o] = s->coef.td[dir] * second[o] - s->problem.dt * BT_EPS4 * d4[o];
}

int bt_rhs_new(struct bt_solver *s)
{
    s->lin_stride = (s->ni[0] + 2 * BT_LANES_MAX) / BT_LANES_MAX * BT_LANES_MAX;
    for (int dir = 0; dir < 3; dir++) {
        const int64_t stride = dir == 0 ? s->lin_stride : 1;
        const int64_t n = 5 * (dir == 0 ? s->lin_stride : s->ni[dir] + 1);
        s->lin[dir] = bt_doubles(n);
        if (!s->lin[dir]) return mem_error("stencil tables");
        s->memory_bytes += n * (int64_t)sizeof(double);
        for (int64_t i = 0; i < n; i++)
            s->lin[dir][i] = 0.0;
        for (int64_t l = 0; l < s->ni[dir]; l++) {
            double lin[5];
            linear_stencil(s, dir, s->d.lo[dir] + s->skip[dir] + l, lin);
            for (int o = 0; o < 5; o++)
                s->lin[dir][dir == 0 ? o * stride + l : 5 * l + o] = lin[o];
        }
    }
    return 0;
}

void bt_rhs_free(struct bt_solver *s)
{
    for (int dir = 0; dir < 3; dir++)
        free(s->lin[dir]);
}

/* Where the primitive quantities of row j are kept: three rows in turn. */
static double *prim_at(const struct bt_solver *s, const struct bt_scratch *t, int64_t j)
{
    return t->prim + ((j + 3) % 3) * 2 * s->prim_stride + BT_LANES_MAX;
}

void bt_rhs_prim(const struct bt_solver *s, const struct bt_scratch *t, int64_t k, int64_t j)
{
    s->kernel->prim_row(&s->coef, s->u.p + bt_field_at(&s->u, k, j, 0, 0), s->u.sm, s->ni[0],
                        prim_at(s, t, j), s->prim_stride);
}

struct bt_rhs_row bt_rhs_row_at(const struct bt_solver *s, const struct bt_scratch *t, int64_t k,
                                int64_t j)
{
    return (struct bt_rhs_row){
        .u = s->u.p + bt_field_at(&s->u, k, j, 0, 0),
        .um = s->u.sm,
        .uj = s->u.sj,
        .uk = s->u.sk,
        .h = s->forced ? s->h.p + bt_field_at(&s->h, k, j, 0, 0) : NULL,
        .r = s->r.p + bt_field_at(&s->r, k, j, 0, 0),
        .rm = s->r.sm,
        .rk = s->r.sk,
        .n = s->ni[0],
        .prim = {prim_at(s, t, j - 1), prim_at(s, t, j), prim_at(s, t, j + 1)},
        .pm = s->prim_stride,
        .lin_xi = s->lin[0],
        .lin_stride = s->lin_stride,
        .lin_eta = s->lin[1] + 5 * j,
        .lin_zeta = s->lin[2] + 5 * k};
}

/* The rows beyond a strip that its stencils reach, two on each side: no other strip has read them
 * lately. Prefetches those of plane k, one of `rows` shares with each row of the strip. (Inline: gcc
 * 12 drops calls to a function that only prefetches.) */
static inline __attribute__((always_inline)) void
prefetch_beyond(const struct bt_solver *s, int64_t k, int64_t j0, int64_t rows, int64_t part)
{
    const int64_t share = bt_plan_div_up(2 * s->u.sj, rows), end = j0 + rows;
    const double *below = s->u.p + bt_field_at(&s->u, k, j0 - 2, 0, 0) + part * share;
    const double *above = s->u.p + bt_field_at(&s->u, k, end, 0, 0) + part * share;
    const bool lowest = j0 % BT_LANES_MAX == 0;
    const bool highest = end % BT_LANES_MAX == 0 || end == s->ni[1];
    for (int64_t i = 0; i < share; i += 8) {
        if (lowest) __builtin_prefetch(below + i, 0, 2);
        if (highest) __builtin_prefetch(above + i, 0, 2);
    }
}

void bt_rhs_strip(struct bt_solver *s, struct bt_scratch *t, int64_t k, int64_t j0, int64_t rows)
{
    bt_rhs_prim(s, t, k, j0 - 1);
    bt_rhs_prim(s, t, k, j0);
    for (int64_t j = j0; j < j0 + rows; j++) {
        prefetch_beyond(s, k + 1, j0, rows, j - j0);
        bt_rhs_prim(s, t, k, j + 1);
        const struct bt_rhs_row row = bt_rhs_row_at(s, t, k, j);
        s->kernel->rhs_row(&s->coef, &row);
    }
}

void bt_rhs_all(struct bt_solver *s)
{
    if (!s->active) return;
#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (int64_t k = 0; k < s->ni[2]; k++)
        bt_rhs_strip(s, &s->scratch[omp_get_thread_num()], k, 0, s->ni[1]);
}
