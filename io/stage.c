/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies between a box of values and the staging buffer. Each row goes to a place of the buffer
 * that depends on j and k alone, so rows are shared by the threads. */
#include <string.h>

#include "base/num.h"
#include "io/stream.h"
#include "io/view.h"

/* Rows j0 to j1 of one k plane of a box, or of one (k, m) plane where components lie apart. */
struct plane {
    int64_t ni, j0, j1;
    int64_t sm, sj; /* strides of the field, in values */
    bool stream;    /* the buffer is too large to stay in a cache, and lies as doubles do */
};

static const int64_t point_bytes = IO_NCOMP * IO_WORD_BYTES;

#define BLOCK_CELLS   64
#define LINE_DOUBLES  8           /* in 64 bytes */
#define THREADS_BYTES (256 << 10) /* that threads are called for */

/* Component fastest. Goes through a small aligned block, because the buffer may have any alignment. */
static void row_interleave(const double *row, int64_t sm, int64_t ni, char *out)
{
    double block[BLOCK_CELLS * IO_NCOMP];
    for (int64_t i = 0; i < ni; i += BLOCK_CELLS) {
        int64_t len = ni - i < BLOCK_CELLS ? ni - i : BLOCK_CELLS;
        for (int64_t c = 0; c < len; c++) {
            for (int m = 0; m < IO_NCOMP; m++) {
                block[c * IO_NCOMP + m] = row[m * sm + i + c];
            }
        }
        // cppcheck-suppress uninitvar ; len is at least 1, and so much of the block has been set
        memcpy(out + i * point_bytes, block, (size_t)(len * point_bytes));
    }
}

static void row_stream(const double *row, int64_t sm, int64_t ni, double *out)
{
    for (int64_t i = 0; i < ni; i++) {
        for (int m = 0; m < IO_NCOMP; m++) {
            stream_double(&out[i * IO_NCOMP + m], row[m * sm + i]);
        }
    }
}

/* A row is short: before the processor has seen where its five components go, it ends. */
static void prefetch_row(const struct plane *p, const double *row)
{
    for (int64_t i = 0; i < IO_NCOMP * p->sm; i += LINE_DOUBLES) {
        __builtin_prefetch(row + i);
    }
}

static void stage_points(const struct plane *p, const double *field, char *out)
{
    for (int64_t j = p->j0; j < p->j1; j++) {
        char *at = out + j * p->ni * point_bytes;
        if (j + 1 < p->j1) prefetch_row(p, field + (j + 1) * p->sj);
        if (p->stream)
            row_stream(field + j * p->sj, p->sm, p->ni, (double *)(void *)at);
        else
            row_interleave(field + j * p->sj, p->sm, p->ni, at);
    }
}

static void stage_rows(const struct plane *p, const double *field, char *out)
{
    const int64_t row_bytes = p->ni * IO_WORD_BYTES;
    for (int64_t j = p->j0; j < p->j1; j++) {
        memcpy(out + j * row_bytes, field + j * p->sj, (size_t)row_bytes);
    }
}

/* Where the parts of plane k lie in the staging buffer of a view. */
struct frame {
    struct io_markers mine;   /* around each plane; records only */
    int64_t plane_bytes;      /* one component of one plane */
    int64_t k_bytes, m_bytes; /* distance from k to k + 1 and from m to m + 1 */
};

static struct frame frame_of(const struct io_view *v)
{
    const int64_t *n = v->box.n;
    struct frame f = {.mine = io_view_markers(v), .plane_bytes = IO_WORD_BYTES * n[0] * n[1]};
    bool apart = v->layout == IO_IJKM;
    f.k_bytes = apart ? f.plane_bytes : IO_NCOMP * f.plane_bytes + f.mine.lead + f.mine.trail;
    f.m_bytes = apart ? n[2] * f.plane_bytes : f.plane_bytes;
    return f;
}

void io_view_stage_rows(const struct io_view *v, const struct io_field *from, struct io_rows rows,
                        void *buf)
{
    const struct frame f = frame_of(v);
    const bool stream = v->layout == IO_MIJK && io_view_bytes(v) >= STREAM_BYTES &&
                        (uintptr_t)buf % IO_WORD_BYTES == 0;
    const struct plane p = {v->box.n[0], rows.j0, rows.j1, from->sm, from->sj, stream};
    char *at = (char *)buf + rows.k * f.k_bytes;
    const double *u = from->u + rows.k * from->sk;
    if (v->layout == IO_MIJK) {
        stage_points(&p, u, at);
        if (p.stream) stream_end();
        return;
    }
    for (int m = 0; m < IO_NCOMP; m++) {
        stage_rows(&p, u + m * from->sm, at + f.mine.lead + m * f.m_bytes);
    }
    /* The markers that go with the first and the last row of the plane. */
    const int32_t payload = (int32_t)(point_bytes * v->n * v->n);
    char *trail = at + f.mine.lead + IO_NCOMP * f.plane_bytes;
    if (f.mine.lead && rows.j0 == 0) memcpy(at, &payload, IO_MARKER_BYTES);
    if (f.mine.trail && rows.j1 == v->box.n[1]) memcpy(trail, &payload, IO_MARKER_BYTES);
}

