/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/forecast.h"

#include <stdbool.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/balance.h"
#include "base/err.h"
#include "base/json.h"
#include "base/num.h"
#include "base/par.h"
#include "base/plain.h"
#include "base/program.h"
#include "base/resident.h"
#include "base/sys.h"
#include "base/units.h"
#include "bt/compute.h"
#include "bt/machine.h"
#include "bt/metrics.h"
#include "bt/read.h"
#include "bt/result.h"
#include "bt/run.h"
#include "bt/solver/cost.h"
#include "bt/solver/decomp.h"
#include "bt/solver/plan.h"
#include "bt/solver/solver.h"
#include "bt/tc.h"
#include "io/read.h"
#include "io/target/parts.h"
#include "io/writers/writer.h"

#define PROBE_N     80 /* larger than caches, a step of it takes tens of milliseconds */
#define PROBE_STEPS 3
#define PARALLEL    0.8  /* share of the one rank's speed that every one of many reaches, roughly */
#define CELLS_MIN   4096 /* of a rank: a block of 16^3 has halos as large as itself */
#define SCHEMA      "nht1-bt-plan/1"
#define WRITE_RATE  200e6 /* bytes/s of writing and flushing, assumed: nothing was written */
#define READ_RATE   500e6 /* bytes/s of reading back, assumed */

enum tc_origin { FROM_STORE, FROM_PROBE, FROM_USER };

struct forecast {
    const struct bt_setup *setup;
    int64_t ranks, threads, nodes, cores; /* planned for; cores of all nodes */
    struct bt_decomp grid;                /* of rank 0 */
    char decomp[40];
    int64_t dumps_n, dump_bytes;
    int64_t file_bytes;    /* of the longest file, 0: nothing is written */
    int64_t files_n;       /* left behind, manifests included */
    int64_t disk_bytes;    /* needed on the file system at a time */
    int64_t peak_bytes;    /* the same where there is room for a file beside the one it replaces */
    int64_t written_bytes; /* by all writers in all rounds */
    int64_t free_bytes;    /* of the file system, old files of the same names given back; -1: not
                              told */
    int64_t readings_n;    /* of --read, after each run that leaves a file */
    int64_t read_bytes;    /* by them, in all rounds of all writers; once more when warm */
    int64_t fields_bytes;  /* memory of the largest rank for what they fill */
    int64_t rank_bytes;    /* memory of the largest rank */
    int64_t memory_bytes;  /* of all ranks */
    int64_t node_bytes;    /* of the ranks on one node */
    int64_t available_bytes, total_bytes; /* memory of this node */
    double ratio;                         /* file over the memory of all nodes */
    bool rule_holds;                      /* ratio >= RESIDENT_RULE */
    enum tc_origin tc_origin;
    double t_c_s, t_t_s, time_s; /* T_C; T_T at WRITE_RATE; of the whole command */
    double needed_rate;          /* bytes/s in T_T - T_C at which zeta would be 10 % */
    json_t *misfits, *warnings;  /* arrays of sentences */
    const json_t
        *together; /* of the misfits, that files and ranks do not fit into memory together */
    struct bt_cost_split split[BT_COST_SPLITS]; /* ways to fill the cores of the nodes */
    int splits_n, split_best;
    bt_forecast_search *search;
    json_t *candidates; /* of --io auto: labels; NULL: no search */
    int64_t cells;      /* of the largest rank */
    /* By writers, which run one after the other: on the largest rank, on a node, on all. */
    int64_t held_bytes, node_held_bytes, all_held_bytes;
};

/* Largest file of a file system in its usual configuration (ext4: blocks of 4 KiB). */
static const struct {
    const char *type;
    int64_t bytes;
} longest[] = {
    {"ext2", INT64_C(2) << 40},        {"ext3", INT64_C(2) << 40},
    {"ext4", INT64_C(16) << 40},       {"vfat", (INT64_C(4) << 30) - 1},
    {"msdos", (INT64_C(4) << 30) - 1},
};

