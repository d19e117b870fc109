/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

/* Our lock files are empty regular files; anything else of that name is somebody's data. */
static int check_kind(const char *path, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return err_set_errno(ERR_IO, errno, "fstat %s", path);
    if (S_ISREG(st.st_mode) && st.st_size == 0) return 0;
    return err_set(ERR_IO, "%s is in the way: it is not a lock file of this program", path);
}

/* Whether path still leads to the file behind fd: the last holder removes the file before it lets
 * go, so a lock may have been taken on a file that has no name any more. */
static bool still_there(const char *path, int fd)
{
    struct stat by_fd, by_path;
    return fstat(fd, &by_fd) == 0 && stat(path, &by_path) == 0 && by_fd.st_ino == by_path.st_ino &&
           by_fd.st_dev == by_path.st_dev;
}

static bool no_locks_here(int errnum)
{
    return errnum == ENOLCK || errnum == ENOSYS || errnum == EOPNOTSUPP || errnum == EINVAL;
}

/* One attempt: 1 taken, 0 the file was removed meanwhile, negative an error. */
static int attempt(const char *path, int *fd)
{
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (*fd < 0) return err_set_errno(ERR_IO, errno, "cannot make the lock file %s", path);
    TRY(check_kind(path, *fd));
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0) return still_there(path, *fd) ? 1 : 0;
    if (errno == EWOULDBLOCK) {
        return err_set(ERR_IO,
                       "another run is writing to the same file (%s is held): "
                       "wait for it, or name another file",
                       path);
    }
    if (!no_locks_here(errno)) return err_set_errno(ERR_IO, errno, "flock %s", path);
    unlink(path);
    close(*fd);
    *fd = -1;
    return 1;
}

int lock_take(const char *path, int *fd)
{
    int rc;
    while ((rc = attempt(path, fd)) == 0) {
        close(*fd);
    }
    if (rc > 0) return 0;
    if (*fd >= 0) close(*fd);
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