void io_view_stage(const struct io_view *v, const struct io_field *from, void *buf)
{
    const int64_t nk = io_view_bytes(v) ? v->box.n[2] : 0;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < nk; k++) {
        io_view_stage_rows(v, from, (struct io_rows){k, 0, v->box.n[1]}, buf);
    }
}

static double value_at(const char *in)
{
    double x;
    memcpy(&x, in, sizeof x);
    return x;
}

/* Values that lie stride bytes apart at in become n values of each of rows_n rows, which lie sm
 * values apart in memory and have their first values side by side in the file. */
struct rows {
    const char *in;
    int64_t stride;
    double *row;
    int64_t sm;
    int rows_n;
};

static inline void take_values(struct rows r, int64_t i, int64_t end)
{
    for (; i < end; i++) {
        for (int m = 0; m < r.rows_n; m++)
            r.row[m * r.sm + i] = value_at(r.in + i * r.stride + m * IO_WORD_BYTES);
    }
}

/* stream: by whole lines, which all the rows have in the same places. */
static inline void take_rows(struct rows r, int64_t n, bool stream)
{
    const int64_t off = (int64_t)((uintptr_t)r.row / IO_WORD_BYTES % LINE_DOUBLES);
    const int64_t to_line = stream ? num_min(n, (LINE_DOUBLES - off) % LINE_DOUBLES) : n;
    const int64_t lines_end = to_line + (n - to_line) / LINE_DOUBLES * LINE_DOUBLES;
    take_values(r, 0, to_line);
    for (int64_t i = to_line; i < lines_end; i += LINE_DOUBLES) {
        for (int m = 0; m < r.rows_n; m++) {
            const char *at = r.in + i * r.stride + m * IO_WORD_BYTES;
            for (int c = 0; c < LINE_DOUBLES; c += 2, at += 2 * r.stride)
                stream_pair(&r.row[m * r.sm + i + c], at, at + r.stride);
        }
    }
    take_values(r, lines_end, n);
}

/* Of a row that is written by whole lines, those that it has in part: they hold other cells as well. Any
 * other line would be fetched only to be thrown away. */
static inline void prefetch_ends(const double *row, int64_t n)
{
    if ((uintptr_t)row / IO_WORD_BYTES % LINE_DOUBLES != 0) __builtin_prefetch(row, 1);
    if ((uintptr_t)(row + n) / IO_WORD_BYTES % LINE_DOUBLES != 0)
        __builtin_prefetch(row + n - 1, 1);
}

/* Values [from, to) of a row of cells, component fastest, which lie at in. The first and the last
 * cell may be cut. */
static void unstage_points(const char *in, int64_t from, int64_t to, int64_t sm, double *row,
                           bool stream)
{
    for (; from < to && (from % IO_NCOMP != 0 || to - from < IO_NCOMP); in += IO_WORD_BYTES, from++)
        row[from % IO_NCOMP * sm + from / IO_NCOMP] = value_at(in);
    const int64_t cells = (to - from) / IO_NCOMP;
    take_rows((struct rows){in, point_bytes, row + from / IO_NCOMP, sm, IO_NCOMP}, cells, stream);
    in += cells * point_bytes;
    for (from += cells * IO_NCOMP; from < to; in += IO_WORD_BYTES, from++)
        row[from % IO_NCOMP * sm + from / IO_NCOMP] = value_at(in);
}

/* Where the rows of a box begin, of cells or, where components lie apart, of values: in three nested
 * loops, of which the outer and the middle one are over k and m, the inner one is over j. */
struct lines {
    int64_t base, row_bytes;
    int64_t n[3], step[3];
};