/* Ranks, nodes and threads: as asked, else as started. A rank's threads without OMP_NUM_THREADS are
 * its share of the cores, as they would be in the run. */
static int job_shape(struct forecast *f, const struct bt_machine *m)
{
    const struct bt_options *o = &f->setup->opt;
    f->nodes = o->nodes ? o->nodes : m->nodes.count;
    f->ranks = o->ranks ? o->ranks : m->nodes.size;
    f->cores = o->nodes ? f->nodes * m->nodes.node_cores : m->nodes.cores;
    f->threads = m->threads;
    if (!getenv("OMP_NUM_THREADS") && o->ranks)
        f->threads = f->cores > f->ranks ? f->cores / f->ranks : 1;
    if (f->ranks >= f->nodes) return 0;
    return err_set(ERR_USAGE,
                   "--nodes %lld: %lld rank%s cannot be on so many; --ranks says how many",
                   (long long)f->nodes, (long long)f->ranks, units_plural(f->ranks));
}

/* What a candidate holds in memory, and its label where there is a search. */
static void take_candidate(void *of, const struct bt_candidate *c)
{
    struct forecast *f = of;
    char label[BT_LABEL_MAX];
    int64_t reading;
    const struct io_memory m = bt_setup_held(f->setup, c, f->ranks, f->nodes, f->cells, &reading);
    const int64_t node_ranks = bt_plan_div_up(f->ranks, f->nodes);
    const int64_t node_holders = bt_plan_div_up(node_ranks * m.holders_n, f->ranks);
    f->held_bytes = num_max(f->held_bytes, num_max(m.bytes, reading));
    f->node_held_bytes =
        num_max(f->node_held_bytes, num_max(node_holders * m.bytes, node_ranks * reading));
    f->all_held_bytes =
        num_max(f->all_held_bytes, num_max(m.holders_n * m.bytes, f->ranks * reading));
    if (!f->candidates) return;
    bt_candidate_label(c, label);
    json_array_append_new(f->candidates, json_string(label));
}

/* The writers of the command line, or all that a search may try. */
static int candidates(struct forecast *f)
{
    const struct bt_setup *s = f->setup;
    for (int w = 0; !s->search && w < s->writers_n; w++)
        take_candidate(f, &s->candidate[w]);
    if (!s->search) return 0;
    f->candidates = json_array();
    return f->search(s, f->ranks, f->nodes, take_candidate, f);
}

static int memory(struct forecast *f)
{
    const struct bt_setup *s = f->setup;
    char needs[UNITS_TEXT_MAX], has[UNITS_TEXT_MAX];
    struct bt_read_plan reads;
    struct bt_decomp d;
    struct sys_memory here;
    TRY(bt_decomp_make(s->opt.decomp, s->problem.n, (int)f->ranks, 0, &d));
    bt_decomp_name(&d, f->decomp);
    f->grid = d;
    f->cells = 1;
    for (int a = 0; a < 3; a++)
        f->cells *= bt_plan_div_up(d.n, d.p[a]);
    TRY(bt_read_plan_make(&reads, s, &d, (int)f->ranks, 0));
    f->readings_n = (int64_t)reads.shapes_n * s->read_states_n;
    f->fields_bytes = bt_read_plan_bytes(&reads, false);
    const int64_t node_ranks = bt_plan_div_up(f->ranks, f->nodes);
    TRY(candidates(f));
    const int64_t own = bt_machine_rank_bytes(f->cells, s->writers_n > 0) + f->fields_bytes;
    f->rank_bytes = own + f->held_bytes;
    f->memory_bytes = bt_machine_rank_bytes(d.n * d.n * d.n, s->writers_n > 0) +
                      (f->ranks - 1) * bt_machine_rank_bytes(0, false) + f->all_held_bytes +
                      bt_read_plan_bytes(&reads, true);
    f->node_bytes = num_min(f->memory_bytes, node_ranks * own + f->node_held_bytes);
    sys_memory(&here);
    f->total_bytes = here.total_bytes;
    f->available_bytes = bt_machine_free_bytes();
    if (f->node_bytes > f->available_bytes)
        bt_notice(f->misfits,
                  "memory: the ranks of a node (%lld) need about %s, and this one has %s available",
                  (long long)node_ranks, units_bytes((double)f->node_bytes, needs),
                  units_bytes((double)f->available_bytes, has));
    return 0;
}

