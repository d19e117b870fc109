/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every writer's way back: whoever wrote the dumps, by whatever decomposition, the values come back
 * in any other, on all ranks or on some; and all ranks have the same code when something is missing.
 * Calls that fail: mpi_io_fault.c. */
#include "mpi_io_common.h"

#include <signal.h>

#include "base/stop.h"
#include "skip.h"

static const enum io_layout layouts[] = {IO_MIJK, IO_IJKM, IO_RECORDS};
#define LAYOUTS 3
#define N       9
#define DUMPS   3

static const int slabs_x[3] = {0, 1, 1}, slabs_y[3] = {1, 0, 1}, slabs_z[3] = {1, 1, 0};
static const int blocks[3] = {2, 2, 0};
static const int *const grids[] = {slabs_x, slabs_y, slabs_z, blocks};
#define GRIDS 4

static int setup(void **state)
{
    (void)state;
    err_clear();
    return 0;
}

static int teardown(void **state)
{
    setup(state);
    scratch_empty();
    return 0;
}

/* A file of three dumps, by a writer. */
static struct io_spec written(const char *writer, enum io_layout layout, const int grid[3])
{
    struct io_spec s = spec_for(in_scratch("dumps.bin"), writer, N, grid);
    struct io_file *f = NULL;
    s.layout = layout;
    const int rc = write_all(&f, &s);
    if (rc < 0) print_error("%s: %s\n", writer, err_message());
    assert_int_equal(rc, 0);
    io_file_free(f);
    return s;
}

static const int64_t mixed[] = {2, 0, 1, 1};

static void assert_right(const struct io_read_spec *s)
{
    const int rc = read_all(s);
    if (rc < 0)
        print_error("%s, layout %s, rank %d of %d: %d %s\n", s->writer, io_layout_name(s->layout),
                    rank, size, rc, err_message());
    assert_int_equal(rc, 0);
}

/* The i-th listed writer that leaves one file, or parts, and that can run here, "check:" before
 * every other one; NULL past the last. */
static const char *reading_writer(int i, char out[64])
{
    const struct io_writer *w;
    for (int at = 0; (w = io_writer_at(at)); at++) {
        if (!(w->caps & IO_CAPS_DATA) || !io_writer_usable(w)) continue;
        if (i-- > 0) continue;
        snprintf(out, 64, "%s%s", at % 2 ? "check:" : "", w->name);
        return out;
    }
    return NULL;
}

static bool in_parts(const char *writer)
{
    return (io_writer_caps(writer) & IO_CAP_PARTS) != 0;
}

/* Two decompositions of all ranks, others with each writer and layout; one of one rank less, one of
 * a single rank. */
static void every_writer_reads_every_decomposition(void **state)
{
    (void)state;
    char name[64];
    for (int l = 0; l < LAYOUTS; l++) {
        int format = -1; /* of the file that is there */
        struct io_spec s = {0};
        for (int i = 0; reading_writer(i, name); i++) {
            if (in_parts(name) || !can_have(name, layouts[l])) continue;
            if (format != (int)io_writer_format(name))
                s = written(beginner(name), layouts[l], blocks);
            format = (int)io_writer_format(name);
            for (int g = i + l; g < i + l + 3; g += 2) {
                struct io_read_spec r = reader(&s, name, grids[g % GRIDS], size);
                assert_right(&r);
            }
            struct io_read_spec few = reader(&s, name, grids[l], size > 1 ? size - 1 : 1);
            assert_right(&few);
            few = reader(&s, name, slabs_z, 1);
            few.dumps = mixed;
            few.dumps_n = 4;
            assert_right(&few);
        }
        scratch_empty();
    }
}

static void parts_are_read_by_anybody(void **state)
{
    (void)state;
    for (int l = 0; l < LAYOUTS; l++) {
        for (int w = 0; w < GRIDS; w++) {
            struct io_spec s = written("perrank", layouts[l], grids[w]);
            for (int g = 0; g < GRIDS; g++) {
                const int ranks_n = g % 2 && size > 1 ? size - 1 : size;
                struct io_read_spec r = reader(&s, g == 1 ? "check:perrank" : "perrank", grids[g],
                                               g == 3 ? 1 : ranks_n);
                assert_right(&r);
            }
            scratch_empty();
        }
    }
}

