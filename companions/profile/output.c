/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/err.h"
#include "base/num.h"
#include "base/units.h"

/* Of what is there when the run has ended: what it has left behind may go on printing. */
#define LAST_READS 8

static void *read_pipe(void *arg)
{
    struct output *o = arg;
    struct pollfd p[2] = {{.fd = o->from, .events = POLLIN}, {.fd = o->wake[0], .events = POLLIN}};
    bool last = false;
    for (int left = LAST_READS; left > 0; left -= last) {
        if (!last) (void)poll(p, 2, -1);
        last = p[1].revents != 0; /* the run has ended: what is there is all */
        const size_t at = (size_t)(o->bytes % OUTPUT_TAIL);
        const ssize_t n = read(o->from, o->tail + at, OUTPUT_TAIL - at);
        if (n > 0)
            o->bytes += n;
        else if (n == 0 || (errno == EAGAIN ? last : errno != EINTR))
            break;
    }
    return NULL;
}

static int begin_pipe(struct output *o)
{
    int end[2];
    if (pipe2(end, O_CLOEXEC) != 0) return -1;
    o->from = end[0];
    o->fd = end[1];
    /* The reading end alone: the program's own would be told that it has to wait. */
    if (fcntl(o->from, F_SETFL, O_NONBLOCK) != 0 || pipe2(o->wake, O_CLOEXEC) != 0) return -1;
    /* Signals are for the thread that waits for the program. */
    sigset_t all, were;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &were);
    errno = pthread_create(&o->reader, NULL, read_pipe, o);
    (void)pthread_sigmask(SIG_SETMASK, &were, NULL);
    if (errno == 0) return 0;
    close(o->wake[0]);
    close(o->wake[1]);
    o->wake[0] = -1;
    return -1;
}

/* A file of its own, on the file system where standard output is a file, if it can have one without a name. */
static int begin_file(struct output *o, const struct stat *st, const char *dir)
{
    char path[PATH_MAX];
    struct stat mine;
    const int flags = O_RDWR | O_CLOEXEC | (fcntl(STDOUT_FILENO, F_GETFL) & O_APPEND);
    const ssize_t n = readlink("/proc/self/fd/1", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    char *const slash = strrchr(path, '/');
    if (slash) slash[slash == path] = '\0';
    if (slash) o->fd = open(path, flags | O_TMPFILE, 0600);
    if (o->fd >= 0 && fstat(o->fd, &mine) == 0 && mine.st_dev == st->st_dev) return 0;
    if (o->fd >= 0) close(o->fd);
    snprintf(path, sizeof path, "%.4000s/output", dir);
    o->fd = open(path, flags | O_CREAT | O_TRUNC, 0600);
    return o->fd < 0 ? -1 : 0;
}

/* Length of the file that standard output is, before the latest run with writes. */
static off_t before;

/* Whether another file as long as the latest one has room where it lies. */
static int has_room(const struct output *o, const struct stat *st)
{
    struct statvfs fs;
    char needs[UNITS_TEXT_MAX], is_free[UNITS_TEXT_MAX];
    if (fstatvfs(o->fd, &fs) != 0) return 0;
    const double needed = (double)(st->st_size - before),
                 there = (double)fs.f_bavail * (double)fs.f_frsize;
    if (needed <= there) return 0;
    return err_set(ERR_INVALID,
                   "the program prints %s into a file, for which a run without writes has no room, "
                   "%s are free: let it go elsewhere, | cat >/dev/null",
                   units_bytes(needed, needs), units_bytes(there, is_free));
}

static bool goes_nowhere(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

int output_begin(struct output *o, bool drop, const char *dir)
{
    struct stat st = {0};
    const bool file = fstat(STDOUT_FILENO, &st) == 0 && S_ISREG(st.st_mode);
    *o = (struct output){
        .out = CHILD_SHARED, .err = CHILD_SHARED, .fd = -1, .from = -1, .wake = {-1, -1}};
    if (!drop) {
        before = st.st_size;
        return 0;
    }
    o->out = goes_nowhere(STDOUT_FILENO) ? CHILD_NOTHING : CHILD_FD;
    o->err = goes_nowhere(STDERR_FILENO) ? CHILD_NOTHING : CHILD_FD;
    if ((file ? begin_file(o, &st, dir) : begin_pipe(o)) == 0) return file ? has_room(o, &st) : 0;
    return err_set_errno(ERR_IO, errno, "what the program prints without its writes");
}

void output_end(struct output *o)
{
    if (o->wake[0] >= 0) {
        close(o->fd);
        o->fd = -1;
        close(o->wake[1]);
        pthread_join(o->reader, NULL);
        close(o->wake[0]);
    } else if (o->fd >= 0 && o->from < 0) {
        const off_t end = lseek(o->fd, 0, SEEK_END);
        const int64_t begin = end > OUTPUT_TAIL ? end - OUTPUT_TAIL : 0;
        const ssize_t n = pread(o->fd, o->tail, OUTPUT_TAIL, (off_t)begin);
        o->bytes = n > 0 ? n : 0;
    }
    if (o->fd >= 0) close(o->fd);
    if (o->from >= 0) close(o->from);
    o->fd = o->from = o->wake[0] = o->wake[1] = -1;
}

int output_save(const struct output *o, const char *path)
{
    const size_t at = o->bytes > OUTPUT_TAIL ? (size_t)(o->bytes % OUTPUT_TAIL) : 0;
    const size_t n = (size_t)num_min(o->bytes, OUTPUT_TAIL);
    FILE *to = fopen(path, "wxe");
    if (!to) return err_set_errno(ERR_IO, errno, "%s", path);
    bool good = fwrite(o->tail + at, 1, n - at, to) == n - at && fwrite(o->tail, 1, at, to) == at;
    good = fclose(to) == 0 && good;
    return good ? 0 : err_set_errno(ERR_IO, errno, "%s", path);
}