/* A problem that is too small for its ranks measures messages: the advice is the largest class that
 * takes at most half of the memory of the nodes. */
static void size_warn(struct forecast *f)
{
    const int64_t n = f->setup->problem.n, cells = n * n * n / f->ranks;
    if (cells >= CELLS_MIN || f->ranks == 1) return;
    const int64_t idle = bt_plan_div_up(f->ranks, f->nodes) * bt_machine_rank_bytes(0, false);
    const struct bt_reference *class, *fits = bt_reference_at(0);
    char advice[96] = "";
    for (int i = 1; (class = bt_reference_at(i)) != NULL; i++) {
        const int64_t share = class->n * class->n * class->n / f->nodes;
        if (bt_machine_rank_bytes(share, true) + idle <= f->available_bytes / 2) fits = class;
    }
    if (fits->n > n)
        snprintf(advice, sizeof advice, "; class %c, N = %lld, fits the memory", fits->cls,
                 (long long)fits->n);
    bt_notice(f->warnings,
              "N = %lld over %lld ranks leaves %lld cells to a rank, fewer than %d: messages "
              "outweigh the computation%s",
              (long long)n, (long long)f->ranks, (long long)cells, CELLS_MIN, advice);
}

/* Length of the file of a candidate, with what its format adds. */
static int64_t length_of(const struct forecast *f, const struct bt_candidate *c)
{
    const struct io_spec spec = bt_setup_spec(f->setup, c, &f->setup->problem, "");
    return io_container_bytes(io_writer_format(c->writer), &spec);
}

/* Length of the part of a rank. */
static int64_t part_bytes(const struct forecast *f, int64_t rank)
{
    int64_t bytes = f->dump_bytes / (f->grid.n * f->grid.n * f->grid.n);
    for (int a = 0; a < 3; a++) {
        const int at = (int)(rank % f->grid.p[a]);
        rank /= f->grid.p[a];
        bytes *= bt_decomp_first(f->grid.n, f->grid.p[a], at + 1) -
                 bt_decomp_first(f->grid.n, f->grid.p[a], at);
    }
    return num_product(f->dumps_n, bytes);
}

/* Bytes of blocks of old files that a writer's files at path can have; parts each those of the old part of its
 * name, as they are made side by side. given_back: added to it, what is free when the old files are gone. */
static int64_t reused_at(const struct forecast *f, const char *path, bool parts,
                         int64_t *given_back)
{
    struct io_place_old old = {0};
    bool there = io_place_old(path, &old);
    int64_t reused = parts ? 0 : old.reusable_bytes;
    for (int64_t r = 0; parts && (there || r < f->ranks); r++) {
        char part[IO_PLACE_PATH_MAX];
        struct io_place_old its = {0};
        io_part_path(path, r, part);
        there = io_place_old(part, &its);
        old.bytes += its.bytes;
        if (r < f->ranks) reused += num_min(part_bytes(f, r), its.reusable_bytes);
    }
    *given_back += old.bytes;
    return reused;
}

