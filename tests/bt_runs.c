/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/bt_runs.h"

#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/err.h"
#include "tests/oracle.h"

enum { MESSAGES_MAX = 10 };

int runs_rank, runs_size, runs_failures;

void runs_begin(int *argc, char ***argv)
{
    int provided;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &runs_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &runs_size);
    if (*argc > 1) cmocka_set_test_filter((*argv)[1]);
}

int runs_end(const char *program, int failed_tests)
{
    MPI_Allreduce(MPI_IN_PLACE, &failed_tests, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (runs_rank == 0)
        fprintf(stderr, "%s on %d ranks: %s\n", program, runs_size,
                failed_tests == 0 ? "passed on every rank" : "FAILED on some rank");
    MPI_Finalize();
    return failed_tests != 0;
}

void runs_failed(const char *what, const char *where, double deviation)
{
    runs_failures++;
    if (runs_failures <= MESSAGES_MAX)
        print_message("# rank %d: %s, %s: off by %.3g\n", runs_rank, what, where, deviation);
}

void runs_must(int rc, const char *what)
{
    if (rc >= 0) return;
    fprintf(stderr, "rank %d: %s failed: %s\n", runs_rank, what, err_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

void runs_check_five(const char *what, const char *where, const double x[BT_NCOMP],
                     const double ref[BT_NCOMP], double tolerance)
{
    double deviation = bt_reference_deviation(x, ref);
    if (!(deviation <= tolerance)) runs_failed(what, where, deviation);
}

struct bt_solver *runs_new(MPI_Comm comm, const struct runs_case *run)
{
    struct bt_problem p = {
        .cls = 'U', .n = run->n, .steps = run->steps, .dt = run->dt, .interval = 5};
    struct bt_decomp d;
    struct bt_solver *s;
    int size, rank;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    omp_set_num_threads(run->threads > 0 ? run->threads : 1);
    runs_must(bt_decomp_make(run->decomp, p.n, size, rank, &d), "bt_decomp_make");
    runs_must(bt_solver_new(&s, comm, &p, &d, run->isa), "bt_solver_new");
    bt_solver_reset(s);
    return s;
}

void runs_advance(struct bt_solver *s, int64_t steps)
{
    for (int64_t step = 0; step < steps; step++)
        runs_must(bt_solver_step(s), "bt_solver_step");
}

struct bt_solver *runs_solver(MPI_Comm comm, const struct runs_case *run)
{
    struct bt_solver *s = runs_new(comm, run);
    runs_advance(s, run->steps);
    return s;
}

struct bt_solver *runs_alone(const struct runs_case *run)
{
    struct runs_case alone = {.n = run->n, .steps = run->steps, .dt = run->dt, .decomp = "1x1x1"};
    return runs_solver(MPI_COMM_SELF, &alone);
}

double runs_value(const struct bt_state *a, const int64_t at[3], int m)
{
    return a->u[(at[2] - a->lo[2]) * a->sk + (at[1] - a->lo[1]) * a->sj + m * a->sm +
                (at[0] - a->lo[0])];
}

bool runs_owns(const struct bt_state *a, const int64_t at[3])
{
    for (int q = 0; q < 3; q++)
        if (at[q] < a->lo[q] || at[q] >= a->lo[q] + a->n[q]) return false;
    return true;
}

void runs_each_cell(struct bt_state a, runs_cell_fn *fn, void *arg)
{
    int64_t at[3];
    for (at[2] = a.lo[2]; at[2] < a.lo[2] + a.n[2]; at[2]++)
        for (at[1] = a.lo[1]; at[1] < a.lo[1] + a.n[1]; at[1]++)
            for (at[0] = a.lo[0]; at[0] < a.lo[0] + a.n[0]; at[0]++)
                fn(&a, at, arg);
}

struct increments {
    struct bt_state state;
    int sweeps;
    double scale; /* of R: its unit */
    double *to;
};

static void put_increment(const struct bt_state *r, const int64_t at[3], void *arg)
{
    const struct increments *c = arg;
    const int64_t cell = (at[2] - r->lo[2]) * r->sk + (at[1] - r->lo[1]) * r->sj + at[0] - r->lo[0];
    double u[BT_NCOMP], w[BT_NCOMP], x[BT_NCOMP];
    for (int m = 0; m < BT_NCOMP; m++) {
        u[m] = runs_value(&c->state, at, m);
        x[m] = w[m] = c->scale * runs_value(r, at, m);
    }
    if (c->sweeps == 1 || c->sweeps == 2) oracle_increment(u, w, x);
    for (int m = 0; m < BT_NCOMP; m++)
        c->to[cell + m * r->sm] = x[m];
}

void runs_increments(const struct bt_solver *s, const struct runs_case *run, int sweeps,
                     struct bt_state *x)
{
    const double t2 = 0.5 * run->dt * (double)(run->n - 1);
    struct increments c = {.state = bt_solver_state(s), .sweeps = sweeps};
    *x = bt_solver_rhs_state(s);
    c.scale = sweeps == 1 ? t2 * t2 : sweeps == 2 ? t2 : 1.0;
    c.to = malloc((size_t)(x->n[2] * x->sk + 1) * sizeof *c.to);
    assert_non_null(c.to);
    runs_each_cell(*x, put_increment, &c);
    x->u = c.to;
}

void runs_each_decomp(const struct runs_case *run, runs_case_fn *fn, void *arg)
{
    char text[40];
    struct runs_case one = *run;
    one.decomp = text;
    for (int px = 1; px <= runs_size; px++)
        for (int py = 1; runs_size % px == 0 && py <= runs_size / px; py++) {
            int pz = runs_size / px / py;
            if (px * py * pz != runs_size || px > run->n || py > run->n || pz > run->n) continue;
            snprintf(text, sizeof text, "%dx%dx%d", px, py, pz);
            fn(&one, arg);
        }
}
