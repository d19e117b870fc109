/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/probe/probe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/mpilib.h"
#include "base/num.h"
#include "base/own.h"
#include "base/par.h"
#include "base/plain.h"
#include "base/program.h"
#include "base/progress.h"
#include "base/store.h"
#include "base/sys.h"
#include "base/units.h"
#include "base/version.h"
#include "base/watch.h"
#include "io/probe/process.h"
#include "io/probe/kept.h"
#include "io/writers/writer.h"

#define SCHEMA     "nht1-bt-probe/1"
#define ROOM_LEAST (INT64_C(8) << 20)
#define ROOM_MOST  (INT64_C(256) << 20)
/* With less memory components of MPI-IO fail or crash for want of it: of all processes that try, and of the address space of one. */
#define MEMORY_LEAST (INT64_C(256) << 20)
#define SPACE_LEAST  (UINT64_C(4) << 30)
#define GROUPS_MAX   8
#define ALIVE_S      5.0 /* at most, for a question to a file system of which something hung */
#define EXPECTED     34  /* checks: of files, and of two components */
/* A sentence for people, in the result as well. */
#define NOTE(p, ...) json_array_append_new((p)->notices, js_printf(__VA_ARGS__))

/* When somebody has pressed Ctrl-C; launchers kill after a second. A folder that is being made has to be
 * known, or it stays. */
#define SWEEP_ASKED_S  3.0
#define FOLDER_ASKED_S 0.5

/* The checks of one table, for one component of MPI-IO. */
struct group {
    char component[64]; /* "" for those of the file system */
    const struct probe_check *checks;
    int n;
    struct probe_finding *finding; /* [n] */
};

struct probe {
    const struct conf_program *conf; /* of the program that asks */
    const void *options;
    const struct probe_request *of;
    char started_utc[32];
    double began_s, seconds;
    bool silent;    /* the file system does not answer, or no longer */
    bool full;      /* it had less room than is needed, after some checks */
    json_t *folder; /* of the child that made it: "dir", "work", "file_system" */
    struct sys_fs fs;
    char name[64];   /* of the probe's folder; "" where nothing of it can be left */
    char work[4400]; /* its path, "" until it is made */
    json_t *about;   /* "library", "processes", "components" of MPI, or NULL */
    json_t *known;   /* with --known, what an earlier one has kept: nothing is tried; or NULL */
    struct group group[GROUPS_MAX];
    int groups_n;
    json_t *left, *notices;
    size_t printed_n; /* notices that were printed */
    json_t *left_out; /* writers that --io all leaves out for it: [{"writer", "why"}] */
    struct progress *progress;
    int done;
    char store[4096]; /* "" when nothing was kept */
};

static const char *const state_name[] = {
    [PROBE_UNTRIED] = "untried", [PROBE_WORKS] = "works",     [PROBE_FAILS] = "fails",
    [PROBE_HANGS] = "hangs",     [PROBE_CRASHES] = "crashes", [PROBE_ABSENT] = "absent"};

static void one_done(void *arg, int checks_n)
{
    struct probe *p = arg;
    p->done += checks_n;
    progress_update(p->progress, p->done < EXPECTED ? p->done : EXPECTED - 1);
}

static double limit_s(const struct probe *p)
{
    return (double)p->of->limit_s;
}

/* A part of one step: "folder", "alive", "stat", "sweep". what: the name of the folder that the first and
 * the last make and remove. [out] f. */
static int one_step(const struct probe *p, const char *part, const char *path, const char *what,
                    double most_s, struct probe_finding *f)
{
    struct probe_part step = {.part = part,
                              .path = path,
                              .fs_type = what,
                              .limit_s = most_s < limit_s(p) ? most_s : limit_s(p),
                              .stays_s = strcmp(part, "sweep") == 0    ? most_s
                                         : strcmp(part, "folder") == 0 ? FOLDER_ASKED_S
                                                                       : 0,
                              .n = 1,
                              .finding = f,
                              .left = p->left};
    *f = (struct probe_finding){0};
    return probe_run_part(&step);
}

/* How one step ends whose own errors mean nothing: an error of before stays the one that is told. */
static enum probe_state ask_step(const struct probe *p, const char *part, const char *path,
                                 const char *what, double most_s)
{
    struct probe_finding f;
    char said[ERR_MESSAGE_MAX];
    snprintf(said, sizeof said, "%s", err_message());
    err_clear();
    one_step(p, part, path, what, most_s, &f);
    json_decref(f.values);
    err_clear();
    if (said[0]) err_set(ERR_IO, "%s", said);
    return f.state;
}

