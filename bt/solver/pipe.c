/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Line solves along a direction that is divided among ranks, as a pipeline. Elimination runs up the
 * chain of ranks, back substitution down; batches go in groups:
 *
 *   rank 0   F0 F1 F2 B0 F3 B1 ...        F: eliminate a group with the carry from below, hand on
 *   rank 1      F0 F1 B0 F2 B1 ...        B: back-substitute with the increment from above, hand on
 *   rank 2         F0B0 F1B1 ...          the top rank does both at once
 *
 * A rank back-substitutes as soon as it can, else eliminates while fewer than `window` groups are
 * in between, else waits; either only when the buffer of what it hands on is free again, so that
 * two ranks with full buffers never wait for each other. The window bounds the stored blocks to a
 * fraction of the fields. Messages of one kind between two ranks keep their order, so a tag per
 * kind and direction is enough. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/par.h"
#include "base/watch.h"
#include "bt/solver/plan.h"
#include "bt/solver/priv.h"

enum { TAG_CARRY = 16, TAG_W = 32 };

static int end_new(struct bt_solver *s, struct bt_pipe_end *e, int peer, int64_t values)
{
    e->peer = peer;
    e->values = values;
    for (int i = 0; i < BT_PIPE_DEPTH; i++) {
        e->request[i] = MPI_REQUEST_NULL;
        if (peer < 0) continue;
        e->buffer[i] = bt_doubles(values);
        if (!e->buffer[i]) return mem_error("pipeline messages");
        if (!s->charge) memset(e->buffer[i], 0, (size_t)values * sizeof(double));
        s->memory_bytes += values * (int64_t)sizeof(double);
    }
    return 0;
}

/* The rank at place at + step along dir if it has interior cells there, else -1. */
static int chain_peer(const struct bt_solver *s, int dir, int step)
{
    const struct bt_decomp *d = &s->d;
    int at[3] = {d->at[0], d->at[1], d->at[2]};
    at[dir] += step;
    if (at[dir] < 0 || at[dir] >= d->p[dir]) return -1;
    const int64_t lo = bt_decomp_first(d->n, d->p[dir], at[dir]);
    const int64_t hi = bt_decomp_first(d->n, d->p[dir], at[dir] + 1);
    const bool interior = (lo > 1 ? lo : 1) < (hi < d->n - 1 ? hi : d->n - 1);
    return interior ? bt_decomp_rank(d, at) : -1;
}

int bt_pipe_new(struct bt_solver *s, int dir)
{
    struct bt_chain *c = &s->chain[dir];
    const int up = chain_peer(s, dir, 1), down = chain_peer(s, dir, -1);
    const int lanes = s->kernel->lanes, parts = s->d.p[dir];
    if (up < 0 && down < 0) return 0; /* alone with the interior of its lines */
    c->divided = true;
    /* The group is the same on all ranks of the chain; the window is each rank's own. */
    const int64_t batches = bt_batch_count(s, dir);
    c->group = bt_plan_group(s->problem.n, parts, batches, lanes, s->threads, s->near_bytes);
    c->groups = bt_plan_div_up(batches, c->group);
    c->window = bt_plan_window(s->problem.n, parts, s->d.at[dir], batches, lanes, c->group);
    c->store_values = c->window * c->group * s->ni[dir] * BT_STORE * lanes;
    TRY(end_new(s, &c->carry_in, down, c->group * BT_CARRY * lanes));
    TRY(end_new(s, &c->carry_out, up, c->group * BT_CARRY * lanes));
    TRY(end_new(s, &c->w_in, up, c->group * BT_NCOMP * lanes));
    return end_new(s, &c->w_out, down, c->group * BT_NCOMP * lanes);
}

int bt_pipe_store_new(struct bt_solver *s)
{
    int64_t n = 0;
    for (int dir = 0; dir < 3; dir++)
        if (s->chain[dir].store_values > n) n = s->chain[dir].store_values;
    if (n == 0) return 0;
    s->pipe_store = bt_doubles(n);
    if (!s->pipe_store) return mem_error("the pipelined line solve");
    s->memory_bytes += n * (int64_t)sizeof(double);
    return 0;
}

static void end_free(struct bt_pipe_end *e)
{
    for (int i = 0; i < BT_PIPE_DEPTH; i++)
        free(e->buffer[i]);
}

void bt_pipe_free(struct bt_chain *c)
{
    end_free(&c->carry_in);
    end_free(&c->carry_out);
    end_free(&c->w_in);
    end_free(&c->w_out);
}

static void end_clear(struct bt_pipe_end *e)
{
    for (int i = 0; i < BT_PIPE_DEPTH; i++)
        if (e->buffer[i]) memset(e->buffer[i], 0, (size_t)e->values * sizeof(double));
}

