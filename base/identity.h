/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_IDENTITY_H
#define BASE_IDENTITY_H
/* Layer 0. Which file it is, whatever its name: device, inode, and when it was born, because an
 * inode's number is given to another file as soon as its own is removed. The manifest keeps the
 * identities of the files that a run has made. Local. */
#include <stdbool.h>
#include <stdint.h>

struct identity {
    int64_t device, inode;
    int64_t born_ns; /* since 1970; 0 where the file system does not tell */
    int64_t bytes;   /* its length then; -1: not known */
};
/* As so many int64_t it travels between ranks. */
#define IDENTITY_WORDS 4
#define IDENTITY_NONE  ((struct identity){-1, -1, -1, -1})

/* Of an open file, or of what lies at a path, a symbolic link itself. False, and IDENTITY_NONE,
 * when there is nothing or it cannot be found out. */
bool identity_of_fd(int fd, struct identity *id);
bool identity_of_path(const char *path, struct identity *id);
/* name: relative to the directory dir_fd. */
bool identity_at(int dir_fd, const char *name, struct identity *id);

/* Whether both are the same file; lengths are not compared. IDENTITY_NONE equals nothing. */
bool identity_same(struct identity a, struct identity b);

#endif
