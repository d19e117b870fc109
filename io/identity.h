/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_IDENTITY_H
#define IO_IDENTITY_H
/* Layer 1. Which file it is, whatever its name: device, inode, and when it was born, because an
 * inode's number is given to another file as soon as its own is removed. The manifest keeps the
 * identities of the files that a run has made. Local. */
#include <stdbool.h>
#include <stdint.h>

struct io_identity {
    int64_t device, inode;
    int64_t born_ns; /* since 1970; 0 where the file system does not tell */
    int64_t bytes;   /* its length then; -1: not known */
};
/* As so many int64_t it travels between ranks. */
#define IO_IDENTITY_WORDS 4
#define IO_IDENTITY_NONE  ((struct io_identity){-1, -1, -1, -1})

/* Of an open file, or of what lies at a path, a symbolic link itself. False, and IO_IDENTITY_NONE,
 * when there is nothing or it cannot be found out. */
bool io_identity_of_fd(int fd, struct io_identity *id);
bool io_identity_of_path(const char *path, struct io_identity *id);

/* Of whatever length. IO_IDENTITY_NONE is the same as nothing. */
bool io_identity_same(struct io_identity a, struct io_identity b);

#endif
