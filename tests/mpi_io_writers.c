/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every writer that leaves a serial file leaves the same bytes, those of a serial program, whatever
 * the layout, the decomposition and the number of ranks. */
#include "base/sys.h"
#include "mpi_io_common.h"

static const enum io_layout layouts[] = {IO_MIJK, IO_IJKM, IO_RECORDS};
#define LAYOUTS 3

static const int slabs_x[3] = {0, 1, 1}, slabs_y[3] = {1, 0, 1}, slabs_z[3] = {1, 1, 0};
static const int blocks[3] = {2, 2, 0}, columns[3] = {0, 2, 1};
static const int *const grids[] = {slabs_x, slabs_y, slabs_z, blocks, columns};
#define GRIDS ((int)(sizeof grids / sizeof grids[0]))

static int setup(void **state)
{
    (void)state;
    err_clear();
    return 0;
}

/* One file: written without an error, right on the disk, nothing but file and manifest left. */
static void check_file(const struct io_spec *s)
{
    struct io_file *f = NULL;
    int rc = write_all(&f, s);
    if (rc < 0) print_error("%s: %s\n", s->writer, err_message());
    assert_int_equal(rc, 0);
    int64_t mine = io_file_stats(f)->bytes, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    assert_int_equal(sum, s->dumps_n * io_dump_bytes(s->layout, s->n));
    io_file_free(f);
    int right = file_is_right(s, s->dumps_n);
    if (!right) {
        print_error("%s, layout %s, N = %d, %d ranks: wrong bytes\n", s->writer,
                    io_layout_name(s->layout), (int)s->n, size);
    }
    assert_true(right);
    assert_int_equal(names_in_scratch(), 2);
    rc = io_file_remove(MPI_COMM_WORLD, s->path, NULL, NULL);
    if (rc < 0) print_error("%s: %s\n", s->writer, err_message());
    assert_int_equal(rc, 0);
    assert_int_equal(names_in_scratch(), 0);
}

/* A writer that was built, and that the kernel allows. */
static bool can_use(const char *name)
{
    const struct io_writer *d = io_writer_find(name);
    if (d && d->caps & IO_CAP_WRAPPER) d = io_writer_inner(name);
    return d && io_writer_usable(d);
}

/* Calls check for each listed writer that writes a serial file. */
static void each_writer(void (*check)(const char *name))
{
    const struct io_writer *d;
    int count = 0;
    for (int i = 0; (d = io_writer_at(i)); i++) {
        if (!(d->caps & IO_CAP_SERIAL_FILE) || !io_writer_usable(d)) continue;
        check(d->name);
        count++;
    }
    assert_true(count >= 5);
}

/* Whether an earlier grid shares the cells among so many ranks in the same way. */
static bool seen_before(int g)
{
    struct io_box mine, other;
    box_of(9, grids[g], &mine);
    for (int e = 0; e < g; e++) {
        box_of(9, grids[e], &other);
        if (said_by_all(memcmp(&mine, &other, sizeof mine) == 0)) return true;
    }
    return false;
}

static void check_small(const char *name)
{
    for (int l = 0; l < LAYOUTS; l++) {
        for (int g = 0; g < GRIDS; g++) {
            if (seen_before(g)) continue;
            struct io_spec s = spec_for(in_scratch("dumps.bin"), name, 9, grids[g]);
            s.layout = layouts[l];
            if (can_have(name, s.layout)) check_file(&s);
        }
    }
}

static void same_bytes_from_every_writer(void **state)
{
    (void)state;
    each_writer(check_small);
}

/* With N = 6 and more than 6 ranks in slabs some ranks have no cell at all. */
static void check_tiny(const char *name)
{
    for (int l = 0; l < LAYOUTS; l++) {
        struct io_spec s = spec_for(in_scratch("dumps.bin"), name, 6, l == 1 ? slabs_z : slabs_x);
        s.layout = layouts[l];
        if (can_have(name, s.layout)) check_file(&s);
    }
}

static void same_bytes_with_ranks_without_cells(void **state)
{
    (void)state;
    each_writer(check_tiny);
}

