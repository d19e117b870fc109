/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "verify/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/err.h"

/* Fills base[m][i] = c0_m + X_m(x_i): the table along x, transposed so that rows are contiguous.
 * The three axis terms vanish at the origin, which leaves the constant. */
static void base_fill(struct scan *s)
{
    double c0[BT_NCOMP];
    bt_exact_at(&s->exact, 0, 0, 0, c0);
    for (int m = 0; m < BT_NCOMP; m++)
        for (int64_t i = 0; i < s->n; i++)
            s->base[m * s->n + i] = c0[m] + s->exact.axis[0][i * BT_NCOMP + m];
}

int scan_new(struct scan *s, int64_t n)
{
    memset(s, 0, sizeof *s);
    s->n = n;
    TRY(bt_exact_new(&s->exact, n));
    s->base = malloc((size_t)(BT_NCOMP * n) * sizeof *s->base);
    s->ue = malloc((size_t)n * sizeof *s->ue);
    s->digest = malloc((size_t)digest_words(n) * sizeof *s->digest);
    s->diagonal = malloc((size_t)(BT_NCOMP * n) * sizeof *s->diagonal);
    if (!s->base || !s->ue || !s->digest || !s->diagonal)
        return err_set(ERR_NOMEM, "no memory for the tables of N = %lld", (long long)n);
    base_fill(s);
    return 0;
}

void scan_free(struct scan *s)
{
    bt_exact_free(&s->exact);
    free(s->base);
    free(s->ue);
    free(s->digest);
    free(s->diagonal);
    memset(s, 0, sizeof *s);
}

static void clear(struct scan *s)
{
    for (int m = 0; m < BT_NCOMP; m++)
        sum_clear(&s->error[m]);
    memset(s->digest, 0, (size_t)digest_words(s->n) * sizeof *s->digest);
    s->nonfinite_n = s->zeros_n = s->face_wrong_n = s->marker_wrong_n = 0;
}

static void exact_row(const struct scan *s, const struct place *row)
{
    const double y = s->exact.axis[1][row->j * BT_NCOMP + row->m];
    const double z = s->exact.axis[2][row->k * BT_NCOMP + row->m];
    const double *base = s->base + row->m * s->n;
    for (int64_t i = 0; i < s->n; i++)
        s->ue[i] = base[i] + y + z;
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

static int64_t count_nonfinite(int64_t n, const double *u)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += !isfinite(u[i]);
    return count;
}

static int64_t count_zeros(int64_t n, const double *u)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += shape_bits(u[i]) == 0;
    return count;
}

static void face_check(struct scan *s, const struct place *row, int64_t i, const double *u)
{
    const double allowed = SCAN_FACE_TOLERANCE * fmax(1.0, fabs(s->ue[i]));
    if (fabs(u[i] - s->ue[i]) <= allowed) return;
    if (s->face_wrong_n++ == 0) s->face_first = (struct place){i, row->j, row->k, row->m};
}

/* Rows inside two faces touch the other four at their ends only. */
static void faces_scan(struct scan *s, const struct place *row, const double *u)
{
    const int64_t end = s->n - 1;
    const bool whole = row->j == 0 || row->j == end || row->k == 0 || row->k == end;
    for (int64_t i = 0; i <= end; i += whole ? 1 : end)
        face_check(s, row, i, u);
}

static void row_scan(struct scan *s, const struct place *row, const double *u)
{
    exact_row(s, row);
    digest_row(s->digest, s->n, 0, s->n, row->j, row->k, row->m, u);
    const double error = row_error(s->n, u, s->ue);
    if (!isfinite(error)) s->nonfinite_n += count_nonfinite(s->n, u);
    sum_add(&s->error[row->m], error);
    s->zeros_n += count_zeros(s->n, u);
    faces_scan(s, row, u);
    if (row->j == row->k) s->diagonal[row->j * BT_NCOMP + row->m] = u[row->j];
}

static void plane_scan(struct scan *s, const struct plane *p)
{
    const double *u = p->u;
    if (!p->marker_ok && s->marker_wrong_n++ == 0) s->marker_first_k = p->k;
    for (int m = p->m_lo; m < p->m_lo + p->m_n; m++)
        for (int64_t j = 0; j < s->n; j++, u += s->n)
            row_scan(s, &(struct place){0, j, p->k, m}, u);
}

static void finish(struct scan *s)
{
    const double inner = (double)(s->n - 2);
    for (int m = 0; m < BT_NCOMP; m++)
        s->xce[m] = sqrt(sum_value(&s->error[m]) / (inner * inner * inner));
}

int scan_dump(struct scan *s, struct reader *r, int64_t dump,
              void (*tick)(void *arg, int64_t bytes), void *arg)
{
    struct plane p;
    int more;
    clear(s);
    reader_start(r, dump);
    while ((more = reader_next(r, &p)) > 0) {
        plane_scan(s, &p);
        if (tick) tick(arg, shape_plane_bytes(&r->shape));
    }
    finish(s);
    return more;
}