static void every_way_of_tuning_reads_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *writer;
        struct io_tuning tuning;
        int group;
    } ways[] = {
        {"twophase", {.aggregators = 1}, 1},
        {"check:twophase", {.aggregators = 2, .buffer_bytes = 5000}, 1},
        {"twophase", {.aggregators = 99, .buffer_bytes = 4097}, 1},
        {"check:token", {0}, 2},
        {"token", {.buffer_bytes = 5000}, 99},
        {"check:token-gather", {.buffer_bytes = 4096}, 2},
        {"async", {.staging = 1, .buffer_bytes = 4096}, 1},
        {"check:async", {.staging = 5, .buffer_bytes = 4099}, 1},
        {"async", {.direct = true, .buffer_bytes = 4096}, 1},
        {"check:async", {.direct = true, .staging = 1, .aggregators = 3}, 1},
        {"uring", {.staging = 1, .buffer_bytes = 4096}, 1},
        {"check:uring", {.direct = true, .buffer_bytes = 8192}, 1},
        {"mpiio", {.call_bytes = 1000}, 1},
        {"mpiio-indep", {.call_bytes = 1000}, 1},
        {"check:mpiio-async", {.call_bytes = 1000, .staging = 1}, 1},
        {"mpiio-async", {.buffer_bytes = 4100, .staging = 4}, 1},
    };
    for (int l = 0; l < LAYOUTS; l++) {
        struct io_spec s = written("posix", layouts[l], slabs_z);
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            const struct io_writer *w = io_writer_find(ways[i].writer);
            if (!w || !io_writer_usable(w)) continue;
            if (strstr(ways[i].writer, "uring") && !io_writer_usable(io_writer_find("uring")))
                continue;
            struct io_read_spec r =
                reader(&s, ways[i].writer, grids[(i + (size_t)l) % GRIDS], size);
            r.tuning = ways[i].tuning;
            r.tuning.group = ways[i].group;
            r.dumps = i % 2 ? in_order : mixed;
            r.dumps_n = i % 2 ? 3 : 4;
            assert_right(&r);
        }
        scratch_empty();
    }
}

/* Long requests, of which a rank makes no more than it has to; rows with small gaps between them are
 * read together. */
static void requests_are_few(void **state)
{
    (void)state;
    struct io_spec s = written("posix", IO_MIJK, slabs_z);
    static const int *const shape[] = {slabs_z, slabs_x};
    for (int g = 0; g < 2; g++) {
        struct io_reading *r;
        struct io_read_spec spec = reader(&s, "posix", shape[g], size);
        const int64_t want = spec.box.n[0] * spec.box.n[1] * spec.box.n[2] > 0 ? 1 : 0;
        struct cells c = cells_new(&spec.box);
        spec.tuning.buffer_bytes = 0;
        assert_int_equal(io_read_open(&r, MPI_COMM_WORLD, &spec), 0);
        assert_int_equal(io_read_dump(r, 0, &c.at), 0);
        assert_int_equal(io_read_stats(r)->requests_n, want);
        assert_int_equal(io_read_stats(r)->bytes,
                         40 * spec.box.n[0] * spec.box.n[1] * spec.box.n[2]);
        assert_int_equal(io_read_dump(r, 2, &c.at), ERR_INVALID); /* 1 is next */
        err_clear();
        assert_int_equal(io_read_close(r), 0);
        free(c.base);
    }
}

/* With other dumps, by every writer; the manifest is not asked for again. */
static void reading_goes_on_with_other_dumps(void **state)
{
    (void)state;
    static const int64_t none[] = {DUMPS};
    char name[64];
    for (int i = 0; reading_writer(i, name); i++) {
        struct io_spec s = written(in_parts(name) ? "perrank" : beginner(name), IO_MIJK, slabs_z);
        struct io_read_spec spec = reader(&s, name, slabs_y, size);
        struct io_reading *r;
        struct cells c = cells_new(&spec.box);
        spec.dumps = mixed;
        spec.dumps_n = 2; /* 2, 0 */
        assert_int_equal(io_read_open(&r, MPI_COMM_WORLD, &spec), 0);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) unlink(in_scratch("dumps.bin.json"));
        assert_int_equal(io_read_dump(r, 2, &c.at), 0);
        assert_true(cells_are_right(&c, &spec.box, 2));
        assert_int_equal(io_read_go_on(r, in_order, DUMPS), ERR_INVALID); /* 0 is left */
        err_clear();
        assert_int_equal(io_read_dump(r, 0, &c.at), 0);
        assert_true(cells_are_right(&c, &spec.box, 0));
        assert_int_equal(io_read_go_on(r, in_order, DUMPS), 0);
        for (int64_t d = 0; d < DUMPS; d++) {
            assert_int_equal(io_read_dump(r, d, &c.at), 0);
            assert_true(cells_are_right(&c, &spec.box, d));
        }
        assert_int_equal(io_read_stats(r)->bytes,
                         5 * 40 * spec.box.n[0] * spec.box.n[1] * spec.box.n[2]);
        assert_int_equal(io_read_go_on(r, none, 1), ERR_USAGE);
        assert_int_equal(io_read_close(r), ERR_USAGE);
        err_clear();
        free(c.base);
        scratch_empty();
    }
}

