/* SPDX-License-Identifier: GPL-3.0-or-later */
/* POSIX calls on open files. A program's calls on files that are followed are counted; while writes are
 * dropped they are answered as the file would be if they had been made (paths.h). All others pass. The names
 * with 64 at their end are the same functions where off_t has 64 bits. */
#include "companions/profile/preload/declared.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "companions/profile/preload/folders.h"
#include "companions/profile/preload/follow.h"
#include "companions/profile/preload/next.h"
#include "companions/profile/preload/posix.h"

#define CALLER __builtin_return_address(0)

_Static_assert(sizeof(off_t) == 8, "files have 64-bit offsets");

/* ------------------------------------------------------------------ opening */

bool posix_refused(const char *name)
{
    if (!follow_back() || !name) return false;
    /* Devices and what the kernel shows are no files, but an open file has a name there, too. */
    const bool special = strncmp(name, "/dev/", 5) == 0 || strncmp(name, "/proc/", 6) == 0;
    if (special && !strstr(name, "/fd/") && strncmp(name, "/dev/std", 8) != 0) return false;
    count_unseen(profile_unseen_word(PROFILE_UNSEEN_OPENED), name);
    if (!count_dropping()) return false;
    errno = EACCES;
    return true;
}

bool posix_passed_over(int fd)
{
    const struct followed *f = follow_back() ? follow_find(fd) : NULL;
    if (f && (f->counted || f->state))
        count_unseen(profile_unseen_word(PROFILE_UNSEEN_OPENED), f->name);
    return f && f->state;
}

static int real_openat(int at, const char *name, int flags, mode_t mode)
{
    REAL(int, openat, int, const char *, int, ...);
    return real(at, name, flags, mode);
}

/* Opens a file once more that has no name any more, or what stands for it. whole: the last name that it had. */
static int open_removed(const char *name, const char *whole, int flags)
{
    const int not_now = O_TRUNC | O_DIRECT | O_SYNC | O_DSYNC;
    const bool changes = (flags & O_ACCMODE) != O_RDONLY;
    struct profile_before *note = paths_find(whole);
    const uint64_t start_ns = count_now_ns();
    char link[64];
    (*count_inside())++;
    const int fd = real_openat(AT_FDCWD, name, count_dropping() ? flags & ~not_now : flags, 0);
    const int kept = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    struct profile_stand_in *state = fd >= 0 && count_dropping() ? paths_map(link) : NULL;
    if (fd >= 0 && changes && note) note->written = 1;
    if (changes && state) state->written = 1;
    if (changes && state && (flags & O_TRUNC)) __atomic_store_n(&state->size, 0, __ATOMIC_RELAXED);
    if (fd >= 0 && note && (note->written || paths_asked()) &&
        follow_add(fd, whole, flags, note, state) < 0)
        paths_unmap(state);
    (*count_inside())--;
    struct followed *f = fd >= 0 ? follow_find(fd) : NULL;
    if (f) follow_other(f, PROFILE_OPEN, flags & ~O_CLOEXEC, start_ns);
    errno = kept;
    return fd;
}

/* Opens what stands for a file while writes are dropped. slashes: its name ends in one. */
static int open_stand_in(const char *whole, bool slashes, int flags, mode_t mode,
                         struct profile_before *note)
{
    const int not_now = O_CREAT | O_EXCL | O_TRUNC | O_DIRECT | O_SYNC | O_DSYNC | O_NOFOLLOW;
    const bool changes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC));
    char path[PROFILE_PATH_MAX], link[64];
    bool made = false;
    paths_stand_in(whole, path);
    if (slashes && ((flags & O_CREAT) || (!note->directory && access(path, F_OK) == 0))) {
        errno = flags & O_CREAT ? EISDIR : ENOTDIR;
        return -1;
    }
    if (note->directory) {
        if (access(path, F_OK) < 0) return -1;
        return real_openat(AT_FDCWD, access(whole, F_OK) == 0 ? whole : path, flags, mode);
    }
    if ((flags & O_CREAT) && access(path, F_OK) < 0) {
        if (!paths_can_create(whole)) return -1;
        made = paths_make(whole, mode, 0) == 0;
        if (!made && errno != EEXIST) return -1;
    }
    if (!made && (flags & O_CREAT) && (flags & O_EXCL)) {
        errno = EEXIST;
        return -1;
    }
    const int fd = real_openat(AT_FDCWD, path, flags & ~not_now, 0);
    if (fd < 0) return fd;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    struct profile_stand_in *state = paths_map(link);
    const int why = !state && errno == EMFILE ? EMFILE : ENOMEM;
    const bool refused = state && !made && (flags & O_ACCMODE) != O_RDONLY && !state->written &&
                         note->before_size >= 0 && !note->writable;
    /* Before it is followed, as in the run with writes: what is written is counted, from its opening on. */
    if (state && !refused && changes) state->written = 1;
    if (!state || refused || follow_add(fd, whole, flags, note, state) < 0) {
        paths_unmap(state);
        close(fd);
        errno = refused ? EACCES : why;
        return -1;
    }
    if ((flags & O_TRUNC) && (flags & O_ACCMODE) != O_RDONLY) {
        __atomic_store_n(&state->size, 0, __ATOMIC_RELAXED);
        futimens(fd, NULL);
    }
    if (changes) note->gone = 0;
    return fd;
}

/* A descriptor of a name alone (O_PATH), no data: while writes are dropped of what stands for it. */
static int open_path(int at, const char *name, int flags)
{
    char whole[PROFILE_PATH_MAX], path[PROFILE_PATH_MAX], link[64];
    if (!folders_asked(at, name, !(flags & O_NOFOLLOW), whole, path))
        return real_openat(at, name, flags, 0);
    const int fd = real_openat(AT_FDCWD, path, flags, 0);
    const int kept = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    struct profile_stand_in *state = fd < 0 || (flags & O_DIRECTORY) ? NULL : paths_map(link);
    if (state && follow_add(fd, whole, flags, paths_find(whole), state) < 0) paths_unmap(state);
    errno = kept;
    return fd;
}

