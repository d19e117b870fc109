/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beff/insight.h"

#include <math.h>
#include <stdio.h>

#include "base/err.h"
#include "base/par.h"
#include "base/stop.h"
#include "base/watch.h"
#include "companions/beff/traffic.h"

#define HPCC_SHORT INT64_C(8)
#define HPCC_LONG  INT64_C(2000000)
#define WINDOW_S   2.5e-3 /* a loop takes about so long */

enum {
    RATE_MOST = 1024,
    REPETITIONS = 3,
    LOOP_MOST = 300,
    SHORT_LOOP = 100,
    LONG_LOOP = 3,
    HPCC_RANDOM = 10
};

/* Slot 0 goes right, slot 1 left; what comes is put where the sender has it in its buffer. */
struct ring {
    struct beff_traffic t;
    int left, right;
    MPI_Win win;
    int64_t bytes, stride;
    MPI_Request request[4]; /* persistent */
};

static int loop_persistent(struct ring *r, int64_t loop)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < loop && rc == MPI_SUCCESS; i++) {
        rc = MPI_Startall(4, r->request);
        if (rc == MPI_SUCCESS) rc = MPI_Waitall(4, r->request, MPI_STATUSES_IGNORE);
    }
    return rc;
}

/* The neighbours of a one-dimensional topology are the left and the right one, in this order. */
static int loop_neighbourhood(struct ring *r, int64_t loop)
{
    const int n[2] = {(int)r->bytes, (int)r->bytes}, stride = (int)r->stride;
    const int send_at[2] = {stride, 0}, recv_at[2] = {0, stride};
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < loop && rc == MPI_SUCCESS; i++)
        rc = MPI_Neighbor_alltoallv(r->t.send, n, send_at, MPI_BYTE, r->t.recv, n, recv_at,
                                    MPI_BYTE, r->t.comm);
    return rc;
}

static int loop_put(struct ring *r, int64_t loop)
{
    const int n = (int)r->bytes;
    int rc = MPI_Win_fence(MPI_MODE_NOPRECEDE, r->win);
    for (int64_t i = 0; i < loop && rc == MPI_SUCCESS; i++) {
        rc = MPI_Put(r->t.send, n, MPI_BYTE, r->right, 0, n, MPI_BYTE, r->win);
        if (rc == MPI_SUCCESS)
            rc = MPI_Put(r->t.send + r->stride, n, MPI_BYTE, r->left, (MPI_Aint)r->stride, n,
                         MPI_BYTE, r->win);
        if (rc == MPI_SUCCESS) rc = MPI_Win_fence(0, r->win);
    }
    return rc;
}

static int loop_window(struct ring *r, int64_t loop)
{
    MPI_Request request[2 * BEFF_WINDOW];
    const int n = (int)r->bytes;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < loop && rc == MPI_SUCCESS; i++) {
        for (int m = 0; m < BEFF_WINDOW && rc == MPI_SUCCESS; m++) {
            rc = MPI_Irecv(r->t.recv + m * r->stride, n, MPI_BYTE, r->left, 0, r->t.comm,
                           &request[2 * m]);
            if (rc == MPI_SUCCESS)
                rc = MPI_Isend(r->t.send + m * r->stride, n, MPI_BYTE, r->right, 0, r->t.comm,
                               &request[2 * m + 1]);
        }
        if (rc == MPI_SUCCESS) rc = MPI_Waitall(2 * BEFF_WINDOW, request, MPI_STATUSES_IGNORE);
    }
    return rc;
}

static const struct {
    const char *name;
    int (*loop)(struct ring *r, int64_t loop);
} ways[BEFF_WAYS_N] = {
    [BEFF_PERSISTENT] = {"persistent", loop_persistent},
    [BEFF_NEIGHBOURHOOD] = {"neighbourhood", loop_neighbourhood},
    [BEFF_PUT] = {"put", loop_put},
};

const char *beff_way_name(int way)
{
    return ways[way].name;
}

static int interrupted(void)
{
    return err_set(ERR_INTERRUPT, "interrupted");
}