/* The digest of what was read, against the manifest's. */
static void digests_are_compared(void **state)
{
    (void)state;
    struct io_spec s = written("posix", IO_IJKM, slabs_y);
    struct io_read_spec spec = reader(&s, "twophase", slabs_z, size);
    struct io_reading *r;
    struct cells c = cells_new(&spec.box);
    int64_t step = 0;
    bool right;
    s.box = spec.box;
    assert_int_equal(io_read_open(&r, MPI_COMM_WORLD, &spec), 0);
    assert_int_equal(io_read_dump(r, 0, &c.at), 0);
    struct part p = part_make(&s, 0);
    assert_int_equal(io_read_right(r, 0, p.digest, &step, &right), 0);
    assert_true(right);
    assert_int_equal(said_by_0((int)step), 5);
    assert_int_equal(io_read_right(r, 1, p.digest, &step, &right), 0);
    assert_false(right);
    part_free(&p);
    assert_int_equal(io_read_close(r), 0);
    free(c.base);
}

/* ------------------------------------------------------------------ what cannot be read */

/* The same code and message on every rank. */
static void assert_refused(const struct io_read_spec *s, int code, const char *words)
{
    char first[ERR_MESSAGE_MAX];
    err_clear();
    const int rc = read_all(s);
    snprintf(first, sizeof first, "%s", err_message());
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    const int good =
        rc == code && strcmp(first, err_message()) == 0 && strstr(first, words) != NULL;
    if (!good) print_error("%s: code %d, message '%s'\n", s->writer, rc, err_message());
    assert_true(said_by_all(good));
    err_clear();
}

