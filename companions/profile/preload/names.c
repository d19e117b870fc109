/* SPDX-License-Identifier: GPL-3.0-or-later */
/* POSIX calls on names of files. Those that change a name are noted before they are made; while writes are
 * dropped they are made on what stands for the name, and asking tells of that. */
#include "companions/profile/preload/declared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "companions/profile/preload/folders.h"
#include "companions/profile/preload/follow.h"
#include "companions/profile/preload/next.h"
#include "companions/profile/preload/posix.h"

#define CALLER __builtin_return_address(0)

/* A call that changes a name. */
struct change {
    char whole[PROFILE_PATH_MAX];
    char path[PROFILE_PATH_MAX]; /* what stands for it, while writes are dropped */
    struct profile_before *note;
    uint64_t start_ns; /* before it was noted */
};

/* NOBODYS: to be made as it is. FOLLOWED: while writes are dropped on what stands for the name. REFUSED: not
 * at all; errno is set. */
enum whose { NOBODYS, FOLLOWED, REFUSED };

/* What cannot be followed is made in the real run; while writes are dropped it is refused. */
static enum whose not_followed(void)
{
    return count_dropping() ? REFUSED : NOBODYS;
}

/* The same, and told. */
static enum whose lost(enum profile_unseen what, const char *name)
{
    const int why = errno;
    count_unseen(profile_unseen_word((int)what), name);
    errno = why;
    return not_followed();
}

/* What Linux says of a name that ends in a slash, in "." or in ".."; 0: nothing. path: what stands for it. */
static int refused_name(const char *name, const char *path, enum profile_other what)
{
    struct stat st;
    const char *slash = strrchr(name, '/');
    const char *last = slash ? slash + 1 : name;
    const bool one = strcmp(last, ".") == 0, two = strcmp(last, "..") == 0;
    if (!name[0]) return ENOENT;
    if (one || two)
        return what == PROFILE_OPEN     ? EEXIST
               : what == PROFILE_RENAME ? EBUSY
               : what == PROFILE_SIZE   ? EISDIR
               : one                    ? EINVAL
                                        : ENOTEMPTY;
    if (last[0] || lstat(path, &st) < 0 || S_ISDIR(st.st_mode)) return 0;
    return what == PROFILE_OPEN ? EEXIST : ENOTDIR;
}

/* Whose a change of a name is; notes it if it is followed. follow: what a link points to is changed. */
static enum whose change_begin(struct change *c, const void *caller, int at, const char *name,
                               bool follow, enum profile_other what)
{
    if (posix_refused(name)) return REFUSED;
    if (!follow_on() || !name || follow_is_mpi(caller)) return NOBODYS;
    if (paths_whole(at, name, follow, c->whole) < 0) {
        if (!paths_refused(errno, name)) count_unseen_why(errno, name);
        return not_followed();
    }
    if (paths_outside(c->whole)) {
        errno = EACCES;
        return lost(PROFILE_UNSEEN_OUTSIDE, c->whole);
    }
    if (!paths_followed(c->whole)) return NOBODYS;
    if (!follow_is_process()) { /* a child that has its parent's memory */
        errno = EACCES;
        return lost(PROFILE_UNSEEN_OPENED, c->whole);
    }
    (*count_inside())++;
    struct stat st;
    const bool there = !paths_unmade(c->whole) && lstat(c->whole, &st) == 0;
    const bool known = !there || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode);
    c->start_ns = count_now_ns();
    c->note = known ? paths_note(c->whole) : NULL;
    if (known && !c->note) count_no_room(c->whole);
    paths_mark(name);
    paths_stand_in(c->whole, c->path);
    const int why = count_dropping() ? refused_name(name, c->path, what) : 0;
    (*count_inside())--;
    if (why) {
        errno = why;
        return REFUSED;
    }
    /* A FIFO that was there before could not be removed again, once another one has its name. */
    if (there && S_ISFIFO(st.st_mode) && what == PROFILE_REMOVE && !count_dropping() &&
        !paths_find_special(c->whole))
        count_unseen(profile_unseen_word(PROFILE_UNSEEN_LINKED), c->whole);
    if (there && S_ISLNK(st.st_mode)) {
        errno = EACCES;
        return lost(PROFILE_UNSEEN_LINKED, c->whole);
    }
    return c->note ? FOLLOWED : NOBODYS;
}

