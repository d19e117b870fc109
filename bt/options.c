/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/suggestion.h"
#include "bt/machine.h"
#include "io/writers/writer.h"

#define SETTING            "setting" /* of a writer */
#define AT(member)         CONF_AT(struct bt_options, member)
#define CHOICE(member, of) CONF_CHOICE_AT(struct bt_options, member, of)

static const char *writer_name(int i)
{
    const struct io_writer *w = io_writer_at(i);
    return w ? w->name : NULL;
}

static const struct conf_option table[] = {
    {.name = "class",
     .arg = "C",
     CHOICE(cls, "S|W|A|B|C|D|E|F"),
     .group = "What is computed",
     .help =
         "Problem class of NAS BT: N = 12, 24, 64, 102, 162, 408, 1020, 2560. B is the official "
         "size of the benchmark (N = 102, 1.7 GB written). Default: A, large enough to be "
         "meaningful, done within a minute or two on a desktop."},
    {.name = "n",
     .arg = "N",
     AT(n),
     CONF_RANGE(BT_N_MIN, BT_N_MAX),
     .help =
         "Grid points along each side, instead of a class. The N of a class brings that class's "
         "steps and dt; any other N needs --steps and --dt."},
    {.name = "steps",
     .arg = "NS",
     AT(steps),
     CONF_RANGE(1, 1e9),
     .help = "Time steps. Default: those of the class."},
    {.name = "dt",
     .arg = "DT",
     AT(dt),
     CONF_RANGE(1e-12, 1.0),
     .help =
         "Size of a time step. Default: that of the class. Norms are known for the classes, and "
         "for class A with 20, 40, ... 180 steps: else the solution is not checked against any."},
    {.name = "decomp",
     .arg = "HOW",
     .def = "auto",
     AT(decomp),
     .words = "auto|1d|3d",
     .help =
         "How the grid is divided among the ranks: auto, 1d (slabs along z), 1d:x, 1d:y, 1d:z, 3d "
         "(most cubic), or PXxPYxPZ such as 2x1x4."},
    {.name = "isa",
     .arg = "NAME",
     AT(isa),
     .words = "auto|generic|avx2|avx512|neon|sve256|sve512",
     .help =
         "Instruction set of the kernels: auto (the widest that all ranks have), generic, avx2, "
         "avx512; on aarch64 neon, sve256, sve512. Default: the environment variable NHT1_ISA, "
         "else auto."},
#ifdef SIMULATED
    {.name = "charge",
     .arg = "FILE",
     AT(charge),
     .help = "Charge the time of computing from the table FILE instead of computing: kernels are "
             "timed once for every shape of a block that is not in it. There is no solution then, "
             "and nothing to write. Default: everything is computed, which takes no simulated "
             "time unless SimGrid is told to measure it."},
#endif

    {.name = "io",
     .arg = "NAMES",
     .def = "all",
     AT(io),
     .words = "none|all|auto|help",
     .word = writer_name,
     .group = "What is written",
     .help =
         "Writers: none (compute only, which measures T_C), a name, several as "
         "NAME,NAME, all (every writer that leaves a serial file, one after the other in random "
         "order), auto (finds the fastest writer and its settings, see --minutes; auto:NAME,NAME "
         "among these), or help for the list."},
    {.name = "interval",
     .arg = "IW",
     AT(interval),
     CONF_RANGE(1, 1e9),
     .help = "Steps from one dump of the solution to the next. Default: 5, and 10 for class S."},
    {.name = "last", AT(last), .help = "Dump the last step too."},
    {.name = "layout",
     .arg = "L",
     .def = "mijk",
     CHOICE(layout, "mijk|ijkm|records"),
     .help = "Format of the file: mijk (component fastest), ijkm (component slowest) or records (a "
             "Fortran record per plane)."},
    {.name = "out",
     .arg = "FILE",
     .def = "btout.bin",
     AT(out),
     .help = "File to write, kept with its manifest FILE.json. Several writers: FILE.NAME each. "
             "With --io all these files are removed after verification, see --keep."},
#define IO_SETTING(option, type, member, cap, argument, default_, least, most, values, text)       \
    {.name = #option,                                                                              \
     .arg = (argument),                                                                            \
     .def = (default_),                                                                            \
     AT(tuning.member),                                                                            \
     CONF_RANGE(least, most),                                                                      \
     .kind = SETTING,                                                                              \
     .help = (text)},
#include "io/setting_list.h"

#define AUTO_MINUTES 2 /* of --repeat auto, where --minutes is not given */
#undef IO_SETTING
    {.name = "hint",
     .arg = "KEY=VALUE",
     AT(hints),
     .kind = SETTING,
     .help = "MPI-IO hint, given when the file is opened; may be repeated."},
    {.name = "sync",
     .arg = "WHEN",
     .def = "end",
     CHOICE(sync, "none|dump|end"),
     .help = "When data are flushed to the device: never (none), after each dump, or at the end. "
             "The time for it is part of T_T and also shown separately."},
    {.name = "force",
     AT(force),
     .help = "Overwrite the file even if it is not an earlier dump of this program."},
    {.name = "restart",
     AT(restart),
     .help = "Continue the file of an interrupted run from its last correct dump. Problem, layout, "
             "--sync and the writer with its settings default to those in its manifest; the number "
             "of ranks and the decomposition may differ. The file ends up with the same bytes as "
             "without the "
             "interruption; the time is not a result."},
    {.name = "keep", AT(keep), .help = "Keep the files of --io all."},

    {.name = "read",
     .arg = "WHICH",
     AT(read),
     .words = "last|all|random",
     .group = "What is read back",
     .help =
         "After each run that leaves a file, all ranks read dumps back into their fields "
         "through the same writer: last, a number from 1 on, all, or random (one, drawn anew "
         "for each round by --seed). T_R is the time from opening to the last field filled; "
         "what was read is then compared with the manifest's digests, untimed. From 6 rounds on "
         "there is an answer whether reading keeps up with the computation."},
    {.name = "read-cache",
     .arg = "STATES",
     .def = "cold",
     AT(read_cache),
     .words = "cold|warm",
     .help = "State of the page cache before reading: cold (the file is made durable and dropped "
             "from every node's memory), warm (read once before), or both as cold,warm. How much "
             "of the dumps was in memory is measured each time."},
    {.name = "read-decomp",
     .arg = "HOWS",
     AT(read_decomp),
     .words = "own|auto|1d|3d",
     .help =
         "Decompositions of reading, a list such as own,1d:x: own (that of the writers) or what "
         "--decomp takes. Default: own, with --read-ranks auto."},
    {.name = "read-ranks",
     .arg = "R",
     AT(read_ranks),
     CONF_RANGE(1, 1e8),
     .help = "Only the first R ranks hold cells when reading; the others take part where the "
             "writer needs them, as aggregators do. Default: all."},
    {.name = "read-drop-system",
     AT(read_drop_system),
     .help = "Before reading cold, drop the whole page cache of every node, of any file, by "
             "/proc/sys/vm/drop_caches. Needs root."},

    {.name = "repeat",
     .arg = "R",
     .def = "1",
     AT(repeat),
     .words = "auto",
     .group = "How it is measured",
     .help =
         "Rounds. In each, every writer runs once, in random order; from two rounds on so does "
         "a compute-only run, unless --tc gives seconds. Medians are reported, and from 6 "
         "rounds on an answer about the balance. auto: rounds go on until the balance of "
         "every writer, and of what --read reads, is decided (8 to 64), or --minutes are over."},
    {.name = "seed",
     .arg = "S",
     AT(seed),
     CONF_RANGE(0, 4294967295.0),
     .help = "Seed of the random order of the writers. Default: from the clock; always reported."},
    {.name = "minutes",
     .arg = "M",
     .def = "5",
     AT(minutes),
     CONF_RANGE(0.01, 1e5),
     .help =
         "Time for the search of --io auto, or for the rounds of --repeat auto, which have 2 where "
         "it is not given. Settings of writers that are given, such as "
         "--direct, stay as they are; the others are varied. Given, it makes a search even if an "
         "earlier one has left its choice, see --known."},
    {.name = "known",
     AT(known),
     .help = "--io auto with --minutes: run the choice of an earlier search on this system, if "
             "there is one, instead of searching again. --probe: try only where nothing was found "
             "before."},
    {.name = "tc",
     .arg = "T",
     .def = "best",
     AT(tc),
     .words = "best|measure",
     .help = "Where the compute-only time T_C comes from: best (the best verified one stored for "
             "this system and problem, else measured now), measure (measured now), or a "
             "number of seconds."},
    {.name = "tc-store",
     .arg = "FILE",
     AT(tc_store),
     .help = "File that stores compute-only times. Default: $XDG_STATE_HOME/nht1/tc.json, else "
             "~/.local/state/nht1/tc.json."},
    {.name = "verify",
     .arg = "WHEN",
     .def = "auto",
     CHOICE(verify, "auto|never"),
     .help = "auto: after the clock has stopped, the serial program nht1-verify, installed beside "
             "this one, reads back every file."},

    {.name = "dry-run",
     AT(dry_run),
     .help = "Report the time, space and memory that the run would take, and whether they are "
             "there; compute and write nothing."},
    {.name = "ranks",
     .arg = "R",
     AT(ranks),
     CONF_RANGE(1, 1e8),
     .help = "With --dry-run: plan for this many ranks instead of those started."},
    {.name = "nodes",
     .arg = "K",
     AT(nodes),
     CONF_RANGE(1, 1e8),
     .help = "With --dry-run: plan for this many nodes like this one."},
    {.name = "probe",
     AT(probe),
     .help = "Try what works where --out would be written: MPI-IO, O_DIRECT, io_uring, locks and "
             "whatever else writers use, in processes with time limits. The findings are kept "
             "beside the T_C store; nothing is computed."},
    {.name = "probe-limit",
     .arg = "SECONDS",
     .def = "10",
     AT(probe_limit),
     CONF_RANGE(1, 3600),
     .help = "With --probe: time after which a check counts as hanging."},
    {.name = "json",
     .arg = "FILE",
     AT(json),
     .output = true,
     .group = "What is reported",
     .help = "Write the complete result to this file (docs/schema/nht1-bt-1.json). It is updated "
             "after each run, so a job that is killed loses only the run in progress."},
    {.name = "profile",
     AT(profile),
     .help = "Print where the time of each writer's best run went: minimum, median and maximum "
             "of each phase over the ranks. The phases are measured in every run."},
    CONF_PROGRESS(struct bt_options),
    CONF_QUIET(struct bt_options),
    {.name = NULL},
};

