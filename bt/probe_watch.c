/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parent's side: starts children, reads what they say, ends those that take too long. Nothing
 * here touches the target, and nothing waits for a process without a limit. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
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
#include "base/json.h"
#include "base/plain.h"
#include "base/stop.h"
#include "base/watch.h"
#include "bt/machine.h"
#include "bt/probe_child.h"

#define RANKS     "2"
#define START_S   15.0                /* more than the limit of a check, for a launcher to start */
#define END_S     3.0                 /* for a child to end once it has said all */
#define KILLED_S  1.0                 /* for the kernel to end one that was killed */
#define SAID_MAX  (INT64_C(64) << 20) /* bytes that a child may write; they lie in memory */
#define LINE_SIZE 65536               /* a line that is as long or longer is none of ours */
#define ASKED_S   0.3 /* the same where somebody asked for an end: launchers give a second */

struct child {
    pid_t pid;
    int out, err;  /* files in memory, -1: not made */
    off_t seen;    /* of out */
    size_t line_n; /* bytes of the line that is not whole yet; LINE_SIZE: it is none of ours */
    char line[LINE_SIZE]; /* these bytes */
    int at;               /* the check under way, -1 between two */
    int next;             /* the first one that has no outcome */
    double since_s;
    pid_t told[BT_PROBE_PIDS]; /* of all its processes */
    int told_n;
};

/* ------------------------------------------------------------------ starting */

/* What launchers and batch systems tell their processes would take a child for one of them. Settings
 * of MPI itself stay. */
static bool passed_on(const char *variable)
{
    static const char *const dropped[] = {"PMIX_",     "PMI_",   "PRTE_", "HYDI_", "HYDRA_",
                                          "MPI_LOCAL", "SLURM_", "PBS_",  "LSB_",  "LSF_",
                                          "PALS_",     "FLUX_",  "ORTE_", "OMPI_"};
    static const char *const kept[] = {
        "OMPI_ALLOW_",        "OMPI_MCA_io=",        "OMPI_MCA_io_",  "OMPI_MCA_fs",
        "OMPI_MCA_fbtl",      "OMPI_MCA_fcoll",      "OMPI_MCA_btl",  "OMPI_MCA_pml",
        "OMPI_MCA_mtl",       "OMPI_MCA_sharedfp",   "OMPI_MCA_coll", "OMPI_MCA_osc",
        "OMPI_MCA_mpi_yield", "OMPI_MCA_orte_tmpdir"};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        if (strncmp(variable, kept[i], strlen(kept[i])) == 0) return true;
    for (size_t i = 0; i < sizeof dropped / sizeof dropped[0]; i++)
        if (strncmp(variable, dropped[i], strlen(dropped[i])) == 0) return false;
    return true;
}

/* The child's environment, NULL-terminated; the texts of io are borrowed. */
static char **environment(char *io)
{
    static char isolated[] = "OMPI_MCA_ess_singleton_isolated=1",
                yield[] = "OMPI_MCA_mpi_yield_when_idle=1";
    static char root[] = "OMPI_ALLOW_RUN_AS_ROOT=1", really[] = "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1";
    size_t n = 0, used = 0;
    while (environ[n])
        n++;
    char **env = calloc(n + 6, sizeof *env);
    for (size_t i = 0; env && i < n; i++)
        if (passed_on(environ[i]) && !(io[0] && strncmp(environ[i], "OMPI_MCA_io=", 12) == 0))
            env[used++] = environ[i];
    if (!env) return NULL;
    env[used++] = isolated;
    env[used++] = yield;
    if (geteuid() == 0) env[used++] = root;
    if (geteuid() == 0) env[used++] = really;
    if (io[0]) env[used] = io;
    return env;
}

const char *bt_probe_launcher(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Get_library_version(version, &length);
    const bool known =
        strstr(version, "Open MPI") || strstr(version, "MPICH") || strstr(version, "Intel");
    return known ? bt_machine_launcher() : "";
}

