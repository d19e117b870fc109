/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sizes beyond what 32 bits count.
 *
 * Offsets beyond 2^40: the writers that write each rank's own pieces put a few cells of a 2560^3
 * grid (class F) into a sparse file, in a late dump. Dumps of that size fit nowhere, so the
 * dispatcher, which would preallocate them, is left out.
 *
 * More than 2^31 bytes of a rank: the writers on MPI-IO make calls of 1 GiB at most. Here the calls
 * only look as if they wrote. Where NHT1_LONG_DUMPS is set each writer writes such a dump really,
 * and it is read back. */
#include "mpi_io_common.h"

#include <fcntl.h>

#include "io/writers/mpiio.h"

static const int64_t n = 2560;
static char huge[1024];
static int64_t dumps_n;

/* The cells of this rank: a bar of 3 x 2 x 2 that ends in the far corner, or beside that of the
 * rank before. */
static struct io_view my_view(enum io_layout layout)
{
    struct io_view v = {n, layout, {{n - 3, n - 2, n - 2 * (rank + 1)}, {3, 2, 2}}};
    return v;
}

/* A sparse file of as many dumps as the file system lets be: 50 of class F are beyond what ext4
 * takes in one file. Returns 0 when there is none. */
static int make_sparse(const char *parent, int64_t dumps)
{
    int made = 0;
    snprintf(huge, sizeof huge, "%s/nht1-huge-%d.bin", parent, said_by_0((int)getpid()));
    int fd = rank == 0 ? open(huge, O_CREAT | O_EXCL | O_RDWR, 0666) : -1;
    if (fd >= 0) {
        made = ftruncate(fd, (off_t)(dumps * io_dump_bytes(IO_MIJK, n))) == 0;
        close(fd);
        if (!made) unlink(huge);
    }
    dumps_n = dumps;
    return said_by_0(made);
}

static int setup(void **state)
{
    (void)state;
    err_clear();
    return make_sparse("/dev/shm", 50) || make_sparse(scratch, 20) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(huge);
    return 0;
}

/* What this rank has written, read back value by value by the format's formula. */
static int values_are_there(const struct io_view *v, int64_t d)
{
    int fd = open(huge, O_RDONLY), right = fd >= 0;
    const struct io_box *b = &v->box;
    for (int64_t c = 0; right && c < 5 * 12; c++) {
        int64_t m = c % 5, i = b->lo[0] + c / 5 % 3, j = b->lo[1] + c / 15 % 2;
        int64_t k = b->lo[2] + c / 30;
        double got = 0.0, want = value(i, j, k, m, d);
        int64_t at = d * io_dump_bytes(v->layout, n) + place(v->layout, n, i, j, k, m);
        right = pread(fd, &got, sizeof got, (off_t)at) == sizeof got && got == want;
    }
    if (fd >= 0) close(fd);
    return said_by_all(right);
}

static struct part stage(const struct io_view *v, int64_t d)
{
    double u[2][2][5][3]; /* [k][j][m][i] */
    for (int c = 0; c < 60; c++) {
        int i = c % 3, m = c / 3 % 5, j = c / 15 % 2, k = c / 30;
        u[k][j][m][i] = value(v->box.lo[0] + i, v->box.lo[1] + j, v->box.lo[2] + k, m, d);
    }
    struct part p = {malloc((size_t)io_view_bytes(v)), NULL};
    io_view_stage(v, &(struct io_field){&u[0][0][0][0], 3, 15, 30}, p.buf);
    return p;
}

static void check_huge(const char *name, enum io_layout layout)
{
    const struct io_writer *writer = io_writer_find(name);
    const struct io_view v = my_view(layout);
    int64_t requests = 0, last = dumps_n - 1;
    struct io_view *all_views = malloc((size_t)size * sizeof v);
    MPI_Allgather(&v, sizeof v, MPI_BYTE, all_views, sizeof v, MPI_BYTE, MPI_COMM_WORLD);
    struct io_context ctx = {.comm = MPI_COMM_WORLD,
                             .rank = rank,
                             .size = size,
                             .path = huge,
                             .view = &v,
                             .all_views = all_views,
                             .dump_bytes = io_dump_bytes(layout, n),
                             .dumps_n = dumps_n,
                             .tuning.group = 2,
                             .tuning.call_bytes = IO_CALL_BYTES,
                             .requests_n = &requests};
    MPI_Info_create(&ctx.info);
    void *st = calloc(1, writer->state_size + 1);
    struct part p = stage(&v, last);
    int rc = writer->open(st, &ctx);
    if (rc == 0) rc = writer->write(st, &ctx, last, p.buf);
    int close_rc = writer->close(st, &ctx);
    if (rc < 0 || close_rc < 0) print_error("%s: %s\n", name, err_message());
    assert_true(said_by_all(rc == 0 && close_rc == 0));
    assert_true(values_are_there(&v, last));
    part_free(&p);
    free(st);
    free(all_views);
    MPI_Info_free(&ctx.info);
}