/* Rows that begin before x. */
static int64_t rows_before(const struct lines *l, int64_t x)
{
    int64_t rows = 0;
    x -= l->base;
    if (x <= 0) return 0;
    for (int q = 0; q < 3; q++) {
        const int64_t whole = q < 2 ? x / l->step[q] : (x + l->step[q] - 1) / l->step[q];
        const int64_t inner = (q < 1 ? l->n[1] : 1) * (q < 2 ? l->n[2] : 1);
        if (whole >= l->n[q]) return rows + l->n[q] * inner;
        rows += whole * inner;
        x -= whole * l->step[q];
    }
    return rows;
}

/* The bytes [start, start + bytes) of what the lines are in become values. */
static void unstage(const struct io_view *v, const struct lines *l, const char *data, int64_t start,
                    int64_t bytes, const struct io_array *to)
{
    const bool points = v->layout == IO_MIJK, apart = v->layout == IO_IJKM;
    const int64_t end = start + bytes, last = rows_before(l, end);
    const int64_t first = num_max(rows_before(l, start + 1) - 1, 0);
    const bool stream = io_view_bytes(v) >= STREAM_BYTES && to->sm % LINE_DOUBLES == 0;
#pragma omp parallel if (bytes >= THREADS_BYTES)
    {
#pragma omp for schedule(static)
        for (int64_t r = first; r < last; r++) {
            const int64_t j = r % l->n[2], mid = r / l->n[2] % l->n[1], out = r / l->n[2] / l->n[1];
            const int64_t at = l->base + out * l->step[0] + mid * l->step[1] + j * l->step[2];
            const int64_t from = num_max(at, start), past = num_min(at + l->row_bytes, end);
            const int64_t k = apart ? mid : out, m = apart ? out : mid;
            if (from >= past) continue;
            const char *in = data + (from - start);
            double *u = to->u + k * to->sk + j * to->sj + m * to->sm;
            for (int c = 0; stream && c < (points ? IO_NCOMP : 1); c++) /* of the next row */
                prefetch_ends(u + to->sj + c * to->sm, v->box.n[0]);
            if (points)
                unstage_points(in, (from - at) / IO_WORD_BYTES, (past - at) / IO_WORD_BYTES, to->sm,
                               u, stream);
            else if (stream && past - from == l->row_bytes)
                take_rows((struct rows){in, IO_WORD_BYTES, u, 0, 1}, v->box.n[0], true);
            else
                memcpy((char *)u + (from - at), in, (size_t)(past - from));
        }
        if (stream) stream_end();
    }
}

void io_view_unstage(const struct io_view *v, const void *data, int64_t start, int64_t bytes,
                     const struct io_array *to)
{
    const struct frame f = frame_of(v);
    const int64_t nj = v->box.n[1], nk = v->box.n[2];
    const bool points = v->layout == IO_MIJK, apart = v->layout == IO_IJKM;
    const int64_t row_bytes = v->box.n[0] * (points ? point_bytes : IO_WORD_BYTES);
    const struct lines l = {.base = f.mine.lead,
                            .row_bytes = row_bytes,
                            .n = {apart ? IO_NCOMP : nk,
                                  apart    ? nk
                                  : points ? 1
                                           : IO_NCOMP,
                                  nj},
                            .step = {apart ? f.m_bytes : f.k_bytes, nj * row_bytes, row_bytes}};
    if (bytes > 0 && f.plane_bytes > 0) unstage(v, &l, data, start, bytes, to);
}

void io_view_pick(const struct io_view *v, const void *data, int64_t start, int64_t bytes,
                  const struct io_array *to)
{
    const struct frame f = frame_of(v);
    const int64_t *lo = v->box.lo, n = v->n, nj = v->box.n[1], nk = v->box.n[2];
    const bool points = v->layout == IO_MIJK, apart = v->layout == IO_IJKM;
    const int64_t cell_bytes = points ? point_bytes : IO_WORD_BYTES, plane = cell_bytes * n * n;
    const int64_t markers = v->layout == IO_RECORDS ? 2 * IO_MARKER_BYTES : 0;
    const int64_t k_bytes = v->layout == IO_RECORDS ? IO_NCOMP * plane + markers : plane;
    const struct lines l = {.base =
                                cell_bytes * (lo[0] + n * lo[1]) + lo[2] * k_bytes + markers / 2,
                            .row_bytes = cell_bytes * v->box.n[0],
                            .n = {apart ? IO_NCOMP : nk,
                                  apart    ? nk
                                  : points ? 1
                                           : IO_NCOMP,
                                  nj},
                            .step = {apart ? n * plane : k_bytes, plane, cell_bytes * n}};
    if (bytes > 0 && f.plane_bytes > 0 && nk > 0) unstage(v, &l, data, start, bytes, to);
}