const struct conf_program bt_program = {
    .name = "nht1-bt",
    .version = nht1_build,
    .summary = "Application I/O benchmark: NAS BT, a CFD solver, writes its whole solution to disk "
               "every few steps. It reports the run time T_T, the rate R_IO and the overhead "
               "zeta = T_T / T_C - 1 over the best run time without writing, T_C.",
    .examples = "  mpirun -np 4 nht1-bt\n"
                "      class A with every writer, ranked in one table\n"
                "  mpirun -np 8 --bind-to none nht1-bt --class B --json result.json\n"
                "      the official size N = 102 with every writer\n"
                "  nht1-bt --io help\n"
                "      the writers and what each does\n"
                "  mpirun -np 4 nht1-bt --class A --io auto\n"
                "      finds the fastest way to write here, in five minutes\n"
                "  mpirun -np 4 nht1-bt --class A --io none\n"
                "      only compute: gives T_C, stored for later runs\n"
                "  mpirun -np 4 nht1-bt --n 33 --steps 20 --dt 0.001 --decomp 1d:x --io NAME\n"
                "      a problem of your own; the file stays in btout.bin\n"
                "  nht1-bt --probe --out /scratch/btout.bin\n"
                "      what works on that file system, and what fails, crashes or hangs\n"
                "  mpirun -np 2 nht1-bt --restart --out btout.bin\n"
                "      continue a run that was interrupted\n"
                "  mpirun -np 4 nht1-bt --read last --read-cache cold,warm --read-decomp own,1d:x\n"
                "      how long a restart takes to read its dump, with each writer\n"
                "Threads per rank: OMP_NUM_THREADS.\n"
                "Exit status: 0 success, 1 wrong usage, 2 wrong content, 3 I/O, memory or MPI\n"
                "error, or interrupted, 4 not valid as a result.\n",
    .options = table,
};

