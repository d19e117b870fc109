/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of the clock. Nothing here but the exchange itself and the step to the next place in
 * the buffers. */
#include "beff/beff_message.h"
#include "beff/beff_traffic.h"

#define BYTE MPI_BYTE

/* Where the next message lies, and where the buffers begin again. */
struct cursor {
    int64_t at, stride, end; /* bytes */
};

static struct cursor cursor_at(const struct beff_traffic *t, int64_t bytes)
{
    const int64_t stride = beff_message_stride(bytes);
    const int64_t places = beff_message_places(t->buffer_bytes, bytes);
    return (struct cursor){t->place % places * stride, stride, places * stride};
}

static inline void advance(struct cursor *c)
{
    c->at += c->stride;
    if (c->at == c->end) c->at = 0;
}

static inline int one_sendrecv(const struct beff_traffic *t, const struct beff_slot *s, int64_t at,
                               int bytes)
{
    if (s->from == BEFF_NONE)
        return s->to == BEFF_NONE ? MPI_SUCCESS
                                  : MPI_Send(t->send + at, bytes, BYTE, s->to, 0, t->comm);
    if (s->to == BEFF_NONE)
        return MPI_Recv(t->recv + at, bytes, BYTE, s->from, 0, t->comm, MPI_STATUS_IGNORE);
    return MPI_Sendrecv(t->send + at, bytes, BYTE, s->to, 0, t->recv + at, bytes, BYTE, s->from, 0,
                        t->comm, MPI_STATUS_IGNORE);
}

static int loop_sendrecv(struct beff_traffic *t, const struct beff_shot *shot)
{
    const struct beff_pattern *p = shot->pattern;
    struct cursor c = cursor_at(t, shot->bytes);
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < shot->loop; i++)
        for (int s = 0; s < p->slots_n; s++, advance(&c)) {
            const int one = one_sendrecv(t, &p->slot[s], c.at, (int)shot->bytes);
            if (one != MPI_SUCCESS) rc = one;
        }
    return rc;
}

/* A call that failed has made no request to wait for. */
static inline void started(int mpi_rc, int *n, int *rc)
{
    if (mpi_rc == MPI_SUCCESS)
        ++*n;
    else
        *rc = mpi_rc;
}

/* The slot's index is the tag, for rings of two, where both messages go to one process. */
static inline int one_nonblocking(const struct beff_traffic *t, const struct beff_pattern *p,
                                  struct cursor *c, int bytes)
{
    MPI_Request request[2 * BEFF_SLOTS_MAX];
    int n = 0, rc = MPI_SUCCESS;
    for (int s = 0; s < p->slots_n; s++, advance(c)) {
        const struct beff_slot *slot = &p->slot[s];
        if (slot->from != BEFF_NONE)
            started(MPI_Irecv(t->recv + c->at, bytes, BYTE, slot->from, s, t->comm, &request[n]),
                    &n, &rc);
        if (slot->to != BEFF_NONE)
            started(MPI_Isend(t->send + c->at, bytes, BYTE, slot->to, s, t->comm, &request[n]), &n,
                    &rc);
    }
    const int waited = MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
    return waited != MPI_SUCCESS ? waited : rc;
}

static int loop_nonblocking(struct beff_traffic *t, const struct beff_shot *shot)
{
    struct cursor c = cursor_at(t, shot->bytes);
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < shot->loop; i++) {
        const int one = one_nonblocking(t, shot->pattern, &c, (int)shot->bytes);
        if (one != MPI_SUCCESS) rc = one;
    }
    return rc;
}

static int loop_alltoallv(struct beff_traffic *t, const struct beff_shot *shot)
{
    const struct beff_pattern *p = shot->pattern;
    struct cursor c = cursor_at(t, shot->bytes);
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < shot->loop; i++) {
        for (int s = 0; s < p->slots_n; s++, advance(&c)) {
            const struct beff_slot *slot = &p->slot[s];
            const struct beff_counts *k = &t->counts[slot->call];
            if (slot->to != BEFF_NONE) k->send_at[slot->to] = (int)c.at;
            if (slot->from != BEFF_NONE) k->recv_at[slot->from] = (int)c.at;
        }
        for (int call = 0; call < p->calls_n; call++) {
            const struct beff_counts *k = &t->counts[call];
            const int one = MPI_Alltoallv(t->send, k->send_n, k->send_at, BYTE, t->recv, k->recv_n,
                                          k->recv_at, BYTE, t->comm);
            if (one != MPI_SUCCESS) rc = one;
        }
    }
    return rc;
}

static const struct {
    const char *name;
    int (*loop)(struct beff_traffic *t, const struct beff_shot *shot);
} methods[] = {
    [BEFF_SENDRECV] = {"sendrecv", loop_sendrecv},
    [BEFF_ALLTOALLV] = {"alltoallv", loop_alltoallv},
    [BEFF_NONBLOCKING] = {"nonblocking", loop_nonblocking},
};

const char *beff_method_name(int method)
{
    return methods[method].name;
}

bool beff_method_fits(int method, const struct beff_pattern *p)
{
    return method == BEFF_SENDRECV || !p->ping_pong;
}

int beff_method_loop(struct beff_traffic *t, const struct beff_shot *shot)
{
    return methods[shot->method].loop(t, shot);
}

static void set_counts(struct beff_traffic *t, const struct beff_shot *shot, int bytes)
{
    if (shot->method != BEFF_ALLTOALLV) return;
    for (int s = 0; s < shot->pattern->slots_n; s++) {
        const struct beff_slot *slot = &shot->pattern->slot[s];
        const struct beff_counts *k = &t->counts[slot->call];
        if (slot->to != BEFF_NONE) k->send_n[slot->to] = bytes;
        if (slot->from != BEFF_NONE) k->recv_n[slot->from] = bytes;
    }
}

void beff_method_prepare(struct beff_traffic *t, const struct beff_shot *shot)
{
    set_counts(t, shot, (int)shot->bytes);
}

void beff_method_finish(struct beff_traffic *t, const struct beff_shot *shot)
{
    set_counts(t, shot, 0);
}
