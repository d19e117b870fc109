/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VERIFY_READER_H
#define VERIFY_READER_H
/* Serial. Reads the dumps of a file plane by plane, whatever the layout, in file order and in large
 * requests. Memory: one plane as doubles, one block of planes (a megabyte, at least one plane) as
 * bytes. */
#include <stdbool.h>
#include <stdint.h>

#include "verify/shape.h"

struct reader {
    struct shape_file file;
    struct shape shape;   /* layout and endian are known */
    int64_t dump;         /* being read */
    int64_t plane;        /* next plane of it */
    int64_t held, used;   /* planes in the block, planes of it already given out */
    int64_t block;        /* planes that fit the block */
    unsigned char *bytes; /* [block] planes as they are in the file */
    double *u;            /* the present plane */
};

/* One plane of a dump. */
struct plane {
    int64_t k;
    int m_lo, m_n;   /* components it holds */
    const double *u; /* [m][j][i], i fastest, m from m_lo; valid until the next call */
    bool marker_ok;  /* both markers say the payload's length; true when there are none */
};

/* Prepares reading. Local. ERR_NOMEM when there is no room. */
int reader_new(struct reader *r, const struct shape_file *file, const struct shape *s);
void reader_free(struct reader *r);

/* Goes to the start of a dump. Local. */
void reader_start(struct reader *r, int64_t dump);

/* Gives the next plane of the dump. Local. Returns 1, 0 after the last plane, or ERR_IO. */
int reader_next(struct reader *r, struct plane *p);

#endif
