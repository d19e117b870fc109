/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/create.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/units.h"
#include "io/fd.h"
#include "io/parts.h"

/* fallocate, repeated after interrupts. Returns 0 or the errno value. */
static int allocate(int fd, int64_t bytes)
{
    int rc;
    do {
        rc = fallocate(fd, 0, 0, (off_t)bytes) == 0 ? 0 : errno;
    } while (rc == EINTR);
    return rc;
}

static bool cannot_allocate(int errnum)
{
    return errnum == EOPNOTSUPP || errnum == ENOSYS;
}

static int allocation_failed(const struct io_target *t, int errnum, int64_t bytes)
{
    const char *advice = errnum == EFBIG
                             ? "this file system or a limit on file sizes (ulimit -f) allows less"
                             : "make room or choose another directory with --out";
    char text[UNITS_TEXT_MAX];
    return err_set_errno(ERR_IO, errnum, "cannot preallocate %" PRId64 " bytes (%s) for %s; %s",
                         bytes, units_bytes((double)bytes, text), t->path, advice);
}

static int check_limit(const struct io_target *t, int64_t bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
    if (limit.rlim_cur >= (rlim_t)bytes) return 0;
    return allocation_failed(t, EFBIG, bytes);
}

int io_target_space(const struct io_target *t, int64_t bytes)
{
    TRY(check_limit(t, bytes));
    char dir[IO_PATH_MAX];
    snprintf(dir, sizeof dir, "%.*s", (int)(io_path_base(t->path) - t->path), t->path);
    const int64_t given_bytes = t->given_bytes + io_parts_given_bytes(t->path, t->parts_n);
    int64_t room = io_free_bytes(dir[0] ? dir : ".");
    if (room < 0 || room + given_bytes >= bytes) return 0;
    room += given_bytes;
    char needs[UNITS_TEXT_MAX], has[UNITS_TEXT_MAX];
    return err_set(ERR_IO,
                   "%s needs %" PRId64 " bytes (%s) and its file system has %" PRId64
                   " (%s) free: make room or choose another directory with --out",
                   t->path, bytes, units_bytes((double)bytes, needs), room,
                   units_bytes((double)room, has));
}

/* Proves that the file can have its new length while the old content is still there. */
static int extend_old(const struct io_target *t, int fd, int64_t bytes)
{
    if (t->old_bytes == 0 || bytes <= t->given_bytes) return 0;
    int errnum = allocate(fd, bytes);
    if (errnum == 0 || cannot_allocate(errnum)) return 0;
    if (ftruncate(fd, (off_t)t->old_bytes) != 0) {
        return err_set_errno(ERR_IO, errno, "ftruncate %s back to its old length", t->path);
    }
    return allocation_failed(t, errnum, bytes);
}

static int replace_content(struct io_target *t, int fd, int64_t bytes)
{
    if (ftruncate(fd, 0) != 0) return err_set_errno(ERR_IO, errno, "ftruncate %s", t->path);
    if (bytes == 0) return 0;
    int errnum = allocate(fd, bytes);
    t->allocated = "fallocate";
    if (errnum == 0) return 0;
    if (!cannot_allocate(errnum)) return allocation_failed(t, errnum, bytes);
    t->allocated = "sparse";
    if (ftruncate(fd, (off_t)bytes) == 0) return 0;
    return allocation_failed(t, errno, bytes);
}

static int make_open(struct io_target *t, struct io_manifest *m, int fd, int64_t bytes)
{
    TRY(extend_old(t, fd, bytes));
    TRY(io_parts_drop(t));
    TRY(io_manifest_write(m, true));
    TRY(replace_content(t, fd, bytes));
    return 0;
}

int io_target_make(struct io_target *t, struct io_manifest *m, int64_t bytes)
{
    int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (t->fresh ? O_CREAT | O_EXCL : 0);
    int fd = open(t->path, flags, 0666);
    if (fd < 0) return err_set_errno(ERR_IO, errno, "cannot open %s for writing", t->path);
    t->made = true;
    io_target_sweep(t);
    int rc = make_open(t, m, fd, bytes);
    if (close(fd) != 0 && rc == 0) rc = err_set_errno(ERR_IO, errno, "close %s", t->path);
    if (rc < 0) io_target_undo(t);
    return rc;
}

static int extend_open(struct io_target *t, int fd, int64_t bytes)
{
    int errnum = allocate(fd, bytes);
    t->allocated = "fallocate";
    if (errnum != 0 && !cannot_allocate(errnum)) return allocation_failed(t, errnum, bytes);
    if (errnum != 0) t->allocated = "sparse";
    if (ftruncate(fd, (off_t)bytes) == 0) return 0;
    return err_set_errno(ERR_IO, errno, "ftruncate %s", t->path);
}

int io_target_extend(struct io_target *t, int64_t bytes)
{
    int fd =
        open(t->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (t->fresh ? O_CREAT | O_EXCL : 0), 0666);
    if (fd < 0) return err_set_errno(ERR_IO, errno, "cannot open %s for writing", t->path);
    io_target_sweep(t);
    int rc = extend_open(t, fd, bytes);
    if (close(fd) != 0 && rc == 0) rc = err_set_errno(ERR_IO, errno, "close %s", t->path);
    return rc;
}

void io_target_undo(struct io_target *t)
{
    if (t->made && t->fresh) {
        unlink(t->path);
        unlink(t->manifest);
    }
    t->made = false;
}
