/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "verify/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sys.h"

#define BLOCK_BYTES (1 << 20) /* read at a time, but at least a plane */

int scan_new(struct scan *s, const struct shape_file *file, const struct shape *shape)
{
    const int64_t n = shape->n, plane_bytes = shape_plane_bytes(shape);
    *s = (struct scan){.file = file, .shape = *shape};
    s->block = BLOCK_BYTES / plane_bytes > 1 ? BLOCK_BYTES / plane_bytes : 1;
    /* N comes from outside, and a sparse file is as long as anybody likes. */
    struct sys_memory memory;
    sys_memory(&memory);
    if (2 * s->block * plane_bytes > memory.free_bytes)
        return mem_error("two planes of N = %lld, %lld bytes each: %lld bytes are free",
                         (long long)n, (long long)plane_bytes, (long long)memory.free_bytes);
    s->bytes = malloc((size_t)(s->block * plane_bytes));
    s->u = malloc((size_t)(8 * shape_plane_comps(shape) * n * n));
    if (!s->bytes || !s->u) return mem_error("a plane of %lld bytes", (long long)plane_bytes);
    TRY(bt_exact_new(&s->exact, n));
    s->base = calloc((size_t)(BT_NCOMP * n), sizeof *s->base);
    s->ue = calloc((size_t)n, sizeof *s->ue);
    s->digest = malloc((size_t)digest_words(n) * sizeof *s->digest);
    s->diagonal = calloc((size_t)(BT_NCOMP * n), sizeof *s->diagonal);
    if (!s->base || !s->ue || !s->digest || !s->diagonal)
        return mem_error("the tables of N = %lld", (long long)n);
    /* base[m][i] = c0_m + X_m(x_i): the table along x, transposed so that rows are contiguous. The
     * three axis terms vanish at the origin, which leaves the constant. */
    double c0[BT_NCOMP];
    bt_exact_at(&s->exact, 0, 0, 0, c0);
    for (int m = 0; m < BT_NCOMP; m++)
        for (int64_t i = 0; i < n; i++)
            s->base[m * n + i] = c0[m] + s->exact.axis[0][i * BT_NCOMP + m];
    return 0;
}

void scan_free(struct scan *s)
{
    bt_exact_free(&s->exact);
    free(s->bytes);
    free(s->u);
    free(s->base);
    free(s->ue);
    free(s->digest);
    free(s->diagonal);
    memset(s, 0, sizeof *s);
}

/* Sum of (U - Ue)^2 over a row, in four interleaved partial sums: the order is fixed. */
static double row_error(int64_t n, const double *u, const double *ue)
{
    double part[4] = {0, 0, 0, 0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int l = 0; l < 4; l++)
            part[l] += (u[i + l] - ue[i + l]) * (u[i + l] - ue[i + l]);
    for (; i < n; i++)
        part[0] += (u[i] - ue[i]) * (u[i] - ue[i]);
    return (part[0] + part[1]) + (part[2] + part[3]);
}

static void row_scan(struct scan *s, int64_t j, int64_t k, int m, const double *u)
{
    const int64_t n = s->shape.n, end = n - 1;
    const double y = s->exact.axis[1][j * BT_NCOMP + m], z = s->exact.axis[2][k * BT_NCOMP + m];
    const double *base = s->base + m * n;
    for (int64_t i = 0; i < n; i++)
        s->ue[i] = base[i] + y + z;
    digest_row(s->digest, n, 0, n, j, k, m, u);
    const double error = row_error(n, u, s->ue);
    sum_add(&s->error[m], error);
    for (int64_t i = 0; i < n && !isfinite(error); i++) {
        const double e = u[i] - s->ue[i];
        s->nonfinite_n += !isfinite(u[i]);
        if (isfinite(u[i]) && !isfinite(e * e) && s->huge_n++ == 0)
            s->huge_first = (struct place){i, j, k, m};
    }
    int64_t zeros_n = 0;
    for (int64_t i = 0; i < n; i++)
        zeros_n += shape_bits(u[i]) == 0;
    s->zeros_n += zeros_n;
    /* Rows inside two faces touch the other four at their ends only. */
    const bool whole = j == 0 || j == end || k == 0 || k == end;
    for (int64_t i = 0; i <= end; i += whole ? 1 : end) {
        if (scan_face_right(u[i], s->ue[i])) continue;
        if (s->face_wrong_n++ == 0) s->face_first = (struct place){i, j, k, m};
    }
    if (j == k) s->diagonal[j * BT_NCOMP + m] = u[j];
}