static void cut(const char *path, int64_t bytes)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) truncate(path, (off_t)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void what_is_not_there_is_refused(void **state)
{
    (void)state;
    static const int64_t fourth[] = {0, 3};
    struct io_spec s = written("posix", IO_MIJK, slabs_z);
    struct io_read_spec good = reader(&s, "posix", slabs_y, size), r = good;
    r.writer = "null";
    assert_refused(&r, ERR_USAGE, "leaves nothing");
    r.writer = "check:null";
    assert_refused(&r, ERR_USAGE, "leaves nothing");
    r.writer = "nobody";
    assert_refused(&r, ERR_USAGE, "nobody");
    r.writer = "perrank";
    assert_refused(&r, ERR_USAGE, "in one file");
    r = good;
    r.dumps = fourth;
    r.dumps_n = 2;
    assert_refused(&r, ERR_USAGE, "dump 3");
    r = good;
    r.layout = IO_RECORDS;
    assert_refused(&r, ERR_USAGE, "layout mijk");
    r = good;
    if (rank == size - 1) r.box.n[0]--;
    assert_refused(&r, ERR_USAGE, "boxes hold");
    r = good;
    r.path = in_scratch("other.bin");
    assert_refused(&r, ERR_IO, "other.bin");
    r = good;
    cut(s.path, 3 * 40 * N * N * N - 1);
    r.dumps_n = 2;
    assert_right(&r);
    assert_refused(&good, ERR_IO, "it was truncated");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(in_scratch("dumps.bin.json"));
    MPI_Barrier(MPI_COMM_WORLD);
    assert_refused(&good, ERR_USAGE, "no manifest");
}

static void parts_that_are_not_there_are_refused(void **state)
{
    (void)state;
    struct io_spec s = written("perrank", IO_MIJK, slabs_z);
    struct io_read_spec r = reader(&s, "posix", slabs_y, size);
    assert_refused(&r, ERR_USAGE, "--merge");
    r.writer = "perrank";
    const char *part = in_scratch("dumps.bin.rank00000");
    cut(part, 3 * 40 * (N / size) * N * N - 1);
    assert_refused(&r, ERR_IO, "rank00000");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(part);
    MPI_Barrier(MPI_COMM_WORLD);
    assert_refused(&r, ERR_IO, "rank00000");
}

/* The file is cut while it is open. */
static void a_file_that_is_cut_while_it_is_read(void **state)
{
    (void)state;
    char name[64];
    for (int i = 0; reading_writer(i, name); i++) {
        const enum io_layout layout = can_have(name, IO_RECORDS) ? IO_RECORDS : IO_MIJK;
        struct io_spec s = written(in_parts(name) ? "perrank" : beginner(name), layout, slabs_z);
        struct io_read_spec spec = reader(&s, name, slabs_x, size);
        struct io_reading *r;
        struct cells c = cells_new(&spec.box);
        const int64_t bytes = io_dump_bytes(s.layout, N);
        spec.tuning.staging = 1;
        assert_int_equal(io_read_open(&r, MPI_COMM_WORLD, &spec), 0);
        if (in_parts(name))
            cut(in_scratch("dumps.bin.rank00000"), 100);
        else
            cut(s.path, container_of(&s).offset + bytes / 2);
        const int rc = io_read_dump(r, 0, &c.at);
        if (rc != ERR_IO) print_error("%s: code %d '%s'\n", name, rc, err_message());
        assert_true(said_by_all(rc == ERR_IO && strstr(err_message(), "dumps.bin")));
        assert_int_equal(io_read_dump(r, 1, &c.at), ERR_IO);
        assert_int_equal(io_read_close(r), ERR_IO);
        err_clear();
        free(c.base);
        scratch_empty();
    }
}

/* ------------------------------------------------------------------ caches */

/* Whether the file system keeps its files in memory, which cannot be dropped. */
static void dropped_dumps_are_not_in_memory(void **state)
{
    (void)state;
    static const char *const writers[] = {"posix", "perrank"};
    static const int64_t second[] = {1};
    for (int w = 0; w < 2; w++) {
        struct io_spec s = spec_for(in_scratch("dumps.bin"), writers[w], 48, slabs_z);
        struct io_file *f = NULL;
        struct io_read_cached c;
        assert_int_equal(write_all(&f, &s), 0);
        io_file_free(f);
        assert_int_equal(io_read_drop(MPI_COMM_WORLD, s.path, false), 0);
        assert_int_equal(io_read_cached(MPI_COMM_WORLD, s.path, in_order, 3, &c), 0);
        assert_true(c.known);
        assert_int_equal(c.bytes, 3 * io_dump_bytes(s.layout, s.n));
        if (c.cached_bytes == c.bytes)
            SKIP_NOT_HERE("files of this file system do not leave memory");
        assert_true(c.cached_bytes < c.bytes / 20);
        struct io_read_spec r = reader(&s, writers[w], slabs_z, size);
        r.dumps = second;
        r.dumps_n = 1;
        /* Again as often as the kernel has taken pages back meanwhile. */
        for (int tries = 0; tries < 1000; tries++) {
            assert_right(&r);
            assert_int_equal(io_read_cached(MPI_COMM_WORLD, s.path, second, 1, &c), 0);
            assert_int_equal(c.bytes, io_dump_bytes(s.layout, s.n));
            if (c.cached_bytes == c.bytes) break;
        }
        assert_int_equal(c.cached_bytes, c.bytes);
        assert_int_equal(io_read_cached(MPI_COMM_WORLD, s.path, in_order, 1, &c), 0);
        assert_true(c.cached_bytes < c.bytes);
        scratch_empty();
    }
    assert_int_equal(io_read_drop(MPI_COMM_WORLD, in_scratch("nothing"), false), ERR_IO);
}

/* Last: the signal cannot be taken back. */
static void a_signal_ends_reading_on_all_ranks(void **state)
{
    (void)state;
    struct io_spec s = written("posix", IO_MIJK, slabs_z);
    static const char *const writers[] = {"posix",       "twophase",    "async",
                                          "mpiio-indep", "mpiio-async", "mpiio"};
    assert_int_equal(stop_install(), 0);
    if (rank == 0) raise(SIGTERM);
    for (int w = 0; w < 6; w++) {
        struct io_read_spec r = reader(&s, writers[w], slabs_z, size);
        assert_refused(&r, ERR_INTERRUPT, "interrupted");
    }
    /* Nor is a dump of many pieces read to its end by collective calls. */
    struct io_read_spec all = reader(&s, "mpiio", slabs_z, size);
    struct io_reading *r;
    struct cells c = cells_new(&all.box);
    all.tuning.call_bytes = 200;
    assert_int_equal(io_read_open(&r, MPI_COMM_WORLD, &all), 0);
    assert_int_equal(io_read_dump(r, 0, &c.at), ERR_INTERRUPT);
    assert_int_equal(io_read_stats(r)->requests_n, 1);
    io_read_close(r);
    free(c.base);
}

#define IO_TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        IO_TEST(every_writer_reads_every_decomposition),
        IO_TEST(parts_are_read_by_anybody),
        IO_TEST(every_way_of_tuning_reads_the_same),
        IO_TEST(requests_are_few),
        IO_TEST(reading_goes_on_with_other_dumps),
        IO_TEST(digests_are_compared),
        IO_TEST(what_is_not_there_is_refused),
        IO_TEST(parts_that_are_not_there_are_refused),
        IO_TEST(a_file_that_is_cut_while_it_is_read),
        IO_TEST(dropped_dumps_are_not_in_memory),
        IO_TEST(a_signal_ends_reading_on_all_ranks),
    };
    tests_begin(&argc, &argv);
    return tests_end(cmocka_run_group_tests(tests, NULL, NULL));
}
