/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VERIFY_XDMF_H
#define VERIFY_XDMF_H
/* Serial. The description of a dump file in XDMF, version 2: where in the file each value lies. */
#include <stdint.h>
#include <stdio.h>

#include "verify/shape.h"

/* How such a file begins. */
#define XDMF_MARK "<?xml version=\"1.0\"?>\n<!-- made by nht1-verify -->\n<Xdmf Version=\"2.0\">\n"

/* Prints it. Local. format: SHAPE_RAW or SHAPE_HDF5. file: name of the dump file as XML, without directories: it is looked for
 * beside the description. dump, time: of the dumps_n dumps that it shows. */
void xdmf_print(FILE *to, const struct shape *s, int format, const char *file, int64_t dumps_n,
                const int64_t *dump, const double *time);

#endif
