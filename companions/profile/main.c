/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nht1-profile: runs a program with a library in front of MPI-IO and POSIX calls that counts these, and
 * makes a workload of it that nht1-workload replays. With --t-c it runs the program a second time
 * with its writes dropped: T_C, zeta and R_IO of any program. The exit status is the program's. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beside.h"
#include "base/child.h"
#include "base/conf.h"
#include "base/disturbance.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/mpilib.h"
#include "base/num.h"
#include "base/suggestion.h"
#include "base/own.h"
#include "base/plain.h"
#include "base/start.h"
#include "base/stamp.h"
#include "base/text.h"
#include "base/units.h"
#include "base/version.h"
#include "base/watch.h"
#include "companions/profile/accesses.h"
#include "companions/profile/before.h"
#include "companions/profile/behind.h"
#include "companions/profile/certificate.h"
#include "companions/profile/opened.h"
#include "companions/profile/output.h"
#include "companions/profile/judge.h"
#include "companions/profile/merge.h"
#include "companions/profile/target.h"
#include "companions/workload/random.h"

#define WORDS_MAX    16384
#define REPEAT_MAX   1000
#define AUTO_MINUTES 10
#define VERSION_S    30.0 /* for a launcher to tell its version */
#define BEHIND_S     5.0  /* that processes which a command has left behind may take to end */

struct options {
    const char *out, *json, *accesses, *split, *files;
    struct conf_list t_c_add;
    const char *between;
    bool t_c, force, keep, quiet;
    const char *repeat;
    double minutes; /* 0: not given */
};

#define AT(member) CONF_AT(struct options, member)
static const struct conf_option options[] = {
    {.name = "out",
     .arg = "FILE.xml",
     .def = "profile.xml",
     .key = 'o',
     .help =
         "The workload: working points that nht1-workload replays. Counters lie beside it while "
         "the program runs, on a file system that all its nodes share.",
     AT(out),
     .output = true,
     .group = "Profile"},
    {.name = "json",
     .arg = "FILE",
     .help = "Write everything that was gathered to FILE, for nht1-report.",
     AT(json),
     .output = true},
    {.name = "accesses",
     .arg = "FILE.jsonl",
     .help = "Also record each access with its place, size and order, as runs of offsets, at most "
             "65536 of a process, and write them to FILE.jsonl (docs/profile.md).",
     AT(accesses),
     .output = true},
    {.name = "split",
     .arg = "WHERE",
     .def = "direction",
     .help =
         "Where a working point ends: 'run' (one for each file), 'open' (at each opening), "
         "'direction' (there, and where reading turns to writing or back), or a number of calls "
         "of a rank; 1 gives a point for each call.",
     AT(split),
     .words = "run|open|direction"},
    {.name = "files",
     .arg = "DIR",
     .help =
         "Of POSIX calls, stdio and Fortran count those on files below this folder, also on files "
         "that are only read. Without it: those on all files that the program opens for writing. "
         "With --t-c there is no zeta where it writes others.",
     AT(files)},
    {.name = "force", .help = "Overwrite FILE.xml even if it is not a workload.", AT(force)},
    {.name = "keep", .help = "Keep the folder of counters, FILE.xml.run-PID.", AT(keep)},
    {.name = "quiet", .help = "Print no summary.", AT(quiet)},
    {.name = "t-c",
     .help =
         "Also run the program with its writes dropped, which measures T_C; zeta = T_T / T_C - 1 "
         "is what writing costs it. Both times are from MPI_Init to MPI_Finalize, without MPI "
         "those of "
         "the command. The run with "
         "writes is the first one: its files stay as they are, and the other one reads them. What "
         "the program prints without its writes is not shown.",
     AT(t_c),
     .group = "What writing costs"},
    {.name = "t-c-add",
     .arg = "WORD",
     .help = "Append a word to the command in the runs without writes, such as the option that "
             "turns off a check of what was written; may be repeated.",
     AT(t_c_add)},
    {.name = "repeat",
     .arg = "R",
     .def = "1",
     .words = "auto",
     .help =
         "Pairs of runs; from 6 on zeta has an interval. From 2 on a run before them, which is not "
         "counted, warms up. Each run with writes begins without the files that the program has "
         "created; those of the run before are set aside until it has succeeded. auto: pairs go on "
         "until it is decided (8 to 64), or --minutes are over.",
     AT(repeat)},
    {.name = "minutes",
     .arg = "M",
     CONF_RANGE(0.01, 1e5),
     .help = "Time for all runs of --repeat auto, default 10. What has begun comes to its end.",
     AT(minutes)},
    {.name = "between",
     .arg = "COMMAND",
     .help =
         "With --repeat: a shell command that makes the state before the first run again, "
         "instead of setting aside what the program has created. Needed where it writes into files "
         "that were there before.",
     AT(between)},
    {0}};

static const struct conf_program program = {
    .name = "nht1-profile",
    .version = nht1_build,
    .summary =
        "Records what a program writes and reads, by MPI-IO, POSIX calls, stdio or Fortran, as "
        "a workload that can be replayed, and measures what its writing costs.",
    .args = "-- COMMAND...",
    .max_args = WORDS_MAX,
    .examples = "  nht1-profile -- mpirun -np 4 ./solver input.dat\n"
                "  nht1-profile -o solver.xml --json solver.json -- srun ./solver\n"
                "  nht1-profile --t-c --repeat auto -- mpirun -np 4 python3 checkpoint.py\n"
                "  nht1-profile --t-c --repeat auto -- ./serial-program\n"
                "  mpirun -np 4 nht1-workload solver.xml\n"
                "Exit status: that of the program, even where it has nothing to profile: then\n"
                "standard error says why. 1 wrong usage, 3 the program could not be started, or\n"
                "it ended with 0 and its profile could not be written. With --t-c also 4 no\n"
                "profile or no zeta, and 3 interrupted after complete pairs of runs, which are\n"
                "reported.\n",
    .options = options};

static volatile sig_atomic_t running; /* process id of the program, 0: none */
static volatile sig_atomic_t early;   /* the signal that came while there was none, 0: none */
static volatile sig_atomic_t stopped; /* a signal has asked to stop */

/* A run without writes is ended after so long, and so many times as long as one with them: it waits for something
 * that does not come. */
#define LEAST_S 60.0
#define TIMES   10
#define ASKED_S 5.0 /* to end, for what is asked or killed */

