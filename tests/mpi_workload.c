/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nht1-workload at any number of ranks, with MPI's profiling interface between it and the library:
 * wrong data are found, failed calls are told by all ranks, nobody waits for ever. */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mpilib.h"
#include "base/par.h"
#include "base/stop.h"
#include "base/watch.h"
#include "companions/workload/access.h"
#include "companions/workload/job.h"

static int rank, size;

/* The how manyth call of this rank is spoilt, 0: none; and how. */
static struct {
    int read, write, fail;
    bool all_written; /* by MPI_File_write_at */
} spoil;

static bool now(int *countdown)
{
    return *countdown > 0 && --*countdown == 0;
}

/* What a library leaves in a status that it does not set. */
static int without_status(int rc, int n, MPI_Status *s)
{
    if (n == 0) memset(s, 0x55, sizeof *s);
    return rc;
}

int MPI_File_read_at(MPI_File f, MPI_Offset at, void *b, int n, MPI_Datatype t, MPI_Status *s)
{
    if (now(&spoil.fail)) return MPI_ERR_IO;
    const int rc = PMPI_File_read_at(f, at, b, n, t, s);
    if (now(&spoil.read)) ((unsigned char *)b)[0] ^= 1;
    return without_status(rc, n, s);
}

int MPI_File_write_at(MPI_File f, MPI_Offset at, const void *b, int n, MPI_Datatype t,
                      MPI_Status *s)
{
    if (now(&spoil.fail)) return MPI_ERR_IO;
    /* A write that is lost: the library says that it was made. */
    if (spoil.all_written || now(&spoil.write))
        return PMPI_File_read_at(f, at, calloc(1, 1 << 20), n, t, s);
    return without_status(PMPI_File_write_at(f, at, b, n, t, s), n, s);
}

/* A signal that asks for an end, at the how manyth pread, nap or collective write of the main thread; 0: none.
 * The handler may run in another thread. */
static struct {
    int read, nap, write, reads; /* reads: made since */
    bool all_ranks;
} ask;
static pthread_t main_thread;
static int measured_n, done_n, wrong_n; /* of the last run */

static void ask_now(void)
{
    if (!ask.all_ranks && rank != size - 1) return;
    kill(getpid(), SIGTERM);
    while (!stop_requested())
        sched_yield();
}

static int collective_n, filled_n; /* such calls of this rank, those with data */

static int collective(int rc, int n)
{
    collective_n++;
    filled_n += n > 0;
    if (now(&ask.write)) ask_now();
    return now(&spoil.fail) ? MPI_ERR_IO : rc;
}

int MPI_File_write_at_all(MPI_File f, MPI_Offset at, const void *b, int n, MPI_Datatype t,
                          MPI_Status *s)
{
    return collective(PMPI_File_write_at_all(f, at, b, n, t, s), n);
}

int MPI_File_write_all(MPI_File f, const void *b, int n, MPI_Datatype t, MPI_Status *s)
{
    return collective(PMPI_File_write_all(f, b, n, t, s), n);
}

/* What is posted to be read comes into its buffer no sooner than it is waited for. */
static struct {
    MPI_Request request;
    void *to, *read; /* read: NULL where there is none */
    size_t bytes;
} late[WORKLOAD_DEPTH_MAX];

int MPI_File_iread_at(MPI_File f, MPI_Offset at, void *b, int n, MPI_Datatype t, MPI_Request *r)
{
    int i = 0;
    while (late[i].read)
        i++;
    late[i].to = b;
    late[i].bytes = (size_t)n;
    late[i].read = malloc(late[i].bytes + 1);
    const int rc = PMPI_File_iread_at(f, at, late[i].read, n, t, r);
    late[i].request = *r;
    return rc;
}

int MPI_Wait(MPI_Request *r, MPI_Status *s)
{
    const MPI_Request waited = *r;
    const int rc = PMPI_Wait(r, s);
    for (int i = 0; i < WORKLOAD_DEPTH_MAX; i++) {
        if (!late[i].read || late[i].request != waited) continue;
        memcpy(late[i].to, late[i].read, late[i].bytes);
        free(late[i].read);
        late[i].read = NULL;
    }
    return rc;
}

ssize_t pread(int fd, void *to, size_t bytes, off_t at)
{
    if (pthread_equal(pthread_self(), main_thread)) {
        ask.reads += stop_requested();
        if (now(&ask.read)) ask_now();
    }
    return syscall(SYS_pread64, fd, to, bytes, at);
}

