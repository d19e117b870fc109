/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/target/place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/num.h"
#include "base/own.h"
#include "base/sys.h"
#include "base/temp.h"
#include "base/units.h"
#include "io/writers/fd.h"

/* One way of allocating: 0 allocated, NO_ROOM with the reason why not this way, or an error code. */
enum { NO_ROOM = 1, WHY_MAX = 192 };

/* fallocate, repeated after interrupts. Returns 0 or the errno value. */
static int allocate(int fd, int mode, int64_t from, int64_t bytes)
{
    int rc;
    do {
        rc = fallocate(fd, mode, (off_t)from, (off_t)bytes) == 0 ? 0 : errno;
    } while (rc == EINTR);
    return rc;
}

static bool cannot_allocate(int errnum)
{
    return errnum == EOPNOTSUPP || errnum == ENOSYS;
}

/* Tells a lack of room, with the reason, from an error. */
static int not_allocated(const struct io_place *p, int errnum, char why[WHY_MAX])
{
    char text[UNITS_TEXT_MAX];
    if (errnum != ENOSPC && errnum != EDQUOT && errnum != EFBIG) {
        return err_set_errno(ERR_IO, errnum, "cannot preallocate %" PRId64 " bytes (%s) for %s",
                             p->bytes, units_bytes((double)p->bytes, text), p->path);
    }
    snprintf(why, WHY_MAX, "cannot preallocate %" PRId64 " bytes (%s): %s%s", p->bytes,
             units_bytes((double)p->bytes, text), strerror(errnum),
             errnum == EFBIG ? ", this file system or a limit on file sizes (ulimit -f)" : "");
    return NO_ROOM;
}

/* The room of a file that was removed a moment ago, such as the one that warmed the file system up, is
 * given back by XFS in the background and by btrfs with its next transaction. */
static int64_t free_bytes_soon(const char *path, int64_t bytes)
{
    const struct timespec moment = {.tv_nsec = 50000000};
    struct statfs fs;
    int64_t room = sys_free_bytes(path);
    if (room < 0 || room >= bytes || statfs(path, &fs) != 0) return room;
    if (fs.f_type != XFS_SUPER_MAGIC && fs.f_type != BTRFS_SUPER_MAGIC) return room;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0) syncfs(fd);
    if (fd >= 0) close(fd);
    for (int t = 0; t < 20 && room < bytes; t++) {
        nanosleep(&moment, NULL);
        room = sys_free_bytes(path);
    }
    return room;
}

/* A file system is not filled up to find out that it has no room. */
static int check_free(const char *path, int64_t bytes, char why[WHY_MAX])
{
    char needs[UNITS_TEXT_MAX], has[UNITS_TEXT_MAX];
    const int64_t room = free_bytes_soon(path, bytes);
    if (room < 0 || room >= bytes) return 0;
    snprintf(why, WHY_MAX,
             "needs %" PRId64 " bytes (%s) and its file system has %" PRId64 " (%s) free", bytes,
             units_bytes((double)bytes, needs), room, units_bytes((double)room, has));
    return NO_ROOM;
}

static int no_room(const char *path, const char *why)
{
    return err_set(ERR_IO, "%s: %s; make room or choose another directory with --out", path, why);
}

static int check_limit(const struct io_place *p)
{
    char text[UNITS_TEXT_MAX];
    if (sys_file_limit() >= p->bytes) return 0;
    return err_set(ERR_IO,
                   "cannot preallocate %" PRId64
                   " bytes (%s) for %s: a limit on file sizes (ulimit "
                   "-f) allows less",
                   p->bytes, units_bytes((double)p->bytes, text), p->path);
}

/* ------------------------------------------------------------------ a second file beside the old one */

/* Owner, permissions, extended attributes (access lists, and on Lustre striping) and, on btrfs,
 * whether blocks are copied on writing. What this user may not give away stays as it is for a new
 * file. */
static void inherit(int from, const struct stat *old, int to)
{
    char names[4096], value[4096];
    int flags = 0, own = 0;
    if (ioctl(from, FS_IOC_GETFLAGS, &flags) == 0 && (flags & FS_NOCOW_FL) &&
        ioctl(to, FS_IOC_GETFLAGS, &own) == 0) {
        own |= FS_NOCOW_FL;
        ioctl(to, FS_IOC_SETFLAGS, &own);
    }
    if (fchown(to, old->st_uid, old->st_gid) != 0 && fchown(to, (uid_t)-1, old->st_gid) != 0)
        errno = 0;
    const ssize_t length = flistxattr(from, names, sizeof names);
    for (const char *name = names; name < names + length; name += strlen(name) + 1) {
        const ssize_t bytes = fgetxattr(from, name, value, sizeof value);
        if (bytes >= 0) fsetxattr(to, name, value, (size_t)bytes, 0);
    }
    fchmod(to, old->st_mode & 07777);
}

