/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The measurement of b_eff at any number of ranks. MPI's profiling interface stands between program
 * and library: it counts what is really sent, and can spoil what arrives. */
#include <math.h>
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/par.h"
#include "base/stamp.h"
#include "base/stop.h"
#include "companions/beff/job.h"
#include "companions/beff/traffic.h"

static int rank, size;

/* What the interface does. */
static struct {
    int64_t messages, bytes; /* sent by this rank */
    int countdown;           /* the how manyth arrival is spoilt, 0: none */
    int64_t at;              /* which byte of it */
    void *recv[2 * BEFF_SLOTS_MAX + 2 * BEFF_WINDOW];
    int recv_n;
} tap;

static void sent(int bytes)
{
    tap.messages += bytes > 0;
    tap.bytes += bytes;
}

static void arrived(void *buffer)
{
    if (tap.countdown > 0 && --tap.countdown == 0) ((unsigned char *)buffer)[tap.at] ^= 1;
}

int MPI_Sendrecv(const void *sb, int sn, MPI_Datatype st, int to, int stag, void *rb, int rn,
                 MPI_Datatype rt, int from, int rtag, MPI_Comm comm, MPI_Status *status)
{
    const int rc = PMPI_Sendrecv(sb, sn, st, to, stag, rb, rn, rt, from, rtag, comm, status);
    sent(sn);
    arrived(rb);
    return rc;
}

int MPI_Send(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm comm)
{
    sent(n);
    return PMPI_Send(b, n, t, to, tag, comm);
}

int MPI_Isend(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm comm, MPI_Request *r)
{
    sent(n);
    return PMPI_Isend(b, n, t, to, tag, comm, r);
}

int MPI_Irecv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm comm, MPI_Request *r)
{
    tap.recv[tap.recv_n++] = b;
    return PMPI_Irecv(b, n, t, from, tag, comm, r);
}

int MPI_Waitall(int n, MPI_Request *r, MPI_Status *s)
{
    const int rc = PMPI_Waitall(n, r, s);
    for (int i = 0; i < tap.recv_n; i++)
        arrived(tap.recv[i]);
    tap.recv_n = 0;
    return rc;
}

int MPI_Alltoallv(const void *sb, const int *sn, const int *sat, MPI_Datatype st, void *rb,
                  const int *rn, const int *rat, MPI_Datatype rt, MPI_Comm comm)
{
    const int rc = PMPI_Alltoallv(sb, sn, sat, st, rb, rn, rat, rt, comm);
    for (int i = 0; i < size; i++) {
        sent(sn[i]);
        if (rn[i] > 0) arrived((unsigned char *)rb + rat[i]);
    }
    return rc;
}

/* Some libraries number a row to suit the network. */
static bool reversed;

int MPI_Cart_create(MPI_Comm comm, int n, const int *dims, const int *periods, int reorder,
                    MPI_Comm *cart)
{
    MPI_Comm other;
    int mine;
    if (!reversed) return PMPI_Cart_create(comm, n, dims, periods, reorder, cart);
    MPI_Comm_rank(comm, &mine);
    MPI_Comm_split(comm, 0, -mine, &other);
    const int rc = PMPI_Cart_create(other, n, dims, periods, 0, cart);
    MPI_Comm_free(&other);
    return rc;
}

/* Some libraries have no windows over some networks. */
static bool windowless, interrupting;

int MPI_Win_create(void *base, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    if (interrupting && rank == size - 1) raise(SIGTERM);
    return windowless ? MPI_ERR_WIN : PMPI_Win_create(base, bytes, unit, info, comm, win);
}

static int clear(void **state)
{
    (void)state;
    err_clear();
    memset(&tap, 0, sizeof tap);
    return 0;
}

static struct beff_topology topology;
static struct beff_plan plan;