int nanosleep(const struct timespec *nap, struct timespec *left)
{
    const bool is_long = nap->tv_sec > 0 || nap->tv_nsec > 10 * 1000 * 1000;
    if (is_long && pthread_equal(pthread_self(), main_thread) && now(&ask.nap)) ask_now();
    return (int)syscall(SYS_nanosleep, nap, left);
}

/* Runs a description as the program does, with so much --buffer. Returns what workload_job_run
 * returns. */
static int run_in(char *buffer, const char *name, const char *text)
{
    struct workload_options opt;
    struct conf_list words;
    struct workload_job job;
    char path[64], *argv[] = {"nht1-workload", path,       "--out", "./mpi_workload.dat",
                              "--force",       "--buffer", buffer,  NULL};
    snprintf(path, sizeof path, "%s", name);
    err_clear();
    if (rank == 0) {
        FILE *to = fopen(name, "w");
        assert_non_null(to);
        fputs(text, to);
        fclose(to);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    assert_int_equal(workload_options_parse(&opt, &words, 7, argv), CONF_RUN);
    int rc = workload_job_make(&job, &opt, words.item[0]);
    if (rc == 0) rc = workload_job_run(&job);
    measured_n = job.measured_n;
    done_n = 0;
    for (int i = 0; i < job.measured_n; i++)
        done_n += workload_job_measured(&job, i)->done;
    wrong_n = (int)job.wrong_n;
    workload_job_free(&job);
    conf_free(&workload_program, &opt, &words);
    MPI_Barrier(MPI_COMM_WORLD);
    assert_true(access("mpi_workload.dat", F_OK) != 0);
    if (rank == 0) unlink(name);
    memset(&spoil, 0, sizeof spoil);
    return rc;
}

static int run(const char *name, const char *text)
{
    static char buffer[] = "256Mi";
    return run_in(buffer, name, text);
}

#define PATTERN(temporal, more)                                                                    \
    "Data 64k Record 1k <Pattern simple-strided> Temporal " temporal " " more " </Pattern>"

static void right_data_are_right(void **state)
{
    (void)state;
    assert_int_equal(run("w.conf", PATTERN("all", "")), ERR_INVALID); /* too little of them */
}

/* More phases that write than a byte can tell apart, with what older ones left behind their data. */
static void right_data_are_right_after_200_phases(void **state)
{
    (void)state;
    if (size > 1) return; /* alike on each rank */
    const char *text =
        "Data 8k Record 1k\n"
        "<Repeat 9> <Pattern segmented> Temporal write </Pattern> </Repeat>\n"
        "<Repeat 185> <Pattern segmented> Temporal re-write Fraction 0.5 </Pattern> </Repeat>\n"
        "<Pattern segmented> Temporal re-read </Pattern>\n"
        "<Pattern segmented> Temporal read-modify-write Fraction 0.25 </Pattern>\n"
        "<Pattern segmented> Temporal re-read </Pattern>";
    assert_int_equal(run("w.conf", text), ERR_INVALID);
}

static void a_changed_read_is_found(void **state)
{
    (void)state;
    spoil.read = rank == size - 1 ? 3 : 0;
    assert_int_equal(run("w.conf", PATTERN("write,read", "")), ERR_VERIFY);
    assert_non_null(strstr(err_message(), "wrong data read"));
}

static void a_lost_write_is_found(void **state)
{
    (void)state;
    spoil.write = rank == 0 ? 4 : 0;
    assert_int_equal(run("w.conf", PATTERN("write", "")), ERR_VERIFY);
    /* What lies there already is not taken for what was to be written. */
    spoil.write = rank == 0 ? 64 / size + 4 : 0;
    assert_int_equal(run("w.conf", PATTERN("write,re-write", "")), ERR_VERIFY);
    assert_non_null(strstr(err_message(), "wrong data written"));
}

static void a_failed_call_is_told_by_all(void **state)
{
    (void)state;
    spoil.fail = rank == size - 1 ? 5 : 0;
    assert_int_equal(run("w.conf", PATTERN("write", "")), ERR_IO);
    assert_non_null(strstr(err_message(), "MPI_File_write_at"));
    spoil.fail = rank == size - 1 ? 5 : 0;
    assert_int_equal(run("w.conf", PATTERN("write", "Method collective Access offsets")), ERR_IO);
    assert_non_null(strstr(err_message(), "MPI_File_write_at_all"));
}

static void working_points_are_checked_alike(void **state)
{
    (void)state;
    char text[1024];
    const char *form = "<workload version='1'><workingPoint processNum='%d' sizeMean='500' "
                       "uniqueBytes='%d' readFrac='%s' collFrac='0' syncFrac='1' seqFrac='0' "
                       "sharedFrac='0' contMean='500'/></workload>";
    /* The last rank has a byte more, and the others a call of no bytes. */
    snprintf(text, sizeof text, form, size, 10000 * size + 1, "0.5");
    assert_int_equal(run("w.xml", text), 0);
    spoil.read = rank == size - 1 ? 2 : 0;
    assert_int_equal(run("w.xml", text), ERR_VERIFY);
    spoil.fail = rank == 0 ? 7 : 0;
    assert_int_equal(run("w.xml", text), ERR_IO);
    snprintf(text, sizeof text, form, size + 1, 10000, "0.5");
    assert_int_equal(run("w.xml", text), ERR_USAGE);
}

/* OMPIO's collective writes are known for it; calls that are all independent have another cause. */
static void wrong_data_have_the_likely_cause(void **state)
{
    (void)state;
    static const char *collective[] = {"0.5", "0"};
    for (int i = 0; i < 2; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "<workload version='1'><workingPoint processNum='%d' sizeMean='500' "
                 "uniqueBytes='%d' readFrac='0' collFrac='%s' syncFrac='1' seqFrac='0' "
                 "sharedFrac='0' contMean='500'/></workload>",
                 size, 10000 * size, collective[i]);
        spoil.all_written = true;
        assert_int_equal(run("w.xml", text), ERR_VERIFY);
        assert_non_null(strstr(err_message(), "wrong data written"));
        const bool told = strstr(err_message(), "fbtl_posix_write_datasieving=0") != NULL;
        assert_true(told == (i == 0 && mpilib_may_be_ompio()));
    }
}

