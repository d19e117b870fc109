/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VERIFY_SCAN_H
#define VERIFY_SCAN_H
/* Serial. What can be measured of one dump while its planes go by: error norms, digest, diagonal,
 * values that cannot be right. The results do not depend on the layout, to the last bit. Planes are
 * read in file order and in large requests. Memory: one plane as doubles, one block of planes (a
 * megabyte, at least one plane) as bytes. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/progress.h"
#include "base/sum.h"
#include "bt/solver/exact.h"
#include "verify/shape.h"

/* Whether a value on the six faces is the exact solution Ue, which it never leaves. The tolerance
 * is far above rounding, far below any other value. */
static inline bool scan_face_right(double u, double ue)
{
    return fabs(u - ue) <= 1e-10 * fmax(1.0, fabs(ue));
}

struct scan {
    const struct shape_file *file;
    struct shape shape;   /* layout and endian are known */
    int64_t block;        /* planes that are read at a time */
    int64_t read_bytes;   /* of all dumps so far */
    unsigned char *bytes; /* [block] planes as they are in the file */
    double *u;            /* [m][j][i]: the present plane, i fastest */
    struct bt_exact exact;
    double *base; /* [m][i]: constant and x terms of the exact solution */
    double *ue;   /* [i]: exact solution along the present row */
    struct sum error[BT_NCOMP];

    /* Of the dump measured last: */
    uint64_t *digest;        /* digest_words(n) words */
    double *diagonal;        /* [i][m]: U_m(i,i,i) */
    double xce[BT_NCOMP];    /* [BT] section 10; NaN or infinite when that of a sum is */
    int64_t nonfinite_n;     /* NaN and infinite values */
    int64_t huge_n;          /* finite values whose error has a square that is not finite */
    struct place huge_first; /* the first of them in file order */
    int64_t zeros_n;         /* values with all bits zero: what a hole in a file reads as */
    int64_t face_wrong_n;    /* values on the faces that are not the exact solution */
    struct place face_first; /* the first of them in file order */
    int64_t marker_wrong_n;  /* records with a wrong length marker */
    int64_t marker_first_k;  /* plane of the first of them */
};

/* Makes tables, and room for planes. Local. file: borrowed. Returns 0 or ERR_NOMEM. */
int scan_new(struct scan *s, const struct shape_file *file, const struct shape *shape);
void scan_free(struct scan *s);

/* Measures one dump. Local. p: shown after each plane, with what has been read of all dumps in
 * SCAN_PROGRESS_BYTES. Returns 0 or ERR_IO. */
#define SCAN_PROGRESS_BYTES 1000000
int scan_dump(struct scan *s, int64_t dump, struct progress *p);

#endif
