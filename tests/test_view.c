/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Views and staging against an oracle that goes through every byte of a dump by the formulas of the
 * file format, one value at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/digest.h"
#include "base/err.h"
#include "io/view.h"

static const enum io_layout layouts[] = {IO_MIJK, IO_IJKM, IO_RECORDS};
#define LAYOUTS 3

/* Byte offset of U_m(i,j,k) within a dump, straight from the format's description. */
static int64_t place(enum io_layout layout, int64_t n, int64_t i, int64_t j, int64_t k, int64_t m)
{
    switch (layout) {
    case IO_MIJK:
        return 8 * (m + 5 * (i + n * (j + n * k)));
    case IO_IJKM:
        return 8 * (i + n * (j + n * (k + n * m)));
    default:
        return k * (40 * n * n + 8) + 4 + 8 * (i + n * (j + n * m));
    }
}

/* A value that tells where it belongs. */
static double value(int64_t i, int64_t j, int64_t k, int64_t m)
{
    return 1.0 + (double)m + 10.0 * (double)i + 1e4 * (double)j + 1e7 * (double)k;
}

/* A dump as a serial program would write it, but for what lies outside of the planes of a box. */
static char *oracle_dump(enum io_layout layout, int64_t n, const struct io_box *b)
{
    char *dump = calloc(1, (size_t)io_dump_bytes(layout, n));
    int32_t payload = (int32_t)(40 * n * n);
    for (int64_t k = b->lo[2]; k < b->lo[2] + b->n[2]; k++) {
        for (int64_t j = b->lo[1]; j < b->lo[1] + b->n[1]; j++) {
            for (int64_t i = 0; i < n; i++) {
                for (int64_t m = 0; m < 5; m++) {
                    double v = value(i, j, k, m);
                    memcpy(dump + place(layout, n, i, j, k, m), &v, 8);
                }
            }
        }
        if (layout != IO_RECORDS) continue;
        int64_t record = k * (40 * n * n + 8);
        memcpy(dump + record, &payload, 4);
        memcpy(dump + record + 4 + 40 * n * n, &payload, 4);
    }
    return dump;
}

/* Calls use for the box of every place of a px x py x pz grid. */
typedef void use_box(const struct io_view *v, void *arg);

static void split(int64_t n, int parts, int p, int64_t *lo, int64_t *len)
{
    *lo = n * p / parts;
    *len = n * (p + 1) / parts - *lo;
}

static void each_box(enum io_layout layout, int64_t n, const int grid[3], use_box *use, void *arg)
{
    for (int z = 0; z < grid[2]; z++) {
        for (int y = 0; y < grid[1]; y++) {
            for (int x = 0; x < grid[0]; x++) {
                struct io_view v = {.n = n, .layout = layout};
                split(n, grid[0], x, &v.box.lo[0], &v.box.n[0]);
                split(n, grid[1], y, &v.box.lo[1], &v.box.n[1]);
                split(n, grid[2], z, &v.box.lo[2], &v.box.n[2]);
                use(&v, arg);
            }
        }
    }
}

/* Decompositions: whole, slabs of several thicknesses down to one cell, pencils, blocks, columns.
 */
static const int grids[][3] = {{1, 1, 1}, {2, 1, 1}, {1, 3, 1}, {1, 1, 4}, {6, 1, 1}, {1, 6, 1},
                               {1, 1, 6}, {2, 2, 1}, {3, 1, 2}, {1, 5, 2}, {2, 3, 4}, {5, 3, 2},
                               {6, 6, 1}, {6, 6, 6}, {7, 1, 1}, {1, 7, 1}, {1, 1, 9}, {4, 4, 4}};
#define GRIDS ((int)(sizeof grids / sizeof grids[0]))