int posix_open(const void *caller, int at, const char *name, int flags, mode_t mode)
{
    const bool changes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC));
    const bool nameless = (flags & O_TMPFILE) == O_TMPFILE;
    const bool plain = !(flags & O_PATH) && !nameless;
    char whole[PROFILE_PATH_MAX], here[PROFILE_PATH_MAX];
    struct stat st;
    if (!count_dir() || !name) return real_openat(at, name, flags, mode);
    if (changes && posix_refused(name)) return -1;
    if (count_dropping() && follow_on() && name[0] && name[0] != '/' && paths_away(at) &&
        paths_whole(at, name, !(flags & O_NOFOLLOW), here) == 0)
        name = here; /* seen from a folder that is nothing but a stand-in */
    if ((flags & O_PATH) && count_dropping() && follow_on()) return open_path(at, name, flags);
    if (follow_on() && plain && follow_is_process() && !follow_is_mpi(caller) &&
        paths_removed(name, whole) && paths_followed(whole))
        return open_removed(name, whole, flags);
    /* Devices, pipes and what is the MPI library's are none of the program's files. */
    const bool may = follow_on() && plain && (changes || paths_asked() || paths_maybe(name)) &&
                     !follow_is_mpi(caller);
    const bool named = may && paths_whole(at, name, !(flags & O_NOFOLLOW), whole) == 0;
    if (may && !named && changes) {
        if (!paths_refused(errno, name)) count_unseen_why(errno, name);
        if (count_dropping()) return -1;
    }
    if (follow_on() && nameless && !follow_is_mpi(caller) &&
        paths_whole(at, name, true, whole) == 0 && paths_followed(whole))
        count_unseen(profile_unseen_word(PROFILE_UNSEEN_NAMELESS), whole);
    bool ours = named && paths_followed(whole);
    if (!follow_is_process()) { /* a child that has its parent's memory */
        if (!ours || !changes) return real_openat(at, name, flags, mode);
        count_unseen(profile_unseen_word(PROFILE_UNSEEN_OPENED), whole);
        errno = EACCES;
        return count_dropping() ? -1 : real_openat(at, name, flags, mode);
    }
    int *const inside = count_inside();
    (*inside)++;
    if (named && changes && (paths_outside(whole) || paths_in_memory(whole)) &&
        (stat(whole, &st) < 0 || S_ISREG(st.st_mode))) {
        count_unseen(profile_unseen_word(PROFILE_UNSEEN_OUTSIDE), whole);
        if (count_dropping()) {
            (*inside)--;
            errno = EACCES;
            return -1;
        }
    }
    const bool unmade = ours && paths_unmade(whole);
    bool folder = false;
    if (ours && !unmade && stat(whole, &st) == 0) {
        folder = count_dropping() && S_ISDIR(st.st_mode);
        ours = S_ISREG(st.st_mode) || folder;
    }
    /* A folder has a note where the program made it; one that was there before is opened itself. */
    const bool notes = ours && changes && !folder;
    const uint64_t before_ns = count_now_ns();
    struct profile_before *note = notes ? paths_note(whole) : ours ? paths_find(whole) : NULL;
    if (notes) paths_mark(name);
    if (notes && !note) count_no_room(whole);
    const uint64_t start_ns = count_begun(before_ns);
    int fd;
    if (note && count_dropping()) {
        fd = open_stand_in(whole, name[0] && name[strlen(name) - 1] == '/', flags, mode, note);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE)) count_unseen_why(errno, whole);
    } else if (unmade) {
        fd = -1;
        errno = ENOENT;
    } else {
        fd = real_openat(at, name, flags, mode);
        const int kept = errno;
        if (fd >= 0 && note && changes) note->written = 1;
        if (fd >= 0 && note && changes) note->gone = 0;
        if (fd >= 0 && ours && ((paths_asked() && S_ISREG(st.st_mode)) || (note && note->written)))
            follow_add(fd, whole, flags, note, NULL);
        else if (fd >= 0)
            follow_ignore(fd);
        errno = kept;
    }
    (*inside)--;
    struct followed *f = ours && fd >= 0 ? follow_find(fd) : NULL;
    if (f) follow_other(f, PROFILE_OPEN, flags & ~O_CLOEXEC, start_ns);
    return fd;
}

#define MODE_OF(flags, mode)                                                                       \
    mode_t mode = 0;                                                                               \
    if (((flags)&O_CREAT) || ((flags)&O_TMPFILE) == O_TMPFILE) {                                   \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode = va_arg(list, mode_t);                                                               \
        va_end(list);                                                                              \
    }

int open(const char *name, int flags, ...)
{
    MODE_OF(flags, mode)
    return posix_open(CALLER, AT_FDCWD, name, flags, mode);
}
ALIAS(int, open64, open, const char *name, int flags, ...);

int openat(int at, const char *name, int flags, ...)
{
    MODE_OF(flags, mode)
    return posix_open(CALLER, at, name, flags, mode);
}
ALIAS(int, openat64, openat, int at, const char *name, int flags, ...);

int creat(const char *name, mode_t mode)
{
    return posix_open(CALLER, AT_FDCWD, name, O_WRONLY | O_CREAT | O_TRUNC, mode);
}
ALIAS(int, creat64, creat, const char *name, mode_t mode);

/* The names that fortified programs call. */
int __open_2(const char *name, int flags);
int __open_2(const char *name, int flags)
{
    return posix_open(CALLER, AT_FDCWD, name, flags, 0);
}
ALIAS(int, __open64_2, __open_2, const char *name, int flags);

int __openat_2(int at, const char *name, int flags);
int __openat_2(int at, const char *name, int flags)
{
    return posix_open(CALLER, at, name, flags, 0);
}
ALIAS(int, __openat64_2, __openat_2, int at, const char *name, int flags);

