/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_REREAD_H
#define IO_REREAD_H
/* Layer 1. Digests of dumps in a file, read with pread in parts of a few MiB. Local, all functions.
 */
#include <stdbool.h>

#include "io/writers/container.h"
#include "io/view.h"

/* Opens a file for reading. from_device: what is in memory is flushed and let go, so that the
 * device tells; what is in memory may never have reached it, because after a failed flush Linux
 * calls such pages clean. [out] fd: -1 on failure. */
int io_reread_open(const char *path, bool from_device, int *fd);

/* Adds the values of a view, which are at u, to a digest of digest_words(v->n) words. By all
 * threads. */
void io_reread_values(const struct io_view *v, const struct io_array *at, uint64_t *words);

/* Where a dump is. */
struct io_reread {
    int fd;
    const char *path; /* for messages */
    const struct io_body *body;
    int64_t dump; /* its number */
    bool packed;  /* of the view's cells alone, as they are staged: a part of perrank */
};

/* The same of values in a file. */
int io_reread_digest(const struct io_reread *from, const struct io_view *v, uint64_t *words);

#endif
