/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parallel solver against the oracle and, bit by bit, against itself on one rank with one
 * thread: every rank makes the one-rank result for itself on MPI_COMM_SELF. */
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"
#include "bt/dump.h"
#include "base/err.h"
#include "tests/bt_runs.h"
#include "tests/oracle.h"

enum { NC = BT_NCOMP };

/* Relative tolerance of cells against the oracle. */
#define CELL_CLOSE 1e-11

/* What a run's cells are held against. */
struct compare {
    const char *what;
    const struct runs_case *run;
    struct bt_state bits;       /* equal to the last bit, or bits.u NULL */
    const struct oracle *dense; /* close, or NULL */
    double *array;              /* of the oracle */
    double scale;               /* of the oracle's values to the solver's */
    int wrong;
};

static void report_cell(struct compare *c, const int64_t at[3], int m, double x, double ref)
{
    char where[160];
    if (c->wrong++ > 0) return;
    snprintf(where, sizeof where, "N = %d, %s, m = %d at (%d,%d,%d): %.17g, not %.17g",
             (int)c->run->n, c->run->decomp, m, (int)at[0], (int)at[1], (int)at[2], x, ref);
    runs_failed(c->what, where, fabs(x - ref));
}

static void compare_cell(const struct bt_state *a, const int64_t at[3], void *arg)
{
    struct compare *c = arg;
    for (int m = 0; m < NC; m++) {
        double x = runs_value(a, at, m), ref;
        if (c->bits.u != NULL) {
            ref = runs_value(&c->bits, at, m);
            if (memcmp(&x, &ref, sizeof x) != 0) report_cell(c, at, m, x, ref);
        }
        if (c->dense != NULL) {
            ref = oracle_at(c->dense, c->array, (int)at[0], (int)at[1], (int)at[2])[m] * c->scale;
            if (!(fabs(x - ref) <= CELL_CLOSE * fmax(fabs(ref), 1.0)))
                report_cell(c, at, m, x, ref);
        }
    }
}

static void check_bits(const char *what, const struct runs_case *run, const struct bt_solver *s,
                       const struct bt_solver *alone)
{
    struct compare c = {.what = what, .run = run, .bits = bt_solver_state(alone)};
    runs_each_cell(bt_solver_state(s), compare_cell, &c);
}

/* Holds an array of the solver against one of the oracle. */
static void check_dense(const char *what, const struct runs_case *run, struct bt_state x,
                        const struct oracle *o, double *array)
{
    struct compare c = {.what = what, .run = run, .dense = o, .array = array, .scale = 1.0};
    if (array == o->h) c.scale = run->dt;
    runs_each_cell(x, compare_cell, &c);
}

static void check_norm_bits(const struct runs_case *run, struct bt_solver *s,
                            struct bt_solver *alone)
{
    double x[4][NC];
    runs_must(bt_solver_error_norms(s, x[0]), "bt_solver_error_norms");
    runs_must(bt_solver_error_norms(alone, x[1]), "bt_solver_error_norms");
    runs_must(bt_solver_residual_norms(s, x[2]), "bt_solver_residual_norms");
    runs_must(bt_solver_residual_norms(alone, x[3]), "bt_solver_residual_norms");
    if (memcmp(x[0], x[1], sizeof x[0]) != 0)
        runs_failed("bits of the error norms", run->decomp, fabs(x[0][0] - x[1][0]));
    if (memcmp(x[2], x[3], sizeof x[0]) != 0)
        runs_failed("bits of the residual norms", run->decomp, fabs(x[2][0] - x[3][0]));
}

static void digest(const struct bt_solver *s, int64_t n, uint64_t *w)
{
    const struct bt_state x = bt_solver_state(s);
    struct bt_dump d;
    assert_int_equal(bt_dump_new(&d, n), 0);
    bt_dump_take(&d, &x, NULL, NULL);
    memcpy(w, d.digest, (size_t)digest_words(n) * sizeof *w);
    bt_dump_free(&d);
}

