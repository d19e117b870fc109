/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/behind.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
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

/* By seconds of waiting, of which none passes while this process is stopped, as its command is. The signal of a child
 * that ends is kept until it is waited for. */
bool behind_reap(int child, double most_s)
{
    const struct timespec second = {.tv_sec = 1};
    sigset_t ended, mask;
    siginfo_t one = {0};
    double waited_s = 0;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ended, &mask);
    while (waited_s < most_s) {
        one.si_pid = 0;
        if (waitid(P_ALL, 0, &one, WEXITED | WNOWAIT | WNOHANG) < 0 || one.si_pid == child) break;
        if (one.si_pid != 0)
            (void)waitpid(one.si_pid, NULL, 0);
        else if (sigtimedwait(&ended, NULL, &second) < 0 && errno == EAGAIN)
            waited_s++;
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return waited_s < most_s;
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