/* Blocking reads overtake the nonblocking ones and use all other buffers meanwhile. */
static void what_is_read_late_overwrites_nothing(void **state)
{
    (void)state;
    char text[1024], few[] = "4096";
    const char *form = "<workload version='1'><workingPoint processNum='%d' sizeMean='500' "
                       "uniqueBytes='%d' readFrac='1' collFrac='0' syncFrac='0.9' seqFrac='0' "
                       "sharedFrac='0' contMean='%d'/></workload>";
    snprintf(text, sizeof text, form, size, 50000 * size, 500);
    assert_int_equal(run_in(few, "w.xml", text), 0);
    snprintf(text, sizeof text, form, size, 50000 * size, 50);
    assert_int_equal(run_in(few, "w.xml", text), 0);
}

/* Of two phases the first is complete; the pause between them would last for a minute. */
static void a_pause_is_interrupted(void **state)
{
    (void)state;
    static const char *end[] = {"<Pattern segmented> Temporal write </Pattern>", ""};
    for (int i = 0; i < 2; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "Data 64k Record 1k <Pattern segmented> Temporal write </Pattern> Think 60 %s",
                 end[i]);
        assert_int_equal(stop_install(), 0);
        ask.nap = 1;
        ask.all_ranks = true;
        const double begun = watch_now();
        assert_int_equal(run("w.conf", text), ERR_INTERRUPT);
        assert_true(watch_now() - begun < 60);
        assert_int_equal(measured_n, 1);
        assert_int_equal(done_n, 1);
    }
    assert_int_equal(stop_install(), 0);
}

/* What was not read back is not called right, what was found wrong by then is told. */
static void checking_is_interrupted(void **state)
{
    (void)state;
    char points[1024];
    snprintf(points, sizeof points,
             "<workload version='1'><workingPoint processNum='%d' sizeMean='500' "
             "uniqueBytes='%d' readFrac='0' collFrac='0' syncFrac='1' seqFrac='1' sharedFrac='0' "
             "contMean='500'/></workload>",
             size, 20000 * size);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(stop_install(), 0);
        ask.all_ranks = i % 2 == 0;
        ask.read = 3;
        ask.reads = 0;
        spoil.write = i < 2 && rank == size - 1 ? 2 : 0;
        const int rc = i < 2 ? run("w.conf", PATTERN("write", "")) : run("w.xml", points);
        assert_int_equal(rc, ERR_INTERRUPT);
        assert_int_equal(ask.reads, 0);
        assert_int_equal(done_n, 0);
        assert_true(rank > 0 || i >= 2 || wrong_n == 1); /* points do not call what is spoilt */
    }
    assert_int_equal(stop_install(), 0);
}

