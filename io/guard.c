/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
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
    const char *volatile call;
    char who[HOST_NAME_MAX + 128]; /* "nht1-bt: rank 1 on node7: " */
    struct sigaction before[DEADLY];
    atomic_int errnum;
} guard;

/* ------------------------------------------------------------------ signals */

static size_t put(char *line, size_t used, size_t size, const char *text)
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
    return put(line, used, size, digits + at);
}

/* The line, then the signal once more, as it was before. */
static void tell(int number)
{
    char line[PATH_MAX + 512];
    const size_t size = sizeof line;
    int s = 0;
    while (s < DEADLY - 1 && deadly[s].number != number)
        s++;
    if (guard.ctx && guard.call) {
        size_t used = put(line, 0, size, guard.who);
        used = put(line, used, size, deadly[s].name);
        used = put(line, used, size, " in ");
        used = put(line, used, size, guard.call);
        used = put(line, used, size, " on ");
        used = put(line, used, size, guard.ctx->path);
        if (guard.ctx->dumps_n > 0) {
            const int64_t durable_n = guard.ctx->durable_n;
            used = put(line, used, size, "; last durable dump: ");
            used = durable_n > 0 ? put_number(line, used, size, durable_n - 1)
                                 : put(line, used, size, "none");
        }
        line[used++] = '\n';
        ssize_t told = write(STDERR_FILENO, line, used);
        (void)told;
    }
    sigaction(number, &guard.before[s], NULL);
    raise(number);
}

void io_guard_begin(const struct io_context *ctx)
{
    char host[HOST_NAME_MAX + 1] = "";
    if (guard.ctx) return;
    gethostname(host, sizeof host - 1);
    snprintf(guard.who, sizeof guard.who, "%.64s: rank %d on %s: ", program_invocation_short_name,
             ctx->rank, host);
    guard.call = NULL;
    guard.ctx = ctx;
    const struct sigaction a = {.sa_handler = tell};
    for (int s = 0; s < DEADLY; s++)
        sigaction(deadly[s].number, &a, &guard.before[s]);
}

void io_guard_end(const struct io_context *ctx)
{
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

int io_guard_errnum(void)
{
    return atomic_exchange(&guard.errnum, 0);
}

/* ------------------------------------------------------------------ the library's writes */

/* In front of the C library's, which they call. Weak: tests bring their own. */
typedef ssize_t (*pwrite_type)(int fd, const void *buf, size_t bytes, off_t offset);
typedef ssize_t (*pwritev_type)(int fd, const struct iovec *part, int parts, off_t offset);

static void note(ssize_t done)
{
    int none = 0;
    if (done <= 0) atomic_compare_exchange_strong(&guard.errnum, &none, done < 0 ? errno : EIO);
}

static ssize_t write_all(int fd, const char *buf, size_t bytes, off_t offset)
{
    static _Atomic(pwrite_type) real;
    if (!atomic_load(&real)) atomic_store(&real, (pwrite_type)dlsym(RTLD_NEXT, "pwrite"));
    if (!guard.call) return atomic_load(&real)(fd, buf, bytes, offset);
    size_t all = 0;
    while (all < bytes) {
        const ssize_t done = atomic_load(&real)(fd, buf + all, bytes - all, offset + (off_t)all);
        if (done < 0 && errno == EINTR) continue;
        note(done);
        if (done <= 0) return all > 0 ? (ssize_t)all : done;
        all += (size_t)done;
    }
    return (ssize_t)all;
}

static ssize_t write_parts(int fd, const struct iovec *part, int parts, off_t offset)
{
    static _Atomic(pwritev_type) real;
    if (!atomic_load(&real)) atomic_store(&real, (pwritev_type)dlsym(RTLD_NEXT, "pwritev"));
    ssize_t all = atomic_load(&real)(fd, part, parts, offset), end = 0;
    if (!guard.call) return all;
    if (all < 0) note(all);
    /* What is left of a short write, part by part. */
    for (int i = 0; i < parts && all >= 0; i++) {
        const ssize_t bytes = (ssize_t)part[i].iov_len, there = all > end ? all - end : 0;
        end += bytes;
        if (there >= bytes) continue;
        const ssize_t done = write_all(fd, (const char *)part[i].iov_base + there,
                                       (size_t)(bytes - there), offset + all);
        if (done < 0) return all;
        all += done;
        if (done < bytes - there) return all;
    }
    return all;
}

__attribute__((weak)) ssize_t pwrite(int fd, const void *buf, size_t bytes, off_t offset)
{
    return write_all(fd, buf, bytes, offset);
}

__attribute__((weak)) ssize_t pwrite64(int fd, const void *buf, size_t bytes, off_t offset)
{
    return write_all(fd, buf, bytes, offset);
}

__attribute__((weak)) ssize_t pwritev(int fd, const struct iovec *part, int parts, off_t offset)
{
    return write_parts(fd, part, parts, offset);
}

__attribute__((weak)) ssize_t pwritev64(int fd, const struct iovec *part, int parts, off_t offset)
{
    return write_parts(fd, part, parts, offset);
}