static void plan_with(enum beff_definition definition)
{
    int mine;
    assert_int_equal(beff_topology_make(MPI_COMM_WORLD, &topology), 0);
    MPI_Comm_rank(topology.row, &mine);
    const struct beff_plan_spec spec = {
        definition, size, mine, 3, 5, true, {topology.grid[0], topology.grid[1]}};
    assert_int_equal(beff_plan_make(&spec, &plan), 0);
}

static void plan_drop(void)
{
    beff_plan_free(&plan);
    beff_topology_free(&topology);
}

#define SHORT_LMAX (3 * BEFF_LMAX_MIN)

static struct beff_setup short_setup(enum beff_definition definition)
{
    return (struct beff_setup){.definition = definition,
                               .rule = {definition, 2, 1e-6, 1e-6},
                               .reps_n = 2,
                               .method = {true, true, true},
                               .limit_s = 1e6,
                               .opt = {.buffers = BEFF_ROOM, .quiet = true}};
}

/* What was said to be sent is what is sent, by each method, in each pattern. */
static void messages_are_those_of_the_pattern(enum beff_definition definition)
{
    enum { LOOP = 3, BYTES = 24 };
    struct beff_traffic t;
    plan_with(definition);
    assert_int_equal(beff_traffic_make(topology.row, BYTES, BEFF_ROOM, 0, &t), 0);
    for (int p = 0; p < plan.patterns_n; p++)
        for (int m = 0; m < BEFF_METHODS_N; m++) {
            const struct beff_exchange ex = {&plan.pattern[p], m, BYTES, LOOP, false, false};
            double time_s = -1;
            int64_t all[2];
            if (ex.pattern->ping_pong && m != BEFF_SENDRECV) continue;
            memset(&tap, 0, sizeof tap);
            assert_int_equal(beff_traffic_time(&t, &ex, &time_s), 0);
            assert_true(time_s >= 0);
            const int64_t mine[2] = {tap.messages, tap.bytes};
            PMPI_Allreduce(mine, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
            assert_int_equal(all[0], LOOP * plan.pattern[p].messages_n);
            assert_int_equal(all[1], LOOP * plan.pattern[p].messages_n * BYTES);
            assert_int_equal(tap.messages, LOOP * plan.pattern[p].sends_n);
        }
    beff_traffic_free(&t);
    plan_drop();
}

static void messages_of_the_paper(void **state)
{
    (void)state;
    messages_are_those_of_the_pattern(BEFF_PAPER);
}

static void messages_of_release_36(void **state)
{
    (void)state;
    messages_are_those_of_the_pattern(BEFF_36);
}

/* A wrong byte, wherever in a message and by whatever method, ends the run on every rank: at the
 * ends of a message in what is timed, anywhere in the iteration that is there to be looked at. */
static void spoilt(int method, int64_t bytes, int64_t at, bool whole)
{
    struct beff_traffic t;
    plan_with(BEFF_PAPER);
    assert_int_equal(beff_traffic_make(topology.row, bytes, BEFF_ROOM, 0, &t), 0);
    const struct beff_exchange ex = {&plan.pattern[5], method, bytes, 2, false, false};
    double time_s;
    clear(NULL);
    /* second message, of the second iteration where there are two */
    tap.countdown = rank == size - 1 ? (whole ? 2 : 4) : 0;
    tap.at = at;
    const int mine = whole ? beff_traffic_verify(&t, &ex) : beff_traffic_time(&t, &ex, &time_s);
    assert_int_equal(mine, rank == size - 1 ? ERR_VERIFY : 0);
    assert_int_equal(par_agree(MPI_COMM_WORLD, mine), ERR_VERIFY);
    assert_non_null(strstr(err_message(), beff_method_name(method)));
    assert_non_null(strstr(err_message(), plan.pattern[5].name));
    beff_traffic_free(&t);
    plan_drop();
}

static void a_wrong_byte_is_found(void **state)
{
    (void)state;
    for (int m = 0; m < BEFF_METHODS_N; m++) {
        spoilt(m, 1, 0, false);
        spoilt(m, 5000, 0, false);
        spoilt(m, 5000, 2500, true);
        spoilt(m, 5000, 4999, false);
    }
}

/* As release 3.6, which compares each message inside the clock: also one whose place in the buffer another
 * one has taken since. Whoever compares at the end alone sees nothing of it. */
static void release_36_compares_every_message(void **state)
{
    (void)state;
    for (int m = 0; m < BEFF_METHODS_N; m++)
        for (int tagged = 0; tagged < 2; tagged++) {
            struct beff_traffic t;
            double time_s;
            plan_with(BEFF_36);
            assert_int_equal(beff_traffic_make(topology.row, 5000, BEFF_ROOM, 16, &t), 0);
            assert_true(t.offset_bytes[0] == 16 && t.offset_bytes[1] == 16);
            const struct beff_exchange ex = {&plan.pattern[5], m, 5000, 20, false, tagged};
            clear(NULL);
            tap.countdown = rank == size - 1 ? 1 : 0;
            tap.at = 4999;
            assert_int_equal(beff_traffic_time(&t, &ex, &time_s),
                             tagged && rank == size - 1 ? ERR_VERIFY : 0);
            beff_traffic_free(&t);
            plan_drop();
        }
}

/* The same from the top: the measurement stops with the message. */
static void a_wrong_byte_ends_the_measurement(void **state)
{
    (void)state;
    struct beff_measured m;
    const struct beff_setup setup = short_setup(BEFF_PAPER);
    plan_with(BEFF_PAPER);
    /* A position in the calibration whose message nothing overwrites. */
    tap.countdown = rank == 0 ? 4 : 0;
    assert_int_equal(beff_measure(topology.row, &plan, &setup, SHORT_LMAX, &m), ERR_VERIFY);
    assert_non_null(strstr(err_message(), "not received as it was sent"));
    beff_measured_free(&m);
    plan_drop();
}

/* Everything was measured, and all ranks hold the same values. */
static void complete(const struct beff_measured *m)
{
    const size_t row = sizeof(struct beff_cell) * (size_t)plan.patterns_n;
    const size_t bytes = row * 2 * BEFF_SIZES_N * BEFF_METHODS_N;
    struct beff_cell *first = malloc(bytes);
    memcpy(first, m->cube.cell, bytes);
    MPI_Bcast(first, (int)bytes, MPI_BYTE, 0, topology.row);
    assert_memory_equal(first, m->cube.cell, bytes);
    free(first);
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < BEFF_SIZES_N; i++)
            for (int k = 0; k < BEFF_METHODS_N; k++)
                for (int p = 0; p < plan.patterns_n; p++) {
                    const struct beff_cell *c = beff_cell_at(&m->cube, r, i, k, p);
                    if (plan.pattern[p].ping_pong && k != BEFF_SENDRECV) {
                        assert_int_equal(c->loop, 0);
                        continue;
                    }
                    assert_true(c->loop >= 1 && c->time_s > 0 && c->bandwidth > 0);
                    assert_true(c->process_min > 0 && c->process_min <= c->process_mean * 1.000001);
                    assert_true(c->process_mean <= c->process_max * 1.000001);
                }
    assert_true(isfinite(beff_logavg(&m->cube, BEFF_EVERYTHING).both));
}