/* A file with a name of its own choice: the same for all of them that have its other characters. FOLDER for
 * flags: a folder instead, 0 is returned. */
enum { FOLDER = -1 };
static int open_temporary(const void *caller, char *name, int suffix, int flags)
{
    static const char letter[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    REAL(int, mkostemps, char *, int, int);
    const size_t length = strlen(name);
    char whole[PROFILE_PATH_MAX];
    if (posix_refused(name)) return -1;
    if (!follow_on() || !follow_is_process() || follow_is_mpi(caller) || suffix < 0 ||
        length < 6 + (size_t)suffix || memcmp(name + length - 6 - (size_t)suffix, "XXXXXX", 6) != 0)
        return real(name, suffix, flags);
    char *const chosen = name + length - 6 - (size_t)suffix;
    for (int tries = 0; tries < 1000; tries++) {
        uint64_t number = count_now_ns() * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)getpid();
        for (int i = 0; i < 6; i++, number = (number ^ number >> 29) * UINT64_C(0xbf58476d1ce4e5b9))
            chosen[i] = letter[(number >> 32) % (sizeof letter - 1)];
        const int fd = flags == FOLDER
                           ? mkdir(name, 0700)
                           : posix_open(caller, AT_FDCWD, name,
                                        (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL, 0600);
        if (fd < 0 && errno == EEXIST) continue;
        if (fd >= 0 && paths_whole(AT_FDCWD, name, false, whole) == 0) {
            struct profile_before *note = paths_find(whole);
            if (note) note->temporary = (int32_t)(strlen(whole) - 6 - (size_t)suffix);
            if (note) follow_chosen(flags == FOLDER ? -1 : fd, whole, note->temporary);
        }
        return fd;
    }
    memcpy(chosen, "XXXXXX", 6);
    errno = EEXIST;
    return -1;
}

char *mkdtemp(char *name)
{
    REAL(char *, mkdtemp, char *);
    const size_t length = strlen(name);
    if (posix_refused(name)) return NULL;
    if (!follow_on() || !follow_is_process() || follow_is_mpi(CALLER) || length < 6 ||
        strcmp(name + length - 6, "XXXXXX") != 0)
        return real(name);
    return open_temporary(CALLER, name, 0, FOLDER) < 0 ? NULL : name;
}

int mkstemp(char *name)
{
    return open_temporary(CALLER, name, 0, 0);
}
ALIAS(int, mkstemp64, mkstemp, char *name);

int mkostemp(char *name, int flags)
{
    return open_temporary(CALLER, name, 0, flags);
}
ALIAS(int, mkostemp64, mkostemp, char *name, int flags);

int mkstemps(char *name, int suffix)
{
    return open_temporary(CALLER, name, suffix, 0);
}
ALIAS(int, mkstemps64, mkstemps, char *name, int suffix);

int mkostemps(char *name, int suffix, int flags)
{
    return open_temporary(CALLER, name, suffix, flags);
}
ALIAS(int, mkostemps64, mkostemps, char *name, int suffix, int flags);

/* ------------------------------------------------------------------ closing, second numbers */

struct followed *posix_closing(int fd)
{
    if (!count_dir() || !follow_is_process()) return NULL;
    (void)posix_passed_over(fd);
    struct followed *f = follow_take(fd);
    return follow_back() ? NULL : f; /* nothing is counted or freed in a handler */
}

void posix_closed(struct followed *f, uint64_t start_ns)
{
    if (!f) return;
    if (*count_inside() == 0) follow_other(f, PROFILE_CLOSE, 0, start_ns);
    follow_end(f);
}

int close(int fd)
{
    REAL(int, close, int);
    if (!count_dir()) return real(fd);
    if ((*count_inside() == 0 || follow_back()) && follow_is_own(fd) && follow_is_process()) {
        errno = EBADF;
        return -1;
    }
    struct followed *f = posix_closing(fd);
    const uint64_t start_ns = f ? count_now_ns() : 0;
    const int rc = real(fd);
    const int kept = errno;
    posix_closed(f, start_ns);
    errno = kept;
    return rc;
}

int close_range(unsigned first, unsigned last, int flags)
{
    REAL(int, close_range, unsigned, unsigned, int);
    const int own_table = 2; /* CLOSE_RANGE_UNSHARE, which older headers lack */
    if ((!follow_on() && !follow_back()) || !follow_is_process() || (flags & ~own_table) ||
        first > last)
        return real(first, last, flags);
    if (flags && unshare(CLONE_FILES) < 0) return -1;
    for (unsigned fd = first; fd <= last && fd < 65536; fd++) {
        if (follow_is_own((int)fd)) continue;
        struct followed *f = posix_closing((int)fd);
        if (f) posix_closed(f, count_now_ns());
        (*count_inside())++;
        close((int)fd);
        (*count_inside())--;
    }
    return last < 65536 ? 0 : real(first > 65536 ? first : 65536, last, flags);
}

void closefrom(int first)
{
    close_range(first > 0 ? (unsigned)first : 0, ~0u, 0);
}

/* A second number was made, perhaps in place of another file. */
static int doubled(int old, int fd)
{
    const int kept = errno;
    if (fd >= 0 && count_dir() && follow_is_process() && fd != old) {
        struct followed *was = posix_closing(fd);
        if (!follow_back()) follow_same(fd, old);
        (void)posix_passed_over(old);
        if (was) posix_closed(was, count_now_ns());
    }
    errno = kept;
    return fd;
}

int dup(int fd)
{
    REAL(int, dup, int);
    return doubled(fd, real(fd));
}

int dup2(int old, int fd)
{
    REAL(int, dup2, int, int);
    return doubled(old, real(old, fd));
}

int dup3(int old, int fd, int flags)
{
    REAL(int, dup3, int, int, int);
    return doubled(old, real(old, fd, flags));
}

int fcntl(int fd, int command, ...)
{
    REAL(int, fcntl, int, int, ...);
    va_list list;
    va_start(list, command);
    void *const arg = va_arg(list, void *);
    va_end(list);
    const int rc = real(fd, command, arg);
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) return doubled(fd, rc);
    struct followed *f = command == F_SETFL && rc >= 0 ? follow_find(fd) : NULL;
    if (f) f->flags = (f->flags & ~O_APPEND) | ((int)(intptr_t)arg & O_APPEND);
    return rc;
}
ALIAS(int, fcntl64, fcntl, int fd, int command, ...);

