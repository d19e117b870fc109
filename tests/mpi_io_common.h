/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_MPI_IO_COMMON_H
#define TESTS_MPI_IO_COMMON_H
/* What the tests of io/ under mpirun share: a scratch folder, specs for a decomposition, data that
 * tell where they belong, a serial oracle for the bytes of a file. What rank 0 finds out about a
 * file is told to all ranks before anybody asserts, so that no rank waits for one that gave up. */
#include <dirent.h>
#include <mpi.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/digest.h"
#include "base/err.h"
#include "io/writers/writer.h"
#include "io/file.h"
#include "io/read.h"

static int rank, size;
static char scratch[512];

/* The folder of this run; the same on every rank. */
static inline void scratch_make(const char *parent)
{
    snprintf(scratch, sizeof scratch, "%s/nht1-io-XXXXXX", parent);
    if (rank == 0 && !mkdtemp(scratch)) scratch[0] = 0;
    MPI_Bcast(scratch, sizeof scratch, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static inline void scratch_init(void)
{
    const char *parent = getenv("TMPDIR");
    scratch_make(parent && parent[0] ? parent : "/tmp");
}

/* Empties the scratch folder, which holds nothing but what the tests made. */
static inline void scratch_empty(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    DIR *dir = rank == 0 ? opendir(scratch) : NULL;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (e->d_name[0] == '.') continue;
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", scratch, e->d_name);
        remove(path);
    }
    if (dir) closedir(dir);
    MPI_Barrier(MPI_COMM_WORLD);
}

static inline void scratch_remove(void)
{
    scratch_empty();
    if (rank == 0) rmdir(scratch);
}

/* "SCRATCH/NAME". Static storage, a few in turn. */
static inline const char *in_scratch(const char *name)
{
    static char path[8][1024];
    static int turn;
    turn = (turn + 1) % 8;
    snprintf(path[turn], sizeof path[turn], "%s/%s", scratch, name);
    return path[turn];
}

/* What rank 0 says, on every rank. */
static inline int said_by_0(int answer)
{
    MPI_Bcast(&answer, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return answer;
}

/* Whether all ranks say yes, on every rank. */
static inline int said_by_all(int answer)
{
    int all;
    MPI_Allreduce(&answer, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

/* Number of names in the scratch folder. */
static inline int names_in_scratch(void)
{
    int count = 0;
    DIR *dir = rank == 0 ? opendir(scratch) : NULL;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        count += e->d_name[0] != '.';
    }
    if (dir) closedir(dir);
    return said_by_0(count);
}

static inline int there(const char *path)
{
    struct stat st;
    return said_by_0(rank == 0 && lstat(path, &st) == 0);
}

/* U_m(i,j,k) of dump d. */
static inline double value(int64_t i, int64_t j, int64_t k, int64_t m, int64_t d)
{
    return (double)(i + 100 * (j + 100 * (k + 100 * (m + 5 * d)))) + 0.375;
}

/* How the cells are shared: grid[q] parts along axis q, or 0 for what is left of the ranks. */
static inline void box_of(int64_t n, const int grid[3], struct io_box *b)
{
    int p[3], left = size, at = rank;
    for (int q = 0; q < 3; q++) {
        if (grid[q] && left % grid[q] == 0) left /= grid[q];
    }
    for (int q = 0, rest = size; q < 3; q++) {
        p[q] = grid[q] ? (rest % grid[q] == 0 ? grid[q] : 1) : left;
        rest /= grid[q] ? p[q] : 1;
    }
    for (int q = 0; q < 3; q++) {
        int64_t mine = at % p[q];
        at /= p[q];
        b->lo[q] = n * mine / p[q];
        b->n[q] = n * (mine + 1) / p[q] - b->lo[q];
    }
}

static inline struct io_spec spec_for(const char *path, const char *writer, int64_t n,
                                      const int grid[3])
{
    struct io_spec s = {.path = path,
                        .writer = writer,
                        .layout = IO_MIJK,
                        .n = n,
                        .dumps_n = 3,
                        .steps_n = 50, /* dumps at 5, 10 ... */
                        .dt = 0.001,
                        .interval = 5,
                        .tuning.group = 1,
                        .sync = IO_SYNC_NONE,
                        .kernel = "1/generic"};
    box_of(n, grid, &s.box);
    return s;
}

/* This rank's part of a dump, staged, and its digest. */
struct part {
    char *buf;
    uint64_t *digest;
};

static inline void part_free(struct part *p)
{
    free(p->buf);
    free(p->digest);
}

static inline struct part part_make(const struct io_spec *s, int64_t d)
{
    const struct io_view v = {s->n, s->layout, s->box};
    const int64_t ni = s->box.n[0], nj = s->box.n[1], nk = s->box.n[2];
    double *u = calloc((size_t)(5 * ni * nj * nk + 1), sizeof *u); /* [k][j][m][i] */
    struct part p = {malloc((size_t)io_view_bytes(&v) + 1),
                     calloc((size_t)digest_words(s->n), sizeof(uint64_t))};
    for (int64_t k = 0; k < nk; k++) {
        for (int64_t j = 0; j < nj; j++) {
            for (int m = 0; m < 5; m++) {
                double *row = u + ni * (m + 5 * (j + nj * k));
                for (int64_t i = 0; i < ni; i++) {
                    row[i] = value(s->box.lo[0] + i, s->box.lo[1] + j, s->box.lo[2] + k, m, d);
                }
                if (ni == 0) continue;
                digest_row(p.digest, s->n, s->box.lo[0], ni, s->box.lo[1] + j, s->box.lo[2] + k, m,
                           row);
            }
        }
    }
    io_view_stage(&v, &(struct io_field){u, ni, 5 * ni, 5 * ni * nj}, p.buf);
    free(u);
    return p;
}

/* Writes dump d as step 5 (d + 1). */
static inline int write_dump(struct io_file *f, const struct io_spec *s, int64_t d)
{
    struct part p = part_make(s, d);
    void *buf = d % 4 == 3 ? NULL : io_file_buffer(f);
    if (buf) memcpy(buf, p.buf, (size_t)io_view_bytes(io_file_view(f)));
    int rc = io_file_write(f, 5 * (d + 1), buf ? buf : p.buf, p.digest);
    part_free(&p);
    return rc;
}

/* Opens, writes all dumps, ends. Returns the first error; then *f is NULL or to be freed. */
static inline int write_all(struct io_file **f, const struct io_spec *s)
{
    TRY(io_file_open(f, MPI_COMM_WORLD, s));
    io_file_start(*f);
    for (int64_t d = 0; d < s->dumps_n; d++) {
        TRY(write_dump(*f, s, d));
    }
    return io_file_end(*f);
}

/* Byte offset of a value in a dump, straight from the format's description. */
static inline int64_t place(enum io_layout layout, int64_t n, int64_t i, int64_t j, int64_t k,
                            int64_t m)
{
    if (layout == IO_MIJK) return 8 * (m + 5 * (i + n * (j + n * k)));
    if (layout == IO_IJKM) return 8 * (i + n * (j + n * (k + n * m)));
    return k * (40 * n * n + 8) + 4 + 8 * (i + n * (j + n * m));
}

/* A dump as a serial program would write it. */
static inline char *oracle_dump(enum io_layout layout, int64_t n, int64_t d)
{
    char *dump = calloc(1, (size_t)io_dump_bytes(layout, n));
    const int32_t payload = (int32_t)(40 * n * n);
    for (int64_t c = 0; c < 5 * n * n * n; c++) {
        int64_t m = c % 5, i = c / 5 % n, j = c / 5 / n % n, k = c / 5 / n / n;
        double v = value(i, j, k, m, d);
        memcpy(dump + place(layout, n, i, j, k, m), &v, sizeof v);
    }
    for (int64_t k = 0; layout == IO_RECORDS && k < n; k++) {
        char *record = dump + k * (40 * n * n + 8);
        memcpy(record, &payload, 4);
        memcpy(record + 4 + payload, &payload, 4);
    }
    return dump;
}

/* Whether a writer has dumps of this layout in its files: records are a format of their own. */
static inline bool can_have(const char *writer, enum io_layout layout)
{
    return layout != IO_RECORDS || io_writer_format(writer) == IO_RAW;
}

/* Who begins a file that the writer is to read or to go on with. */
static inline const char *beginner(const char *writer)
{
    if (io_writer_format(writer) == IO_RAW) return "posix";
    const char *colon = strchr(writer, ':');
    return colon ? colon + 1 : writer;
}

/* Where the dumps begin in a container, as its manifest says; the file's length; whether the values
 * are big endian. A file without a manifest has dumps alone. */
struct container {
    int64_t offset, bytes;
    int swapped;
};

static inline struct container container_of(const struct io_spec *s)
{
    char name[1100];
    snprintf(name, sizeof name, "%s.json", s->path);
    struct container c = {0, io_dump_bytes(s->layout, s->n) * s->dumps_n, 0};
    json_t *m = json_load_file(name, 0, NULL);
    const char *endian = json_string_value(json_object_get(m, "endian"));
    if (json_object_get(m, "format")) {
        c.offset = json_integer_value(json_object_get(m, "data_offset"));
        c.bytes = json_integer_value(json_object_get(m, "file_bytes"));
        c.swapped = endian && strcmp(endian, "big") == 0;
    }
    json_decref(m);
    return c;
}

static inline void swap_values(char *bytes, size_t n)
{
    for (size_t at = 0; at + 8 <= n; at += 8) {
        for (int b = 0; b < 4; b++) {
            const char x = bytes[at + (size_t)b];
            bytes[at + (size_t)b] = bytes[at + 7 - (size_t)b];
            bytes[at + 7 - (size_t)b] = x;
        }
    }
}

/* Rank 0 compares the first dumps_n dumps of the file with the oracle, and its length. */
static inline int file_is_right(const struct io_spec *s, int64_t dumps_n)
{
    int right = 1;
    FILE *file = rank == 0 ? fopen(s->path, "rb") : NULL;
    if (rank == 0 && !file) right = 0;
    size_t bytes = (size_t)io_dump_bytes(s->layout, s->n);
    char *got = malloc(bytes);
    const struct container c = rank == 0 ? container_of(s) : (struct container){0};
    if (file) right = right && fseek(file, (long)c.offset, SEEK_SET) == 0;
    for (int64_t d = 0; file && d < dumps_n; d++) {
        char *want = oracle_dump(s->layout, s->n, d);
        if (c.swapped) swap_values(want, bytes);
        right = right && fread(got, 1, bytes, file) == bytes && memcmp(got, want, bytes) == 0;
        free(want);
    }
    struct stat st;
    if (file) right = right && fstat(fileno(file), &st) == 0;
    if (right && file) right = st.st_size == (off_t)c.bytes;
    if (file) fclose(file);
    free(got);
    return said_by_0(right);
}

static const int64_t in_order[] = {0, 1, 2};

/* What reads it, by a decomposition of the first ranks_n ranks. */
static inline struct io_read_spec reader(const struct io_spec *s, const char *writer,
                                         const int grid[3], int ranks_n)
{
    struct io_read_spec r = {.path = s->path,
                             .writer = writer,
                             .layout = s->layout,
                             .n = s->n,
                             .dumps = in_order,
                             .dumps_n = 3,
                             .tuning = {.buffer_bytes = 4096}};
    const int all = size;
    size = ranks_n;
    if (rank < ranks_n) box_of(s->n, grid, &r.box);
    size = all;
    return r;
}

/* Cells, with others around them that nobody is to change. */
struct cells {
    double *base;
    struct io_array at;
    int64_t count;
};

static inline struct cells cells_new(const struct io_box *b)
{
    struct cells c;
    c.at.sm = b->n[0] + 3;
    c.at.sj = 5 * c.at.sm;
    c.at.sk = c.at.sj * (b->n[1] + 2);
    c.count = c.at.sk * (b->n[2] + 2);
    c.base = malloc((size_t)c.count * sizeof *c.base);
    for (int64_t i = 0; i < c.count; i++)
        c.base[i] = -7.25;
    c.at.u = c.base + c.at.sk + c.at.sj + 1;
    return c;
}

/* Whether the cells are those of dump d and nothing else was changed; then they are no more. */
static inline int cells_are_right(struct cells *c, const struct io_box *b, int64_t d)
{
    int64_t wrong = 0, others = 0;
    for (int64_t v = 0; v < 5 * b->n[0] * b->n[1] * b->n[2]; v++) {
        const int64_t m = v % 5, i = v / 5 % b->n[0], j = v / 5 / b->n[0] % b->n[1],
                      k = v / 5 / b->n[0] / b->n[1];
        double *x = &c->at.u[k * c->at.sk + j * c->at.sj + m * c->at.sm + i];
        const double want = value(b->lo[0] + i, b->lo[1] + j, b->lo[2] + k, m, d);
        wrong += memcmp(x, &want, sizeof want) != 0;
        *x = -7.25;
    }
    for (int64_t i = 0; i < c->count; i++)
        others += c->base[i] < -7.25 || c->base[i] > -7.25;
    return wrong == 0 && others == 0;
}

/* Opens, reads the dumps, closes. Returns the code, ERR_VERIFY for wrong values. */
static inline int read_all(const struct io_read_spec *s)
{
    struct io_reading *r;
    struct cells c = cells_new(&s->box);
    int rc = io_read_open(&r, MPI_COMM_WORLD, s);
    for (int64_t d = 0; rc == 0 && d < s->dumps_n; d++) {
        rc = io_read_dump(r, s->dumps[d], &c.at);
        if (rc == 0 && !said_by_all(cells_are_right(&c, &s->box, s->dumps[d]))) rc = ERR_VERIFY;
    }
    const int close_rc = io_read_close(r);
    free(c.base);
    return rc < 0 ? rc : close_rc;
}

/* Start and end of main of each of these programs. */
static inline void tests_begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    scratch_init();
}

static inline int tests_end(int failed)
{
    int any;
    scratch_remove();
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return any != 0;
}

#endif
