/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Batches: the interior lines of a direction are grouped into batches of as many lines as a
 * vector has lanes. Two ways to load a batch:
 *
 *   direct   eta and zeta: lanes along i, vectors are loaded where they lie;
 *   packed   xi, and eta and zeta where a rank has fewer cells along i than a vector has lanes: the
 *            lines are first gathered into [cell][component][lane], and the result is scattered.
 *
 * Lanes without a line of their own are given a copy of a real one and never stored. Which lines
 * share a batch does not touch the result of any line. */

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/simulation.h"
#include "base/watch.h"
#include "bt/solver/plan.h"
#include "bt/solver/priv.h"

/* A batch: where its lines start in U and R (offsets of their first interior cell), how many of its
 * lanes are real, and for xi the rows that they are. */
struct batch {
    bool packed;
    int nv;
    int64_t u[BT_LANES_MAX], r[BT_LANES_MAX];
    int64_t j[BT_LANES_MAX], k[BT_LANES_MAX];
};

static void set_line(const struct bt_solver *s, struct batch *b, int v, int64_t k, int64_t j,
                     int64_t i)
{
    b->u[v] = bt_field_at(&s->u, k, j, 0, i);
    b->r[v] = bt_field_at(&s->r, k, j, 0, i);
    b->j[v] = j;
    b->k[v] = k;
}

/* The planes of xi are shared by the threads as those of eta are, so that R stays where it is: slab
 * q of as many as there are threads. One slab where the direction is divided: the pipeline's groups
 * are those of all ranks of a chain. */
static int64_t slabs(const struct bt_solver *s)
{
    return s->chain[0].divided ? 1 : bt_min64(s->threads, s->ni[2]);
}

static int64_t slab_first(const struct bt_solver *s, int64_t q)
{
    return q * s->ni[2] / slabs(s);
}

static int64_t slab_batches(const struct bt_solver *s, int64_t q)
{
    const int64_t n[3] = {s->ni[0], s->ni[1], slab_first(s, q + 1) - slab_first(s, q)};
    return bt_plan_batches(0, n, s->kernel->lanes);
}

int64_t bt_batch_count(const struct bt_solver *s, int dir)
{
    int64_t n = 0;
    if (!s->active) return 0;
    if (dir > 0) return bt_plan_batches(dir, s->ni, s->kernel->lanes);
    for (int64_t q = 0; q < slabs(s); q++)
        n += slab_batches(s, q);
    return n;
}

int64_t bt_batch_gathered(const struct bt_solver *s, int dir)
{
    return bt_batch_count(s, dir) - bt_plan_gathered_batches(dir, s->ni, s->kernel->lanes);
}

/* Fills the lanes with lines first .. of a count of them, numbered across `wide` at a time from
 * `at`: rows from j = at in planes from k on, or columns from i = at. Without a line: a copy. */
static void batch_numbered(const struct bt_solver *s, int dir, int64_t first, int64_t count,
                           int64_t wide, int64_t at, int64_t k, struct batch *b)
{
    const int lanes = s->kernel->lanes;
    b->nv = count - first < lanes ? (int)(count - first) : lanes;
    for (int v = 0; v < lanes; v++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): wide > 0 where there are lines */
        const int64_t line = first + (v < b->nv ? v : 0), x = at + line % wide, y = line / wide;
        if (dir == 0)
            set_line(s, b, v, k + y, x, 0);
        else
            set_line(s, b, v, dir == 1 ? y : 0, dir == 1 ? 0 : y, x);
    }
}

/* xi: lanes are neighbouring rows of a plane. Batches run through strips of BT_LANES_MAX rows, of
 * which a narrow vector takes several batches, plane by plane, so that a strip stays in cache from
 * plane to plane. Rows that are left over share batches with those of the next planes. */