void bt_pipe_clear(struct bt_chain *c)
{
    end_clear(&c->carry_in);
    end_clear(&c->w_in);
}

/* One sweep under way. */
struct pipe {
    struct bt_solver *s;
    struct bt_chain *c;
    int dir;
    unsigned flags;
    int64_t eliminated, done; /* groups */
};

static int post_receive(struct pipe *p, struct bt_pipe_end *e, int tag, int64_t group)
{
    if (e->peer < 0 || group >= p->c->groups) return 0;
    const int i = (int)(group % BT_PIPE_DEPTH);
    return par_check(MPI_Irecv(e->buffer[i], (int)e->values, MPI_DOUBLE, e->peer, tag + p->dir,
                               p->s->comm, &e->request[i]),
                     "MPI_Irecv");
}

static int post_send(struct pipe *p, struct bt_pipe_end *e, int tag, int64_t group)
{
    if (e->peer < 0) return 0;
    const int i = (int)(group % BT_PIPE_DEPTH);
    return par_check(MPI_Isend(e->buffer[i], (int)e->values, MPI_DOUBLE, e->peer, tag + p->dir,
                               p->s->comm, &e->request[i]),
                     "MPI_Isend");
}

/* MPI_Waitall, its time counted as waiting. */
static int wait_all(struct bt_solver *s, int n, MPI_Request *request)
{
    const double start = watch_now();
    TRY_MPI(MPI_Waitall(n, request, MPI_STATUSES_IGNORE));
    s->phase_s[BT_PHASE_PIPE_WAIT] += watch_now() - start;
    return 0;
}

/* Where the vectors of a batch lie in the message of its group; NULL at the end of the chain. */
static double *in_message(const struct pipe *p, const struct bt_pipe_end *e, int64_t group,
                          int64_t batch)
{
    const int64_t size = e->values / p->c->group, at = batch - group * p->c->group;
    return e->peer < 0 ? NULL : e->buffer[group % BT_PIPE_DEPTH] + at * size;
}

static int64_t group_end(const struct pipe *p, int64_t group)
{
    const int64_t end = (group + 1) * p->c->group, batches = bt_batch_count(p->s, p->dir);
    return end < batches ? end : batches;
}

static double *store_at(const struct pipe *p, int64_t group, int64_t batch)
{
    const struct bt_chain *c = p->c;
    const int64_t slot = group % c->window * c->group + batch - group * c->group;
    return p->s->pipe_store + slot * p->s->ni[p->dir] * BT_STORE * p->s->kernel->lanes;
}

static void eliminate_batch(struct pipe *p, int64_t group, int64_t b)
{
    struct bt_solver *s = p->s;
    const double *in = in_message(p, &p->c->carry_in, group, b);
    bt_batch_forward(s, &s->scratch[omp_get_thread_num()], p->dir, p->flags, b,
                     store_at(p, group, b), in ? in : s->zero,
                     in_message(p, &p->c->carry_out, group, b));
}

static void substitute_batch(struct pipe *p, int64_t group, int64_t b)
{
    struct bt_solver *s = p->s;
    const double *in = in_message(p, &p->c->w_in, group, b);
    bt_batch_backward(s, &s->scratch[omp_get_thread_num()], p->dir, p->flags, b,
                      store_at(p, group, b), in ? in : s->zero,
                      in_message(p, &p->c->w_out, group, b));
}

/* Does the batches of a group, by a team where there is something to share: with one thread, too, a
 * parallel region takes as long as 10 cells of a batch. */