static int problem_setup(struct bt_setup *s)
{
    const struct bt_options *o = &s->opt;
    struct bt_problem *p = &s->problem;
    const struct bt_reference *ref;
    if (o->cls && o->n) return err_set(ERR_USAGE, "--class and --n exclude each other: give one");
    /* The class that was given, or whose N was given; A when nothing was. */
    char cls = o->cls ? o->cls[0] : o->n == 0 ? 'A' : '\0';
    for (int i = 0; o->n && (ref = bt_reference_at(i)) != NULL; i++)
        if (ref->n == o->n) cls = ref->cls;
    *p = (struct bt_problem){.interval = 5};
    if (cls) TRY(bt_problem_class(cls, p));
    if (!cls && (o->steps == 0 || o->dt == 0))
        return err_set(ERR_USAGE,
                       "no class has N = %lld: give --steps and --dt as well, such as --steps 200 "
                       "--dt 0.0003",
                       (long long)o->n);
    if (o->n) p->n = o->n;
    if (o->steps) p->steps = o->steps;
    if (o->dt > 0) p->dt = o->dt;
    if (o->interval) p->interval = o->interval;
    p->last = o->last;
    ref = bt_reference_find(p->n, p->steps, p->dt);
    p->cls = ref && !ref->computed ? ref->cls : 'U';
    return 0;
}