static void pieces_beyond_2_to_40(void **state)
{
    (void)state;
    static const char *const names[] = {"posix", "token", "mpiio-indep"};
    assert_true((dumps_n - 1) * io_dump_bytes(IO_MIJK, n) > INT64_C(1) << 40);
    for (int d = 0; d < 3; d++) {
        check_huge(names[d], IO_MIJK);
        check_huge(names[d], IO_IJKM);
    }
}

static void collective_view_beyond_2_to_40(void **state)
{
    (void)state;
    check_huge("mpiio", IO_MIJK);
    check_huge("mpiio", IO_IJKM);
}

/* The view of one rank that owns a whole grid, and of one that owns a bar of it. */
static void check_view_type(const struct io_view *v)
{
    MPI_Datatype type;
    MPI_Count bytes, lb, extent;
    assert_int_equal(io_mpiio_view_type(v, &type), 0);
    MPI_Type_size_x(type, &bytes);
    MPI_Type_get_extent_x(type, &lb, &extent);
    assert_int_equal(bytes, io_view_bytes(v));
    assert_int_equal(lb, 0);
    assert_int_equal(extent, io_dump_bytes(v->layout, v->n));
    MPI_Type_free(&type);
}

static void view_types_span_a_dump(void **state)
{
    (void)state;
    for (int l = 0; l < 3; l++) {
        struct io_view v = {n, (enum io_layout)l, {{0, 0, 0}, {n, n, n}}};
        check_view_type(&v);
        v.box = (struct io_box){{n - 1, 7, 11}, {1, 5, 3}};
        check_view_type(&v);
    }
}

/* ------------------------------------------------------------------ more than 2^31 bytes of a rank
 */

/* While it is active calls that write move nothing, but are remembered. */
static struct {
    bool active;
    int64_t calls_n, most, next; /* next: where the first byte not yet written lies in the stream */
    bool gap;
} watch;

static void watch_call(MPI_Offset offset, int count)
{
    watch.calls_n++;
    if (count > watch.most) watch.most = count;
    if (count > 0 && offset != watch.next) watch.gap = true;
    watch.next += count;
}

int MPI_File_write_at(MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype type,
                      MPI_Status *status)
{
    if (!watch.active) return PMPI_File_write_at(fh, offset, buf, count, type, status);
    watch_call(offset, count);
    return MPI_Status_set_elements(status, type, count);
}

int MPI_File_write_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                          MPI_Datatype type, MPI_Status *status)
{
    if (!watch.active) return PMPI_File_write_at_all(fh, offset, buf, count, type, status);
    watch_call(offset, count);
    return MPI_Status_set_elements(status, type, count);
}

static int fill_status(void *count, MPI_Status *status)
{
    MPI_Status_set_cancelled(status, 0);
    return MPI_Status_set_elements(status, MPI_BYTE, (int)(intptr_t)count);
}

