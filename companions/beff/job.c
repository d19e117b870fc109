/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beff/job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/par.h"
#include "base/program.h"
#include "base/stamp.h"
#include "base/sys.h"
#include "base/units.h"
#include "base/watch.h"
#include "companions/beff/rmax.h"
#include "companions/beff/traffic.h"

/* The system did something else meanwhile where repetitions took so much longer than the fastest.
 */
#define DISTURBED 1.05

#define TABLES_BYTES ((int64_t)32 << 20) /* tables and library buffers of a rank, roughly */

bool beff_job_valid(const struct beff_job *job)
{
    return !stamp_find(job->stamps, STAMP_NOT_VALID);
}

/* Memory of a process, as far as this job may use its node's, and L_max, which follows from it;
 * whether the buffers of all processes of a node fit into what is free there. */
static int memory_find(struct beff_job *job)
{
    const struct beff_options *o = &job->setup->opt;
    struct beff_memory *m = &job->memory;
    struct sys_memory here;
    sys_memory(&here);
    const int64_t mine = here.usable_bytes / job->nodes.node_size;
    TRY_MPI(MPI_Allreduce(&mine, &m->detected_bytes, 1, MPI_INT64_T, MPI_MIN, job->comm));
    m->process_bytes = o->memory > 0 ? o->memory : m->detected_bytes;
    m->source = o->memory > 0 ? "--memory-per-process"
                : here.limit_bytes > 0
                    ? "limit of the control group, shared by the processes of a node"
                    : "memory of a node, shared by its processes";
    if (m->process_bytes < BEFF_MEMORY_MIN)
        return err_set(ERR_USAGE,
                       "a process has %lld bytes of memory, at least 1 MiB is needed for L_max: "
                       "give --memory-per-process",
                       (long long)m->process_bytes);
    m->total_bytes = num_product(m->process_bytes, job->nodes.size);
    if (m->total_bytes == NUM_ENDLESS)
        return err_set(ERR_USAGE,
                       "--memory-per-process %lld: %d processes would have more than 2^63 bytes: "
                       "give the memory of one",
                       (long long)m->process_bytes, job->nodes.size);
    m->lmax_bytes = beff_size_lmax(job->setup->definition, m->process_bytes);
    if (o->lmax > 0) m->lmax_bytes = o->lmax;
    if (o->quick && o->lmax == 0 && m->lmax_bytes > BEFF_QUICK_LMAX)
        m->lmax_bytes = BEFF_QUICK_LMAX;
    const int64_t buffers_bytes = beff_traffic_bytes(m->lmax_bytes, (int)o->buffers);
    /* MPI_Alltoallv takes places in the buffers as int. */
    if (buffers_bytes / 2 > INT32_MAX)
        return err_set(ERR_USAGE,
                       "--buffers %lld: with messages of %lld bytes that is more than the 2 GiB "
                       "that MPI_Alltoallv can address: give fewer, or a smaller --lmax",
                       (long long)o->buffers, (long long)m->lmax_bytes);
    const int64_t needed = (buffers_bytes + TABLES_BYTES) * job->nodes.node_size;
    if (needed <= here.free_bytes) return 0;
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];
    return err_set(ERR_NOMEM,
                   "the buffers of %d processes on %s need %s of memory, %s are free: give a "
                   "smaller --memory-per-process",
                   job->nodes.node_size, job->nodes.host, units_bytes((double)needed, a),
                   units_bytes((double)here.free_bytes, b));
}

/* One rank reads the file, all know the rate. */
static int rate_find(struct beff_job *job)
{
    const struct beff_options *o = &job->setup->opt;
    struct beff_rate *r = &job->rate;
    r->label = o->bt_result ? "BT rate, not R_max" : "R_max";
    r->source = o->hpl ? o->hpl : o->bt_result ? o->bt_result : o->rmax;
    r->flop_per_s = job->setup->rmax_flop_per_s;
    int rc = 0;
    if (job->nodes.rank == 0 && o->hpl) rc = beff_rmax_hpl(o->hpl, &r->flop_per_s);
    if (job->nodes.rank == 0 && o->bt_result)
        rc = beff_rmax_bt(o->bt_result, &r->flop_per_s, &r->cores_n);
    TRY(par_agree(job->comm, rc));
    TRY_MPI(MPI_Bcast(&r->flop_per_s, 1, MPI_DOUBLE, 0, job->comm));
    TRY_MPI(MPI_Bcast(&r->cores_n, 1, MPI_INT64_T, 0, job->comm));
    return 0;
}

