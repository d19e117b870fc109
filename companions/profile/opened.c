/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/opened.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

/* That are looked at; a shell has 0 to 9, and some below 64 for <(COMMAND). */
#define DESCRIPTORS 1024
#define WRITERS_MS  100 /* which are about to end, as those of short output are */

/* What can be read of a pipe or a socket. */
struct stream {
    bool writers; /* others could write into it */
    int bytes;    /* that wait in it */
};

static struct {
    /* Of what can be read again. It stays open as it is, as the shell may hold a lock by it: only places are changed. -1: no
     * such, not known. */
    off_t at[DESCRIPTORS], after[DESCRIPTORS];
    /* Of what can be read once: data, where others have written all of it. */
    bool once[DESCRIPTORS];
    struct stream before[DESCRIPTORS];
    char *data[DESCRIPTORS];
    bool spent; /* the first run has ended */
} opened;

static bool has_writers(int fd, int patience_ms)
{
    struct pollfd p = {.fd = fd};
    return poll(&p, 1, patience_ms) <= 0 || !(p.revents & POLLHUP);
}

static struct stream look(int fd, int patience_ms)
{
    struct stream s = {.writers = has_writers(fd, patience_ms)};
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
static int keep(int fd)
{
    int end[2], size = fcntl(fd, F_GETPIPE_SZ);
    const int bytes = opened.before[fd].bytes;
    char *data = mem_new(bytes + 1, 1, "what descriptor %d reads", fd);
    if (!data) return ERR_NOMEM;
    bool kept = bytes == 0;
    if (!kept && size >= bytes && pipe_make(end, size) == 0) {
        kept = tee(fd, end[1], INT_MAX, SPLICE_F_NONBLOCK) == bytes &&
               read(end[0], data, (size_t)bytes) == bytes;
        close(end[0]);
        close(end[1]);
    }
    if (kept)
        opened.data[fd] = data;
    else
        free(data);
    return 0;
}

int opened_begin(void)
{
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        struct stat st;
        const int flags = fcntl(fd, F_GETFL), own = fcntl(fd, F_GETFD);
        opened.at[fd] = opened.after[fd] = -1;
        if (flags < 0 || own < 0 || (own & FD_CLOEXEC) || (flags & O_ACCMODE) == O_WRONLY ||
            fd == STDOUT_FILENO || fd == STDERR_FILENO || fstat(fd, &st) != 0)
            continue;
        const bool pipe = S_ISFIFO(st.st_mode);
        if (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode)) opened.at[fd] = lseek(fd, 0, SEEK_CUR);
        opened.once[fd] = pipe || S_ISSOCK(st.st_mode);
        if (opened.once[fd]) opened.before[fd] = look(fd, pipe ? WRITERS_MS : 0);
        if (pipe && !opened.before[fd].writers) TRY(keep(fd));
    }
    return 0;
}

int opened_again(void)
{
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        const size_t bytes = (size_t)opened.before[fd].bytes;
        int end[2];
        if (opened.at[fd] >= 0 && lseek(fd, opened.at[fd], SEEK_SET) < 0)
            return err_set_errno(ERR_IO, errno, "going back in what descriptor %d reads", fd);
        if (!opened.data[fd]) continue;
        bool good = pipe_make(end, (int)bytes) == 0;
        if (good) {
            good =
                write(end[1], opened.data[fd], bytes) == (ssize_t)bytes && dup2(end[0], fd) == fd;
            close(end[0]);
            close(end[1]);
        }
        if (!good) return err_set_errno(ERR_IO, errno, "making anew what descriptor %d reads", fd);
    }
    return 0;
}

/* Whether the first run may have read what no other run will find. Standard input is idle where nobody has written into it
 * and all could still do so, as a shell or a service without a terminal has it. Others may be there for something else, as
 * those in which make keeps its jobs: they are as they were, and were not filled again. */
static bool is_spent(int fd)
{
    const struct stream before = opened.before[fd], now = look(fd, 0);
    if (fd == STDIN_FILENO) return !now.writers || before.bytes > 0 || now.bytes > 0;
    const int room = fcntl(fd, F_GETPIPE_SZ);
    return now.writers != before.writers || now.bytes != before.bytes ||
           (now.writers && room > 0 && now.bytes > room / 2);
}

int opened_spent(void)
{
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        if (opened.at[fd] >= 0 && !opened.spent) opened.after[fd] = lseek(fd, 0, SEEK_CUR);
        if (!opened.once[fd] || opened.data[fd] || !is_spent(fd)) continue;
        if (fd == STDIN_FILENO)
            return err_set(ERR_INVALID, "no zeta: standard input can be read once, and other runs "
                                        "would find nothing in it: give a file, < FILE, or < "
                                        "/dev/null where the program reads nothing");
        return err_set(ERR_INVALID,
                       "no zeta: descriptor %d, of <(COMMAND) perhaps, can be read once, and other "
                       "runs would find nothing in it: give a file",
                       fd);
    }
    opened.spent = true;
    return 0;
}

void opened_end(void)
{
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        if (opened.spent && opened.after[fd] >= 0) (void)lseek(fd, opened.after[fd], SEEK_SET);
        free(opened.data[fd]);
        opened.data[fd] = NULL;
    }
}