int ioctl(int fd, unsigned long request, ...)
{
    REAL(int, ioctl, int, unsigned long, ...);
    va_list list;
    va_start(list, request);
    void *const arg = va_arg(list, void *);
    va_end(list);
    const bool clones = request == FICLONE || request == FICLONERANGE;
    struct followed *f = clones && follow_on() ? follow_find(fd) : NULL;
    if (f && f->state) {
        errno = EOPNOTSUPP; /* as it was in the real run */
        return -1;
    }
    const int rc = real(fd, request, arg);
    if (f && rc == 0) count_unseen(profile_unseen_word(PROFILE_UNSEEN_SHAPED), f->name);
    return rc;
}

/* ------------------------------------------------------------------ data accesses */

/* Bytes of all buffers. */
static int64_t bytes_of(const struct iovec *v, int n)
{
    int64_t sum = 0;
    for (int i = 0; v && i < n; i++)
        sum += (int64_t)v[i].iov_len;
    return sum;
}

/* Of a call on fd with its buffers: answered, or made by `call`; counted. More buffers than a call may have nobody
 * reads. */
/* how: of preadv2 and pwritev2, else 0. */
#define BODY2(writes, explicit, v, n, how, call)                                                   \
    struct access a;                                                                               \
    if ((n) < 0 || (n) > IOV_MAX) return call;                                                     \
    if (posix_passed_over(fd)) return (writes) ? bytes_of(v, n) : 0;                               \
    if (!follow_access(&a, fd, writes, explicit, bytes_of(v, n))) {                                \
        const ssize_t passed = call;                                                               \
        if (writes) follow_seen(fd, passed);                                                       \
        return passed;                                                                             \
    }                                                                                              \
    if ((writes) && ((how) & (RWF_APPEND | NOAPPEND))) a.appends = ((how)&RWF_APPEND) != 0;        \
    const ssize_t got = follow_answers(&a) ? follow_answer(&a, v, n) : call;                       \
    return follow_over(&a, got, v, n);
#define BODY(writes, explicit, v, n, call) BODY2(writes, explicit, v, n, 0, call)
#define NOAPPEND                           0x20 /* RWF_NOAPPEND of newer systems */

/* At a negative place, which is the file's own to preadv2 and pwritev2, the others do nothing: as the kernel says. */
#define ONE(buffer) const struct iovec one = {(void *)(uintptr_t)(buffer), n}

ssize_t read(int fd, void *into, size_t n)
{
    REAL(ssize_t, read, int, void *, size_t);
    ONE(into);
    BODY(false, -1, &one, 1, real(fd, into, n))
}
ssize_t write(int fd, const void *from, size_t n)
{
    REAL(ssize_t, write, int, const void *, size_t);
    ONE(from);
    BODY(true, -1, &one, 1, real(fd, from, n))
}
ssize_t pread(int fd, void *into, size_t n, off_t at)
{
    REAL(ssize_t, pread, int, void *, size_t, off_t);
    ONE(into);
    if (at < 0) return real(fd, into, n, at);
    BODY(false, at, &one, 1, real(fd, into, n, at))
}
ALIAS(ssize_t, pread64, pread, int fd, void *into, size_t n, off64_t at);
ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
    REAL(ssize_t, pwrite, int, const void *, size_t, off_t);
    ONE(from);
    if (at < 0) return real(fd, from, n, at);
    BODY(true, at, &one, 1, real(fd, from, n, at))
}
ALIAS(ssize_t, pwrite64, pwrite, int fd, const void *from, size_t n, off64_t at);
ssize_t readv(int fd, const struct iovec *v, int n)
{
    REAL(ssize_t, readv, int, const struct iovec *, int);
    BODY(false, -1, v, n, real(fd, v, n))
}
ssize_t writev(int fd, const struct iovec *v, int n)
{
    REAL(ssize_t, writev, int, const struct iovec *, int);
    BODY(true, -1, v, n, real(fd, v, n))
}
ssize_t preadv(int fd, const struct iovec *v, int n, off_t at)
{
    REAL(ssize_t, preadv, int, const struct iovec *, int, off_t);
    if (at < 0) return real(fd, v, n, at);
    BODY(false, at, v, n, real(fd, v, n, at))
}
ALIAS(ssize_t, preadv64, preadv, int fd, const struct iovec *v, int n, off64_t at);
ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at)
{
    REAL(ssize_t, pwritev, int, const struct iovec *, int, off_t);
    if (at < 0) return real(fd, v, n, at);
    BODY(true, at, v, n, real(fd, v, n, at))
}
ALIAS(ssize_t, pwritev64, pwritev, int fd, const struct iovec *v, int n, off64_t at);
ssize_t preadv2(int fd, const struct iovec *v, int n, off_t at, int how)
{
    REAL(ssize_t, preadv2, int, const struct iovec *, int, off_t, int);
    BODY(false, at, v, n, real(fd, v, n, at, how))
}
ALIAS(ssize_t, preadv64v2, preadv2, int fd, const struct iovec *v, int n, off64_t at, int how);
ssize_t pwritev2(int fd, const struct iovec *v, int n, off_t at, int how)
{
    REAL(ssize_t, pwritev2, int, const struct iovec *, int, off_t, int);
    BODY2(true, at, v, n, how, real(fd, v, n, at, how))
}
ALIAS(ssize_t, pwritev64v2, pwritev2, int fd, const struct iovec *v, int n, off64_t at, int how);