/* --- placement of the processes --- */

/* The largest periodic grid of at most n processes with a shape that suits; the library may number
 * it to suit the network. */
static int grid_make(MPI_Comm row, int n, int dims_n, struct beff_grid *grid)
{
    const int periods[3] = {1, 1, 1};
    MPI_Comm cart;
    int position = -1;
    for (int m = n; m > 0; m--) {
        int dims[3] = {0, 0, 0};
        TRY_MPI(MPI_Dims_create(m, dims_n, dims));
        for (int d = 0; d < 3; d++)
            grid->dims[d] = d < dims_n ? dims[d] : 1;
        if (beff_grid_suits(m, dims[dims_n - 1])) break;
    }
    TRY_MPI(MPI_Cart_create(row, dims_n, grid->dims, periods, 1, &cart));
    if (cart != MPI_COMM_NULL) {
        TRY_MPI(MPI_Comm_rank(cart, &position));
        TRY_MPI(MPI_Comm_free(&cart));
    }
    /* Every process tells its position in the grid, or that it has none. */
    int *all = mem_new(n, sizeof *all, "a grid of %d processes", n);
    grid->order = mem_new(n, sizeof *grid->order, "a grid of %d processes", n);
    int rc = par_agree_memory(row, all && grid->order);
    if (rc == 0)
        rc = par_check(MPI_Allgather(&position, 1, MPI_INT, all, 1, MPI_INT, row), "MPI_Allgather");
    for (int r = 0; rc == 0 && r < n; r++)
        if (all[r] >= 0) grid->order[all[r]] = r;
    free(all);
    return rc;
}

int beff_topology_make(MPI_Comm comm, struct beff_topology *t)
{
    const int periodic = 1;
    int n;
    *t = (struct beff_topology){.row = MPI_COMM_NULL};
    TRY_MPI(MPI_Comm_size(comm, &n));
    TRY_MPI(MPI_Cart_create(comm, 1, &n, &periodic, 1, &t->row));
    TRY_MPI(MPI_Comm_set_errhandler(t->row, MPI_ERRORS_RETURN));
    for (int g = 0; g < 2; g++)
        TRY(grid_make(t->row, n, g + 2, &t->grid[g]));
    return 0;
}