/* The values of a plane as [m][j][i]. payload: behind the marker, if there is one. */
static void decode(const struct scan *s, const unsigned char *payload)
{
    const struct shape shape = s->shape;
    const int64_t cells = shape.n * shape.n, count = shape_plane_comps(&shape) * cells;
    if (shape.layout == SHAPE_MIJK) {
        for (int64_t c = 0; c < cells; c++)
            for (int m = 0; m < BT_NCOMP; m++)
                s->u[m * cells + c] =
                    shape_double(shape_u64(&shape, payload + 8 * (BT_NCOMP * c + m)));
    } else {
        for (int64_t c = 0; c < count; c++)
            s->u[c] = shape_double(shape_u64(&shape, payload + 8 * c));
    }
}

static void plane_scan(struct scan *s, int64_t plane, const unsigned char *bytes)
{
    const struct shape *shape = &s->shape;
    const int64_t n = shape->n, k = plane % n, marker_bytes = shape_marker_bytes(shape);
    const int64_t payload_bytes = shape_plane_bytes(shape) - 2 * marker_bytes;
    const int m_lo = (int)(plane / n), m_hi = m_lo + shape_plane_comps(shape);
    const double *u = s->u;
    if (marker_bytes > 0 &&
        (shape_u32(shape, bytes) != (uint32_t)payload_bytes ||
         shape_u32(shape, bytes + marker_bytes + payload_bytes) != (uint32_t)payload_bytes) &&
        s->marker_wrong_n++ == 0)
        s->marker_first_k = k;
    decode(s, bytes + marker_bytes);
    for (int m = m_lo; m < m_hi; m++)
        for (int64_t j = 0; j < n; j++, u += n)
            row_scan(s, j, k, m, u);
}

int scan_dump(struct scan *s, int64_t dump, struct progress *p)
{
    const int64_t planes = shape_planes(&s->shape), bytes = shape_plane_bytes(&s->shape);
    const int64_t start = dump * shape_dump_bytes(&s->shape);
    for (int m = 0; m < BT_NCOMP; m++)
        sum_clear(&s->error[m]);
    memset(s->digest, 0, (size_t)digest_words(s->shape.n) * sizeof *s->digest);
    s->nonfinite_n = s->huge_n = s->zeros_n = s->face_wrong_n = s->marker_wrong_n = 0;
    for (int64_t v = 0; v < BT_NCOMP * s->shape.n; v++) /* where a dump cannot be read to its end */
        s->diagonal[v] = NAN;
    for (int m = 0; m < BT_NCOMP; m++)
        s->xce[m] = NAN;
    for (int64_t first = 0; first < planes; first += s->block) {
        const int64_t held = planes - first < s->block ? planes - first : s->block;
        TRY(shape_read_bytes(s->file, s->bytes, held * bytes, start + first * bytes));
        for (int64_t k = 0; k < held; k++) {
            plane_scan(s, first + k, s->bytes + k * bytes);
            s->read_bytes += bytes;
            progress_update(p, s->read_bytes / SCAN_PROGRESS_BYTES);
        }
    }
    const double inner = (double)(s->shape.n - 2);
    for (int m = 0; m < BT_NCOMP; m++)
        s->xce[m] = sqrt(sum_value(&s->error[m]) / (inner * inner * inner));
    return 0;
}