/* ------------------------------------------------------------------ changing */

/* plain: the call as the program makes it; dropped: what is done on c.path while writes are dropped. */
#define CHANGE(at, name, follow, what, number, plain, dropped)                                     \
    struct change c;                                                                               \
    const enum whose whose = change_begin(&c, CALLER, at, name, follow, what);                     \
    if (whose == REFUSED) return -1;                                                               \
    if (whose == NOBODYS) return plain;                                                            \
    const uint64_t start_ns = count_begun(c.start_ns);                                             \
    const int rc = count_dropping() ? (dropped) : (plain);                                         \
    if (rc == 0) {                                                                                 \
        c.note->written = 1;                                                                       \
        c.note->gone = (what) == PROFILE_REMOVE;                                                   \
        if ((what) == PROFILE_OPEN) c.note->directory = 1;                                         \
        follow_name(c.whole, c.note->directory, what, number, start_ns);                           \
    }                                                                                              \
    return rc

int unlink(const char *name)
{
    REAL(int, unlink, const char *);
    CHANGE(AT_FDCWD, name, false, PROFILE_REMOVE, 0, real(name), real(c.path));
}

/* Removes what stands for a folder, unless the folder would hold something. */
static int remove_stand_in(const struct change *c, int (*remove_it)(const char *))
{
    struct stat st;
    bool empty = true;
    (*count_inside())++;
    if (lstat(c->path, &st) == 0 && S_ISDIR(st.st_mode)) empty = folders_empty(c->whole);
    const int rc = empty ? remove_it(c->path) : -1;
    const int why = empty ? errno : ENOTEMPTY;
    (*count_inside())--;
    errno = why;
    return rc;
}

int rmdir(const char *name)
{
    REAL(int, rmdir, const char *);
    CHANGE(AT_FDCWD, name, false, PROFILE_REMOVE, 1, real(name), remove_stand_in(&c, real));
}

int remove(const char *name)
{
    REAL(int, remove, const char *);
    CHANGE(AT_FDCWD, name, false, PROFILE_REMOVE, 2, real(name), remove_stand_in(&c, real));
}

int unlinkat(int at, const char *name, int how)
{
    REAL(int, unlinkat, int, const char *, int);
    CHANGE(at, name, false, PROFILE_REMOVE, how, real(at, name, how),
           remove_stand_in(&c, how & AT_REMOVEDIR ? rmdir : unlink));
}

/* Makes what stands for a folder, unless its own folder is not there. */
static int make_stand_in(const struct change *c, mode_t mode)
{
    (*count_inside())++;
    const int rc = paths_can_create(c->whole) ? mkdir(c->path, mode) : -1;
    (*count_inside())--;
    return rc;
}

int mkdir(const char *name, mode_t mode)
{
    REAL(int, mkdir, const char *, mode_t);
    CHANGE(AT_FDCWD, name, false, PROFILE_OPEN, 0, real(name, mode), make_stand_in(&c, mode));
}

int mkdirat(int at, const char *name, mode_t mode)
{
    REAL(int, mkdirat, int, const char *, mode_t);
    CHANGE(at, name, false, PROFILE_OPEN, 0, real(at, name, mode), make_stand_in(&c, mode));
}

static int shorten(const char *path, int64_t bytes)
{
    if (bytes < 0) {
        errno = EINVAL;
        return -1;
    }
    struct profile_stand_in *s = paths_map(path);
    if (!s) return -1;
    __atomic_store_n(&s->size, bytes, __ATOMIC_RELAXED);
    s->written = 1;
    paths_unmap(s);
    (*count_inside())++;
    utimensat(AT_FDCWD, path, NULL, 0);
    (*count_inside())--;
    return 0;
}

int truncate(const char *name, off_t bytes)
{
    REAL(int, truncate, const char *, off_t);
    CHANGE(AT_FDCWD, name, true, PROFILE_SIZE, bytes, real(name, bytes), shorten(c.path, bytes));
}
ALIAS(int, truncate64, truncate, const char *name, off64_t bytes);