static void batch_rows(const struct bt_solver *s, int64_t index, struct batch *b)
{
    const int lanes = s->kernel->lanes;
    int64_t q = 0;
    while (index >= slab_batches(s, q))
        index -= slab_batches(s, q++);
    const int64_t k0 = slab_first(s, q), planes = slab_first(s, q + 1) - k0;
    const int64_t left = s->ni[1] % lanes, whole = s->ni[1] - left;
    const int64_t in_strips = whole / lanes * planes;
    b->packed = true;
    if (index >= in_strips) {
        batch_numbered(s, 0, (index - in_strips) * lanes, left * planes, left, whole, k0, b);
        return;
    }
    const int64_t per_strip = BT_LANES_MAX / lanes * planes, j0 = index / per_strip * BT_LANES_MAX;
    const int64_t across = bt_min64(BT_LANES_MAX, whole - j0) / lanes;
    const int64_t j = j0 + index % per_strip % across * lanes;
    batch_numbered(s, 0, 0, lanes, lanes, j, k0 + index % per_strip / across, b);
}

/* eta, zeta: lanes along i. What whole vectors leave over may be gathered: see bt_plan_gathered. */
static void batch_columns(const struct bt_solver *s, int dir, int64_t index, struct batch *b)
{
    const int lanes = s->kernel->lanes;
    const int64_t other = dir == 1 ? s->ni[2] : s->ni[1];
    const bool packed = bt_plan_packed(dir, s->ni, lanes);
    const int64_t gathered = packed ? s->ni[0] : bt_plan_gathered(dir, s->ni, lanes);
    const int64_t wide = s->ni[0] - gathered, per_row = bt_plan_div_up(wide, lanes);
    b->packed = index >= per_row * other;
    if (b->packed) {
        const int64_t first = (index - per_row * other) * lanes;
        batch_numbered(s, dir, first, gathered * other, gathered, wide, 0, b);
        return;
    }
    const int64_t i = index % per_row * lanes, y = index / per_row;
    b->nv = wide - i < lanes ? (int)(wide - i) : lanes;
    set_line(s, b, 0, dir == 1 ? y : 0, dir == 1 ? 0 : y, i);
}

static void batch_at(const struct bt_solver *s, int dir, int64_t index, struct batch *b)
{
    if (dir == 0)
        batch_rows(s, s->order ? s->order[index] : index, b);
    else
        batch_columns(s, dir, index, b);
}

/* Whether a right-hand side at `at` along an axis needs a cell of a neighbour. */
static bool at_halo(const struct bt_solver *s, int axis, int64_t at)
{
    return (s->d.at[axis] > 0 && at < BT_HALO) ||
           (s->d.at[axis] < s->d.p[axis] - 1 && at >= s->ni[axis] - BT_HALO);
}

int bt_batch_new(struct bt_solver *s)
{
    const int64_t n = bt_batch_count(s, 0);
    if (n == 0 || (s->d.p[1] == 1 && s->d.p[2] == 1)) return 0;
    s->order = mem_new(n, sizeof *s->order, "the order of %lld batches", (long long)n);
    if (!s->order) return ERR_NOMEM;
    int64_t outer = n;
    for (int64_t i = 0; i < n; i++) {
        struct batch b;
        bool inner = true;
        batch_rows(s, i, &b);
        for (int v = 0; v < b.nv; v++)
            inner = inner && !at_halo(s, 1, b.j[v]) && !at_halo(s, 2, b.k[v]);
        s->order[inner ? s->inner++ : --outer] = (int32_t)i;
    }
    for (int64_t i = outer, j = n - 1; i < j; i++, j--) {
        const int32_t swapped = s->order[i];
        s->order[i] = s->order[j];
        s->order[j] = swapped;
    }
    return 0;
}

int bt_batch_agree(struct bt_solver *s)
{
    int all = s->inner > 0 || !s->active;
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, s->comm));
    if (all) {
        if (s->order) s->memory_bytes += bt_batch_count(s, 0) * (int64_t)sizeof *s->order;
        return 0;
    }
    bt_batch_free(s);
    s->order = NULL;
    s->inner = 0;
    return 0;
}

void bt_batch_free(struct bt_solver *s)
{
    free(s->order);
}

static int64_t stride(const struct bt_field *f, int dir)
{
    return dir == 0 ? 1 : dir == 1 ? f->sj : f->sk;
}

