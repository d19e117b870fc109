/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/stop.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "base/err.h"

/* A handler can reach nothing but a file-scope variable. */
static volatile sig_atomic_t asked;
static void (*volatile at_once)(void);

/* The second signal, of either kind, finds the default action. */
static void on_signal(int number)
{
    const int before = errno;
    asked = number;
    if (at_once) at_once();
    errno = before;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

int stop_install(void)
{
    /* SA_RESTART: system calls of a dump go on, the program stops between dumps. */
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&a.sa_mask);
    asked = 0;
    if (sigaction(SIGINT, &a, NULL) == 0 && sigaction(SIGTERM, &a, NULL) == 0) return 0;
    return err_set_errno(ERR_IO, errno, "cannot set the handlers of SIGINT and SIGTERM");
}

void stop_hook(void (*hook)(void))
{
    at_once = hook;
}

bool stop_requested(void)
{
    return asked != 0;
}

int stop_signal(void)
{
    return asked;
}