static int tc_setup(struct bt_setup *s)
{
    if (strcmp(s->opt.tc, "best") == 0) {
        s->tc_source = BT_TC_BEST;
    } else if (strcmp(s->opt.tc, "measure") == 0) {
        s->tc_source = BT_TC_MEASURE;
    } else {
        s->tc_source = BT_TC_GIVEN;
        if (conf_real("--tc", s->opt.tc, 1e-9, 1e12, &s->tc_given_s) < 0) {
            char meant[SUGGESTION_TEXT_MAX];
            err_clear();
            return err_set(ERR_USAGE,
                           "--tc '%s': not understood; best, measure or a number of seconds%s",
                           s->opt.tc, suggestion_of(s->opt.tc, "best|measure", meant));
        }
    }
    return 0;
}

static int add_writer(struct bt_setup *s, const char *name)
{
    for (int w = 0; w < s->writers_n; w++)
        if (strcmp(s->candidate[w].writer, name) == 0) return 0;
    if (s->writers_n == BT_RUNS_MAX || strlen(name) >= sizeof s->candidate[0].writer)
        return err_set(ERR_USAGE, "--io: more than %d writers, or a name too long", BT_RUNS_MAX);
    s->candidate[s->writers_n++] = bt_setup_candidate(s, name);
    return 0;
}