static void check_wrapped(const char *name)
{
    char wrapped[64];
    snprintf(wrapped, sizeof wrapped, "check:%s", name);
    struct io_spec s = spec_for(in_scratch("dumps.bin"), wrapped, 9, blocks);
    s.layout = can_have(name, IO_RECORDS) ? IO_RECORDS : IO_IJKM;
    check_file(&s);
}

static void every_writer_keeps_the_contract(void **state)
{
    (void)state;
    each_writer(check_wrapped);
}

static void token_works_with_every_group_size(void **state)
{
    (void)state;
    for (int group = 1; group <= size + 1; group++) {
        struct io_spec s = spec_for(in_scratch("dumps.bin"), "token", 9, slabs_x);
        s.tuning.group = group;
        check_file(&s);
        s.writer = "token-gather";
        check_file(&s);
    }
}

/* Dumps longer than what the serial writer collects at a time. */
static void check_long(const char *name)
{
    for (int l = 0; l < LAYOUTS; l++) {
        struct io_spec s = spec_for(in_scratch("dumps.bin"), name, 53, l == 1 ? slabs_y : blocks);
        s.layout = layouts[l];
        s.dumps_n = 2;
        if (can_have(name, s.layout)) check_file(&s);
    }
}

static void same_bytes_for_long_dumps(void **state)
{
    (void)state;
    check_long("serial");
    check_long("posix");
    check_long("mpiio");
    check_long("twophase");
    check_long("async");
    if (can_use("hdf5")) check_long("hdf5");
    if (can_use("pnetcdf")) check_long("pnetcdf");
}

/* Small buffers make many rounds, small dumps leave blocks to be filled by several of them. */
static void check_tuned(const char *name, struct io_tuning tuning, enum io_sync sync, int quarter)
{
    static const int64_t sides[] = {3, 6, 9, 17};
    for (int i = quarter; i < 4 * LAYOUTS; i += 4) { /* of the 12 pairs of side and layout */
        struct io_spec s =
            spec_for(in_scratch("dumps.bin"), name, sides[i / LAYOUTS], i % 2 ? blocks : slabs_z);
        s.layout = layouts[i % LAYOUTS];
        s.tuning = tuning;
        s.sync = sync;
        s.dumps_n = i % LAYOUTS == 0 ? 7 : 3;
        if (can_have(name, s.layout)) check_file(&s);
    }
}

static void same_bytes_however_tuned(void **state)
{
    (void)state;
    static const char *const writers[] = {"twophase", "async", "mpiio-async", "check:async",
                                          "check:uring"};
    for (int d = 0; d < 5; d++) {
        if (!can_use(writers[d])) continue;
        for (int a = 0; a < 4; a++) {
            const struct io_tuning t = {.aggregators = a, .buffer_bytes = 4096, .staging = 1 + a};
            check_tuned(writers[d], t, a == 1 ? IO_SYNC_DUMP : IO_SYNC_NONE, (a + d) % 4);
        }
    }
}

/* Dumps longer than what goes into one call: here 1000 bytes, in slabs more than that, in blocks
 * some ranks with less. */
static void same_bytes_from_several_calls(void **state)
{
    (void)state;
    static const char *const writers[] = {"mpiio",        "mpiio-indep",      "check:mpiio-async",
                                          "check:hdf5",   "check:hdf5-indep", "check:pnetcdf",
                                          "pnetcdf-indep"};
    for (int d = 0; d < 7; d++)
        for (int quarter = 2; quarter < 4 && can_use(writers[d]); quarter++)
            check_tuned(writers[d], (struct io_tuning){.call_bytes = 1000}, IO_SYNC_NONE, quarter);
}

static void same_bytes_around_the_page_cache(void **state)
{
    (void)state;
    static const char *const writers[] = {"async", "check:async", "check:uring"};
    static const enum io_sync policy[] = {IO_SYNC_NONE, IO_SYNC_DUMP, IO_SYNC_NONE, IO_SYNC_END};
    for (int d = 0; d < 3; d++) {
        if (!can_use(writers[d])) continue;
        for (int a = 0; a < 4; a++) {
            const struct io_tuning t = {.aggregators = a, .buffer_bytes = 8192, .direct = true};
            check_tuned(writers[d], t, policy[(a + d) % 4], a);
        }
    }
}