/* Whether the folder of a file answers, asked in a process of its own. */
static bool answers(const struct probe *p, const char *path)
{
    return !path || ask_step(p, "stat", path, "", 1e9) != PROBE_HANGS;
}

/* Whether a file can still be made in the probe's folder. */
static const char *no_longer_alive(void *arg)
{
    struct probe *p = arg;
    if (ask_step(p, "alive", p->work, "", ALIVE_S) != PROBE_HANGS) return NULL;
    p->silent = true;
    return "the file system no longer answers: what was not tried by then is left out";
}

/* The folder, and what its file system is. */
static int make_folder(struct probe *p)
{
    char size[UNITS_TEXT_MAX], least[UNITS_TEXT_MAX];
    const char *out = p->of->out;
    struct probe_finding f;
    snprintf(p->name, sizeof p->name, ".nht1-probe-%016" PRIx64, own_job());
    sys_path_mount(out, &p->fs);
    TRY(one_step(p, "folder", out, p->name, 1e9, &f));
    /* A child that fails removes what it made; one that crashes does not. */
    if (f.state == PROBE_FAILS || f.state == PROBE_HANGS) p->name[0] = '\0';
    p->folder = f.values;
    const json_t *fs = json_object_get(p->folder, "file_system");
    const char *dir = json_string_value(json_object_get(p->folder, "dir"));
    const char *work = json_string_value(json_object_get(p->folder, "work"));
    if (f.state == PROBE_HANGS) {
        p->silent = true;
        return err_set(ERR_IO,
                       "%s: its file system (%s, %s mounted at %s) does not answer: no folder was "
                       "made there in %g s; see --probe-limit",
                       out, p->fs.type, p->fs.source, p->fs.mount, limit_s(p));
    }
    if (fs) {
        const char *text;
        if (js_get_text(fs, "", "type", &text) == 0)
            plain_copy(p->fs.type, sizeof p->fs.type, text);
        if (js_get_text(fs, "", "source", &text) == 0)
            plain_copy(p->fs.source, sizeof p->fs.source, text);
        if (js_get_text(fs, "", "mount", &text) == 0)
            plain_copy(p->fs.mount, sizeof p->fs.mount, text);
        const json_t *room = json_object_get(fs, "free_bytes");
        p->fs.free_bytes = json_is_integer(room) ? json_integer_value(room) : -1;
        p->fs.network = json_is_true(json_object_get(fs, "network"));
    }
    if (f.state != PROBE_WORKS) return err_set(ERR_IO, "%s", f.note);
    snprintf(p->work, sizeof p->work, "%s", work);
    if (p->fs.free_bytes < 0 || p->fs.free_bytes >= ROOM_LEAST) return 0;
    return err_set(ERR_IO, "%s has %s free, and to try what works there takes %s", dir,
                   units_bytes((double)p->fs.free_bytes, size),
                   units_bytes((double)ROOM_LEAST, least));
}

/* Runs one group's checks. */
static int run_group(struct probe *p, const char *part, const struct probe_check *checks,
                     const char *component, bool launched)
{
    if (p->groups_n == GROUPS_MAX) return 0;
    struct group *g = &p->group[p->groups_n++];
    snprintf(g->component, sizeof g->component, "%s", component);
    g->checks = checks;
    while (checks[g->n].name)
        g->n++;
    g->finding = mem_new(g->n, sizeof *g->finding, "findings");
    if (!g->finding) return ERR_NOMEM;
    struct probe_part run = {
        .part = part,
        .component = component[0] ? component : NULL,
        .path = p->work,
        .fs_type = p->fs.type,
        .room_bytes = p->fs.free_bytes < 0 ? ROOM_MOST : num_min(p->fs.free_bytes / 2, ROOM_MOST),
        .limit_s = limit_s(p),
        .launched = launched,
        .n = g->n,
        .checks = checks,
        .finding = g->finding,
        .left = p->left,
        .done = one_done,
        .arg = p,
        .alive = no_longer_alive};
    const int rc = probe_run_part(&run);
    if (rc == 0 && !p->silent && answers(p, p->work)) {
        const int64_t left = sys_free_bytes(p->work);
        p->full = p->full || (left >= 0 && left < ROOM_LEAST);
    }
    return rc;
}

