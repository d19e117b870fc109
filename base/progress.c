/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/progress.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/units.h"
#include "base/watch.h"

enum { LINE_MAX_CHARS = 79 };
static const double EVERY_S = 0.2, QUIET_S = 2.0;

struct progress {
    int fd;
    bool close_fd;
    const char *label, *unit;
    int64_t total;
    double begin_s, next_s; /* when the work began, when the next line is due */
    int shown;              /* characters on the line */
    double rate;            /* bytes/s, 0: not shown */
};

enum progress_mode progress_mode_of(const char *text)
{
    if (strcmp(text, "always") == 0) return PROGRESS_ALWAYS;
    return strcmp(text, "never") == 0 ? PROGRESS_NEVER : PROGRESS_AUTO;
}

/* What /proc says about a process. */
struct process {
    int parent, group, terminal; /* terminal: number of the controlling one, 0 for none */
};

/* "PID (NAME) STATE PARENT GROUP SESSION TERMINAL ..."; NAME may hold anything, even ')'. */
static bool read_process(int pid, struct process *out)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "re");
    if (!f) return false;
    size_t len = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[len] = '\0';
    const char *after = strrchr(text, ')');
    return after &&
           sscanf(after + 1, " %*c %d %d %*d %d", &out->parent, &out->group, &out->terminal) == 3;
}

static bool errors_on_terminal(int pid, int terminal)
{
    char path[64];
    struct stat s;
    snprintf(path, sizeof path, "/proc/%d/fd/2", pid);
    if (stat(path, &s) < 0 || !S_ISCHR(s.st_mode)) return false;
    /* The kernel's number of a device: minor in bits 0-7 and 20-31, major in bits 8-19. */
    const unsigned low = minor(s.st_rdev) & 0xffu, high = minor(s.st_rdev) & 0xfff00u;
    return (int)(low | major(s.st_rdev) << 8 | high << 12) == terminal;
}

/* Launchers put each of their processes into a group of its own: when ours is not the one in the
 * foreground, the next one up is looked at, the launcher's, and no further: above a launcher in the
 * background stands the shell, which waits in the foreground for the next command. */
static bool on_foreground_terminal(int foreground)
{
    int pid = getpid(), own;
    struct process p;
    if (!read_process(pid, &p)) return false;
    own = p.group;
    while (p.group == own && p.group != foreground && p.parent > 1) {
        pid = p.parent;
        if (!read_process(pid, &p)) return false;
    }
    return p.group == foreground && errors_on_terminal(pid, p.terminal);
}

struct progress *progress_begin(enum progress_mode mode, const char *label, const char *unit,
                                int64_t total)
{
    if (mode == PROGRESS_NEVER || total <= 0) return NULL;
    const bool own = mode == PROGRESS_AUTO;
    const int fd = own ? open("/dev/tty", O_WRONLY | O_NOCTTY | O_CLOEXEC) : STDERR_FILENO;
    if (fd < 0) return NULL;
    const double now = watch_now();
    struct progress *p =
        own && !on_foreground_terminal((int)tcgetpgrp(fd)) ? NULL : malloc(sizeof *p);
    if (!p) {
        if (own) close(fd);
        return NULL;
    }
    *p = (struct progress){fd, own, label, unit, total, now, now + (own ? QUIET_S : 0), 0, 0};
    return p;
}

/* Overwrites the line, blanks over what the last one had more. No escape codes: any terminal. */
static void draw(struct progress *p, const char *text)
{
    char line[2 * LINE_MAX_CHARS + 8];
    int len = (int)strnlen(text, LINE_MAX_CHARS);
    int blanks = p->shown > len ? p->shown - len : 0;
    int used = snprintf(line, sizeof line, "\r%.*s%*s%s%.*s", len, text, blanks, "",
                        blanks ? "\r" : "", blanks ? len : 0, text);
    p->shown = len;
    /* A group in the background is stopped by SIGTTOU when it writes to a terminal that is set so;
     * blocked, the signal is not sent. What cannot be written is left out. */
    sigset_t ttou, before;
    sigemptyset(&ttou);
    sigaddset(&ttou, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &ttou, &before);
    ssize_t ignored = write(p->fd, line, (size_t)used);
    (void)ignored;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void progress_update(struct progress *p, int64_t done)
{
    char text[160], left[UNITS_TEXT_MAX + 16] = "", bytes[UNITS_TEXT_MAX];
    char rate[UNITS_TEXT_MAX + 2] = "";
    if (!p) return;
    double now = watch_now();
    if (now < p->next_s) return;
    p->next_s = now + EVERY_S;
    double part = (double)done / (double)p->total;
    if (done > 0) {
        const double left_s = (now - p->begin_s) * (1 - part) / part;
        if (left_s < 59.5) /* an estimate deserves no fractions */
            snprintf(left, sizeof left, ", %.0f s left", ceil(left_s));
        else
            snprintf(left, sizeof left, ", %s left", units_duration(left_s, bytes));
    }
    if (p->rate > 0) snprintf(rate, sizeof rate, ", %s", units_rate(p->rate, bytes));
    snprintf(text, sizeof text, "%s: %s %" PRId64 " of %" PRId64 ", %.0f %%%s%s", p->label, p->unit,
             done, p->total, 100 * part, rate, left);
    draw(p, text);
}

void progress_rate(struct progress *p, double bytes_per_s)
{
    if (p) p->rate = bytes_per_s;
}

void progress_end(struct progress *p)
{
    if (!p) return;
    if (p->shown > 0) draw(p, "");
    if (p->close_fd) close(p->fd);
    free(p);
}
