/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library for LD_PRELOAD: stands in front of the C library's file calls, counts those that
 * nht1-bt and nht1-beffio make on files below one folder, and lets the n-th call of a kind on one
 * rank fail.
 *
 *   NHT1_FAULT_IN    part of the path that a file must have to be looked at; required
 *   NHT1_FAULT_PROGRAM  the one program to look at, instead of those two
 *   NHT1_FAULT       CALL:N:WHAT:RANK, such as pwrite:3:ENOSPC:1
 *   NHT1_FAULT_STOP  CALL:N:RANK: in front of that call the process stops (SIGSTOP), until a test lets it
 *                    go on
 *   NHT1_FAULT_LOG   folder: each rank leaves a file named after its number there with a line
 *                    "CALL COUNT" for each kind, and a file RANK.trace with a line "CALL PATH" for
 * each call, in order
 *
 * WHAT: ENOSPC, EIO, EROFS, EPERM, EOPNOTSUPP, EUCLEAN, ESHUTDOWN, ENODATA, short (half of what was asked), kill (the process
 * dies before the call), SIGSEGV (it crashes there), SIGINT (it is asked to stop, the call
 * is made), of pwrite, flip (all is written, but for one bit) or, of pread and
 * uring_read, end (as behind the end of the file). N is counted per rank and kind of call, from 1; "N+" is every call
 * from there on. Kinds: open, openr (for reading only), pwrite (pwritev, too), pread (preadv, too),
 * write, fsync, fdatasync, rename (renameat2, too), ftruncate, fallocate, close, aio (asking
 * aio_error for an outcome), and those of io_uring (fault_uring.c): uring_init, uring_submit,
 * uring_write, uring_read, uring_wait. A close that fails has closed all the same, as on Linux. Passed over:
 * closing what was open for reading only, a lock, what has no name any more, the file that warms the
 * file system up, and one by which Open MPI looks for locks; no data depend on them. */
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"

static const char *const kind_name[KINDS] = {
    [OPEN] = "open",
    [OPENR] = "openr",
    [PWRITE] = "pwrite",
    [PREAD] = "pread",
    [WRITE] = "write",
    [FSYNC] = "fsync",
    [FDATASYNC] = "fdatasync",
    [RENAME] = "rename",
    [FTRUNCATE] = "ftruncate",
    [FALLOCATE] = "fallocate",
    [CLOSE] = "close",
    [AIO] = "aio",
    [URING_INIT] = "uring_init",
    [URING_SUBMIT] = "uring_submit",
    [URING_WRITE] = "uring_write",
    [URING_READ] = "uring_read",
    [URING_WAIT] = "uring_wait",
};

static struct {
    bool active;
    const char *folder;
    int rank;
    int kind, nth; /* what fails; kind -1: nothing */
    bool from_then;
    int errnum; /* 0: short, FLIP: flip */
} plan = {.kind = -1};

#define FLIP  (-1)
#define END   FAULT_END
#define KILL  (-3)
#define CRASH (-4)
#define ASKED (-5)

static struct {
    int kind, nth;
} stop = {.kind = -1};

static atomic_int made[KINDS];
static FILE *trace;

static int rank_here(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *rank = getenv(names[i]);
        if (rank) return atoi(rank);
    }
    return 0;
}

static int errnum_of(const char *what)
{
    static const struct {
        const char *name;
        int value;
    } known[] = {{"ENOSPC", ENOSPC},   {"EDQUOT", EDQUOT},       {"EIO", EIO},
                 {"EROFS", EROFS},     {"EPERM", EPERM},         {"EOPNOTSUPP", EOPNOTSUPP},
                 {"EUCLEAN", EUCLEAN}, {"ESHUTDOWN", ESHUTDOWN}, {"ENODATA", ENODATA},
                 {"short", 0},         {"flip", FLIP},           {"end", END},
                 {"SIGSEGV", CRASH},   {"SIGINT", ASKED},        {"kill", KILL}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, what) == 0) return known[i].value;
    fprintf(stderr, "shim: no fault '%s'\n", what);
    abort();
}

