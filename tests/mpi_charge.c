/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Computing that is charged (bt/solver/charge.h), without SimGrid: the functions of base/simulation.h are
 * here, with a clock that goes on by a millisecond whenever it is read, and a sum of what was charged. */
#include <float.h>
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/err.h"
#include "base/simulation.h"
#include "bt/solver/priv.h"
#include "tests/bt_runs.h"

static int64_t readings;
static double charged_s;

bool simulation(void)
{
    return true;
}

void simulation_compute(double seconds)
{
    charged_s += seconds;
}

double simulation_wall_now(void)
{
    return 1e-3 * (double)++readings;
}

double simulation_cpu_now(void)
{
    return simulation_wall_now();
}

int simulation_cores(void)
{
    return 1;
}

const char *simulation_platform(void)
{
    return "a test";
}

bool simulation_measures(void)
{
    return false;
}

static char table[64], lock[80];

/* A name for the table that all ranks have; there is no file. */
static void no_table(void)
{
    if (runs_rank == 0) {
        strcpy(table, "/tmp/nht1-charge-XXXXXX");
        const int fd = mkstemp(table);
        runs_must(fd < 0 ? ERR_IO : 0, "mkstemp");
        close(fd);
        unlink(table);
    }
    MPI_Bcast(table, sizeof table, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(lock, sizeof lock, "%s.lock", table);
}

static void remove_table(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (runs_rank != 0) return;
    unlink(table);
    unlink(lock);
}

static int charged(int threads, struct bt_solver **s)
{
    const struct bt_problem p = {.cls = 'U', .n = 20, .steps = 2, .dt = 1e-3, .interval = 5};
    struct bt_decomp d;
    omp_set_num_threads(threads);
    runs_must(bt_decomp_make("3d", p.n, runs_size, runs_rank, &d), "bt_decomp_make");
    return bt_solver_new_charged(s, MPI_COMM_WORLD, &p, &d, NULL, table);
}

static void check(bool right, const char *what)
{
    if (!right) runs_failed(what, "charged", NAN);
}

/* On rank 0, of others 0. */
static size_t entries_n(void)
{
    if (runs_rank != 0) return 0;
    json_t *root = json_load_file(table, 0, NULL);
    const size_t n = json_array_size(json_object_get(root, "entries"));
    json_decref(root);
    return n;
}

static void each_shape_is_measured_once_and_kept(void **state)
{
    (void)state;
    struct bt_solver *s;
    runs_failures = 0;
    no_table();
    runs_must(charged(1, &s), "a solver that charges");
    const struct bt_charge first = *s->charge;
    bt_solver_free(s);
    for (int dir = 0; dir < 3; dir++)
        check(first.forward_s[dir] > 0 && first.backward_s[dir] > 0, "time of a batch");
    check(first.pack_s > 0 && first.unpack_s > 0, "time of packing");
    const size_t shapes = entries_n();
    check(runs_rank != 0 || (shapes >= 1 && shapes <= (size_t)runs_size), "entries");

    /* What was measured is 17 digits long and comes back as it was; nothing is measured again. */
    readings = 0;
    runs_must(charged(1, &s), "a solver that charges by the table");
    check(memcmp(s->charge, &first, sizeof first) == 0, "the table's times");
    check(readings == 0, "measured again");
    check(entries_n() == shapes, "entries after the second time");
    bt_solver_free(s);
    remove_table();
    assert_int_equal(runs_failures, 0);
}

static void every_step_lets_the_same_time_pass(void **state)
{
    (void)state;
    struct bt_solver *s;
    double step_s[2];
    runs_failures = 0;
    no_table();
    runs_must(charged(1, &s), "a solver that charges");
    bt_solver_reset(s);
    for (int i = 0; i < 2; i++) {
        charged_s = 0;
        runs_advance(s, 1);
        step_s[i] = charged_s;
    }
    check(step_s[0] > 0 && fabs(step_s[1] - step_s[0]) < 1e-9 * step_s[0], "time of a step");
    if (runs_size == 1) {
        double right_s = 0;
        for (int dir = 0; dir < 3; dir++)
            right_s += (double)bt_batch_count(s, dir) *
                       (s->charge->forward_s[dir] + s->charge->backward_s[dir]);
        check(fabs(step_s[0] - right_s) < 1e-9 * right_s, "time of all batches");
    }
    bt_solver_free(s);
    remove_table();
    assert_int_equal(runs_failures, 0);
}

/* No solver is made with so many threads; the message has these words. Ends the test. */
static void is_refused(int threads, const char *words)
{
    struct bt_solver *s;
    check(charged(threads, &s) == ERR_USAGE && s == NULL, words);
    check(strstr(err_message(), words) != NULL, "its message");
    err_clear();
    remove_table();
    assert_int_equal(runs_failures, 0);
}

static void a_file_that_is_no_table_is_refused_by_all_ranks(void **state)
{
    (void)state;
    runs_failures = 0;
    no_table();
    if (runs_rank == 0) {
        FILE *f = fopen(table, "w");
        runs_must(f ? 0 : ERR_IO, "fopen");
        fputs("[]", f);
        fclose(f);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    is_refused(1, "times of computing");
}

static void threads_are_refused(void **state)
{
    (void)state;
    runs_failures = 0;
    no_table();
    is_refused(2, "OMP_NUM_THREADS=1, not 2");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_shape_is_measured_once_and_kept),
        cmocka_unit_test(every_step_lets_the_same_time_pass),
        cmocka_unit_test(a_file_that_is_no_table_is_refused_by_all_ranks),
        cmocka_unit_test(threads_are_refused),
    };
    runs_begin(&argc, &argv);
    return runs_end("mpi_charge", cmocka_run_group_tests(tests, NULL, NULL));
}
