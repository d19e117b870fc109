/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/resident.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/num.h"
#include "base/sys.h"

/* Mapped at a time, at most, and where the address space is limited (ulimit -v) at least. */
#define WINDOW_BYTES (INT64_C(1) << 30)
#define WINDOW_LEAST (INT64_C(1) << 20)

/* Linux 6.5 and later; C libraries know it later still. The number is that of every architecture
 * that got the call with its siblings. */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

struct range {
    uint64_t offset, bytes;
};

struct counts {
    uint64_t cached, dirty, writeback, evicted, recently_evicted; /* pages */
};

/* Pages in memory of one window of the file, or -1 with errno set. */
static int64_t pages_in(int fd, int64_t offset, int64_t bytes, int64_t page)
{
    int64_t pages = (bytes + page - 1) / page, count = 0;
    void *at = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, fd, (off_t)offset);
    if (at == MAP_FAILED) return -1;
    unsigned char *flag = malloc((size_t)pages);
    if (!flag || mincore(at, (size_t)bytes, flag) != 0) count = -1;
    for (int64_t p = 0; p < pages && count >= 0; p++) {
        count += flag[p] & 1;
    }
    free(flag);
    munmap(at, (size_t)bytes);
    return count;
}

static bool by_mincore(int fd, int64_t start, int64_t bytes, struct resident *r)
{
    const int64_t page = (int64_t)sysconf(_SC_PAGESIZE), end = start + bytes;
    int64_t window = WINDOW_BYTES;
    r->how = "mincore";
    for (int64_t at = start / page * page; at < end;) {
        const int64_t pages = pages_in(fd, at, num_min(window, end - at), page);
        if (pages < 0 && (errno != ENOMEM || window == WINDOW_LEAST)) return false;
        if (pages < 0) {
            window /= 2;
            continue;
        }
        r->cached_bytes += pages * page;
        at += window;
    }
    r->cached_bytes = num_min(r->cached_bytes, bytes);
    return true;
}

static bool by_cachestat(int fd, int64_t start, int64_t bytes, struct resident *r)
{
    const int64_t page = (int64_t)sysconf(_SC_PAGESIZE);
    struct range range = {(uint64_t)start, (uint64_t)bytes};
    struct counts c = {0};
    if (syscall(SYS_cachestat, fd, &range, &c, 0) != 0) return false;
    r->how = "cachestat";
    r->cached_bytes = num_min((int64_t)c.cached * page, bytes);
    r->dirty_bytes = num_min((int64_t)(c.dirty + c.writeback) * page, r->cached_bytes);
    return true;
}

/* mincore calls all pages of a file of somebody else resident. */
static bool may_know(const char *path, const struct stat *st)
{
    return st->st_uid == geteuid() || eaccess(path, W_OK) == 0;
}

/* bytes -1: the whole file. */
static int ask(const char *path, bool cachestat, int64_t start, int64_t bytes, struct resident *r)
{
    struct stat st;
    struct sys_fs fs;
    int rc = 0;
    if (sys_path_fs(path, &fs) < 0) err_clear();
    *r = (struct resident){
        .dirty_bytes = -1, .in_memory = fs.in_memory, .never_flushed = fs.never_flushed};
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return err_set_errno(ERR_IO, errno, "open %s", path);
    if (fstat(fd, &st) == 0) {
        r->file_bytes = (int64_t)st.st_size;
        if (bytes < 0) bytes = r->file_bytes;
        /* cachestat counts none of the pages of an overlay, which belong to an inode of the file system below. */
        const bool counts = cachestat && strcmp(fs.type, "overlay") != 0;
        bool known = (counts && by_cachestat(fd, start, bytes, r)) ||
                     (may_know(path, &st) && by_mincore(fd, start, bytes, r));
        if (fs.hides) known = known && r->cached_bytes == bytes;
        if (fs.hides || fs.journals_data) r->dirty_bytes = -1;
        if (!known)
            rc = err_set(ERR_IO, "the system does not tell how much of %s is in memory", path);
    } else {
        rc = err_set_errno(ERR_IO, errno, "fstat %s", path);
    }
    close(fd);
    return rc;
}

int resident_ask(const char *path, struct resident *r)
{
    return ask(path, true, 0, -1, r);
}

int resident_ask_range(const char *path, int64_t start, int64_t bytes, struct resident *r)
{
    return ask(path, true, start, bytes, r);
}

int resident_ask_mincore(const char *path, struct resident *r)
{
    return ask(path, false, 0, -1, r);
}

/* O_NONBLOCK: nobody waits at a pipe that somebody has put in a file's place. */
int resident_drop(const char *path)
{
    int errnum;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return err_set_errno(ERR_IO, errno, "open %s", path);
    do
        errnum = fdatasync(fd) == 0 ? 0 : errno;
    while (errnum == EINTR);
    if (errnum == 0) errnum = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
    if (errnum == 0) return 0;
    return err_set_errno(ERR_IO, errnum, "%s cannot be taken out of memory", path);
}
