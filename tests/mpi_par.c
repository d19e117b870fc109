/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Agreement on errors, spreads, hosts and the MPI record, at any number of ranks. */
#include <math.h>
#include <mpi.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mpilib.h"
#include "base/mem.h"
#include "base/par.h"

static int rank, size;

static int clear(void **state)
{
    (void)state;
    err_clear();
    return 0;
}

static void same_text_everywhere(const char *text)
{
    char lowest[ERR_MESSAGE_MAX];
    snprintf(lowest, sizeof lowest, "%s", text);
    MPI_Bcast(lowest, sizeof lowest, MPI_CHAR, 0, MPI_COMM_WORLD);
    assert_string_equal(text, lowest);
}

static void success_is_agreed(void **state)
{
    (void)state;
    assert_int_equal(par_agree(MPI_COMM_WORLD, 0), 0);
    assert_int_equal(par_agree(MPI_COMM_WORLD, rank), 0);
    assert_string_equal(err_message(), "");
}

/* One failing rank after the other; the healthy ones learn its code and its words. */
static void any_rank_may_fail(void **state)
{
    (void)state;
    for (int bad = 0; bad < size; bad++) {
        char start[64];
        err_clear();
        void *mine = rank == bad ? mem_new(-1, 1, "%d", bad) : &bad;
        assert_int_equal(par_agree_memory(MPI_COMM_WORLD, mine != NULL), ERR_NOMEM);
        snprintf(start, sizeof start, "rank %d on ", bad);
        assert_memory_equal(err_message(), start, strlen(start));
        snprintf(start, sizeof start, ": no memory for %d", bad);
        assert_non_null(strstr(err_message(), start));
        same_text_everywhere(err_message());
    }
}

static void lowest_rank_speaks(void **state)
{
    (void)state;
    int first = size / 2;
    int rc = rank < first ? 0 : err_set(rank == first ? ERR_IO : ERR_MPI, "from %d", rank);
    assert_int_equal(par_agree(MPI_COMM_WORLD, rc), ERR_IO);
    char want[32];
    snprintf(want, sizeof want, ": from %d", first);
    assert_non_null(strstr(err_message(), want));
    same_text_everywhere(err_message());
}

static void usage_errors_have_no_prefix(void **state)
{
    (void)state;
    assert_int_equal(par_agree(MPI_COMM_WORLD, err_set(ERR_USAGE, "--n: wrong")), ERR_USAGE);
    assert_string_equal(err_message(), "--n: wrong");
}

static void agreeing_twice_prefixes_once(void **state)
{
    (void)state;
    int rc = rank == size - 1 ? err_set_errno(ERR_IO, 28, "f: pwrite") : 0;
    rc = par_agree(MPI_COMM_WORLD, rc);
    char once[ERR_MESSAGE_MAX];
    snprintf(once, sizeof once, "%s", err_message());
    assert_int_equal(par_agree(MPI_COMM_WORLD, rc), ERR_IO);
    assert_string_equal(err_message(), once);
}

static void a_failure_without_words_gets_some(void **state)
{
    (void)state;
    assert_int_equal(par_agree(MPI_COMM_WORLD, rank == 0 ? ERR_INTERRUPT : 0), ERR_INTERRUPT);
    assert_non_null(strstr(err_message(), "asked to stop by a signal"));
}

