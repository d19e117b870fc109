/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/crash.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/plain.h"

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF};
#define SIGNALS ((int)(sizeof signals / sizeof *signals))

/* The texts are made beforehand: a handler may call next to nothing. */
static char crash_message[PATH_MAX + 128], stuck_message[PATH_MAX + 128];
static int status;
static struct sigaction before[SIGNALS];
static clockid_t clock_of_thread;
static volatile time_t until_s; /* on that clock */

static time_t thread_s(void)
{
    struct timespec now = {0};
    clock_gettime(clock_of_thread, &now);
    return now.tv_sec;
}

static void crashed(int signum)
{
    if (signum == SIGPROF && thread_s() < until_s) return;
    const char *said = signum == SIGPROF ? stuck_message : crash_message;
    const ssize_t put = write(STDERR_FILENO, said, strlen(said));
    _exit(put < 0 ? signum : status);
}

void crash_expect(const char *path, const char *library)
{
    static char stack[1 << 16]; /* the usual one may be what ran out */
    const struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK | SA_RESTART};
    char name[PATH_MAX];
    status = err_exit_status(ERR_IO);
    snprintf(crash_message, sizeof crash_message,
             "%s: %s: cannot be read: %s crashed, as it may on a damaged file\n",
             program_invocation_short_name, plain_copy(name, sizeof name, path), library);
    snprintf(stuck_message, sizeof stuck_message,
             "%s: %s: cannot be read: %s goes in circles, as it may on a damaged file\n",
             program_invocation_short_name, name, library);
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (int s = 0; s < SIGNALS; s++)
        sigaction(signals[s], &action, &before[s]);
}

void crash_end(void)
{
    for (int s = 0; s < SIGNALS; s++)
        sigaction(signals[s], &before[s], NULL);
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
}

/* The timer counts for all threads: from its first signal on the handler looks once a second. */
void crash_limit(int seconds)
{
    const struct itimerval timer = {.it_value.tv_sec = seconds, .it_interval.tv_sec = seconds > 0};
    pthread_getcpuclockid(pthread_self(), &clock_of_thread);
    until_s = thread_s() + seconds;
    setitimer(ITIMER_PROF, &timer, NULL);
}
