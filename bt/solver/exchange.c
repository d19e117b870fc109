/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Halo exchange. The stencils reach two cells along the axes, never across edges or corners, so
 * each rank needs the two planes before and after its block, as wide as the block itself. The plan
 * is made from global indices: where a neighbour has a single plane, the other one comes from the
 * rank behind it. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/par.h"
#include "base/simulation.h"
#include "base/watch.h"
#include "bt/solver/plan.h"
#include "bt/solver/priv.h"

#define AHEAD 4 /* rows */

/* Adds the planes lo..hi-1 (global) to a list, if there are any. */
static int message_add(struct bt_solver *s, struct bt_halo_message *list, int *n, int peer,
                       int axis, int64_t lo, int64_t hi)
{
    if (lo >= hi) return 0;
    const int64_t *cells = s->d.count;
    struct bt_halo_message *m = &list[(*n)++];
    m->peer = peer;
    m->axis = axis;
    m->first = lo - s->d.lo[axis] - s->skip[axis];
    m->count = hi - lo;
    m->values = BT_NCOMP * m->count * cells[(axis + 1) % 3] * cells[(axis + 2) % 3];
    if (m->values > INT_MAX)
        return err_set(ERR_USAGE,
                       "blocks of %lld x %lld x %lld cells have faces too large for one message; "
                       "divide more axes with --decomp",
                       (long long)cells[0], (long long)cells[1], (long long)cells[2]);
    m->buffer = bt_doubles(m->values);
    s->memory_bytes += m->values * (int64_t)sizeof(double);
    return m->buffer ? 0 : mem_error("halo buffers");
}

/* Messages between this rank and the one at place p along axis. */
static int plan_peer(struct bt_solver *s, int axis, int p)
{
    const struct bt_decomp *d = &s->d;
    int at[3] = {d->at[0], d->at[1], d->at[2]};
    at[axis] = p;
    const int peer = bt_decomp_rank(d, at);
    const int64_t my_lo = d->lo[axis], my_hi = my_lo + d->count[axis];
    const int64_t lo = bt_decomp_first(d->n, d->p[axis], p);
    const int64_t hi = bt_decomp_first(d->n, d->p[axis], p + 1);
    struct bt_halo *h = &s->halo;
    if (p < d->at[axis]) {
        TRY(message_add(s, h->recv, &h->recvs, peer, axis, bt_max64(lo, my_lo - BT_HALO), hi));
        TRY(message_add(s, h->send, &h->sends, peer, axis, my_lo, bt_min64(my_hi, hi + BT_HALO)));
    } else {
        TRY(message_add(s, h->recv, &h->recvs, peer, axis, lo, bt_min64(hi, my_hi + BT_HALO)));
        TRY(message_add(s, h->send, &h->sends, peer, axis, bt_max64(my_lo, lo - BT_HALO), my_hi));
    }
    return 0;
}

int bt_exchange_new(struct bt_solver *s)
{
    for (int axis = 0; axis < 3; axis++)
        for (int p = 0; p < s->d.p[axis]; p++)
            if (p != s->d.at[axis] && abs(p - s->d.at[axis]) <= BT_HALO) TRY(plan_peer(s, axis, p));
    return 0;
}

void bt_exchange_free(struct bt_solver *s)
{
    for (int i = 0; i < s->halo.sends; i++)
        free(s->halo.send[i].buffer);
    for (int i = 0; i < s->halo.recvs; i++)
        free(s->halo.recv[i].buffer);
}