/* Runs a check for every layout, N = 6..9 and every decomposition that fits. */
static void each_case(void (*check)(enum io_layout layout, int64_t n, const int grid[3]))
{
    for (int l = 0; l < LAYOUTS; l++) {
        for (int64_t n = 6; n <= 9; n++) {
            for (int g = 0; g < GRIDS; g++) {
                if (grids[g][0] > n || grids[g][1] > n || grids[g][2] > n) continue;
                check(layouts[l], n, grids[g]);
            }
        }
    }
}

/* How often each byte of the dump is claimed. */
struct bitmap {
    unsigned char *count;
};

static void claim(const struct io_view *v, void *arg)
{
    struct bitmap *b = arg;
    struct io_walk w;
    struct io_extent e;
    int64_t end = -1, staged = 0, extents = 0;
    for (io_walk_start(&w, v); io_walk_next(&w, &e); extents++) {
        assert_true(e.length_bytes > 0);
        assert_true(e.offset_bytes > end); /* ascending, disjoint and not adjoining */
        assert_int_equal(e.buffer_bytes, staged);
        end = e.offset_bytes + e.length_bytes;
        staged += e.length_bytes;
        for (int64_t at = e.offset_bytes; at < end; at++) {
            b->count[at]++;
        }
    }
    assert_true(end <= io_dump_bytes(v->layout, v->n));
    assert_int_equal(staged, io_view_bytes(v));
    assert_int_equal(extents, io_view_extents(v));
    assert_false(io_walk_next(&w, &e));
}

static void check_tiling(enum io_layout layout, int64_t n, const int grid[3])
{
    const size_t bytes = (size_t)io_dump_bytes(layout, n);
    struct bitmap b = {calloc(1, bytes)};
    each_box(layout, n, grid, claim, &b);
    size_t wrong = 0;
    for (size_t at = 0; at < bytes; at++) {
        wrong += b.count[at] != 1;
    }
    assert_int_equal(wrong, 0);
    free(b.count);
}

static void extents_tile_the_dump_once(void **unused)
{
    (void)unused;
    each_case(check_tiling);
}

/* Every value of a box lies in an extent of its view, at the place that the format says. */
static void claim_own(const struct io_view *v, void *arg)
{
    unsigned char *mine = calloc(1, (size_t)io_dump_bytes(v->layout, v->n));
    struct bitmap b = {mine};
    (void)arg;
    claim(v, &b);
    const struct io_box *x = &v->box;
    int64_t missing = 0;
    for (int64_t k = x->lo[2]; k < x->lo[2] + x->n[2]; k++) {
        for (int64_t j = x->lo[1]; j < x->lo[1] + x->n[1]; j++) {
            for (int64_t i = x->lo[0]; i < x->lo[0] + x->n[0]; i++) {
                for (int64_t m = 0; m < 5; m++) {
                    const unsigned char *word = mine + place(v->layout, v->n, i, j, k, m);
                    missing += word[0] != 1 || word[7] != 1;
                }
            }
        }
    }
    assert_int_equal(missing, 0);
    free(mine);
}

static void check_ownership(enum io_layout layout, int64_t n, const int grid[3])
{
    each_box(layout, n, grid, claim_own, NULL);
}

static void values_are_in_their_owners_view(void **unused)
{
    (void)unused;
    each_case(check_ownership);
}

/* A field with ghost cells around the box, as the solver's, filled with NaN where it is not ours.
 */
struct field {
    double *base, *cell; /* cell (0,0,0) of component 0 */
    int64_t sm, sj, sk, count;
};

static struct field field_new(const struct io_box *b)
{
    enum { GHOST = 2 };
    struct field f;
    f.sm = b->n[0] + 2 * GHOST + 1;
    f.sj = 5 * f.sm;
    f.sk = f.sj * (b->n[1] + 2 * GHOST);
    f.count = f.sk * (b->n[2] + 2 * GHOST);
    f.base = malloc((size_t)f.count * sizeof *f.base);
    for (int64_t c = 0; c < f.count; c++) {
        f.base[c] = -7.25;
    }
    f.cell = f.base + GHOST * (f.sk + f.sj + 1);
    return f;
}

