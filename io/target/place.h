/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_PLACE_H
#define IO_PLACE_H
/* Layer 1. Room for a file of known length, proved before anything is given up for it. What lies at
 * the path already is whole until io_place_take, and stays if that is never called. Room is
 *
 *   a second file   made beside the first, allocated, and renamed into its place; or
 *   the old blocks  completed to the new length and zeroed later, on file systems that write in
 *                   place, when no snapshot, copy or other name shares them. They come first in
 *                   memory (tmpfs), where a second file costs what the run needs, for an empty
 *                   file, which has nothing to lose, and where a name cannot be replaced.
 *
 * Where neither is possible nothing is changed and the error gives the reason. Permissions, owner and
 * extended attributes of the old file go over to a second one as far as they may.
 *
 * A process that ends after prove leaves a second file, FILE.nht1.XXXXXXXX.tmp, without
 * data, or blocks behind the end of the old one. Local, all functions. */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/identity.h"
#include "io/target/striping.h"

enum { IO_PLACE_PATH_MAX = PATH_MAX + 32 };

struct io_place {
    char path[IO_PLACE_PATH_MAX];
    int64_t bytes;           /* the file will have */
    bool there;              /* a file lay there before */
    bool keeps;              /* what it holds stays */
    int64_t old_bytes;       /* its length */
    struct identity old;     /* of that file */
    struct identity id;      /* of the file that will be at path */
    const char *allocated;   /* "fallocate", or "sparse" where the file system cannot */
    char *second;            /* name of the second file, or NULL */
    struct io_striping want; /* of a new file; zeros: as its directory says */
    int fd;                  /* -1: nothing is proved, or all is over */
    bool taken;
};

/* Nothing proved yet. */
#define IO_PLACE_NONE ((struct io_place){.fd = -1, .allocated = "none"})

/* Proves room for bytes bytes at path: nothing, or a regular file. stem: a second file's name
 * begins with it, in path's directory. keeps: the old file is to be continued. want: NULL, or how a
 * new file is to be striped, where the file system can (io/target/striping.h). [out] p: in any case
 * one that io_place_undo accepts. Returns 0 or ERR_IO. */
int io_place_prove(struct io_place *p, const char *path, const char *stem, int64_t bytes,
                   bool keeps, const struct io_striping *want);

/* Gives up the old content: from here on the file at path has its full length and reads as zeros, or, if
 * it is continued, as its old content followed by zeros. Returns 0 or ERR_IO. */
int io_place_take(struct io_place *p);

/* After a failure: removes what these calls created, restores the old length. */
void io_place_undo(struct io_place *p);

/* Blocks of old files, in bytes. */
struct io_place_old {
    int64_t
        reusable_bytes; /* new files can have these: they need no room for them beside the old ones */
    int64_t bytes;      /* these come free when the old files are replaced or removed */
};

/* Adds those of a file at path. Returns whether a regular file is there. Changes nothing. */
bool io_place_old(const char *path, struct io_place_old *old);

/* Whether files that are written now at path, or in path's directory, can be replaced by others in their blocks. */
bool io_place_reuses(const char *path);

/* Whether files may be had, as far as that can be asked without making anything, which proves nothing.
 * Adds to *lacks what a file of bytes bytes at path takes besides the blocks that it can have of a regular
 * file that lies there. Returns 0, or ERR_IO under a limit on file sizes. */
int io_place_lacks(const char *path, int64_t bytes, int64_t *lacks);

/* Whether so many bytes are free for path. Returns 0 or ERR_IO. */
int io_place_free(const char *path, int64_t lacks);

/* Proves room for a file of bytes bytes beside path, and gives it free again. what: for the
 * message, why it is needed. Returns 0 or ERR_IO. */
int io_place_room(const char *path, int64_t bytes, const char *what);

#endif
