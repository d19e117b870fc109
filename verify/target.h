/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VERIFY_TARGET_H
#define VERIFY_TARGET_H
/* Serial. A file that is made under another name (base/temp.h) and takes its place when it is
 * whole, so that no reader finds half of one and no file of others is replaced. */
#include <stddef.h>
#include <stdint.h>

struct target {
    int fd;
    char *temp; /* its name until it is whole */
    struct own *own;
    const char *path; /* borrowed */
    /* Removed once this file is whole, just before it takes its place; NULL: nothing is. Borrowed. */
    const char *gone;
};

/* Whether a file may be made there: nothing stands there, or a regular file that begins with the
 * mark, which is how earlier ones begin. Local. Returns 0, ERR_USAGE or ERR_IO; nothing is
 * changed. */
int target_check(const char *path, const void *mark, size_t bytes);

/* Whether the file system of path has room for so many bytes: it is not filled to find out. Local.
 * option: "--merge", for the message. Returns 0 or ERR_IO. */
int target_room(const char *option, const char *path, double bytes);

/* Begins one. Local. path: borrowed. Returns 0, ERR_IO or ERR_NOMEM. */
int target_open(struct target *t, const char *path);

/* Writes bytes at an offset. Local. Returns 0 or ERR_IO. */
int target_put(const struct target *t, const void *from, int64_t bytes, int64_t offset);

/* rc: of the work. When it is 0 the file is flushed to the device and takes its place, else it is
 * removed. Local. Returns rc or ERR_IO. */
int target_close(struct target *t, int rc);

#endif
