/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Offsets beyond 2^40: the drivers that write each rank's own pieces put a few cells of a 2560^3
 * grid (class F) into a sparse file, in a late dump. Dumps of that size fit nowhere, so the
 * dispatcher, which would preallocate them, is left out. */
#include "mpi_io_common.h"

#include <fcntl.h>

#include "io/mpiio.h"

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
    const struct io_driver *driver = io_driver_find(name);
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
                             .group = 2,
                             .requests_n = &requests};
    MPI_Info_create(&ctx.info);
    void *st = calloc(1, driver->state_size + 1);
    struct part p = stage(&v, last);
    int rc = driver->open(st, &ctx);
    if (rc == 0) rc = driver->write(st, &ctx, last, p.buf);
    int close_rc = driver->close(st, &ctx);
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

/* Types whose size does not fit into an int. */
static void types_beyond_2_gib(void **state)
{
    (void)state;
    static const int64_t sizes[] = {
        0, 1, 4095, (INT64_C(1) << 30) - 1, INT64_C(1) << 31, (INT64_C(5) << 30) + 3};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        MPI_Datatype type;
        MPI_Count bytes;
        assert_int_equal(io_mpiio_bytes_type(sizes[i], &type), 0);
        MPI_Type_size_x(type, &bytes);
        assert_int_equal(bytes, sizes[i]);
        MPI_Type_free(&type);
    }
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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_beyond_2_gib),
        cmocka_unit_test(view_types_span_a_dump),
        cmocka_unit_test_setup_teardown(pieces_beyond_2_to_40, setup, teardown),
        cmocka_unit_test_setup_teardown(collective_view_beyond_2_to_40, setup, teardown),
    };
    tests_begin(&argc, &argv);
    return tests_end(cmocka_run_group_tests(tests, NULL, NULL));
}