/* Makes a second file, allocated, for what lies open at old_fd (-1: nothing does). */
static int make_second(struct io_place *p, const char *stem, int old_fd, const struct stat *old,
                       char why[WHY_MAX])
{
    struct sys_fs fs = {.type = ""};
    int rc = 0, fd = temp_open(stem, &p->second);
    if (fd < 0) return fd;
    if ((p->want.count > 0 || p->want.unit_bytes > 0) && sys_path_fs(p->second, &fs) == 0 &&
        strcmp(fs.type, "lustre") == 0) {
        /* The striping of a file is settled when it is made. */
        unlink(p->second);
        close(fd);
        rc = io_striping_make(fs.type, p->second, p->want.count, p->want.unit_bytes);
        fd = rc < 0 ? -1 : open(p->second, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        if (rc >= 0 && fd < 0) rc = err_set_errno(ERR_IO, errno, "open %s", p->second);
    }
    p->fd = fd;
    if (rc >= 0) rc = check_free(p->second, p->bytes, why);
    if (rc == 0 && old_fd >= 0) inherit(old_fd, old, fd);
    const int errnum = rc == 0 && p->bytes > 0 ? allocate(fd, 0, 0, p->bytes) : 0;
    p->allocated = cannot_allocate(errnum) ? "sparse" : "fallocate";
    if (errnum != 0 && !cannot_allocate(errnum)) rc = not_allocated(p, errnum, why);
    if (rc == 0 && cannot_allocate(errnum) && ftruncate(fd, (off_t)p->bytes) != 0)
        rc = err_set_errno(ERR_IO, errno, "ftruncate of a second file for %s", p->path);
    if (rc == 0) identity_of_fd(fd, &p->id);
    if (rc != 0) io_place_undo(p);
    return rc;
}

/* ------------------------------------------------------------------ the old blocks */

/* XFS shares blocks between files, and writes them elsewhere then. */
static bool shares_blocks(int fd)
{
    enum { EXTENTS = 128 };
    union {
        struct fiemap map;
        char room[sizeof(struct fiemap) + EXTENTS * sizeof(struct fiemap_extent)];
    } u;
    for (uint64_t at = 0;;) {
        memset(&u, 0, sizeof u);
        u.map.fm_start = at;
        u.map.fm_length = FIEMAP_MAX_OFFSET - at;
        u.map.fm_flags = FIEMAP_FLAG_SYNC;
        u.map.fm_extent_count = EXTENTS;
        if (ioctl(fd, FS_IOC_FIEMAP, &u.map) != 0) return true;
        for (uint32_t e = 0; e < u.map.fm_mapped_extents; e++) {
            const struct fiemap_extent *x = &u.map.fm_extents[e];
            if (x->fe_flags & FIEMAP_EXTENT_SHARED) return true;
            if (x->fe_flags & FIEMAP_EXTENT_LAST) return false;
            at = x->fe_logical + x->fe_length;
        }
        if (u.map.fm_mapped_extents == 0) return false;
    }
}

/* Why what the file holds cannot be overwritten where it lies; NULL if it can. */
static const char *not_in_place(int fd, const struct stat *old)
{
    struct statfs fs;
    if (old->st_nlink > 1) return "it has a second name (a hard link)";
    if (old->st_size == 0) return NULL;
    if (fstatfs(fd, &fs) != 0) return "the type of its file system is unknown";
    if (fs.f_type == EXT4_SUPER_MAGIC || fs.f_type == TMPFS_MAGIC) return NULL;
    if (fs.f_type != XFS_SUPER_MAGIC)
        return "its file system is not known to write where a file's blocks lie";
    return shares_blocks(fd) ? "a snapshot or a copy (reflink) shares its blocks" : NULL;
}

/* Completes the blocks of the old file behind its end, so that its length stays until it is taken.
 */
static int complete_old(struct io_place *p, int fd, const struct stat *old, char why[WHY_MAX])
{
    const char *reason = p->keeps ? NULL : not_in_place(fd, old);
    if (reason) {
        snprintf(why, WHY_MAX, "%s", reason);
        return NO_ROOM;
    }
    const int64_t blocks_bytes = (int64_t)old->st_blocks * 512, lacks = p->bytes - blocks_bytes;
    int rc = lacks > 0 ? check_free(p->path, lacks, why) : 0;
    if (rc != 0) return rc;
    int errnum = p->bytes > 0 ? allocate(fd, FALLOC_FL_KEEP_SIZE, 0, p->bytes) : 0;
    /* XFS wants room for the whole range, whatever of it is there. */
    const int64_t behind = p->bytes - p->old_bytes;
    if (errnum == ENOSPC && blocks_bytes >= p->old_bytes)
        errnum = behind > 0 ? allocate(fd, FALLOC_FL_KEEP_SIZE, p->old_bytes, behind) : 0;
    if (cannot_allocate(errnum) && old->st_size == 0)
        errnum = allocate(fd, 0, 0, p->bytes); /* NFS */
    p->allocated = cannot_allocate(errnum) ? "sparse" : "fallocate";
    const bool unknown = cannot_allocate(errnum) && old->st_size > 0 && !p->keeps;
    if (unknown) snprintf(why, WHY_MAX, "its file system cannot allocate blocks");
    if (unknown) return NO_ROOM;
    p->fd = fd;
    p->id = p->old;
    p->id.bytes = p->bytes;
    if (errnum == 0 || cannot_allocate(errnum)) return 0;
    rc = not_allocated(p, errnum, why);
    if (ftruncate(fd, (off_t)p->old_bytes) != 0 && rc == NO_ROOM)
        rc = err_set_errno(ERR_IO, errno, "ftruncate %s to its length", p->path);
    p->fd = -1;
    p->id = IDENTITY_NONE;
    return rc;
}

/* Whether another file can be renamed over it: not where it is mounted by itself, nor in a
 * directory such as /tmp where only owners may. */
static bool replaceable(int fd, const struct stat *old, const char *stem)
{
    char folder[IO_PLACE_PATH_MAX];
    struct statx x;
    struct stat dir;
    const char *slash = strrchr(stem, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - stem) + 1 : 1,
             slash ? stem : ".");
    if (statx(fd, "", AT_EMPTY_PATH, 0, &x) == 0 && (x.stx_attributes & STATX_ATTR_MOUNT_ROOT))
        return false;
    const uid_t me = geteuid();
    return stat(folder, &dir) != 0 || !(dir.st_mode & S_ISVTX) || me == 0 || me == old->st_uid ||
           me == dir.st_uid;
}

