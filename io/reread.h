/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_REREAD_H
#define IO_REREAD_H
/* Floor 1. Reading dumps back with pread: the values of a view, or their digest, in parts of a few
 * MiB. Local, all functions. */
#include <stdbool.h>

#include "io/view.h"

/* Opens a file for reading. from_device: what is in memory is flushed and let go, so that the
 * device tells; what is in memory may never have reached it, because after a failed flush Linux
 * calls such pages clean. [out] fd: -1 on failure. */
int io_reread_open(const char *path, bool from_device, int *fd);

/* Puts the values of a view into memory. start: offset of its dump. path: for messages. */
int io_reread_field(int fd, const char *path, const struct io_view *v, int64_t start,
                    const struct io_array *to);

/* Adds the values of a view to a digest of digest_words(v->n) words. packed: what begins at start
 * is a staging stream of the view (a part of perrank), not a dump. */
int io_reread_digest(int fd, const char *path, const struct io_view *v, int64_t start, bool packed,
                     uint64_t *words);

#endif