static int writers_setup(struct bt_setup *s)
{
    const struct io_writer *d;
    char name[256];
    for (const char *at = s->opt.io; conf_next_word(&at, name, sizeof name);) {
        s->compute = s->compute || strcmp(name, BT_COMPUTE) == 0;
        if (strcmp(name, BT_COMPUTE) == 0) continue;
        const bool search = strcmp(name, "auto") == 0;
        const bool among = strncmp(name, "auto:", 5) == 0;
        if (among) memmove(name, name + 5, strlen(name + 5) + 1);
        s->search = s->search || search || among;
        s->all = s->all || among;
        if (strcmp(name, "all") != 0 && !search) {
            TRY(io_writer_find(name) ? add_writer(s, name) : io_writer_unknown(name));
            continue;
        }
        s->all = true;
        for (int i = 0; (d = io_writer_at(i)) != NULL; i++)
            if ((d->caps & (IO_CAP_SERIAL_FILE | IO_CAP_WRAPPER)) == IO_CAP_SERIAL_FILE)
                TRY(add_writer(s, d->name));
    }
    return 0;
}

static int rounds_setup(struct bt_setup *s, const bool *given)
{
    int64_t rounds = BT_AUTO_ROUNDS;
    char meant[SUGGESTION_TEXT_MAX];
    s->given_minutes = conf_given(&bt_program, given, "minutes");
    s->rounds_auto = strcmp(s->opt.repeat, "auto") == 0;
    if (!s->rounds_auto && conf_int("--repeat", s->opt.repeat, 1, BT_REPEAT_MAX, &rounds) < 0) {
        if (s->opt.repeat[0] >= '0' && s->opt.repeat[0] <= '9') return ERR_USAGE;
        err_clear();
        return err_set(ERR_USAGE, "--repeat '%s': auto or a number of rounds is expected%s",
                       s->opt.repeat, suggestion_of(s->opt.repeat, "auto", meant));
    }
    s->rounds = (int)rounds;
    if (s->rounds_auto && !s->given_minutes) s->opt.minutes = AUTO_MINUTES;
    if (s->rounds_auto && s->tc_source == BT_TC_GIVEN)
        return err_set(ERR_USAGE, "--repeat auto and --tc SECONDS exclude each other: a balance is "
                                  "decided by compute-only runs of the same rounds");
    if (s->rounds_auto && s->writers_n == 0)
        return err_set(ERR_USAGE, "--repeat auto goes on until the balance of every writer is "
                                  "decided: name a writer with --io, or give a number of rounds");
    return 0;
}

/* A search leaves an answer and no file. */
static int search_setup(struct bt_setup *s, const bool *given)
{
    const struct {
        const char *option, *why;
    } without[] = {
        {"restart", "it continues a file, and a search leaves none"},
        {"read", "what is read back is timed of a writer that is named"},
        {"keep", "no file of a search is worth keeping"},
        {"repeat", "a search has rounds of its own"},
    };
    if (!s->search && !s->rounds_auto && s->given_minutes)
        return err_set(ERR_USAGE, "--minutes is for --repeat auto, and for --io auto, the search "
                                  "for the fastest writer");
    if (!s->search && !s->opt.probe && s->opt.known)
        return err_set(ERR_USAGE,
                       "--known is for --io auto, the search for the fastest writer, and --probe");
    if (!s->search) return 0;
    if (strcmp(s->opt.io, "auto") != 0 && strncmp(s->opt.io, "auto:", 5) != 0)
        return err_set(ERR_USAGE,
                       "--io '%s': auto stands alone, it tries every writer, and auto:NAME,NAME "
                       "these; give the settings that are to stay as options",
                       s->opt.io);
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++)
        if (conf_given(&bt_program, given, without[i].option))
            return err_set(ERR_USAGE,
                           "--%s and --io auto exclude each other: %s; run the command that the "
                           "search prints",
                           without[i].option, without[i].why);
    return 0;
}