static void forward_packed(struct bt_solver *s, struct bt_scratch *t, int dir,
                           const struct batch *b, double *store, const double *in, double *out)
{
    const int lanes = s->kernel->lanes;
    const double *u[BT_LANES_MAX], *r[BT_LANES_MAX];
    for (int v = 0; v < lanes; v++) {
        u[v] = s->u.p + b->u[v] - stride(&s->u, dir);
        r[v] = s->r.p + b->r[v];
    }
    struct bt_batch_data data = {.u = t->u + 5 * lanes,
                                 .ul = 5 * lanes,
                                 .um = lanes,
                                 .r = t->r,
                                 .rl = 5 * lanes,
                                 .rm = lanes,
                                 .n = s->ni[dir]};
    /* Elimination leaves the memory idle. The right-hand side of the next plane will need these
     * rows of the plane that enters its stencils, and of H. */
    if (dir == 0 && b->k[b->nv - 1] + 1 < s->ni[2]) {
        data.u_ahead =
            s->u.p + b->u[b->nv - 1] + 3 * s->u.sk - (b->j[b->nv - 1] - b->j[0]) * s->u.sj;
        data.r_ahead = s->h.p + b->r[0] + s->h.sk;
    }
    s->kernel->pack(u, stride(&s->u, dir), s->u.sm, s->ni[dir] + 2, t->u);
    s->kernel->pack(r, stride(&s->r, dir), s->r.sm, s->ni[dir], t->r);
    s->kernel->forward[dir](&s->coef, &data, store, in, out);
}

static void forward_direct(struct bt_solver *s, int dir, int64_t index, const struct batch *b,
                           double *store, const double *in, double *out)
{
    struct bt_batch_data data = {.u = s->u.p + b->u[0],
                                 .ul = stride(&s->u, dir),
                                 .um = s->u.sm,
                                 .r = s->r.p + b->r[0],
                                 .rl = stride(&s->r, dir),
                                 .rm = s->r.sm,
                                 .n = s->ni[dir]};
    struct batch next;
    if (index + 1 < bt_batch_count(s, dir)) {
        batch_at(s, dir, index + 1, &next);
        data.u_ahead = s->u.p + next.u[0];
        data.r_ahead = s->r.p + next.r[0];
    }
    s->kernel->forward[dir](&s->coef, &data, store, in, out);
}

/* Times one batch in eight: two looks at the clock are not small beside a batch of a tiny grid. None in
 * a simulation, whose clock stands still meanwhile and takes longer than the batch. */
static void rhs_of_batch(struct bt_solver *s, struct bt_scratch *t, const struct batch *b)
{
    const bool timed = t->rhs_n++ % 8 == 0 && !simulation();
    const double start = timed ? watch_now() : 0;
    for (int v = 0, rows; v < b->nv; v += rows) {
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): set_line has set b->k of all lanes */
        for (rows = 1; v + rows < b->nv && b->k[v + rows] == b->k[v];)
            rows++;
        bt_rhs_strip(s, t, b->k[v], b->j[v], rows);
    }
    if (!timed) return;
    t->rhs_s += watch_now() - start;
    t->timed++;
}

void bt_batch_forward(struct bt_solver *s, struct bt_scratch *t, int dir, unsigned flags,
                      int64_t index, double *store, const double *in, double *out)
{
    struct batch b;
    batch_at(s, dir, index, &b);
    if (flags & BT_SWEEP_RHS) rhs_of_batch(s, t, &b);
    if (b.packed)
        forward_packed(s, t, dir, &b, store, in, out);
    else
        forward_direct(s, dir, index, &b, store, in, out);
}

void bt_batch_backward(struct bt_solver *s, struct bt_scratch *t, int dir, unsigned flags,
                       int64_t index, const double *store, const double *w_in, double *w_out)
{
    const int lanes = s->kernel->lanes;
    const bool add = flags & BT_SWEEP_ADD;
    const struct bt_field *to = add ? &s->u : &s->r;
    const int64_t n = s->ni[dir];
    struct batch b;
    batch_at(s, dir, index, &b);
    const int64_t *start = add ? b.u : b.r;
    if (!b.packed) {
        s->kernel->backward[dir](store, n, w_in, w_out, to->p + start[0], stride(to, dir), to->sm,
                                 b.nv, add);
        return;
    }
    double *line[BT_LANES_MAX];
    for (int v = 0; v < lanes; v++)
        line[v] = to->p + start[v];
    s->kernel->backward[dir](store, n, w_in, w_out, t->r, 5 * lanes, lanes, lanes, false);
    s->kernel->unpack(t->r, line, stride(to, dir), to->sm, n, b.nv, add);
}
