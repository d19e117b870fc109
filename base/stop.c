/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/stop.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "base/err.h"

/* A handler can reach nothing but a file-scope variable. */
static volatile sig_atomic_t asked;
static void (*volatile at_once)(void);

/* All that ask for an end. */
static const int asking[] = {SIGINT, SIGTERM, SIGHUP};
enum { ASKING = sizeof asking / sizeof asking[0] };
static volatile sig_atomic_t taken[ASKING]; /* not left as they were */

/* The second signal, of any kind, finds the default action. */
static void on_signal(int number)
{
    const int before = errno;
    asked = number;
    if (at_once) at_once();
    errno = before;
    for (int i = 0; i < ASKING; i++)
        if (taken[i]) signal(asking[i], SIG_DFL);
}

int stop_install(void)
{
    /* SA_RESTART: system calls of a dump go on, the program stops between dumps. */
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    sigemptyset(&a.sa_mask);
    asked = 0;
    for (int i = 0; i < ASKING; i++) {
        /* nohup has it ignored. */
        const bool nohup = asking[i] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 &&
                           before.sa_handler == SIG_IGN;
        taken[i] = !nohup;
        if (!nohup && sigaction(asking[i], &a, NULL) != 0)
            return err_set_errno(ERR_IO, errno, "cannot set the handler of signal %d", asking[i]);
    }
    return 0;
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

static struct {
    void (*look)(void *arg);
    void *arg;
    bool running;
    atomic_bool ended;
    pthread_t thread;
} watch;

static void signals_set(int how)
{
    sigset_t all;
    sigemptyset(&all);
    for (int i = 0; i < ASKING; i++)
        sigaddset(&all, asking[i]);
    pthread_sigmask(how, &all, NULL);
}

static void *keep_looking(void *unused)
{
    const struct timespec nap = {.tv_nsec = 50 * 1000 * 1000};
    for (signals_set(SIG_UNBLOCK); !atomic_load(&watch.ended); nanosleep(&nap, NULL))
        watch.look(watch.arg);
    return unused;
}

int stop_watch_begin(void (*look)(void *arg), void *arg, bool block)
{
    ERR_ASSERT(!watch.running);
    watch.look = look;
    watch.arg = arg;
    atomic_store(&watch.ended, false);
    if (block) signals_set(SIG_BLOCK);
    const int errnum = pthread_create(&watch.thread, NULL, keep_looking, NULL);
    watch.running = errnum == 0;
    return errnum == 0 ? 0
                       : err_set_errno(ERR_NOMEM, errnum, "cannot start a thread (ulimit -v, -u)");
}

void stop_watch_end(void)
{
    if (watch.running) {
        atomic_store(&watch.ended, true);
        pthread_join(watch.thread, NULL);
        watch.running = false;
    }
    signals_set(SIG_UNBLOCK);
}
