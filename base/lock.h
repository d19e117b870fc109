/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H
/* Layer 0. One writer per target: FILE.lock, held with flock by rank 0. The kernel drops the lock
 * of a process that ends, however it ends, so a file left behind never blocks a later run. Local. */

enum lock_state {
    LOCK_HELD,        /* by this process, until fd is closed */
    LOCK_UNSUPPORTED, /* the file system has no locks; the file is open */
    LOCK_BUSY,        /* held by another process */
    LOCK_FOREIGN,     /* a link, or a file with something in it */
    LOCK_ERROR,       /* errno says why */
};

/* For lock files that stay: opens one, created when missing, and tries for so long to take its lock. fd: [out]
 * with LOCK_HELD and LOCK_UNSUPPORTED, for the caller to close, else -1. Sets no message. */
enum lock_state lock_open(const char *path, int wait_ms, int *fd);

/* Takes the lock. path: the lock file, created when missing. [out] fd: to be given to
 * lock_release; -1 on failure, or, with 0 returned, where the file system has no locks.
 * Returns ERR_IO when another process holds it for longer than a sweep (base/own.h) does, or the file
 * is not one of our lock files. */
int lock_take(const char *path, int *fd);

/* Removes the lock file, then lets go. fd -1 is allowed and does nothing. */
void lock_release(const char *path, int *fd);

#endif