static int nothing(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int nothing_to_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

int MPI_File_iwrite_at(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                       MPI_Datatype type, MPI_Request *request)
{
    if (!watch.active) return PMPI_File_iwrite_at(fh, offset, buf, count, type, request);
    watch_call(offset, count);
    MPI_Grequest_start(fill_status, nothing, nothing_to_cancel, (void *)(intptr_t)count, request);
    return MPI_Grequest_complete(*request);
}

/* Rank 0 has a whole dump of 378^3, the others nothing: all make the same collective calls. */
static void check_calls(const char *name)
{
    const int64_t big = 378;
    const struct io_writer *writer = io_writer_find(name);
    const struct io_view v = {big, IO_MIJK, {{0, 0, 0}, {big, big, rank == 0 ? big : 0}}};
    const int64_t mine = io_view_bytes(&v);
    int64_t requests = 0;
    struct io_view *all_views = malloc((size_t)size * sizeof v);
    MPI_Allgather(&v, sizeof v, MPI_BYTE, all_views, sizeof v, MPI_BYTE, MPI_COMM_WORLD);
    struct io_context ctx = {.comm = MPI_COMM_WORLD,
                             .rank = rank,
                             .size = size,
                             .path = huge,
                             .view = &v,
                             .all_views = all_views,
                             .dump_bytes = dumps_n * io_dump_bytes(IO_MIJK, n), /* of the file */
                             .dumps_n = 1,
                             .tuning = {.group = 1, .staging = 1, .call_bytes = IO_CALL_BYTES},
                             .requests_n = &requests,
                             .wait_s = &(double){0}};
    MPI_Info_create(&ctx.info);
    void *st = calloc(1, writer->state_size + 1);
    assert_true(said_by_all(writer->open(st, &ctx) == 0));
    /* Pages that nobody touches take no memory. */
    char *own = calloc(1, (size_t)mine + 1),
         *buf = writer->buffer ? writer->buffer(st, &ctx, 0) : own;
    memset(&watch, 0, sizeof watch);
    watch.active = true;
    int rc = writer->write(st, &ctx, 0, buf);
    if (writer->drain && rc == 0) rc = writer->drain(st, &ctx);
    watch.active = false;
    int close_rc = writer->close(st, &ctx);
    if (rc < 0 || close_rc < 0) print_error("%s: %s\n", name, err_message());
    assert_true(said_by_all(rc == 0 && close_rc == 0));
    assert_true(said_by_all(watch.most <= IO_CALL_BYTES && !watch.gap && watch.next == mine));
    if (rank == 0) assert_true(mine > INT64_C(1) << 31 && watch.calls_n == 3);
    if (strcmp(name, "mpiio") == 0) assert_true(said_by_all(watch.calls_n == 3));
    MPI_Info_free(&ctx.info);
    free(own);
    free(st);
    free(all_views);
}

static void a_dump_beyond_2_gib_goes_in_several_calls(void **state)
{
    (void)state;
    if (size > 2) return; /* mpiio-async takes 2 GiB of memory */
    check_calls("mpiio");
    check_calls("mpiio-indep");
    check_calls("mpiio-async");
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Whether my bytes of the dump are in the file, or in the file of mine. */
static int mine_are_there(const struct io_spec *s, const struct io_view *v, bool apart,
                          const char *buf)
{
    enum { CHUNK = 8 << 20 };
    char name[1100], *got = malloc(CHUNK);
    const struct container c = container_of(s);
    snprintf(name, sizeof name, apart ? "%s.rank%05d" : "%s", s->path, rank);
    int fd = open(name, O_RDONLY), right = fd >= 0 && got;
    struct io_walk w;
    struct io_extent e;
    for (io_walk_start(&w, v); right && io_walk_next(&w, &e);) {
        const int64_t base = apart ? e.buffer_bytes : c.offset + e.offset_bytes;
        for (int64_t at = 0; right && at < e.length_bytes; at += CHUNK) {
            const size_t bytes =
                (size_t)(e.length_bytes - at < CHUNK ? e.length_bytes - at : CHUNK);
            right = pread(fd, got, bytes, (off_t)(base + at)) == (ssize_t)bytes;
            if (c.swapped) swap_values(got, bytes);
            right = right && memcmp(got, buf + e.buffer_bytes + at, bytes) == 0;
        }
    }
    if (fd >= 0) close(fd);
    free(got);
    return said_by_all(right);
}

/* Each of two ranks has more than 2^31 bytes: in one piece, or in 226576 where rows are cut. */
static void check_long_dump(const struct io_writer *d, const int grid[3])
{
    struct io_spec s = spec_for(in_scratch("long.bin"), d->name, 476, grid);
    const struct io_view v = {s.n, s.layout, s.box};
    const int64_t words = io_view_bytes(&v) / 8;
    struct io_file *f = NULL;
    s.dumps_n = 1;
    s.tuning.staging = 1;
    assert_true(io_view_bytes(&v) > INT64_C(1) << 31);
    uint64_t *buf = malloc((size_t)words * 8),
             *digest = calloc((size_t)digest_words(s.n), sizeof *digest);
    assert_true(said_by_all(buf && digest));
    for (int64_t i = 0; i < words; i++)
        buf[i] = mix((uint64_t)i + ((uint64_t)rank << 40));
    int rc = io_file_open(&f, MPI_COMM_WORLD, &s);
    if (rc == 0) rc = io_file_write(f, 5, buf, digest);
    if (rc == 0) rc = io_file_end(f);
    io_file_free(f);
    if (rc < 0) print_error("%s: %s\n", d->name, err_message());
    assert_int_equal(rc, 0);
    if (!mine_are_there(&s, &v, d->caps & IO_CAP_PARTS, (char *)buf)) {
        print_error("%s: wrong bytes\n", d->name);
        fail();
    }
    free(buf);
    free(digest);
    scratch_empty();
}

static void every_writer_writes_more_than_2_gib_per_rank(void **state)
{
    (void)state;
    static const int slabs[3] = {1, 1, 0}, columns[3] = {2, 1, 1};
    const struct io_writer *d;
    const char *only = getenv("NHT1_LONG_DUMPS"); /* "all", or the name of a writer */
    if (!only) return;
    assert_int_equal(size, 2);
    for (int i = 0; (d = io_writer_at(i)); i++) {
        if (!(d->caps & IO_CAPS_DATA) || !io_writer_usable(d)) continue;
        if (strcmp(only, "all") != 0 && strcmp(only, d->name) != 0) continue;
        if (rank == 0) print_message("%s\n", d->name);
        check_long_dump(d, slabs);
        if (strcmp(d->name, "mpiio") == 0 || strcmp(d->name, "twophase") == 0)
            check_long_dump(d, columns);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(view_types_span_a_dump),
        cmocka_unit_test_setup_teardown(pieces_beyond_2_to_40, setup, teardown),
        cmocka_unit_test_setup_teardown(collective_view_beyond_2_to_40, setup, teardown),
        cmocka_unit_test_setup_teardown(a_dump_beyond_2_gib_goes_in_several_calls, setup, teardown),
        cmocka_unit_test(every_writer_writes_more_than_2_gib_per_rank),
    };
    tests_begin(&argc, &argv);
    return tests_end(cmocka_run_group_tests(tests, NULL, NULL));
}
