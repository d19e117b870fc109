/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/forecast.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/par.h"
#include "base/resident.h"
#include "base/sys.h"
#include "base/units.h"
#include "bt/solver/decomp.h"
#include "bt/compute.h"
#include "bt/machine.h"
#include "bt/metrics.h"
#include "bt/run.h"
#include "bt/solver/solver.h"
#include "bt/tc.h"
#include "io/driver.h"

#define PROBE_N     80 /* larger than caches, a step of it takes tens of milliseconds */
#define PROBE_STEPS 3
#define PARALLEL    0.8 /* share of the one rank's speed that every one of many reaches, roughly */

/* Longest file that a file system takes, in its usual configuration (ext4: blocks of 4 KiB). */
static const struct {
    const char *type;
    int64_t bytes;
} longest[] = {
    {"ext2", INT64_C(2) << 40},        {"ext3", INT64_C(2) << 40},
    {"ext4", INT64_C(16) << 40},       {"vfat", (INT64_C(4) << 30) - 1},
    {"msdos", (INT64_C(4) << 30) - 1},
};

static void misfit(struct bt_forecast *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void misfit(struct bt_forecast *f, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    json_array_append_new(f->misfits, json_string(text));
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t div_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Ranks, nodes and threads: as asked, else as started. A rank's threads without OMP_NUM_THREADS are
 * its share of the cores, as they would be in the run. */
static int job_shape(struct bt_forecast *f, const struct bt_setup *s, const struct bt_machine *m)
{
    f->nodes = s->opt.nodes ? s->opt.nodes : m->nodes.count;
    f->ranks = s->opt.ranks ? s->opt.ranks : m->nodes.size;
    f->cores = s->opt.nodes ? f->nodes * m->nodes.node_cores : m->nodes.cores;
    f->threads = m->threads;
    if (!getenv("OMP_NUM_THREADS") && s->opt.ranks)
        f->threads = f->cores > f->ranks ? f->cores / f->ranks : 1;
    if (f->ranks >= f->nodes) return 0;
    return err_set(ERR_USAGE,
                   "--nodes %lld: %lld rank%s cannot be on so many; --ranks says how many",
                   (long long)f->nodes, (long long)f->ranks, units_plural(f->ranks));
}

static int memory(struct bt_forecast *f, const struct bt_setup *s)
{
    struct bt_decomp d;
    struct sys_memory here;
    int64_t cells = 1;
    TRY(bt_decomp_make(s->opt.decomp, s->problem.n, (int)f->ranks, 0, &d));
    bt_decomp_name(&d, f->decomp);
    for (int a = 0; a < 3; a++)
        cells *= div_up(d.n, d.p[a]);
    f->rank_bytes = bt_machine_rank_bytes(cells, s->writers_n > 0);
    f->memory_bytes = bt_machine_rank_bytes(d.n * d.n * d.n, s->writers_n > 0) +
                      (f->ranks - 1) * bt_machine_rank_bytes(0, false);
    f->node_bytes = least(f->memory_bytes, div_up(f->ranks, f->nodes) * f->rank_bytes);
    sys_memory(&here);
    f->total_bytes = here.total_bytes;
    f->available_bytes = bt_machine_free_bytes();
    return 0;
}

static void memory_fits(struct bt_forecast *f)
{
    char needs[UNITS_TEXT_MAX], has[UNITS_TEXT_MAX];
    if (f->node_bytes <= f->available_bytes) return;
    misfit(f, "memory: the ranks of a node (%lld) need about %s, and this one has %s available",
           (long long)div_up(f->ranks, f->nodes), units_bytes((double)f->node_bytes, needs),
           units_bytes((double)f->available_bytes, has));
}

/* What an old file of that name would give back. */
static int64_t occupied(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (int64_t)st.st_blocks * 512 : 0;
}

static bool leaves_data(const struct bt_setup *s, int writer)
{
    return (io_driver_caps(s->writer[writer]) & (IO_CAP_SERIAL_FILE | IO_CAP_PARTS)) != 0;
}

/* Bytes and files of every writer. --io all removes each file before the next one is made. */
static void files(struct bt_forecast *f, const struct bt_setup *s)
{
    const bool in_turn = s->all && !s->opt.keep;
    char path[4096];
    f->dumps_n = bt_problem_dumps(&s->problem);
    f->dump_bytes = io_dump_bytes(s->layout, s->problem.n);
    for (int w = 0; w < s->writers_n; w++) {
        const bool parts = (io_driver_caps(s->writer[w]) & IO_CAP_PARTS) != 0;
        if (!leaves_data(s, w)) continue;
        f->file_bytes = f->dumps_n * f->dump_bytes;
        f->disk_bytes = in_turn ? f->file_bytes : f->disk_bytes + f->file_bytes;
        f->files_n += in_turn ? 0 : 1 + (parts ? f->ranks : 1);
        f->written_bytes += s->opt.repeat * f->file_bytes;
        bt_setup_path(s, w, path);
        f->free_bytes += occupied(path);
    }
}

static void length_fits(struct bt_forecast *f, const struct sys_fs *fs)
{
    char needs[UNITS_TEXT_MAX], has[UNITS_TEXT_MAX];
    struct rlimit limit;
    int64_t most = INT64_MAX;
    const char *who = fs->type;
    for (size_t i = 0; i < sizeof longest / sizeof longest[0]; i++)
        if (strcmp(fs->type, longest[i].type) == 0) most = longest[i].bytes;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < (rlim_t)most) {
        most = (int64_t)limit.rlim_cur;
        who = "a limit on file sizes (ulimit -f)";
    }
    if (f->file_bytes > most)
        misfit(f, "length: the file of %s is longer than %s allows, %s",
               units_bytes((double)f->file_bytes, needs), who, units_bytes((double)most, has));
}

static int disk(struct bt_forecast *f, const struct bt_setup *s)
{
    char needs[UNITS_TEXT_MAX], has[UNITS_TEXT_MAX];
    struct sys_fs fs;
    files(f, s);
    if (f->file_bytes == 0) return 0;
    TRY(sys_path_fs(s->opt.out, &fs));
    f->free_bytes += fs.free_bytes;
    if (f->disk_bytes > f->free_bytes)
        misfit(f, "space: %s are needed, and %s (%s) has %s free",
               units_bytes((double)f->disk_bytes, needs), fs.mount, fs.type,
               units_bytes((double)f->free_bytes, has));
    length_fits(f, &fs);
    return 0;
}

static void cache_rule(struct bt_forecast *f)
{
    const double all = (double)f->total_bytes * (double)f->nodes;
    f->ratio = all > 0 ? (double)f->file_bytes / all : 0;
    f->rule_holds = f->ratio >= RESIDENT_RULE;
}

/* Nominal operations per second of this rank, by a few steps of a small problem. */
static int probe(const struct bt_setup *s, double *flop_per_s)
{
    struct bt_problem p = s->problem;
    struct bt_solver *solver = NULL;
    struct bt_decomp d;
    double seconds = 0;
    p.n = least(p.n, PROBE_N);
    p.steps = PROBE_STEPS;
    TRY(bt_decomp_make("auto", p.n, 1, 0, &d));
    TRY(bt_solver_new(&solver, MPI_COMM_SELF, &p, &d, s->opt.isa));
    const int rc = bt_run_probe(MPI_COMM_SELF, solver, PROBE_STEPS, &seconds);
    bt_solver_free(solver);
    *flop_per_s = seconds > 0 ? bt_problem_flop(&p) / seconds : 0;
    return rc;
}

static int estimate_t_c(struct bt_forecast *f, const struct bt_setup *s, const struct bt_machine *m)
{
    const int64_t used = least(f->ranks * f->threads, f->cores);
    double flop_per_s;
    TRY(probe(s, &flop_per_s));
    const int64_t probed = least(m->threads, m->nodes.node_cores);
    const double all = flop_per_s * (double)used / (double)probed * (used > probed ? PARALLEL : 1);
    f->t_c_s = bt_problem_flop(&s->problem) / all;
    f->tc_origin = BT_FORECAST_PROBE;
    return 0;
}

/* A store that cannot be read is a store without this time. */
static int find_t_c(struct bt_forecast *f, const struct bt_setup *s, const struct bt_machine *m)
{
    const struct bt_tc_key key =
        bt_compute_key(&m->nodes, f->nodes, least(f->ranks * f->threads, f->cores), &s->problem);
    struct bt_tc_entry entry;
    char store[4096];
    f->tc_origin = BT_FORECAST_GIVEN;
    f->t_c_s = s->tc_given_s;
    if (s->tc_source == BT_TC_GIVEN) return 0;
    int found = bt_tc_path(s->opt.tc_store, store, sizeof store);
    if (found == 0) found = bt_tc_find(store, &key, &entry);
    if (found < 0) err_clear();
    if (found != 1) return estimate_t_c(f, s, m);
    f->tc_origin = BT_FORECAST_STORE;
    f->t_c_s = entry.t_c_s;
    return 0;
}

/* Rounds of all writers with reading back, and T_C where it is not known. */
static void times(struct bt_forecast *f, const struct bt_setup *s)
{
    const bool measures = s->tc_source == BT_TC_MEASURE ||
                          (s->tc_source == BT_TC_BEST && f->tc_origin != BT_FORECAST_STORE);
    const double bytes = (double)f->file_bytes, rounds = (double)s->opt.repeat;
    const double reading = strcmp(s->opt.verify, "never") == 0 ? 0 : bytes / BT_FORECAST_READ;
    f->t_t_s = f->t_c_s + bytes / BT_FORECAST_WRITE;
    f->needed_rate = bytes / (BT_BALANCE_GOAL * f->t_c_s);
    f->time_s = rounds * s->writers_n * (f->t_t_s + reading) + (s->compute ? rounds * f->t_c_s : 0);
    if (measures && !s->compute) f->time_s += f->t_c_s;
}

static int plan(struct bt_forecast *f, const struct bt_setup *s, const struct bt_machine *m)
{
    TRY(job_shape(f, s, m));
    TRY(memory(f, s));
    TRY(disk(f, s));
    memory_fits(f);
    cache_rule(f);
    TRY(find_t_c(f, s, m));
    times(f, s);
    return 0;
}

int bt_forecast_make(MPI_Comm comm, const struct bt_setup *s, struct bt_forecast *f)
{
    struct bt_machine m;
    int rc;
    *f = (struct bt_forecast){.misfits = json_array()};
    TRY_TO(out, rc, bt_machine_make(comm, &m));
    TRY_TO(out, rc, par_agree(comm, m.nodes.rank == 0 ? plan(f, s, &m) : 0));
out:
    bt_machine_free(&m);
    return rc;
}

void bt_forecast_free(struct bt_forecast *f)
{
    json_decref(f->misfits);
    f->misfits = NULL;
}