/* Bytes and files of every writer. --io all removes each file before the next one is made. */
static void files(struct forecast *f)
{
    const struct bt_setup *s = f->setup;
    const bool in_turn = s->all && !s->opt.keep;
    char path[4096];
    /* Bytes of new files and of old ones that are gone, before a writer's turn; on the file system at a
     * time, more than now. */
    int64_t made = 0, given_back = 0, most = -INT64_MAX;
    f->dumps_n = bt_problem_dumps(&s->problem);
    f->dump_bytes = io_dump_bytes(s->layout, s->problem.n);
    for (int w = 0; w < s->writers_n; w++) {
        const unsigned caps = io_writer_caps(s->candidate[w].writer);
        const bool parts = (caps & IO_CAP_PARTS) != 0;
        if (!(caps & IO_CAPS_DATA)) continue;
        const int64_t length = length_of(f, &s->candidate[w]);
        f->file_bytes = num_max(f->file_bytes, length);
        f->disk_bytes = in_turn ? f->file_bytes : num_sum(f->disk_bytes, length);
        f->files_n += in_turn ? 0 : 2 + (parts ? f->ranks : 0); /* FILE and its manifest */
        f->written_bytes = num_sum(f->written_bytes, num_product(s->rounds, length));
        const int64_t each =
            s->read == BT_READ_ALL ? num_product(f->dumps_n, f->dump_bytes) : f->dump_bytes;
        f->read_bytes =
            num_sum(f->read_bytes, num_product(s->rounds, num_product(f->readings_n, each)));
        bt_setup_path(s, s->candidate[w].writer, path);
        const int64_t before = num_sum(made, length) - given_back;
        const bool first = w == 0 || !s->search; /* a search has one name for all */
        most = num_max(most, before - (first ? reused_at(f, path, parts, &given_back) : 0));
        made = in_turn ? 0 : num_sum(made, length);
    }
    /* From the second round on each writer finds the file of the round before. */
    if (s->rounds > 1 && !in_turn && !io_place_reuses(s->opt.out))
        most = num_max(most, num_sum(made, f->file_bytes) - given_back);
    f->disk_bytes = num_max(f->disk_bytes, most);
    f->peak_bytes = s->rounds > 1 && !in_turn ? num_sum(made, f->file_bytes) : 0;
    f->free_bytes = f->disk_bytes - most;
}

static void length_fits(struct forecast *f, const struct sys_fs *fs)
{
    char needs[UNITS_TEXT_MAX], has[UNITS_TEXT_MAX];
    int64_t most = INT64_MAX;
    const char *who = fs->type;
    for (size_t i = 0; i < sizeof longest / sizeof longest[0]; i++)
        if (strcmp(fs->type, longest[i].type) == 0) most = longest[i].bytes;
    if (sys_file_limit() < most) {
        most = sys_file_limit();
        who = "a limit on file sizes (ulimit -f)";
    }
    if (f->file_bytes > most || f->file_bytes == NUM_ENDLESS)
        bt_notice(f->misfits, "length: the file of %s is longer than %s allows, %s",
                  units_bytes((double)f->file_bytes, needs), who, units_bytes((double)most, has));
}

static int disk(struct forecast *f)
{
    char needs[UNITS_TEXT_MAX], has[UNITS_TEXT_MAX];
    struct sys_fs fs;
    files(f);
    if (f->file_bytes == 0) return 0;
    TRY(sys_path_fs(f->setup->opt.out, &fs));
    f->free_bytes = fs.free_bytes < 0 ? -1 : f->free_bytes + fs.free_bytes;
    const bool in_place = fs.in_memory || (f->free_bytes >= 0 && f->peak_bytes > f->free_bytes);
    f->peak_bytes = in_place ? f->disk_bytes : num_max(f->peak_bytes, f->disk_bytes);
    if (f->free_bytes >= 0 && f->disk_bytes > f->free_bytes)
        bt_notice(f->misfits, "space: %s are needed, and %s (%s) has %s free",
                  units_bytes((double)f->disk_bytes, needs), fs.mount, fs.type,
                  units_bytes((double)f->free_bytes, has));
    /* Old files there have memory that new ones take over. */
    const int64_t memory = num_sum(f->available_bytes, f->free_bytes - num_max(fs.free_bytes, 0));
    const int64_t together = num_sum(f->disk_bytes, f->node_bytes);
    if (fs.in_memory && f->nodes == 1 && f->free_bytes >= 0 && f->disk_bytes <= f->free_bytes &&
        together > memory) {
        bt_notice(f->misfits,
                  "memory: files and ranks need %s together, as %s (%s) is in memory, and this "
                  "node has %s available",
                  units_bytes((double)together, needs), fs.mount, fs.type,
                  units_bytes((double)memory, has));
        f->together = json_array_get(f->misfits, json_array_size(f->misfits) - 1);
    }
    length_fits(f, &fs);
    return 0;
}

