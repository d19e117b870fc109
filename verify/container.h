/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VERIFY_CONTAINER_H
#define VERIFY_CONTAINER_H
/* Serial. Dump files in HDF5 and netCDF, docs/format.md section 7. Values are fetched by the
 * library of the format, which a plug-in brings (verify/plugin/plugin.h): a program that meets no such file
 * loads none and needs none.
 *
 * To all others a container looks like a raw file: its content is the values of its variable one
 * after the other, as a raw file of the same layout has them on this machine. */
#include <stdbool.h>
#include <stdint.h>

#include "verify/finding.h"
#include "verify/manifest.h"
#include "verify/shape.h"

struct container;

/* What the file is by its first bytes. Local. format: [out] enum shape_format. Returns 0, ERR_IO. */
int container_detect(const struct shape_file *f, int *format);

/* Opens the variable and takes the shape from its dimensions; from then on the file is read through
 * the library. Local. bytes: of the file. f: what is opened goes into f->container and f->read, closed by
 * container_close also after errors. shape: [out].
 * Returns 0, ERR_IO when the library is missing or the system refuses to read the file, ERR_NOMEM, ERR_VERIFY when
 * this is not a dump file or makes no sense as one; the message of that does not name the file. */
int container_open(struct shape_file *f, int format, int64_t bytes, struct shape *shape);
void container_close(struct shape_file *f);

/* Name and version of the library. Local. */
const char *container_library(const struct container *c);

/* Whether the values are stored in the pieces that the manifest names, if it does. Local. */
bool container_has_chunks(const struct container *c, const struct manifest *m);

/* Compares what the file says of itself with the manifest, and adds findings. Local. Returns 0,
 * ERR_IO or ERR_NOMEM. */
int container_compare(struct container *c, const struct manifest *m, struct findings *findings);

#endif
