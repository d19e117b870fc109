/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Going on with a file of an earlier run: what is kept, what is read back, what is made again. */
#include "mpi_io_common.h"

#include <fcntl.h>

enum { N = 9, DUMPS = 4 };

static const int slabs[3][3] = {{0, 1, 1}, {1, 0, 1}, {1, 1, 0}};

static int setup(void **state)
{
    (void)state;
    err_clear();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scratch_empty();
    return 0;
}

static struct io_spec spec_of(const char *writer, enum io_layout layout, const int grid[3])
{
    struct io_spec s = spec_for(in_scratch("dumps.bin"), writer, N, grid);
    s.layout = layout;
    s.dumps_n = DUMPS;
    s.steps_n = 5 * DUMPS;
    return s;
}

/* A run that ends after its first dumps_n dumps, its file free of everything behind them. */
static void begin(const struct io_spec *s, int64_t dumps_n)
{
    struct io_file *f = NULL;
    int rc = io_file_open(&f, MPI_COMM_WORLD, s);
    for (int64_t d = 0; d < dumps_n && rc == 0; d++) {
        rc = write_dump(f, s, d);
    }
    if (rc == 0) rc = io_file_end(f);
    io_file_free(f);
    assert_true(said_by_all(rc == 0));
}

/* Goes on from what is kept. Returns how many dumps that were, or the error. */
static int64_t go_on(struct io_spec s)
{
    struct io_file *f = NULL;
    s.resume = true;
    int rc = io_file_open(&f, MPI_COMM_WORLD, &s);
    if (rc < 0) return rc;
    const struct io_resumed kept = *io_file_resumed(f);
    for (int64_t d = kept.dumps_n; d < s.dumps_n && rc == 0; d++) {
        rc = write_dump(f, &s, d);
    }
    if (rc == 0) rc = io_file_end(f);
    io_file_free(f);
    if (rc == 0 && kept.step != 5 * kept.dumps_n) return ERR_INVALID;
    return rc < 0 ? rc : kept.dumps_n;
}