/* The words before those of the program itself. Returns how many. */
static int launch_words(const char **argv)
{
    static const char *const open_mpi[] = {"-np",   RANKS, "--bind-to", "none", "--oversubscribe",
                                           "--mca", "plm", "isolated",  NULL};
    static const char *const hydra[] = {"-np", RANKS, "-launcher", "fork", NULL};
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length, n = 0;
    MPI_Get_library_version(version, &length);
    const char *const *words = strstr(version, "Open MPI") ? open_mpi : hydra;
    argv[n++] = bt_probe_launcher();
    for (int i = 0; words[i]; i++)
        argv[n++] = words[i];
    return n;
}

/* In a process group of its own, where the terminal's signals do not reach it. [out] c: its files are
 * to be closed, also after an error. */
static int start_child(const struct bt_probe_part *p, int first, struct child *c)
{
    char exe[PATH_MAX] = "", number[16], room[24], io[128] = "";
    const char *argv[24];
    int n = 0, rc;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    *c = (struct child){.out = -1, .err = -1, .at = -1, .next = first, .since_s = watch_now()};
    if (readlink("/proc/self/exe", exe, sizeof exe - 1) < 0)
        return err_set_errno(ERR_IO, errno, "/proc/self/exe, to start this program again");
    c->out = memfd_create("nht1-probe", MFD_CLOEXEC);
    c->err = memfd_create("nht1-probe", MFD_CLOEXEC);
    if (c->out < 0 || c->err < 0) return err_set_errno(ERR_IO, errno, "memfd_create");
    if (p->component) snprintf(io, sizeof io, "OMPI_MCA_io=%s", p->component);
    char **env = environment(io);
    if (!env) return err_set(ERR_NOMEM, "no memory for an environment");
    snprintf(number, sizeof number, "%d", first);
    snprintf(room, sizeof room, "%lld", (long long)p->room_bytes);
    if (p->launched) n = launch_words(argv);
    const char *const own[] = {exe,     "--probe-child", p->part, number,
                               p->path, p->fs_type,      room,    NULL};
    memcpy(argv + n, own, sizeof own);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, c->out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, c->err, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    rc = posix_spawnp(&c->pid, argv[0], &actions, &attributes, (char *const *)(uintptr_t)argv, env);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(env);
    return rc == 0 ? 0 : err_set_errno(ERR_IO, rc, "starting %s", argv[0]);
}

/* ------------------------------------------------------------------ ending */