static int kind_of(const char *call)
{
    for (int k = 0; k < KINDS; k++)
        if (strcmp(call, kind_name[k]) == 0) return k;
    fprintf(stderr, "shim: no call '%s'\n", call);
    abort();
}

/* A plan that cannot be read must not look like a program without faults. */
static void parse(const char *text)
{
    char call[16], nth[16], what[16];
    int rank;
    if (sscanf(text, "%15[^:]:%15[^:]:%15[^:]:%d", call, nth, what, &rank) != 4) abort();
    if (rank != plan.rank) return;
    plan.nth = atoi(nth);
    plan.from_then = strchr(nth, '+') != NULL;
    plan.errnum = errnum_of(what);
    plan.kind = kind_of(call);
}

static void parse_stop(const char *text)
{
    char call[16];
    int nth, rank;
    if (sscanf(text, "%15[^:]:%d:%d", call, &nth, &rank) != 3) abort();
    if (rank != plan.rank) return;
    stop.nth = nth;
    stop.kind = kind_of(call);
}

static void trace_open(const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%d.trace", folder, plan.rank);
    trace = fopen(path, "w");
}

__attribute__((constructor)) static void begin(void)
{
    plan.folder = getenv("NHT1_FAULT_IN");
    plan.rank = rank_here();
    if (getenv("NHT1_FAULT_LOG")) trace_open(getenv("NHT1_FAULT_LOG"));
    const char *program = getenv("NHT1_FAULT_PROGRAM"), *self = program_invocation_short_name;
    plan.active =
        plan.folder && (program ? strcmp(self, program) == 0
                                : strcmp(self, "nht1-bt") == 0 || strcmp(self, "nht1-beffio") == 0);
    if (plan.active && getenv("NHT1_FAULT")) parse(getenv("NHT1_FAULT"));
    const char *stop_text = getenv("NHT1_FAULT_STOP");
    if (plan.active && stop_text && *stop_text) parse_stop(stop_text);
}

__attribute__((destructor)) static void end(void)
{
    char path[4096];
    const char *folder = getenv("NHT1_FAULT_LOG");
    if (!folder || !plan.active) return;
    plan.active = false;
    if (trace) fclose(trace);
    snprintf(path, sizeof path, "%s/%d", folder, plan.rank);
    FILE *log = fopen(path, "w");
    for (int k = 0; log && k < KINDS; k++)
        fprintf(log, "%s %d\n", kind_name[k], atomic_load(&made[k]));
    if (log) fclose(log);
}

/* To the process: the program may have a thread of its own that takes it, and has then a moment for what it does. */
static void interrupt(void)
{
    const struct timespec nap = {.tv_nsec = 10 * 1000 * 1000};
    sigset_t pending;
    kill(getpid(), SIGINT);
    do
        nanosleep(&nap, NULL);
    while (sigpending(&pending) == 0 && sigismember(&pending, SIGINT));
}

bool fault_now(enum fault_kind k, const char *what)
{
    if (!plan.active) return false;
    const int n = atomic_fetch_add(&made[k], 1) + 1;
    if (trace) fprintf(trace, "%s %s\n", kind_name[k], what);
    if (stop.kind == (int)k && n == stop.nth) raise(SIGSTOP);
    if (plan.kind != (int)k || n < plan.nth || (n > plan.nth && !plan.from_then)) return false;
    if (n == plan.nth) fprintf(stderr, "shim: %s %d, of %s, fails\n", kind_name[k], n, what);
    if (plan.errnum == KILL) raise(SIGKILL);
    if (plan.errnum == CRASH) raise(SIGSEGV);
    if (plan.errnum == ASKED) interrupt();
    return plan.errnum != ASKED;
}

/* Counts a call on a path; whether it is the one that fails. */
static bool now(enum fault_kind k, const char *path)
{
    if (!plan.active || !strstr(path, plan.folder) || strstr(path, ".warmup-")) return false;
    if (strstr(path, ".locktest.")) return false;
    return fault_now(k, path);
}

