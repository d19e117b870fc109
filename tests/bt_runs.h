/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_BT_RUNS_H
#define TESTS_BT_RUNS_H
/* Runs of the solver for tests under mpirun. Checks are counted, and a test asserts only at its end
 * that there were no failures: an assertion in the middle would leave the other ranks in a
 * collective call. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "bt/solver/parts.h"

extern int runs_rank, runs_size; /* in MPI_COMM_WORLD, set by runs_begin */
extern int runs_failures;        /* of the present test on this rank; a test clears it first */

/* Starts MPI; a first argument selects tests by name, with * and ?. */
void runs_begin(int *argc, char ***argv);

/* Prints one line for all ranks, ends MPI. Returns the exit status, non-zero on every rank when a
 * test failed on any. Collective. */
int runs_end(const char *program, int failed_tests);

/* Counts a failure and says, for the first few, what was off where and by how much. Local. */
void runs_failed(const char *what, const char *where, double deviation);

/* Ends the run of all ranks when rc is an error code. Local. */
void runs_must(int rc, const char *what);

/* Checks five numbers by their largest relative deviation. Local. */
void runs_check_five(const char *what, const char *where, const double x[BT_NCOMP],
                     const double ref[BT_NCOMP], double tolerance);

struct runs_case {
    int64_t n, steps;
    double dt;
    const char *decomp, *isa; /* isa NULL: automatic */
    int threads;              /* 0: one */
};

/* A solver in its initial state; after all its steps; after its steps on this rank alone with one
 * thread. To be freed by bt_solver_free. Collective over comm. */
struct bt_solver *runs_new(MPI_Comm comm, const struct runs_case *run);
struct bt_solver *runs_solver(MPI_Comm comm, const struct runs_case *run);
struct bt_solver *runs_alone(const struct runs_case *run);

void runs_advance(struct bt_solver *s, int64_t steps);

/* Component m at a global point that the array has; whether it has it. Local. */
double runs_value(const struct bt_state *a, const int64_t at[3], int m);
bool runs_owns(const struct bt_state *a, const int64_t at[3]);

/* R of a solver on which the first sweeps, 0 to 3 of them, were run by themselves, as conservative
 * increments. [out] x: to be freed by the caller as x->u. Local. */
void runs_increments(const struct bt_solver *s, const struct runs_case *run, int sweeps,
                     struct bt_state *x);

/* Calls fn at every cell of the array. Local. */
typedef void runs_cell_fn(const struct bt_state *a, const int64_t at[3], void *arg);
void runs_each_cell(struct bt_state a, runs_cell_fn *fn, void *arg);

/* Calls fn with every PXxPYxPZ of the rank count that leaves every rank a cell. */
typedef void runs_case_fn(const struct runs_case *run, void *arg);
void runs_each_decomp(const struct runs_case *run, runs_case_fn *fn, void *arg);

#endif