static void measured(enum beff_definition definition)
{
    struct beff_measured m;
    const struct beff_setup setup = short_setup(definition);
    plan_with(definition);
    assert_int_equal(beff_measure(topology.row, &plan, &setup, SHORT_LMAX, &m), 0);
    complete(&m);
    assert_false(m.reduced);
    beff_measured_free(&m);
    plan_drop();
}

static void everything_is_measured(void **state)
{
    (void)state;
    measured(BEFF_PAPER);
    measured(BEFF_36);
}

static void a_limit_leaves_out_long_messages(void **state)
{
    (void)state;
    struct beff_measured m;
    struct beff_setup setup = short_setup(BEFF_PAPER);
    setup.limit_s = 1e-9;
    plan_with(BEFF_PAPER);
    assert_int_equal(beff_measure(topology.row, &plan, &setup, SHORT_LMAX, &m), 0);
    assert_true(m.reduced);
    assert_int_equal(m.effort[0][0], BEFF_FULL);
    assert_int_equal(m.effort[0][BEFF_SIZES_N - 1], BEFF_BEST_METHOD);
    assert_int_equal(m.effort[1][BEFF_SIZES_N - 1], BEFF_SKIPPED);
    for (int p = 0; p < plan.patterns_n; p++) {
        int methods = 0;
        for (int k = 0; k < BEFF_METHODS_N; k++)
            methods += beff_cell_at(&m.cube, 0, BEFF_SIZES_N - 1, k, p)->loop == 1;
        assert_int_equal(methods, 1);
    }
    assert_true(isfinite(beff_logavg(&m.cube, BEFF_EVERYTHING).both));
    beff_measured_free(&m);
    plan_drop();
}