static double longest_s; /* run with writes, its command from start to end */
static bool too_long;    /* the last run without writes was ended, as it did not end by itself */

/* What was done about these signals when nht1-profile was started: the program's to inherit. */
static struct child_signal inherited[] = {{.number = SIGINT},
                                          {.number = SIGTERM},
                                          {.number = SIGHUP},
                                          {.number = SIGXFSZ},
                                          {.number = SIGCHLD}};
#define INHERITED_N ((int)(sizeof inherited / sizeof inherited[0]))

/* What all runs of a session have in common. */
struct session {
    const struct options *o;
    const struct conf_list *args; /* the command */
    struct own *own;              /* what is removed at the end */
    char dir[PATH_MAX];           /* counters of the last run with writes */
    char library[PATH_MAX];       /* that is loaded into the program */
    bool by_x;                    /* the command is Open MPI's launcher, to be told by -x */
    int pairs_n;                  /* at most */
    char *why; /* [ERR_MESSAGE_MAX, out] there is no zeta, to be told at the end */
};

/* The program decides what an interrupt means; what was counted is reported all the same. */
static void pass_on(int signum)
{
    stopped = 1;
    if (running == 0)
        early = signum;
    else if (signum != SIGINT) /* the terminal sends that to both */
        kill((pid_t)running, signum);
}

/* Waits for a program, or for what stands between two of its runs, which gets the signals meanwhile. Returns whether it
 * has ended within most_s seconds. */
static bool wait_for(struct child *c, double most_s)
{
    running = (sig_atomic_t)c->pid;
    if (early != 0) kill(c->pid, early);
    early = 0;
    const bool ended = behind_reap(c->pid, most_s);
    if (ended) child_wait(c, INFINITY);
    running = 0;
    return ended;
}

static int library_find(char out[PATH_MAX])
{
    TRY(beside_library(out, "libnht1-profile.so"));
    if (out[strcspn(out, " :")] != '\0') /* where LD_PRELOAD ends a name */
        return err_set(ERR_USAGE,
                       "%s: the library that is loaded into the program cannot be named by "
                       "LD_PRELOAD, as its path has a blank or a colon: install nht1 in another "
                       "folder",
                       out);
    if (access(out, R_OK) == 0) return 0;
    return err_set_errno(ERR_IO, errno, "%s: the library that is loaded into the program", out);
}

/* Whether the command is Open MPI's launcher, which passes to ranks on other nodes only what -x
 * names; others pass on their environment. */
static bool is_open_mpi(const char *command)
{
    static const char *const name[] = {"mpirun", "mpiexec", "orterun", "prterun"};
    const char *slash = strrchr(command, '/'), *base = slash ? slash + 1 : command;
    const char *const argv[] = {command, "--version", NULL};
    const struct child_start how = {.argv = argv, .out = CHILD_KEPT};
    struct child c;
    char line[256];
    bool known = false;
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
        known |= strcmp(base, name[i]) == 0;
    if (!known) return false;
    if (child_run(&c, &how, VERSION_S) < 0) err_clear();
    child_text(&c, line, sizeof line);
    child_free(&c);
    line[strcspn(line, "\n")] = '\0';
    return mpilib_kind_of(line) == MPILIB_OPEN_MPI;
}

/* Whether the settings are passed on by -x: it cannot stand beside the other way of naming variables, nor in a file
 * of contexts. Then the launcher itself has them, as other launchers do; ranks on its node have them from it. */
static bool is_passed_by_x(const struct conf_list *args)
{
    static const char *const other[] = {"mca_base_env_list", "--app", "-app"};
    if (getenv("OMPI_MCA_mca_base_env_list")) return false;
    for (int a = 1; a < args->n; a++)
        for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
            if (strcmp(args->item[a], other[i]) == 0) return false;
    return is_open_mpi(args->item[0]);
}

/* Whether -x names LD_PRELOAD, whose value is to be joined; [out] value: NULL, that of the environment. */
static bool passes_preload(const struct conf_list *args, int a, const char **value)
{
    static const char name[] = "LD_PRELOAD";
    const char *word = args->item[a];
    if (strcmp(args->item[a - 1], "-x") != 0 || strncmp(word, name, sizeof name - 1) != 0)
        return false;
    *value = word[sizeof name - 1] == '=' ? word + sizeof name : NULL;
    return *value || word[sizeof name - 1] == '\0';
}

/* The words of the command: a launcher of Open MPI is told to pass the settings on, in each context of a job of
 * several programs, and what --t-c-add names ends the run without writing. passed: settings, preload the one that
 * loads the library. joined: [out] memory that words lie in. Both to be freed; NULL: no memory. */
static const char **command_words(const struct session *s, bool drop, char *const *passed,
                                  int passed_n, const char *preload, char **joined)
{
    const struct options *o = s->o;
    const struct conf_list *args = s->args;
    const char *value;
    int contexts = 1, w = 0;
    size_t bytes = 1, at = 0;
    for (int a = 1; a < args->n; a++) {
        contexts += strcmp(args->item[a], ":") == 0;
        bytes += strlen(args->item[a]) + strlen(s->library) + sizeof "LD_PRELOAD=:";
    }
    const char **word = mem_new(args->n + o->t_c_add.n + 2 * contexts * passed_n + 1,
                                sizeof(const char *), "the command line");
    *joined = mem_new((int64_t)bytes, 1, "the command line");
    if (!word || !*joined) {
        free(word);
        return NULL;
    }
    for (int a = 0; a < args->n; a++) {
        word[w++] = args->item[a];
        if (a > 0 && passed_n > 0 && passes_preload(args, a, &value)) {
            word[w - 1] = value ? *joined + at : preload;
            if (value)
                at += (size_t)snprintf(*joined + at, bytes - at, "LD_PRELOAD=%s:%s", s->library,
                                       value) +
                      1;
        }
        for (int p = 0; p < passed_n && (a == 0 || strcmp(args->item[a], ":") == 0); p++) {
            word[w++] = "-x";
            word[w++] = passed[p];
        }
    }
    for (int a = 0; drop && a < o->t_c_add.n; a++)
        word[w++] = o->t_c_add.item[a];
    return word;
}

/* What the preloaded library is told by its environment, where to count, what to follow and whether to drop, and
 * what is not to disturb it. */