static double *cell_at(const struct field *f, int64_t i, int64_t j, int64_t k, int64_t m)
{
    return &f->cell[k * f->sk + j * f->sj + m * f->sm + i];
}

static void field_fill(const struct field *f, const struct io_box *b)
{
    for (int64_t k = 0; k < b->n[2]; k++) {
        for (int64_t j = 0; j < b->n[1]; j++) {
            for (int64_t i = 0; i < b->n[0]; i++) {
                for (int64_t m = 0; m < 5; m++) {
                    *cell_at(f, i, j, k, m) = value(b->lo[0] + i, b->lo[1] + j, b->lo[2] + k, m);
                }
            }
        }
    }
}

/* Stages into an odd address between guard bytes; the extents must then be the oracle's bytes. */
static void stage_one(const struct io_view *v, void *arg)
{
    enum { GUARD = 9 };
    const char *dump = arg;
    const size_t bytes = (size_t)io_view_bytes(v);
    struct field f = field_new(&v->box), back = field_new(&v->box), empty = field_new(&v->box);
    char *room = malloc(bytes + 2 * GUARD), *buf = room + GUARD;
    memset(room, 0x5a, bytes + 2 * GUARD);
    field_fill(&f, &v->box);
    io_view_stage(v, &(struct io_field){f.cell, f.sm, f.sj, f.sk}, buf);
    for (int g = 0; g < GUARD; g++) {
        assert_int_equal(room[g], 0x5a);
        assert_int_equal(buf[(int64_t)bytes + g], 0x5a);
    }
    struct io_walk w;
    struct io_extent e;
    for (io_walk_start(&w, v); io_walk_next(&w, &e);) {
        assert_memory_equal(buf + e.buffer_bytes, dump + e.offset_bytes, (size_t)e.length_bytes);
    }
    /* Back again, at once and in parts, also cut inside a value; ghost cells untouched. The same out
     * of the dump. */
    const struct io_array to = {back.cell, back.sm, back.sj, back.sk};
    const int64_t least = v->layout == IO_MIJK ? 8 : 1;
    io_view_unstage(v, buf, 0, (int64_t)bytes, &to);
    assert_memory_equal(back.base, f.base, (size_t)f.count * sizeof *f.base);
    memcpy(back.base, empty.base, (size_t)f.count * sizeof *f.base);
    for (int64_t at = 0, part = 0; at < (int64_t)bytes; at += part) {
        part = least * (1 + (at / least + 17) * 31 % 67);
        if (part > (int64_t)bytes - at) part = (int64_t)bytes - at;
        io_view_unstage(v, buf + at, at, part, &to);
    }
    assert_memory_equal(back.base, f.base, (size_t)f.count * sizeof *f.base);
    memcpy(back.base, empty.base, (size_t)f.count * sizeof *f.base);
    const int64_t whole = io_dump_bytes(v->layout, v->n);
    for (int64_t at = 0, part = 0; at < whole; at += part) {
        part = least * (1 + (at / least + 17) * 31 % 167) * (1 + whole / 100000);
        if (part > whole - at) part = whole - at;
        io_view_pick(v, dump + at, at, part, &to);
    }
    assert_memory_equal(back.base, f.base, (size_t)f.count * sizeof *f.base);
    free(room);
    free(f.base);
    free(back.base);
    free(empty.base);
}

static void check_staging(enum io_layout layout, int64_t n, const int grid[3])
{
    char *dump = oracle_dump(layout, n, &(struct io_box){{0, 0, 0}, {n, n, n}});
    each_box(layout, n, grid, stage_one, dump);
    free(dump);
}

static void staged_bytes_are_the_files_bytes(void **unused)
{
    (void)unused;
    each_case(check_staging);
}

/* Longer rows than the block through which components are interleaved: whole ones and halves, of few
 * lines and planes. */
