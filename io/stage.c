/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies between a box of values and the staging buffer. Each row goes to a place of the buffer
 * that depends on j and k alone, so rows are shared by the threads. */
#include <string.h>

#include "io/stream.h"
#include "io/view.h"

/* Rows j0 to j1 of one k plane of a box, or of one (k, m) plane where components lie apart. */
struct plane {
    int64_t ni, j0, j1;
    int64_t sm, sj; /* strides of the field, in values */
    bool stream;    /* the buffer is too large to stay in a cache, and lies as doubles do */
};

static const int64_t point_bytes = IO_NCOMP * IO_WORD_BYTES;

#define BLOCK_CELLS  64
#define LINE_DOUBLES 8         /* in 64 bytes */
#define STREAM_BYTES (8 << 20) /* larger than what a core keeps in its own caches */

/* Component fastest, for len cells of a row. */
static void interleave(const double *row, int64_t sm, int64_t len, double *block)
{
    for (int64_t i = 0; i < len; i++) {
        for (int m = 0; m < IO_NCOMP; m++) {
            block[i * IO_NCOMP + m] = row[m * sm + i];
        }
    }
}

/* Goes through a small aligned block, because the buffer may have any alignment. */
static void row_interleave(const double *row, int64_t sm, int64_t ni, char *out)
{
    double block[BLOCK_CELLS * IO_NCOMP];
    for (int64_t i = 0; i < ni; i += BLOCK_CELLS) {
        int64_t len = ni - i < BLOCK_CELLS ? ni - i : BLOCK_CELLS;
        interleave(row + i, sm, len, block);
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

static void row_deinterleave(const char *in, int64_t sm, int64_t ni, double *row)
{
    for (int64_t i = 0; i < ni; i++) {
        for (int m = 0; m < IO_NCOMP; m++) {
            memcpy(&row[m * sm + i], in + i * point_bytes + m * IO_WORD_BYTES, IO_WORD_BYTES);
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

static void unstage_points(const struct plane *p, const char *in, double *field)
{
    for (int64_t j = p->j0; j < p->j1; j++) {
        row_deinterleave(in + j * p->ni * point_bytes, p->sm, p->ni, field + j * p->sj);
    }
}

static void stage_rows(const struct plane *p, const double *field, char *out)
{
    const int64_t row_bytes = p->ni * IO_WORD_BYTES;
    for (int64_t j = p->j0; j < p->j1; j++) {
        memcpy(out + j * row_bytes, field + j * p->sj, (size_t)row_bytes);
    }
}

static void unstage_rows(const struct plane *p, const char *in, double *field)
{
    const int64_t row_bytes = p->ni * IO_WORD_BYTES;
    for (int64_t j = p->j0; j < p->j1; j++) {
        memcpy(field + j * p->sj, in + j * row_bytes, (size_t)row_bytes);
    }
}

/* Where the parts of plane k lie in the staging buffer of a view. */
struct frame {
    int64_t lead_bytes, trail_bytes; /* markers of mine around each plane; records only */
    int64_t plane_bytes;             /* one component of one plane */
    int64_t k_bytes, m_bytes;        /* distance from k to k + 1 and from m to m + 1 */
};

static bool marker_mine(const struct io_view *v, bool leading)
{
    const struct io_box *b = &v->box;
    if (v->layout != IO_RECORDS) return false;
    if (leading) return b->lo[0] == 0 && b->lo[1] == 0;
    return b->lo[0] + b->n[0] == v->n && b->lo[1] + b->n[1] == v->n;
}

static struct frame frame_of(const struct io_view *v)
{
    const int64_t *n = v->box.n;
    struct frame f = {.plane_bytes = IO_WORD_BYTES * n[0] * n[1]};
    f.lead_bytes = marker_mine(v, true) ? IO_MARKER_BYTES : 0;
    f.trail_bytes = marker_mine(v, false) ? IO_MARKER_BYTES : 0;
    bool apart = v->layout == IO_IJKM;
    f.k_bytes = apart ? f.plane_bytes : IO_NCOMP * f.plane_bytes + f.lead_bytes + f.trail_bytes;
    f.m_bytes = apart ? n[2] * f.plane_bytes : f.plane_bytes;
    return f;
}

/* The markers of plane k that belong to these rows. */
static void mark(const struct io_view *v, const struct frame *f, const struct plane *p,
                 char *record)
{
    int32_t payload = (int32_t)(point_bytes * v->n * v->n);
    char *trail = record + f->lead_bytes + IO_NCOMP * f->plane_bytes;
    if (f->lead_bytes && p->j0 == 0) memcpy(record, &payload, IO_MARKER_BYTES);
    if (f->trail_bytes && p->j1 == v->box.n[1]) memcpy(trail, &payload, IO_MARKER_BYTES);
}

static bool streams(const struct io_view *v, const void *buf)
{
    return v->layout == IO_MIJK && io_view_bytes(v) >= STREAM_BYTES &&
           (uintptr_t)buf % IO_WORD_BYTES == 0;
}

void io_view_stage_rows(const struct io_view *v, const struct io_field *from, struct io_rows rows,
                        void *buf)
{
    const struct frame f = frame_of(v);
    const struct plane p = {v->box.n[0], rows.j0, rows.j1, from->sm, from->sj, streams(v, buf)};
    char *at = (char *)buf + rows.k * f.k_bytes;
    const double *u = from->u + rows.k * from->sk;
    if (v->layout == IO_MIJK) {
        stage_points(&p, u, at);
        if (p.stream) stream_end();
        return;
    }
    mark(v, &f, &p, at);
    for (int m = 0; m < IO_NCOMP; m++) {
        stage_rows(&p, u + m * from->sm, at + f.lead_bytes + m * f.m_bytes);
    }
}

void io_view_stage(const struct io_view *v, const struct io_field *from, void *buf)
{
    const int64_t nk = io_view_bytes(v) ? v->box.n[2] : 0;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < nk; k++) {
        io_view_stage_rows(v, from, (struct io_rows){k, 0, v->box.n[1]}, buf);
    }
}

void io_view_unstage(const struct io_view *v, const void *buf, const struct io_array *to)
{
    const struct plane p = {v->box.n[0], 0, v->box.n[1], to->sm, to->sj, false};
    const struct frame f = frame_of(v);
    const int64_t nk = io_view_bytes(v) ? v->box.n[2] : 0;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < nk; k++) {
        const char *at = (const char *)buf + k * f.k_bytes;
        double *u = to->u + k * to->sk;
        if (v->layout == IO_MIJK) {
            unstage_points(&p, at, u);
            continue;
        }
        for (int m = 0; m < IO_NCOMP; m++) {
            unstage_rows(&p, at + f.lead_bytes + m * f.m_bytes, u + m * to->sm);
        }
    }
}
