/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beff/beff_traffic.h"

#include <stdlib.h>
#include <string.h>

#include "base/par.h"
#include "base/watch.h"
#include "beff/beff_message.h"

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

/* Ends of all messages that are there; those of the last iteration from end to end. */
static int check(const struct beff_traffic *t, const struct beff_shot *shot)
{
    const struct arrivals a = arrivals_of(t, shot);
    const int64_t last = a.n - shot->pattern->slots_n;
    for (int64_t k = a.first; k < a.n; k++) {
        const int sender = sender_of(shot, k);
        const int64_t at_bytes = place_of(t, &a, k);
        if (sender == BEFF_NONE) continue;
        const int64_t byte = shot->check_all && k >= last
                                 ? beff_message_check_all(t->recv, at_bytes, shot->bytes, sender)
                                 : beff_message_check_ends(t->recv, at_bytes, shot->bytes, sender);
        if (byte >= 0) return wrong(t, shot, at_bytes, sender, byte);
    }
    return 0;
}

/* One iteration without a clock: connections are made, code and tables are in cache. */
static int warm_up(struct beff_traffic *t, const struct beff_shot *shot)
{
    struct beff_shot one = *shot;
    one.loop = 1;
    const int mpi_rc = beff_method_loop(t, &one);
    t->place += shot->pattern->slots_max;
    return par_check(mpi_rc, "warming up");
}

static int timed(struct beff_traffic *t, const struct beff_shot *shot, double *time_s)
{
    const int rc = par_check(MPI_Barrier(t->comm), "MPI_Barrier");
    const double begin_s = watch_now();
    const int mpi_rc = beff_method_loop(t, shot);
    *time_s = watch_now() - begin_s;
    const int looped = par_check(mpi_rc, beff_method_name(shot->method));
    return rc < 0 ? rc : looped;
}

int beff_traffic_shoot(struct beff_traffic *t, const struct beff_shot *shot, double *time_s)
{
    beff_method_prepare(t, shot);
    int rc = shot->warm_up ? warm_up(t, shot) : 0;
    spoil(t, shot);
    const int measured = timed(t, shot, time_s);
    if (rc == 0) rc = measured;
    const int checked = rc == 0 ? check(t, shot) : rc;
    t->place += shot->loop * shot->pattern->slots_max;
    beff_method_finish(t, shot);
    return checked;
}