enum { PRELOAD = 5, SETTINGS = 10 };
static int settings(const struct session *s, const char *dir, bool drop,
                    char setting[SETTINGS][4 * PATH_MAX])
{
    const size_t room = sizeof setting[0];
    const char *more = getenv("LD_PRELOAD");
    char files[PATH_MAX] = "";
    if (s->o->files && !realpath(s->o->files, files))
        return err_set_errno(ERR_USAGE, errno, "--files: %s", s->o->files);
    snprintf(setting[0], room, PROFILE_ENV_DIR "=%s", dir);
    snprintf(setting[1], room, PROFILE_ENV_SPLIT "=%s", s->o->split);
    snprintf(setting[2], room, PROFILE_ENV_DROP "=%d", drop);
    snprintf(setting[3], room, PROFILE_ENV_READS "=%d", s->o->t_c);
    snprintf(setting[4], room, PROFILE_ENV_FILES "=%s", files);
    snprintf(setting[6], room, PROFILE_ENV_RUNS "=%d", s->o->accesses && !drop);
    /* UCX, which MPI libraries load, else writes over the first instruction of the mmap() that it finds, the
     * library's, which then sees no file that is mapped; its other way calls that one for ever. */
    snprintf(setting[7], room, "UCX_MEM_MMAP_HOOK_MODE=none");
    /* In every process that it is loaded into, launchers too, it would stop at SIGHUP for a debugger. */
    snprintf(setting[9], room, "UCX_DEBUG_SIGNO=0");
    struct stat output = {0};
    (void)fstat(STDOUT_FILENO, &output);
    snprintf(setting[8], room, PROFILE_ENV_OUTPUT "=%" PRIu64, (uint64_t)output.st_dev);
    if (snprintf(setting[PRELOAD], room, "LD_PRELOAD=%s%s%s", s->library, more ? ":" : "",
                 more ? more : "") >= (int)room)
        return err_set(ERR_USAGE, "LD_PRELOAD is longer than %zu bytes", room);
    return 0;
}

/* The name of the program that a process runs; "" where it is not known. */
static void name_of(int pid, char name[32])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    FILE *f = fopen(path, "re");
    if (!f || !fgets(name, 32, f)) name[0] = '\0';
    name[strcspn(name, "\n")] = '\0';
    if (f) fclose(f);
}

/* What the command has left behind may have something to end with, such as Python's trackers of resources, or be a part
 * of the work: then the run ends with it. What still runs after that is noted among what cannot be followed. [in,out]
 * ended_s: when the command had ended; when that had. */
static int note_behind(const char *dir, double *ended_s)
{
    char name[32], path[PATH_MAX];
    int pid;
    const enum behind left = behind_wait(stopped ? 0 : BEHIND_S, &pid);
    if (left == BEHIND_ENDED) *ended_s = watch_now();
    if (left != BEHIND_RUNS) return 0;
    name_of(pid, name);
    snprintf(path, sizeof path, "%.4000s/unseen-%s-%d", dir,
             profile_unseen_word(PROFILE_UNSEEN_BEHIND), pid);
    FILE *f = fopen(path, "we");
    const bool told = f && fprintf(f, "%s\n%d\n", name[0] ? name : "?", pid) > 0;
    if ((f && fclose(f) != 0) || !told) return err_set_errno(ERR_IO, errno, "%s", path);
    return 0;
}

/* Waits for the end of a run, without writes for so long. [out] took_s: from began_s on. */
static int wait_for_run(struct child *c, const char *dir, bool drop, double began_s, double *took_s)
{
    too_long = !wait_for(c, drop ? LEAST_S + TIMES * longest_s : INFINITY);
    if (too_long) child_stop(c, ASKED_S, ASKED_S);
    if (too_long) behind_end();
    double ended_s = watch_now();
    const int rc = note_behind(dir, &ended_s);
    *took_s = ended_s - began_s;
    if (!drop && *took_s > longest_s) longest_s = *took_s;
    return rc;
}

static struct output printed; /* by the latest run */

/* Runs the command with the library in it, counters in a fresh folder. drop: its writes are dropped;
 * it takes what the run with writes has noted. [out] took_s: from its start to its end; status: as a
 * shell has it. */
static int execute(const struct session *s, const char *folder, bool drop, double *took_s,
                   int *status)
{
    static char
        mark[PATH_MAX + 64]; /* also of the runs without writes: their folder's name is longer */
    char setting[SETTINGS][4 * PATH_MAX], dir[PATH_MAX], parent[PATH_MAX];
    char *with[SETTINGS + 1] = {NULL}, *const as_it_is[] = {NULL};
    const char *name = own_split(folder, parent);
    TRY(own_remove(s->own, name)); /* that of the round before */
    TRY(own_make_folder(s->own, name));
    if (!realpath(folder, dir)) return err_set_errno(ERR_IO, errno, "--out: %s", folder);
    if (drop) TRY(before_copy(s->dir, dir));
    if (!drop) snprintf(mark, sizeof mark, PROFILE_ENV_DIR "=%s", dir);
    TRY(settings(s, dir, drop, setting));
    for (int i = 0; i < SETTINGS; i++)
        with[i] = setting[i];
    char *joined;
    const char **word =
        command_words(s, drop, with, s->by_x ? SETTINGS : 0, setting[PRELOAD], &joined);
    if (!word) {
        free(joined);
        return ERR_NOMEM;
    }

    char **env = child_environment(NULL, s->by_x ? as_it_is : with);
    struct child c = {.out = -1, .err = -1};
    int rc = env ? 0 : mem_error("an environment");
    const int begun = output_begin(&printed, drop, dir);
    if (rc == 0) rc = begun;
    if (rc == 0) {
        const struct child_start how = {.argv = word,
                                        .env = env,
                                        .out = printed.out,
                                        .err = printed.err,
                                        .fd = printed.fd,
                                        .in_place = true,
                                        .signal = inherited,
                                        .signals_n = INHERITED_N};
        fflush(NULL);
        behind_begin(mark, dir);
        const double began_s = watch_now();
        rc = child_start(&c, &how);
        if (rc == 0) {
            rc = wait_for_run(&c, dir, drop, began_s, took_s);
            *status = child_status(&c);
        } else if (c.errnum != 0) { /* as a shell has it */
            if (!drop) plain_line(stderr, "nht1-profile: %s: %s", word[0], strerror(c.errnum));
            *status = c.errnum == ENOENT ? 127 : 126;
            err_clear();
            rc = 0;
        }
    }
    child_free(&c);
    output_end(&printed);
    free(env);
    free(word);
    free(joined);
    return rc;
}

