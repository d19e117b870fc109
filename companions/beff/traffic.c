/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beff/traffic.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/watch.h"

#define BYTE MPI_BYTE

/* --- what is in the messages --- */

enum { WORD = 8 };

/* The word at index i of a sender's buffer: a hash of the place, xor the rank in every byte, so
 * that no two ranks that differ mod 256 have a byte in common. */
static uint64_t word_of(int sender, int64_t i)
{
    uint64_t w = ((uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    w ^= w >> 32;
    return w ^ (uint64_t)(sender & 255) * UINT64_C(0x0101010101010101);
}

unsigned char beff_message_byte(int sender, int64_t at_bytes)
{
    const uint64_t word = word_of(sender, at_bytes / WORD);
    return ((const unsigned char *)&word)[at_bytes % WORD];
}

int64_t beff_message_stride(int64_t bytes)
{
    return (bytes + WORD - 1) / WORD * WORD;
}

int64_t beff_message_places(int64_t buffer_bytes, int64_t bytes)
{
    return buffer_bytes / beff_message_stride(bytes);
}

void beff_message_fill(unsigned char *buffer, int64_t bytes, int rank)
{
    for (int64_t i = 0; i < bytes / WORD; i++) {
        const uint64_t w = word_of(rank, i);
        memcpy(buffer + i * WORD, &w, WORD);
    }
}

/* Where the last 8 bytes of a message begin that the first 8 do not hold. */
static int64_t tail_of(int64_t bytes)
{
    return bytes > 2 * WORD ? bytes - WORD : WORD;
}

void beff_message_poison(unsigned char *buffer, int64_t at_bytes, int64_t bytes, int sender)
{
    for (int64_t b = 0; b < bytes; b++) {
        if (b == WORD) b = tail_of(bytes);
        if (b < bytes)
            buffer[at_bytes + b] = (unsigned char)~beff_message_byte(sender, at_bytes + b);
    }
}

int64_t beff_message_check_ends(const unsigned char *buffer, int64_t at_bytes, int64_t bytes,
                                int sender)
{
    for (int64_t b = 0; b < bytes; b++) {
        if (b == WORD) b = tail_of(bytes);
        if (b < bytes && buffer[at_bytes + b] != beff_message_byte(sender, at_bytes + b)) return b;
    }
    return -1;
}

int64_t beff_message_check_all(const unsigned char *buffer, int64_t at_bytes, int64_t bytes,
                               int sender)
{
    int64_t b = 0;
    for (; b + WORD <= bytes; b += WORD) {
        const uint64_t want = word_of(sender, (at_bytes + b) / WORD);
        if (memcmp(buffer + at_bytes + b, &want, WORD) != 0) break;
    }
    for (; b < bytes; b++)
        if (buffer[at_bytes + b] != beff_message_byte(sender, at_bytes + b)) return b;
    return -1;
}

/* --- inside the clock: nothing but the exchange itself and the step to the next place --- */

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

static int loop_sendrecv(struct beff_traffic *t, const struct beff_exchange *ex, struct cursor *c)
{
    const struct beff_pattern *p = ex->pattern;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < ex->loop; i++)
        for (int s = 0; s < p->slots_n; s++, advance(c)) {
            const int one = one_sendrecv(t, &p->slot[s], c->at, (int)ex->bytes);
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

static int loop_nonblocking(struct beff_traffic *t, const struct beff_exchange *ex,
                            struct cursor *c)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < ex->loop; i++) {
        const int one = one_nonblocking(t, ex->pattern, c, (int)ex->bytes);
        if (one != MPI_SUCCESS) rc = one;
    }
    return rc;
}

static int loop_alltoallv(struct beff_traffic *t, const struct beff_exchange *ex, struct cursor *c)
{
    const struct beff_pattern *p = ex->pattern;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < ex->loop; i++) {
        for (int s = 0; s < p->slots_n; s++, advance(c)) {
            const struct beff_slot *slot = &p->slot[s];
            const struct beff_counts *k = &t->counts[slot->call];
            if (slot->to != BEFF_NONE) k->send_at[slot->to] = (int)c->at;
            if (slot->from != BEFF_NONE) k->recv_at[slot->from] = (int)c->at;
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
    int (*loop)(struct beff_traffic *t, const struct beff_exchange *ex, struct cursor *c);
} methods[] = {
    [BEFF_SENDRECV] = {"sendrecv", loop_sendrecv},
    [BEFF_ALLTOALLV] = {"alltoallv", loop_alltoallv},
    [BEFF_NONBLOCKING] = {"nonblocking", loop_nonblocking},
};

const char *beff_method_name(int method)
{
    return methods[method].name;
}

/* The first and the last byte of each message of an iteration that begins at c: set in what goes out, or
 * compared in what came in. */
static void tags(struct beff_traffic *t, const struct beff_exchange *ex, struct cursor c,
                 bool arrived)
{
    const struct beff_pattern *p = ex->pattern;
    for (int s = 0; s < p->slots_n; s++, advance(&c)) {
        const int64_t place[2] = {c.at, c.at + ex->bytes - 1};
        const int from = p->slot[s].from;
        for (int i = 0; i < 2; i++) {
            if (!arrived && p->slot[s].to != BEFF_NONE)
                t->send[place[i]] = beff_message_byte(t->rank, place[i]);
            if (!arrived || from == BEFF_NONE || t->wrong_at >= 0 ||
                t->recv[place[i]] == beff_message_byte(from, place[i]))
                continue;
            t->wrong_at = place[i];
            t->wrong_from = from;
        }
    }
}

/* A loop as release 3.6 has it. The place is carried from one iteration to the next: finding it takes
 * divisions, which the release has not in its clock. What remains, the tags themselves, are 7 ns of a
 * message (make bench-beff). */
static int loop_tagged(struct beff_traffic *t, const struct beff_exchange *ex, struct cursor *c)
{
    struct beff_exchange one = *ex;
    int rc = MPI_SUCCESS;
    one.loop = 1;
    for (int64_t i = 0; i < ex->loop; i++) {
        const struct cursor begin = *c;
        tags(t, &one, begin, false);
        const int one_rc = methods[ex->method].loop(t, &one, c);
        if (one_rc != MPI_SUCCESS) rc = one_rc;
        tags(t, &one, begin, true);
    }
    return rc;
}

/* What MPI_Alltoallv is told about the partners of an exchange; bytes 0: nothing again. */
static void set_counts(struct beff_traffic *t, const struct beff_exchange *ex, int bytes)
{
    if (ex->method != BEFF_ALLTOALLV) return;
    for (int s = 0; s < ex->pattern->slots_n; s++) {
        const struct beff_slot *slot = &ex->pattern->slot[s];
        const struct beff_counts *k = &t->counts[slot->call];
        if (slot->to != BEFF_NONE) k->send_n[slot->to] = bytes;
        if (slot->from != BEFF_NONE) k->recv_n[slot->from] = bytes;
    }
}

/* --- buffers, and one exchange --- */

static int64_t buffer_bytes(int64_t lmax_bytes, int room)
{
    return room * (beff_message_stride(lmax_bytes) + 16);
}

int64_t beff_traffic_bytes(int64_t lmax_bytes, int room)
{
    return 2 * buffer_bytes(lmax_bytes, room);
}

static int allocate(struct beff_traffic *t, int offset)
{
    const size_t n = (size_t)t->n, whole = (size_t)t->buffer_bytes;
    t->send = buffer_at(whole, offset, &t->memory[0]);
    t->recv = buffer_at(whole, offset, &t->memory[1]);
    int *counts = calloc(n * 4 * BEFF_CALLS_MAX, sizeof *counts);
    t->counts[0].send_n = counts;
    if (!t->send || !t->recv || !counts)
        return mem_error("two buffers of %lld bytes: choose a smaller "
                         "--memory-per-process",
                         (long long)t->buffer_bytes);
    for (int c = 0; c < BEFF_CALLS_MAX; c++, counts += 4 * n)
        t->counts[c] = (struct beff_counts){counts, counts + n, counts + 2 * n, counts + 3 * n};
    return 0;
}

int beff_traffic_make(MPI_Comm comm, int64_t lmax_bytes, int room, int offset,
                      struct beff_traffic *t)
{
    *t = (struct beff_traffic){
        .comm = comm, .buffer_bytes = buffer_bytes(lmax_bytes, room), .wrong_at = -1};
    TRY_MPI(MPI_Comm_size(comm, &t->n));
    TRY_MPI(MPI_Comm_rank(comm, &t->rank));
    TRY(par_agree(comm, allocate(t, offset)));
    const int at[2] = {buffer_offset_of(t->send), buffer_offset_of(t->recv)};
    int most[2] = {at[0] < at[1] ? -at[0] : -at[1], at[0] > at[1] ? at[0] : at[1]};
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT, MPI_MAX, comm));
    t->offset_bytes[0] = -most[0];
    t->offset_bytes[1] = most[1];
    beff_message_fill(t->send, t->buffer_bytes, t->rank);
    memset(t->recv, 0, (size_t)t->buffer_bytes);
    return 0;
}

