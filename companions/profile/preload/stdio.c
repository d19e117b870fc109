/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stdio reads and writes by functions of the C library that no preloaded read or write stands before. They
 * are reached by the table that every FILE of the GNU C library goes through, whose entries are exchanged.
 * Where there is no such table what stdio does is not seen, and that is told. */
#include "companions/profile/preload/declared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "companions/profile/preload/follow.h"
#include "companions/profile/preload/next.h"
#include "companions/profile/preload/posix.h"

/* The functions of a FILE that make system calls. */
static ssize_t (*file_write)(FILE *, const void *, ssize_t);
static ssize_t (*file_read)(FILE *, void *, ssize_t);
static off64_t (*file_seek)(FILE *, off64_t, int);
static int (*file_stat)(FILE *, void *);
static int (*file_close)(FILE *);

static ssize_t write_file(FILE *file, const void *from, ssize_t n)
{
    const int fd = fileno_unlocked(file);
    const struct iovec one = {(void *)(uintptr_t)from, (size_t)n};
    struct access a;
    if (posix_passed_over(fd)) return n;
    if (!follow_access(&a, fd, true, -1, n)) {
        const ssize_t passed = file_write(file, from, n);
        follow_seen(fd, passed);
        return passed;
    }
    if (!follow_answers(&a)) return follow_over(&a, file_write(file, from, n), &one, 1);
    const ssize_t got = follow_answer(&a, &one, 1);
    if (got > 0 && file->_offset >= 0) file->_offset += got;
    follow_over(&a, got, &one, 1);
    return got < 0 ? 0 : got;
}

static ssize_t read_file(FILE *file, void *into, ssize_t n)
{
    const struct iovec one = {into, (size_t)n};
    struct access a;
    if (!follow_access(&a, fileno_unlocked(file), false, -1, n)) return file_read(file, into, n);
    const ssize_t got = follow_answers(&a) ? follow_answer(&a, &one, 1) : file_read(file, into, n);
    return follow_over(&a, got, &one, 1);
}

static off64_t seek_file(FILE *file, off64_t at, int whence)
{
    const int fd = fileno_unlocked(file);
    return follow_on() && follow_find(fd) ? lseek(fd, at, whence) : file_seek(file, at, whence);
}

static int stat_file(FILE *file, void *st)
{
    const int fd = fileno_unlocked(file);
    return count_dropping() && follow_find(fd) ? fstat(fd, st) : file_stat(file, st);
}

static int close_file(FILE *file)
{
    struct followed *f = posix_closing(fileno_unlocked(file));
    const uint64_t start_ns = f ? count_now_ns() : 0;
    const int rc = file_close(file);
    const int kept = errno;
    posix_closed(f, start_ns);
    errno = kept;
    return rc;
}

#define EXCHANGED 5
static void *table_was[EXCHANGED], *table_becomes[EXCHANGED];
static bool known; /* all of them */

/* Exchanges entries in a table of functions of FILE, which is read-only memory. Returns whether all of them
 * are there. */
static bool exchange(void **entry)
{
    enum { ENTRIES = 21 };
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    int found = 0;
    if (!entry) return false;
    const uintptr_t begin = (uintptr_t)entry / page * page;
    const size_t bytes = (uintptr_t)(entry + ENTRIES) - begin;
    if (mprotect((void *)begin, bytes, PROT_READ | PROT_WRITE) < 0) return false;
    for (int i = 0; i < ENTRIES; i++)
        for (int k = 0; k < EXCHANGED; k++)
            if (entry[i] == table_was[k]) {
                entry[i] = table_becomes[k];
                found++;
                break;
            }
    mprotect((void *)begin, bytes, PROT_READ);
    return found >= EXCHANGED;
}

void stdio_begin(void)
{
    static const char *const name[EXCHANGED] = {"_IO_file_write", "_IO_file_read", "_IO_file_seek",
                                                "_IO_file_stat", "_IO_file_close"};
    ssize_t (*const w)(FILE *, const void *, ssize_t) = write_file;
    ssize_t (*const r)(FILE *, void *, ssize_t) = read_file;
    off64_t (*const s)(FILE *, off64_t, int) = seek_file;
    int (*const t)(FILE *, void *) = stat_file;
    int (*const c)(FILE *) = close_file;
    memcpy(&table_becomes[0], &w, sizeof w);
    memcpy(&table_becomes[1], &r, sizeof r);
    memcpy(&table_becomes[2], &s, sizeof s);
    memcpy(&table_becomes[3], &t, sizeof t);
    memcpy(&table_becomes[4], &c, sizeof c);
    bool all = true;
    for (int k = 0; k < EXCHANGED; k++)
        all &= (table_was[k] = dlsym(RTLD_DEFAULT, name[k])) != NULL;
    memcpy(&file_write, &table_was[0], sizeof file_write);
    memcpy(&file_read, &table_was[1], sizeof file_read);
    memcpy(&file_seek, &table_was[2], sizeof file_seek);
    memcpy(&file_stat, &table_was[3], sizeof file_stat);
    memcpy(&file_close, &table_was[4], sizeof file_close);
    known = all;
    if (!all || !exchange(dlsym(RTLD_DEFAULT, "_IO_file_jumps")) ||
        !exchange(dlsym(RTLD_DEFAULT, "_IO_wfile_jumps")))
        count_unseen(profile_unseen_word(PROFILE_UNSEEN_STDIO), "stdio");
}