static void every_sync_policy_writes_the_same(void **state)
{
    (void)state;
    static const enum io_sync policies[] = {IO_SYNC_NONE, IO_SYNC_DUMP, IO_SYNC_END};
    static const char *const writers[] = {"serial", "token",      "mpiio",   "mpiio-indep",
                                          "hdf5",   "hdf5-indep", "pnetcdf", "pnetcdf-indep"};
    for (int d = 0; d < 8; d++) {
        for (int p = 0; p < 3 && can_use(writers[d]); p++) {
            struct io_spec s = spec_for(in_scratch("dumps.bin"), writers[d], 7, slabs_z);
            s.sync = policies[p];
            check_file(&s);
        }
    }
}

static void null_leaves_nothing(void **state)
{
    (void)state;
    struct io_spec s = spec_for(in_scratch("dumps.bin"), "null", 9, blocks);
    struct io_file *f = NULL;
    assert_int_equal(write_all(&f, &s), 0);
    assert_int_equal(names_in_scratch(), 0);
    io_file_free(f);
    assert_int_equal(io_file_remove(MPI_COMM_WORLD, s.path, NULL, NULL), 0);
}

static void requests_are_counted(void **state)
{
    (void)state;
    struct io_spec s = spec_for(in_scratch("dumps.bin"), "posix", 9, slabs_x);
    const struct io_view v = {s.n, s.layout, s.box};
    struct io_file *f = NULL;
    assert_int_equal(write_all(&f, &s), 0);
    const struct io_stats *stats = io_file_stats(f);
    assert_int_equal(stats->requests_n, s.dumps_n * io_view_extents(&v));
    assert_int_equal(stats->dumps_n, s.dumps_n);
    assert_int_equal(stats->dump[2].step, 15);
    for (int64_t d = 0; d < stats->dumps_n; d++) {
        const struct io_dump_times *t = &stats->dump[d];
        assert_true(t->write_s >= t->start_s);
        assert_true(d == 0 || t->start_s >= t[-1].write_s + t[-1].post_s);
    }
    for (int p = 0; p < IO_PHASES; p++) {
        assert_true(stats->phase_s[p] >= 0.0);
        assert_non_null(io_phase_name[p]);
    }
    io_file_free(f);
}

/* As in 1993: a request for each row of a block; the writer that gathers makes one per rank. */
static void token_writes_its_rows_as_they_lie(void **state)
{
    (void)state;
    static const char *const names[] = {"token", "token-gather"};
    for (int gathers = 0; gathers < 2; gathers++) {
        struct io_spec s = spec_for(in_scratch("dumps.bin"), names[gathers], 12, slabs_x);
        const struct io_view v = {s.n, s.layout, s.box};
        struct io_file *f = NULL;
        int64_t want = gathers && size > 1 ? 1 : io_view_extents(&v);
        if (io_view_bytes(&v) == 0) want = 0;
        assert_int_equal(write_all(&f, &s), 0);
        assert_int_equal(io_file_stats(f)->requests_n, s.dumps_n * want);
        io_file_free(f);
    }
}

