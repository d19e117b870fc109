/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/workload/clock.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/stop.h"
#include "base/watch.h"

#define ROUND_TRIPS 30
#define TAG         731
#define NAP_S       0.05

/* Rank 0 asks for the time; the answer is taken to be of the middle of the round trip. */
static int compare_with(MPI_Comm comm, int rank, double offset_and_half[2])
{
    double best = INFINITY;
    for (int i = 0; i < ROUND_TRIPS; i++) {
        double there = 0;
        const double asked = watch_now();
        TRY_MPI(MPI_Send(&there, 1, MPI_DOUBLE, rank, TAG, comm));
        TRY_MPI(MPI_Recv(&there, 1, MPI_DOUBLE, rank, TAG, comm, MPI_STATUS_IGNORE));
        const double answered = watch_now();
        if (answered - asked >= best) continue;
        best = answered - asked;
        offset_and_half[0] = there - (asked + answered) / 2;
        offset_and_half[1] = best / 2;
    }
    return par_check(MPI_Send(offset_and_half, 2, MPI_DOUBLE, rank, TAG, comm), "MPI_Send");
}

static int answer(MPI_Comm comm, double offset_and_half[2])
{
    for (int i = 0; i < ROUND_TRIPS; i++) {
        double now;
        TRY_MPI(MPI_Recv(&now, 1, MPI_DOUBLE, 0, TAG, comm, MPI_STATUS_IGNORE));
        now = watch_now();
        TRY_MPI(MPI_Send(&now, 1, MPI_DOUBLE, 0, TAG, comm));
    }
    return par_check(MPI_Recv(offset_and_half, 2, MPI_DOUBLE, 0, TAG, comm, MPI_STATUS_IGNORE),
                     "MPI_Recv");
}

int workload_clock_compare(MPI_Comm comm, struct workload_clock *c)
{
    int rank, size;
    double mine[2] = {0, 0};
    TRY_MPI(MPI_Comm_rank(comm, &rank));
    TRY_MPI(MPI_Comm_size(comm, &size));
    if (rank > 0) TRY(answer(comm, mine));
    for (int r = 1; rank == 0 && r < size; r++) {
        double theirs[2] = {0, 0};
        TRY(compare_with(comm, r, theirs));
    }
    c->offset_s = mine[0];
    c->uncertainty_s = mine[1];
    c->compared_s = watch_now();
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &c->uncertainty_s, 1, MPI_DOUBLE, MPI_MAX, comm));
    return 0;
}

int workload_clock_keep(MPI_Comm comm, struct workload_clock *c)
{
    int due = watch_now() - c->compared_s >= WORKLOAD_CLOCK_S;
    TRY_MPI(MPI_Bcast(&due, 1, MPI_INT, 0, comm));
    return due ? workload_clock_compare(comm, c) : 0;
}

int workload_times_gather(MPI_Comm comm, const struct workload_clock *c,
                          const struct workload_marks *m, struct workload_times *t)
{
    int rank, size;
    TRY_MPI(MPI_Comm_rank(comm, &rank));
    TRY_MPI(MPI_Comm_size(comm, &size));
    /* The earliest is the negative of the largest negative. */
    double most[8] = {c->offset_s - m->begun,
                      c->offset_s - m->first,
                      m->last - c->offset_s,
                      m->ended - c->offset_s,
                      t->setup_s,
                      t->cleanup_s,
                      t->sync_s,
                      t->think_s};
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, most, 8, MPI_DOUBLE, MPI_MAX, comm));
    const double begun = -most[0], first = -most[1], last = most[2], ended = most[3];
    t->s_s = first - begun;
    t->t_s = last - first;
    t->b_s = ended - last;
    t->setup_s = most[4];
    t->cleanup_s = most[5];
    t->sync_s = most[6];
    t->think_s = most[7];

    int rc = 0;
    if (rank == 0) {
        t->ranks_n = size;
        t->first_s = mem_new(size, sizeof(double), "the times of %d processes", size);
        t->last_s = mem_new(size, sizeof(double), "the times of %d processes", size);
        if (!t->first_s || !t->last_s) rc = ERR_NOMEM;
    }
    TRY(par_agree(comm, rc));
    const double my_first = m->first - c->offset_s - begun, my_last = m->last - c->offset_s - begun;
    TRY_MPI(MPI_Gather(&my_first, 1, MPI_DOUBLE, t->first_s, 1, MPI_DOUBLE, 0, comm));
    return par_check(MPI_Gather(&my_last, 1, MPI_DOUBLE, t->last_s, 1, MPI_DOUBLE, 0, comm),
                     "MPI_Gather");
}

void workload_times_free(struct workload_times *t)
{
    free(t->first_s);
    free(t->last_s);
    t->first_s = t->last_s = NULL;
}

bool workload_times_enough(const struct workload_times *t, const struct workload_clock *c)
{
    const double all_s = workload_times_aggregate(t);
    return t->b_s <= WORKLOAD_B_SHARE * all_s && all_s >= WORKLOAD_TIME_S &&
           all_s >= WORKLOAD_UNCERTAINTIES * c->uncertainty_s;
}

double workload_think(double s, bool busy)
{
    const double begun = watch_now();
    double now;
    /* Signals go to another thread (stop_watch_begin) and end no nap. */
    while ((now = watch_now()) - begun < s && !stop_requested()) {
        const double left = fmin(s - (now - begun), NAP_S);
        const struct timespec nap = {.tv_nsec = (long)(left * 1e9)};
        if (!busy) nanosleep(&nap, NULL);
    }
    return now - begun;
}

static json_t *list(const double *x, int n)
{
    json_t *out = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(out, js_real(x[i]));
    return out;
}

json_t *workload_times_json(const struct workload_times *t)
{
    const double all_s = workload_times_aggregate(t);
    return json_pack("{so so so so so so so so so so so}", "setup_s", js_real(t->setup_s), "s_s",
                     js_real(t->s_s), "t_s", js_real(t->t_s), "b_s", js_real(t->b_s), "aggregate_s",
                     js_real(all_s), "b_share", js_real(all_s > 0 ? t->b_s / all_s : 0),
                     "cleanup_s", js_real(t->cleanup_s), "sync_s", js_real(t->sync_s), "think_s",
                     js_real(t->think_s), "first_s", list(t->first_s, t->ranks_n), "last_s",
                     list(t->last_s, t->ranks_n));
}