/* All ranks make the same calls; that which is asked to stop, or fails, none with data any more. */
static void collective_calls_are_interrupted(void **state)
{
    (void)state;
    enum { CALLS = 300, AT = 100 };
    char points[1024], phase[256];
    snprintf(points, sizeof points,
             "<workload version='1'><workingPoint processNum='%d' sizeMean='500' "
             "uniqueBytes='%d' readFrac='0' collFrac='1' syncFrac='1' seqFrac='1' sharedFrac='0' "
             "contMean='500'/></workload>",
             size, 500 * CALLS * size);
    snprintf(phase, sizeof phase,
             "Record 1k Data %d Think 0.000001 <Pattern simple-strided> Temporal write "
             "Method collective Access offsets Group 1 </Pattern>",
             1000 * CALLS * size);
    for (int i = 0; i < 6; i++) {
        const bool fails = i >= 4, all = i < 2;
        assert_int_equal(stop_install(), 0);
        ask.all_ranks = all;
        ask.write = fails ? 0 : AT;
        spoil.fail = fails && rank == size - 1 ? AT : 0;
        collective_n = filled_n = 0;
        const int rc = i % 2 == 0 ? run("w.conf", phase) : run("w.xml", points);
        assert_int_equal(rc, fails ? ERR_IO : ERR_INTERRUPT);
        assert_int_equal(collective_n, CALLS);
        assert_int_equal(filled_n, all || rank == size - 1 ? AT : CALLS);
    }
    assert_int_equal(stop_install(), 0);
}

static void clocks_of_one_machine_agree(void **state)
{
    (void)state;
    struct workload_clock c;
    assert_int_equal(workload_clock_compare(MPI_COMM_WORLD, &c), 0);
    assert_true(c.uncertainty_s >= 0);
    /* Half of the round trip bounds the error, up to what the clock resolves. */
    if (c.offset_s > c.uncertainty_s + 1e-6 || c.offset_s < -c.uncertainty_s - 1e-6)
        fail_msg("offset %g, uncertain by %g", c.offset_s, c.uncertainty_s);
    /* They are compared again when that was long ago. */
    const double compared_s = c.compared_s;
    assert_int_equal(workload_clock_keep(MPI_COMM_WORLD, &c), 0);
    assert_true(c.compared_s == compared_s);
    c.compared_s -= WORKLOAD_CLOCK_S;
    assert_int_equal(workload_clock_keep(MPI_COMM_WORLD, &c), 0);
    assert_true(c.compared_s > compared_s);
}

/* S, T and B of known marks. */
static void times_are_those_of_the_marks(void **state)
{
    (void)state;
    const struct workload_clock c = {.offset_s = 100 + rank};
    const struct workload_marks m = {.begun = 100 + rank + 1,
                                     .first = 100 + rank + 2 + rank,
                                     .last = 100 + rank + 20 + rank,
                                     .ended = 100 + rank + 40};
    struct workload_times t = {.setup_s = rank};
    assert_int_equal(workload_times_gather(MPI_COMM_WORLD, &c, &m, &t), 0);
    assert_true(t.s_s == 1 && t.t_s == 18 + size - 1 && t.b_s == 40 - 20 - (size - 1));
    assert_true(t.setup_s == size - 1);
    for (int r = 0; rank == 0 && r < size; r++)
        assert_true(t.first_s[r] == 1 + r && t.last_s[r] == 19 + r);
    workload_times_free(&t);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_data_are_right),
        cmocka_unit_test(right_data_are_right_after_200_phases),
        cmocka_unit_test(a_changed_read_is_found),
        cmocka_unit_test(a_lost_write_is_found),
        cmocka_unit_test(a_failed_call_is_told_by_all),
        cmocka_unit_test(working_points_are_checked_alike),
        cmocka_unit_test(wrong_data_have_the_likely_cause),
        cmocka_unit_test(what_is_read_late_overwrites_nothing),
        cmocka_unit_test(a_pause_is_interrupted),
        cmocka_unit_test(checking_is_interrupted),
        cmocka_unit_test(collective_calls_are_interrupted),
        cmocka_unit_test(clocks_of_one_machine_agree),
        cmocka_unit_test(times_are_those_of_the_marks),
    };
    main_thread = pthread_self();
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char folder[] = "/tmp/mpi_workload.XXXXXX";
    if (rank == 0 && !mkdtemp(folder)) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (chdir(folder) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) rmdir(folder);
    MPI_Finalize();
    return failed;
}