ssize_t __read_chk(int fd, void *into, size_t n, size_t room);
ssize_t __read_chk(int fd, void *into, size_t n, size_t room)
{
    if (n > room) abort();
    return read(fd, into, n);
}
ssize_t __pread_chk(int fd, void *into, size_t n, off_t at, size_t room);
ssize_t __pread_chk(int fd, void *into, size_t n, off_t at, size_t room)
{
    if (n > room) abort();
    return pread(fd, into, n, at);
}
ALIAS(ssize_t, __pread64_chk, __pread_chk, int fd, void *into, size_t n, off64_t at, size_t room);

static bool stands(int fd)
{
    const struct followed *f = follow_find(fd);
    return f && f->state;
}

/* Whether a folder is on the device, or the next one above it that is there. */
static bool is_on(dev_t device, const char *file)
{
    struct stat st;
    char name[PROFILE_PATH_MAX];
    snprintf(name, sizeof name, "%s", file);
    for (char *slash; (slash = strrchr(name, '/')) != NULL && slash != name;) {
        *slash = '\0';
        if (stat(name, &st) == 0) return st.st_dev == device;
    }
    return stat("/", &st) == 0 && st.st_dev == device;
}

/* Why Linux would refuse to copy into the file that a stand-in stands for, 0: it would not. Programs then go on by
 * read and write, as they did in the run with its writes. sends: by sendfile, else copy_file_range. */
static int copy_refused(const struct access *a, int in, bool sends)
{
    struct stat from;
    int why = 0;
    (*count_inside())++;
    if (fstat(in, &from) < 0)
        why = errno;
    else if (sends ? S_ISFIFO(from.st_mode) || S_ISSOCK(from.st_mode) : !S_ISREG(from.st_mode))
        why = EINVAL;
    else if (a->f->flags & O_APPEND)
        why = sends ? EINVAL : EBADF;
    else if (!sends && !stands(in) && !is_on(from.st_dev, a->f->name))
        why = EXDEV;
    (*count_inside())--;
    return why;
}

/* Copying while writes are dropped: what is to be copied is read, and that is all. in_at: NULL for the
 * position of the file. sends: as of copy_refused. counts: the caller counts what is read. Returns what would have
 * been copied, -1 with errno where Linux would refuse. */
static ssize_t copy_dropped(struct access *a, int in, off_t *in_at, off_t *out_at, bool sends,
                            bool counts)
{
    enum { PIECE = 1 << 18 };
    const int refused = copy_refused(a, in, sends);
    if (refused) {
        errno = refused;
        return -1;
    }
    char *piece = malloc(PIECE);
    int64_t done = 0;
    ssize_t got = 1;
    if (!piece) return -1;
    *count_inside() += counts;
    while (done < a->bytes && got > 0) {
        const size_t n = (size_t)(a->bytes - done < PIECE ? a->bytes - done : PIECE);
        got = in_at ? pread(in, piece, n, *in_at + done) : read(in, piece, n);
        if (got > 0) done += got;
    }
    *count_inside() -= counts;
    free(piece);
    if (done == 0 && got < 0) return -1;
    if (in_at) *in_at += done;
    a->bytes = done;
    const ssize_t told = follow_answer(a, NULL, 0);
    if (told > 0 && out_at) *out_at += told;
    return told;
}

/* A copy inside the kernel is over: a read of one file and a write of another, NULL where it is not traced. What
 * of the time was which is not known: each has half of it. One that was refused is no access: the program goes on
 * by read and write. Returns got. */
static ssize_t copy_over(struct access *from, struct access *to, ssize_t got)
{
    if (from && to) {
        const uint64_t end_ns = count_now_ns();
        to->start_ns = from->end_ns = from->start_ns + (end_ns - from->start_ns) / 2;
        to->end_ns = end_ns;
    }
    if (got < 0) return got;
    if (from) (void)follow_over(from, got, NULL, 0);
    return to ? follow_over(to, got, NULL, 0) : got;
}

/* The device that a file lies on; of the output of a run without writes that of what it stands for. */
static dev_t device_of(const struct stat *st)
{
    char path[PROFILE_PATH_MAX];
    struct stat output;
    const char *device = getenv(PROFILE_ENV_OUTPUT);
    snprintf(path, sizeof path, "%.4000s/output", count_dir());
    const bool is = device && stat(path, &output) == 0 && output.st_ino == st->st_ino &&
                    output.st_dev == st->st_dev;
    return is ? (dev_t)strtoull(device, NULL, 10) : st->st_dev;
}

/* Copying out of what stands for a file, into one that is not followed: what the run with writes has left. Where
 * Linux refused that, the program has read and written. Returns what was copied, -1 with errno. */
static ssize_t copy_out(const struct access *from, off_t *in_at, int fd, off_t *out_at)
{
    enum { PIECE = 1 << 14 };
    char piece[PIECE];
    struct stat to;
    int64_t done = 0;
    ssize_t got = 0, written = 0;
    (*count_inside())++;
    const bool seen = fstat(fd, &to) == 0, file = seen && S_ISREG(to.st_mode);
    const bool appends = file && (fcntl(fd, F_GETFL) & O_APPEND);
    const bool near = file && is_on(device_of(&to), from->f->name);
    (*count_inside())--;
    if (!file || appends || !near) {
        errno = !seen || appends ? EBADF : file ? EXDEV : EINVAL;
        return -1;
    }
    do {
        struct access part = *from;
        part.bytes = from->bytes - done < PIECE ? from->bytes - done : PIECE;
        if (in_at) part.at = *in_at + done;
        const struct iovec one = {piece, (size_t)part.bytes};
        got = follow_answer(&part, &one, 1);
        (*count_inside())++;
        if (got > 0)
            written = out_at ? pwrite(fd, piece, (size_t)got, *out_at + done)
                             : write(fd, piece, (size_t)got);
        (*count_inside())--;
        if (got > 0 && written > 0) done += written;
    } while (got > 0 && written == got && done < from->bytes);
    if (done == 0 && (got < 0 || written < 0)) return -1;
    if (in_at) *in_at += done;
    if (out_at) *out_at += done;
    return done;
}