/* The new name of what stood for a file. */
static void renamed(struct change *from, struct change *to)
{
    struct profile_stand_in *s = count_dropping() ? paths_map(to->path) : NULL;
    if (s) {
        memcpy(s->name, to->whole, sizeof s->name);
        s->written = 1; /* as a file that is renamed counts as written */
    }
    paths_unmap(s);
    from->note->written = to->note->written = 1;
    from->note->gone = 1;
    to->note->gone = 0;
    if (count_dropping()) return;
    memcpy(from->note->moved, to->whole, sizeof to->whole);
    to->note->moved[0] = '\0';
}

/* The file system of a name's folder; 0: not known. */
static dev_t device_of(const char *whole)
{
    char folder[PROFILE_PATH_MAX];
    struct stat st;
    paths_folder(whole, folder);
    return stat(folder, &st) == 0 ? st.st_dev : 0;
}

/* A file does not get a name that ends in a slash, nor one on another file system. */
static int rename_stand_in(const struct change *from, const struct change *to, const char *name,
                           unsigned how)
{
    struct stat st;
    const size_t length = strlen(name);
    (*count_inside())++;
    const bool file = lstat(from->path, &st) == 0 && !S_ISDIR(st.st_mode);
    const dev_t here = device_of(from->whole), there = device_of(to->whole);
    (*count_inside())--;
    if (here && there && here != there) {
        errno = EXDEV;
        return -1;
    }
    if (file && length > 0 && name[length - 1] == '/') {
        errno = ENOTDIR;
        return -1;
    }
    if (!paths_can_create(to->whole)) return -1;
    (*count_inside())++;
    const int rc = (int)syscall(SYS_renameat2, AT_FDCWD, from->path, AT_FDCWD, to->path, how);
    (*count_inside())--;
    return rc;
}

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned how)
{
    REAL(int, renameat2, int, const char *, int, const char *, unsigned);
    struct change a, b;
    if (!from || !to) return real(from_at, from, to_at, to, how);
    const enum whose first = change_begin(&a, CALLER, from_at, from, false, PROFILE_RENAME);
    if (first == REFUSED) return -1;
    const enum whose second = change_begin(&b, CALLER, to_at, to, false, PROFILE_RENAME);
    if (second == REFUSED) return -1;
    if (first == NOBODYS && second == NOBODYS) return real(from_at, from, to_at, to, how);
    if (first != second) { /* the program may copy what cannot be renamed */
        errno = EXDEV;
        const int rc = count_dropping() ? -1 : real(from_at, from, to_at, to, how);
        if (rc == 0 || errno == EXDEV)
            (void)lost(PROFILE_UNSEEN_LINKED, first == FOLLOWED ? a.whole : b.whole);
        return rc;
    }
    if (a.note->directory || (how & ~1u))
        count_unseen(profile_unseen_word(PROFILE_UNSEEN_LINKED), a.whole);
    const uint64_t start_ns = count_begun(a.start_ns);
    const int rc =
        count_dropping() ? rename_stand_in(&a, &b, to, how) : real(from_at, from, to_at, to, how);
    if (rc < 0) return rc;
    renamed(&a, &b);
    follow_rename(a.whole, b.whole, start_ns);
    return rc;
}

int renameat(int from_at, const char *from, int to_at, const char *to)
{
    return renameat2(from_at, from, to_at, to, 0);
}

