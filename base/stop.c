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

/* SA_RESTART: system calls of a dump go on, the program stops between dumps. */
static int install(int number, void (*handler)(int))
{
    struct sigaction a = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&a.sa_mask);
    if (sigaction(number, &a, NULL) == 0) return 0;
    return err_set_errno(ERR_IO, errno, "cannot set the handler of signal %d", number);
}

int stop_install(void)
{
    asked = 0;
    TRY(install(SIGINT, on_signal));
    return install(SIGTERM, on_signal);
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