void beff_traffic_free(struct beff_traffic *t)
{
    free(t->memory[0]);
    free(t->memory[1]);
    free(t->counts[0].send_n);
    *t = (struct beff_traffic){0};
}

enum arrival_act { POISON, CHECK_ENDS, CHECK_ALL };

/* Goes over the messages of a loop that are there at its end, those after which no other one took
 * their place: makes them wrong before it, or compares them after it. */
static int arrivals(struct beff_traffic *t, const struct beff_exchange *ex, enum arrival_act act)
{
    const struct beff_pattern *p = ex->pattern;
    const int64_t stride = beff_message_stride(ex->bytes), n = ex->loop * p->slots_n;
    const int64_t places = beff_message_places(t->buffer_bytes, ex->bytes);
    for (int64_t k = n > places ? n - places : 0; k < n; k++) {
        const int sender = p->slot[k % p->slots_n].from;
        const int64_t at = (t->place + k) % places * stride;
        int64_t wrong = -1;
        if (sender == BEFF_NONE) continue;
        if (act == POISON)
            beff_message_poison(t->recv, at, ex->bytes, sender);
        else if (act == CHECK_ENDS)
            wrong = beff_message_check_ends(t->recv, at, ex->bytes, sender);
        else
            wrong = beff_message_check_all(t->recv, at, ex->bytes, sender);
        if (wrong >= 0)
            return err_set(ERR_VERIFY,
                           "a message was not received as it was sent: byte %lld of the %lld that "
                           "rank %d sent in pattern %s by %s is 0x%02x instead of 0x%02x; network, "
                           "memory or MPI library are at fault",
                           (long long)wrong, (long long)ex->bytes, sender, p->name,
                           beff_method_name(ex->method), t->recv[at + wrong],
                           beff_message_byte(sender, at + wrong));
    }
    return 0;
}