/* Both ways for a file that is there, the better one first. */
static int prove_old(struct io_place *p, const char *stem, int fd, const struct stat *old)
{
    char second[WHY_MAX] = "it cannot be replaced here", again[WHY_MAX] = "";
    struct statfs fs;
    const bool in_memory = fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
    const bool may_replace = !p->keeps && replaceable(fd, old, stem);
    const bool again_first = !may_replace || old->st_size == 0 || in_memory;
    int rc = again_first ? complete_old(p, fd, old, again) : NO_ROOM;
    if (rc == NO_ROOM && may_replace) rc = make_second(p, stem, fd, old, second);
    if (rc == NO_ROOM && !again_first) rc = complete_old(p, fd, old, again);
    if (rc != NO_ROOM) return rc;
    if (p->keeps || old->st_size == 0) return no_room(p->path, again);
    return err_set(
        ERR_IO,
        "%s stays as it is: no room for a second file beside it (%s), and its own blocks "
        "cannot be used again (%s); make room, remove the file or choose another --out",
        p->path, second, again);
}

int io_place_prove(struct io_place *p, const char *path, const char *stem, int64_t bytes,
                   bool keeps, const struct io_striping *want)
{
    struct stat old;
    char why[WHY_MAX];
    *p = IO_PLACE_NONE;
    if (want) p->want = *want;
    snprintf(p->path, sizeof p->path, "%s", path);
    p->bytes = bytes;
    p->keeps = keeps;
    p->old = p->id = IDENTITY_NONE;
    TRY(check_limit(p));
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) {
        const int rc = make_second(p, stem, -1, NULL, why);
        return rc == NO_ROOM ? no_room(path, why) : rc;
    }
    if (fd < 0 || fstat(fd, &old) != 0) {
        const int errnum = errno;
        if (fd >= 0) close(fd);
        return err_set_errno(ERR_IO, errnum, "cannot open %s for writing", path);
    }
    p->there = true;
    p->old_bytes = (int64_t)old.st_size;
    identity_of_fd(fd, &p->old);
    int rc = S_ISREG(old.st_mode) ? prove_old(p, stem, fd, &old)
                                  : err_set(ERR_IO, "%s is no longer a regular file", path);
    if (p->fd != fd) close(fd);
    return rc;
}

/* ------------------------------------------------------------------ the old content goes */

static int write_zeros(int fd, int64_t bytes)
{
    static const char zeros[1 << 20];
    for (int64_t at = 0; at < bytes;) {
        const int64_t left = bytes - at;
        const size_t most = left < (int64_t)sizeof zeros ? (size_t)left : sizeof zeros;
        const ssize_t put = pwrite(fd, zeros, most, (off_t)at);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return put < 0 ? errno : EIO;
        at += put;
    }
    return 0;
}

