/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_CREATE_H
#define IO_CREATE_H
/* Floor 1. Making the data file, on rank 0 alone, without harm to anything that is not ours. Steps:
 *
 *   io_target_take    may the path be written at all; lock it; whose is what lies there
 *   io_target_space   is there room, counting what an old file of ours gives back
 *   io_target_make    manifest without dumps, then truncate and preallocate
 *   io_target_extend  instead of make: keep what is there, give it its full length
 *   io_target_undo    after a failure: remove what was made new
 *   io_target_release drop the lock
 *
 * Until make, nothing that exists has changed. Make extends an old file to its new length before it
 * gives up the old content, so that it fails, if it must, while the old content is whole; and it
 * withdraws the manifest's claims before the content goes. Files of single ranks that an earlier
 * run left go with its claims. All functions are local. */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "io/manifest.h"

enum { IO_PATH_MAX = PATH_MAX };

struct io_target {
    char path[IO_PATH_MAX]; /* as given; a symbolic link is replaced by what it leads to */
    char manifest[IO_PATH_MAX + 8];
    char lock[IO_PATH_MAX + 8];
    int lock_fd;
    bool locked;
    bool fresh;            /* there was no file before */
    bool made;             /* ours to undo */
    int64_t old_bytes;     /* length of the old file */
    int64_t given_bytes;   /* what it occupies, free again once it is truncated */
    int64_t parts_n;       /* files of single ranks that its manifest lists (io/parts.h) */
    int64_t parts_kept_n;  /* of these, from the first on, those that make and remove leave */
    const char *allocated; /* "fallocate", or "sparse" where the file system cannot */
};

/* force: take a regular file, and a manifest, that are not ours. t need not be initialised. */
int io_target_take(struct io_target *t, const char *path, bool force);
int io_target_space(const struct io_target *t, int64_t bytes);
int io_target_make(struct io_target *t, struct io_manifest *m, int64_t bytes);

/* For a file of ours that is continued: gives it bytes bytes, allocated where the file system can,
 * and leaves what it holds. */
int io_target_extend(struct io_target *t, int64_t bytes);

/* Removes what a killed run may have left beside the manifest: MANIFEST.XXXXXXXX.tmp with eight
 * hexadecimal digits, regular files only. Called by make and extend, while the lock is held. */
void io_target_sweep(const struct io_target *t);

void io_target_undo(struct io_target *t);
void io_target_release(struct io_target *t);

/* Whether the manifest of a path bears this run's number. */
bool io_target_is_of(const char *path, const char *run_id);

/* Removes data file, manifest and lock file of a path: what is there must be ours. run_id: NULL, or
 * what is of another run stays. */
int io_target_remove(const char *path, const char *run_id);

/* The last component of a path. Borrowed. */
const char *io_path_base(const char *path);

#endif