/* Turns one byte of the file round. */
static void damage(const char *path, off_t offset)
{
    int fd = rank == 0 ? open(path, O_RDWR) : -1;
    unsigned char byte;
    if (fd >= 0 && pread(fd, &byte, 1, offset) == 1) {
        byte ^= 0x10;
        if (pwrite(fd, &byte, 1, offset) != 1) byte = 0;
    }
    if (fd >= 0) close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void from_every_dump_in_other_shapes(void **state)
{
    (void)state;
    static const enum io_layout layouts[] = {IO_MIJK, IO_IJKM, IO_RECORDS};
    for (int l = 0; l < 3; l++) {
        for (int64_t d = 0; d <= DUMPS; d++) {
            struct io_spec s = spec_of("posix", layouts[l], slabs[d % 3]);
            begin(&s, d);
            s = spec_of("posix", layouts[l], slabs[(d + 1) % 3]);
            assert_int_equal(go_on(s), d);
            assert_true(file_is_right(&s, DUMPS));
            scratch_empty();
        }
    }
}

/* Every writer that leaves a serial file, and so every one that will be. */
static void every_writer_goes_on(void **state)
{
    (void)state;
    const struct io_writer *writer;
    for (int i = 0; (writer = io_writer_at(i)); i++) {
        if (!(writer->caps & IO_CAP_SERIAL_FILE) || (writer->caps & IO_CAP_WRAPPER)) continue;
        if (!io_writer_usable(writer)) continue;
        struct io_spec s = spec_of(beginner(writer->name), IO_IJKM, slabs[2]);
        begin(&s, 1);
        s = spec_of(writer->name, IO_IJKM, slabs[0]);
        s.sync = i % 2 ? IO_SYNC_DUMP : IO_SYNC_END;
        int64_t kept = go_on(s);
        if (kept != 1) print_error("%s: %d, '%s'\n", writer->name, (int)kept, err_message());
        assert_int_equal(kept, 1);
        assert_true(file_is_right(&s, DUMPS));
        scratch_empty();
    }
}

/* What is kept are the dumps before the first that is damaged, wherever the damage is. */
static void damage_ends_what_is_kept(void **state)
{
    (void)state;
    for (int64_t d = 0; d < DUMPS; d++) {
        struct io_spec s = spec_of("posix", IO_MIJK, slabs[2]);
        begin(&s, DUMPS);
        const int64_t bytes = io_dump_bytes(s.layout, N);
        damage(s.path, d * bytes + (d % 2 ? bytes - 1 : 7 + 97 * d));
        assert_int_equal(go_on(s), d);
        assert_true(file_is_right(&s, DUMPS));
        scratch_empty();
    }
}

/* Rank 0: in the structure of a container, the address of the dumps becomes another. Returns how often
 * that was there. */
static int lead_elsewhere(const struct io_spec *s)
{
    const struct container c = container_of(s);
    char head[1 << 17], want[8];
    memcpy(want, &c.offset, 8); // little endian here, as in HDF5
    if (c.swapped) swap_values(want, 8);
    const int fd = open(s->path, O_RDWR);
    const ssize_t got = fd >= 0 && c.offset > 0 ? pread(fd, head, sizeof head, 0) : 0;
    want[c.swapped ? 6 : 1] ^= 0x10;
    int found = 0;
    for (ssize_t at = 0; at + 8 <= got && at < c.offset; at++) {
        head[at + (c.swapped ? 6 : 1)] ^= 0x10;
        if (memcmp(head + at, want, 8) == 0) found += pwrite(fd, want, 8, at) == 8;
        head[at + (c.swapped ? 6 : 1)] ^= 0x10;
    }
    if (fd >= 0) close(fd);
    return found;
}

enum harm { ZEROS, ONE_BIT, ELSEWHERE, HARMS };

static void harm_structure(const struct io_spec *s, enum harm harm)
{
    static const char nothing[4096];
    const int fd = rank == 0 && harm == ZEROS ? open(s->path, O_RDWR) : -1;
    if (fd >= 0) assert_int_equal(pwrite(fd, nothing, sizeof nothing, 0), sizeof nothing);
    if (fd >= 0) close(fd);
    if (harm == ONE_BIT) damage(s->path, 1);
    if (harm == ELSEWHERE) assert_true(said_by_0(rank == 0 ? lead_elsewhere(s) : 0) > 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Three dumps in a file whose structure is then harmed: all are kept, and found by readers. */
static void check_mended(const char *writer, enum harm harm)
{
    struct io_spec s = spec_of(writer, IO_MIJK, slabs[2]);
    begin(&s, 3);
    harm_structure(&s, harm);
    s = spec_of(writer, IO_MIJK, slabs[0]);
    struct cells c = cells_new(&s.box);
    s.resume_to = &c.at;
    const int64_t kept = go_on(s);
    free(c.base);
    if (kept != 3) print_error("%s, harm %d: %d, '%s'\n", writer, harm, (int)kept, err_message());
    assert_true(kept == 3);
    struct io_read_spec r = reader(&s, writer, slabs[1], size);
    assert_int_equal(read_all(&r), 0);
    assert_true(file_is_right(&s, DUMPS));
    scratch_empty();
}

/* All that the structure says follows from the manifest, so no dump is lost with it. */
static void a_damaged_structure_is_made_again(void **state)
{
    (void)state;
    const struct io_writer *writer;
    for (int i = 0; (writer = io_writer_at(i)); i++) {
        if (io_writer_format(writer->name) == IO_RAW || (writer->caps & IO_CAP_WRAPPER)) continue;
        if (!io_writer_usable(writer)) continue;
        for (int harm = 0; harm < HARMS; harm++)
            check_mended(writer->name, harm);
    }
}

/* Whether the values read back are those of dump d. */
static int values_are_right(const struct io_spec *s, const double *u, int64_t d)
{
    const int64_t *n = s->box.n, *lo = s->box.lo;
    int wrong = 0;
    for (int64_t c = 0; c < 5 * n[0] * n[1] * n[2]; c++) {
        const int64_t i = c % n[0], m = c / n[0] % 5, j = c / n[0] / 5 % n[1],
                      k = c / n[0] / 5 / n[1];
        const double want = value(lo[0] + i, lo[1] + j, lo[2] + k, m, d);
        wrong += memcmp(&u[c], &want, sizeof want) != 0;
    }
    return wrong == 0;
}

/* With an array for the state, the last dump is all that is read when it is right, and those before
 * it are compared at the end; when it is wrong, all are read. The state is that of the last one kept
 * in any case. seen: what was damaged is found at once. */
static void check_state(int64_t bad, bool seen)
{
    struct io_spec s = spec_of("posix", IO_MIJK, slabs[2]);
    struct io_file *f = NULL;
    begin(&s, DUMPS);
    if (bad >= 0) damage(s.path, bad * io_dump_bytes(s.layout, N) + 1003);
    s = spec_of(bad % 2 ? "twophase" : "posix", IO_MIJK, slabs[bad < 2]);
    const int64_t ni = s.box.n[0], nj = s.box.n[1], nk = s.box.n[2];
    double *u = calloc((size_t)(5 * ni * nj * nk + 1), sizeof *u);
    const struct io_array to = {u, ni, 5 * ni, 5 * ni * nj};
    s.resume = true;
    s.resume_to = &to;
    s.resume_seen = seen;
    assert_int_equal(io_file_open(&f, MPI_COMM_WORLD, &s), 0);
    const struct io_resumed *past = io_file_resumed(f);
    const bool last = bad != DUMPS - 1 && !seen;
    const int64_t kept_n = last || bad < 0 ? DUMPS : bad;
    assert_int_equal(past->dumps_n, kept_n);
    assert_int_equal(past->unseen_n, last ? DUMPS - 1 : 0);
    assert_int_equal(past->claimed_n, DUMPS);
    assert_int_equal(past->step, 5 * kept_n);
    assert_true((past->read_s > 0) == (last || kept_n > 0 || bad == DUMPS - 1));
    if (kept_n > 0) assert_true(said_by_all(values_are_right(&s, u, kept_n - 1)));
    int rc = 0;
    for (int64_t d = kept_n; d < DUMPS && rc == 0; d++)
        rc = write_dump(f, &s, d);
    assert_int_equal(rc, 0);
    assert_int_equal(io_file_end(f), 0);
    bool right;
    assert_int_equal(io_file_kept_right(f, &right), 0);
    assert_int_equal(right, bad < 0 || !last);
    free(u);
    io_file_free(f);
    if (right) assert_true(file_is_right(&s, DUMPS));
    scratch_empty();
}

static void the_last_dump_is_enough_to_go_on(void **state)
{
    (void)state;
    for (int64_t bad = -1; bad < DUMPS; bad++)
        check_state(bad, false);
    check_state(-1, true);
    check_state(1, true);
}

/* Another file in the place of ours, of the same length: none of its dumps is right. */
static void what_took_the_files_place_is_refused(void **state)
{
    (void)state;
    struct io_spec s = spec_of("posix", IO_MIJK, slabs[2]);
    struct io_file *f = NULL;
    begin(&s, DUMPS);
    for (int64_t d = 0; d < DUMPS; d++)
        damage(s.path, d * io_dump_bytes(s.layout, N) + 5);
    double *u = calloc((size_t)(5 * N * N * N), sizeof *u);
    const struct io_array whole = {u, s.box.n[0], 5 * s.box.n[0], 5 * s.box.n[0] * s.box.n[1]};
    s.resume = true;
    s.resume_to = &whole;
    assert_int_equal(io_file_open(&f, MPI_COMM_WORLD, &s), ERR_USAGE);
    assert_true(said_by_all(strstr(err_message(), "was not written by this program") != NULL));
    free(u);
}

/* The claims of what will be made again are gone before the first new byte is written. */
static void claims_are_withdrawn_first(void **state)
{
    (void)state;
    struct io_spec s = spec_of("posix", IO_MIJK, slabs[2]);
    struct io_file *f = NULL;
    begin(&s, DUMPS);
    damage(s.path, io_dump_bytes(s.layout, N) + 100);
    s.resume = true;
    assert_int_equal(io_file_open(&f, MPI_COMM_WORLD, &s), 0);
    json_t *root = rank == 0 ? json_load_file(in_scratch("dumps.bin.json"), 0, NULL) : NULL;
    int left = (int)json_array_size(json_object_get(root, "dumps"));
    json_decref(root);
    io_file_free(f);
    assert_int_equal(said_by_0(left), 1);
}

/* The run that wrote the file before has lost it, and must not remove it any more. */
static void a_continued_file_is_the_new_runs(void **state)
{
    (void)state;
    struct io_spec s = spec_of("posix", IO_MIJK, slabs[2]);
    begin(&s, DUMPS);
    json_t *root = rank == 0 ? json_load_file(in_scratch("dumps.bin.json"), 0, NULL) : NULL;
    char id[64] = "";
    if (root) snprintf(id, sizeof id, "%s", json_string_value(json_object_get(root, "run_id")));
    json_decref(root);
    assert_true(said_by_0(rank != 0 || io_file_is_of_run(s.path, id)));
    assert_int_equal(go_on(s), DUMPS);
    assert_true(said_by_0(rank != 0 || !io_file_is_of_run(s.path, id)));
    assert_int_equal(io_file_remove(MPI_COMM_WORLD, s.path, id, NULL), 0);
    assert_true(file_is_right(&s, DUMPS));
}

static void assert_refused(struct io_spec s, int code, const char *words)
{
    err_clear();
    int64_t rc = go_on(s);
    int good = rc == code && strstr(err_message(), words) != NULL;
    if (!good) print_error("code %d, message '%s'\n", (int)rc, err_message());
    assert_true(said_by_all(good));
}

static void other_runs_are_refused(void **state)
{
    (void)state;
    const struct io_spec good = spec_of("posix", IO_MIJK, slabs[2]);
    struct io_spec s = good;
    assert_refused(s, ERR_USAGE, "nothing to continue");
    assert_int_equal(names_in_scratch(), 0);
    begin(&good, 2);
    s.dumps_n = DUMPS + 1;
    assert_refused(s, ERR_USAGE, "number of dumps");
    s = good;
    s.interval = 6;
    assert_refused(s, ERR_USAGE, "interval");
    s = good;
    s.dt = 0.002;
    assert_refused(s, ERR_USAGE, "dt = ");
    s = good;
    s.layout = IO_IJKM;
    assert_refused(s, ERR_USAGE, "layout");
    s = good;
    s.writer = "null";
    assert_refused(s, ERR_USAGE, "serial format");
    assert_int_equal(go_on(good), 2);
    assert_true(file_is_right(&good, DUMPS));
}

#define IO_TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        IO_TEST(from_every_dump_in_other_shapes),
        IO_TEST(every_writer_goes_on),
        IO_TEST(damage_ends_what_is_kept),
        IO_TEST(a_damaged_structure_is_made_again),
        IO_TEST(claims_are_withdrawn_first),
        IO_TEST(other_runs_are_refused),
        IO_TEST(a_continued_file_is_the_new_runs),
        IO_TEST(the_last_dump_is_enough_to_go_on),
        IO_TEST(what_took_the_files_place_is_refused),
    };
    tests_begin(&argc, &argv);
    return tests_end(cmocka_run_group_tests(tests, NULL, NULL));
}
