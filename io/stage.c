/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies between a box of values and the staging buffer. Each k plane of a box goes to places of
 * the buffer that depend on k alone, so planes are shared by the threads. */
#include <string.h>

#include "io/view.h"

/* One k plane of a box, or one (k, m) plane where components lie apart. */
struct plane {
    int64_t ni, nj;
    int64_t sm, sj; /* strides of the field, in values */
};

static const int64_t point_bytes = IO_NCOMP * IO_WORD_BYTES;

#define BLOCK_CELLS 64

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

static void row_deinterleave(const char *in, int64_t sm, int64_t ni, double *row)
{
    for (int64_t i = 0; i < ni; i++) {
        for (int m = 0; m < IO_NCOMP; m++) {
            memcpy(&row[m * sm + i], in + i * point_bytes + m * IO_WORD_BYTES, IO_WORD_BYTES);
        }
    }
}

static void stage_points(const struct plane *p, const double *field, char *out)
{
    for (int64_t j = 0; j < p->nj; j++) {
        row_interleave(field + j * p->sj, p->sm, p->ni, out + j * p->ni * point_bytes);
    }
}

static void unstage_points(const struct plane *p, const char *in, double *field)
{
    for (int64_t j = 0; j < p->nj; j++) {
        row_deinterleave(in + j * p->ni * point_bytes, p->sm, p->ni, field + j * p->sj);
    }
}

static void stage_rows(const struct plane *p, const double *field, char *out)
{
    const int64_t row_bytes = p->ni * IO_WORD_BYTES;
    for (int64_t j = 0; j < p->nj; j++) {
        memcpy(out + j * row_bytes, field + j * p->sj, (size_t)row_bytes);
    }
}

static void unstage_rows(const struct plane *p, const char *in, double *field)
{
    const int64_t row_bytes = p->ni * IO_WORD_BYTES;
    for (int64_t j = 0; j < p->nj; j++) {
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

static void mark(const struct io_view *v, const struct frame *f, char *record)
{
    int32_t payload = (int32_t)(point_bytes * v->n * v->n);
    char *trail = record + f->lead_bytes + IO_NCOMP * f->plane_bytes;
    if (f->lead_bytes) memcpy(record, &payload, IO_MARKER_BYTES);
    if (f->trail_bytes) memcpy(trail, &payload, IO_MARKER_BYTES);
}

void io_view_stage(const struct io_view *v, const double *field, int64_t sm, int64_t sj, int64_t sk,
                   void *buf)
{
    const struct plane p = {v->box.n[0], v->box.n[1], sm, sj};
    const struct frame f = frame_of(v);
    const int64_t nk = io_view_bytes(v) ? v->box.n[2] : 0;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < nk; k++) {
        char *at = (char *)buf + k * f.k_bytes;
        const double *from = field + k * sk;
        if (v->layout == IO_MIJK) {
            stage_points(&p, from, at);
            continue;
        }
        mark(v, &f, at);
        for (int m = 0; m < IO_NCOMP; m++) {
            stage_rows(&p, from + m * sm, at + f.lead_bytes + m * f.m_bytes);
        }
    }
}

void io_view_unstage(const struct io_view *v, const void *buf, int64_t sm, int64_t sj, int64_t sk,
                     double *field)
{
    const struct plane p = {v->box.n[0], v->box.n[1], sm, sj};
    const struct frame f = frame_of(v);
    const int64_t nk = io_view_bytes(v) ? v->box.n[2] : 0;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < nk; k++) {
        const char *at = (const char *)buf + k * f.k_bytes;
        double *to = field + k * sk;
        if (v->layout == IO_MIJK) {
            unstage_points(&p, at, to);
            continue;
        }
        for (int m = 0; m < IO_NCOMP; m++) {
            unstage_rows(&p, at + f.lead_bytes + m * f.m_bytes, to + m * sm);
        }
    }
}