static void long_messages_survive(void **state)
{
    (void)state;
    char text[2 * ERR_MESSAGE_MAX];
    memset(text, 'y', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    int rc = rank == size - 1 ? err_set(ERR_IO, "%s", text) : 0;
    assert_int_equal(par_agree(MPI_COMM_WORLD, rc), ERR_IO);
    assert_true(strlen(err_message()) > 800);
    same_text_everywhere(err_message());
}

static void failed_calls_are_named(void **state)
{
    (void)state;
    MPI_Comm own;
    int value = 0;
    assert_int_equal(MPI_Comm_dup(MPI_COMM_WORLD, &own), MPI_SUCCESS);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    assert_int_equal(par_check(MPI_SUCCESS, "x"), 0);
    int rc = par_check(MPI_Send(&value, 1, MPI_INT, size + 7, 0, own), "MPI_Send");
    assert_int_equal(rc, ERR_MPI);
    assert_memory_equal(err_message(), "MPI_Send: ", 10);
    assert_non_null(strstr(err_message(), "rank"));
    MPI_Comm_free(&own);
}

/* Longer than the first request for memory, with a NUL in it. */
static void a_file_reaches_every_rank(void **state)
{
    (void)state;
    enum { BYTES = 200000 };
    const char *const path = "/tmp/nht1-mpi-par-file";
    char *text;
    int64_t bytes;
    int made = 1;
    if (rank == 0) {
        FILE *to = fopen(path, "w");
        for (int i = 0; to && i < BYTES; i++)
            fputc(i % 251, to);
        made = to && fclose(to) == 0;
    }
    MPI_Bcast(&made, 1, MPI_INT, 0, MPI_COMM_WORLD);
    assert_true(made);
    const int rc = par_read_file(MPI_COMM_WORLD, path, BYTES, &text, &bytes);
    int right = rc == 0 && bytes == BYTES && text[BYTES] == '\0';
    for (int i = 0; right && i < BYTES; i++)
        right = (unsigned char)text[i] == i % 251;
    free(text);
    const int longer = par_read_file(MPI_COMM_WORLD, path, BYTES - 1, &text, &bytes);
    free(text);
    if (rank == 0) unlink(path);
    assert_true(right);
    assert_int_equal(longer, ERR_USAGE);
    same_text_everywhere(err_message());
    assert_non_null(strstr(err_message(), "more than 199999 bytes"));
    err_clear();
    assert_int_equal(par_read_file(MPI_COMM_WORLD, "/nowhere/file", BYTES, &text, &bytes),
                     ERR_USAGE);
    free(text);
    assert_non_null(strstr(err_message(), "/nowhere/file"));
}

static void spread_of_ranks(void **state)
{
    (void)state;
    struct par_spread s;
    /* Descending by rank, so that the maximum is on rank 0; then ascending. */
    assert_int_equal(par_spread(MPI_COMM_WORLD, 100.5 - rank, &s), 0);
    assert_true(s.max == 100.5 && s.max_rank == 0);
    assert_true(s.min == 100.5 - (size - 1));
    assert_true(s.median == 100.5 - (size - 1) / 2.0);
    assert_true(fabs(s.mean - (100.5 - (size - 1) / 2.0)) < 1e-12);
    assert_int_equal(par_spread(MPI_COMM_WORLD, rank * rank, &s), 0);
    const int lower = (size - 1) / 2, upper = size / 2;
    assert_true(s.median == (lower * lower + upper * upper) / 2.0);
    assert_int_equal(s.max_rank, size - 1);
    assert_int_equal(par_spread(MPI_COMM_WORLD, -2.0, &s), 0);
    assert_true(s.min == -2 && s.median == -2 && s.max == -2 && s.max_rank == 0);
}

/* Each time another rank is the slow one: its own sum is a part of theirs. */
static void the_slowest_rank_of_each_time(void **state)
{
    (void)state;
    enum { TIMES = 1200 };
    double took_s[TIMES], sum_s = -1;
    for (int i = 0; i < TIMES; i++)
        took_s[i] = i % size == rank ? 2 + i : 0.5;
    assert_int_equal(par_slowest(MPI_COMM_WORLD, took_s, TIMES, &sum_s), 0);
    assert_true(fabs(sum_s - (2 * TIMES + TIMES * (TIMES - 1) / 2.0)) < 1e-12);
    assert_int_equal(par_slowest(MPI_COMM_WORLD, took_s, 0, &sum_s), 0);
    assert_true(sum_s == 0);
}

static void hints_become_an_info_object(void **state)
{
    (void)state;
    MPI_Info info = MPI_INFO_NULL;
    char value[64], key[MPI_MAX_INFO_KEY + 16];
    int there = 0, keys = 0;
    assert_int_equal(par_info_add(&info, "cb_nodes=2", NULL), 0);
    assert_int_equal(par_info_add(&info, "nht1_a=b=c", NULL), 0);
    assert_int_equal(par_info_add(&info, "cb_nodes", "4"), 0);
    assert_int_equal(par_info_add(&info, "no_value", NULL), ERR_USAGE);
    assert_non_null(strstr(err_message(), "hint no_value: not KEY=VALUE"));
    err_clear();
    memset(key, 'k', sizeof key);
    key[sizeof key - 1] = '\0';
    assert_int_equal(par_info_add(&info, key, "1"), ERR_USAGE);
    err_clear();
    MPI_Info_get_nkeys(info, &keys);
    assert_int_equal(keys, 2);
    MPI_Info_get(info, "cb_nodes", 63, value, &there);
    assert_true(there && strcmp(value, "4") == 0);
    MPI_Info_get(info, "nht1_a", 63, value, &there);
    assert_true(there && strcmp(value, "b=c") == 0);
    MPI_Info_free(&info);
}

static void hosts_in_rank_order(void **state)
{
    (void)state;
    char **hosts, mine[MPI_MAX_PROCESSOR_NAME];
    int len;
    MPI_Get_processor_name(mine, &len);
    assert_int_equal(par_hosts(MPI_COMM_WORLD, size - 1, &hosts), 0);
    if (rank != size - 1) {
        assert_null(hosts);
        return;
    }
    assert_string_equal(hosts[rank], mine);
    for (int r = 0; r < size; r++) {
        assert_true(strlen(hosts[r]) > 0);
    }
    free(hosts);
}

static void record_of_mpi(void **state)
{
    (void)state;
    json_t *j;
    assert_int_equal(par_json(MPI_COMM_WORLD, &j), 0);
    if (rank != 0) {
        assert_null(j);
        return;
    }
    assert_int_equal(json_integer_value(json_object_get(j, "ranks_n")), size);
    assert_true(strlen(json_string_value(json_object_get(j, "library"))) > 3);
    json_int_t ranks = 0;
    size_t h;
    json_t *host, *hosts = json_object_get(j, "hosts");
    assert_int_equal(json_integer_value(json_object_get(j, "nodes_n")), json_array_size(hosts));
    json_array_foreach(hosts, h, host)
    {
        ranks += json_integer_value(json_object_get(host, "ranks_n"));
    }
    assert_int_equal(ranks, size);
    assert_true(json_integer_value(json_object_get(j, "affinity_cpus_min_n")) >= 1);
    assert_non_null(json_string_value(json_object_get(j, "thread_level")));
    json_decref(j);
}

/* The library at hand is one that this project is built with. */
static void this_library(void **state)
{
    (void)state;
    const struct mpilib *here = mpilib();
    json_t *components = mpilib_components();
    assert_true(here->kind == MPILIB_OPEN_MPI || here->kind == MPILIB_MPICH);
    assert_int_equal(mpilib_kind_of(here->name), here->kind);
    assert_null(strpbrk(here->name, ",\n\t"));
    assert_ptr_equal(mpilib(), here);
    if (here->kind == MPILIB_MPICH) {
        assert_string_equal(mpilib_component(), "ROMIO");
        assert_int_equal(mpilib_io("lustre"), MPILIB_ROMIO);
        assert_false(mpilib_may_be_ompio());
        assert_int_equal(json_array_size(components), 1);
    }
    json_decref(components);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(success_is_agreed, clear),
        cmocka_unit_test_setup(any_rank_may_fail, clear),
        cmocka_unit_test_setup(lowest_rank_speaks, clear),
        cmocka_unit_test_setup(usage_errors_have_no_prefix, clear),
        cmocka_unit_test_setup(agreeing_twice_prefixes_once, clear),
        cmocka_unit_test_setup(a_failure_without_words_gets_some, clear),
        cmocka_unit_test_setup(long_messages_survive, clear),
        cmocka_unit_test_setup(failed_calls_are_named, clear),
        cmocka_unit_test_setup(a_file_reaches_every_rank, clear),
        cmocka_unit_test_setup(spread_of_ranks, clear),
        cmocka_unit_test_setup(the_slowest_rank_of_each_time, clear),
        cmocka_unit_test_setup(hints_become_an_info_object, clear),
        cmocka_unit_test_setup(hosts_in_rank_order, clear),
        cmocka_unit_test_setup(record_of_mpi, clear),
        cmocka_unit_test_setup(this_library, clear),
    };
    int failed = cmocka_run_group_tests_name("par", tests, NULL, NULL), all;
    MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 0;
}
