/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parent's side: what the children are started with, what they say, and how long they may take.
 * Nothing here touches the target, and nothing waits for a process without a limit. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/beside.h"
#include "base/child.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/mpilib.h"
#include "base/plain.h"
#include "base/stop.h"
#include "base/watch.h"
#include "io/probe/process.h"

#define RANKS    "2"
#define START_S  15.0 /* more than the limit of a check, for a launcher to start */
#define END_S    3.0  /* for a child to end once it has said all */
#define KILLED_S 1.0  /* for the kernel to end one that was killed */
#define ASKED_S  0.3  /* the same where somebody asked for an end: launchers give a second */

/* A part's child, and how far it is. */
struct attempt {
    struct probe_part *p;
    struct child child;
    int at;   /* the check under way, -1 between two */
    int next; /* the first one that has no outcome */
    double since_s;
    pid_t pid[PROBE_PIDS]; /* of all its processes */
    int pids_n;
};

/* ------------------------------------------------------------------ starting */

/* What launchers and batch systems tell their processes would take a child for one of them. Settings
 * of MPI itself stay. */
static bool is_passed_on(const char *variable)
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

/* The child's environment: io is "OMPI_MCA_io=NAME" or "". NULL: no memory. */
static char **environment(char *io)
{
    static char isolated[] = "OMPI_MCA_ess_singleton_isolated=1",
                yield[] = "OMPI_MCA_mpi_yield_when_idle=1";
    static char root[] = "OMPI_ALLOW_RUN_AS_ROOT=1", really[] = "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1";
    char *set[6] = {isolated};
    int n = 1;
    if (!getenv("OMPI_MCA_mpi_yield_when_idle")) set[n++] = yield;
    if (geteuid() == 0) set[n++] = root;
    if (geteuid() == 0) set[n++] = really;
    if (io[0]) set[n++] = io;
    return child_environment(is_passed_on, set);
}

const char *probe_launcher(void)
{
    return mpilib()->kind != MPILIB_OTHER ? beside_launcher() : "";
}

/* The words before those of the program itself. Returns how many. */
static int launch_words(const char **argv)
{
    static const char *const open_mpi[] = {"-np",   RANKS, "--bind-to", "none", "--oversubscribe",
                                           "--mca", "plm", "isolated",  NULL};
    static const char *const hydra[] = {"-np", RANKS, "-launcher", "fork", NULL};
    const char *const *words = mpilib()->kind == MPILIB_OPEN_MPI ? open_mpi : hydra;
    int n = 0;
    argv[n++] = probe_launcher();
    for (int i = 0; words[i]; i++)
        argv[n++] = words[i];
    return n;
}

/* [out] a: its child is to be freed, also after an error. */
static int start_child(struct probe_part *p, int first, struct attempt *a)
{
    char exe[PATH_MAX] = "", number[16], room[24], io[128] = "";
    const char *argv[24];
    int n = 0;
    *a = (struct attempt){
        .p = p, .child = {.out = -1, .err = -1}, .at = -1, .next = first, .since_s = watch_now()};
    if (readlink("/proc/self/exe", exe, sizeof exe - 1) < 0)
        return err_set_errno(ERR_IO, errno, "/proc/self/exe, to start this program again");
    if (p->component) snprintf(io, sizeof io, "OMPI_MCA_io=%s", p->component);
    char **env = environment(io);
    if (!env) return mem_error("an environment");
    snprintf(number, sizeof number, "%d", first);
    snprintf(room, sizeof room, "%lld", (long long)p->room_bytes);
    if (p->launched) n = launch_words(argv);
    const char *const own[] = {exe,     "--probe-child", p->part, number,
                               p->path, p->fs_type,      room,    NULL};
    memcpy(argv + n, own, sizeof own);
    const struct child_start how = {
        .argv = argv, .env = env, .out = CHILD_KEPT, .err = CHILD_KEPT, .group = true};
    const int rc = child_start(&a->child, &how);
    free(env);
    return rc;
}

/* ------------------------------------------------------------------ ending */

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

/* Ends a child with all its processes; a launcher is asked first, for it removes what it has made.
 * A process that a file system holds in the kernel cannot be ended: it is told of and left. */
static void end_child(struct attempt *a, const char *what)
{
    const struct probe_part *p = a->p;
    const double since_s = watch_now(), patience_s = stop_requested() ? ASKED_S : KILLED_S;
    child_stop(&a->child, p->launched ? patience_s : 0, 0);
    for (int i = 0; i < a->pids_n; i++)
        if (state_of(a->pid[i])) kill(a->pid[i], SIGKILL);
    child_wait(&a->child, patience_s);
    for (int i = 0; i < a->pids_n; i++) {
        char state;
        while ((state = state_of(a->pid[i])) != '\0' && watch_now() - since_s < 3 * patience_s)
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        if (state)
            json_array_append_new(
                p->left,
                js_printf("process %ld (%s%s%s%s) is in state %c and cannot be ended "
                          "before the file system answers: it was left behind",
                          (long)a->pid[i], p->component ? "MPI-IO " : "",
                          p->component ? p->component : "", p->component ? ", " : "", what, state));
    }
}

/* ------------------------------------------------------------------ listening */

