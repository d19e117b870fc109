/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/opened.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

#define WRITERS_MS 100 /* which are about to end, as those of short output are */

/* What can be read of a pipe or a socket. */
struct stream {
    bool writers; /* others could write into it */
    int bytes;    /* that wait in it */
};

/* A descriptor for reading. */
struct source {
    int fd, flags;
    int first; /* index of the first one of the same pipe, or of the same place in a file; its own */
    /* Of what has places: where it was; -1: it has none. Where the first run has moved it, other runs have again, the same
     * file opened anew: that of the shell, which may go on reading beside us, stays where it is, and open, as the shell may
     * hold a lock by it. -1: not made. */
    off_t at;
    bool moved;
    struct timespec written; /* and when it was written to, and how long it was */
    off_t length;
    int again, shells;
    bool output; /* standard output or error have the same place */
    /* Of what can be read once: data, where others have written all of it; NULL: not kept. */
    bool once;
    struct stream before;
    char *data;
};

static struct {
    struct source *source; /* owned */
    int n;
    bool looked;           /* after the first run */
    int terminal;          /* of the program, -1: none */
    struct timespec typed; /* when it was read, as set before the first run */
} opened = {.terminal = -1};

static struct stream look(int fd, int patience_ms)
{
    struct pollfd p = {.fd = fd};
    struct stream s = {.writers = poll(&p, 1, patience_ms) <= 0 || !(p.revents & POLLHUP)};
    if (ioctl(fd, FIONREAD, &s.bytes) != 0) s.bytes = 0;
    return s;
}

/* A pipe that holds so many bytes. */
static int pipe_make(int end[2], int bytes)
{
    if (pipe2(end, O_CLOEXEC) != 0) return -1;
    if (fcntl(end[1], F_GETPIPE_SZ) >= bytes || fcntl(end[1], F_SETPIPE_SZ, bytes) >= bytes)
        return 0;
    close(end[0]);
    close(end[1]);
    return -1;
}

/* A copy of what a pipe holds, which stays in it. Where that cannot be had it is not kept. */
static int keep(struct source *s)
{
    int end[2], size = fcntl(s->fd, F_GETPIPE_SZ);
    const int bytes = s->before.bytes;
    char *data = mem_new(bytes + 1, 1, "what descriptor %d reads", s->fd);
    if (!data) return ERR_NOMEM;
    bool kept = bytes == 0;
    if (!kept && size >= bytes && pipe_make(end, size) == 0) {
        kept = tee(s->fd, end[1], INT_MAX, SPLICE_F_NONBLOCK) == bytes &&
               read(end[0], data, (size_t)bytes) == bytes;
        close(end[0]);
        close(end[1]);
    }
    if (kept)
        s->data = data;
    else
        free(data);
    return 0;
}

/* Whether two descriptors have one place in a file. What belongs to it belongs to both then, such as a signal for news of it,
 * which nobody asks for; kcmp is not permitted everywhere. */
static bool share_place(int a, int b)
{
    const int was = fcntl(a, F_GETSIG), mark = was == SIGUSR1 ? SIGUSR2 : SIGUSR1;
    if (was < 0 || fcntl(a, F_SETSIG, mark) < 0) return false;
    const bool share = fcntl(b, F_GETSIG) == mark;
    (void)fcntl(a, F_SETSIG, was);
    return share;
}

