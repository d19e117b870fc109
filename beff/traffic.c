/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of the clock. Nothing here but the exchange itself and the step to the next place in
 * the buffers. */
#include "beff/traffic.h"

#include <stdlib.h>
#include <string.h>

#include "base/par.h"
#include "base/watch.h"
#include "beff/message.h"

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

static int64_t buffer_bytes(int64_t lmax_bytes, int room)
{
    return room * (beff_message_stride(lmax_bytes) + 16);
}

int64_t beff_traffic_bytes(int64_t lmax_bytes, int room)
{
    return 2 * buffer_bytes(lmax_bytes, room);
}

static int allocate(struct beff_traffic *t)
{
    const size_t n = (size_t)t->n, page = 4096;
    const size_t whole = ((size_t)t->buffer_bytes + page - 1) / page * page;
    t->send = aligned_alloc(page, whole);
    t->recv = aligned_alloc(page, whole);
    int *counts = calloc(n * 4 * BEFF_CALLS_MAX, sizeof *counts);
    t->counts[0].send_n = counts;
    if (!t->send || !t->recv || !counts)
        return err_set(ERR_NOMEM,
                       "no memory for two buffers of %lld bytes: choose a smaller "
                       "--memory-per-process",
                       (long long)t->buffer_bytes);
    for (int c = 0; c < BEFF_CALLS_MAX; c++, counts += 4 * n)
        t->counts[c] = (struct beff_counts){counts, counts + n, counts + 2 * n, counts + 3 * n};
    return 0;
}

int beff_traffic_make(MPI_Comm comm, int64_t lmax_bytes, int room, struct beff_traffic *t)
{
    *t = (struct beff_traffic){.comm = comm, .buffer_bytes = buffer_bytes(lmax_bytes, room)};
    TRY_MPI(MPI_Comm_size(comm, &t->n));
    TRY_MPI(MPI_Comm_rank(comm, &t->rank));
    TRY(par_agree(comm, allocate(t)));
    beff_message_fill(t->send, t->buffer_bytes, t->rank);
    memset(t->recv, 0, (size_t)t->buffer_bytes);
    return 0;
}

void beff_traffic_free(struct beff_traffic *t)
{
    free(t->send);
    free(t->recv);
    free(t->counts[0].send_n);
    *t = (struct beff_traffic){0};
}

/* The messages of a loop that are there at its end: those after which no other one took their
 * place. first: the earliest of them, counted from the loop's first message on this rank. */
struct arrivals {
    int64_t first, n, places, stride;
};

static struct arrivals arrivals_of(const struct beff_traffic *t, const struct beff_shot *shot)
{
    const int64_t n = shot->loop * shot->pattern->slots_n;
    const int64_t places = beff_message_places(t->buffer_bytes, shot->bytes);
    return (struct arrivals){n > places ? n - places : 0, n, places,
                             beff_message_stride(shot->bytes)};
}

static int sender_of(const struct beff_shot *shot, int64_t k)
{
    return shot->pattern->slot[k % shot->pattern->slots_n].from;
}

static int64_t place_of(const struct beff_traffic *t, const struct arrivals *a, int64_t k)
{
    return (t->place + k) % a->places * a->stride;
}

static void spoil(struct beff_traffic *t, const struct beff_shot *shot)
{
    const struct arrivals a = arrivals_of(t, shot);
    for (int64_t k = a.first; k < a.n; k++)
        if (sender_of(shot, k) != BEFF_NONE)
            beff_message_spoil(t->recv, place_of(t, &a, k), shot->bytes, sender_of(shot, k));
}

static int wrong(const struct beff_traffic *t, const struct beff_shot *shot, int64_t at_bytes,
                 int sender, int64_t byte)
{
    return err_set(ERR_VERIFY,
                   "a message was not received as it was sent: byte %lld of the %lld that rank %d "
                   "sent in pattern %s by %s is 0x%02x instead of 0x%02x; network, memory or MPI "
                   "library are at fault",
                   (long long)byte, (long long)shot->bytes, sender, shot->pattern->name,
                   beff_method_name(shot->method), t->recv[at_bytes + byte],
                   beff_message_byte(sender, at_bytes + byte));
}

/* The messages that are there: their ends, or all of them. */
static int check(const struct beff_traffic *t, const struct beff_shot *shot, bool whole)
{
    const struct arrivals a = arrivals_of(t, shot);
    for (int64_t k = a.first; k < a.n; k++) {
        const int sender = sender_of(shot, k);
        const int64_t at_bytes = place_of(t, &a, k);
        if (sender == BEFF_NONE) continue;
        const int64_t byte = whole
                                 ? beff_message_check_all(t->recv, at_bytes, shot->bytes, sender)
                                 : beff_message_check_ends(t->recv, at_bytes, shot->bytes, sender);
        if (byte >= 0) return wrong(t, shot, at_bytes, sender, byte);
    }
    return 0;
}

/* One iteration without a clock: connections are made, code and tables are in cache. */
static int one_iteration(struct beff_traffic *t, const struct beff_shot *shot)
{
    const int mpi_rc = beff_method_loop(t, shot);
    t->place += shot->pattern->slots_max;
    return par_check(mpi_rc, beff_method_name(shot->method));
}

/* No rank looks at its messages while another one still sends: on shared cores it would be in the
 * way of a loop that is timed. */
static int timed(struct beff_traffic *t, const struct beff_shot *shot, double *time_s)
{
    const int begun = par_check(MPI_Barrier(t->comm), "MPI_Barrier");
    const double begin_s = watch_now();
    const int mpi_rc = beff_method_loop(t, shot);
    *time_s = watch_now() - begin_s;
    const int looped = par_check(mpi_rc, beff_method_name(shot->method));
    const int ended = par_check(MPI_Barrier(t->comm), "MPI_Barrier");
    return begun < 0 ? begun : looped < 0 ? looped : ended;
}

int beff_traffic_shoot(struct beff_traffic *t, const struct beff_shot *shot, double *time_s)
{
    struct beff_shot one = *shot;
    one.loop = 1;
    beff_method_prepare(t, shot);
    int rc = shot->warm_up ? one_iteration(t, &one) : 0;
    spoil(t, shot);
    const int measured = timed(t, shot, time_s);
    if (rc == 0) rc = measured;
    if (rc == 0) rc = check(t, shot, false);
    t->place += shot->loop * shot->pattern->slots_max;
    beff_method_finish(t, shot);
    return rc;
}

int beff_traffic_verify(struct beff_traffic *t, const struct beff_shot *shot)
{
    struct beff_shot one = *shot;
    const int64_t before = t->place;
    one.loop = 1;
    beff_method_prepare(t, &one);
    spoil(t, &one);
    int rc = one_iteration(t, &one);
    const int64_t after = t->place;
    t->place = before; /* where the messages of this iteration begin */
    if (rc == 0) rc = check(t, &one, true);
    t->place = after;
    beff_method_finish(t, &one);
    return rc;
}
