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

#define DESCRIPTORS 256 /* that are looked at; a shell has 0 to 9, or some more by name */

static struct {
    /* Of files for reading alone: opened anew, so that nobody else who reads them meets another place; -1: no such. */
    int again[DESCRIPTORS];
    off_t at[DESCRIPTORS];
    bool once;       /* standard input can be read but once, and is not kept */
    int ready_bytes; /* of it before the first run */
    bool kept;       /* it is a pipe of which data is the whole content */
    char *data;
    int bytes;
} opened;

static bool has_writers(void)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&p, 1, 0) < 0 || !(p.revents & POLLHUP);
}

static int ready_bytes(void)
{
    int n = 0;
    return ioctl(STDIN_FILENO, FIONREAD, &n) == 0 ? n : 0;
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

/* A copy of what the pipe holds, which stays in it. Where that cannot be had it is not kept. */
static int keep(void)
{
    int end[2], size = fcntl(STDIN_FILENO, F_GETPIPE_SZ);
    opened.bytes = ready_bytes();
    opened.data = mem_new(opened.bytes + 1, 1, "standard input");
    if (!opened.data) return ERR_NOMEM;
    if (size < opened.bytes || pipe_make(end, size) != 0) return 0;
    opened.kept = opened.bytes == 0 ||
                  (tee(STDIN_FILENO, end[1], INT_MAX, SPLICE_F_NONBLOCK) == opened.bytes &&
                   read(end[0], opened.data, (size_t)opened.bytes) == opened.bytes);
    close(end[0]);
    close(end[1]);
    return 0;
}

int opened_begin(void)
{
    struct stat st;
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        char path[32];
        const int flags = fcntl(fd, F_GETFL), own = fcntl(fd, F_GETFD);
        const bool file = flags >= 0 && own >= 0 && !(own & FD_CLOEXEC) &&
                          (flags & O_ACCMODE) == O_RDONLY && fstat(fd, &st) == 0 &&
                          S_ISREG(st.st_mode);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        opened.again[fd] = file ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        opened.at[fd] = file ? lseek(fd, 0, SEEK_CUR) : 0;
    }
    if (fstat(STDIN_FILENO, &st) != 0) return 0;
    const bool pipe = S_ISFIFO(st.st_mode);
    if (pipe && !has_writers()) TRY(keep());
    opened.once = ((pipe || S_ISSOCK(st.st_mode)) && !opened.kept) ||
                  (S_ISREG(st.st_mode) && opened.again[STDIN_FILENO] < 0);
    opened.ready_bytes = ready_bytes();
    return 0;
}

int opened_again(void)
{
    int end[2];
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        if (opened.again[fd] >= 0 && (lseek(opened.again[fd], opened.at[fd], SEEK_SET) < 0 ||
                                      dup2(opened.again[fd], fd) != fd))
            return err_set_errno(ERR_IO, errno, "opening anew what descriptor %d reads", fd);
    if (!opened.kept) return 0;
    bool good = pipe_make(end, opened.bytes) == 0;
    if (good) {
        good = write(end[1], opened.data, (size_t)opened.bytes) == opened.bytes &&
               dup2(end[0], STDIN_FILENO) == STDIN_FILENO;
        close(end[0]);
        close(end[1]);
    }
    return good ? 0 : err_set_errno(ERR_IO, errno, "making standard input anew");
}

int opened_spent(void)
{
    /* Nobody has written into it, and all could still do so: as a shell or a service without a terminal has it. */
    struct stat st;
    const bool idle = fstat(STDIN_FILENO, &st) == 0 && !S_ISREG(st.st_mode) && has_writers() &&
                      opened.ready_bytes == 0 && ready_bytes() == 0;
    if (!opened.once || idle) return 0;
    return err_set(
        ERR_INVALID,
        "no zeta: standard input can be read once, and other runs would find "
        "nothing in it: give a file, < FILE, or < /dev/null where the program reads nothing");
}

void opened_end(void)
{
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        if (opened.again[fd] > 0) close(opened.again[fd]);
    free(opened.data);
    opened.data = NULL;
}