static bool share_pipe(int a, int b)
{
    struct stat one, other;
    return fstat(a, &one) == 0 && fstat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* Whether a pipe holds nothing but tokens, as those by which make or a script goes on with so many jobs at a time: others
 * take some and put them back meanwhile. */
static bool is_counter(int fd, int flags, bool pipe)
{
    const char *make = getenv("MAKEFLAGS");
    int from, to;
    if (!pipe || fd == STDIN_FILENO) return false;
    if ((flags & O_ACCMODE) == O_RDWR) return true;
    for (const char *at = make; at && (at = strstr(at, "--jobserver-")); at++)
        if (sscanf(at, "--jobserver-%*[a-z]=%d,%d", &from, &to) == 2 && from == fd) return true;
    return false;
}

/* Notes a descriptor, if it is one. Output is that of the program, opened for reading or not. */
static int note(int fd)
{
    struct stat st;
    const int flags = fcntl(fd, F_GETFL), own = fcntl(fd, F_GETFD);
    if (flags < 0 || own < 0 || (own & FD_CLOEXEC) || (flags & O_ACCMODE) == O_WRONLY ||
        fd == STDOUT_FILENO || fd == STDERR_FILENO || fstat(fd, &st) != 0)
        return 0;
    struct source s = {
        .fd = fd, .flags = flags, .first = opened.n, .at = -1, .again = -1, .shells = -1};
    const bool pipe = S_ISFIFO(st.st_mode);
    s.once = pipe || S_ISSOCK(st.st_mode);
    const bool places = S_ISREG(st.st_mode) || S_ISBLK(st.st_mode) || S_ISDIR(st.st_mode);
    s.output = places && (share_place(fd, STDOUT_FILENO) || share_place(fd, STDERR_FILENO));
    if (places) s.at = lseek(fd, 0, SEEK_CUR);
    s.written = st.st_mtim;
    s.length = st.st_size;
    if (is_counter(fd, flags, pipe)) return 0;
    if ((!s.once && s.at < 0) || (s.output && fd != STDIN_FILENO)) return 0;
    for (int i = opened.n - 1; i >= 0; i--)
        if (opened.source[i].once == s.once &&
            (s.once ? share_pipe : share_place)(opened.source[i].fd, fd))
            s.first = i;
    if (s.once) s.before = look(fd, pipe ? WRITERS_MS : 0);
    if (pipe && !s.before.writers && s.first == opened.n) TRY(keep(&s));
    struct source *more = realloc(opened.source, (size_t)(opened.n + 1) * sizeof *more);
    if (!more) {
        free(s.data);
        return mem_error("what descriptor %d reads", fd);
    }
    opened.source = more;
    opened.source[opened.n++] = s;
    return 0;
}

/* The terminal that the program has in the foreground, -1: none. It may have it by its name alone, /dev/tty. */
static int terminal_open(void)
{
    char path[32];
    unsigned device;
    int fd = -1;
    for (int i = STDIN_FILENO; i <= STDERR_FILENO && fd < 0; i++)
        if (isatty(i)) fd = fcntl(i, F_DUPFD_CLOEXEC, 0);
    const int tty = fd < 0 ? open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC) : -1;
    if (tty >= 0 && ioctl(tty, TIOCGDEV, &device) == 0) {
        /* Its own file, which others have open: that of /dev/tty is everybody's. */
        snprintf(path, sizeof path, "/dev/pts/%u", minor(device));
        fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    }
    if (tty >= 0) close(tty);
    if (fd < 0 || tcgetpgrp(fd) == getpgrp()) return fd;
    close(fd);
    return -1;
}

