/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/plain.h"
#include "base/stop.h"
#include "base/watch.h"

#define ASKED_S  0.3 /* of child_run, for a child to end itself: launchers give a second in all */
#define KILLED_S 1.0
#define PASSED   3 /* the descriptor that pass_fd becomes */

/* ------------------------------------------------------------------ starting */

/* Whether two variables have the same name. */
static bool same_name(const char *a, const char *b)
{
    const size_t n = strcspn(a, "=");
    return strcspn(b, "=") == n && memcmp(a, b, n) == 0;
}

char **child_environment(bool (*passed)(const char *variable), char *const *set)
{
    size_t n = 0, more = 0, used = 0;
    while (environ[n])
        n++;
    while (set[more])
        more++;
    char **env = calloc(n + more + 1, sizeof *env);
    for (size_t i = 0; env && i < n; i++) {
        bool keep = !passed || passed(environ[i]);
        for (size_t s = 0; s < more; s++)
            keep = keep && !same_name(environ[i], set[s]);
        if (keep) env[used++] = environ[i];
    }
    for (size_t s = 0; env && s < more; s++)
        env[used++] = set[s];
    return env;
}

/* Where descriptor to of the child goes. */
static void direct(posix_spawn_file_actions_t *actions, int to, enum child_stream stream, int kept,
                   int fd)
{
    if (stream == CHILD_NOTHING)
        posix_spawn_file_actions_addopen(actions, to, "/dev/null", O_WRONLY, 0);
    else if (stream == CHILD_JOINED)
        posix_spawn_file_actions_adddup2(actions, STDOUT_FILENO, to);
    else if (stream != CHILD_SHARED)
        posix_spawn_file_actions_adddup2(actions, stream == CHILD_KEPT ? kept : fd, to);
}

/* MPI libraries, and whoever started this process, leave descriptors open that a child would inherit. */
static void close_others(posix_spawn_file_actions_t *actions, int least)
{
    DIR *d = opendir("/proc/self/fd");
    if (!d) return;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        const long fd = strtol(e->d_name, NULL, 10);
        if (fd >= least) posix_spawn_file_actions_addclose(actions, (int)fd);
    }
    closedir(d);
}

/* A file without a first line that names an interpreter is the shell's, as for execvp. Returns an errno
 * value. */
static int spawn(pid_t *pid, const struct child_start *how,
                 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes)
{
    char *const *argv = (char *const *)(uintptr_t)how->argv;
    char *const *env = how->env ? how->env : environ;
    int rc = posix_spawnp(pid, argv[0], actions, attributes, argv, env), n = 0;
    if (rc != ENOEXEC) return rc;
    while (argv[n])
        n++;
    char **words = calloc((size_t)n + 2, sizeof *words), sh[] = "/bin/sh";
    if (!words) return ENOMEM;
    words[0] = sh;
    memcpy(words + 1, argv, (size_t)n * sizeof *words);
    rc = posix_spawn(pid, sh, actions, attributes, words, env);
    free(words);
    return rc;
}

/* With the signals set as the child is to find them, none of which arrives meanwhile. */
static int spawn_signals(pid_t *pid, const struct child_start *how,
                         const posix_spawn_file_actions_t *actions)
{
    posix_spawnattr_t attributes;
    sigset_t all, mask, none;
    struct sigaction *before = calloc((size_t)how->signals_n + 1, sizeof *before);
    if (!before) return ENOMEM;
    sigfillset(&all);
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    for (int i = 0; i < how->signals_n; i++)
        sigaction(how->signal[i].number, &how->signal[i].action, &before[i]);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, how->in_place ? &mask : &none);
    posix_spawnattr_setflags(
        &attributes, (short)(POSIX_SPAWN_SETSIGMASK | (how->group ? POSIX_SPAWN_SETPGROUP : 0)));
    const int rc = spawn(pid, how, actions, &attributes);
    posix_spawnattr_destroy(&attributes);
    for (int i = 0; i < how->signals_n; i++)
        sigaction(how->signal[i].number, &before[i], NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    free(before);
    return rc;
}

int child_start(struct child *c, const struct child_start *how)
{
    posix_spawn_file_actions_t actions;
    *c = (struct child){.out = -1, .err = -1, .name = how->argv[0], .group = how->group};
    if (how->out == CHILD_KEPT) {
        c->line = mem_new(CHILD_LINE_SIZE, 1, "what %s says", c->name);
        if (!c->line) return ERR_NOMEM;
        c->out = memfd_create("nht1-out", MFD_CLOEXEC);
    }
    if (how->err == CHILD_KEPT) c->err = memfd_create("nht1-err", MFD_CLOEXEC);
    if ((how->out == CHILD_KEPT && c->out < 0) || (how->err == CHILD_KEPT && c->err < 0)) {
        c->errnum = errno;
        return err_set_errno(ERR_IO, c->errnum, "memfd_create");
    }
    posix_spawn_file_actions_init(&actions);
    if (!how->in_place)
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    direct(&actions, STDOUT_FILENO, how->out, c->out, how->fd);
    direct(&actions, STDERR_FILENO, how->err, c->err, how->fd);
    if (how->pass_fd > 0) posix_spawn_file_actions_adddup2(&actions, how->pass_fd, PASSED);
    if (!how->in_place) close_others(&actions, how->pass_fd > 0 ? PASSED + 1 : PASSED);
    c->errnum = spawn_signals(&c->pid, how, &actions);
    posix_spawn_file_actions_destroy(&actions);
    return c->errnum == 0 ? 0 : err_set_errno(ERR_IO, c->errnum, "starting %s", c->name);
}

