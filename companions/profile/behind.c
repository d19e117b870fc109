/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/behind.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "companions/profile/record.h"

static const char *mark; /* of the command's processes */
static char counters[PATH_MAX], host[256];

#define DEPTH_MAX 64
#define LOOK_S    0.01
#define ASKED_S   5.0 /* to end, for a process that is asked or killed */

/* Whether a process has the variable in its environment, or the library in it: it may have written over its environment, as
 * what shows another title in lists of processes does, or let nobody read it. */
static bool is_marked(int pid)
{
    static char text[1 << 17];
    char path[PROFILE_HERE_MAX];
    snprintf(path, sizeof path, PROFILE_HERE, counters, pid, host);
    if (access(path, F_OK) == 0) return true;
    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    FILE *f = fopen(path, "re");
    if (!f) return false;
    const size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    return memmem(text, n, mark, strlen(mark)) != NULL;
}

/* Does something with the number of each child of a command that has not ended. Returns how many; [out] first: one. */
static int each(void (*act)(int pid, int depth), int *first)
{
    int pid, n = 0;
    while (waitpid(-1, NULL, WNOHANG) > 0) { /* leaves no zombies */
    }
    FILE *f = fopen("/proc/thread-self/children", "re");
    if (!f) return 0;
    while (fscanf(f, "%d", &pid) == 1) {
        if (!is_marked(pid)) continue;
        if (n++ == 0 && first) *first = pid;
        if (act) act(pid, 0);
    }
    fclose(f);
    return n;
}

void behind_begin(const char *variable, const char *folder)
{
    mark = variable;
    snprintf(counters, sizeof counters, "%s", folder);
    (void)gethostname(host, sizeof host - 1);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/* Asks a process to end, and first all that it has started: what is adopted later has been asked then. */
static void ask(int pid, int depth)
{
    char path[64];
    int child;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
    FILE *f = depth < DEPTH_MAX ? fopen(path, "re") : NULL;
    while (f && fscanf(f, "%d", &child) == 1)
        ask(child, depth + 1);
    if (f) fclose(f);
    (void)kill(pid, SIGTERM);
}

static void end(int pid, int unused)
{
    (void)unused;
    (void)kill(pid, SIGKILL);
}

static volatile sig_atomic_t
    seconds_n; /* of waiting: none passes while this process is stopped, as its command is */

static void count_second(int unused)
{
    (void)unused;
    seconds_n++;
}

bool behind_reap(int child, double most_s)
{
    const struct sigaction act = {.sa_handler = count_second};
    const struct itimerval never = {{0, 0}, {0, 0}}, each_second = {{1, 0}, {1, 0}};
    struct sigaction was;
    sigset_t alarm, mask;
    siginfo_t one = {0};
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    seconds_n = 0;
    sigaction(SIGALRM, &act, &was);
    sigprocmask(SIG_UNBLOCK, &alarm, &mask);
    if (isfinite(most_s)) setitimer(ITIMER_REAL, &each_second, NULL);
    for (;;) {
        const int rc = waitid(P_ALL, 0, &one, WEXITED | WNOWAIT);
        if (rc < 0 && errno == EINTR && seconds_n < most_s) continue;
        if (rc < 0 || one.si_pid == child) break;
        (void)waitpid(one.si_pid, NULL, 0);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    sigaction(SIGALRM, &was, NULL);
    return one.si_pid == child || seconds_n < most_s;
}

/* Looks every 10 ms, and does something with each that is there. Not by the clock of the measurements, which stands still
 * in tests. A signal ends the waiting where nothing is done. */
static bool wait_for_none(void (*act)(int pid, int depth), double wait_s, int *first)
{
    const struct timespec pause = {.tv_nsec = (long)(1e9 * LOOK_S)};
    for (double waited_s = 0; each(act, first) > 0; waited_s += LOOK_S)
        if (waited_s >= wait_s || (nanosleep(&pause, NULL) < 0 && !act)) return false;
    return true;
}

enum behind behind_wait(double wait_s, int *pid)
{
    if (each(NULL, pid) == 0) return BEHIND_NONE;
    return wait_for_none(NULL, wait_s, pid) ? BEHIND_ENDED : BEHIND_RUNS;
}

void behind_end(void)
{
    each(ask, NULL);
    if (!wait_for_none(NULL, ASKED_S, NULL)) (void)wait_for_none(end, ASKED_S, NULL);
}