/* A file is continued by one writer, in one run. Without --io the manifest names it. */
static int restart_setup(struct bt_setup *s)
{
    if (!s->opt.restart) return 0;
    if (!s->given_io) {
        s->all = false;
        s->writers_n = 1;
        s->candidate[0] = bt_setup_candidate(s, "");
    }
    if (s->writers_n != 1 || s->all || s->compute)
        return err_set(ERR_USAGE,
                       "--restart continues one file: name one writer with --io, or none "
                       "for the one that began it");
    if (s->rounds > 1)
        return err_set(ERR_USAGE,
                       "--restart and --repeat exclude each other: it is no measurement");
    if (s->opt.force)
        return err_set(ERR_USAGE, "--restart and --force exclude each other: nothing is replaced");
    return 0;
}

/* Checks of --read and its options that do not depend on the ranks; bt/read does the rest. */
static int read_setup(struct bt_setup *s, const bool *given)
{
    static const char *const beside[] = {"read-cache", "read-decomp", "read-ranks",
                                         "read-drop-system"};
    static const char *const word[] = {
        [BT_READ_LAST] = "last", [BT_READ_ALL] = "all", [BT_READ_RANDOM] = "random"};
    char state[64], meant[SUGGESTION_TEXT_MAX];
    for (size_t i = 0; !s->opt.read && i < sizeof beside / sizeof beside[0]; i++)
        if (conf_given(&bt_program, given, beside[i]))
            return err_set(ERR_USAGE, "--%s is for --read: give that too, such as --read last",
                           beside[i]);
    if (!s->opt.read) return 0;
    for (int i = BT_READ_LAST; i <= BT_READ_RANDOM; i++)
        if (strcmp(s->opt.read, word[i]) == 0) s->read = (enum bt_read)i;
    if (s->read == BT_READ_NOTHING) {
        if (conf_int("--read", s->opt.read, 1, INT64_MAX, &s->read_dump) < 0) {
            err_clear();
            return err_set(ERR_USAGE,
                           "--read '%s': not understood; last, all, random or the number of a "
                           "dump, from 1 on%s",
                           s->opt.read, suggestion_of(s->opt.read, "last|all|random", meant));
        }
        s->read = BT_READ_ONE;
    }
    for (const char *at = s->opt.read_cache; conf_next_word(&at, state, sizeof state);) {
        const bool warm = strcmp(state, "warm") == 0;
        if (!warm && strcmp(state, "cold") != 0)
            return err_set(ERR_USAGE,
                           "--read-cache '%s': not understood; cold, warm or cold,warm%s",
                           s->opt.read_cache, suggestion_of(state, "cold|warm", meant));
        if (s->read_states_n == 0 || (s->read_states_n == 1 && s->read_warm[0] != warm))
            s->read_warm[s->read_states_n++] = warm;
    }
    if (s->opt.read_drop_system && s->read_states_n == 1 && s->read_warm[0])
        return err_set(ERR_USAGE, "--read-drop-system is for reading cold, and --read-cache says "
                                  "warm: leave one of them out");
    return 0;
}

const struct conf_option *bt_setup_writers_option(const char *name)
{
    for (const struct conf_option *o = table; o->name; o++)
        if (o->kind && strcmp(o->name, name) == 0) return o;
    return NULL;
}

/* The capability of the writers that obey an option; 0: it is no setting of theirs. */
static unsigned obeyed_by(const struct conf_option *o)
{
    const struct io_setting *s = io_setting_find(o->name);
    return s ? s->cap : o->kind ? IO_CAP_HINTS : 0;
}

json_t *bt_setup_fixed(const struct bt_setup *s)
{
    json_t *all = conf_json(&bt_program, &s->opt), *to = json_object();
    for (const struct conf_option *o = table; o->name; o++)
        if (s->fixed & obeyed_by(o))
            js_set(to, o->name, json_incref(json_object_get(all, o->name)));
    if (s->search && strcmp(s->opt.io, "auto") != 0) js_set(to, "io", json_string(s->opt.io));
    json_decref(all);
    return to;
}