int rename(const char *from, const char *to)
{
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* Names of which there is no state of their own are made in the run with writes alone, and told, also where there is
 * something by that name: what is there is not the same without writes. named: the names are such. */
#define LINKING(name, arguments, at, path, named, ...)                                             \
    int name(__VA_ARGS__)                                                                          \
    {                                                                                              \
        REAL(int, name, __VA_ARGS__);                                                              \
        char whole[PROFILE_PATH_MAX];                                                              \
        if (posix_refused(path)) return -1;                                                        \
        const int before = errno;                                                                  \
        const bool ours = (named) && follow_on() && follow_is_process() &&                         \
                          !follow_is_mpi(CALLER) && paths_whole(at, path, false, whole) == 0 &&    \
                          paths_followed(whole);                                                   \
        errno = before;                                                                            \
        if (!ours) return real arguments;                                                          \
        if (count_dropping() && !paths_can_create(whole)) return -1;                               \
        if (count_dropping()) errno = EPERM;                                                       \
        const int rc = count_dropping() ? -1 : real arguments;                                     \
        if (rc == 0 || errno != ENOENT)                                                            \
            count_unseen(profile_unseen_word(PROFILE_UNSEEN_LINKED), whole);                       \
        return rc;                                                                                 \
    }
LINKING(link, (from, to), AT_FDCWD, to, from &&from[0], const char *from, const char *to)
LINKING(linkat, (from_at, from, to_at, to, how), to_at, to,
        from && (from[0] || (how & AT_EMPTY_PATH)), int from_at, const char *from, int to_at,
        const char *to, int how)
LINKING(symlink, (from, to), AT_FDCWD, to, from &&from[0], const char *from, const char *to)
LINKING(symlinkat, (from, at, to), at, to, from &&from[0], const char *from, int at, const char *to)

/* stat, mknod and their like have been functions of the C library since its version 2.33 only. */
static int stat_at(int at, const char *path, struct stat *st, int how)
{
    return (int)syscall(SYS_newfstatat, at, path, st, how);
}

/* A regular file: as open makes it. */
static int make_regular(int at, const char *name, mode_t mode)
{
    const int fd =
        openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & ~(mode_t)S_IFMT);
    return fd < 0 || close(fd) < 0 ? -1 : 0;
}

/* Whether a name is one of the program's under which it makes what is no file. */
static bool is_special(const void *caller, int at, const char *name, char whole[PROFILE_PATH_MAX])
{
    const int kept = errno;
    const bool is = name && follow_on() && follow_is_process() && !follow_is_mpi(caller) &&
                    paths_whole(at, name, false, whole) == 0 &&
                    (paths_followed(whole) || paths_outside(whole));
    errno = kept;
    return is;
}

/* What is no file is made in both runs. Without writes, where the run with writes has left it, that counts as made,
 * once. Returns whether it is to be made; else [out] rc: the answer, with errno. */
static bool special_begin(const char *whole, mode_t type, int *rc)
{
    char path[PROFILE_PATH_MAX];
    struct stat st;
    struct profile_before *made = paths_find_special(whole);
    paths_stand_in(whole, path);
    const int kept = errno;
    const bool file = !made && paths_find(whole);
    const bool there = stat_at(AT_FDCWD, file ? path : whole, &st, AT_SYMLINK_NOFOLLOW) == 0;
    *rc = -1;
    if (there && !paths_unmade(whole)) {
        errno = EEXIST;
        return false;
    }
    if (!paths_can_create(whole)) return false;
    errno = kept;
    /* The other run may have made it by another name, such as one with the number of the process. */
    if (!made || __atomic_exchange_n(&made->written, 1, __ATOMIC_RELAXED) || !there) return true;
    if ((st.st_mode & S_IFMT) == type)
        *rc = 0;
    else /* it had become a file in the end, which stays */
        count_unseen(profile_unseen_word(PROFILE_UNSEEN_LINKED), whole);
    return *rc < 0;
}

/* It was made: noted for the other runs. */
static void special_end(const char *whole)
{
    const int kept = errno;
    const struct profile_before *file = paths_find(whole);
    if (file && file->written) /* which would be opened, and wait, without writes */
        count_unseen(profile_unseen_word(PROFILE_UNSEEN_LINKED), whole);
    if (paths_note_special(whole) < 0) count_unseen_why(errno, whole);
    errno = kept;
}

/* mode_is, device_is: expressions. With the type of a file, or none, a file is made. Of these functions the C library
 * has some only. */