/* Seconds of one iteration: of the slowest process, in the best of the repetitions. */
static int iteration_time(struct ring *r, int (*loop)(struct ring *, int64_t), double *best_s)
{
    double first_s = 0;
    int64_t n = 2;
    *best_s = INFINITY;
    for (int rep = -1; rep < REPETITIONS; rep++) {
        const int stop = stop_requested();
        TRY_MPI(MPI_Barrier(r->t.comm));
        const double begun = watch_now();
        const int mpi_rc = loop(r, n);
        double mine[2] = {(watch_now() - begun) / (double)n, stop}, all[2];
        TRY(par_agree(r->t.comm, par_check(mpi_rc, "a pattern for insight")));
        TRY_MPI(MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, r->t.comm));
        if (all[1] > 0) return interrupted();
        if (rep >= 0) *best_s = fmin(*best_s, all[0]);
        if (rep >= 0) continue;
        first_s = all[0]; /* a look: how often fits into the window */
        n = first_s > 0 ? (int64_t)(WINDOW_S / first_s) : LOOP_MOST;
        n = n < 1 ? 1 : n > LOOP_MOST ? LOOP_MOST : n;
    }
    return 0;
}

static int one_way(struct ring *r, int way, double *bytes_per_s)
{
    const int n = (int)r->bytes;
    double s;
    beff_message_poison(r->t.recv, 0, r->bytes, r->left);
    beff_message_poison(r->t.recv, r->stride, r->bytes, r->right);
    if (way == BEFF_PERSISTENT) {
        TRY_MPI(MPI_Recv_init(r->t.recv, n, MPI_BYTE, r->left, 0, r->t.comm, &r->request[0]));
        TRY_MPI(MPI_Recv_init(r->t.recv + r->stride, n, MPI_BYTE, r->right, 1, r->t.comm,
                              &r->request[1]));
        TRY_MPI(MPI_Send_init(r->t.send, n, MPI_BYTE, r->right, 0, r->t.comm, &r->request[2]));
        TRY_MPI(MPI_Send_init(r->t.send + r->stride, n, MPI_BYTE, r->left, 1, r->t.comm,
                              &r->request[3]));
    }
    const int rc = iteration_time(r, ways[way].loop, &s);
    for (int i = 0; way == BEFF_PERSISTENT && i < 4; i++)
        MPI_Request_free(&r->request[i]);
    TRY(rc);
    /* Which of two messages between two processes is the left one, MPI left open until 4.0. */
    const bool known = way != BEFF_NEIGHBOURHOOD || r->left != r->right;
    const bool arrived = beff_message_check_ends(r->t.recv, 0, r->bytes, r->left) < 0 &&
                         beff_message_check_ends(r->t.recv, r->stride, r->bytes, r->right) < 0;
    TRY(par_agree(r->t.comm,
                  arrived || !known
                      ? 0
                      : err_set(ERR_VERIFY,
                                "a message of %lld bytes was not received as it was sent, by %s",
                                (long long)r->bytes, ways[way].name)));
    *bytes_per_s = s > 0 ? 2.0 * (double)r->bytes * r->t.n / s : NAN;
    return 0;
}

static int all_ways(struct ring *r, const int64_t *size_bytes, struct beff_insight *in)
{
    for (int i = 0; i < BEFF_SIZES_N; i++)
        for (int w = 0; w < BEFF_WAYS_N; w++) {
            in->bytes_per_s[w][i] = NAN;
            if (w == BEFF_PUT && in->no_put[0]) continue;
            r->bytes = size_bytes[i];
            r->stride = beff_message_stride(r->bytes);
            TRY(one_way(r, w, &in->bytes_per_s[w][i]));
        }
    for (int i = 0; i < BEFF_RATE_SIZES_N; i++) {
        static const int64_t bytes[BEFF_RATE_SIZES_N] = {1, 8, 64, RATE_MOST};
        double s;
        in->rate_bytes[i] = r->bytes = bytes[i];
        r->stride = beff_message_stride(r->bytes);
        TRY(iteration_time(r, loop_window, &s));
        in->messages_per_s[i] = s > 0 ? (double)BEFF_WINDOW * r->t.n / s : NAN;
    }
    return 0;
}