static enum probe_state state_named(const char *name)
{
    return strcmp(name, "works") == 0    ? PROBE_WORKS
           : strcmp(name, "absent") == 0 ? PROBE_ABSENT
                                         : PROBE_FAILS;
}

static void end_check(struct attempt *c)
{
    c->next = c->at + 1;
    c->at = -1;
    if (c->p->done) c->p->done(c->p->arg, 1);
}

/* The check under way has ended, but what it said of it is not to be understood. */
static void lose_end(struct attempt *c)
{
    struct probe_finding *f = &c->p->finding[c->at];
    f->state = PROBE_CRASHES;
    snprintf(f->note, sizeof f->note, "its outcome cannot be read among what it wrote besides");
    end_check(c);
}

static void take_end(struct attempt *c, const char *text)
{
    json_t *o = json_loads(text, 0, NULL);
    const char *state = json_string_value(json_object_get(o, "state"));
    const char *note = json_string_value(json_object_get(o, "note"));
    if (c->at >= 0 && state) {
        struct probe_finding *f = &c->p->finding[c->at];
        f->state = state_named(state);
        f->errnum = (int)json_integer_value(json_object_get(o, "errno"));
        f->values = json_incref(json_object_get(o, "values"));
        f->seconds = json_number_value(json_object_get(o, "seconds"));
        plain_copy(f->note, sizeof f->note, note ? note : "");
        end_check(c);
    } else if (c->at >= 0) {
        lose_end(c);
    }
    json_decref(o);
}

static void read_about(struct attempt *c, const char *text)
{
    json_t *about = json_loads(text, 0, NULL);
    if (!about) return;
    json_decref(c->p->about);
    c->p->about = about;
    c->next = c->p->n;
}

static void take_line(void *arg, const char *line)
{
    struct attempt *c = arg;
    const long number = strtol(line + strcspn(line, " "), NULL, 10);
    if (strncmp(line, "@pid ", 5) == 0 && c->pids_n < PROBE_PIDS) {
        c->pid[c->pids_n++] = (pid_t)number;
    } else if (strncmp(line, "@begin ", 7) == 0 && number >= 0 && number < c->p->n) {
        if (c->at >= 0) lose_end(c);
        c->at = (int)number;
        c->since_s = watch_now();
    } else if (strncmp(line, "@end ", 5) == 0) {
        take_end(c, line + 5);
        c->since_s = watch_now();
    } else if (strncmp(line, "@about ", 7) == 0) {
        read_about(c, line + 7);
    }
}

/* Listens until the child has ended or has to be. The library that is tried writes there as well,
 * whatever it likes. Returns whether it ended by itself. */
static bool listen_to_child(struct attempt *c)
{
    const struct probe_part *p = c->p;
    const int first = c->next;
    for (;;) {
        const bool ended = child_wait(&c->child, 0);
        child_lines(&c->child, take_line, c);
        if (ended) return true;
        if (child_floods(&c->child)) return false;
        const bool all = c->at < 0 && c->next == p->n;
        const bool starting = c->at < 0 && c->next == first;
        const double limit_s = all ? END_S : p->limit_s + (starting ? START_S : 0);
        const double took_s = watch_now() - c->since_s;
        if (took_s > (stop_requested() ? fmin(p->stays_s, limit_s) : limit_s)) return false;
    }
}

int probe_run_part(struct probe_part *p)
{
    int rc = 0;
    /* "@about" is asked for with a number before the first. */
    for (int first = p->n == 0 ? -1 : 0; rc == 0 && first < p->n;) {
        struct attempt c;
        rc = start_child(p, first, &c);
        if (rc < 0) {
            child_free(&c.child);
            break;
        }
        const bool ended = listen_to_child(&c);
        const bool flooded = !ended && child_floods(&c.child);
        const int at = c.at;
        if (!ended) end_child(&c, at >= 0 && p->checks ? p->checks[at].name : p->part);
        struct probe_finding *f = at >= 0 ? &p->finding[at] : NULL;
        if (f) {
            f->seconds = watch_now() - c.since_s;
            f->state = ended || flooded ? PROBE_CRASHES : PROBE_HANGS;
            if (ended)
                child_ending(&c.child, f->note, sizeof f->note);
            else if (flooded)
                snprintf(f->note, sizeof f->note,
                         "killed: it wrote more than %lld MiB to its output",
                         (long long)(CHILD_KEPT_MAX >> 20));
            else
                snprintf(f->note, sizeof f->note, "no end after %g s", p->limit_s);
            if (p->done) p->done(p->arg, 1);
        } else if (c.next == first || (first < 0 && c.next < p->n)) {
            char how[512];
            child_ending(&c.child, how, sizeof how);
            rc = ended     ? err_set(ERR_MPI, "%s", how)
                 : flooded ? err_set(ERR_MPI, "it wrote more than %lld MiB to its output",
                                     (long long)(CHILD_KEPT_MAX >> 20))
                           : err_set(ERR_MPI, "not started after %g s", p->limit_s + START_S);
        }
        first = f ? at + 1 : c.next;
        child_free(&c.child);
        if (stop_requested() && !(ended && p->stays_s > 0)) {
            if (f) {
                f->state = PROBE_UNTRIED;
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