#define MAKING(name, arguments, at, path, mode_is, device_is, ...)                                 \
    int name(__VA_ARGS__);                                                                         \
    int name(__VA_ARGS__)                                                                          \
    {                                                                                              \
        REAL(int, name, __VA_ARGS__);                                                              \
        const mode_t type = (mode_is) & (mode_t)S_IFMT;                                            \
        if (posix_refused(path)) return -1;                                                        \
        if ((type == 0 || type == S_IFREG) && follow_on() && !follow_is_mpi(CALLER))               \
            return make_regular(at, path, mode_is);                                                \
        char whole[PROFILE_PATH_MAX];                                                              \
        int rc;                                                                                    \
        const bool ours = is_special(CALLER, at, path, whole);                                     \
        if (ours && count_dropping() && !special_begin(whole, type, &rc)) return rc;               \
        (*count_inside())++;                                                                       \
        rc = real ? real arguments : (int)syscall(SYS_mknodat, at, path, mode_is, device_is);      \
        (*count_inside())--;                                                                       \
        if (ours && rc == 0 && !count_dropping()) special_end(whole);                              \
        return rc;                                                                                 \
    }
MAKING(mknodat, (at, name, mode, device), at, name, mode, device, int at, const char *name,
       mode_t mode, dev_t device)
MAKING(mknod, (name, mode, device), AT_FDCWD, name, mode, device, const char *name, mode_t mode,
       dev_t device)
MAKING(mkfifo, (name, mode), AT_FDCWD, name, (mode & ~(mode_t)S_IFMT) | S_IFIFO, 0,
       const char *name, mode_t mode)
MAKING(mkfifoat, (at, name, mode), at, name, (mode & ~(mode_t)S_IFMT) | S_IFIFO, 0, int at,
       const char *name, mode_t mode)
MAKING(__xmknod, (version, name, mode, device), AT_FDCWD, name, mode, *device, int version,
       const char *name, mode_t mode, dev_t *device)
MAKING(__xmknodat, (version, at, name, mode, device), at, name, mode, *device, int version, int at,
       const char *name, mode_t mode, dev_t *device)

/* ------------------------------------------------------------------ asking, and what is no data */

/* A function on a name: while writes are dropped on what stands for it. */
#define AT_NAME(name, fd, path, follow, plain, instead, ...)                                       \
    int name(__VA_ARGS__)                                                                          \
    {                                                                                              \
        REAL(int, name, __VA_ARGS__);                                                              \
        char whole[PROFILE_PATH_MAX], other[PROFILE_PATH_MAX];                                     \
        return folders_asked(fd, path, follow, whole, other) ? real instead : real plain;          \
    }
#define FOLLOWS(how) (!((how)&AT_SYMLINK_NOFOLLOW))
AT_NAME(access, AT_FDCWD, path, true, (path, mode), (other, mode), const char *path, int mode)
AT_NAME(euidaccess, AT_FDCWD, path, true, (path, mode), (other, mode), const char *path, int mode)
AT_NAME(eaccess, AT_FDCWD, path, true, (path, mode), (other, mode), const char *path, int mode)
AT_NAME(faccessat, at, path, FOLLOWS(how), (at, path, mode, how), (AT_FDCWD, other, mode, how),
        int at, const char *path, int mode, int how)
/* Whether mode, owner, times and attributes of a name are to stay as the run with writes has set them: what is
 * there has no stand-in, or is a folder. */
static bool stays(int at, const char *path, bool follow)
{
    char whole[PROFILE_PATH_MAX];
    struct stat st;
    if (!count_dropping() || !follow_on() || !path) return false;
    const int kept = errno;
    bool is = paths_whole(at, path, follow, whole) == 0 && paths_followed(whole);
    (*count_inside())++;
    is = is && lstat(whole, &st) == 0 && (st.st_uid == geteuid() || access(whole, W_OK) == 0);
    (*count_inside())--;
    errno = kept;
    return is; /* others may not change them: the call says so */
}

/* A function that changes these of a name, or of an open file. */
#define ATTRIBUTE(name, fd, path, follow, plain, instead, ...)                                     \
    int name(__VA_ARGS__)                                                                          \
    {                                                                                              \
        REAL(int, name, __VA_ARGS__);                                                              \
        char whole[PROFILE_PATH_MAX], other[PROFILE_PATH_MAX];                                     \
        if (posix_refused(path)) return -1;                                                        \
        if (folders_instead(fd, path, follow, whole, other)) return real instead;                  \
        return stays(fd, path, follow) ? 0 : real plain;                                           \
    }