/* When a terminal was read is known to 8 s (Linux), so it was a minute ago from now on. */
static void terminal_begin(void)
{
    struct stat st;
    opened.terminal = terminal_open();
    if (opened.terminal < 0 || fstat(opened.terminal, &st) != 0) return;
    const struct timespec ago[2] = {{.tv_sec = st.st_atim.tv_sec - 60}, {.tv_nsec = UTIME_OMIT}};
    if (futimens(opened.terminal, ago) == 0) (void)fstat(opened.terminal, &st);
    opened.typed = st.st_atim;
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool terminal_was_read(void)
{
    struct stat st;
    return opened.terminal >= 0 && fstat(opened.terminal, &st) == 0 &&
           !same_time(st.st_atim, opened.typed);
}

static void terminal_end(void)
{
    const struct timespec back[2] = {{.tv_sec = opened.typed.tv_sec + 60}, {.tv_nsec = UTIME_OMIT}};
    if (opened.terminal < 0) return;
    if (!terminal_was_read()) (void)futimens(opened.terminal, back);
    close(opened.terminal);
    opened.terminal = -1;
}

int opened_begin(void)
{
    int rc = 0;
    terminal_begin();
    DIR *list = opendir("/proc/self/fd");
    if (!list) return err_set_errno(ERR_IO, errno, "/proc/self/fd");
    for (struct dirent *e; rc == 0 && (e = readdir(list));)
        if (e->d_name[0] != '.') rc = note(atoi(e->d_name));
    closedir(list);
    return rc;
}

/* What a kept pipe had, as another one. */
static int fill(const struct source *s)
{
    int end[2];
    bool good = pipe_make(end, s->before.bytes) == 0;
    if (good) {
        good = write(end[1], s->data, (size_t)s->before.bytes) == s->before.bytes &&
               dup2(end[0], s->fd) == s->fd;
        close(end[0]);
        close(end[1]);
    }
    return good ? 0 : err_set_errno(ERR_IO, errno, "making anew what descriptor %d reads", s->fd);
}

/* Opens a file anew. Returns -1 with errno. */
static int open_anew(struct source *s)
{
    char link[32];
    if (s->shells >= 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", s->fd);
    s->again = open(link, (s->flags & (O_ACCMODE | O_APPEND | O_NONBLOCK | O_DIRECT)) | O_CLOEXEC);
    s->shells = s->again < 0 ? -1 : fcntl(s->fd, F_DUPFD_CLOEXEC, 0);
    return s->again >= 0 && s->shells >= 0 ? 0 : -1;
}

/* Whether the process holds a lock (flock) by a descriptor. */
static bool holds_lock(int fd)
{
    char path[40], line[256];
    bool lock = false;
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
    FILE *from = fopen(path, "re");
    while (from && fgets(line, sizeof line, from))
        lock = lock || strncmp(line, "lock:", 5) == 0;
    if (from) fclose(from);
    return lock;
}

int opened_again(bool all)
{
    for (int i = 0; i < opened.n; i++) {
        struct source *s = &opened.source[i], *first = &opened.source[s->first];
        int from = -1;
        if (first->once) {
            if (s == first && s->data) TRY(fill(s));
            from = s != first && first->data ? first->fd : -1;
        } else if (first->moved ||
                   (all && !first->output && !holds_lock(first->fd) && open_anew(first) == 0)) {
            if (s == first && lseek(s->again, s->at, SEEK_SET) < 0)
                return err_set_errno(ERR_IO, errno, "going back in what descriptor %d reads",
                                     s->fd);
            from = first->again;
        } else {
            from = first->shells;
        }
        if (from >= 0 && dup2(from, s->fd) != s->fd)
            return err_set_errno(ERR_IO, errno, "making anew what descriptor %d reads", s->fd);
    }
    return 0;
}

/* Whether the first run may have read what no other run will find. Standard input is idle where nobody has written into it
 * and all could still do so, as a shell or a service without a terminal has it. Others may be there for something else, as
 * those in which make keeps its jobs: they are as they were, and were not filled again. */
static bool is_spent(const struct source *s)
{
    const struct stream now = look(s->fd, 0);
    if (s->fd == STDIN_FILENO) return !now.writers || s->before.bytes > 0 || now.bytes > 0;
    const int room = fcntl(s->fd, F_GETPIPE_SZ);
    const bool ended = now.writers != s->before.writers;
    return now.bytes != s->before.bytes || (ended && now.bytes == 0) ||
           (now.writers && room > 0 && now.bytes > room / 2);
}

/* After the first run: what has moved is opened once more for the others. */
static int look_at_place(struct source *s)
{
    struct stat st;
    s->moved = s->at >= 0 && lseek(s->fd, 0, SEEK_CUR) != s->at;
    if (s->moved && s->output)
        return err_set(ERR_INVALID,
                       "no zeta: standard input has one place with standard output or error, and "
                       "other runs would find it elsewhere: give another file, < FILE");
    const bool changed = s->at >= 0 && fstat(s->fd, &st) == 0 && S_ISREG(st.st_mode) &&
                         !(same_time(st.st_mtim, s->written) && st.st_size == s->length);
    /* Standard input may have been read as /dev/stdin, or mapped. */
    if (changed && (s->moved || s->fd == STDIN_FILENO))
        return err_set(
            ERR_INVALID,
            "no zeta: the file that descriptor %d reads has been written meanwhile, and "
            "other runs would find other data in it: %s",
            s->fd,
            s->fd != STDIN_FILENO && (s->flags & O_ACCMODE) == O_RDWR
                ? "give a copy, or open what is only written for writing alone (>FILE, not <>FILE)"
                : "give a copy");
    if (!s->moved) return 0;
    if (holds_lock(s->fd))
        return err_set(ERR_INVALID,
                       "no zeta: descriptor %d holds a lock on what it reads, for which other "
                       "runs would wait: lock another file",
                       s->fd);
    if (open_anew(s) == 0) return 0;
    return err_set_errno(ERR_INVALID, errno,
                         "no zeta: descriptor %d, which was read meanwhile, cannot be opened once "
                         "more for other runs",
                         s->fd);
}

int opened_spent(void)
{
    if (!opened.looked && terminal_was_read())
        return err_set(ERR_INVALID, "no zeta: the terminal was read, and other runs would wait "
                                    "until the same is typed once more: "
                                    "give a file, < FILE, or < /dev/null where the program reads "
                                    "nothing, and let nothing else read it "
                                    "meanwhile (| less)");
    for (int i = 0; i < opened.n; i++) {
        struct source *s = &opened.source[i];
        if (!opened.looked && s->first == i) TRY(look_at_place(s));
        if (!s->once || opened.source[s->first].data || !is_spent(s)) continue;
        if (s->fd == STDIN_FILENO)
            return err_set(ERR_INVALID, "no zeta: standard input can be read once, and other runs "
                                        "would find nothing in it: give a file, < FILE, or < "
                                        "/dev/null where the program reads nothing");
        return err_set(ERR_INVALID,
                       "no zeta: descriptor %d, of <(COMMAND) perhaps, can be read once, and other "
                       "runs would find nothing in it: give a file",
                       s->fd);
    }
    opened.looked = true;
    return 0;
}

void opened_end(void)
{
    for (int i = 0; i < opened.n; i++)
        free(opened.source[i].data);
    free(opened.source);
    opened.source = NULL;
    opened.n = 0;
    terminal_end();
}
