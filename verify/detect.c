/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "verify/detect.h"

#include <math.h>

#include "base/digest.h"
#include "base/err.h"
#include "bt/solver/exact.h"
#include "verify/scan.h"

#define SAMPLES     64
#define SAMPLES_TRY 8 /* when none of the first ones is right the rest is not read */
#define SAMPLES_MIN 4 /* fewer inside the file prove nothing */

struct probe {
    const struct shape_file *file;
    int64_t size;
    const struct bt_exact *exact;
    int rc; /* of the first read that failed */
};

/* A place on one of the six faces, the same sequence on every call. */
static struct place face_place(int64_t n, uint64_t sample)
{
    int64_t at[3];
    const uint64_t face = digest_hash(sample, 0) % 6;
    for (uint64_t q = 0; q < 3; q++)
        at[q] = (int64_t)(digest_hash(sample, 1 + q) % (uint64_t)n);
    at[face / 2] = face % 2 ? n - 1 : 0;
    return (struct place){at[0], at[1], at[2], (int)(digest_hash(sample, 4) % BT_NCOMP)};
}

/* 1 when the value is the exact solution, 0 when not, -1 when it lies past the end of the file. */
static int sample_right(struct probe *p, const struct shape *s, int64_t dump, uint64_t sample)
{
    double ue[BT_NCOMP];
    uint64_t bits;
    const struct place at = face_place(s->n, sample);
    if (shape_offset(s, dump, &at) + 8 > p->size) return -1;
    if (p->rc == 0) p->rc = shape_read(p->file, s, dump, &at, &bits);
    if (p->rc != 0) return 0;
    bt_exact_at(p->exact, at.i, at.j, at.k, ue);
    return scan_face_right(shape_double(bits), ue[at.m]);
}

static double dump_score(struct probe *p, const struct shape *s, int64_t dump)
{
    int seen = 0, right = 0;
    for (uint64_t sample = 0; sample < SAMPLES; sample++) {
        const int r = sample_right(p, s, dump, sample);
        seen += r >= 0;
        right += r > 0;
        if (seen == SAMPLES_TRY && right == 0) return 0;
    }
    return seen < SAMPLES_MIN ? 0 : (double)right / seen;
}

static double best_score(struct probe *p, const struct shape *s)
{
    const int64_t whole = p->size / shape_dump_bytes(s);
    const int64_t dumps[3] = {0, whole / 2, whole - 1};
    double best = 0;
    for (int d = 0; d < 3 && best < DETECT_FITS; d++)
        if (dumps[d] >= 0) best = fmax(best, dump_score(p, s, dumps[d]));
    return best;
}

int detect_score(const struct shape_file *file, int64_t size, const struct shape *s, double *out)
{
    struct bt_exact exact;
    TRY(bt_exact_new(&exact, s->n));
    struct probe p = {file, size, &exact, 0};
    *out = best_score(&p, s);
    bt_exact_free(&exact);
    return p.rc;
}

/* Tries every layout and byte order that is not ruled out for one N. Returns 1 when one fits. */
static int detect_n(const struct shape_file *file, int64_t size, const struct shape *known,
                    int64_t n, struct shape *found)
{
    struct bt_exact exact;
    int fits = 0;
    TRY(bt_exact_new(&exact, n));
    struct probe p = {file, size, &exact, 0};
    for (int c = 0; !fits && c < SHAPE_LAYOUTS * SHAPE_ENDIANS; c++) {
        const struct shape s = {n, c / SHAPE_ENDIANS, c % SHAPE_ENDIANS, known->dumps_n};
        if (known->layout != SHAPE_UNKNOWN && s.layout != known->layout) continue;
        if (known->endian != SHAPE_UNKNOWN && s.endian != known->endian) continue;
        fits = best_score(&p, &s) >= DETECT_FITS;
        if (fits) *found = s;
    }
    bt_exact_free(&exact);
    return p.rc < 0 ? p.rc : fits;
}

int detect_shape(const struct shape_file *file, int64_t size, const struct shape *known,
                 struct shape *found)
{
    int rc = 0;
    *found = *known;
    if (known->n > 0) return detect_n(file, size, known, known->n, found);
    for (int64_t n = BT_N_MIN; rc == 0 && 40 * n * n * n <= size && n <= BT_N_MAX; n++)
        rc = detect_n(file, size, known, n, found);
    return rc;
}
