/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_PARTS_H
#define IO_PARTS_H
/* Floor 1. The files of a writer that leaves one for each rank: FILE.rank00000 and so on, beside an
 * empty FILE whose manifest lists them. A part is ours when the manifest of FILE is and lists it;
 * the manifest therefore goes before the files come, and stays until they have gone. Local. */
#include "io/create.h"

enum { IO_PART_PATH_MAX = IO_PATH_MAX + 32 };

/* The name of rank's part of FILE. out: [out] IO_PART_PATH_MAX bytes. */
void io_part_path(const char *path, int64_t rank, char *out);

/* Bytes that the first parts_n parts of FILE occupy. */
int64_t io_parts_given_bytes(const char *path, int64_t parts_n);

/* Whether rank's part can be written: nothing is there, or one of the ours_n parts of an earlier
 * run, or a regular file that is empty or, with force, anybody's. ERR_USAGE otherwise. */
int io_part_check(const char *path, int64_t rank, int64_t ours_n, bool force);

/* Removes the parts of an earlier run that t->parts_kept_n does not spare; the claims of its
 * manifest are withdrawn before. While the lock is held. */
int io_parts_drop(const struct io_target *t);

/* Removes the files of parts t->parts_kept_n to t->parts_n - 1, regular ones only. */
int io_parts_remove(const struct io_target *t);

#endif
