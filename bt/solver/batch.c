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

#include "base/watch.h"
#include "bt/solver/plan.h"
#include "bt/solver/priv.h"

/* A batch: where its lines start in U and R (offsets of their first interior cell), how many of its
 * lanes are real, and for xi the rows that it covers. */
struct batch {
    bool packed;
    int nv;
    int64_t u[BT_LANES_MAX], r[BT_LANES_MAX];
    int64_t j, k;
};

int64_t bt_batch_count(const struct bt_solver *s, int dir)
{
    return s->active ? bt_plan_batches(dir, s->ni, s->kernel->lanes) : 0;
}

static void set_line(const struct bt_solver *s, struct batch *b, int v, int64_t k, int64_t j,
                     int64_t i)
{
    b->u[v] = bt_field_at(&s->u, k, j, 0, i);
    b->r[v] = bt_field_at(&s->r, k, j, 0, i);
}

/* xi: lanes are neighbouring rows of a plane. Batches run through strips of BT_LANES_MAX rows, of
 * which a narrow vector takes several batches, plane by plane, so that a strip stays in cache from
 * plane to plane. */
static void batch_rows(const struct bt_solver *s, int64_t index, struct batch *b)
{
    const int lanes = s->kernel->lanes;
    const int64_t strip = index / (BT_LANES_MAX / lanes * s->ni[2]), first = strip * BT_LANES_MAX;
    const int64_t across = bt_plan_div_up(bt_min64(BT_LANES_MAX, s->ni[1] - first), lanes);
    const int64_t rest = index - strip * (BT_LANES_MAX / lanes * s->ni[2]);
    b->j = first + rest % across * lanes;
    b->k = rest / across;
    b->nv = s->ni[1] - b->j < lanes ? (int)(s->ni[1] - b->j) : lanes;
    for (int v = 0; v < lanes; v++)
        set_line(s, b, v, b->k, b->j + (v < b->nv ? v : 0), 0);
}

/* eta, zeta, packed: lines numbered with i fastest, lanes are consecutive ones. */
static void batch_lines(const struct bt_solver *s, int dir, int64_t index, struct batch *b)
{
    const int lanes = s->kernel->lanes;
    const int64_t lines = s->ni[0] * (dir == 1 ? s->ni[2] : s->ni[1]), first = index * lanes;
    b->nv = lines - first < lanes ? (int)(lines - first) : lanes;
    for (int v = 0; v < lanes; v++) {
        const int64_t line = first + (v < b->nv ? v : 0);
        const int64_t i = line % s->ni[0], other = line / s->ni[0];
        set_line(s, b, v, dir == 1 ? other : 0, dir == 1 ? 0 : other, i);
    }
}

/* eta, zeta, direct: lanes along i; lane 0 says where. */
static void batch_direct(const struct bt_solver *s, int dir, int64_t index, struct batch *b)
{
    const int lanes = s->kernel->lanes;
    const int64_t per_row = bt_plan_div_up(s->ni[0], lanes);
    const int64_t i = index % per_row * lanes, other = index / per_row;
    b->nv = s->ni[0] - i < lanes ? (int)(s->ni[0] - i) : lanes;
    set_line(s, b, 0, dir == 1 ? other : 0, dir == 1 ? 0 : other, i);
}

static void batch_at(const struct bt_solver *s, int dir, int64_t index, struct batch *b)
{
    b->packed = bt_plan_packed(dir, s->ni, s->kernel->lanes);
    if (dir == 0)
        batch_rows(s, index, b);
    else if (b->packed)
        batch_lines(s, dir, index, b);
    else
        batch_direct(s, dir, index, b);
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
        u[v] = s->u.p + b->u[v];
        r[v] = s->r.p + b->r[v];
    }
    struct bt_batch_data data = {.u = t->u,
                                 .ul = 5 * lanes,
                                 .um = lanes,
                                 .r = t->r,
                                 .rl = 5 * lanes,
                                 .rm = lanes,
                                 .n = s->ni[dir]};
    /* Elimination leaves the memory idle. The right-hand side of the next plane will need these
     * rows of the plane that enters its stencils, and of H. */
    if (dir == 0 && b->k + 1 < s->ni[2]) {
        data.u_ahead = s->u.p + b->u[0] + 3 * s->u.sk;
        data.r_ahead = s->h.p + b->r[0] + s->h.sk;
    }
    s->kernel->pack(u, stride(&s->u, dir), s->u.sm, s->ni[dir] + 1, t->u);
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

/* Times one batch in eight: two looks at the clock are not small beside a batch of a tiny grid. */
static void rhs_of_batch(struct bt_solver *s, struct bt_scratch *t, const struct batch *b)
{
    const bool timed = t->rhs_n++ % 8 == 0;
    const double start = timed ? watch_now() : 0;
    bt_rhs_strip(s, t, b->k, b->j, b->nv);
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