static int save_workload(const struct options *o, const struct profile_run *run)
{
    struct workload w;
    struct text text;
    char why[ERR_MESSAGE_MAX];
    int left_out;
    int rc = profile_workload(run, &w, &left_out, why);
    if (rc == 0 && left_out > 0)
        plain_line(
            stderr,
            "nht1-profile: --out: %d working point%s left out, which nht1-workload could not "
            "replay%s: %s",
            left_out, left_out > 1 ? "s are" : " is",
            strcmp(o->split, "run") == 0 ? "" : "; --split run may keep their calls", why);
    if (rc == 0) rc = text_begin(&text);
    if (rc == 0) {
        workload_write(&w, text.to);
        rc = text_save(&text, o->out);
    }
    if (rc == 0 && w.file_name[WORKLOAD_FILES_MAX - 1])
        plain_line(stderr,
                   "nht1-profile: --out: %s names %d files at most, the last one stands for any "
                   "further ones",
                   o->out, WORKLOAD_FILES_MAX);
    if (rc < 0) err_prefix("--out: ");
    workload_free(&w);
    return rc;
}

/* Writes the accesses and says what is not among them. */
static int save_accesses(const struct options *o, const struct profile_run *run)
{
    struct workload_accessfile head;
    char lost[UNITS_TEXT_MAX], unplaced[UNITS_TEXT_MAX];
    const int rc = profile_accesses_save(run, o->accesses, &head);
    if (rc < 0) err_prefix("--accesses: ");
    if (rc == 0 && head.lost_n + head.unplaced_n > 0)
        plain_line(stderr,
                   "nht1-profile: %s is not complete: %" PRId64 " access%s of %s found no room, "
                   "%" PRId64 " of %s lie at places that are not known",
                   o->accesses, head.lost_n, head.lost_n == 1 ? "" : "es",
                   units_bytes((double)head.lost_bytes, lost), head.unplaced_n,
                   units_bytes((double)head.unplaced_bytes, unplaced));
    return rc;
}

static void print_zeta(const struct profile_zeta *z, const struct profile_round *round, int n,
                       const struct profile_run *run)
{
    char t_t[UNITS_TEXT_MAX], t_c[UNITS_TEXT_MAX], rate[UNITS_TEXT_MAX], kept[UNITS_TEXT_MAX];
    fprintf(stderr, "\nT_T       %s with its writes\nT_C       %s with its writes dropped\n",
            units_duration(z->t_t_s, t_t), units_duration(z->t_c_s, t_c));
    fprintf(stderr, "R_IO      %s, bytes written over T_T\n",
            units_rate(profile_rate(run, 1, z->t_t_s), rate));
    if (isfinite(z->paired.lo))
        fprintf(stderr, "zeta      %.3f, 95 %% interval %.3f to %.3f of %d pairs\n", z->value,
                z->paired.lo, z->paired.hi, n);
    else
        fprintf(stderr, "zeta      %.3f of %d pair%s\n", z->value, n, units_plural(n));
    fprintf(stderr, "          %.3f of it %s %s, %.3f outside\n", z->io,
            run->beside_n > 0                     ? "with a rank or process beside them inside"
            : run->mpi_n > 1                      ? "with a rank inside"
            : run->mpi_n == 0 && run->ranks_n > 1 ? "with a process inside"
                                                  : "inside",
            run->mpi_n > 0 && run->posix_calls[1] == 0 ? "MPI-IO" : "I/O", z->value - z->io);
    const struct certificate *c = &round[0].certificate;
    /* A process that a rank has started is none. */
    const bool ranks = c->ranks_n == run->mpi_n;
    fprintf(stderr,
            "          certified: the same %" PRId64 " calls and %s in both runs, by %d %s%s\n",
            c->calls_n, units_bytes((double)c->bytes, kept), c->ranks_n, ranks ? "rank" : "process",
            c->ranks_n == 1 ? ""
            : ranks         ? "s"
                            : "es");
    if (round[0].kept_bytes > 0)
        fprintf(stderr,
                "          %s written through the shared pointer by single ranks were read "
                "instead of dropped: T_C includes their time\n",
                units_bytes((double)round[0].kept_bytes, kept));
}

static json_t *zeta_json(const struct profile_zeta *z, const struct profile_round *round, int n,
                         const struct profile_run *run)
{
    json_t *rounds = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(
            rounds,
            json_pack("{s:o s:o s:o s:o s:b s:b s:o s:o}", "t_t_s", js_real(round[i].t_t_s),
                      "t_c_s", js_real(round[i].t_c_s), "inside_any_s", js_real(round[i].t_io_s),
                      "inside_any_dropped_s", js_real(round[i].c_io_s), "dropped_first",
                      round[i].dropped_first, "page_cache", round[i].page_cache, "disturbance",
                      disturbance_json(&round[i].with), "disturbance_dropped",
                      disturbance_json(&round[i].without)));
    return json_pack(
        "{s:o s:o s:o s:o s:o s:o s:o s:o s:o s:I s:I s:o s:s s:o}", "t_t_s", js_real(z->t_t_s),
        "t_c_s", js_real(z->t_c_s), "zeta", js_real(z->value), "zeta_io", js_real(z->io),
        "r_io_bytes_per_s", js_real(profile_rate(run, 1, z->t_t_s)), "zeta_ci95_lo",
        js_real(z->paired.lo), "zeta_ci95_hi", js_real(z->paired.hi), "zeta_io_ci95_lo",
        js_real(z->data.lo), "zeta_io_ci95_hi", js_real(z->data.hi), "dropped_bytes",
        (json_int_t)round[0].dropped_bytes, "not_dropped_bytes", (json_int_t)round[0].kept_bytes,
        "rounds", rounds, "answer", z->answer, "reason", js_text(z->reason));
}