/* What MPI is in a child: two processes started by its launcher, or where that cannot be, one. */
static int ask_mpi(struct probe *p, bool *launched)
{
    struct probe_part ask = {.part = "mpi-io",
                             .path = p->work,
                             .fs_type = "",
                             .limit_s = limit_s(p),
                             .launched = probe_launcher()[0] != '\0',
                             .left = p->left};
    int rc = probe_run_part(&ask);
    if (rc < 0 && rc != ERR_INTERRUPT && ask.launched) {
        NOTE(p,
             "Two processes could not be started here by %s (%s): MPI-IO was tried with one, "
             "which says nothing about what ranks do together.",
             probe_launcher(), err_message());
        err_clear();
        ask.launched = false;
        rc = probe_run_part(&ask);
    }
    if (rc < 0 && rc != ERR_INTERRUPT) {
        NOTE(p,
             "MPI could not be started in a process of its own (%s): MPI-IO was "
             "not tried.",
             err_message());
        err_clear();
        rc = 0;
    }
    *launched = ask.launched;
    p->about = ask.about;
    if (p->about) js_set(p->about, "chosen", js_text(mpilib_component()));
    return rc;
}

/* A component that could not be started is one notice; the others are tried all the same. */
static int try_mpiio(struct probe *p)
{
    bool launched;
    size_t i;
    const json_t *name;
    TRY(ask_mpi(p, &launched));
    const json_t *components = json_object_get(p->about, "components");
    json_array_foreach(components, i, name)
    {
        const int rc = run_group(p, "mpi-io", probe_mpiio, json_string_value(name), launched);
        if (rc == ERR_INTERRUPT || p->silent) return rc;
        if (rc < 0)
            NOTE(p, "MPI-IO %s was not tried to the end: %s.", json_string_value(name),
                 err_message());
        err_clear();
    }
    if (p->about && json_array_size(components) == 0)
        NOTE(p, "This MPI library has no component for MPI-IO, or OMPI_MCA_io leaves "
                "none: what uses MPI-IO cannot work.");
    return 0;
}

/* The folder goes, whatever happened; a file system that does not answer is not asked. */
static void sweep_folder(struct probe *p, bool asked_to_stop)
{
    if (!p->name[0]) return;
    if (p->silent || ask_step(p, "sweep", p->of->out, p->name,
                              asked_to_stop ? SWEEP_ASKED_S : 1e9) != PROBE_WORKS)
        json_array_append_new(p->left,
                              js_printf("the folder %s: remove it once its file system answers",
                                        p->work[0] ? p->work : p->name));
}

static int try_files(struct probe *p)
{
    TRY(run_group(p, "files", probe_files, "", false));
    const struct probe_finding *first = &p->group[0].finding[0];
    if (first->state == PROBE_WORKS) return 0;
    return err_set(ERR_IO, "a file cannot be written and read in %s: %s", p->work, first->note);
}

static int try_all(struct probe *p)
{
    int rc = make_folder(p);
    if (rc == 0 && p->of->known)
        p->known = probe_store_get(p->of->tc_store, p->of->out, p->notices);
    if (rc == 0 && !p->known) rc = try_files(p);
    if (rc == 0 && !p->known) rc = try_mpiio(p);
    if (rc == ERR_INTERRUPT)
        NOTE(p, "Interrupted: what is untried or not listed was not reached, and nothing is "
                "kept.");
    return rc;
}

/* ------------------------------------------------------------------ reporting */

static void print_group(const struct group *g, FILE *to)
{
    char first[64];
    plain_line(to, "%s%s", g->component[0] ? "MPI-IO " : "File system", g->component);
    for (int i = 0; i < g->n; i++) {
        const struct probe_finding *f = &g->finding[i];
        const int indent =
            snprintf(first, sizeof first, "  %-24s %-8s ", g->checks[i].name, state_name[f->state]);
        plain_wrap(to, 100, first, indent, f->note);
    }
}

/* Those that have come since the last time. */
static void print_notices(struct probe *p, FILE *to)
{
    for (const json_t *one; (one = json_array_get(p->notices, p->printed_n)) != NULL;
         p->printed_n++)
        plain_entry(to, "Note", "%s", json_string_value(one));
    fflush(to);
}