#define ATTRIBUTE_FD(name, plain, instead, ...)                                                    \
    int name(__VA_ARGS__)                                                                          \
    {                                                                                              \
        REAL(int, name, __VA_ARGS__);                                                              \
        const struct followed *f = follow_find(fd);                                                \
        char link[64];                                                                             \
        if (posix_passed_over(fd)) return 0;                                                       \
        if (f && f->state) return real instead;                                                    \
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);                                       \
        return stays(AT_FDCWD, link, true) ? 0 : real plain;                                       \
    }
ATTRIBUTE(chmod, AT_FDCWD, path, true, (path, mode), (other, mode | 0600), const char *path,
          mode_t mode)
ATTRIBUTE(fchmodat, at, path, FOLLOWS(how), (at, path, mode, how),
          (AT_FDCWD, other, mode | 0600, how), int at, const char *path, mode_t mode, int how)
ATTRIBUTE(chown, AT_FDCWD, path, true, (path, user, group), (other, user, group), const char *path,
          uid_t user, gid_t group)
ATTRIBUTE(lchown, AT_FDCWD, path, false, (path, user, group), (other, user, group),
          const char *path, uid_t user, gid_t group)
ATTRIBUTE(fchownat, at, path, FOLLOWS(how), (at, path, user, group, how),
          (AT_FDCWD, other, user, group, how), int at, const char *path, uid_t user, gid_t group,
          int how)
ATTRIBUTE(utime, AT_FDCWD, path, true, (path, times), (other, times), const char *path,
          const struct utimbuf *times)
ATTRIBUTE(utimes, AT_FDCWD, path, true, (path, times), (other, times), const char *path,
          const struct timeval times[2])
ATTRIBUTE(lutimes, AT_FDCWD, path, false, (path, times), (other, times), const char *path,
          const struct timeval times[2])
ATTRIBUTE(utimensat, at, path, FOLLOWS(how), (at, path, times, how), (AT_FDCWD, other, times, how),
          int at, const char *path, const struct timespec times[2], int how)
ATTRIBUTE(setxattr, AT_FDCWD, path, true, (path, key, value, n, how), (other, key, value, n, how),
          const char *path, const char *key, const void *value, size_t n, int how)
ATTRIBUTE(lsetxattr, AT_FDCWD, path, false, (path, key, value, n, how), (other, key, value, n, how),
          const char *path, const char *key, const void *value, size_t n, int how)
ATTRIBUTE(removexattr, AT_FDCWD, path, true, (path, key), (other, key), const char *path,
          const char *key)
ATTRIBUTE(lremovexattr, AT_FDCWD, path, false, (path, key), (other, key), const char *path,
          const char *key)
ATTRIBUTE_FD(fchmod, (fd, mode), (fd, mode | 0600), int fd, mode_t mode)
ATTRIBUTE_FD(fchown, (fd, user, group), (fd, user, group), int fd, uid_t user, gid_t group)
ATTRIBUTE_FD(futimens, (fd, times), (fd, times), int fd, const struct timespec times[2])
ATTRIBUTE_FD(futimes, (fd, times), (fd, times), int fd, const struct timeval times[2])
ATTRIBUTE_FD(fsetxattr, (fd, key, value, n, how), (fd, key, value, n, how), int fd, const char *key,
             const void *value, size_t n, int how)
ATTRIBUTE_FD(fremovexattr, (fd, key), (fd, key), int fd, const char *key)

/* The size that a file would have. */
static int corrected(int rc, const char *path, int fd, struct stat *st)
{
    if (rc < 0 || !S_ISREG(st->st_mode)) return rc;
    const struct followed *f = fd >= 0 ? follow_find(fd) : NULL;
    struct profile_stand_in *s = fd >= 0 ? NULL : paths_map(path);
    if (fd >= 0 && (!f || !f->state)) return rc;
    if (f) st->st_size = __atomic_load_n(&f->state->size, __ATOMIC_RELAXED);
    if (s) st->st_size = __atomic_load_n(&s->size, __ATOMIC_RELAXED);
    st->st_blocks = (st->st_size + 511) / 512;
    paths_unmap(s);
    return rc;
}