static void check_digest(const struct runs_case *run, const struct bt_solver *s,
                         const struct bt_solver *alone)
{
    int words = (int)digest_words(run->n);
    uint64_t *w = calloc(2 * (size_t)words, sizeof *w);
    assert_non_null(w);
    digest(s, run->n, w);
    digest(alone, run->n, w + words);
    MPI_Allreduce(MPI_IN_PLACE, w, words, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (memcmp(w, w + words, (size_t)words * sizeof *w) != 0)
        runs_failed("digest", run->decomp, 0.0);
    free(w);
}

/* Rank 0 works the oracle and tells the others: it is slow, and the ranks share a few cores. */
static void told_by_0(struct oracle *o, double *array)
{
    MPI_Bcast(array, NC * o->n * o->n * o->n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

/* One-rank result and oracle after the steps of a run. */
struct expected {
    struct bt_solver *alone;
    struct oracle dense;
};

static void expect(struct expected *e, const struct runs_case *run)
{
    e->alone = runs_alone(run);
    oracle_new(&e->dense, (int)run->n, run->dt);
    for (int64_t step = 0; runs_rank == 0 && step < run->steps; step++)
        oracle_step(&e->dense);
    told_by_0(&e->dense, e->dense.u);
}

static void expect_free(struct expected *e)
{
    bt_solver_free(e->alone);
    oracle_free(&e->dense);
}

static void check_run(const struct runs_case *run, void *arg)
{
    struct expected *e = arg;
    struct bt_solver *s = runs_solver(MPI_COMM_WORLD, run);
    check_bits("bits of one rank", run, s, e->alone);
    check_dense("oracle", run, bt_solver_state(s), &e->dense, e->dense.u);
    check_digest(run, s, e->alone);
    check_norm_bits(run, s, e->alone);
    bt_solver_free(s);
}

static void test_every_decomposition(void **state)
{
    (void)state;
    static const int64_t sizes[] = {6, 7, 9, 13, 17};
    runs_failures = 0;
    for (size_t c = 0; c < sizeof sizes / sizeof sizes[0]; c++) {
        struct runs_case run = {.n = sizes[c], .steps = 3, .dt = 2e-3};
        struct expected e;
        expect(&e, &run);
        runs_each_decomp(&run, check_run, &e);
        expect_free(&e);
    }
    assert_int_equal(runs_failures, 0);
}

/* N equal to the rank count, one plane per rank; below six ranks the thinnest grid there is. */
static void test_thin_slabs(void **state)
{
    (void)state;
    static const char *const slabs[] = {"1d:x", "1d:y", "1d:z"};
    struct runs_case run = {
        .n = runs_size < BT_N_MIN ? BT_N_MIN : runs_size, .steps = 3, .dt = 2e-3};
    struct expected e;
    runs_failures = 0;
    expect(&e, &run);
    for (int c = 0; c < 3; c++) {
        run.decomp = slabs[c];
        check_run(&run, &e);
    }
    expect_free(&e);
    assert_int_equal(runs_failures, 0);
}

static void test_n_33(void **state)
{
    (void)state;
    static const char *const decomps[] = {"1d:x", "1d:y", "1d:z", "3d", "auto"};
    struct runs_case run = {.n = 33, .steps = 2, .dt = 1e-3};
    struct expected e;
    runs_failures = 0;
    expect(&e, &run);
    for (size_t c = 0; c < sizeof decomps / sizeof decomps[0]; c++) {
        run.decomp = decomps[c];
        check_run(&run, &e);
    }
    expect_free(&e);
    assert_int_equal(runs_failures, 0);
}

/* Without the oracle, which is slow: bits, digest and norms at 1 to threads threads. */
static void check_threads(struct runs_case run, int threads)
{
    static const char *const decomps[] = {"1d:x", "1d:y", "1d:z", "3d"};
    struct bt_solver *alone = runs_alone(&run);
    for (size_t c = 0; c < sizeof decomps / sizeof decomps[0]; c++)
        for (run.threads = 1; run.threads <= threads; run.threads++) {
            run.decomp = decomps[c];
            struct bt_solver *s = runs_solver(MPI_COMM_WORLD, &run);
            check_bits("bits with threads", &run, s, alone);
            check_digest(&run, s, alone);
            check_norm_bits(&run, s, alone);
            bt_solver_free(s);
        }
    bt_solver_free(alone);
}

static void test_threads(void **state)
{
    (void)state;
    runs_failures = 0;
    check_threads((struct runs_case){.n = 13, .steps = 2, .dt = 2e-3}, 3);
    assert_int_equal(runs_failures, 0);
}

/* Large enough for messages that carry several batches of lines, the last of them not full. */
static void test_n_61(void **state)
{
    (void)state;
    runs_failures = 0;
    check_threads((struct runs_case){.n = 61, .steps = 2, .dt = 5e-4}, 2);
    assert_int_equal(runs_failures, 0);
}

/* True when this machine can run an instruction set of the binary. */
static bool isa_works(const char *isa)
{
    struct bt_problem p = {.cls = 'U', .n = BT_N_MIN, .steps = 1, .dt = 1e-3, .interval = 1};
    struct bt_decomp d;
    struct bt_solver *s;
    runs_must(bt_decomp_make("auto", p.n, 1, 0, &d), "bt_decomp_make");
    int rc = bt_solver_new(&s, MPI_COMM_SELF, &p, &d, isa);
    if (rc >= 0) bt_solver_free(s);
    err_clear();
    return rc >= 0;
}

static void check_isa(const char *isa, struct bt_solver *alone)
{
    struct runs_case run = {.n = 21, .steps = 3, .dt = 1e-3, .decomp = "auto", .isa = isa};
    int works = isa_works(isa);
    MPI_Allreduce(MPI_IN_PLACE, &works, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!works) {
        print_message("# %s: not on this machine\n", isa);
        return;
    }
    struct bt_solver *s = runs_solver(MPI_COMM_WORLD, &run);
    if (strcmp(bt_solver_isa(s), isa) != 0) runs_failed("name of the instruction set", isa, 0.0);
    run.decomp = isa;
    check_bits("bits of another instruction set", &run, s, alone);
    check_norm_bits(&run, s, alone);
    bt_solver_free(s);
}

static void test_instruction_sets(void **state)
{
    (void)state;
    struct runs_case run = {.n = 21, .steps = 3, .dt = 1e-3};
    struct bt_solver *alone = runs_alone(&run), *none;
    struct bt_problem p = {.cls = 'U', .n = 6, .steps = 1, .dt = 1e-3, .interval = 1};
    struct bt_decomp d;
    char isas[200], *rest = isas;
    runs_failures = 0;
    snprintf(isas, sizeof isas, "%s", bt_solver_isas());
    for (char *isa = strtok_r(isas, " ", &rest); isa != NULL; isa = strtok_r(NULL, " ", &rest))
        check_isa(isa, alone);
    bt_solver_free(alone);
    runs_must(bt_decomp_make("auto", p.n, 1, 0, &d), "bt_decomp_make");
    if (bt_solver_new(&none, MPI_COMM_SELF, &p, &d, "sse9") != ERR_USAGE)
        runs_failed("unknown instruction set", "sse9", 0.0);
    err_clear();
    assert_int_equal(runs_failures, 0);
}

/* One step in parts, every cell of R held against the oracle after each. */
static void check_parts(const struct runs_case *run, void *arg)
{
    static const char *const name[3] = {"R after xi", "R after eta", "R after zeta"};
    struct bt_solver *alone = arg, *s = runs_new(MPI_COMM_WORLD, run);
    struct oracle o;
    struct bt_state x;
    oracle_new(&o, (int)run->n, run->dt);
    check_dense("dt H", run, bt_solver_forcing(s), &o, o.h);
    check_dense("initial condition", run, bt_solver_state(s), &o, o.u);
    if (runs_rank == 0) oracle_rhs(&o);
    told_by_0(&o, o.r);
    runs_must(bt_solver_rhs(s), "bt_solver_rhs");
    check_dense("R", run, bt_solver_rhs_state(s), &o, o.r);
    for (int dir = 0; dir < 3; dir++) {
        if (runs_rank == 0) oracle_sweep(&o, dir);
        told_by_0(&o, o.r);
        runs_must(bt_solver_sweep(s, dir), "bt_solver_sweep");
        runs_increments(s, run, dir + 1, &x);
        check_dense(name[dir], run, x, &o, o.r);
        free((double *)x.u);
    }
    bt_solver_add(s);
    check_bits("bits of a step in parts", run, s, alone);
    bt_solver_free(s);
    oracle_free(&o);
}

static void test_parts_make_a_step(void **state)
{
    (void)state;
    static const int64_t sizes[] = {6, 10, 15};
    runs_failures = 0;
    for (size_t c = 0; c < sizeof sizes / sizeof sizes[0]; c++) {
        struct runs_case run = {.n = sizes[c], .steps = 1, .dt = 2e-3};
        struct bt_solver *alone = runs_alone(&run);
        runs_each_decomp(&run, check_parts, alone);
        bt_solver_free(alone);
    }
    assert_int_equal(runs_failures, 0);
}

/* 160 bytes per cell, with one more layer of cells for what grows with the surface of a block. */
static void test_memory(void **state)
{
    (void)state;
    struct runs_case run = {.n = 102, .steps = 0, .dt = 3e-4, .decomp = "3d"};
    struct bt_solver *s = runs_new(MPI_COMM_WORLD, &run);
    const struct bt_state x = bt_solver_state(s);
    const int64_t cells = (x.n[0] + 2) * (x.n[1] + 2) * (x.n[2] + 2);
    const int64_t excess = bt_solver_memory_bytes(s) - 160 * cells;
    runs_failures = 0;
    if (excess > 0) runs_failed("bytes above 160 per cell", run.decomp, (double)excess);
    bt_solver_free(s);
    assert_int_equal(runs_failures, 0);
}

/* Steps after which the state is taken over, and from one rank into any decomposition. */
struct halfway {
    struct bt_solver *middle, *end; /* of one rank alone */
};

static void take_over(struct bt_solver *s, const struct bt_state *from)
{
    struct bt_state x;
    double *u = bt_solver_state_edit(s, &x);
    for (int64_t k = 0; k < x.n[2]; k++)
        for (int64_t j = 0; j < x.n[1]; j++)
            for (int64_t i = 0; i < x.n[0]; i++)
                for (int m = 0; m < NC; m++) {
                    const int64_t at[3] = {x.lo[0] + i, x.lo[1] + j, x.lo[2] + k};
                    u[k * x.sk + j * x.sj + m * x.sm + i] = runs_value(from, at, m);
                }
}

static void check_taken_over(const struct runs_case *run, void *arg)
{
    const struct halfway *h = arg;
    const struct bt_state from = bt_solver_state(h->middle);
    struct bt_solver *s = runs_new(MPI_COMM_WORLD, run);
    runs_advance(s, 1); // whatever was there before does not matter
    take_over(s, &from);
    check_bits("state taken over", run, s, h->middle);
    runs_advance(s, run->steps);
    check_bits("steps after a state was taken over", run, s, h->end);
    bt_solver_free(s);
}

static void test_state_taken_over(void **state)
{
    (void)state;
    static const int64_t sizes[] = {6, 13};
    runs_failures = 0;
    for (size_t c = 0; c < sizeof sizes / sizeof sizes[0]; c++) {
        struct runs_case run = {.n = sizes[c], .steps = 2, .dt = 2e-3};
        struct halfway h = {runs_alone(&run), NULL};
        run.steps = 5;
        h.end = runs_alone(&run);
        run.steps = 3;
        runs_each_decomp(&run, check_taken_over, &h);
        bt_solver_free(h.middle);
        bt_solver_free(h.end);
    }
    assert_int_equal(runs_failures, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_decomposition),
        cmocka_unit_test(test_parts_make_a_step),
        cmocka_unit_test(test_thin_slabs),
        cmocka_unit_test(test_state_taken_over),
        cmocka_unit_test(test_n_33),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_n_61),
        cmocka_unit_test(test_instruction_sets),
        cmocka_unit_test(test_memory),
    };
    runs_begin(&argc, &argv);
    return runs_end("mpi_bt", cmocka_run_group_tests(tests, NULL, NULL));
}