/* Nominal operations per second of this rank, by a few steps of a small problem. */
static int probe(const struct bt_setup *s, double *flop_per_s)
{
    struct bt_problem p = s->problem;
    struct bt_solver *solver = NULL;
    struct bt_decomp d;
    double seconds = 0;
    p.n = num_min(p.n, PROBE_N);
    p.steps = PROBE_STEPS;
    TRY(bt_decomp_make("auto", p.n, 1, 0, &d));
    TRY(bt_solver_new(&solver, MPI_COMM_SELF, &p, &d, s->opt.isa));
    const int rc = bt_run_probe(MPI_COMM_SELF, solver, PROBE_STEPS, &seconds);
    bt_solver_free(solver);
    *flop_per_s = seconds > 0 ? bt_problem_flop(&p) / seconds : 0;
    return rc;
}

/* A store that cannot be read counts as one without this time. */
static int find_t_c(struct forecast *f, const struct bt_machine *m)
{
    const struct bt_setup *s = f->setup;
    const int64_t used = num_min(f->ranks * f->threads, f->cores);
    const struct bt_tc_key key = bt_compute_key(&m->nodes, f->nodes, used, &s->problem);
    struct bt_tc_entry entry = {0};
    char store[4096], why[BT_TC_WHY_MAX] = "";
    double flop_per_s;
    f->tc_origin = FROM_USER;
    f->t_c_s = s->tc_given_s;
    if (s->tc_source == BT_TC_GIVEN) return 0;
    int found = bt_tc_path(s->opt.tc_store, store, sizeof store);
    if (found == 0) found = bt_tc_find(store, &key, &entry, why);
    if (found == 0 && why[0]) bt_notice(f->warnings, "%s", why);
    if (found < 0) err_clear();
    f->tc_origin = found == 1 ? FROM_STORE : FROM_PROBE;
    if (found == 1) f->t_c_s = entry.t_c_s;
    if (found == 1) return 0;
    TRY(probe(s, &flop_per_s));
    const int64_t probed = num_min(m->threads, m->nodes.node_cores);
    const double all = flop_per_s * (double)used / (double)probed * (used > probed ? PARALLEL : 1);
    f->t_c_s = bt_problem_flop(&s->problem) / all;
    return 0;
}

/* Rounds of all writers with reading back, and T_C where it is not known. */
static void times(struct forecast *f)
{
    const struct bt_setup *s = f->setup;
    const bool measures =
        s->tc_source == BT_TC_MEASURE || (s->tc_source == BT_TC_BEST && f->tc_origin != FROM_STORE);
    const double bytes = (double)f->file_bytes, rounds = (double)s->rounds;
    const double reading = strcmp(s->opt.verify, "never") == 0 ? 0 : bytes / READ_RATE;
    f->t_t_s = f->t_c_s + bytes / WRITE_RATE;
    f->needed_rate = bytes / (BALANCE_GOAL * f->t_c_s);
    f->time_s = rounds * s->writers_n * (f->t_t_s + reading) +
                (bt_setup_computes(s) ? rounds * f->t_c_s : 0);
    if (measures && !bt_setup_computes(s)) f->time_s += f->t_c_s;
    f->time_s += (double)f->read_bytes / READ_RATE;
    /* Rounds that end by themselves: at most so many, and as many as there is time for. */
    if (!s->rounds_auto || !(f->time_s > 60 * s->opt.minutes)) return;
    const double made = fmax(1, floor(60 * s->opt.minutes / (f->time_s / rounds)));
    f->time_s *= made / rounds;
    f->written_bytes = (int64_t)((double)f->written_bytes * made / rounds);
    f->read_bytes = (int64_t)((double)f->read_bytes * made / rounds);
}

/* Ranks x threads for these nodes, by the cost model with work that takes as long as T_C says; one that
 * was given may be of any machine. */
