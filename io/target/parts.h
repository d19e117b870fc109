/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_PARTS_H
#define IO_PARTS_H
/* Layer 1. The files of a writer that leaves one for each rank: FILE.rank00000 and so on, beside an
 * empty FILE whose manifest lists them. The manifest goes before the files come, and stays until
 * they have gone. Local. */
#include "io/target/place.h"
#include "io/target/target.h"

/* The name of rank's part of FILE. out: [out] IO_PLACE_PATH_MAX bytes. */
void io_part_path(const char *path, int64_t rank, char *out);

/* Whether rank's part can be written: nothing is there, or one of the ours_n parts of an earlier
 * run, or a regular file that is empty or, with force, any other. ERR_USAGE otherwise. */
int io_part_check(const char *path, int64_t rank, int64_t ours_n, bool force);

/* Identities of the files that are there of t's path and its parts: 1 + t->parts_n of them, to be
 * freed. NULL: no memory. */
struct identity *io_parts_identities(const struct io_target *t);

/* Removes the files of parts kept_n to t->parts_n - 1, regular ones only. */
int io_parts_remove(const struct io_target *t, int64_t kept_n);

#endif