bool fault_now_fd(enum fault_kind k, int fd)
{
    char link[64], path[4096];
    const int kept = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    errno = kept;
    if (length < 0) return false;
    path[length] = '\0';
    if (k == CLOSE && (strstr(path, ".lock") || strstr(path, " (deleted)"))) return false;
    return now(k, path);
}

static bool now_name(enum fault_kind k, const char *name)
{
    char path[8192];
    if (name[0] == '/' || !getcwd(path, 4096)) return now(k, name);
    strncat(strcat(path, "/"), name, 4000);
    return now(k, path);
}

/* Result of a call that fails: -1, and errno is set. A short one is no failure where nothing can be
 * short. */
static int failed(void)
{
    errno = plan.errnum ? plan.errnum : EIO;
    return -1;
}

int fault_errnum(void)
{
    return plan.errnum;
}

void *fault_next(const char *name)
{
    void *f = dlsym(RTLD_NEXT, name);
    if (!f) abort();
    return f;
}

/* Defines a function and the 64-bit name that it has as well. */
#define TWICE(type, name, params, ...)                                                             \
    type name params;                                                                              \
    type name##64 params;                                                                          \
    type name params __VA_ARGS__ type name##64 params __VA_ARGS__

#define OPEN_BODY(real)                                                                            \
    {                                                                                              \
        mode_t mode = 0;                                                                           \
        if (flags & (O_CREAT | __O_TMPFILE)) {                                                     \
            va_list args;                                                                          \
            va_start(args, flags);                                                                 \
            mode = va_arg(args, mode_t);                                                           \
            va_end(args);                                                                          \
        }                                                                                          \
        if (now_name(flags & (O_WRONLY | O_RDWR) ? OPEN : OPENR, path)) return failed();           \
        return ((int (*)(const char *, int, mode_t))fault_next(real))(path, flags, mode);          \
    }

int open(const char *path, int flags, ...) OPEN_BODY("open");
int open64(const char *path, int flags, ...) OPEN_BODY("open64");

/* The whole data at one offset, but for a bit of the first byte behind the middle. */
static ssize_t flipped_write(int fd, const struct iovec *part, int parts, off_t offset)
{
    ssize_t (*real)(int, const void *, size_t, off_t) = fault_next("pwrite");
    ssize_t done = 0;
    for (int i = 0; i < parts; i++) {
        char *copy = malloc(part[i].iov_len + 1);
        if (!copy) abort();
        memcpy(copy, part[i].iov_base, part[i].iov_len);
        if (i == parts / 2) copy[part[i].iov_len / 2] ^= 4;
        if (real(fd, copy, part[i].iov_len, offset + done) != (ssize_t)part[i].iov_len) abort();
        done += (ssize_t)part[i].iov_len;
        free(copy);
    }
    return done;
}

static ssize_t part_write(int fd, const void *buf, size_t bytes, off_t offset)
{
    ssize_t (*real)(int, const void *, size_t, off_t) = fault_next("pwrite");
    const struct iovec whole = {(void *)(uintptr_t)buf, bytes};
    if (!fault_now_fd(PWRITE, fd)) return real(fd, buf, bytes, offset);
    if (plan.errnum == FLIP) return flipped_write(fd, &whole, 1, offset);
    return plan.errnum || bytes < 2 ? failed() : real(fd, buf, bytes / 2, offset);
}

static ssize_t part_read(int fd, void *buf, size_t bytes, off_t offset)
{
    ssize_t (*real)(int, void *, size_t, off_t) = fault_next("pread");
    if (!fault_now_fd(PREAD, fd)) return real(fd, buf, bytes, offset);
    if (plan.errnum == END) return 0;
    return plan.errnum || bytes < 2 ? failed() : real(fd, buf, bytes / 2, offset);
}

