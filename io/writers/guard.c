/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/writers/guard.h"

#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/* Signals that a crash ends with. */
static const struct {
    int number;
    const char *name;
} deadly[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
    {SIGILL, "SIGILL"},   {SIGABRT, "SIGABRT"},
};
#define DEADLY ((int)(sizeof deadly / sizeof deadly[0]))

/* A signal belongs to the process, and so does this. The texts are made beforehand: a handler may
 * call next to nothing. */
static struct {
    const struct io_context *ctx;
    const struct io_context *reader; /* what of it is opened for reading, by io/read.h */
    const char *volatile call;
    char who[HOST_NAME_MAX + 128]; /* "nht1-bt: rank 1 on node7: " */
    struct sigaction before[DEADLY];
    int stand_in; /* while a file is opened: another descriptor of it; -1: there is none */
    atomic_int errnum;
} guard;

/* ------------------------------------------------------------------ signals */

static size_t append_text(char *line, size_t used, size_t size, const char *text)
{
    while (*text && used + 1 < size)
        line[used++] = *text++;
    return used;
}

static size_t put_number(char *line, size_t used, size_t size, int64_t n)
{
    char digits[24];
    size_t at = sizeof digits;
    digits[--at] = '\0';
    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    return append_text(line, used, size, digits + at);
}

/* The line, then the signal once more, as it was before. */
static void report_signal(int number)
{
    char line[PATH_MAX + 512];
    const size_t size = sizeof line;
    int s = 0;
    while (s < DEADLY - 1 && deadly[s].number != number)
        s++;
    if (guard.ctx && guard.call) {
        size_t used = append_text(line, 0, size, guard.who);
        used = append_text(line, used, size, deadly[s].name);
        used = append_text(line, used, size, " in ");
        used = append_text(line, used, size, guard.call);
        used = append_text(line, used, size, " on ");
        used = append_text(line, used, size, guard.ctx->path);
        if (guard.ctx->dumps_n > 0) {
            const int64_t durable_n = guard.ctx->durable_n;
            used = append_text(line, used, size, "; last durable dump: ");
            used = durable_n > 0 ? put_number(line, used, size, durable_n - 1)
                                 : append_text(line, used, size, "none");
        }
        line[used++] = '\n';
        ssize_t written = write(STDERR_FILENO, line, used);
        (void)written;
    }
    sigaction(number, &guard.before[s], NULL);
    raise(number);
}

void io_guard_begin(const struct io_context *ctx)
{
    char host[HOST_NAME_MAX + 1] = "";
    if (ctx->plan) guard.reader = ctx;
    if (guard.ctx) return;
    gethostname(host, sizeof host - 1);
    snprintf(guard.who, sizeof guard.who, "%.64s: rank %d on %s: ", program_invocation_short_name,
             ctx->rank, host);
    guard.call = NULL;
    guard.ctx = ctx;
    const struct sigaction a = {.sa_handler = report_signal};
    for (int s = 0; s < DEADLY; s++)
        sigaction(deadly[s].number, &a, &guard.before[s]);
}

void io_guard_end(const struct io_context *ctx)
{
    if (guard.reader == ctx) guard.reader = NULL;
    if (guard.ctx != ctx) return;
    for (int s = 0; s < DEADLY; s++)
        sigaction(deadly[s].number, &guard.before[s], NULL);
    guard.call = NULL;
    guard.ctx = NULL;
}

void io_guard_at(const char *call)
{
    guard.call = call;
}

void io_guard_opening(int fd)
{
    guard.stand_in = fd;
    guard.call = IO_GUARD_OPENING;
}

int io_guard_errnum(void)
{
    return atomic_exchange(&guard.errnum, 0);
}

/* ------------------------------------------------------------------ the library's calls */

/* In front of the C library's, which they call. Weak: tests bring their own. Writing and reading
 * differ in the function alone, which has its name; void *: the caller's buffer, which a write
 * leaves as it is. */
typedef ssize_t (*one_type)(int fd, void *buf, size_t bytes, off_t offset);
typedef ssize_t (*parts_type)(int fd, const struct iovec *part, int parts, off_t offset);

struct real_calls {
    const char *name, *parts_name;
    _Atomic(one_type) one;
    _Atomic(parts_type) parts;
};
static struct real_calls writes = {.name = "pwrite", .parts_name = "pwritev"};
static struct real_calls reads = {.name = "pread", .parts_name = "preadv"};

static one_type real_one(struct real_calls *r)
{
    if (!atomic_load(&r->one)) atomic_store(&r->one, (one_type)dlsym(RTLD_NEXT, r->name));
    return atomic_load(&r->one);
}