int beff_traffic_time(struct beff_traffic *t, const struct beff_exchange *ex, double *time_s)
{
    const char *name = methods[ex->method].name;
    struct beff_exchange one = *ex;
    int rc = 0;
    one.loop = 1;
    set_counts(t, ex, (int)ex->bytes);
    if (ex->warm_up) { /* connections are made, code and tables are in cache */
        struct cursor warm = cursor_at(t, ex->bytes);
        rc = par_check(methods[ex->method].loop(t, &one, &warm), name);
        t->place += ex->pattern->slots_max;
    }
    (void)arrivals(t, ex, POISON);
    struct cursor c = cursor_at(t, ex->bytes);
    const int begun = par_check(MPI_Barrier(t->comm), "MPI_Barrier");
    const double begin_s = watch_now();
    const int mpi_rc = ex->tagged ? loop_tagged(t, ex, &c) : methods[ex->method].loop(t, ex, &c);
    *time_s = watch_now() - begin_s;
    const int looped = par_check(mpi_rc, name);
    /* No rank checks its messages while another one still sends: on shared cores it would be in
     * the way of a loop that is timed. */
    const int ended = par_check(MPI_Barrier(t->comm), "MPI_Barrier");
    if (rc == 0) rc = begun < 0 ? begun : looped < 0 ? looped : ended;
    if (rc == 0) rc = arrivals(t, ex, CHECK_ENDS);
    if (rc == 0 && t->wrong_at >= 0)
        rc = err_set(
            ERR_VERIFY,
            "a message of %lld bytes that rank %d sent in pattern %s by %s was not received "
            "as it was sent; network, memory or MPI library are at fault",
            (long long)ex->bytes, t->wrong_from, ex->pattern->name, name);
    t->place += ex->loop * ex->pattern->slots_max;
    set_counts(t, ex, 0);
    return rc;
}

int beff_traffic_verify(struct beff_traffic *t, const struct beff_exchange *ex)
{
    struct beff_exchange one = *ex;
    one.loop = 1;
    set_counts(t, &one, (int)one.bytes);
    (void)arrivals(t, &one, POISON);
    struct cursor c = cursor_at(t, one.bytes);
    int rc = par_check(methods[one.method].loop(t, &one, &c), methods[one.method].name);
    if (rc == 0) rc = arrivals(t, &one, CHECK_ALL);
    t->place += one.pattern->slots_max;
    set_counts(t, &one, 0);
    return rc;
}