/* A copy inside the kernel that was made, and cannot be compared: told. f: NULL where it can be. Returns got. */
static ssize_t copied_unseen(const struct followed *f, ssize_t got)
{
    if (f && got >= 0) count_unseen(profile_unseen_word(PROFILE_UNSEEN_SHAPED), f->name);
    return got;
}

ssize_t copy_file_range(int in, off64_t *in_at, int fd, off64_t *out_at, size_t n, unsigned how)
{
    REAL(ssize_t, copy_file_range, int, off64_t *, int, off64_t *, size_t, unsigned);
    if (posix_passed_over(fd) || posix_passed_over(in)) return 0;
    struct access a, r;
    const struct followed *from = follow_on() ? follow_find(in) : NULL;
    const bool standing = from && from->state;
    if (standing && !follow_find(fd) &&
        follow_access(&r, in, false, in_at ? *in_at : -1, (int64_t)n))
        return copy_over(&r, NULL, copy_out(&r, in_at, fd, out_at));
    const bool reads = !standing && follow_access(&r, in, false, in_at ? *in_at : -1, (int64_t)n);
    if (!follow_access(&a, fd, true, out_at ? *out_at : -1, (int64_t)n)) {
        const ssize_t passed = real(in, in_at, fd, out_at, n, how);
        follow_seen(fd, passed);
        return copy_over(reads ? &r : NULL, NULL, passed);
    }
    const bool unseen = from && !from->state && from->note && from->note->written;
    const ssize_t got = follow_answers(&a) ? copy_dropped(&a, in, in_at, out_at, false, reads)
                                           : real(in, in_at, fd, out_at, n, how);
    return copy_over(reads ? &r : NULL, &a, copied_unseen(unseen ? from : NULL, got));
}

ssize_t sendfile(int fd, int in, off_t *in_at, size_t n)
{
    REAL(ssize_t, sendfile, int, int, off_t *, size_t);
    if (posix_passed_over(fd) || posix_passed_over(in)) return 0;
    struct access a, r;
    const struct followed *from = follow_on() ? follow_find(in) : NULL;
    /* What is sent of a file that was written cannot be compared. */
    const bool unseen = from && (from->state || (from->note && from->note->written));
    const bool reads =
        !(from && from->state) && follow_access(&r, in, false, in_at ? *in_at : -1, (int64_t)n);
    if (!follow_access(&a, fd, true, -1, (int64_t)n)) {
        const ssize_t passed = copied_unseen(unseen ? from : NULL, real(fd, in, in_at, n));
        follow_seen(fd, passed);
        return copy_over(reads ? &r : NULL, NULL, passed);
    }
    const ssize_t got = follow_answers(&a) ? copy_dropped(&a, in, in_at, NULL, true, reads)
                                           : real(fd, in, in_at, n);
    return copy_over(reads ? &r : NULL, &a, copied_unseen(unseen ? from : NULL, got));
}
ALIAS(ssize_t, sendfile64, sendfile, int fd, int in, off64_t *in_at, size_t n);

ssize_t splice(int in, off64_t *in_at, int fd, off64_t *out_at, size_t n, unsigned how)
{
    REAL(ssize_t, splice, int, off64_t *, int, off64_t *, size_t, unsigned);
    if (posix_passed_over(fd) || posix_passed_over(in)) return 0;
    const struct followed *f = follow_on() ? follow_find(fd) : NULL;
    const struct followed *from = follow_on() ? follow_find(in) : NULL;
    return copied_unseen(f ? f : from, real(in, in_at, fd, out_at, n, how));
}

/* ------------------------------------------------------------------ other functions */

off_t lseek(int fd, off_t at, int whence)
{
    REAL(off_t, lseek, int, off_t, int);
    struct followed *f = follow_on() ? follow_find(fd) : NULL;
    if (!f) return real(fd, at, whence);
    const uint64_t start_ns = count_now_ns();
    const int64_t size = f->state ? __atomic_load_n(&f->state->size, __ATOMIC_RELAXED) : 0;
    off_t got;
    if (f->state && (whence == SEEK_DATA || whence == SEEK_HOLE)) {
        errno = ENXIO;
        got = at < 0 || at >= size ? -1 : real(fd, whence == SEEK_DATA ? at : size, SEEK_SET);
    } else if (f->state && whence == SEEK_END)
        got = real(fd, size + at, SEEK_SET);
    else
        got = real(fd, at, whence);
    follow_other(f, PROFILE_SEEK, got, start_ns);
    return got;
}
ALIAS(off_t, lseek64, lseek, int fd, off64_t at, int whence);

static int set_size(const struct followed *f, int fd, int64_t bytes)
{
    if ((f->flags & O_ACCMODE) == O_RDONLY || bytes < 0) {
        errno = EINVAL;
        return -1;
    }
    __atomic_store_n(&f->state->size, bytes, __ATOMIC_RELAXED);
    (*count_inside())++;
    futimens(fd, NULL);
    (*count_inside())--;
    return 0;
}

/* Preallocating: other changes of a file's blocks are refused, and told where they are made. */
static int allocate(const struct followed *f, int how, int64_t at, int64_t bytes)
{
    const bool known = how == 0 || how == FALLOC_FL_KEEP_SIZE;
    if ((f->flags & O_ACCMODE) == O_RDONLY || at < 0 || bytes <= 0 || !known) {
        errno = !known ? EOPNOTSUPP : (f->flags & O_ACCMODE) == O_RDONLY ? EBADF : EINVAL;
        return -1;
    }
    if (how == 0) paths_grow(f->state, at + bytes);
    return 0;
}

