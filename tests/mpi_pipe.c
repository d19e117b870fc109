/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pipelined line solves when messages are slow: every send waits for its receiver, as long
 * messages do on some networks, and one rank falls behind where the others can run furthest ahead
 * of it. The state must be that of one rank, and there must be an end: with ten ranks or more,
 * ranks that waited for a buffer before they looked at what had arrived waited for each other for
 * ever. */
#include <mpi.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/bt_runs.h"

/* Rank 1 sleeps after its ninth message up the chain, then takes its time with those down it. */
enum { SLOW_RANK = 1, SLEEP_AT = 9, SLEEP_US = 1000000, SLOW_SENDS = 20, SLOW_US = 30000 };
static int sent_up, sent_down;

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    const int rc = PMPI_Issend(buffer, count, type, to, tag, comm, request);
    const bool pipe = runs_rank == SLOW_RANK && tag > 2; /* tags 0 to 2 are halos */
    if (pipe && to > runs_rank && ++sent_up == SLEEP_AT) usleep(SLEEP_US);
    if (pipe && to < runs_rank && ++sent_down < SLOW_SENDS) usleep(SLOW_US);
    return rc;
}

static void same_cell(const struct bt_state *a, const int64_t at[3], void *arg)
{
    for (int m = 0; m < BT_NCOMP; m++) {
        const double x = runs_value(a, at, m), alone = runs_value(arg, at, m);
        if (memcmp(&x, &alone, sizeof x) != 0)
            runs_failed("bits with slow messages", "1d", x - alone);
    }
}

static void test_slow_rank(void **state)
{
    (void)state;
    static const char *const slabs[] = {"1d:x", "1d:y", "1d:z"};
    struct runs_case run = {.n = 50, .steps = 1, .dt = 1e-4};
    struct bt_solver *alone = runs_alone(&run);
    struct bt_state expected = bt_solver_state(alone);
    runs_failures = 0;
    for (int c = 0; c < 3; c++) {
        run.decomp = slabs[c];
        sent_up = sent_down = 0;
        struct bt_solver *s = runs_solver(MPI_COMM_WORLD, &run);
        runs_each_cell(bt_solver_state(s), same_cell, &expected);
        bt_solver_free(s);
    }
    bt_solver_free(alone);
    assert_int_equal(runs_failures, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_slow_rank)};
    runs_begin(&argc, &argv);
    return runs_end("mpi_pipe", cmocka_run_group_tests(tests, NULL, NULL));
}
