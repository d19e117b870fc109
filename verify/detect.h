/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VERIFY_DETECT_H
#define VERIFY_DETECT_H
/* Serial. Finds out the shape of a dump file from its content: on the six faces of the grid every
 * dump holds the exact solution, known without running anything, so a handful of values there tells
 * the right N, layout and byte order from every wrong one. */
#include <stdint.h>

#include "verify/shape.h"

/* A file of this shape has every sampled face value right; of another shape hardly any. */
#define DETECT_FITS  0.9
#define DETECT_FAILS 0.5

/* Share of sampled face values that are right when the file is read in this shape: the best of the
 * first, the middle and the last dump. 0 when too little of the file is there to judge. Local.
 * size: bytes in the file. out: [out]. ERR_NOMEM, ERR_IO. */
int detect_score(const struct shape_file *file, int64_t size, const struct shape *s, double *out);

/* Looks for a shape that fits; what is known in `known` stays. Local.
 * found: [out].
 * Returns 1 when one fits, 0 when none does, ERR_NOMEM, ERR_IO. */
int detect_shape(const struct shape_file *file, int64_t size, const struct shape *known,
                 struct shape *found);

#endif