void beff_topology_free(struct beff_topology *t)
{
    for (int g = 0; g < 2; g++)
        free(t->grid[g].order);
    if (t->row != MPI_COMM_NULL) MPI_Comm_free(&t->row);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

const char *beff_placement(char *const *hosts, int n)
{
    int runs = 1, different = 1;
    char **sorted = calloc((size_t)n, sizeof *sorted);
    if (!sorted) return "unknown";
    memcpy(sorted, hosts, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_name);
    for (int r = 1; r < n; r++) {
        runs += strcmp(hosts[r], hosts[r - 1]) != 0;
        different += strcmp(sorted[r], sorted[r - 1]) != 0;
    }
    free(sorted);
    if (different == 1) return "one node";
    if (runs == different) return "sequential"; /* no node is come back to */
    return runs == n ? "round-robin" : "mixed";
}

/* All ranks make the same patterns, or different programs are running. */
static int plan_make(struct beff_job *job)
{
    int rank;
    TRY_MPI(MPI_Comm_rank(job->topology.row, &rank));
    const struct beff_plan_spec spec = {
        .definition = job->setup->definition,
        .n = job->nodes.size,
        .rank = rank,
        .random_n = job->setup->random_n,
        .seed = (uint64_t)job->setup->opt.seed,
        .analysis = !job->setup->opt.no_analysis,
        .grid = {job->topology.grid[0], job->topology.grid[1]},
    };
    TRY(par_agree(job->comm, beff_plan_make(&spec, &job->plan)));
    const uint64_t mine[2] = {job->plan.digest, ~job->plan.digest};
    uint64_t all[2];
    TRY_MPI(MPI_Allreduce(mine, all, 2, MPI_UINT64_T, MPI_MAX, job->comm));
    if (all[0] == ~all[1]) return 0;
    return err_set(ERR_MPI, "the ranks have made different patterns: do all run the same program "
                            "with the same GSL library?");
}

/* --- the run --- */

/* Stamps that are known before measuring: what the result lacks for b_eff, and oversubscription. */
static void judge_before(struct beff_job *job)
{
    const struct beff_setup *s = job->setup;
    const struct nodes *n = &job->nodes;
    const bool every = s->method[0] && s->method[1] && s->method[2];
    const struct {
        bool broken;
        const char *why;
    } rule[] = {{s->opt.quick, "--quick: short loops, short messages, once"},
                {s->opt.lmax > 0, "--lmax: L_max is not memory / 128"},
                {s->random_n != BEFF_RANDOM_STANDARD, "--random: not 30 random patterns"},
                {s->reps_n < BEFF_REPS_STANDARD && !s->opt.quick, "--repetitions: fewer than 3"},
                {s->opt.buffers != BEFF_ROOM, "--buffers: not room for 6 of the longest messages"},
                {!every, "--methods: not all three methods"}};
    for (size_t i = 0; i < sizeof rule / sizeof rule[0]; i++)
        if (rule[i].broken)
            stamp_add(job->stamps, STAMP_NOT_VALID, SEVERITY_BAD, NULL, "%s", rule[i].why);
    if (s->opt.quick)
        stamp_add(job->stamps, STAMP_QUICK, SEVERITY_NOTE, NULL, "A trial run, not a measurement.");
    program_stamp_oversubscribed(job->stamps, n);
    if (n->size < n->cores)
        stamp_add(
            job->stamps, STAMP_CORES_UNUSED, SEVERITY_NOTE,
            json_pack("{si sI}", "ranks", n->size, "cores", (json_int_t)n->cores),
            "%d processes on %lld cores: b_eff is defined for the whole system, with a process "
            "per core.",
            n->size, (long long)n->cores);
    if (n->count > 1)
        stamp_add(job->stamps, STAMP_PLACEMENT, SEVERITY_NOTE,
                  json_pack("{sI}", "nodes", (json_int_t)n->count),
                  "Placement of the processes on the nodes: %s. The value depends on it.",
                  job->placement);
}

int beff_job_make(MPI_Comm comm, const struct beff_setup *setup, struct beff_job *job)
{
    *job = (struct beff_job){.comm = comm, .setup = setup, .placement = "unknown"};
    watch_utc(job->started_utc);
    job->topology.row = MPI_COMM_NULL;
    job->stamps = json_array();
    TRY(nodes_find(comm, &job->nodes));
    if (job->nodes.size < 2)
        return err_set(ERR_USAGE, "b_eff is about communication and needs at least 2 processes: "
                                  "start it with mpirun -np N, a process per core");
    TRY(par_agree(comm, memory_find(job)));
    TRY(rate_find(job));
    TRY(beff_topology_make(comm, &job->topology));
    TRY(plan_make(job));
    /* Rank 0 of comm reports; its place in the row may be any. */
    int reporter;
    TRY_MPI(MPI_Comm_rank(job->topology.row, &reporter));
    TRY_MPI(MPI_Bcast(&reporter, 1, MPI_INT, 0, comm));
    TRY(par_hosts(job->topology.row, reporter, &job->hosts));
    if (job->hosts) job->placement = beff_placement(job->hosts, job->nodes.size);
    judge_before(job);
    return 0;
}

/* What showed while measuring: what was left out, and disturbance. The limit of a default run
 * spares slow systems; a smaller one is the user's. */
static void judge_after(struct beff_job *job)
{
    const struct beff_setup *s = job->setup;
    const struct beff_elapsed e = beff_elapsed(&job->measured.cube);
    int best = 0, skipped = 0;
    for (int r = 0; r < s->reps_n; r++)
        for (int i = 0; i < BEFF_SIZES_N; i++) {
            best += job->measured.effort[r][i] == BEFF_BEST_METHOD;
            skipped += job->measured.effort[r][i] == BEFF_SKIPPED;
        }
    if (job->measured.reduced)
        stamp_add(job->stamps, STAMP_CAPPED, SEVERITY_NOTE,
                  json_pack("{sf si si}", "limit_s", s->limit_s, "one_method_n", best, "left_out_n",
                            skipped),
                  "To end within about %.0f s, %d of %d rounds over the patterns used only the "
                  "method that was best at the size before, once, and %d were left out; tables by "
                  "method and repetition show the best of all there.",
                  s->limit_s, best, s->reps_n * BEFF_SIZES_N, skipped);
    if (job->measured.reduced && !s->opt.quick && s->opt.time_limit < BEFF_LIMIT_STANDARD_S)
        stamp_add(job->stamps, STAMP_NOT_VALID, SEVERITY_BAD, NULL,
                  "--time-limit: less than %.0f s, and messages were left out for it",
                  BEFF_LIMIT_STANDARD_S);
    disturbance_stamp(&job->disturbance, job->stamps);
    if (e.measured_s > DISTURBED * e.undisturbed_s && !stamp_find(job->stamps, STAMP_DISTURBED))
        stamp_add(job->stamps, STAMP_DISTURBED, SEVERITY_WARN,
                  json_pack("{sf}", "longer_ratio", e.measured_s / e.undisturbed_s),
                  "The repetitions took %.0f %% longer than the fastest of them: the system did "
                  "something else at the same time.",
                  100 * (e.measured_s / e.undisturbed_s - 1));
    const bool disturbed = stamp_find(job->stamps, STAMP_DISTURBED);
    if (beff_job_valid(job))
        stamp_add(job->stamps, STAMP_VALID, disturbed ? SEVERITY_NOTE : SEVERITY_GOOD, NULL,
                  "Valid as b_eff by definition %s%s.", s->opt.definition,
                  disturbed ? ", but disturbed" : "");
}

int beff_job_run(struct beff_job *job)
{
    const struct beff_cube *cube = &job->measured.cube;
    struct disturbance_sample before, after;
    const bool of_node = job->nodes.node_rank == 0;
    disturbance_take(&before, DISTURBANCE_BEFORE, of_node);
    int rc = beff_measure(job->topology.row, &job->plan, job->setup, job->memory.lmax_bytes,
                          &job->measured);
    disturbance_take(&after, DISTURBANCE_AFTER, of_node);
    if (rc == 0) rc = nodes_disturbance(&job->nodes, &before, &after, 0, &job->disturbance);
    disturbance_free(&before);
    disturbance_free(&after);
    TRY(rc);
    /* None of it is part of b_eff, which is complete. */
    if (!job->setup->opt.no_analysis)
        rc = beff_insight_measure(job->topology.row, &job->plan, job->measured.size_bytes,
                                  &job->insight);
    if (rc == ERR_VERIFY) return rc;
    if (rc < 0) err_prefix("what is measured besides b_eff is missing: ");
    judge_after(job);
    beff_summary_make(cube, &job->plan, job->measured.size_bytes, job->memory.total_bytes,
                      &job->summary);
    job->complete = isfinite(job->summary.all.both);
    if (job->complete) return rc;
    return err_set(ERR_INVALID, "a pattern has no positive bandwidth at some size: the clock is "
                                "too coarse or was changed while measuring");
}

void beff_job_free(struct beff_job *job)
{
    beff_measured_free(&job->measured);
    beff_plan_free(&job->plan);
    beff_topology_free(&job->topology);
    nodes_free(&job->nodes);
    disturbance_end(&job->disturbance);
    free(job->hosts);
    json_decref(job->stamps);
}
