/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"

/* flock, some moments long: who cleans up behind a dead run (base/own.h) holds its lock file while it
 * removes that. */
static int flock_retrying(int fd)
{
    const struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};
    int rc = flock(fd, LOCK_EX | LOCK_NB);
    for (int t = 0; rc != 0 && errno == EWOULDBLOCK && t < 20; t++) {
        nanosleep(&moment, NULL);
        rc = flock(fd, LOCK_EX | LOCK_NB);
    }
    return rc;
}

int lock_take(const char *path, int *fd)
{
    int rc = 0;
    do {
        struct stat by_fd, by_path;
        *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
        if (*fd < 0) return err_set_errno(ERR_IO, errno, "cannot make the lock file %s", path);
        if (fstat(*fd, &by_fd) != 0) {
            rc = err_set_errno(ERR_IO, errno, "fstat %s", path);
        } else if (!S_ISREG(by_fd.st_mode) || by_fd.st_size > 0) {
            /* Ours are empty regular files; anything else of that name is somebody's data. */
            rc = err_set(ERR_IO, "%s is in the way: it is not a lock file of this program", path);
        } else if (flock_retrying(*fd) == 0) {
            /* The last holder removes the file before it lets go, so a lock may have been taken on
             * a file that has no name any more. */
            if (stat(path, &by_path) == 0 && by_fd.st_ino == by_path.st_ino &&
                by_fd.st_dev == by_path.st_dev)
                return 0;
        } else if (errno == EWOULDBLOCK) {
            rc = err_set(ERR_IO,
                         "another run is writing to the same file (%s is held): "
                         "wait for it, or name another file",
                         path);
        } else if (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP || errno == EINVAL) {
            unlink(path); /* no locks here */
            close(*fd);
            *fd = -1;
            return 0;
        } else {
            rc = err_set_errno(ERR_IO, errno, "flock %s", path);
        }
        close(*fd);
    } while (rc == 0);
    *fd = -1;
    return rc;
}

void lock_release(const char *path, int *fd)
{
    if (*fd < 0) return;
    unlink(path);
    close(*fd);
    *fd = -1;
}
