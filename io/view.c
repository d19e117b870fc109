/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/view.h"

#include <string.h>

#include "base/err.h"

/* A raw extent is what one step of the walk yields before merging: a run of cells along i, or a
 * record marker. Steps are numbered by (outer, row), ascending in the file:
 *
 *   layout   outer            row
 *   mijk     k                j                        the 5 components lie inside the run
 *   ijkm     k + n_k m        j
 *   records  k                0 marker, 1 + j + n_j m, 1 + 5 n_j marker
 *
 * with i, j, k counted inside the box and n_j, n_k its extents. */
struct layout {
    const char *name;
    int64_t outer_per_plane; /* outer steps for each k of the box */
    int64_t row_per_line;    /* rows for each j of the box */
    int64_t row_extra;       /* rows that are markers */
    void (*raw)(const struct io_view *v, int64_t outer, int64_t row, struct io_extent *e);
};

static int64_t cell(const struct io_view *v, int64_t i, int64_t j, int64_t k)
{
    return i + v->n * (j + v->n * k);
}

static int64_t payload_bytes(int64_t n)
{
    return IO_NCOMP * IO_WORD_BYTES * n * n;
}

static void raw_mijk(const struct io_view *v, int64_t outer, int64_t row, struct io_extent *e)
{
    const int64_t *lo = v->box.lo;
    e->offset_bytes = IO_NCOMP * IO_WORD_BYTES * cell(v, lo[0], lo[1] + row, lo[2] + outer);
    e->length_bytes = IO_NCOMP * IO_WORD_BYTES * v->box.n[0];
}

static void raw_ijkm(const struct io_view *v, int64_t outer, int64_t row, struct io_extent *e)
{
    const int64_t *lo = v->box.lo;
    int64_t m = outer / v->box.n[2], k = outer % v->box.n[2];
    e->offset_bytes = IO_WORD_BYTES * cell(v, lo[0], lo[1] + row, lo[2] + k + v->n * m);
    e->length_bytes = IO_WORD_BYTES * v->box.n[0];
}

static bool view_empty(const struct io_view *v)
{
    return v->box.n[0] == 0 || v->box.n[1] == 0 || v->box.n[2] == 0;
}

struct io_markers io_view_markers(const struct io_view *v)
{
    const int64_t *lo = v->box.lo, *n = v->box.n;
    struct io_markers mine = {0, 0};
    if (v->layout != IO_RECORDS || view_empty(v)) return mine;
    if (lo[0] == 0 && lo[1] == 0) mine.lead = IO_MARKER_BYTES;
    if (lo[0] + n[0] == v->n && lo[1] + n[1] == v->n) mine.trail = IO_MARKER_BYTES;
    return mine;
}

/* A marker of somebody else's comes out with length 0. */
static void raw_records(const struct io_view *v, int64_t outer, int64_t row, struct io_extent *e)
{
    const int64_t *lo = v->box.lo, nj = v->box.n[1];
    int64_t record = (lo[2] + outer) * (payload_bytes(v->n) + 2 * IO_MARKER_BYTES);
    if (row == 0) {
        e->offset_bytes = record;
        e->length_bytes = io_view_markers(v).lead;
    } else if (row == 1 + IO_NCOMP * nj) {
        e->offset_bytes = record + IO_MARKER_BYTES + payload_bytes(v->n);
        e->length_bytes = io_view_markers(v).trail;
    } else {
        int64_t m = (row - 1) / nj, j = (row - 1) % nj;
        e->offset_bytes = record + IO_MARKER_BYTES + IO_WORD_BYTES * cell(v, lo[0], lo[1] + j, m);
        e->length_bytes = IO_WORD_BYTES * v->box.n[0];
    }
}

static const struct layout layouts[] = {
    [IO_MIJK] = {"mijk", 1, 1, 0, raw_mijk},
    [IO_IJKM] = {"ijkm", IO_NCOMP, 1, 0, raw_ijkm},
    [IO_RECORDS] = {"records", 1, IO_NCOMP, 2, raw_records},
};
#define LAYOUTS ((int)(sizeof layouts / sizeof layouts[0]))

const char *io_layout_name(enum io_layout layout)
{
    return layouts[layout].name;
}

int io_layout_parse(const char *name, enum io_layout *out)
{
    for (int l = 0; l < LAYOUTS; l++) {
        if (strcmp(name, layouts[l].name) == 0) {
            *out = (enum io_layout)l;
            return 0;
        }
    }
    return err_set(ERR_USAGE, "unknown layout '%s': take mijk, ijkm or records", name);
}

int64_t io_dump_bytes(enum io_layout layout, int64_t n)
{
    int64_t markers = layout == IO_RECORDS ? 2 * IO_MARKER_BYTES : 0;
    return n * (payload_bytes(n) + markers);
}

int64_t io_view_bytes(const struct io_view *v)
{
    const int64_t *n = v->box.n;
    const struct io_markers mine = io_view_markers(v);
    return n[2] * (IO_NCOMP * IO_WORD_BYTES * n[0] * n[1] + mine.lead + mine.trail);
}

void io_walk_start(struct io_walk *w, const struct io_view *v)
{
    *w = (struct io_walk){.view = v};
}

/* The next raw extent that has bytes. */
static bool walk_raw(struct io_walk *w, struct io_extent *e)
{
    const struct io_view *v = w->view;
    const struct layout *l = &layouts[v->layout];
    int64_t outers = l->outer_per_plane * v->box.n[2];
    int64_t rows = l->row_per_line * v->box.n[1] + l->row_extra;
    while (!view_empty(v) && w->outer < outers) {
        l->raw(v, w->outer, w->row, e);
        e->buffer_bytes = w->buffer_bytes;
        w->buffer_bytes += e->length_bytes;
        if (++w->row == rows) {
            w->row = 0;
            w->outer++;
        }
        if (e->length_bytes > 0) return true;
    }
    return false;
}

bool io_walk_next(struct io_walk *w, struct io_extent *e)
{
    struct io_extent raw;
    while (walk_raw(w, &raw)) {
        if (!w->ahead_valid) {
            w->ahead = raw;
            w->ahead_valid = true;
        } else if (w->ahead.offset_bytes + w->ahead.length_bytes == raw.offset_bytes) {
            w->ahead.length_bytes += raw.length_bytes;
        } else {
            *e = w->ahead;
            w->ahead = raw;
            return true;
        }
    }
    bool last = w->ahead_valid;
    if (last) *e = w->ahead;
    w->ahead_valid = false;
    return last;
}

int64_t io_view_extents(const struct io_view *v)
{
    struct io_walk w;
    struct io_extent e;
    int64_t count = 0;
    for (io_walk_start(&w, v); io_walk_next(&w, &e);) {
        count++;
    }
    return count;
}