static void splits(struct forecast *f, const struct bt_machine *m)
{
    const struct bt_problem *p = &f->setup->problem;
    struct bt_cost_machine here = bt_cost_reference;
    struct sys_cpu cpu;
    double cell_s = 0;
    for (int i = 0; i < BT_COST_PHASES; i++)
        cell_s += here.busy * here.cell_s[i];
    if (f->tc_origin != FROM_USER && f->t_c_s > 0) {
        const double cells = (double)p->n * (double)p->n * (double)p->n * (double)p->steps;
        const double used = (double)num_min(f->ranks * f->threads, f->cores);
        for (int i = 0; i < BT_COST_PHASES; i++)
            here.cell_s[i] *= f->t_c_s * used / cells / cell_s;
    }
    sys_cpu(&cpu);
    f->splits_n = bt_cost_splits(&here, f->setup->opt.decomp, p->n, f->nodes, m->nodes.node_cores,
                                 num_max(1, cpu.packages_n), f->split, &f->split_best);
}

static int plan(struct forecast *f, const struct bt_machine *m)
{
    TRY(bt_solver_isa_check(f->setup->opt.isa)); /* also where no solver is made */
    TRY(job_shape(f, m));
    TRY(memory(f));
    TRY(disk(f));
    size_warn(f);
    const double all = (double)f->total_bytes * (double)f->nodes;
    f->ratio = all > 0 ? (double)f->file_bytes / all : 0;
    f->rule_holds = f->ratio >= RESIDENT_RULE;
    TRY(find_t_c(f, m));
    times(f);
    splits(f, m);
    if (!f->setup->search) return 0;
    f->time_s = 60 * f->setup->opt.minutes;
    f->written_bytes = 0; /* nobody knows */
    return 0;
}

static const char *const origin_name[] = {
    [FROM_STORE] = "store", [FROM_PROBE] = "probe", [FROM_USER] = "given"};
static const char *const origin_words[] = {
    [FROM_STORE] = "remembered for this system and problem",
    [FROM_PROBE] = "estimated from a few steps of one rank, to a factor of two",
    [FROM_USER] = "given with --tc",
};