static void print_findings(struct probe *p, FILE *to)
{
    char text[UNITS_TEXT_MAX];
    const char *dir = json_string_value(json_object_get(p->folder, "dir"));
    const bool folder = dir && strcmp(dir, p->of->out) == 0;
    plain_line(to, "%s %s: what works %s %s%s", p->conf->name, nht1_build, folder ? "in" : "where",
               p->of->out, folder ? "" : " would be written");
    const int64_t bytes = p->fs.free_bytes;
    plain_entry(to, "Folder", "%s: %s, %s mounted at %s%s%s", dir ? dir : p->of->out, p->fs.type,
                p->fs.source, p->fs.mount, bytes > 0 ? ", free: " : "",
                bytes > 0 ? units_bytes((double)bytes, text) : "");
    if (p->about) {
        const int64_t n = json_integer_value(json_object_get(p->about, "processes"));
        plain_entry(to, "MPI", "%s, tried with %lld process%s; MPI-IO component in force: %s",
                    json_string_value(json_object_get(p->about, "library")), (long long)n,
                    n == 1 ? "" : "es", mpilib_component());
    }
    if (p->known)
        plain_entry(to, "Known", "since %.16s; without --known it is tried again",
                    store_text(p->known, "utc"));
    for (int g = 0; g < p->groups_n; g++) {
        fputc('\n', to);
        print_group(&p->group[g], to);
    }
    fputc('\n', to);
    print_notices(p, to);
}

static void print_outcome(struct probe *p, FILE *to)
{
    char text[UNITS_TEXT_MAX];
    size_t i;
    const json_t *one;
    print_notices(p, to);
    json_array_foreach(p->left, i, one) plain_entry(to, "Left", "%s", json_string_value(one));
    json_array_foreach(p->left_out, i, one)
    {
        plain_entry(to, "Left out", "of --io all from now on: %s, since %s",
                    store_text(one, "writer"), store_text(one, "why"));
    }
    if (p->store[0]) plain_entry(to, "Kept", "in %s", p->store);
    plain_entry(to, "Took", "%s", units_duration(p->seconds, text));
}

static json_t *findings_json(const struct probe *p)
{
    json_t *list = json_array();
    for (int g = 0; g < p->groups_n; g++)
        for (int i = 0; i < p->group[g].n; i++) {
            const struct group *group = &p->group[g];
            const struct probe_finding *f = &group->finding[i];
            json_t *values = f->values ? json_incref(f->values) : json_object();
            json_array_append_new(
                list, json_pack("{so ss ss so so so so}", "component",
                                group->component[0] ? json_string(group->component) : json_null(),
                                "tried", group->checks[i].name, "state", state_name[f->state],
                                "note", js_text(f->note), "errno",
                                f->errnum ? json_integer(f->errnum) : json_null(), "seconds",
                                js_real(f->seconds), "values", values));
        }
    return list;
}

static json_t *probe_json(const void *job, int status)
{
    const struct probe *p = job;
    json_t *o = program_result(p->conf, p->options, SCHEMA, status, p->started_utc);
    json_t *fs = json_object_get(p->folder, "file_system");
    js_set(o, "folder", js_text(json_string_value(json_object_get(p->folder, "dir"))));
    js_set(o, "file_system",
           fs ? json_incref(fs)
              : json_pack("{ss ss ss}", "type", p->fs.type, "source", p->fs.source, "mount",
                          p->fs.mount));
    js_set(o, "answers", json_boolean(!p->silent));
    js_set(o, "mpi", p->about ? json_incref(p->about) : json_null());
    js_set(o, "findings", findings_json(p));
    js_set(o, "notices", json_incref(p->notices));
    js_set(o, "left_behind", json_incref(p->left));
    js_set(o, "left_out", json_incref(p->left_out));
    js_set(o, "store", p->store[0] ? js_text(p->store) : json_null());
    js_set(o, "seconds", js_real(p->seconds));
    return o;
}

/* ------------------------------------------------------------------ all ranks */

static int check_outputs(const struct probe *p, const struct program_output *result)
{
    char store[4096];
    if (p->of->known && p->of->json)
        return err_set(ERR_USAGE,
                       "--known and --json exclude each other: where something is known, "
                       "nothing is tried");
    if (answers(p, result->path)) {
        TRY(conf_name_file("--tc-store", p->of->tc_store));
        TRY(program_outputs_check(result, 1));
        if (result->path && probe_store(p->of->tc_store, store, sizeof store) == 0 &&
            answers(p, store))
            return conf_files_differ("--json", result->path, "the store of findings", store);
        err_clear();
        return 0;
    }
    return err_set(ERR_IO, "--json %s: its file system does not answer", result->path);
}