static int save_json(const struct options *o, const struct conf_list *args, const char *began,
                     int status, const struct profile_run *run, const struct profile_round *round,
                     int n, const struct disturbance *d, json_t *zeta, json_t *stamps)
{
    json_t *certificates = json_array();
    for (int i = 0; i < n && round[i].certificate.ranks_n > 0; i++)
        json_array_append_new(certificates, certificate_json(&round[i].certificate));
    char ended[32];
    json_t *command = json_array();
    watch_utc(ended);
    for (int a = 0; a < args->n; a++)
        json_array_append_new(command, js_text(args->item[a]));
    json_t *result =
        json_pack("{s:s s:s s:s s:s s:o s:o s:i s:o s:o s:o s:o s:O}", "schema", "nht1-profile/1",
                  "version", nht1_build, "started_utc", began, "ended_utc", ended, "options",
                  conf_json(&program, o), "command", command, "command_status", status, "profile",
                  profile_json(run), "disturbance", disturbance_json(d), "zeta",
                  zeta ? zeta : json_null(), "certificates", certificates, "stamps", stamps);
    const int rc = js_result(o->json, result);
    if (rc < 0) err_prefix("--json: ");
    json_decref(result);
    return rc;
}

/* Pairs at most, and whether they end sooner once it is decided. */
static int pairs_of(const struct options *o, int *n, bool *open)
{
    int64_t most = BALANCE_ROUNDS_MAX;
    char meant[SUGGESTION_TEXT_MAX];
    *open = strcmp(o->repeat, "auto") == 0;
    if (!*open && conf_int("--repeat", o->repeat, 1, REPEAT_MAX, &most) < 0) {
        if (o->repeat[0] >= '0' && o->repeat[0] <= '9') return ERR_USAGE;
        err_clear();
        return err_set(ERR_USAGE, "--repeat '%s': auto or a number of pairs is expected%s",
                       o->repeat, suggestion_of(o->repeat, "auto", meant));
    }
    *n = (int)most;
    return 0;
}

/* Whether the accesses can be written there. NULL: none. */
static int accesses_check(const char *path)
{
    static const char end[] = ".jsonl";
    const size_t n = path ? strlen(path) : 0;
    if (!path) return 0;
    if (!js_is_stdout(path) && (n < sizeof end || strcmp(path + n - (sizeof end - 1), end) != 0))
        return err_set(ERR_USAGE, "--accesses: %s does not end in .jsonl", path);
    const int rc = js_check_target(path, WORKLOAD_ACCESSES_SCHEMA);
    if (rc < 0) err_prefix("--accesses: ");
    return rc;
}

/* How many of this program a launcher has started, 0 without one: a shell that one has started may carry its
 * variables on, and starts a single one. A single one of a batch system is none of a launcher either. */
static int launched_n(void)
{
    static const char *const launchers[] = {"slurmstepd", "mpirun", "mpiexec",
                                            "orte",       "prte",   "hydra"};
    char parent[32];
    int rank, n = start_launched(&rank);
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS"); /* of srun without PMI */
    if (n == 1 && tasks) n = (int)num_min(strtol(tasks, NULL, 10), INT_MAX);
    name_of((int)getppid(), parent);
    bool launcher = false;
    for (size_t i = n == 1; i < sizeof launchers / sizeof launchers[0]; i++)
        launcher |= strncmp(parent, launchers[i], strlen(launchers[i])) == 0;
    return launcher ? n : 0;
}

/* What can be known to be wrong before the program starts. */
static int check(const struct options *o, const struct conf_list *args)
{
    static const char *const split[] = {"run", "open", "direction"};
    char meant[SUGGESTION_TEXT_MAX];
    int64_t calls;
    bool known = false, open;
    int pairs_n;
    const int launched = launched_n();
    if (launched > 1)
        return err_set(ERR_USAGE,
                       "a launcher has started nht1-profile %d times, and each would profile a "
                       "rank by itself; the launcher belongs to the command: nht1-profile "
                       "[OPTION...] -- mpirun -np %d PROGRAM",
                       launched, launched);
    if (launched == 1 && o->t_c)
        return err_set(ERR_USAGE,
                       "a launcher has started nht1-profile, in whose process MPI can be started "
                       "once, and --t-c runs the program more often; the launcher belongs to the "
                       "command: nht1-profile --t-c [OPTION...] -- mpirun -np 1 PROGRAM");
    if (args->n == 0)
        return err_set(ERR_USAGE, "no command: nht1-profile [OPTION...] -- mpirun -np 4 PROGRAM");
    for (size_t i = 0; i < sizeof split / sizeof split[0]; i++)
        known |= strcmp(o->split, split[i]) == 0;
    if (!known && conf_int("--split", o->split, 1, INT64_MAX, &calls) < 0) {
        err_clear();
        return err_set(ERR_USAGE, "--split %s: run, open, direction or a number of calls%s",
                       o->split, suggestion_of(o->split, "run|open|direction", meant));
    }
    TRY(pairs_of(o, &pairs_n, &open));
    if ((pairs_n > 1 || o->t_c_add.n > 0) && !o->t_c)
        return err_set(ERR_USAGE, "--repeat and --t-c-add belong to --t-c");
    if (o->minutes > 0 && !open) return err_set(ERR_USAGE, "--minutes is for --repeat auto");
    if (o->between && pairs_n == 1) return err_set(ERR_USAGE, "--between belongs to --repeat");
    TRY(conf_files_differ("--json", o->json, "--out", o->out));
    TRY(conf_files_differ("--accesses", o->accesses, "--out", o->out));
    TRY(conf_files_differ("--accesses", o->accesses, "--json", o->json));
    TRY(accesses_check(o->accesses));
    int rc = js_check_text(o->out, o->force ? "" : WORKLOAD_TEXT_BEGIN);
    if (rc < 0) {
        err_prefix("--out: ");
    } else if (o->json) {
        rc = js_check_target(o->json, "nht1-profile/");
        if (rc < 0) err_prefix("--json: ");
    }
    return rc;
}

