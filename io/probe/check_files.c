/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks of a file system with POSIX calls, free of MPI calls. Rates come from small amounts: they
 * tell fast from slow, they measure nothing. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#ifdef HAVE_LIBURING
#include <liburing.h>
#endif

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/stat.h"
#include "base/units.h"
#include "base/watch.h"
#include "io/probe/check.h"
#include "io/target/striping.h"
#include "io/writers/writer.h"

#define MIB        (1 << 20)
#define RATE_BYTES (128 * (int64_t)MIB) /* at most, for a rate */
#define RATE_S     1.0                  /* at most, roughly */
#define FSYNCS     16                   /* at most, for what one takes */
#define ALIGN_MAX  65536

void probe_say(struct probe_try *t, const char *fmt, ...)
{
    const size_t used = strlen(t->note);
    va_list args;
    va_start(args, fmt);
    vsnprintf(t->note + used, sizeof t->note - used, fmt, args);
    va_end(args);
}

/* The call that failed, with errno. */
static int call_failed(struct probe_try *t, const char *call)
{
    t->errnum = errno;
    return err_set_errno(ERR_IO, errno, "%s", call);
}

static int set_absent(struct probe_try *t, const char *why)
{
    t->absent = true;
    return err_set(ERR_IO, "%s", why);
}

static int short_of(struct probe_try *t, const char *call, ssize_t done)
{
    if (done < 0) return call_failed(t, call);
    return err_set(ERR_IO, "%s took part of the bytes, and gave no reason", call);
}

/* The check's file, new. Descriptors go with the process. Returns it or an error. */
static int new_file(struct probe_try *t, int flags)
{
    const int fd = open(t->path, O_RDWR | O_CREAT | O_CLOEXEC | flags, 0600);
    return fd < 0 ? call_failed(t, flags & O_DIRECT ? "open with O_DIRECT" : "open") : fd;
}

/* Memory of so many bytes, aligned to ALIGN_MAX, with values that differ from zeros. */
static char *pattern(size_t bytes)
{
    char *buf = aligned_alloc(ALIGN_MAX, (bytes + ALIGN_MAX - 1) / ALIGN_MAX * ALIGN_MAX);
    for (size_t i = 0; buf && i < bytes; i++)
        buf[i] = (char)(i * 31 + i / 4096 + 1);
    if (!buf) mem_error("%zu bytes", bytes);
    return buf;
}

/* Whether the file holds these bytes there, as read. */
static int check_contents(struct probe_try *t, int fd, const char *wanted, size_t bytes,
                          off_t offset)
{
    char *buf = aligned_alloc(ALIGN_MAX, (bytes + ALIGN_MAX - 1) / ALIGN_MAX * ALIGN_MAX);
    if (!buf) return mem_error("%zu bytes", bytes);
    const ssize_t done = pread(fd, buf, bytes, offset);
    int rc = done == (ssize_t)bytes ? 0 : short_of(t, "pread", done);
    if (rc == 0 && memcmp(buf, wanted, bytes) != 0)
        rc = err_set(ERR_VERIFY, "what was read is not what was written");
    free(buf);
    return rc;
}

static int write_and_read(struct probe_try *t)
{
    char *buf = pattern(MIB);
    const int fd = new_file(t, 0);
    if (!buf || fd < 0) return ERR_IO;
    const ssize_t done = pwrite(fd, buf, MIB, 0);
    if (done != MIB) return short_of(t, "pwrite of 1 MiB", done);
    TRY(check_contents(t, fd, buf, MIB, 0));
    return close(fd) < 0 ? call_failed(t, "close") : 0;
}

/* How the manifest beside a file of dumps is replaced. */
static int replace(struct probe_try *t)
{
    char other[sizeof t->path + 8];
    struct stat new, there;
    snprintf(other, sizeof other, "%s.new", t->path);
    TRY(new_file(t, 0));
    const int fd = open(other, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || fstat(fd, &new) < 0) return call_failed(t, "open of a second file");
    if (rename(other, t->path) < 0) return call_failed(t, "rename");
    if (stat(t->path, &there) < 0) return call_failed(t, "stat after rename");
    return new.st_ino == there.st_ino ? 0 : err_set(ERR_IO, "the old file is still in its place");
}