void bt_setup_idle(const struct bt_setup *s, json_t *notices)
{
    for (const struct conf_option *o = table; o->name; o++) {
        const unsigned cap = obeyed_by(o);
        char writers[256] = "";
        size_t used = 0;
        if (!(s->fixed & cap) || cap == IO_CAP_HINTS) continue;
        for (int w = 0; w < s->writers_n && used < sizeof writers; w++) {
            const char *writer = s->candidate[w].writer;
            if (io_writer_caps(writer) & cap) continue;
            used += (size_t)snprintf(writers + used, sizeof writers - used, "%s%s",
                                     used > 0 ? ", " : "", writer);
        }
        if (used > 0) bt_notice(notices, "--%s makes no difference to %s.", o->name, writers);
    }
}

static int interpret(struct bt_setup *s, const bool *given)
{
    for (size_t i = 0; table[i].name; i++)
        if (given[i]) s->fixed |= obeyed_by(&table[i]);
    s->given_io = conf_given(&bt_program, given, "io");
    s->given_layout = conf_given(&bt_program, given, "layout");
    s->given_sync = conf_given(&bt_program, given, "sync");
    if (!s->opt.dry_run && (s->opt.ranks || s->opt.nodes))
        return err_set(ERR_USAGE, "--ranks and --nodes are for --dry-run; mpirun starts ranks");
    if (s->opt.dry_run && s->opt.restart)
        return err_set(ERR_USAGE, "--dry-run and --restart exclude each other");
    if (s->opt.probe && (s->opt.dry_run || s->opt.restart))
        return err_set(ERR_USAGE, "--probe and --%s exclude each other",
                       s->opt.dry_run ? "dry-run" : "restart");
    if (conf_given(&bt_program, given, "probe-limit") && !s->opt.probe)
        return err_set(ERR_USAGE, "--probe-limit is for --probe: give that too");
    TRY(problem_setup(s));
    TRY(tc_setup(s));
    TRY(io_layout_parse(s->opt.layout, &s->layout));
    s->sync =
        (enum io_sync)conf_chosen(&bt_program, &s->opt, "sync"); /* in the order of the enum */
    TRY(writers_setup(s));
    if (s->opt.charge && s->writers_n > 0)
        return err_set(ERR_USAGE,
                       "--charge: nothing is computed that could be written: give --io none");
    TRY(rounds_setup(s, given));
    TRY(search_setup(s, given));
    TRY(restart_setup(s));
    TRY(read_setup(s, given));
    s->seed = conf_given(&bt_program, given, "seed") ? (uint64_t)s->opt.seed : (uint64_t)time(NULL);
    if (!s->opt.probe) TRY(conf_name_ends("--out", s->opt.out)); /* a folder can be probed */
    if (!s->opt.out[0]) return err_set(ERR_USAGE, "--out: the name of the file is empty");
    if (strlen(s->opt.out) > 3900) return err_set(ERR_USAGE, "--out: the name is too long");
    if (s->opt.json && !s->opt.json[0])
        return err_set(ERR_USAGE, "--json: the name of the file is empty");
    TRY(conf_name_ends("--tc-store", s->opt.tc_store));
    /* Writers that cannot do what was asked for are left out later. */
    for (int w = 0; w < (s->all ? 1 : s->writers_n); w++) {
        const struct io_spec spec = bt_setup_spec(s, &s->candidate[w], &s->problem, s->opt.out);
        TRY(io_spec_check(&spec));
    }
    return 0;
}

int bt_setup_parse(void *setup, int argc, char **argv)
{
    struct bt_setup *s = setup;
    bool given[sizeof table / sizeof table[0]] = {false};
    const int rc = conf_parse(&bt_program, argc, argv, &s->opt, NULL, given);
    if (rc != CONF_RUN) return rc;
    s->list_writers = strcmp(s->opt.io, "help") == 0;
    return s->list_writers ? CONF_RUN : interpret(s, given);
}

void bt_setup_free(void *setup)
{
    free(((struct bt_setup *)setup)->taken_hints);
    conf_free(&bt_program, &((struct bt_setup *)setup)->opt, NULL);
}