int ftruncate(int fd, off_t bytes)
{
    REAL(int, ftruncate, int, off_t);
    if (posix_passed_over(fd)) return 0;
    struct followed *f = follow_on() ? follow_find(fd) : NULL;
    if (!f) return real(fd, bytes);
    const uint64_t start_ns = count_now_ns();
    const int rc = f->state ? set_size(f, fd, bytes) : real(fd, bytes);
    follow_other(f, PROFILE_SIZE, bytes, start_ns);
    return rc;
}
ALIAS(int, ftruncate64, ftruncate, int fd, off64_t bytes);

/* Flushing more than one file, of a folder or whole file systems, with what others have written. It is not done while writes
 * are dropped, as it would write out what the run with writes has left. */
#define FLUSH_ALL(call)                                                                            \
    const uint64_t start_ns = count_now_ns();                                                      \
    const bool ours = follow_on() && !follow_is_mpi(CALLER);                                       \
    if (!ours || !count_dropping()) call;                                                          \
    if (ours) follow_flush_all(start_ns);

static bool is_folder(int fd)
{
    struct stat st;
    const int kept = errno;
    const bool is = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    errno = kept;
    return is;
}

/* Ways of flushing, which succeed while writes are dropped. at: what tells two calls apart. */
#define FLUSH(name, call, at, arguments, ...)                                                      \
    int name(__VA_ARGS__)                                                                          \
    {                                                                                              \
        REAL(int, name, __VA_ARGS__);                                                              \
        struct followed *f = follow_on() ? follow_find(fd) : NULL;                                 \
        int rc = 0;                                                                                \
        if (!f && follow_on() && is_folder(fd)) {                                                  \
            FLUSH_ALL(rc = real arguments)                                                         \
            return rc;                                                                             \
        }                                                                                          \
        if (!f) return real arguments;                                                             \
        const uint64_t start_ns = count_now_ns();                                                  \
        if (!f->state) rc = real arguments;                                                        \
        follow_flush(f, call, at, rc, start_ns);                                                   \
        return rc;                                                                                 \
    }
FLUSH(fsync, WORKLOAD_RUN_FSYNC, 0, (fd), int fd)
FLUSH(fdatasync, WORKLOAD_RUN_FDATASYNC, 0, (fd), int fd)
FLUSH(sync_file_range, WORKLOAD_RUN_FDATASYNC, at, (fd, at, bytes, how), int fd, off64_t at,
      off64_t bytes, unsigned how)

void sync(void)
{
    REAL(void, sync, void);
    FLUSH_ALL(real())
}

int syncfs(int fd)
{
    REAL(int, syncfs, int);
    int rc = 0;
    FLUSH_ALL(rc = real(fd))
    return rc;
}

int fallocate(int fd, int how, off_t at, off_t bytes)
{
    REAL(int, fallocate, int, int, off_t, off_t);
    if (posix_passed_over(fd)) return 0;
    struct followed *f = follow_on() ? follow_find(fd) : NULL;
    if (!f) return real(fd, how, at, bytes);
    const uint64_t start_ns = count_now_ns();
    const int rc = f->state ? allocate(f, how, at, bytes) : real(fd, how, at, bytes);
    if (!f->state && rc == 0 && how != 0 && how != FALLOC_FL_KEEP_SIZE)
        count_unseen(profile_unseen_word(PROFILE_UNSEEN_SHAPED), f->name);
    follow_other(f, PROFILE_SIZE, at + bytes, start_ns);
    return rc;
}
ALIAS(int, fallocate64, fallocate, int fd, int how, off64_t at, off64_t bytes);

int posix_fallocate(int fd, off_t at, off_t bytes)
{
    REAL(int, posix_fallocate, int, off_t, off_t);
    if (posix_passed_over(fd)) return 0;
    struct followed *f = follow_on() ? follow_find(fd) : NULL;
    if (!f) return real(fd, at, bytes);
    const uint64_t start_ns = count_now_ns();
    const int kept = errno;
    int rc;
    if (f->state) {
        rc = allocate(f, 0, at, bytes) < 0 ? errno : 0;
        errno = kept;
    } else { /* where the file system has no such call bytes are written */
        const int64_t unseen = follow_unseen_bytes();
        rc = real(fd, at, bytes);
        follow_pardon(unseen);
    }
    follow_other(f, PROFILE_SIZE, at + bytes, start_ns);
    return rc;
}
ALIAS(int, posix_fallocate64, posix_fallocate, int fd, off64_t at, off64_t bytes);

/* What is written through memory, or read of what was written, nobody sees. */
void *mmap(void *where, size_t bytes, int protection, int flags, int fd, off_t at)
{
    REAL(void *, mmap, void *, size_t, int, int, int, off_t);
    const bool file = !(flags & MAP_ANONYMOUS) && (follow_on() || follow_back());
    struct followed *f = file ? follow_find(fd) : NULL;
    const bool shared = (flags & MAP_TYPE) != MAP_PRIVATE;
    if (f && (f->state || (f->note && f->note->written) ||
              (shared && (f->flags & O_ACCMODE) != O_RDONLY)))
        count_unseen(profile_unseen_word(PROFILE_UNSEEN_MAPPED), f->name);
    return real(where, bytes, protection, flags, fd, at);
}
ALIAS(void *, mmap64, mmap, void *where, size_t bytes, int protection, int flags, int fd,
      off64_t at);

/* ------------------------------------------------------------------ what is not followed */

static void tell(const void *caller, enum profile_unseen what, const char *name)
{
    if (follow_on() && follow_is_process() && !follow_is_mpi(caller))
        count_unseen(profile_unseen_word((int)what), name);
}

/* A call by its number that opens a file or changes a name or a size is the function of that name. Of what is
 * written so the kernel's count tells (follow_unseen_bytes). Returns whether it was made. */