static void staging_of_long_rows(void **unused)
{
    (void)unused;
    static const struct io_box rows[] = {{{0, 0, 0}, {131, 3, 2}},
                                         {{0, 64, 43}, {65, 3, 2}},
                                         {{65, 128, 128}, {66, 3, 3}},
                                         {{0, 0, 64}, {131, 131, 1}}};
    for (int l = 0; l < LAYOUTS; l++) {
        for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
            const struct io_view v = {131, layouts[l], rows[r]};
            char *dump = oracle_dump(layouts[l], 131, &rows[r]);
            stage_one(&v, dump);
            free(dump);
        }
    }
}

static void adjoining_runs_are_one_extent(void **unused)
{
    (void)unused;
    const struct io_box whole = {{0, 0, 0}, {8, 8, 8}}, slab = {{0, 0, 3}, {8, 8, 2}};
    for (int l = 0; l < LAYOUTS; l++) {
        struct io_view v = {8, layouts[l], whole};
        assert_int_equal(io_view_extents(&v), 1);
        v.box = slab;
        assert_int_equal(io_view_extents(&v), layouts[l] == IO_IJKM ? 5 : 1);
    }
    struct io_view row = {8, IO_MIJK, {{3, 0, 0}, {1, 8, 8}}};
    assert_int_equal(io_view_extents(&row), 64);
}

static void empty_boxes_have_no_bytes(void **unused)
{
    (void)unused;
    for (int l = 0; l < LAYOUTS; l++) {
        for (int q = 0; q < 3; q++) {
            struct io_view v = {8, layouts[l], {{0, 0, 0}, {8, 8, 8}}};
            v.box.n[q] = 0;
            assert_int_equal(io_view_bytes(&v), 0);
            assert_int_equal(io_view_extents(&v), 0);
            double nothing = 0.0;
            char guard = 3;
            io_view_stage(&v, &(struct io_field){&nothing, 1, 1, 1}, &guard);
            assert_int_equal(guard, 3);
        }
    }
}

/* Sizes of grids that no test can write: 2560^3 is class F. */
static void sizes_beyond_32_bits(void **unused)
{
    (void)unused;
    assert_int_equal(io_dump_bytes(IO_MIJK, 102), INT64_C(42448320));
    assert_int_equal(io_dump_bytes(IO_RECORDS, 102), INT64_C(42448320) + 8 * 102);
    assert_int_equal(io_dump_bytes(IO_IJKM, 2560), INT64_C(671088640000));
    assert_int_equal(50 * io_dump_bytes(IO_MIJK, 2560), INT64_C(33554432000000));
    assert_true(50 * io_dump_bytes(IO_MIJK, 2560) > INT64_C(1) << 44); /* 16 TiB */
    struct io_view corner = {2560, IO_IJKM, {{2559, 2559, 2559}, {1, 1, 1}}};
    struct io_walk w;
    struct io_extent e, last = {0, 0, 0};
    for (io_walk_start(&w, &corner); io_walk_next(&w, &e);) {
        last = e;
    }
    assert_int_equal(last.offset_bytes, INT64_C(671088640000) - 8);
    assert_int_equal(io_view_extents(&corner), 5);
    struct io_view whole = {2560, IO_MIJK, {{0, 0, 0}, {2560, 2560, 2560}}};
    assert_int_equal(io_view_bytes(&whole), INT64_C(671088640000));
}

static void layout_names(void **unused)
{
    (void)unused;
    for (int l = 0; l < LAYOUTS; l++) {
        enum io_layout back;
        assert_int_equal(io_layout_parse(io_layout_name(layouts[l]), &back), 0);
        assert_int_equal(back, layouts[l]);
    }
    enum io_layout kept = IO_RECORDS;
    assert_int_equal(io_layout_parse("kjim", &kept), ERR_USAGE);
    assert_non_null(strstr(err_message(), "kjim"));
    err_clear();
}