static void print(const struct forecast *f, FILE *to)
{
    const struct bt_problem *p = &f->setup->problem;
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX], c[UNITS_TEXT_MAX];
    size_t i;
    const json_t *text;
    fprintf(to, "%s %s: dry run, nothing is written\n", bt_program.name, nht1_build);
    fprintf(to, "Problem   class %c, N = %lld, %lld steps, a dump every %lld\n", p->cls,
            (long long)p->n, (long long)p->steps, (long long)p->interval);
    fprintf(to, "Ranks     %lld x %lld thread%s on %lld node%s, decomposition %s\n",
            (long long)f->ranks, (long long)f->threads, units_plural(f->threads),
            (long long)f->nodes, units_plural(f->nodes), f->decomp);
    if (f->file_bytes == 0) {
        fprintf(to, "Bytes     nothing is left on disk\n");
    } else {
        fprintf(to, "Bytes     %lld dump%s of %s: a file of %s\n", (long long)f->dumps_n,
                units_plural(f->dumps_n), units_bytes((double)f->dump_bytes, a),
                units_bytes((double)f->file_bytes, b));
        fprintf(to, "          %s at a time, %s free; ", units_bytes((double)f->disk_bytes, a),
                f->free_bytes < 0 ? "not told how much is" : units_bytes((double)f->free_bytes, b));
        if (!f->candidates)
            fprintf(to, "%s written in all; ", units_bytes((double)f->written_bytes, c));
        fprintf(to, "%lld file%s left\n", (long long)f->files_n, f->files_n == 1 ? " is" : "s are");
        if (f->peak_bytes > f->disk_bytes)
            fprintf(to,
                    "          %s while a round replaces the file of the one before, if there is "
                    "room\n",
                    units_bytes((double)f->peak_bytes, a));
    }
    if (f->readings_n > 0)
        fprintf(to,
                "Reading   %lld time%s after each run, %s in all; fields of %s on the largest rank "
                "for it\n",
                (long long)f->readings_n, units_plural(f->readings_n),
                units_bytes((double)f->read_bytes, a), units_bytes((double)f->fields_bytes, b));
    fprintf(to, "Memory    %s per rank, %s per node, %s available here\n",
            units_bytes((double)f->rank_bytes, a), units_bytes((double)f->node_bytes, b),
            units_bytes((double)f->available_bytes, c));
    if (f->file_bytes > 0)
        fprintf(to,
                "Cache     the file is %.3g times the memory of %lld node%s (%s each). From %d "
                "times on,\n          reading it back certainly comes from the device: %s\n",
                f->ratio, (long long)f->nodes, units_plural(f->nodes),
                units_bytes((double)f->total_bytes, a), RESIDENT_RULE,
                f->rule_holds ? "met" : "not met");
    fprintf(to, "T_C       %s: %s\n", units_duration(f->t_c_s, a), origin_words[f->tc_origin]);
    if (f->file_bytes > 0)
        fprintf(to, "T_T       %s if writing went at %s; zeta = %.2f needs %s\n",
                units_duration(f->t_t_s, a), units_rate(WRITE_RATE, b), BALANCE_GOAL,
                units_rate(f->needed_rate, c));
    if (f->candidates) {
        fprintf(to, "Search    %zu candidates of %d writers, where this system can run all:\n",
                json_array_size(f->candidates), f->setup->writers_n);
        json_array_foreach(f->candidates, i, text)
            plain_line(to, "          %s", json_string_value(text));
    }
    fprintf(to, "Time      %s %s for the whole command\n", f->candidates ? "at most" : "about",
            units_duration(f->time_s, a));
    for (int k = 0; k < f->splits_n && f->splits_n > 1; k++) {
        const struct bt_cost_split *x = &f->split[k];
        fprintf(to,
                "%s %lld x %lld thread%s, one rank per %s (%s): %s a step by the cost model%s\n",
                k == 0 ? "Split    " : "         ", (long long)x->ranks, (long long)x->threads,
                units_plural(x->threads), x->per, x->grid, units_duration(x->cost.step_s, a),
                k == f->split_best ? ", recommended" : "");
    }
    json_array_foreach(f->warnings, i, text)
        plain_line(to, "Warning   %s", json_string_value(text));
    json_array_foreach(f->misfits, i, text)
        plain_line(to, "DOES NOT FIT: %s", json_string_value(text));
    if (json_array_size(f->misfits) == 0) fprintf(to, "Fits      yes\n");
}

