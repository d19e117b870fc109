/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workload/clock.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/json.h"
#include "base/par.h"
#include "base/watch.h"

#define ROUND_TRIPS 30
#define TAG         731

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
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &c->uncertainty_s, 1, MPI_DOUBLE, MPI_MAX, comm));
    return 0;
}

/* The marks of all ranks to those of the job. all: [rank][begun, first, last, ended] */
static int evaluate(const double *all, int n, struct workload_times *t)
{
    double begun = INFINITY, first = INFINITY, last = -INFINITY, ended = -INFINITY;
    t->ranks_n = n;
    t->first_s = malloc((size_t)n * sizeof(double));
    t->last_s = malloc((size_t)n * sizeof(double));
    if (!t->first_s || !t->last_s) return err_set(ERR_NOMEM, "no memory for the times");
    for (int r = 0; r < n; r++) {
        begun = fmin(begun, all[4 * r]);
        first = fmin(first, all[4 * r + 1]);
        last = fmax(last, all[4 * r + 2]);
        ended = fmax(ended, all[4 * r + 3]);
    }
    for (int r = 0; r < n; r++) {
        t->first_s[r] = all[4 * r + 1] - begun;
        t->last_s[r] = all[4 * r + 2] - begun;
    }
    t->s_s = first - begun;
    t->t_s = last - first;
    t->b_s = ended - last;
    return 0;
}

int workload_times_gather(MPI_Comm comm, const struct workload_clock *c,
                          const struct workload_marks *m, struct workload_times *t)
{
    int rank, size, rc = 0;
    double *all = NULL, sum[3];
    double mine[4] = {m->begun - c->offset_s, m->first - c->offset_s, m->last - c->offset_s,
                      m->ended - c->offset_s};
    TRY_MPI(MPI_Comm_rank(comm, &rank));
    TRY_MPI(MPI_Comm_size(comm, &size));
    if (rank == 0) all = malloc(4 * sizeof *all * (size_t)size);
    if (rank == 0 && !all) rc = err_set(ERR_NOMEM, "no memory for the times");
    rc = par_agree(comm, rc);
    if (rc == 0)
        rc = par_check(MPI_Gather(mine, 4, MPI_DOUBLE, all, 4, MPI_DOUBLE, 0, comm), "MPI_Gather");
    if (rc == 0 && rank == 0) rc = evaluate(all, size, t);
    free(all);
    TRY(par_agree(comm, rc));
    sum[0] = t->s_s;
    sum[1] = t->t_s;
    sum[2] = t->b_s;
    TRY_MPI(MPI_Bcast(sum, 3, MPI_DOUBLE, 0, comm));
    t->s_s = sum[0];
    t->t_s = sum[1];
    t->b_s = sum[2];
    double slowest[4] = {t->setup_s, t->cleanup_s, t->sync_s, t->think_s};
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, slowest, 4, MPI_DOUBLE, MPI_MAX, comm));
    t->setup_s = slowest[0];
    t->cleanup_s = slowest[1];
    t->sync_s = slowest[2];
    t->think_s = slowest[3];
    return 0;
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