static ssize_t vector_write(int fd, const struct iovec *part, int parts, off_t offset)
{
    ssize_t (*real)(int, const struct iovec *, int, off_t) = fault_next("pwritev");
    if (!fault_now_fd(PWRITE, fd)) return real(fd, part, parts, offset);
    if (plan.errnum == FLIP) return flipped_write(fd, part, parts, offset);
    if (plan.errnum || part[0].iov_len < 2) return failed();
    struct iovec half = {part[0].iov_base, part[0].iov_len / 2};
    return real(fd, &half, 1, offset);
}

static ssize_t vector_read(int fd, const struct iovec *part, int parts, off_t offset)
{
    ssize_t (*real)(int, const struct iovec *, int, off_t) = fault_next("preadv");
    if (!fault_now_fd(PREAD, fd)) return real(fd, part, parts, offset);
    if (plan.errnum == END) return 0;
    if (plan.errnum || part[0].iov_len < 2) return failed();
    struct iovec half = {part[0].iov_base, part[0].iov_len / 2};
    return real(fd, &half, 1, offset);
}

TWICE(ssize_t, pwrite, (int fd, const void *buf, size_t bytes, off_t offset),
      { return part_write(fd, buf, bytes, offset); })
TWICE(ssize_t, pread, (int fd, void *buf, size_t bytes, off_t offset),
      { return part_read(fd, buf, bytes, offset); })
TWICE(ssize_t, pwritev, (int fd, const struct iovec *part, int parts, off_t offset),
      { return vector_write(fd, part, parts, offset); })
TWICE(ssize_t, preadv, (int fd, const struct iovec *part, int parts, off_t offset),
      { return vector_read(fd, part, parts, offset); })
TWICE(int, ftruncate, (int fd, off_t length), {
    int (*real)(int, off_t) = fault_next("ftruncate");
    return fault_now_fd(FTRUNCATE, fd) ? failed() : real(fd, length);
})
TWICE(int, fallocate, (int fd, int mode, off_t offset, off_t bytes), {
    int (*real)(int, int, off_t, off_t) = fault_next("fallocate");
    return fault_now_fd(FALLOCATE, fd) ? failed() : real(fd, mode, offset, bytes);
})

ssize_t write(int fd, const void *buf, size_t bytes)
{
    ssize_t (*real)(int, const void *, size_t) = fault_next("write");
    if (!fault_now_fd(WRITE, fd)) return real(fd, buf, bytes);
    return plan.errnum || bytes < 2 ? failed() : real(fd, buf, bytes / 2);
}

int fsync(int fd)
{
    int (*real)(int) = fault_next("fsync");
    return fault_now_fd(FSYNC, fd) ? failed() : real(fd);
}

int fdatasync(int fd)
{
    int (*real)(int) = fault_next("fdatasync");
    return fault_now_fd(FDATASYNC, fd) ? failed() : real(fd);
}

int rename(const char *from, const char *to)
{
    int (*real)(const char *, const char *) = fault_next("rename");
    return now_name(RENAME, to) ? failed() : real(from, to);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    int (*real)(int, const char *, int, const char *, unsigned) = fault_next("renameat2");
    return now_name(RENAME, to) ? failed() : real(from_dir, from, to_dir, to, flags);
}

/* The outcome of a write that went on in the background: aio_error tells it, once. */
int aio_error(const struct aiocb *cb)
{
    int (*real)(const struct aiocb *) = fault_next("aio_error");
    const int errnum = real(cb);
    const bool fails = errnum == 0 && fault_now_fd(AIO, cb->aio_fildes);
    return fails && plan.errnum ? plan.errnum : errnum;
}

/* Whether data may be lost when the closing fails. */
static bool matters(int fd)
{
    const int kept = errno, flags = fcntl(fd, F_GETFL);
    errno = kept;
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

int close(int fd)
{
    int (*real)(int) = fault_next("close");
    const bool fails = plan.active && matters(fd) && fault_now_fd(CLOSE, fd);
    const int rc = real(fd);
    return fails ? failed() : rc;
}