static int preallocation(struct probe_try *t)
{
    char size[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX];
    const int64_t bytes = t->room_bytes / 2 < 64 * MIB ? t->room_bytes / 2 : 64 * MIB;
    struct stat st;
    const int fd = new_file(t, 0);
    TRY(fd);
    const double since_s = watch_now();
    if (fallocate(fd, 0, 0, bytes) < 0) return call_failed(t, "fallocate");
    const double s = watch_now() - since_s;
    if (fstat(fd, &st) < 0) return call_failed(t, "fstat");
    if (st.st_size != bytes) return err_set(ERR_IO, "fallocate left a file of another length");
    js_set(t->values, "bytes", json_integer(bytes));
    js_set(t->values, "call_s", js_real(s));
    js_set(t->values, "blocks_there", json_boolean((int64_t)st.st_blocks * 512 >= bytes));
    probe_say(t, "%s in %s%s", units_bytes((double)bytes, size), units_duration(s, time),
              (int64_t)st.st_blocks * 512 >= bytes ? "" : ", blocks not counted as taken");
    return 0;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int fsync_cost(struct probe_try *t)
{
    char median[UNITS_TEXT_MAX], most[UNITS_TEXT_MAX], *buf = pattern(4096);
    const double begin_s = watch_now();
    const int fd = new_file(t, 0);
    double s[FSYNCS];
    int n = 0;
    if (!buf || fd < 0) return ERR_IO;
    do {
        const ssize_t done = pwrite(fd, buf, 4096, (off_t)n * 4096);
        if (done != 4096) return short_of(t, "pwrite", done);
        const double since_s = watch_now();
        if (fsync(fd) < 0) return call_failed(t, "fsync");
        s[n++] = watch_now() - since_s;
    } while (n < FSYNCS && watch_now() - begin_s < RATE_S);
    qsort(s, (size_t)n, sizeof s[0], by_size);
    const double middle_s = stat_sorted_median(s, n);
    js_set(t->values, "calls", json_integer(n));
    js_set(t->values, "median_s", js_real(middle_s));
    js_set(t->values, "longest_s", js_real(s[n - 1]));
    probe_say(t, "%s for 4 KiB in the median, %s at most", units_duration(middle_s, median),
              units_duration(s[n - 1], most));
    return 0;
}

/* Writes from the start of the file on, in steps, until the time or the amount is reached; sync:
 * each step is made durable, and counts with that. Notes the rate. */
static int rate(struct probe_try *t, int fd, bool sync)
{
    char text[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX], *buf = pattern(16 * MIB);
    const int64_t most = t->room_bytes / 2 < RATE_BYTES ? t->room_bytes / 2 : RATE_BYTES;
    int64_t step = MIB, all = 0;
    if (!buf) return ERR_NOMEM;
    const double since_s = watch_now();
    double s = 0;
    while (all + step <= most && s < RATE_S) {
        const ssize_t done = pwrite(fd, buf, (size_t)step, (off_t)all);
        if (done != step) return short_of(t, "pwrite", done);
        if (sync && fdatasync(fd) < 0) return call_failed(t, "fdatasync");
        all += step;
        s = watch_now() - since_s;
        if (sync && step < 16 * MIB && s < RATE_S / 4) step *= 2;
    }
    if (all == 0 || s <= 0) return err_set(ERR_IO, "there is no room to measure a rate");
    js_set(t->values, "bytes", json_integer(all));
    js_set(t->values, "bytes_per_s", js_real((double)all / s));
    probe_say(t, "%s, of %s", units_rate((double)all / s, text), units_bytes((double)all, size));
    return 0;
}

static int page_cache_rate(struct probe_try *t)
{
    const int fd = new_file(t, 0);
    TRY(fd);
    return rate(t, fd, false);
}

/* Around the page cache where that can be, else through it with a flush after each step. */
static int device_rate(struct probe_try *t)
{
    int fd = open(t->path, O_RDWR | O_CREAT | O_CLOEXEC | O_DIRECT, 0600);
    const bool direct = fd >= 0;
    if (!direct) TRY(fd = new_file(t, 0));
    TRY(rate(t, fd, true));
    js_set(t->values, "direct", json_boolean(direct));
    probe_say(t, direct ? ", with O_DIRECT and fdatasync" : ", with fdatasync");
    return 0;
}

/* The smallest power of two that offsets, lengths and addresses may be multiples of. */
static int direct(struct probe_try *t)
{
    char *buf = pattern(4 * ALIGN_MAX);
    const int fd = new_file(t, O_DIRECT);
    ssize_t done = -1;
    int64_t align = 512;
    if (!buf || fd < 0) return ERR_IO;
    for (; align <= ALIGN_MAX; align *= 2) {
        done = pwrite(fd, buf + align, (size_t)align, (off_t)align);
        if (done == align || (done < 0 && errno != EINVAL)) break;
    }
    if (done != align) return short_of(t, "pwrite with O_DIRECT", done);
    TRY(check_contents(t, fd, buf + align, (size_t)align, (off_t)align));
    js_set(t->values, "align_bytes", json_integer(align));
    probe_say(t, "requests in multiples of %lld bytes", (long long)align);
    if (align > 4096)
        return err_set(ERR_IO,
                       "it takes multiples of %lld bytes, this program "
                       "writes multiples of 4096",
                       (long long)align);
    return 0;
}

#ifdef HAVE_LIBURING
static int uring_write(struct probe_try *t, int flags)
{
    struct io_uring ring;
    struct io_uring_cqe *cqe;
    char *buf = pattern(MIB);
    const int fd = new_file(t, flags);
    if (!buf || fd < 0) return ERR_IO;
    int rc = io_uring_queue_init(4, &ring, 0);
    if (rc < 0) {
        errno = -rc;
        return call_failed(
            t, "the kernel refuses io_uring (kernel.io_uring_disabled, or the container's "
               "rules)");
    }
    struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
    io_uring_prep_write(sqe, fd, buf, MIB, 0);
    if (!flags) sqe->flags |= IOSQE_ASYNC;
    rc = io_uring_submit(&ring);
    if (rc >= 0) rc = io_uring_wait_cqe(&ring, &cqe);
    if (rc == 0) rc = cqe->res;
    io_uring_queue_exit(&ring);
    errno = rc < 0 ? -rc : 0;
    if (rc != MIB) return short_of(t, "a write by io_uring", rc);
    return check_contents(t, fd, buf, MIB, 0);
}
#else
static int uring_write(struct probe_try *t, int flags)
{
    (void)flags;
    return set_absent(t, "this program was built without liburing");
}
#endif

static int uring_cached(struct probe_try *t)
{
    return uring_write(t, 0);
}

static int uring_direct(struct probe_try *t)
{
    return uring_write(t, O_DIRECT);
}

static int mapped(struct probe_try *t)
{
    const int fd = new_file(t, 0);
    TRY(fd);
    if (ftruncate(fd, MIB) < 0) return call_failed(t, "ftruncate");
    char *map = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), *buf = pattern(MIB);
    if (map == MAP_FAILED) return call_failed(t, "mmap for writing");
    if (!buf) return ERR_NOMEM;
    memcpy(map, buf, MIB);
    if (msync(map, MIB, MS_SYNC) < 0) return call_failed(t, "msync");
    return check_contents(t, fd, buf, MIB, 0);
}

