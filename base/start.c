/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

void start_clean(void)
{
    /* The lowest free number is given out first: each open fills the gap that was found. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
}