static parts_type real_parts(struct real_calls *r)
{
    if (!atomic_load(&r->parts))
        atomic_store(&r->parts, (parts_type)dlsym(RTLD_NEXT, r->parts_name));
    return atomic_load(&r->parts);
}

/* What is read of dumps, for a reader of io/read.h. */
static bool reads_dumps(void)
{
    const char *call = guard.call;
    return call && guard.reader && (strstr(call, "read") || strstr(call, "_get_"));
}

/* Whether a call is one to stand around: every write, and what is read of dumps, or of a container's
 * structure by the format's library. What MPI-IO reads otherwise, to write what lies around it or of a
 * file of its own, is its business. */
static bool guarded(const struct real_calls *r)
{
    const char *call = guard.call;
    if (!call || r == &writes || reads_dumps()) return call;
    return strcmp(call, IO_GUARD_OPENING) == 0 ? guard.stand_in >= 0
                                               : strncmp(call, "MPI_", 4) != 0;
}

/* Dumps that end where they were known to go on are an error as well. */
static void note_fault(const struct real_calls *r, ssize_t done)
{
    int none = 0;
    const int errnum = done < 0 ? errno : r == &reads ? IO_GUARD_ENDED : EIO;
    if (done < 0 || (done == 0 && (r == &writes || reads_dumps())))
        atomic_compare_exchange_strong(&guard.errnum, &none, errnum);
}

/* A call that failed, as the library shall see it. */
static ssize_t failed(const struct real_calls *r, ssize_t done, size_t bytes)
{
    const char *call = guard.call;
    const bool together = call && strncmp(call, "MPI_File_", 9) == 0 && strstr(call, "write") &&
                          (strstr(call, "_all") || strstr(call, "_ordered"));
    const bool whole = r == &writes && call && (together || strcmp(call, IO_GUARD_CLOSING) == 0);
    return whole ? (ssize_t)bytes : done;
}

static ssize_t do_all(struct real_calls *r, int fd, char *buf, size_t bytes, off_t offset)
{
    const one_type real = real_one(r);
    if (!guarded(r)) return real(fd, buf, bytes, offset);
    size_t all = 0;
    /* HDF5's ranks wait for ever for the one that cannot read its structure. */
    bool again = r == &reads;
    while (all < bytes) {
        const ssize_t done = real(fd, buf + all, bytes - all, offset + (off_t)all);
        if (done < 0 && errno == EINTR) continue;
        note_fault(r, done);
        if (done < 0 && again) {
            again = false;
            continue;
        }
        if (done <= 0) return failed(r, all > 0 ? (ssize_t)all : done, bytes);
        all += (size_t)done;
    }
    return (ssize_t)all;
}

static ssize_t do_parts(struct real_calls *r, int fd, const struct iovec *part, int parts,
                        off_t offset)
{
    ssize_t all = real_parts(r)(fd, part, parts, offset), end = 0;
    if (!guarded(r)) return all;
    if (all < 0) note_fault(r, all);
    if (all < 0 && r == &reads) all = 0; /* once more */
    if (all < 0) {
        size_t bytes = 0;
        for (int i = 0; i < parts; i++)
            bytes += part[i].iov_len;
        return failed(r, all, bytes);
    }
    /* What is left of a short call, part by part. */
    for (int i = 0; i < parts; i++) {
        const ssize_t bytes = (ssize_t)part[i].iov_len, there = all > end ? all - end : 0;
        end += bytes;
        if (there >= bytes) continue;
        const ssize_t done =
            do_all(r, fd, (char *)part[i].iov_base + there, (size_t)(bytes - there), offset + all);
        if (done < 0) return all > 0 ? all : done;
        all += done;
        if (done < bytes - there) return all;
    }
    return all;
}

/* OMPIO lets MPI_File_open fail on one rank alone, while the others go on to calls in which they wait for
 * it for ever; so do HDF5 and PnetCDF. So where the file under way cannot be opened, another descriptor of
 * it, or an empty file in memory, stands in for it, the library comes back on every rank, and
 * io_guard_errnum tells. */
static int stand_in(const char *path)
{
    const char *call = guard.call;
    if (!call || strcmp(call, IO_GUARD_OPENING) != 0) return -1;
    const char *slash = strrchr(path, '/'), *wanted = strrchr(guard.ctx->path, '/');
    if (strcmp(slash ? slash + 1 : path, wanted ? wanted + 1 : guard.ctx->path) != 0) return -1;
    int none = 0;
    const int errnum = errno;
    const int fd = guard.stand_in >= 0 ? fcntl(guard.stand_in, F_DUPFD_CLOEXEC, 0)
                                       : memfd_create("nht1-not-opened", MFD_CLOEXEC);
    atomic_compare_exchange_strong(&guard.errnum, &none, errnum);
    errno = errnum;
    return fd;
}