/* Seconds per message in one ring: the faster of two methods, best of a few repetitions. */
static int ring_time(struct beff_traffic *t, const struct beff_pattern *p, int64_t bytes, int loop,
                     double *best_s)
{
    static const int method[] = {BEFF_SENDRECV, BEFF_NONBLOCKING};
    *best_s = INFINITY;
    for (int rep = 0; rep < REPETITIONS; rep++)
        for (int m = 0; m < 2; m++) {
            const struct beff_exchange ex = {p, method[m], bytes, loop, true, false};
            double mine[2] = {0, stop_requested()}, all[2];
            TRY(par_agree(t->comm, beff_traffic_time(t, &ex, &mine[0])));
            TRY_MPI(MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, t->comm));
            if (all[1] > 0) return interrupted();
            *best_s = fmin(*best_s, all[0] / loop / 2);
        }
    return 0;
}

/* The ring of all in the order of ranks, and random ones: sixth and later patterns of the plan. */
static int as_hpcc(MPI_Comm row, const struct beff_plan *plan, int64_t bytes, int loop,
                   double *natural_s, double *random_s)
{
    struct beff_traffic t;
    double logs = 0, s;
    const int random_n = plan->random_n < HPCC_RANDOM ? plan->random_n : HPCC_RANDOM;
    int rc = beff_traffic_make(row, bytes, 2, 0, &t);
    if (rc == 0) rc = ring_time(&t, &plan->pattern[BEFF_RINGS_N - 1], bytes, loop, natural_s);
    for (int p = 0; rc == 0 && p < random_n; p++) {
        rc = ring_time(&t, &plan->pattern[BEFF_RINGS_N + p], bytes, loop, &s);
        if (rc == 0) logs += log(s);
    }
    *random_s = exp(logs / random_n);
    beff_traffic_free(&t);
    return rc;
}

/* The window of put, or the reason why there is none. Some libraries have no one-sided communication over
 * some networks: Open MPI 4.1 over TCP only with OMPI_MCA_osc=pt2pt. */
static void window_create(struct ring *r, MPI_Comm row, struct beff_insight *in)
{
    const int mpi_rc =
        MPI_Win_create(r->t.recv, (MPI_Aint)r->t.buffer_bytes, 1, MPI_INFO_NULL, row, &r->win);
    in->no_put[0] = '\0';
    if (par_agree(row, par_check(mpi_rc, "MPI_Win_create")) == 0) return;
    r->win = MPI_WIN_NULL; /* one that only some have cannot be freed */
    snprintf(in->no_put, sizeof in->no_put, "%.*s", BEFF_NO_PUT_MAX - 1, err_message());
    err_clear();
}

int beff_insight_measure(MPI_Comm row, const struct beff_plan *plan,
                         const int64_t size_bytes[BEFF_SIZES_N], struct beff_insight *in)
{
    struct ring r = {.win = MPI_WIN_NULL};
    double natural_s = NAN, random_s = NAN;
    const int64_t lmax = size_bytes[BEFF_SIZES_N - 1], window = BEFF_WINDOW * RATE_MOST / 2;
    int rc = beff_traffic_make(row, lmax > window ? lmax : window, 2, 0, &r.t);
    r.left = (r.t.rank + r.t.n - 1) % r.t.n;
    r.right = (r.t.rank + 1) % r.t.n;
    if (rc == 0) window_create(&r, row, in);
    if (rc == 0) rc = all_ways(&r, size_bytes, in);
    if (r.win != MPI_WIN_NULL) MPI_Win_free(&r.win);
    beff_traffic_free(&r.t);
    TRY(rc);
    TRY(as_hpcc(row, plan, HPCC_SHORT, SHORT_LOOP, &in->natural_latency_s, &in->random_latency_s));
    TRY(as_hpcc(row, plan, HPCC_LONG, LONG_LOOP, &natural_s, &random_s));
    in->natural_bytes_per_s = (double)HPCC_LONG / natural_s;
    in->random_bytes_per_s = (double)HPCC_LONG / random_s;
    in->done = true;
    return 0;
}