/* Whether what take does in a second process fails because this one has done it. */
static int check_exclusive_lock(struct probe_try *t, const char *call, int (*take)(int fd))
{
    const int fd = new_file(t, 0);
    int status = 0;
    TRY(fd);
    if (take(fd) < 0) return call_failed(t, call);
    const pid_t other = fork();
    if (other < 0) return call_failed(t, "fork");
    if (other == 0) {
        const int again = open(t->path, O_RDWR | O_CLOEXEC);
        _exit(again < 0 ? 2 : take(again) == 0 ? 1 : 0);
    }
    while (waitpid(other, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
    return err_set(ERR_IO, "%s: a second process was given the same lock", call);
}

static int take_flock(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB);
}

static int take_record(int fd)
{
    return fcntl(fd, F_SETLK, &(struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET});
}

static int lock_whole(struct probe_try *t)
{
    return check_exclusive_lock(t, "flock", take_flock);
}

static int lock_record(struct probe_try *t)
{
    return check_exclusive_lock(t, "fcntl(F_SETLK)", take_record);
}

static int attributes(struct probe_try *t)
{
    char got[8] = "";
    const int fd = new_file(t, 0);
    TRY(fd);
    if (fsetxattr(fd, "user.nht1", "probe", 5, 0) < 0) return call_failed(t, "fsetxattr");
    if (fgetxattr(fd, "user.nht1", got, sizeof got) < 0) return call_failed(t, "fgetxattr");
    return strcmp(got, "probe") == 0 ? 0 : err_set(ERR_VERIFY, "it reads differently");
}

static int striping(struct probe_try *t)
{
    struct io_striping s;
    char unit[UNITS_TEXT_MAX];
    TRY(new_file(t, 0));
    if (!io_striping_ask(t->fs_type, t->path, &s))
        return set_absent(t, "this file system and its tools report no striping");
    json_t *layout = io_striping_json(&s);
    json_object_update(t->values, layout);
    json_decref(layout);
    probe_say(t, "over %lld servers or targets, in pieces of %s", (long long)s.count,
              units_bytes_iec((double)s.unit_bytes, unit));
    return 0;
}

const struct probe_check probe_files[] = {
    {"write and read", 0, write_and_read},
    {"rename over a file", 0, replace},
    {"preallocation", 0, preallocation},
    {"fsync", 0, fsync_cost},
    {"page cache rate", 0, page_cache_rate},
    {"device rate", 0, device_rate},
    {"O_DIRECT", 0, direct},
    {"io_uring", IO_NEED_URING, uring_cached},
    {"io_uring and O_DIRECT", 0, uring_direct},
    {"mmap", 0, mapped},
    {"flock", 0, lock_whole},
    {"fcntl locks", 0, lock_record},
    {"extended attributes", 0, attributes},
    {"striping", 0, striping},
    {NULL, 0, NULL},
};