/* Why nothing can be said about what works there, NULL: it can. MPI-IO tells no errno. */
static const char *was_short(const struct probe *p)
{
    bool full = p->full;
    struct sys_memory memory;
    struct rlimit space;
    sys_memory(&memory);
    const bool limited = getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur < SPACE_LEAST;
    for (int i = 0; i < p->group[0].n; i++) {
        const int errnum = p->group[0].finding[i].errnum;
        full = full || errnum == ENOSPC || errnum == EDQUOT;
    }
    return full                               ? "there was no room"
           : sys_file_limit() < ROOM_MOST     ? "the size of files is limited (ulimit -f)"
           : limited                          ? "the memory of a process is limited (ulimit -v)"
           : memory.free_bytes < MEMORY_LEAST ? "there is little memory"
                                              : NULL;
}

/* What --io all leaves out. */
static void leave_out(struct probe *p, const json_t *entry)
{
    char why[1024];
    const struct io_writer *w;
    for (int i = 0; (w = io_writer_at(i)) != NULL; i++)
        if ((w->caps & IO_CAP_SERIAL_FILE) && probe_denies(entry, w->name, why, sizeof why))
            json_array_append_new(p->left_out,
                                  json_pack("{ss so}", "writer", w->name, "why", js_text(why)));
}

/* Keeps what was found, and says what --io all will leave out for it. */
static void keep_findings(struct probe *p)
{
    json_t *findings = findings_json(p);
    json_t *entry = probe_entry(&p->fs, json_object_get(p->about, "components"), findings);
    const char *why = was_short(p);
    int rc =
        why ? err_set(ERR_IO, "%s", why) : probe_store(p->of->tc_store, p->store, sizeof p->store);
    if (rc == 0 && !answers(p, p->store))
        rc = err_set(ERR_IO, "the file system of %s does not answer", p->store);
    if (rc == 0) rc = probe_store_put(p->store, &p->fs, entry);
    if (rc < 0) {
        NOTE(p, "What was found is not kept: %s.", err_message());
        p->store[0] = '\0';
        err_clear();
    }
    if (rc >= 0) leave_out(p, entry);
    json_decref(findings);
    json_decref(entry);
}

/* The other ranks wait for rank 0, and sleep meanwhile. */
static int wait_for_all(MPI_Comm comm)
{
    MPI_Request request;
    int there = 0;
    TRY_MPI(MPI_Ibarrier(comm, &request));
    for (;;) {
        TRY_MPI(MPI_Test(&request, &there, MPI_STATUS_IGNORE));
        if (there) return 0;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
}

int probe_run(MPI_Comm comm, const struct conf_program *conf, const void *options,
              const struct probe_request *of)
{
    struct probe p = {.conf = conf,
                      .options = options,
                      .of = of,
                      .began_s = watch_now(),
                      .left = json_array(),
                      .notices = json_array(),
                      .left_out = json_array()};
    const struct program_output result = {"--json", of->json, "nht1-bt-probe/", .json = probe_json};
    int rank, rc;
    bool writable = true;
    watch_utc(p.started_utc);
    TRY_MPI_TO(out, rc, MPI_Comm_rank(comm, &rank));
    TRY_TO(out, rc, par_agree(comm, rank == 0 ? check_outputs(&p, &result) : 0));
    if (rank == 0) {
        const bool speaks = !of->quiet;
        p.progress =
            progress_begin(progress_mode_of(of->progress), "trying what works", "call", EXPECTED);
        rc = try_all(&p);
        progress_end(p.progress);
        /* Before anything that takes time: launchers kill a second after they have passed on Ctrl-C. */
        if (speaks) print_findings(&p, stdout);
        sweep_folder(&p, rc == ERR_INTERRUPT);
        p.seconds = watch_now() - p.began_s;
        if (rc == 0 && p.known) leave_out(&p, p.known);
        if (rc == 0 && !p.known) keep_findings(&p);
        if (speaks) print_outcome(&p, stdout);
        writable = !p.silent || answers(&p, of->json);
    }
    const int waited = wait_for_all(comm);
    rc = par_agree(comm, rc < 0 ? rc : waited);
    rc = program_outputs_write(&result, writable, &p, rc);
out:
    for (int g = 0; g < p.groups_n; g++) {
        for (int i = 0; i < p.group[g].n; i++)
            json_decref(p.group[g].finding[i].values);
        free(p.group[g].finding);
    }
    json_decref(p.folder);
    json_decref(p.about);
    json_decref(p.known);
    json_decref(p.left);
    json_decref(p.notices);
    json_decref(p.left_out);
    return rc;
}