static bool take_all_rows(const struct io_view *v, const struct io_field *from, char *to,
                          uint64_t *digest)
{
    const int64_t nj = v->box.n[1];
    for (int64_t k = 0; k < v->box.n[2]; k++)
        for (int64_t j = 0; j < nj; j += 4) {
            const struct io_rows rows = {k, j, j + 4 < nj ? j + 4 : nj};
            if (!io_view_take_rows(v, from, rows, to, digest)) return false;
        }
    return true;
}

static void hash_all_rows(const struct io_view *v, const struct io_field *from, uint64_t *digest)
{
    const int64_t *n = v->box.n, *lo = v->box.lo;
    for (int64_t k = 0; k < n[2]; k++)
        for (int64_t j = 0; j < n[1]; j++)
            for (int m = 0; m < 5; m++)
                digest_row(digest, v->n, lo[0], n[0], lo[1] + j, lo[2] + k, m,
                           from->u + k * from->sk + j * from->sj + m * from->sm);
}

/* Staging and hashing in one pass against staging and hashing: boxes that begin anywhere, rows of any length,
 * buffers on every word of a line, and one that is written past the caches. */
static void taken_rows_are_staged_and_hashed(void **state)
{
    (void)state;
    uint64_t any = 7;
    int taken = 0;
    for (int t = 0; t < 200; t++) {
        const bool large = t >= 198;
        struct io_view v = {.n = large ? 61 + t % 2 : 5 + t % 31,
                            .layout = t % 40 == 39 ? IO_IJKM : IO_MIJK};
        for (int q = 0; q < 3; q++) {
            any = any * UINT64_C(6364136223846793005) + 1442695040888963407;
            v.box.lo[q] = large ? 0 : (int64_t)(any >> 33) % v.n;
            v.box.n[q] = large ? v.n : 1 + (int64_t)(any >> 40) % (v.n - v.box.lo[q]);
        }
        const int64_t *n = v.box.n, sm = n[0] + t % 5, sj = 5 * sm, sk = n[1] * sj + 3;
        const int64_t bytes = io_view_bytes(&v), words = digest_words(v.n);
        double *u = malloc((size_t)(n[2] * sk + 2 * sj) * sizeof *u);
        char *want = calloc(1, (size_t)bytes + 128), *got = calloc(1, (size_t)bytes + 128);
        uint64_t *right = calloc((size_t)words, 8), *digest = calloc((size_t)words, 8);
        char *to = got + 8 * (t % 9), *there = want + 8 * (t % 9);
        const struct io_field from = {u, sm, sj, sk};
        for (int64_t i = 0; i < n[2] * sk + 2 * sj; i++) {
            any = any * UINT64_C(6364136223846793005) + 1442695040888963407;
            u[i] = (double)(any >> 12);
        }
        if (take_all_rows(&v, &from, to, digest)) {
            io_view_stage(&v, &from, there);
            hash_all_rows(&v, &from, right);
            assert_memory_equal(got, want, (size_t)bytes + 128); /* and nothing beside them */
            assert_memory_equal(digest, right, (size_t)words * 8);
            assert_int_equal(v.layout, IO_MIJK);
            taken++;
        }
        free(u);
        free(want);
        free(got);
        free(right);
        free(digest);
    }
    assert_true(taken == 0 || taken > 150); /* none: this processor cannot */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extents_tile_the_dump_once),
        cmocka_unit_test(values_are_in_their_owners_view),
        cmocka_unit_test(staged_bytes_are_the_files_bytes),
        cmocka_unit_test(staging_of_long_rows),
        cmocka_unit_test(adjoining_runs_are_one_extent),
        cmocka_unit_test(empty_boxes_have_no_bytes),
        cmocka_unit_test(sizes_beyond_32_bits),
        cmocka_unit_test(layout_names),
        cmocka_unit_test(taken_rows_are_staged_and_hashed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
