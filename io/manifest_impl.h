/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_MANIFEST_IMPL_H
#define IO_MANIFEST_IMPL_H
/* Floor 1. What is behind struct io_manifest; for manifest.c and manifest_read.c. */
#include <jansson.h>

#include "io/manifest.h"

struct io_manifest {
    json_t *root;
    json_t *dumps; /* borrowed from root */
    const char *path;
    int64_t n;
    bool durable; /* the run asks for durability at all */
};

#endif