static bool by_number(long number, const long a[6], long *rc)
{
    const char *const first = (const char *)a[0], *const second = (const char *)a[1];
    switch (number) {
#ifdef SYS_open /* not on every processor: those without a folder */
    case SYS_open:
        *rc = open(first, (int)a[1], (mode_t)a[2]);
        break;
    case SYS_creat:
        *rc = creat(first, (mode_t)a[1]);
        break;
    case SYS_rename:
        *rc = rename(first, second);
        break;
    case SYS_unlink:
        *rc = unlink(first);
        break;
    case SYS_rmdir:
        *rc = rmdir(first);
        break;
    case SYS_mkdir:
        *rc = mkdir(first, (mode_t)a[1]);
        break;
    case SYS_mknod:
        *rc = mknod(first, (mode_t)a[1], (dev_t)a[2]);
        break;
    case SYS_link:
        *rc = link(first, second);
        break;
    case SYS_symlink:
        *rc = symlink(first, second);
        break;
    case SYS_dup2:
        *rc = dup2((int)a[0], (int)a[1]);
        break;
#endif
    case SYS_openat:
        *rc = openat((int)a[0], second, (int)a[2], (mode_t)a[3]);
        break;
    case SYS_renameat2:
        *rc = renameat2((int)a[0], second, (int)a[2], (const char *)a[3], (unsigned)a[4]);
        break;
    case SYS_renameat:
        *rc = renameat((int)a[0], second, (int)a[2], (const char *)a[3]);
        break;
    case SYS_unlinkat:
        *rc = unlinkat((int)a[0], second, (int)a[2]);
        break;
    case SYS_mkdirat:
        *rc = mkdirat((int)a[0], second, (mode_t)a[2]);
        break;
    case SYS_mknodat:
        *rc = mknodat((int)a[0], second, (mode_t)a[2], (dev_t)a[3]);
        break;
    case SYS_linkat:
        *rc = linkat((int)a[0], second, (int)a[2], (const char *)a[3], (int)a[4]);
        break;
    case SYS_symlinkat:
        *rc = symlinkat(first, (int)a[1], (const char *)a[2]);
        break;
    case SYS_truncate:
        *rc = truncate(first, a[1]);
        break;
    case SYS_ftruncate:
        *rc = ftruncate((int)a[0], a[1]);
        break;
    case SYS_fallocate:
        *rc = fallocate((int)a[0], (int)a[1], a[2], a[3]);
        break;
    case SYS_close:
        *rc = close((int)a[0]);
        break;
#ifdef SYS_close_range
    case SYS_close_range:
        *rc = close_range((unsigned)a[0], (unsigned)a[1], (int)a[2]);
        break;
#endif
    case SYS_dup:
        *rc = dup((int)a[0]);
        break;
    case SYS_dup3:
        *rc = dup3((int)a[0], (int)a[1], (int)a[2]);
        break;
    default:
        return false;
    }
    return true;
}

long syscall(long number, ...)
{
    REAL(long, syscall, long, ...);
    va_list list;
    long a[6], rc;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_io_uring_setup) tell(CALLER, PROFILE_UNSEEN_URING, "io_uring_setup");
    if (number == SYS_io_submit) tell(CALLER, PROFILE_UNSEEN_AIO, "io_submit");
    if ((follow_on() || follow_back()) && !follow_is_mpi(CALLER) && by_number(number, a, &rc))
        return rc;
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* A semaphore is written into memory of its own. */
sem_t *sem_open(const char *name, int flags, ...)
{
    REAL(sem_t *, sem_open, const char *, int, ...);
    va_list list;
    va_start(list, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    const unsigned value = flags & O_CREAT ? va_arg(list, unsigned) : 0;
    va_end(list);
    const int64_t unseen = follow_unseen_bytes();
    sem_t *const made = real(name, flags, mode, value);
    follow_pardon(unseen);
    return made;
}

/* The counter of an eventfd is no file. */
int eventfd_write(int fd, eventfd_t value)
{
    REAL(int, eventfd_write, int, eventfd_t);
    const int64_t unseen = follow_unseen_bytes();
    const int rc = real(fd, value);
    follow_pardon(unseen);
    return rc;
}

/* The name of another thread is written into a file of the kernel. */
int pthread_setname_np(pthread_t thread, const char *name)
{
    REAL(int, pthread_setname_np, pthread_t, const char *);
    const int64_t unseen = follow_unseen_bytes();
    const int rc = real(thread, name);
    follow_pardon(unseen);
    return rc;
}

#define TOLD(type, name, unseen, arguments, ...)                                                   \
    type name(__VA_ARGS__);                                                                        \
    type name(__VA_ARGS__)                                                                         \
    {                                                                                              \
        REAL(type, name, __VA_ARGS__);                                                             \
        tell(CALLER, unseen, #name);                                                               \
        return real arguments;                                                                     \
    }
TOLD(int, io_uring_queue_init, PROFILE_UNSEEN_URING, (n, ring, how), unsigned n, void *ring,
     unsigned how)
TOLD(int, io_uring_queue_init_params, PROFILE_UNSEEN_URING, (n, ring, how), unsigned n, void *ring,
     void *how)
TOLD(int, io_setup, PROFILE_UNSEEN_AIO, (n, context), int n, void *context)
TOLD(int, aio_write, PROFILE_UNSEEN_AIO, (what), void *what)
TOLD(int, aio_write64, PROFILE_UNSEEN_AIO, (what), void *what)
TOLD(int, aio_read, PROFILE_UNSEEN_AIO, (what), void *what)
TOLD(int, aio_read64, PROFILE_UNSEEN_AIO, (what), void *what)
TOLD(int, lio_listio, PROFILE_UNSEEN_AIO, (how, list, n, event), int how, void *list, int n,
     void *event)
TOLD(int, lio_listio64, PROFILE_UNSEEN_AIO, (how, list, n, event), int how, void *list, int n,
     void *event)