static void grids_number_every_process_once(void **state)
{
    (void)state;
    assert_int_equal(beff_topology_make(MPI_COMM_WORLD, &topology), 0);
    for (int g = 0; g < 2; g++) {
        const struct beff_grid *grid = &topology.grid[g];
        const int n = grid->dims[0] * grid->dims[1] * grid->dims[2];
        assert_true(n <= size && (n == size || size > 4));
        for (int i = 0; i < n; i++)
            for (int k = 0; k < i; k++)
                assert_int_not_equal(grid->order[i], grid->order[k]);
    }
    beff_topology_free(&topology);
}

static void placements(void **state)
{
    (void)state;
    char *one[] = {"a", "a", "a"}, *sequential[] = {"a", "a", "b", "b"},
         *robin[] = {"a", "b", "a", "b"}, *mixed[] = {"a", "b", "b", "a"};
    assert_string_equal(beff_placement(one, 3), "one node");
    assert_string_equal(beff_placement(sequential, 4), "sequential");
    assert_string_equal(beff_placement(robin, 4), "round-robin");
    assert_string_equal(beff_placement(mixed, 4), "mixed");
}

/* What the definition asks for, with loops of no length: beff.bats has one of the whole length. */
static void a_run_by_the_definition_is_valid(void **state)
{
    (void)state;
    char *argv[] = {"nht1-beff", "--memory-per-process", "1MiB", "--no-analysis", "--quiet", NULL};
    struct beff_setup setup;
    struct beff_job job;
    if (size != 2) return; /* more ranks add nothing but time */
    assert_int_equal(beff_setup_parse(&setup, 5, argv), CONF_RUN);
    setup.rule.most = 2;
    setup.rule.window_s = setup.rule.target_s = 1e-6;
    assert_int_equal(beff_job_make(MPI_COMM_WORLD, &setup, &job), 0);
    assert_int_equal(beff_job_run(&job), 0);
    assert_true(beff_job_valid(&job));
    assert_non_null(stamp_find(job.stamps, STAMP_VALID));
    assert_int_equal(job.memory.lmax_bytes, 8192);
    assert_int_equal(job.plan.patterns_n, BEFF_RINGS_N + BEFF_RANDOM_STANDARD);
    assert_int_equal(job.measured.cube.reps_n, BEFF_REPS_STANDARD);
    beff_job_free(&job);
}

static void a_reordered_row_is_reported_by_rank_0(void **state)
{
    (void)state;
    struct beff_job job;
    int row;
    const struct beff_setup setup = {
        .reps_n = 1,
        .random_n = 1,
        .opt = {.lmax = BEFF_LMAX_MIN, .buffers = 2, .no_analysis = true}};
    if (size < 2) return;
    reversed = true;
    assert_int_equal(beff_job_make(MPI_COMM_WORLD, &setup, &job), 0);
    reversed = false;
    MPI_Comm_rank(job.topology.row, &row);
    assert_int_equal(row, size - 1 - rank);
    assert_true((job.hosts != NULL) == (rank == 0));
    assert_string_equal(job.placement, rank == 0 ? "one node" : "unknown");
    beff_job_free(&job);
}