/* Copies the planes of a message out of U (pack) or into it. */
static void copy_planes(struct bt_solver *s, const struct bt_halo_message *m, bool pack)
{
    int64_t lo[3], n[3];
    for (int q = 0; q < 3; q++) {
        lo[q] = q == m->axis ? m->first : -s->skip[q];
        n[q] = q == m->axis ? m->count : s->d.count[q];
    }
#pragma omp parallel for schedule(static) collapse(2)
    for (int64_t k = 0; k < n[2]; k++)
        for (int64_t j = 0; j < n[1]; j++)
            for (int c = 0; c < BT_NCOMP; c++) {
                double *u = s->u.p + bt_field_at(&s->u, lo[2] + k, lo[1] + j, c, lo[0]);
                /* Along x a message takes two values of a row: no prefetcher sees a pattern. */
                __builtin_prefetch(u + AHEAD * s->u.sj);
                double *b = m->buffer + ((k * n[1] + j) * BT_NCOMP + c) * n[0];
                for (int64_t i = 0; i < n[0]; i++)
                    if (pack)
                        b[i] = u[i];
                    else
                        u[i] = b[i];
            }
}

void bt_exchange_pack(struct bt_solver *s)
{
    for (int i = 0; i < s->halo.sends; i++)
        copy_planes(s, &s->halo.send[i], true);
}

void bt_exchange_unpack(struct bt_solver *s)
{
    for (int i = 0; i < s->halo.recvs; i++)
        copy_planes(s, &s->halo.recv[i], false);
}

void bt_exchange_clear(struct bt_solver *s)
{
    for (int i = 0; i < s->halo.recvs; i++)
        memset(s->halo.recv[i].buffer, 0, (size_t)s->halo.recv[i].values * sizeof(double));
}

static int send(struct bt_solver *s, int i)
{
    struct bt_halo_message *m = &s->halo.send[i];
    return par_check(MPI_Isend(m->buffer, (int)m->values, MPI_DOUBLE, m->peer, m->axis, s->comm,
                               &s->halo.send_request[i]),
                     "MPI_Isend");
}

/* Posts all receives, packs everything and sends what goes along the axes before `past`. */
static int begin(struct bt_solver *s, int past)
{
    struct bt_halo *h = &s->halo;
    for (int i = 0; i < h->recvs; i++) {
        struct bt_halo_message *m = &h->recv[i];
        TRY_MPI(MPI_Irecv(m->buffer, (int)m->values, MPI_DOUBLE, m->peer, m->axis, s->comm,
                          &h->recv_request[i]));
    }
    for (int i = 0; i < h->sends; i++) {
        if (s->charge)
            simulation_compute(s->charge->pack_s / h->sends);
        else
            copy_planes(s, &h->send[i], true);
        if (h->send[i].axis < past) TRY(send(s, i));
    }
    h->got = 0;
    return 0;
}

/* Waits for what comes along the axes before `past`, and unpacks it. */
static int receive(struct bt_solver *s, int past)
{
    struct bt_halo *h = &s->halo;
    const int first = h->got;
    while (h->got < h->recvs && h->recv[h->got].axis < past)
        h->got++;
    TRY_MPI(MPI_Waitall(h->got - first, h->recv_request + first, MPI_STATUSES_IGNORE));
    for (int i = first; i < h->got; i++)
        if (s->charge)
            simulation_compute(s->charge->unpack_s / h->recvs);
        else
            copy_planes(s, &h->recv[i], false);
    return 0;
}

int bt_exchange_begin(struct bt_solver *s)
{
    /* Sent at once, the others would share the link with what is waited for. */
    TRY(begin(s, 1));
    TRY(receive(s, 1));
    for (int i = 0; i < s->halo.sends; i++)
        if (s->halo.send[i].axis >= 1) TRY(send(s, i));
    return 0;
}

/* Receives what is left and waits until everything has left. */
static int end(struct bt_solver *s)
{
    TRY(receive(s, 3));
    return par_check(MPI_Waitall(s->halo.sends, s->halo.send_request, MPI_STATUSES_IGNORE),
                     "MPI_Waitall");
}

int bt_exchange_end(struct bt_solver *s)
{
    if (s->halo.got == s->halo.recvs) return 0;
    const double start = watch_now();
    TRY(end(s));
    s->phase_s[BT_PHASE_EXCHANGE] += watch_now() - start;
    return 0;
}

int bt_exchange(struct bt_solver *s)
{
    TRY(begin(s, 3));
    return end(s);
}