/* What goes to a pipe is let pass and noted as seen. The table of a FILE with a process behind it has no name, but
 * every FILE has its table behind it. */
FILE *popen(const char *command, const char *mode)
{
    static bool exchanged;
    REAL(FILE *, popen, const char *, const char *);
    FILE *const file = real(command, mode);
    if (file && known && !__atomic_exchange_n(&exchanged, true, __ATOMIC_RELAXED)) {
        void **entry;
        memcpy(&entry, file + 1, sizeof entry);
        (void)exchange(entry); /* all but the one that closes */
    }
    return file;
}

/* ------------------------------------------------------------------ opening */

/* The flags of open for a mode of fopen, -1: none. */
static int flags_of(const char *mode)
{
    int flags = 0;
    if (mode[0] != 'r' && mode[0] != 'w' && mode[0] != 'a') return -1;
    for (const char *m = mode + 1; *m && *m != ','; m++)
        flags |= *m == '+' ? O_RDWR : *m == 'x' ? O_EXCL : *m == 'e' ? O_CLOEXEC : 0;
    if (!(flags & O_RDWR) && mode[0] != 'r') flags |= O_WRONLY;
    if (mode[0] == 'w') flags |= O_CREAT | O_TRUNC;
    if (mode[0] == 'a') flags |= O_CREAT | O_APPEND;
    return flags;
}

/* A file that is only appended to is at its end, as fopen has it. */
static off64_t to_end(int fd)
{
    const struct followed *f = follow_find(fd);
    (*count_inside())++;
    const off64_t at = f && f->state
                           ? lseek(fd, __atomic_load_n(&f->state->size, __ATOMIC_RELAXED), SEEK_SET)
                           : lseek(fd, 0, SEEK_END);
    (*count_inside())--;
    return at;
}

FILE *fopen(const char *name, const char *mode)
{
    REAL(FILE *, fopen, const char *, const char *);
    const int flags = flags_of(mode);
    const void *const caller = __builtin_return_address(0);
    if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && posix_refused(name)) return NULL;
    if (!follow_on() || !name || flags < 0 || !follow_is_process() ||
        ((flags & O_ACCMODE) == O_RDONLY && !paths_asked() && !paths_maybe(name)))
        return real(name, mode);
    if (strstr(mode, ",ccs=")) { /* which fdopen does not obey */
        if (!follow_is_mpi(caller)) count_unseen(profile_unseen_word(PROFILE_UNSEEN_OPENED), name);
        return real(name, mode);
    }
    const int fd = posix_open(caller, AT_FDCWD, name, flags, 0666);
    if (fd >= 0 && mode[0] == 'a' && !(flags & O_RDWR)) to_end(fd);
    FILE *file = fd < 0 ? NULL : fdopen(fd, mode);
    if (!file && fd >= 0) close(fd);
    return file;
}
ALIAS(FILE *, fopen64, fopen, const char *name, const char *mode);

/* The same stream for another file: opened as the program wants it, then taken over by its number. */
FILE *freopen(const char *name, const char *mode, FILE *file)
{
    REAL(FILE *, freopen, const char *, const char *, FILE *);
    char link[64], same[64];
    const int flags = flags_of(mode);
    if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && posix_refused(name)) {
        fclose(file); /* as where it cannot be opened */
        return NULL;
    }
    if (follow_on() && file) fflush(file); /* to the file that it was until now */
    /* Without a name it is the same file. */
    snprintf(same, sizeof same, "/proc/self/fd/%d", file ? fileno(file) : -1);
    const char *path = name || !follow_on() || !file || !follow_find(fileno(file)) ? name : same;
    if (!follow_on() || !path || flags < 0 || !follow_is_process() ||
        ((flags & O_ACCMODE) == O_RDONLY && name && !paths_asked() && !paths_maybe(name))) {
        struct followed *was =
            follow_on() && follow_is_process() ? follow_take(fileno(file)) : NULL;
        follow_end(was);
        return real(name, mode, file);
    }
    const int fd = posix_open(__builtin_return_address(0), AT_FDCWD, path, flags, 0666);
    if (fd < 0) { /* as freopen does it: the stream is closed all the same */
        fclose(file);
        return NULL;
    }
    struct followed *f = follow_find(fd);
    const int old = fileno(file);
    if (!f || !f->state) {
        /* Nothing is truncated twice that matters: it was done a moment ago. */
        struct followed *was = follow_take(old);
        file = real(name, mode[0] == 'w' && strchr(mode, 'x') ? "w" : mode, file);
        posix_closed(was, count_now_ns());
        if (file && f) follow_same(fileno(file), fd);
    } else {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        struct followed *was = follow_take(old);
        file = real(link, mode[0] == 'w' ? "r+" : mode, file);
        posix_closed(was, count_now_ns());
        if (file) follow_same(fileno(file), fd);
        if (file && mode[0] == 'a' && !(flags & O_RDWR)) to_end(fileno(file));
    }
    (*count_inside())++;
    close(fd);
    (*count_inside())--;
    return file;
}
ALIAS(FILE *, freopen64, freopen, const char *name, const char *mode, FILE *file);