static void put_is_left_out_without_windows(void **state)
{
    (void)state;
    struct beff_job job;
    struct beff_insight in;
    int64_t size_bytes[BEFF_SIZES_N];
    const struct beff_setup setup = {
        .reps_n = 1, .random_n = 1, .opt = {.lmax = BEFF_LMAX_MIN, .buffers = 2}};
    if (size < 2) return;
    for (int i = 0; i < BEFF_SIZES_N; i++)
        size_bytes[i] = i + 1;
    assert_int_equal(beff_job_make(MPI_COMM_WORLD, &setup, &job), 0);
    for (int i = 0; i < 2; i++) {
        windowless = i == 0;
        memset(&in, 0, sizeof in);
        assert_int_equal(beff_insight_measure(job.topology.row, &job.plan, size_bytes, &in), 0);
        assert_true(in.done && in.messages_per_s[0] > 0 && in.bytes_per_s[BEFF_PERSISTENT][0] > 0);
        assert_int_equal(isnan(in.bytes_per_s[BEFF_PUT][0]), windowless);
        assert_int_equal(strstr(in.no_put, "MPI_Win_create") != NULL, windowless);
        assert_string_equal(err_message(), "");
    }
    beff_job_free(&job);
}

/* Last: the request to stop stays. One rank hears it, all stop; what is complete by then is kept. */
static void a_signal_stops_all(void **state)
{
    (void)state;
    struct beff_measured m;
    struct beff_job job;
    struct beff_setup whole = short_setup(BEFF_PAPER);
    whole.random_n = 1;
    whole.opt.lmax = SHORT_LMAX;
    assert_int_equal(beff_job_make(MPI_COMM_WORLD, &whole, &job), 0);
    assert_int_equal(stop_install(), 0);
    interrupting = true;
    assert_int_equal(beff_job_run(&job), ERR_INTERRUPT);
    assert_true(job.complete && job.summary.all.both > 0 && !job.insight.done);
    assert_non_null(strstr(err_message(), "besides b_eff is missing: interrupted"));
    beff_job_free(&job);
    const struct beff_setup setup = short_setup(BEFF_PAPER);
    plan_with(BEFF_PAPER);
    assert_int_equal(beff_measure(topology.row, &plan, &setup, SHORT_LMAX, &m), ERR_INTERRUPT);
    beff_measured_free(&m);
    plan_drop();
}

static void one_process_is_refused(void **state)
{
    (void)state;
    struct beff_job job;
    const struct beff_setup setup = {.reps_n = 1};
    assert_int_equal(beff_job_make(MPI_COMM_WORLD, &setup, &job), ERR_USAGE);
    assert_non_null(strstr(err_message(), "at least 2 processes"));
    beff_job_free(&job);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const struct CMUnitTest alone[] = {cmocka_unit_test_setup(one_process_is_refused, clear)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(messages_of_the_paper, clear),
        cmocka_unit_test_setup(messages_of_release_36, clear),
        cmocka_unit_test_setup(a_wrong_byte_is_found, clear),
        cmocka_unit_test_setup(release_36_compares_every_message, clear),
        cmocka_unit_test_setup(a_wrong_byte_ends_the_measurement, clear),
        cmocka_unit_test_setup(everything_is_measured, clear),
        cmocka_unit_test_setup(a_limit_leaves_out_long_messages, clear),
        cmocka_unit_test_setup(grids_number_every_process_once, clear),
        cmocka_unit_test_setup(placements, clear),
        cmocka_unit_test_setup(a_run_by_the_definition_is_valid, clear),
        cmocka_unit_test_setup(a_reordered_row_is_reported_by_rank_0, clear),
        cmocka_unit_test_setup(put_is_left_out_without_windows, clear),
        cmocka_unit_test_setup(a_signal_stops_all, clear),
    };
    const int failed = size == 1 ? cmocka_run_group_tests(alone, NULL, NULL)
                                 : cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