/* The CPU time of all children that have ended. */
static void add_children(struct disturbance_part *part, int sign)
{
    struct rusage used;
    if (getrusage(RUSAGE_CHILDREN, &used) < 0) return;
    part->user_s += sign * ((double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec);
    part->system_s += sign * ((double)used.ru_stime.tv_sec + 1e-6 * (double)used.ru_stime.tv_usec);
}

/* Runs the command as execute does, and says what its ranks and this node had to do meanwhile. */
static int run_watched(const struct session *s, const char *dir, bool drop, struct profile_run *run,
                       struct disturbance *d, int *status)
{
    struct disturbance_sample before, after;
    struct disturbance_part here, children = {0};
    disturbance_end(d);
    disturbance_take(&before, DISTURBANCE_BEFORE, true);
    add_children(&children, -1);
    double took_s = 0;
    int rc = execute(s, dir, drop, &took_s, status);
    add_children(&children, 1);
    disturbance_take(&after, DISTURBANCE_AFTER, true);
    disturbance_between(&before, &after, 0, &here);
    here.user_s += children.user_s;
    here.system_s += children.system_s;
    disturbance_free(&before);
    disturbance_free(&after);
    if (rc == 0) {
        profile_free(run);
        rc = profile_load(dir, took_s, run);
    }
    return rc == 0 ? profile_disturbance(run, &here, d) : rc;
}

/* Ranks of the MPI program that have left counters. */
static int ranks_seen(const struct profile_run *run)
{
    return run->mpi_n - (run->size - run->ranks_n);
}

/* Whether all that a run did could be followed: only then its writes can be left out. */
static int all_seen(const struct profile_run *run)
{
    char text[ERR_MESSAGE_MAX];
    if (ranks_seen(run) < run->mpi_n)
        return err_set(ERR_INVALID,
                       "no zeta: of %d ranks, %d left counters; what the others write would be "
                       "written in the run without writes, too",
                       run->mpi_n, ranks_seen(run));
    if (run->not_seen_n == 0) return 0;
    profile_not_seen_text(&run->not_seen[0], text);
    return err_set(ERR_INVALID, "no zeta: %.700s", text);
}

/* The program has not come to its end without its writes: why it has no T_C. The end of its output stays, as it may say more, unless it is
 * the user who has ended it. */
static int ended_dropped(const struct session *s, const struct profile_run *run, int status)
{
    char output[PATH_MAX + 16], why[ERR_MESSAGE_MAX];
    if (stopped)
        return err_set(ERR_INVALID, "stopped while the program ran with "
                                    "its writes dropped");
    snprintf(why, sizeof why, "%s",
             status == 0
                 ? "one of its processes did not come to its end by itself"
                 : "does it check what it has written, or read what it writes over later? See "
                   "--t-c-add");
    if (run->not_seen_n > 0) profile_not_seen_text(&run->not_seen[0], why);
    snprintf(output, sizeof output, "%s.output", s->dir);
    if (output_save(&printed, output) < 0) {
        err_prefix("the output of the program without its writes: ");
        return ERR_IO;
    }
    if (too_long) {
        char most[UNITS_TEXT_MAX], with[UNITS_TEXT_MAX];
        return err_set(ERR_INVALID,
                       "with its writes dropped the program had not ended after %s, with them it "
                       "takes %s: it was ended, output in %s; does it wait for what it "
                       "writes? See --t-c-add",
                       units_duration(LEAST_S + TIMES * longest_s, most),
                       units_duration(longest_s, with), output);
    }
    return err_set(ERR_INVALID,
                   "with its writes dropped the program ended with "
                   "status %d, output in %s; %.600s",
                   status, output, why);
}

/* One run without writes. Returns 0, ERR_INVALID when there is no T_C of the program. */
static int run_dropped(const struct session *s, struct profile_round *round,
                       struct profile_run *run)
{
    char dir[PATH_MAX];
    int status = 0;
    snprintf(dir, sizeof dir, "%.4080s.dropped", s->dir);
    int rc = run_watched(s, dir, true, run, &round->without, &status);
    if (rc == 0 && (status != 0 || run->state != PROFILE_FINALIZED || too_long))
        rc = ended_dropped(s, run, status);
    round->not_made = rc == ERR_IO || rc == ERR_INVALID;
    if (round->not_made) return ERR_INVALID;
    if (rc == 0 && run->dropped_bytes == 0)
        rc = err_set(ERR_INVALID, "zeta cannot be measured: the program writes nothing that can be "
                                  "dropped");
    else if (rc == 0)
        rc = all_seen(run);
    if (rc == 0) {
        round->t_c_s = run->wall_s;
        round->c_io_s = run->io_any_s;
        round->c_wait_s = run->io_wait_s;
        round->dropped_bytes = run->dropped_bytes;
        round->kept_bytes = run->kept_bytes;
    }
    return rc;
}

/* The state before the first run again: by --between, or by setting aside what the program has created. */
static int restore(const struct options *o, const char *dir, struct before_aside *aside)
{
    const char *const argv[] = {"sh", "-c", o->between, NULL};
    const struct child_start how = {
        .argv = argv, .out = CHILD_SHARED, .err = CHILD_SHARED, .fd = -1, .in_place = true};
    struct child c = {.out = -1, .err = -1};
    if (!o->between) return before_set_aside(dir, (int64_t)getpid(), aside);
    TRY(opened_again(true));
    TRY(child_start(&c, &how));
    wait_for(&c, INFINITY);
    const int status = child_status(&c);
    child_free(&c);
    TRY(opened_again(false)); /* of which that may have read */
    return status == 0 ? 0 : err_set(ERR_INVALID, "--between ended with status %d", status);
}

/* A run with writes after the first one. Where it fails, the files are those of the one before again, and run is that one,
 * too. */
static int run_again(const struct session *s, struct profile_round *round, struct profile_run *run,
                     int *status)
{
    struct before_aside aside = {0};
    struct profile_run now = {0};
    TRY(opened_again(false));
    const int begun = restore(s->o, s->dir, &aside);
    round->not_made = begun == ERR_IO || begun == ERR_INVALID;
    if (begun < 0) return round->not_made ? ERR_INVALID : begun;
    int rc = run_watched(s, s->dir, false, &now, &round->with, status);
    round->not_made = rc == ERR_IO;
    if (round->not_made) rc = ERR_INVALID;
    if (rc < 0 || *status != 0) {
        profile_free(&now);
    } else {
        profile_free(run);
        *run = now;
    }
    if (rc == 0 && *status == 0) {
        if (before_aside_remove(&aside) < 0) plain_line(stderr, "nht1-profile: %s", err_message());
        err_clear();
        return 0;
    }
    if (aside.n == 0 && s->o->between)
        plain_line(stderr, "nht1-profile: the run with writes failed: the files are those of it");
    if (aside.n == 0) return rc;
    behind_end(); /* what a shell that was ended has left would write into the files that come back */
    const int back = before_aside_return(&aside, s->dir);
    plain_line(
        stderr,
        "nht1-profile: the run with writes failed: the files are those of the one before%s%s",
        back < 0 ? ", but for this: " : "", back < 0 ? err_message() : "");
    if (back < 0 && rc == 0) err_clear();
    return rc;
}

static bool has_flushed(const struct profile_run *run)
{
    for (int r = 0; r < run->size; r++)
        if (run->rank[r] && run->rank[r]->other[PROFILE_SYNC].n > 0) return true;
    return false;
}

/* A pair of runs, or what is left of it after the first run with writes of all. Returns 0, or
 * ERR_INVALID where there is no zeta. */
static int make_pair(const struct session *s, struct profile_round *round, struct profile_run *run,
                     int *status)
{
    struct profile_run without = {0};
    const double began_s = watch_now();
    /* Before any run without writes: what was not seen would be written there. */
    int rc = all_seen(run);
    if (rc == 0) rc = opened_spent();
    for (int half = 0; rc == 0 && half < 2 && *status == 0; half++) {
        if (stopped) {
            rc = err_set(ERR_INVALID, "zeta cannot be measured: stopped between two runs");
        } else if ((half == 0) == round->dropped_first) {
            rc = opened_again(false);
            if (rc == 0) rc = run_dropped(s, round, &without);
        } else if (s->pairs_n > 1) {
            rc = run_again(s, round, run, status);
            if (rc == 0) round->page_cache = before_in_memory(s->dir, has_flushed(run));
            if (rc == 0) rc = all_seen(run);
        }
    }
    if (rc == 0 && *status == 0) {
        round->t_t_s = run->wall_s;
        round->t_io_s = run->io_any_s;
        round->t_wait_s = run->io_wait_s;
        round->took_s += watch_now() - began_s;
        rc = certificate_make(&round->certificate, run, &without, s->o->t_c_add.n > 0);
        if (rc == 0 && !round->certificate.agree)
            rc = err_set(ERR_INVALID, "no zeta: %s", round->certificate.difference);
    }
    profile_free(&without);
    return rc;
}

/* Whether another pair is to be made after n of --repeat auto: until it is decided at a look, or before the
 * pair for which there is no time; in that case alone the rest of the error is spent. */
static int another(const struct profile_round *round, int n, double since_s, double minutes,
                   struct profile_pairs *pairs, bool *more)
{
    struct profile_zeta z;
    double pair_s = 0;
    for (int i = 0; i < n; i++)
        pair_s += round[i].took_s / n;
    TRY(profile_judge(round, n, pairs, &z));
    const bool settled = n >= BALANCE_ROUNDS_FIRST && balance_settled(z.stamps, z.answer, z.reason);
    profile_zeta_end(&z);
    pairs->cut = !settled && watch_now() - since_s + pair_s > 60 * minutes;
    *more = !settled && !pairs->cut;
    return 0;
}

/* Whether pair i, for which make_pair gave rc, was not completed, for a reason that leaves the pairs before it as
 * the measurement: the user stopped it, a run could not be begun, or the program failed. */
static bool breaks_off(const struct profile_round *round, int i, int rc,
                       struct profile_pairs *pairs, int *status)
{
    if (i == 0 || (rc == 0 && *status == 0)) return false;
    if (!stopped && !round[i].not_made && *status == 0) return false;
    if (stopped) {
        pairs->interrupted = true;
    } else {
        if (*status != 0) err_set(ERR_INVALID, "the program ended with status %d", *status);
        plain_line(stderr, "nht1-profile: no further pairs: %s", err_message());
        pairs->cut = pairs->broken_off = true;
        pairs->failed = *status;
    }
    *status = 0;
    err_clear();
    return true;
}

/* Why there is nothing to profile, where no process left counters. */
static int anything_seen(const struct profile_run *run)
{
    char said[ERR_MESSAGE_MAX];
    if (run->size > 0) return 0;
    if (run->not_seen_n == 0)
        return err_set(
            ERR_INVALID,
            "no rank of the command has called MPI_Init with the profiler in it, and no "
            "process was seen to open a file for writing: does it write none, is it statically "
            "linked, or with another MPI library than that nht1 was built with, or does something "
            "in it set LD_PRELOAD anew?");
    profile_not_seen_text(&run->not_seen[0], said);
    return err_set(ERR_INVALID, "no process was seen to open a file for writing: %s", said);
}

/* The runs: the first one is with writes. With --t-c each round is a pair, in random order from two
 * rounds on, which are not about the first run; *measured turns false where that cannot be. The files
 * are those of the last run with writes.
 * [out] n: how many pairs; run: that one; started: the command could be started. */
static int rounds_make(const struct session *s, struct profile_round *round, int *n,
                       struct profile_pairs *pairs, struct profile_run *run, bool *measured,
                       bool *started, int *status)
{
    struct random random = random_begin((uint64_t)getpid(), 0);
    const int repeat = s->pairs_n;
    const double began_s = watch_now();
    bool more = true;
    *n = repeat;
    if (*measured) TRY(opened_begin());
    /* Of a single pair it is the run with writes. Its counters stay in dir until the next one. */
    TRY(run_watched(s, s->dir, false, run, &round[0].with, status));
    *started = true;
    *measured &= run->size > 0 || run->not_seen_n > 0; /* else there is nothing to drop */
    if (*measured) round[0].page_cache = before_in_memory(s->dir, has_flushed(run));
    if (repeat == 1) round[0].took_s = watch_now() - began_s;
    for (int i = 0; *measured && *status == 0 && i < repeat && more; i++) {
        round[i].dropped_first = repeat > 1 && random_below(&random, 2) == 1;
        const int rc = make_pair(s, &round[i], run, status);
        if (rc < 0 && rc != ERR_INVALID) return rc;
        if (breaks_off(round, i, rc, pairs, status)) {
            *n = i;
            break;
        }
        if (rc < 0) {
            *measured = false;
            if (*status == 0)
                snprintf(s->why, ERR_MESSAGE_MAX, "%s%s",
                         round[i].not_made ? "zeta cannot be measured: " : "", err_message());
            err_clear();
        }
        if (!*measured || *status != 0 || i + 1 == repeat) break;
        if (pairs->open)
            TRY(another(round, i + 1, began_s, s->o->minutes > 0 ? s->o->minutes : AUTO_MINUTES,
                        pairs, &more));
        pairs->interrupted = stopped && more;
        more = more && !stopped;
        *n = more ? repeat : i + 1;
    }
    return anything_seen(run);
}

/* Of the run that the profile is of, the last one with writes. */
static const struct disturbance *newest(const struct profile_round *round, int n)
{
    while (n > 1 && !round[n - 1].with.known)
        n--;
    return &round[n - 1].with;
}

/* The workload, the result and what is told. measured: they have a zeta. */
static int report_profile(const struct options *o, const struct conf_list *args, const char *began,
                          const struct profile_run *run, const struct profile_round *round, int n,
                          const struct profile_pairs *pairs, bool measured, int status)
{
    const struct disturbance *d = newest(round, n);
    struct profile_zeta z = {0};
    size_t i;
    json_t *stamp;
    int rc = save_workload(o, run);
    if (rc == 0 && o->accesses) rc = save_accesses(o, run);
    if (rc == 0 && measured) rc = profile_judge(round, n, pairs, &z);
    if (!z.stamps) disturbance_stamp(d, z.stamps = json_array());
    if (ranks_seen(run) < run->mpi_n)
        stamp_add(
            z.stamps, STAMP_INCOMPLETE, SEVERITY_WARN,
            stamp_number(NULL, "ranks_seen_n", ranks_seen(run)),
            "Incomplete: of %d ranks, %d left counters, and what the others did is not counted: is "
            "the folder of -o on a file system that all nodes share, and does the launcher pass "
            "its environment on to all ranks?",
            run->mpi_n, ranks_seen(run));
    if (!measured && run->size > 0 && run->state != PROFILE_FINALIZED)
        stamp_add(z.stamps, STAMP_INTERRUPTED, SEVERITY_WARN, json_object(),
                  "The program, or one of its processes, did not end by itself: what is told is "
                  "what it did until then.");
    if (rc == 0 && o->json)
        rc = save_json(o, args, began, status, run, round, n, d,
                       measured ? zeta_json(&z, round, n, run) : NULL, z.stamps);
    if (rc == 0 && !o->quiet) {
        fputc('\n', stderr);
        if (!js_is_stdout(o->out))
            plain_line(stderr, "nht1-profile: the workload is in %s", o->out);
        profile_print(run, stderr);
        if (measured) print_zeta(&z, round, n, run);
        if (json_array_size(z.stamps) > 0) fputc('\n', stderr);
        json_array_foreach(z.stamps, i, stamp)
            plain_line(stderr, "%s", stamp_text(stamp, "sentence"));
    }
    profile_zeta_end(&z);
    if (rc == 0 && !o->quiet && ferror(stderr)) /* which has no buffer */
        rc = err_set(ERR_IO, "writing to standard error failed");
    if (rc == 0 && measured && pairs->interrupted)
        rc = err_set(ERR_INTERRUPT, "interrupted: %d complete pair%s of runs %s reported", n,
                     units_plural(n), n == 1 ? "is" : "are");
    return rc;
}

static int profile(const struct options *o, const struct conf_list *args, struct own *own,
                   int *status)
{
    char began[32], why[ERR_MESSAGE_MAX] = "";
    struct session s = {.o = o, .args = args, .own = own, .why = why};
    struct profile_run run = {0};
    bool measured = o->t_c, started = false;
    struct profile_pairs pairs = {.most = REPEAT_MAX};
    struct options named = *o; /* as the program leaves the names of the outputs */
    struct profile_target target[3];
    int n;
    TRY(pairs_of(o, &s.pairs_n, &pairs.open));
    snprintf(s.dir, sizeof s.dir, "%.4000s.run-%d", o->out, (int)getpid());
    TRY(library_find(s.library));
    s.by_x = is_passed_by_x(args);
    watch_utc(began);
    struct profile_round *round = mem_new(s.pairs_n, sizeof *round, "%d rounds", s.pairs_n);
    if (!round) return ERR_NOMEM;
    profile_target_begin(&target[0], o->out);
    profile_target_begin(&target[1], o->json);
    profile_target_begin(&target[2], o->accesses);
    int rc = rounds_make(&s, round, &n, &pairs, &run, &measured, &started, status);
    if (rc == 0) rc = profile_target_take(target, 3, 0, "--out", &named.out);
    if (rc == 0) rc = profile_target_take(target, 3, 1, "--json", &named.json);
    if (rc == 0) rc = profile_target_take(target, 3, 2, "--accesses", &named.accesses);
    if (rc == 0 && measured && *status != 0)
        snprintf(why, sizeof why, "no zeta: the program ended with status %d", *status);
    measured = measured && *status == 0;
    if (rc == 0)
        rc = report_profile(&named, args, began, &run, round, n, &pairs, measured, *status);
    if (why[0]) plain_line(stderr, "nht1-profile: %s", why); /* where it is seen */
    for (int i = 0; i < 3; i++)
        profile_target_end(&target[i]);
    profile_free(&run);
    opened_end();
    profile_rounds_end(round, s.pairs_n);
    free(round);
    if (rc == ERR_INVALID && started && !o->t_c) {
        /* That there is nothing to profile does not change what the program's end says. */
        fprintf(stderr, "nht1-profile: %s\n", err_message());
        return 0;
    }
    if (rc == 0 && *status == 0 && o->t_c && !measured) *status = err_exit_status(ERR_INVALID);
    if (rc == 0 && pairs.failed != 0) *status = pairs.failed;
    return rc;
}

static int run(const void *opts, const struct conf_list *args)
{
    const struct options *o = opts;
    const struct sigaction action = {.sa_handler = pass_on};
    int status = 0;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (inherited[2].action.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, NULL); /* nohup */
    int rc = check(o, args);
    char folder[PATH_MAX];
    struct own *own = NULL;
    (void)own_split(o->out, folder);
    if (rc == 0) {
        own_sweep(folder, 0);
        rc = own_begin(&own, folder, 0, o->keep);
        if (rc < 0) err_prefix("--out: ");
    }
    if (rc == 0) rc = profile(o, args, own, &status);
    own_end(own);
    if (rc < 0 && status != 0) fprintf(stderr, "nht1-profile: %s\n", err_message());
    return status != 0 ? status : rc;
}

int main(int argc, char **argv)
{
    struct options o;
    for (int i = 0; i < INHERITED_N; i++)
        sigaction(inherited[i].number, NULL, &inherited[i].action);
    return start_program(&program, argc, argv, &o, run);
}
