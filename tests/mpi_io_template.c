/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A writer to start from, which really works: docs/writers.md walks through it, and the test at the
 * end holds it to what every writer must do. Copy the part down to the table to io/writers/writer_NAME.c,
 * call it io_writer_NAME and add IO_WRITER(NAME) to io/writers/writer_list.h. */
#include "mpi_io_common.h"

#include "base/mem.h"
#include "io/writers/fd.h"
#include "io/read.h"

/* Private state, zeroed before open. Nothing of a writer lives outside it, so that two files can be
 * open at a time. */
struct template_state {
    int fd;
    char *copy; /* [io_view_bytes] stands for whatever a writer has to set up */
};

/* Required. Collective. The file is there with its full length. With ctx->plan it is to be read, which
 * io_fd_open knows. On failure leave the state so that
 * close can be called, because it will be, on every rank. */
static int template_open(void *state, const struct io_context *ctx)
{
    struct template_state *s = state;
    s->fd = -1;
    s->copy = mem_new(io_view_bytes(ctx->view), 1, "a copy of a dump");
    if (!s->copy) return ERR_NOMEM;
    return io_fd_open(ctx, &s->fd);
}

/* Required. My bytes of dump number dump. The code is this rank's own: the dispatcher tells the
 * others. Whatever happens here, exchange the messages that other ranks wait for. */
static int template_write(void *state, const struct io_context *ctx, int64_t dump, const void *buf)
{
    struct template_state *s = state;
    const int64_t start = dump * ctx->dump_bytes;
    struct io_walk w;
    struct io_extent e;
    memcpy(s->copy, buf, (size_t)io_view_bytes(ctx->view));
    for (io_walk_start(&w, ctx->view); io_walk_next(&w, &e);) {
        TRY(io_fd_write(ctx, s->fd, s->copy + e.buffer_bytes, e.length_bytes,
                        start + e.offset_bytes));
    }
    return 0;
}

/* Not required: without it the writer posix reads. The way back, of dump number dump into the
 * caller's values, which take knows; here at once, but a piece at a time is better. */
static int template_read(void *state, const struct io_context *ctx, int64_t dump,
                         const struct io_taker *to)
{
    struct template_state *s = state;
    const int64_t start = dump * ctx->dump_bytes;
    struct io_walk w;
    struct io_extent e;
    for (io_walk_start(&w, ctx->view); io_walk_next(&w, &e);) {
        TRY(io_fd_read(ctx, s->fd, s->copy + e.buffer_bytes, e.length_bytes,
                       start + e.offset_bytes));
    }
    to->take(to->state, ctx->view, s->copy, 0, io_view_bytes(ctx->view));
    return 0;
}

/* Required. Collective. What this rank has written is to be on the device afterwards. */
static int template_sync(void *state, const struct io_context *ctx)
{
    struct template_state *s = state;
    return io_fd_sync(ctx, s->fd);
}

/* Required. Collective. Called once after open, even when open has failed. */
static int template_close(void *state, const struct io_context *ctx)
{
    struct template_state *s = state;
    free(s->copy);
    return io_fd_close(ctx, &s->fd);
}

/* Not required: what a reader of the result should know about the open file. */
static int template_describe(void *state, const struct io_context *ctx, json_t *into)
{
    (void)state;
    json_object_set_new(into, "copy_bytes", json_integer(io_view_bytes(ctx->view)));
    return 0;
}

static const struct io_writer io_writer_template = {
    .name = "template",
    .help = "copies its part and writes it piece by piece",
    .caps = IO_CAP_SERIAL_FILE,
    .state_size = sizeof(struct template_state),
    .open = template_open,
    .write = template_write,
    .read = template_read,
    .sync = template_sync,
    .close = template_close,
    .describe = template_describe,
};

/* Whether the values of its dumps come back. */
static int reads_back(const struct io_spec *s)
{
    static const int64_t dumps[] = {0, 1, 2};
    const struct io_read_spec spec = {.path = s->path,
                                      .writer = s->writer,
                                      .layout = s->layout,
                                      .n = s->n,
                                      .box = s->box,
                                      .dumps = dumps,
                                      .dumps_n = 3};
    const int64_t *n = s->box.n, *lo = s->box.lo, values_n = 5 * n[0] * n[1] * n[2];
    double *u = calloc((size_t)values_n + 1, sizeof *u); /* [k][j][m][i] */
    struct io_reading *r;
    int wrong = 0;
    int rc = io_read_open_with(&r, MPI_COMM_WORLD, &spec, &io_writer_template);
    for (int64_t d = 0; rc == 0 && d < 3; d++) {
        rc = io_read_dump(r, d, &(struct io_array){u, n[0], 5 * n[0], 5 * n[0] * n[1]});
        for (int64_t c = 0; c < values_n; c++) {
            const int64_t i = c % n[0], m = c / n[0] % 5, j = c / n[0] / 5 % n[1],
                          k = c / n[0] / 5 / n[1];
            wrong += u[c] != value(lo[0] + i, lo[1] + j, lo[2] + k, m, d);
        }
    }
    const int close_rc = io_read_close(r);
    free(u);
    return rc == 0 && close_rc == 0 && wrong == 0;
}

static void the_template_writes_right_files_and_reads_them(void **state)
{
    (void)state;
    static const enum io_layout layouts[] = {IO_MIJK, IO_IJKM, IO_RECORDS};
    static const int blocks[3] = {2, 2, 0};
    for (int l = 0; l < 3; l++) {
        struct io_spec s = spec_for(in_scratch("dumps.bin"), "template", 9, blocks);
        struct io_file *f = NULL;
        s.layout = layouts[l];
        assert_int_equal(io_file_open_with(&f, MPI_COMM_WORLD, &s, &io_writer_template), 0);
        for (int64_t d = 0; d < 3; d++) {
            assert_int_equal(write_dump(f, &s, d), 0);
        }
        assert_int_equal(io_file_end(f), 0);
        json_t *r = io_file_json(f);
        assert_true(json_integer_value(json_object_get(r, "copy_bytes")) > 0);
        json_decref(r);
        io_file_free(f);
        assert_true(file_is_right(&s, 3));
        assert_true(said_by_all(reads_back(&s)));
        scratch_empty();
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_template_writes_right_files_and_reads_them)};
    tests_begin(&argc, &argv);
    return tests_end(cmocka_run_group_tests(tests, NULL, NULL));
}