static int stat_name(int at, const char *path, struct stat *st, int how)
{
    char whole[PROFILE_PATH_MAX], other[PROFILE_PATH_MAX];
    if (!folders_asked(at, path, FOLLOWS(how), whole, other)) return stat_at(at, path, st, how);
    return corrected(stat_at(AT_FDCWD, other, st, how), other, -1, st);
}

int stat(const char *path, struct stat *st)
{
    return stat_name(AT_FDCWD, path, st, 0);
}

int lstat(const char *path, struct stat *st)
{
    return stat_name(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

#define ASKING(name, fd, path, follow, plain, instead, ...)                                        \
    int name(__VA_ARGS__, struct stat *st);                                                        \
    int name(__VA_ARGS__, struct stat *st)                                                         \
    {                                                                                              \
        REAL(int, name, __VA_ARGS__, struct stat *);                                               \
        char whole[PROFILE_PATH_MAX], other[PROFILE_PATH_MAX];                                     \
        if (!folders_asked(fd, path, follow, whole, other)) return real plain;                     \
        return corrected(real instead, other, -1, st);                                             \
    }
ASKING(__xstat, AT_FDCWD, path, true, (version, path, st), (version, other, st), int version,
       const char *path)
ASKING(__lxstat, AT_FDCWD, path, false, (version, path, st), (version, other, st), int version,
       const char *path)

static bool asks_open_file(const char *path, int how)
{
    return (!path || !path[0]) && (how & AT_EMPTY_PATH);
}

int fstatat(int at, const char *path, struct stat *st, int how)
{
    if (!asks_open_file(path, how)) return stat_name(at, path, st, how);
    const int rc = stat_at(at, path, st, how);
    return count_dropping() ? corrected(rc, NULL, at, st) : rc;
}

int __fxstatat(int version, int at, const char *path, struct stat *st, int how);
int __fxstatat(int version, int at, const char *path, struct stat *st, int how)
{
    (void)version;
    return fstatat(at, path, st, how);
}

int fstat(int fd, struct stat *st)
{
    const int rc = stat_at(fd, "", st, AT_EMPTY_PATH);
    return count_dropping() && *count_inside() == 0 ? corrected(rc, NULL, fd, st) : rc;
}

int __fxstat(int version, int fd, struct stat *st);
int __fxstat(int version, int fd, struct stat *st)
{
    (void)version;
    return fstat(fd, st);
}

#define STAT64(name, of, ...)                                                                      \
    int name(__VA_ARGS__, struct stat64 *st);                                                      \
    int name(__VA_ARGS__, struct stat64 *st) __attribute__((alias(#of)))
STAT64(stat64, stat, const char *path);
STAT64(lstat64, lstat, const char *path);
STAT64(fstat64, fstat, int fd);
STAT64(__xstat64, __xstat, int version, const char *path);
STAT64(__lxstat64, __lxstat, int version, const char *path);
STAT64(__fxstat64, __fxstat, int version, int fd);
ALIAS(int, fstatat64, fstatat, int at, const char *path, struct stat64 *st, int how);
int __fxstatat64(int version, int at, const char *path, struct stat64 *st, int how)
    __attribute__((alias("__fxstatat")));

int statx(int at, const char *path, int how, unsigned mask, struct statx *st)
{
    REAL(int, statx, int, const char *, int, unsigned, struct statx *);
    char whole[PROFILE_PATH_MAX], other[PROFILE_PATH_MAX];
    const bool file = asks_open_file(path, how);
    const bool name = !file && folders_asked(at, path, FOLLOWS(how), whole, other);
    const int rc = name ? real(AT_FDCWD, other, how, mask, st) : real(at, path, how, mask, st);
    if (rc < 0 || !count_dropping() || !S_ISREG(st->stx_mode)) return rc;
    struct stat now = {.st_mode = st->stx_mode, .st_size = (off_t)st->stx_size};
    if (name || file) corrected(0, other, file ? at : -1, &now);
    if ((uint64_t)now.st_size == st->stx_size) return rc;
    st->stx_size = (uint64_t)now.st_size;
    st->stx_blocks = (uint64_t)now.st_blocks;
    return rc;
}