static void each_batch(struct pipe *p, int64_t group,
                       void (*work)(struct pipe *p, int64_t group, int64_t b))
{
    const int64_t first = group * p->c->group, end = group_end(p, group);
    if (p->s->threads == 1 || end - first == 1) {
        for (int64_t b = first; b < end; b++)
            work(p, group, b);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(p->s->threads)
    for (int64_t b = first; b < end; b++)
        work(p, group, b);
}

static int eliminate_group(struct pipe *p)
{
    const int64_t g = p->eliminated++;
    if (p->s->charge)
        bt_charge_forward(p->s, p->dir, group_end(p, g) - g * p->c->group);
    else
        each_batch(p, g, eliminate_batch);
    TRY(post_send(p, &p->c->carry_out, TAG_CARRY, g));
    return post_receive(p, &p->c->carry_in, TAG_CARRY, g + BT_PIPE_DEPTH);
}

static int substitute_group(struct pipe *p)
{
    const int64_t g = p->done++;
    if (p->s->charge)
        bt_charge_backward(p->s, p->dir, group_end(p, g) - g * p->c->group);
    else
        each_batch(p, g, substitute_batch);
    TRY(post_send(p, &p->c->w_out, TAG_W, g));
    return post_receive(p, &p->c->w_in, TAG_W, g + BT_PIPE_DEPTH);
}

/* Sets *ready when the message of a group is there or has left, or there is none. */
static int finished(struct bt_pipe_end *e, int64_t group, int *ready)
{
    *ready = 1;
    if (e->peer < 0) return 0;
    return par_check(MPI_Test(&e->request[group % BT_PIPE_DEPTH], ready, MPI_STATUS_IGNORE),
                     "MPI_Test");
}

/* Sets *ready when the next group can be back-substituted. */
static int may_substitute(struct pipe *p, int *ready)
{
    *ready = 0;
    if (p->done == p->eliminated) return 0;
    TRY(finished(&p->c->w_in, p->done, ready));
    return *ready ? finished(&p->c->w_out, p->done, ready) : 0;
}

/* Sets *ready when the next group can be eliminated. */
static int may_eliminate(struct pipe *p, int *ready)
{
    const struct bt_chain *c = p->c;
    *ready = 0;
    if (p->eliminated == c->groups || p->eliminated - p->done == c->window) return 0;
    TRY(finished(&p->c->carry_in, p->eliminated, ready));
    return *ready ? finished(&p->c->carry_out, p->eliminated, ready) : 0;
}

/* Adds the request of a group's message to a list, if it is still under way. */
static void hold_up(struct bt_pipe_end *e, int64_t group, MPI_Request *list[], int *n)
{
    MPI_Request *r = &e->request[group % BT_PIPE_DEPTH];
    if (e->peer >= 0 && *r != MPI_REQUEST_NULL) list[(*n)++] = r;
}

/* Waits until one of the messages has come or left that the next elimination and back substitution wait
 * for. Not by testing: in a simulation nothing happens in between. */
static int wait_either(struct pipe *p)
{
    struct bt_chain *c = p->c;
    MPI_Request *awaited[4], copy[4];
    int n = 0, which;
    const double start = watch_now();
    if (p->done < p->eliminated) {
        hold_up(&c->w_in, p->done, awaited, &n);
        hold_up(&c->w_out, p->done, awaited, &n);
    }
    if (p->eliminated < c->groups && p->eliminated - p->done < c->window) {
        hold_up(&c->carry_in, p->eliminated, awaited, &n);
        hold_up(&c->carry_out, p->eliminated, awaited, &n);
    }
    for (int i = 0; i < n; i++)
        copy[i] = *awaited[i];
    TRY_MPI(MPI_Waitany(n, copy, &which, MPI_STATUS_IGNORE));
    if (which != MPI_UNDEFINED) *awaited[which] = copy[which];
    p->s->phase_s[BT_PHASE_PIPE_WAIT] += watch_now() - start;
    return 0;
}

/* Ends the halo exchange in front of the first group that needs it, or as soon as there is nothing else to
 * do and it has come: ranks further up, which wait anyway, are then not held up by it one after the other. */
static int halo_in_time(struct pipe *p, int ready)
{
    struct bt_halo *h = &p->s->halo;
    const int n = h->recvs - h->got;
    int come = 0;
    if (!(p->flags & BT_SWEEP_RHS) || n == 0) return 0;
    if (p->eliminated < p->c->groups && group_end(p, p->eliminated) > p->s->inner)
        come = 1;
    else if (!ready)
        TRY_MPI(MPI_Testall(n, h->recv_request + h->got, &come, MPI_STATUSES_IGNORE));
    return come ? bt_exchange_end(p->s) : 0;
}

int bt_pipe_sweep(struct bt_solver *s, int dir, unsigned flags)
{
    struct pipe p = {.s = s, .c = &s->chain[dir], .dir = dir, .flags = flags};
    for (int64_t g = 0; g < BT_PIPE_DEPTH; g++) {
        TRY(post_receive(&p, &p.c->carry_in, TAG_CARRY, g));
        TRY(post_receive(&p, &p.c->w_in, TAG_W, g));
    }
    while (p.done < p.c->groups) {
        int ready;
        TRY(may_substitute(&p, &ready));
        if (ready) {
            TRY(substitute_group(&p));
            continue;
        }
        TRY(may_eliminate(&p, &ready));
        TRY(halo_in_time(&p, ready));
        TRY(ready ? eliminate_group(&p) : wait_either(&p));
    }
    TRY(wait_all(s, BT_PIPE_DEPTH, p.c->carry_out.request));
    return wait_all(s, BT_PIPE_DEPTH, p.c->w_out.request);
}