static json_t *plan_json(const void *of, int status)
{
    (void)status;
    const struct forecast *f = of;
    json_t *o = json_pack("{ss ss so ss ss ss so sb so so}", "schema", SCHEMA, "version",
                          nht1_build, "problem", bt_result_problem(f->setup), "decomp", f->decomp,
                          "t_c_origin", origin_name[f->tc_origin], "time_source",
                          origin_words[f->tc_origin], "balance_rate_bytes_per_s",
                          f->file_bytes > 0 ? js_real(f->needed_rate) : json_null(), "fits",
                          (int)(json_array_size(f->misfits) == 0), "misfits",
                          json_incref(f->misfits), "warnings", json_incref(f->warnings));
    json_t *sizes =
        json_pack("{sI sI sI sI sI sI sI sI so sI sI sI sI sI sI}", "ranks", (json_int_t)f->ranks,
                  "threads", (json_int_t)f->threads, "nodes", (json_int_t)f->nodes,
                  "cores_of_nodes", (json_int_t)f->cores, "file_bytes", (json_int_t)f->file_bytes,
                  "files_n", (json_int_t)f->files_n, "disk_bytes", (json_int_t)f->disk_bytes,
                  "disk_peak_bytes", (json_int_t)f->peak_bytes, "disk_free_bytes",
                  f->free_bytes < 0 ? json_null() : json_integer((json_int_t)f->free_bytes),
                  "written_bytes", (json_int_t)f->written_bytes, "rank_memory_bytes",
                  (json_int_t)f->rank_bytes, "memory_bytes", (json_int_t)f->memory_bytes,
                  "node_memory_bytes", (json_int_t)f->node_bytes, "memory_available_bytes",
                  (json_int_t)f->available_bytes, "memory_total_bytes", (json_int_t)f->total_bytes);
    json_t *rest =
        json_pack("{so si sb so so so so}", "memory_ratio", js_real(f->ratio), "memory_rule",
                  RESIDENT_RULE, "memory_rule_holds", (int)f->rule_holds, "t_c_s",
                  js_real(f->t_c_s), "t_t_s", js_real(f->t_t_s), "time_s", js_real(f->time_s),
                  "write_rate_assumed_bytes_per_s", js_real(WRITE_RATE));
    if (f->setup->read != BT_READ_NOTHING)
        json_object_set_new(o, "read",
                            json_pack("{sI sI sI}", "readings_n", (json_int_t)f->readings_n,
                                      "bytes", (json_int_t)f->read_bytes, "rank_memory_bytes",
                                      (json_int_t)f->fields_bytes));
    if (f->candidates)
        json_object_set_new(o, "search",
                            json_pack("{so so}", "minutes", js_real(f->setup->opt.minutes),
                                      "candidates", json_incref(f->candidates)));
    json_t *list = json_array();
    for (int k = 0; k < f->splits_n && f->splits_n > 1; k++)
        json_array_append_new(list,
                              json_pack("{ss sI sI ss so sb}", "per", f->split[k].per, "ranks",
                                        (json_int_t)f->split[k].ranks, "threads",
                                        (json_int_t)f->split[k].threads, "decomp", f->split[k].grid,
                                        "s_per_step", js_real(f->split[k].cost.step_s),
                                        "recommended", k == f->split_best));
    json_object_set_new(o, "splits", list);
    json_object_update(o, sizes);
    json_object_update(o, rest);
    json_decref(sizes);
    json_decref(rest);
    return o;
}

int bt_forecast_fits(MPI_Comm comm, const struct bt_machine *m, const struct bt_setup *setup,
                     bt_forecast_search *search)
{
    struct forecast f = {.setup = setup, .search = search, .misfits = json_array()};
    struct sys_fs fs = {.in_memory = false};
    int rc = 0;
    if (m->nodes.rank == 0 && !setup->opt.restart && sys_path_fs(setup->opt.out, &fs) < 0)
        err_clear();
    if (fs.in_memory) {
        rc = job_shape(&f, m);
        if (rc == 0) rc = memory(&f);
        if (rc == 0) rc = disk(&f);
        /* All else is found out where files are made. */
        if (rc == 0 && f.together)
            rc = err_set(ERR_IO, "does not fit: %s", json_string_value(f.together));
    }
    json_decref(f.misfits);
    json_decref(f.candidates);
    return par_agree(comm, rc);
}

int bt_forecast_run(MPI_Comm comm, const struct bt_setup *setup, bt_forecast_search *search)
{
    struct forecast f = {
        .setup = setup, .search = search, .misfits = json_array(), .warnings = json_array()};
    const struct program_output result = {"--json", setup->opt.json, "nht1-bt-plan/",
                                          .json = plan_json};
    struct bt_machine m;
    int rc;
    TRY_TO(out, rc, bt_machine_make(comm, &m));
    const bool first = m.nodes.rank == 0;
    TRY_TO(out, rc, par_agree(comm, first ? bt_setup_names(setup) : 0));
    TRY_TO(out, rc, setup->opt.read_drop_system ? io_read_may_drop_system(comm) : 0);
    TRY_TO(out, rc, par_agree(comm, first ? program_outputs_check(&result, 1) : 0));
    TRY_TO(out, rc, par_agree(comm, first ? plan(&f, &m) : 0));
    if (first && !setup->opt.quiet) print(&f, stdout);
    const json_t *misfit = json_array_get(f.misfits, 0);
    if (misfit) rc = err_set(ERR_IO, "does not fit: %s", json_string_value(misfit));
    rc = program_outputs_write(&result, 1, &f, par_agree(comm, rc));
out:
    bt_machine_free(&m);
    json_decref(f.misfits);
    json_decref(f.warnings);
    json_decref(f.candidates);
    return rc;
}
