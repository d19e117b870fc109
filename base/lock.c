/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"

#define STEP_MS 10
#define TAKE_MS 200 /* longer than a sweep (base/own.h) holds a lock file that it removes */

static int flock_retrying(int fd, int wait_ms)
{
    const struct timespec moment = {.tv_nsec = STEP_MS * 1000 * 1000};
    int rc = flock(fd, LOCK_EX | LOCK_NB);
    for (int t = 0; rc != 0 && errno == EWOULDBLOCK && t < wait_ms; t += STEP_MS) {
        nanosleep(&moment, NULL);
        rc = flock(fd, LOCK_EX | LOCK_NB);
    }
    return rc;
}

/* Ours are empty regular files; anything else of that name is somebody's data. */
static bool is_ours(const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_size == 0;
}

/* A lock may have been taken on a file that has no name any more: holders may remove the file before
 * they let go. */
static bool has_name(const char *path, const struct stat *st)
{
    struct stat by_path;
    return stat(path, &by_path) == 0 && st->st_ino == by_path.st_ino &&
           st->st_dev == by_path.st_dev;
}

enum lock_state lock_open(const char *path, int wait_ms, int *fd)
{
    for (;;) {
        enum lock_state state = LOCK_ERROR;
        struct stat st;
        *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
        if (*fd < 0) return errno == ELOOP ? LOCK_FOREIGN : LOCK_ERROR;
        if (fstat(*fd, &st) == 0) {
            if (!is_ours(&st)) {
                state = LOCK_FOREIGN;
            } else if (flock_retrying(*fd, wait_ms) == 0) {
                if (has_name(path, &st)) return LOCK_HELD;
                close(*fd);
                continue;
            } else if (errno == EWOULDBLOCK) {
                state = LOCK_BUSY;
            } else if (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP ||
                       errno == EINVAL) {
                return LOCK_UNSUPPORTED;
            }
        }
        const int errnum = errno;
        close(*fd);
        *fd = -1;
        errno = errnum;
        return state;
    }
}

int lock_take(const char *path, int *fd)
{
    switch (lock_open(path, TAKE_MS, fd)) {
    case LOCK_HELD:
        return 0;
    case LOCK_UNSUPPORTED:
        lock_release(path, fd);
        return 0;
    case LOCK_FOREIGN:
        return err_set(ERR_IO, "%s is in the way: it is not a lock file of this program", path);
    case LOCK_BUSY:
        return err_set(ERR_IO,
                       "another run is writing to the same file (%s is held): "
                       "wait for it, or name another file",
                       path);
    case LOCK_ERROR:
        break;
    }
    return err_set_errno(ERR_IO, errno, "cannot use the lock file %s", path);
}

void lock_release(const char *path, int *fd)
{
    if (*fd < 0) return;
    unlink(path);
    close(*fd);
    *fd = -1;
}