/* Old values must not be taken for new ones: where a writer fails to write there are zeros. */
static int use_old(const struct io_place *p)
{
    const int64_t common = p->old_bytes < p->bytes ? p->old_bytes : p->bytes;
    if (p->old_bytes != p->bytes && ftruncate(p->fd, (off_t)p->bytes) != 0)
        return err_set_errno(ERR_IO, errno, "ftruncate %s", p->path);
    int errnum = p->keeps || common == 0 ? 0 : allocate(p->fd, FALLOC_FL_ZERO_RANGE, 0, common);
    if (cannot_allocate(errnum)) errnum = write_zeros(p->fd, common);
    return errnum ? err_set_errno(ERR_IO, errnum, "cannot fill %s with zeros", p->path) : 0;
}

static int use_second(struct io_place *p)
{
    int rc = -1;
    errno = EINVAL;
    if (!p->there) rc = renameat2(AT_FDCWD, p->second, AT_FDCWD, p->path, RENAME_NOREPLACE);
    if (rc != 0 && (errno == EINVAL || errno == ENOSYS)) rc = rename(p->second, p->path);
    if (rc != 0) return err_set_errno(ERR_IO, errno, "%s cannot be replaced", p->path);
    free(p->second);
    p->second = NULL;
    return 0;
}

int io_place_take(struct io_place *p)
{
    struct identity now;
    if (p->fd < 0) return 0;
    const bool there = identity_of_path(p->path, &now);
    if (there != p->there || (there && !identity_same(now, p->old)))
        return err_set(ERR_IO, "%s: another program has created this file meanwhile", p->path);
    p->taken = !p->second;
    int rc = p->second ? use_second(p) : use_old(p);
    p->taken = p->taken || rc == 0;
    if (rc < 0) return rc;
    const int fd = p->fd;
    p->fd = -1;
    if (close(fd) == 0 || errno == EINTR) return 0;
    return err_set_errno(ERR_IO, errno, "close %s", p->path);
}

void io_place_undo(struct io_place *p)
{
    struct identity now;
    if (p->second) unlink(p->second);
    free(p->second);
    p->second = NULL;
    const bool extended = p->fd >= 0 && !p->taken && p->there && p->bytes > p->old_bytes &&
                          identity_same(p->id, p->old);
    if (extended && ftruncate(p->fd, (off_t)p->old_bytes) != 0) errno = 0;
    if (p->fd >= 0) close(p->fd);
    p->fd = -1;
    if (!p->taken || (p->keeps && p->there) || !identity_of_path(p->path, &now)) return;
    p->taken = false;
    if (!identity_same(now, p->id)) return;
    if (!p->there)
        unlink(p->path);
    else if (p->old_bytes == 0 && truncate(p->path, 0) != 0)
        errno = 0;
}

bool io_place_reuses(const char *path)
{
    /* By name: ext2 and ext3, which cannot allocate, have the number of ext4. */
    static const char *const types[] = {"ext4", "tmpfs", "xfs"};
    struct sys_fs fs;
    if (sys_path_fs(path, &fs) < 0) {
        err_clear();
        return false;
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(fs.type, types[i]) == 0) return true;
    return false;
}

bool io_place_old(const char *path, struct io_place_old *old)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool there = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    const int64_t bytes = there ? (int64_t)st.st_blocks * 512 : 0;
    if (there && !not_in_place(fd, &st) && io_place_reuses(path)) old->reusable_bytes += bytes;
    if (there && st.st_nlink == 1) old->bytes += bytes;
    if (fd >= 0) close(fd);
    return there;
}

int io_place_lacks(const char *path, int64_t bytes, int64_t *lacks)
{
    struct io_place p = IO_PLACE_NONE;
    struct io_place_old old = {0};
    snprintf(p.path, sizeof p.path, "%s", path);
    p.bytes = bytes;
    TRY(check_limit(&p));
    (void)io_place_old(path, &old);
    if (bytes > old.reusable_bytes) *lacks = num_sum(*lacks, bytes - old.reusable_bytes);
    return 0;
}

int io_place_free(const char *path, int64_t lacks)
{
    char why[WHY_MAX], folder[PATH_MAX];
    own_split(path, folder);
    return lacks > 0 && check_free(folder, lacks, why) != 0 ? no_room(path, why) : 0;
}

int io_place_room(const char *path, int64_t bytes, const char *what)
{
    struct io_place p = IO_PLACE_NONE;
    char why[WHY_MAX];
    snprintf(p.path, sizeof p.path, "%s", path);
    p.bytes = bytes;
    const int rc = bytes > 0 ? make_second(&p, path, -1, NULL, why) : 0;
    io_place_undo(&p);
    if (rc != NO_ROOM) return rc;
    return err_set(ERR_IO,
                   "%s: no room for %s: %s; make room or choose another directory with --out", path,
                   what, why);
}