/* ------------------------------------------------------------------ ending */

/* The clock is asked only where there is a limit: a test's clock goes on whenever it is asked. */
bool child_wait(struct child *c, double most_s)
{
    const bool limited = most_s > 0 && !isinf(most_s);
    const double since_s = limited ? watch_now() : 0;
    while (!c->ended) {
        const pid_t done = waitpid(c->pid, &c->status, isinf(most_s) ? 0 : WNOHANG);
        c->ended = done == c->pid || (done < 0 && errno != EINTR);
        if (done < 0) c->status = -1;
        if (c->ended || isinf(most_s)) continue;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        if (!limited || watch_now() - since_s >= most_s) break;
    }
    return c->ended;
}

void child_stop(struct child *c, double ask_s, double kill_s)
{
    if (ask_s > 0 && !c->ended) {
        kill(c->pid, SIGTERM);
        child_wait(c, ask_s);
    }
    if (c->group)
        kill(-c->pid, SIGKILL);
    else if (!c->ended)
        kill(c->pid, SIGKILL);
    if (!c->ended) child_wait(c, kill_s);
}

int child_run(struct child *c, const struct child_start *how, double limit_s)
{
    TRY(child_start(c, how));
    const bool limited = !isinf(limit_s);
    const double since_s = limited ? watch_now() : 0;
    while (!child_wait(c, 0)) {
        const bool stop = stop_requested(), floods = child_floods(c);
        if (!stop && !floods && (!limited || watch_now() - since_s <= limit_s)) continue;
        child_stop(c, ASKED_S, KILLED_S);
        if (stop) return err_set(ERR_INTERRUPT, "%s: interrupted", c->name);
        if (floods)
            return err_set(ERR_IO, "%s wrote more than %lld MiB to its output", c->name,
                           (long long)(CHILD_KEPT_MAX >> 20));
        return err_set(ERR_IO, "%s: no end after %g s", c->name, limit_s);
    }
    return 0;
}

void child_free(struct child *c)
{
    if (c->out >= 0) close(c->out);
    if (c->err >= 0) close(c->err);
    free(c->line);
    c->out = c->err = -1;
    c->line = NULL;
}

/* ------------------------------------------------------------------ what it says */

/* With pread: the child writes by the same offset. */
void child_lines(struct child *c, void (*take)(void *arg, const char *line), void *arg)
{
    char text[CHILD_LINE_SIZE];
    ssize_t bytes;
    while ((bytes = pread(c->out, text, sizeof text, c->seen)) > 0) {
        c->seen += bytes;
        for (ssize_t i = 0; i < bytes; i++) {
            if (text[i] == '\n') {
                if (c->line_n < CHILD_LINE_SIZE) {
                    c->line[c->line_n] = '\0';
                    take(arg, c->line);
                }
                c->line_n = 0;
            } else if (text[i] == '\0' || c->line_n >= CHILD_LINE_SIZE - 1) {
                c->line_n = CHILD_LINE_SIZE;
            } else {
                c->line[c->line_n++] = text[i];
            }
        }
        if (c->seen > CHILD_KEPT_MAX) return;
    }
}

bool child_floods(const struct child *c)
{
    struct stat st;
    return (c->out >= 0 && fstat(c->out, &st) == 0 && st.st_size > CHILD_KEPT_MAX) ||
           (c->err >= 0 && fstat(c->err, &st) == 0 && st.st_size > CHILD_KEPT_MAX);
}

static void read_beginning(int fd, char *out, size_t size)
{
    const ssize_t length = fd < 0 ? 0 : pread(fd, out, size - 1, 0);
    out[length > 0 ? length : 0] = '\0';
}

void child_text(const struct child *c, char *out, size_t size)
{
    read_beginning(c->out, out, size);
}

void child_first_error(const struct child *c, char *out, size_t size)
{
    char text[8192], *rest;
    read_beginning(c->err, text, sizeof text);
    out[0] = '\0';
    for (char *line = strtok_r(text, "\n", &rest); line && !out[0];
         line = strtok_r(NULL, "\n", &rest))
        if (strspn(line, " -*=") < strlen(line)) plain_copy(out, size, line);
}

int child_status(const struct child *c)
{
    if (c->status == -1) return -1;
    return WIFSIGNALED(c->status) ? 128 + WTERMSIG(c->status) : WEXITSTATUS(c->status);
}

void child_ending(const struct child *c, char *out, size_t size)
{
    char line[256];
    const int code = child_status(c);
    child_first_error(c, line, sizeof line);
    if (!c->ended || code < 0)
        snprintf(out, size, "its end was not seen");
    else if (code > 128)
        snprintf(out, size, "ended by signal %d (%s)", code - 128, strsignal(code - 128));
    else
        snprintf(out, size, "ended with status %d%s%s", code, line[0] ? ": " : "", line);
}