/* The record is the same on every rank and tells the hints as they were asked for. */
static void record_tells_about_the_file(void **state)
{
    (void)state;
    static const char *const hints[] = {"cb_nodes=1", "romio_cb_write=enable"};
    struct io_spec s = spec_for(in_scratch("dumps.bin"), "mpiio", 9, blocks);
    s.hints_n = 2;
    s.hints = hints;
    struct io_file *f = NULL;
    assert_int_equal(io_file_open(&f, MPI_COMM_WORLD, &s), 0);
    json_t *r = io_file_json(f);
    const json_t *asked = json_object_get(r, "hints_asked");
    assert_string_equal(json_string_value(json_object_get(asked, "cb_nodes")), "1");
    assert_non_null(json_object_get(r, "hints_reported"));
    assert_non_null(json_string_value(json_object_get(r, "mpiio_component")));
    assert_non_null(json_string_value(json_object_get(r, "file_system")));
    assert_int_equal(json_string_value(json_object_get(r, "mount"))[0], '/');
    struct sys_fs fs;
    assert_int_equal(sys_path_fs(s.path, &fs), 0);
    const char *server = json_string_value(json_object_get(r, "server"));
    assert_non_null(json_object_get(r, "server"));
    assert_string_equal(server ? server : "", fs.network ? fs.source : "");
    assert_int_equal(json_integer_value(json_object_get(r, "bytes")), 3 * 40 * 729);
    char *mine = json_dumps(r, JSON_COMPACT | JSON_SORT_KEYS);
    uint64_t sum = 0, least, most;
    for (const char *c = mine; *c; c++) {
        sum = sum * 31 + (unsigned char)*c;
    }
    MPI_Allreduce(&sum, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&sum, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    assert_true(least == most);
    free(mine);
    json_decref(r);
    io_file_free(f);
}

/* The contract checker sees a dump out of order and a writer that scribbles into the buffer. */
static int scribble_open(void *state, const struct io_context *ctx)
{
    (void)state, (void)ctx;
    return 0;
}

static int scribble_write(void *state, const struct io_context *ctx, int64_t dump, const void *buf)
{
    (void)state, (void)dump;
    union {
        const void *in;
        char *out;
    } u = {buf};
    if (io_view_bytes(ctx->view) > 0) u.out[0] = (char)(u.out[0] + 1);
    return 0;
}

static const struct io_writer scribbler = {.name = "scribbler",
                                           .help = "changes what it shall write",
                                           .open = scribble_open,
                                           .write = scribble_write,
                                           .sync = scribble_open,
                                           .close = scribble_open};

static void checker_finds_a_changed_buffer(void **state)
{
    (void)state;
    struct io_spec s = spec_for("unused", "check:null", 9, slabs_z);
    const struct io_view v = {s.n, s.layout, s.box};
    struct io_view *all = calloc((size_t)size, sizeof *all);
    MPI_Allgather(&v, sizeof v, MPI_BYTE, all, sizeof v, MPI_BYTE, MPI_COMM_WORLD);
    int64_t requests = 0;
    struct io_context ctx = {.comm = MPI_COMM_WORLD,
                             .rank = rank,
                             .size = size,
                             .path = "unused",
                             .view = &v,
                             .all_views = all,
                             .dump_bytes = io_dump_bytes(s.layout, s.n),
                             .dumps_n = 3,
                             .tuning.group = 1,
                             .info = MPI_INFO_NULL,
                             .requests_n = &requests,
                             .inner = &scribbler};
    const struct io_writer *check = io_writer_find("check:null");
    void *st = calloc(1, check->state_size);
    struct part p = part_make(&s, 0);
    assert_int_equal(check->write(st, &ctx, 0, p.buf), ERR_INVALID); /* before open */
    err_clear();
    assert_int_equal(check->open(st, &ctx), 0);
    assert_int_equal(check->write(st, &ctx, 1, p.buf), ERR_INVALID); /* dump 0 is next */
    err_clear();
    int rc = check->write(st, &ctx, 0, p.buf);
    assert_int_equal(rc, io_view_bytes(&v) > 0 ? ERR_INVALID : 0);
    err_clear();
    if (size > 1) { /* ranks at different dumps */
        assert_int_equal(check->write(st, &ctx, rank == 0 ? 1 : 2, p.buf), ERR_INVALID);
        err_clear();
    }
    assert_int_equal(check->close(st, &ctx), 0);
    assert_int_equal(check->close(st, &ctx), ERR_INVALID);
    part_free(&p);
    free(st);
    free(all);
}

static void names_of_writers(void **state)
{
    (void)state;
    assert_null(io_writer_find("nope"));
    assert_null(io_writer_find("check"));
    assert_null(io_writer_find("check:nope"));
    assert_null(io_writer_find("check:check"));
    assert_null(io_writer_find("posix:token"));
    assert_null(io_writer_find(""));
    assert_string_equal(io_writer_find("check:mpiio-indep")->name, "check");
    assert_string_equal(io_writer_inner("check:mpiio-indep")->name, "mpiio-indep");
    assert_true(io_writer_caps("check:token") & IO_CAP_GROUP);
    assert_int_equal(io_writer_caps("nope"), 0);
}

/* What is announced of a container before it is made, against what its library makes of it in memory. */
static void containers_are_as_long_as_announced(void **state)
{
    (void)state;
    static const int64_t shape[][3] = {/* N, dumps, cells of a chunk */
                                       {5, 1, 0},    {9, 1, 0},    {12, 6, 0},   {12, 257, 0},
                                       {6, 5000, 0}, {5, 1, 4},    {12, 1, 4},   {12, 300, 4},
                                       {12, 6, 5},   {12, 40, 6},  {33, 1, 4},   {33, 6, 8},
                                       {36, 10, 9},  {33, 7, 10},  {30, 10, 12}, {36, 8, 15},
                                       {33, 6, 16},  {4, 5500, 4}, {12, 40, 256}};
    static const char *const aligned[] = {"nc_header_align_size=65536",
                                          "nc_var_align_size=1048576"};
    for (int i = 0; size == 1 && i < 4 * (int)(sizeof shape / sizeof shape[0]); i++) {
        const int64_t *of = shape[i / 4];
        const enum io_format format = i / 2 % 2 ? IO_NETCDF : IO_HDF5;
        struct io_spec s = spec_for("none", format == IO_HDF5 ? "hdf5" : "pnetcdf", of[0], slabs_z);
        struct io_structure made;
        MPI_Info info;
        if (!can_use(s.writer) || (format == IO_NETCDF && of[2] > 0)) continue;
        s.layout = i % 2 ? IO_IJKM : IO_MIJK;
        s.dumps_n = of[1];
        s.tuning.chunk = of[2];
        s.hints = aligned;
        s.hints_n = i < 8 ? i / 4 + 1 : 0;
        MPI_Info_create(&info);
        for (int h = 0; h < s.hints_n; h++) {
            const size_t key = strcspn(aligned[h], "=");
            char name[32];
            snprintf(name, sizeof name, "%.*s", (int)key, aligned[h]);
            MPI_Info_set(info, name, aligned[h] + key + 1);
        }
        const int rc = io_container_make(&made, format, &s, "0123456789", info);
        const int64_t is = made.body.file_bytes, said = io_container_bytes(format, &s);
        MPI_Info_free(&info);
        io_container_free(&made);
        if (rc < 0) print_error("%s\n", err_message());
        assert_int_equal(rc, 0);
        if (said < is || said > is + is / 20 + 4096)
            print_error("%s, N = %d, %d dumps, chunks of %d, %s: %lld bytes, announced %lld\n",
                        s.writer, (int)s.n, (int)s.dumps_n, (int)of[2], io_layout_name(s.layout),
                        (long long)is, (long long)said);
        assert_true(said >= is && said <= is + is / 20 + 4096);
    }
}

static int teardown(void **state)
{
    (void)state;
    scratch_empty();
    return 0;
}

#define IO_TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        IO_TEST(names_of_writers),
        IO_TEST(containers_are_as_long_as_announced),
        IO_TEST(same_bytes_from_every_writer),
        IO_TEST(same_bytes_with_ranks_without_cells),
        IO_TEST(every_writer_keeps_the_contract),
        IO_TEST(token_works_with_every_group_size),
        IO_TEST(same_bytes_for_long_dumps),
        IO_TEST(same_bytes_however_tuned),
        IO_TEST(same_bytes_from_several_calls),
        IO_TEST(same_bytes_around_the_page_cache),
        IO_TEST(every_sync_policy_writes_the_same),
        IO_TEST(null_leaves_nothing),
        IO_TEST(requests_are_counted),
        IO_TEST(token_writes_its_rows_as_they_lie),
        IO_TEST(record_tells_about_the_file),
        IO_TEST(checker_finds_a_changed_buffer),
    };
    tests_begin(&argc, &argv);
    return tests_end(cmocka_run_group_tests(tests, NULL, NULL));
}