struct bt_candidate bt_setup_candidate(const struct bt_setup *s, const char *writer)
{
    struct bt_candidate c = {
        .tuning = s->opt.tuning, .hints_n = s->opt.hints.n, .hint = s->opt.hints.item};
    snprintf(c.writer, sizeof c.writer, "%s", writer);
    return c;
}

static int take_hints(struct bt_setup *s, int n, const char *hints)
{
    const char *end = hints;
    for (int i = 0; i < n; i++)
        end += strlen(end) + 1;
    const char **item = mem_new(n + 1, sizeof *item, "hints");
    char *text = mem_new(end - hints + 1, 1, "hints");
    if (!item || !text) {
        free(item);
        free(text);
        return ERR_NOMEM;
    }
    memcpy(text, hints, (size_t)(end - hints));
    for (int i = 0; i < n; i++)
        item[i] = i == 0 ? text : item[i - 1] + strlen(item[i - 1]) + 1;
    free(s->opt.hints.item);
    s->opt.hints = (struct conf_list){.n = n, .item = item};
    s->taken_hints = text;
    return 0;
}

int bt_setup_take(struct bt_setup *s, const char *writer, const struct io_tuning *t, int hints_n,
                  const char *hints)
{
    const struct io_setting *row;
    struct bt_options *o = &s->opt;
    for (int i = 0; (row = io_setting_at(i)) != NULL; i++)
        if (!row->key && !(s->fixed & row->cap))
            io_setting_put(row, io_setting_get(row, t), &o->tuning);
    if (!(s->fixed & IO_CAP_HINTS)) TRY(take_hints(s, hints_n, hints));
    s->writers_n = 1;
    s->candidate[0] = bt_setup_candidate(s, writer);
    o->io = s->candidate[0].writer;
    return 0;
}

void bt_setup_path(const struct bt_setup *s, const char *writer, char *out)
{
    const bool several = s->all || s->writers_n > 1;
    snprintf(out, 4096, "%s%s%s", s->opt.out, several ? "." : "",
             s->search ? BT_SEARCH_NAME
             : several ? writer
                       : "");
    for (char *c = out + strlen(s->opt.out); *c; c++)
        if (*c == ':') *c = '-';
}

int bt_setup_names(const struct bt_setup *s)
{
    if (s->writers_n > 0) TRY(conf_name_file("--out", s->opt.out));
    return conf_name_file("--tc-store", s->opt.tc_store);
}

struct io_spec bt_setup_spec(const struct bt_setup *s, const struct bt_candidate *c,
                             const struct bt_problem *p, const char *path)
{
    return (struct io_spec){.path = path,
                            .writer = c->writer,
                            .layout = s->layout,
                            .n = p->n,
                            .dumps_n = bt_problem_dumps(p),
                            .steps_n = p->steps,
                            .dt = p->dt,
                            .interval = p->interval,
                            .sync = s->sync,
                            .tuning = c->tuning,
                            .force = s->opt.force,
                            .resume = s->opt.restart,
                            .hints_n = c->hints_n,
                            .hints = c->hint};
}

struct io_memory bt_setup_held(const struct bt_setup *s, const struct bt_candidate *c,
                               int64_t ranks, int64_t nodes, int64_t cells, int64_t *reading)
{
    const bool reads = s->read != BT_READ_NOTHING || s->opt.restart;
    *reading =
        reads ? io_reader_memory(c->writer, &c->tuning, io_dump_bytes(s->layout, s->problem.n)) : 0;
    return io_writer_memory(c->writer, &c->tuning, ranks, nodes, io_dump_bytes(IO_MIJK, 1) * cells);
}

bool bt_setup_computes(const struct bt_setup *s)
{
    const bool paired = s->writers_n > 0 && s->rounds > 1 && s->tc_source != BT_TC_GIVEN;
    return s->compute || paired;
}
