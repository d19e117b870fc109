/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/behind.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define OTHERS_MAX 256
static int other[OTHERS_MAX], others_n; /* children that this process had before the command */

#define DEPTH_MAX 64
#define LOOK_S    0.01
#define ASKED_S   5.0 /* to end, for a process that is asked or killed */

static bool is_other(int pid)
{
    for (int i = 0; i < others_n; i++)
        if (other[i] == pid) return true;
    return false;
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
        if (is_other(pid)) continue;
        if (n++ == 0 && first) *first = pid;
        if (act) act(pid, 0);
    }
    fclose(f);
    return n;
}

static void note_other(int pid, int unused)
{
    (void)unused;
    if (others_n < OTHERS_MAX) other[others_n++] = pid;
}

/* A shell leaves its helpers to the program in whose place it runs another one: >(tee log). */
void behind_begin(void)
{
    others_n = 0;
    each(note_other, NULL);
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

void behind_reap(int child)
{
    siginfo_t one = {0};
    for (;;) {
        const int rc = waitid(P_ALL, 0, &one, WEXITED | WNOWAIT);
        if (rc < 0 && errno == EINTR) continue;
        if (rc < 0 || one.si_pid == child) return;
        (void)waitpid(one.si_pid, NULL, 0);
    }
}

/* Looks every 10 ms. Not by the clock of the measurements, which stands still in tests. */
static bool wait_for_none(double wait_s, int *first)
{
    const struct timespec pause = {.tv_nsec = (long)(1e9 * LOOK_S)};
    for (double waited_s = 0; each(NULL, first) > 0; waited_s += LOOK_S)
        if (waited_s >= wait_s || nanosleep(&pause, NULL) < 0) return false;
    return true;
}

bool behind_runs(double wait_s, char name[32], int *pid)
{
    char path[64];
    if (wait_for_none(wait_s, pid)) return false;
    snprintf(path, sizeof path, "/proc/%d/comm", *pid);
    FILE *f = fopen(path, "re");
    if (!f || !fgets(name, 32, f)) snprintf(name, 32, "?");
    name[strcspn(name, "\n")] = '\0';
    if (f) fclose(f);
    return true;
}

void behind_end(void)
{
    const struct timespec pause = {.tv_nsec = (long)(1e9 * LOOK_S)};
    each(ask, NULL);
    if (wait_for_none(ASKED_S, NULL)) return;
    for (double waited_s = 0; each(end, NULL) > 0 && waited_s < ASKED_S; waited_s += LOOK_S)
        nanosleep(&pause, NULL);
}