static void close_files(const struct child *c)
{
    if (c->out >= 0) close(c->out);
    if (c->err >= 0) close(c->err);
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

/* State of a process as the kernel shows it, '\0' where it is gone or not one of ours. */
static char state_of(pid_t pid)
{
    char path[64], mine[PATH_MAX], its[PATH_MAX], line[512], state = '\0';
    snprintf(path, sizeof path, "/proc/%ld/exe", (long)pid);
    const ssize_t a = readlink("/proc/self/exe", mine, sizeof mine);
    const ssize_t b = readlink(path, its, sizeof its);
    if (a < 0 || a != b || memcmp(mine, its, (size_t)a) != 0) return '\0';
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(path, "re");
    const char *name_end = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    if (name_end && name_end[1] == ' ') state = name_end[2];
    if (f) fclose(f);
    return state == 'Z' || state == 'X' ? '\0' : state;
}

/* Whether the child itself has ended, within s seconds; status: [out] of waitpid. */
static bool ends_within(struct child *c, double s, int *status)
{
    const double since_s = watch_now();
    do {
        const pid_t done = waitpid(c->pid, status, WNOHANG);
        if (done == c->pid || (done < 0 && errno == ECHILD)) return true;
        nap();
    } while (watch_now() - since_s < s);
    return false;
}

/* Ends a child with all its processes; a launcher is asked first, for it removes what it has made.
 * A process that a file system holds in the kernel cannot be ended: it is told of and left. */
static void end_child(const struct bt_probe_part *p, struct child *c, const char *what)
{
    int status;
    const double since_s = watch_now(), patience_s = stop_requested() ? ASKED_S : KILLED_S;
    bool ended = false;
    if (p->launched) {
        kill(c->pid, SIGTERM);
        ended = ends_within(c, patience_s, &status);
    }
    kill(-c->pid, SIGKILL);
    for (int i = 0; i < c->told_n; i++)
        if (state_of(c->told[i])) kill(c->told[i], SIGKILL);
    if (!ended) ends_within(c, patience_s, &status);
    for (int i = 0; i < c->told_n; i++) {
        char state;
        while ((state = state_of(c->told[i])) != '\0' && watch_now() - since_s < 3 * patience_s)
            nap();
        if (state)
            json_array_append_new(
                p->left, json_sprintf("process %ld (%s%s%s%s) is in state %c and cannot be ended "
                                      "before the file system answers: it was left behind",
                                      (long)c->told[i], p->component ? "MPI-IO " : "",
                                      p->component ? p->component : "", p->component ? ", " : "",
                                      what, state));
    }
}

/* ------------------------------------------------------------------ listening */

static enum bt_probe_state state_named(const char *name)
{
    return strcmp(name, "works") == 0    ? BT_PROBE_WORKS
           : strcmp(name, "absent") == 0 ? BT_PROBE_ABSENT
                                         : BT_PROBE_FAILS;
}

static void end_check(struct bt_probe_part *p, struct child *c)
{
    c->next = c->at + 1;
    c->at = -1;
    if (p->done) p->done(p->arg, 1);
}

/* The check under way has ended, but what it said of it is not to be understood. */
static void lose_end(struct bt_probe_part *p, struct child *c)
{
    struct bt_probe_finding *f = &p->finding[c->at];
    f->state = BT_PROBE_CRASHES;
    snprintf(f->note, sizeof f->note, "its outcome cannot be read among what it wrote besides");
    end_check(p, c);
}

static void take_end(struct bt_probe_part *p, struct child *c, const char *text)
{
    json_t *o = json_loads(text, 0, NULL);
    const char *state = json_string_value(json_object_get(o, "state"));
    const char *note = json_string_value(json_object_get(o, "note"));
    if (c->at >= 0 && state) {
        struct bt_probe_finding *f = &p->finding[c->at];
        f->state = state_named(state);
        f->errnum = (int)json_integer_value(json_object_get(o, "errno"));
        f->values = json_incref(json_object_get(o, "values"));
        f->seconds = json_number_value(json_object_get(o, "seconds"));
        plain_copy(f->note, sizeof f->note, note ? note : "");
        end_check(p, c);
    } else if (c->at >= 0) {
        lose_end(p, c);
    }
    json_decref(o);
}

static void take_about(struct bt_probe_part *p, struct child *c, const char *text)
{
    json_t *about = json_loads(text, 0, NULL);
    if (!about) return;
    json_decref(p->about);
    p->about = about;
    c->next = p->n;
}

static void take_line(struct bt_probe_part *p, struct child *c, const char *line)
{
    const long number = strtol(line + strcspn(line, " "), NULL, 10);
    if (strncmp(line, "@pid ", 5) == 0 && c->told_n < BT_PROBE_PIDS) {
        c->told[c->told_n++] = (pid_t)number;
    } else if (strncmp(line, "@begin ", 7) == 0 && number >= 0 && number < p->n) {
        if (c->at >= 0) lose_end(p, c);
        c->at = (int)number;
        c->since_s = watch_now();
    } else if (strncmp(line, "@end ", 5) == 0) {
        take_end(p, c, line + 5);
        c->since_s = watch_now();
    } else if (strncmp(line, "@about ", 7) == 0) {
        take_about(p, c, line + 7);
    }
}

/* Takes the lines that have become whole. The library that is tried writes there as well, whatever it
 * likes: a line that is too long or holds a zero is passed over, up to its end. With pread: the child
 * writes by the same offset. */
static void listen_to(struct bt_probe_part *p, struct child *c)
{
    char text[LINE_SIZE];
    ssize_t bytes;
    while ((bytes = pread(c->out, text, sizeof text, c->seen)) > 0) {
        c->seen += bytes;
        for (ssize_t i = 0; i < bytes; i++) {
            if (text[i] == '\n') {
                if (c->line_n < LINE_SIZE) {
                    c->line[c->line_n] = '\0';
                    take_line(p, c, c->line);
                }
                c->line_n = 0;
            } else if (text[i] == '\0' || c->line_n >= LINE_SIZE - 1) {
                c->line_n = LINE_SIZE;
            } else {
                c->line[c->line_n++] = text[i];
            }
        }
        if (c->seen > SAID_MAX) return;
    }
}

/* Whether it fills the memory with what it writes. */
static bool floods(const struct child *c)
{
    struct stat out, err;
    return fstat(c->out, &out) == 0 && fstat(c->err, &err) == 0 &&
           (out.st_size > SAID_MAX || err.st_size > SAID_MAX);
}

/* The first line of standard error that says something. */
static void said(const struct child *c, char *out, size_t size)
{
    char text[8192];
    const ssize_t length = pread(c->err, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    out[0] = '\0';
    char *rest;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (strspn(line, " -*=") < strlen(line)) {
            plain_copy(out, size, line);
            return;
        }
}

/* How it ended, for people: a launcher passes signals on as 128 and more. */
static void ending(const struct child *c, int status, char *out, size_t size)
{
    char line[256];
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : code > 128 ? code - 128 : 0;
    said(c, line, sizeof line);
    if (number > 0)
        snprintf(out, size, "ended by signal %d (%s)", number, strsignal(number));
    else
        snprintf(out, size, "ended with status %d%s%s", code, line[0] ? ": " : "", line);
}

/* Listens until the child has ended or has to be. Returns whether it ended by itself. */
static bool attend(struct bt_probe_part *p, struct child *c, int *status)
{
    const int first = c->next;
    for (;;) {
        const bool ended = ends_within(c, 0, status);
        listen_to(p, c);
        if (ended) return true;
        if (floods(c)) return false;
        const bool all = c->at < 0 && c->next == p->n;
        const bool starting = c->at < 0 && c->next == first;
        const double limit_s = all ? END_S : p->limit_s + (starting ? START_S : 0);
        const double took_s = watch_now() - c->since_s;
        if (took_s > (stop_requested() ? fmin(p->stays_s, limit_s) : limit_s)) return false;
    }
}

int bt_probe_run_part(struct bt_probe_part *p)
{
    int rc = 0, status = 0;
    /* "@about" is asked for with a number before the first. */
    for (int first = p->n == 0 ? -1 : 0; rc == 0 && first < p->n;) {
        struct child c;
        rc = start_child(p, first, &c);
        if (rc < 0) {
            close_files(&c);
            break;
        }
        const bool ended = attend(p, &c, &status);
        const bool flooded = !ended && floods(&c);
        const int at = c.at;
        if (!ended) end_child(p, &c, at >= 0 && p->checks ? p->checks[at].name : p->part);
        struct bt_probe_finding *f = at >= 0 ? &p->finding[at] : NULL;
        if (f) {
            f->seconds = watch_now() - c.since_s;
            f->state = ended || flooded ? BT_PROBE_CRASHES : BT_PROBE_HANGS;
            if (ended)
                ending(&c, status, f->note, sizeof f->note);
            else if (flooded)
                snprintf(f->note, sizeof f->note,
                         "killed: it wrote more than %lld MiB to its output",
                         (long long)(SAID_MAX >> 20));
            else
                snprintf(f->note, sizeof f->note, "no end after %g s", p->limit_s);
            if (p->done) p->done(p->arg, 1);
        } else if (c.next == first || (first < 0 && c.next < p->n)) {
            char how[512];
            ending(&c, status, how, sizeof how);
            rc = ended     ? err_set(ERR_MPI, "%s", how)
                 : flooded ? err_set(ERR_MPI, "it wrote more than %lld MiB to its output",
                                     (long long)(SAID_MAX >> 20))
                           : err_set(ERR_MPI, "not started after %g s", p->limit_s + START_S);
        }
        first = f ? at + 1 : c.next;
        close_files(&c);
        if (stop_requested() && !(ended && p->stays_s > 0)) {
            if (f) {
                f->state = BT_PROBE_UNTRIED;
                snprintf(f->note, sizeof f->note, "interrupted");
            }
            err_clear();
            rc = err_set(ERR_INTERRUPT, "interrupted while what works here was tried");
        }
        const char *why = rc == 0 && f && !ended && !flooded && p->alive ? p->alive(p->arg) : NULL;
        if (why) rc = err_set(ERR_IO, "%s", why);
    }
    return rc;
}
