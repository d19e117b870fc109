/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static bool stat_identity(int fd, const char *path, int flags, struct identity *id)
{
    struct statx st;
    struct stat plain;
    *id = IDENTITY_NONE;
    if (statx(fd, path, flags, STATX_INO | STATX_BTIME | STATX_SIZE, &st) != 0) {
        /* Some containers refuse system calls newer than their list of them. */
        if (errno != EPERM || fstatat(fd, path, &plain, flags) != 0) return false;
        *id = (struct identity){(int64_t)plain.st_dev, (int64_t)plain.st_ino, 0,
                                (int64_t)plain.st_size};
        return true;
    }
    id->device = (int64_t)makedev(st.stx_dev_major, st.stx_dev_minor);
    id->inode = (int64_t)st.stx_ino;
    id->bytes = (int64_t)st.stx_size;
    id->born_ns = 0;
    if (st.stx_mask & STATX_BTIME)
        id->born_ns = st.stx_btime.tv_sec * 1000000000 + st.stx_btime.tv_nsec;
    return true;
}

bool identity_of_fd(int fd, struct identity *id)
{
    return stat_identity(fd, "", AT_EMPTY_PATH, id);
}

bool identity_of_path(const char *path, struct identity *id)
{
    return stat_identity(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, id);
}

bool identity_at(int dir_fd, const char *name, struct identity *id)
{
    return stat_identity(dir_fd, name, AT_SYMLINK_NOFOLLOW, id);
}

bool identity_same(struct identity a, struct identity b)
{
    return a.inode != -1 && a.device == b.device && a.inode == b.inode && a.born_ns == b.born_ns;
}