typedef int (*open_type)(const char *path, int flags, ...);

static int do_open(_Atomic(open_type) *real, const char *name, const char *path, int flags,
                   mode_t mode)
{
    if (!atomic_load(real)) atomic_store(real, (open_type)dlsym(RTLD_NEXT, name));
    const int fd = atomic_load(real)(path, flags, mode);
    return fd < 0 ? stand_in(path) : fd;
}

/* OMPIO has aio do its nonblocking calls, crashes when one has failed, and never comes back from a read
 * that met the end of the file. So a call is completed here, and looks whole in any case. Returns what the
 * call under way does; NULL: it is not guarded. */
static struct real_calls *aio_kind(void)
{
    return guarded(&reads) ? &reads : guarded(&writes) ? &writes : NULL;
}

static int note_aio_error(int errnum)
{
    int none = 0;
    if (!aio_kind() || errnum == 0 || errnum == EINPROGRESS) return errnum;
    atomic_compare_exchange_strong(&guard.errnum, &none, errnum);
    return 0;
}

static ssize_t complete_aio(struct aiocb *cb, ssize_t done)
{
    struct real_calls *r = aio_kind();
    if (!r) return done;
    if (done >= 0 && done < (ssize_t)cb->aio_nbytes)
        do_all(r, cb->aio_fildes, (char *)(uintptr_t)cb->aio_buf + done,
               cb->aio_nbytes - (size_t)done, cb->aio_offset + done);
    return (ssize_t)cb->aio_nbytes;
}

#define WEAK __attribute__((weak))

/* Of these the library's own references are seen where io/writers/guard.syms exports them. */
WEAK int aio_error(const struct aiocb *cb)
{
    static _Atomic(int (*)(const struct aiocb *)) real;
    if (!atomic_load(&real))
        atomic_store(&real, (int (*)(const struct aiocb *))dlsym(RTLD_NEXT, "aio_error"));
    return note_aio_error(atomic_load(&real)(cb));
}

WEAK ssize_t aio_return(struct aiocb *cb)
{
    static _Atomic(ssize_t(*)(struct aiocb *)) real;
    if (!atomic_load(&real))
        atomic_store(&real, (ssize_t(*)(struct aiocb *))dlsym(RTLD_NEXT, "aio_return"));
    return complete_aio(cb, atomic_load(&real)(cb));
}

/* The third argument is there where a file may be made. */
#define OPEN(name)                                                                                 \
    WEAK int name(const char *path, int flags, ...)                                                \
    {                                                                                              \
        static _Atomic(open_type) real;                                                            \
        mode_t mode = 0;                                                                           \
        if (flags & (O_CREAT | __O_TMPFILE)) {                                                     \
            va_list args;                                                                          \
            va_start(args, flags);                                                                 \
            mode = va_arg(args, mode_t);                                                           \
            va_end(args);                                                                          \
        }                                                                                          \
        return do_open(&real, #name, path, flags, mode);                                           \
    }
OPEN(open)
OPEN(open64)

WEAK ssize_t pwrite(int fd, const void *buf, size_t bytes, off_t offset)
{
    return do_all(&writes, fd, (char *)buf, bytes, offset);
}

WEAK ssize_t pwrite64(int fd, const void *buf, size_t bytes, off_t offset)
{
    return do_all(&writes, fd, (char *)buf, bytes, offset);
}

WEAK ssize_t pwritev(int fd, const struct iovec *part, int parts, off_t offset)
{
    return do_parts(&writes, fd, part, parts, offset);
}

WEAK ssize_t pwritev64(int fd, const struct iovec *part, int parts, off_t offset)
{
    return do_parts(&writes, fd, part, parts, offset);
}

WEAK ssize_t pread(int fd, void *buf, size_t bytes, off_t offset)
{
    return do_all(&reads, fd, buf, bytes, offset);
}

WEAK ssize_t pread64(int fd, void *buf, size_t bytes, off_t offset)
{
    return do_all(&reads, fd, buf, bytes, offset);
}

WEAK ssize_t preadv(int fd, const struct iovec *part, int parts, off_t offset)
{
    return do_parts(&reads, fd, part, parts, offset);
}

WEAK ssize_t preadv64(int fd, const struct iovec *part, int parts, off_t offset)
{
    return do_parts(&reads, fd, part, parts, offset);
}
