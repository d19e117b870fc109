/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A model of the time of one step over N, ranks and decomposition (docs/performance.md): fitted to
 * the result of `make bench`, compared with it, and carried on to machines that are not at hand.
 * The model is bt/solver/cost.h. c, l and copy are least-squares fits; latency, overhead and bandwidth are options. */
#include <gsl/gsl_multifit.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/columns.h"
#include "base/conf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/start.h"
#include "base/store.h"
#include "base/version.h"
#include "bt/solver/charge.h"
#include "bt/solver/cost.h"
#include "bt/solver/decomp.h"
#include "bt/solver/problem.h"

#define SCHEMA   "nht1-model/1"
#define ROWS_MAX 1024

static const char *const phase_name[BT_COST_PHASES] = {"rhs", "xi", "eta", "zeta"};

struct options {
    double latency_us, overhead_us, gbytes_per_s;
    double node_latency_us, node_gbytes_per_s;
    double link_gbytes_per_s, team_us, remote;
    int64_t cores, sockets;
    int64_t lanes, group;
    bool reference;
    const char *classes, *json, *kernels;
};

#define AT(member) CONF_AT(struct options, member)

static const struct conf_option table[] = {
    {.name = "latency",
     .arg = "US",
     .def = "2",
     CONF_RANGE(0, 1e6),
     .help = "Microseconds from one rank to another through the network, assumed.",
     AT(latency_us),
     .group = "The network of the predictions"},
    {.name = "bandwidth",
     .arg = "GB/S",
     .def = "1",
     CONF_RANGE(1e-6, 1e6),
     .help = "10^9 bytes per second that one rank gets while all ranks send: a link's bandwidth "
             "over the ranks that share it, assumed. 1 is 25 GB/s shared by 25 busy ranks.",
     AT(gbytes_per_s)},
    {.name = "overhead",
     .arg = "US",
     .def = "0.5",
     CONF_RANGE(0, 1e6),
     .help = "Microseconds that a rank is busy with a message of its own, sent or received.",
     AT(overhead_us)},
    {.name = "node-latency",
     .arg = "US",
     .def = "0.5",
     CONF_RANGE(0, 1e6),
     .help = "Microseconds from one rank to another inside the computer that was measured.",
     AT(node_latency_us),
     .group = "The computer that was measured"},
    {.name = "node-bandwidth",
     .arg = "GB/S",
     .def = "5",
     CONF_RANGE(1e-6, 1e6),
     .help = "10^9 bytes per second between two ranks inside it.",
     AT(node_gbytes_per_s)},
    {.name = "cores",
     .arg = "N",
     .def = "0",
     CONF_RANGE(0, 1e6),
     .help =
         "Cores of a node: one rank per node, per socket and per core are predicted as well. 0: "
         "they are not.",
     AT(cores),
     .group = "Ranks x threads on large nodes"},
    {.name = "sockets",
     .arg = "N",
     .def = "2",
     CONF_RANGE(1, 1e6),
     .help = "Sockets of a node.",
     AT(sockets)},
    {.name = "link",
     .arg = "GB/S",
     .def = "25",
     CONF_RANGE(1e-6, 1e6),
     .help = "10^9 bytes per second of a node's link, which its ranks share, assumed.",
     AT(link_gbytes_per_s)},
    {.name = "team",
     .arg = "US",
     .def = "1",
     CONF_RANGE(0, 1e6),
     .help = "Microseconds in which two threads start a parallel region and end it, log2(threads) "
             "times as long for more, assumed.",
     AT(team_us)},
    {.name = "remote",
     .arg = "SHARE",
     .def = "0.2",
     CONF_RANGE(0, 100),
     .help = "Share by which work on data of another socket takes longer, assumed.",
     AT(remote)},
    {.name = "lanes",
     .arg = "N",
     .def = "8",
     CONF_RANGE(1, 64),
     .help = "Lanes of a vector: lines in a batch.",
     AT(lanes),
     .group = "The solver"},
    {.name = "group",
     .arg = "N",
     CONF_RANGE(1, 1e6),
     .help = "Batches in a message of the pipeline. Default: the solver's own choice.",
     AT(group)},
    {.name = "kernels",
     .arg = "FILE",
     .help = "Instead of all this: a step of each block whose computing was timed for a simulation "
             "(`make simulate`), with those times.",
     AT(kernels)},
    {.name = "reference",
     .help = "The processor of docs/performance.md instead of a result of `make bench`.",
     AT(reference),
     .group = "What is reported"},
    {.name = "classes", .arg = "LETTERS", .def = "DE", .help = "Classes to predict.", AT(classes)},
    {.name = "json",
     .arg = "FILE",
     .help = "Write parameters, comparison and predictions to this file as well.",
     AT(json),
     .output = true},
    {.name = NULL},
};

static const struct conf_program program = {
    .name = "model",
    .version = nht1_build,
    .summary = "Cost model of a BT step: fitted to a result of `make bench`, compared with it, "
               "and predictions for classes and rank counts that are not at hand.",
    .args = "BENCH.json",
    .max_args = 1,
    .examples = "  model --latency 1.2 --bandwidth 0.4 build/bench/bench.json\n",
    .options = table,
};

struct model {
    struct options opt;
    struct bt_cost_machine fit; /* its network: that of the predictions */
    double rms[BT_COST_PHASES]; /* relative deviation of the fits */
};

/* ------------------------------------------------------------------ measurements */

struct row {
    const char *cls, *decomp;
    int64_t n, steps, ranks, threads;
    double step_s, exchange_s, phase_s[BT_COST_PHASES];
    struct bt_cost_block block;
};

static double phase_of(const json_t *r, const char *name)
{
    const json_t *ph = json_object_get(json_object_get(r, "phases"), name);
    return json_number_value(json_object_get(ph, "s_per_step"));
}

static int row_read(const json_t *r, const char *where, struct row *row)
{
    struct bt_decomp d;
    double median_s;
    const char *grid;
    TRY(js_get_text(r, where, "class", &row->cls));
    TRY(js_get_text(r, where, "decomp", &row->decomp));
    TRY(js_get_text(r, where, "grid", &grid));
    TRY(js_get_int(r, where, "n", 6, 1 << 20, &row->n));
    TRY(js_get_int(r, where, "steps", 1, 1 << 30, &row->steps));
    TRY(js_get_int(r, where, "ranks", 1, 1 << 20, &row->ranks));
    TRY(js_get_int(r, where, "threads", 1, 1 << 20, &row->threads));
    TRY(js_get_real(r, where, "median_s", &median_s));
    TRY(bt_decomp_make(grid, row->n, (int)row->ranks, 0, &d));
    row->block = bt_cost_block(&d, 1);
    row->step_s = median_s / (double)row->steps;
    row->exchange_s = phase_of(r, "exchange");
    for (int ph = 0; ph < BT_COST_PHASES; ph++)
        row->phase_s[ph] = phase_of(r, phase_name[ph]);
    return 0;
}

/* The settings with the widest vectors. Returns how many, or ERR_USAGE. */
static int rows_read(const char *path, const json_t *bench, struct row *row)
{
    json_t *results;
    const json_t *r;
    size_t i;
    int n = 0;
    TRY(js_get_array(bench, path, "results", &results));
    json_array_foreach(results, i, r)
    {
        const char *asked;
        TRY(js_get_text(r, path, "isa_asked", &asked));
        if (strcmp(asked, "auto") != 0 || n == ROWS_MAX) continue;
        TRY(row_read(r, path, &row[n]));
        n++;
    }
    return n > 0 ? n : err_set(ERR_USAGE, "%s: no results to fit a model to", path);
}

/* ------------------------------------------------------------------ fits */

/* What a fit is made to: y = p0 x0 + p1 x1. */
struct data {
    int n;
    double x[ROWS_MAX][2], y[ROWS_MAX], weight[ROWS_MAX];
};

/* Of the relative deviation: terms parameters from the first one on, the other one is 0. */
static void least_squares(const struct data *d, size_t first, size_t terms, double p[2])
{
    const size_t n = (size_t)d->n;
    double chisq;
    p[0] = p[1] = 0;
    if (n < terms) return;
    gsl_matrix *a = gsl_matrix_alloc(n, terms), *cov = gsl_matrix_alloc(terms, terms);
    gsl_vector *one = gsl_vector_alloc(n), *weight = gsl_vector_alloc(n);
    gsl_vector *c = gsl_vector_alloc(terms);
    gsl_multifit_linear_workspace *w = gsl_multifit_linear_alloc(n, terms);
    for (size_t i = 0; i < n; i++) {
        gsl_vector_set(one, i, 1);
        gsl_vector_set(weight, i, d->weight[i]);
        for (size_t k = 0; k < terms; k++)
            gsl_matrix_set(a, i, k, d->x[i][first + k] / d->y[i]);
    }
    gsl_multifit_wlinear(a, weight, one, c, cov, &chisq, w);
    for (size_t k = 0; k < terms; k++)
        p[first + k] = gsl_vector_get(c, k);
    gsl_multifit_linear_free(w);
    gsl_vector_free(one);
    gsl_vector_free(weight);
    gsl_vector_free(c);
    gsl_matrix_free(a);
    gsl_matrix_free(cov);
}

/* Least squares of the relative deviation, both parameters >= 0: where one comes out negative, or
 * there is a single value, the other one alone. Returns the rms deviation. */
static double fit_data(const struct data *d, double p[2])
{
    double rms = 0;
    least_squares(d, 0, d->n >= 2 ? 2 : 1, p);
    if (p[1] < 0)
        least_squares(d, 0, 1, p);
    else if (p[0] < 0)
        least_squares(d, 1, 1, p);
    for (int i = 0; i < d->n; i++)
        rms += pow((p[0] * d->x[i][0] + p[1] * d->x[i][1]) / d->y[i] - 1, 2) / d->n;
    return sqrt(rms);
}

/* c and l of a phase from the runs on one core; large problems count for more. */
static void fit_phase(struct model *m, enum bt_cost_phase ph, const struct row *row, int n)
{
    static struct data d;
    double p[2];
    d.n = 0;
    for (int i = 0; i < n; i++) {
        if (row[i].ranks * row[i].threads != 1 || row[i].phase_s[ph] <= 0) continue;
        d.x[d.n][0] = bt_cost_cells(&row[i].block, ph, m->fit.lanes);
        d.x[d.n][1] = bt_cost_lines(&row[i].block, ph, m->fit.lanes);
        d.weight[d.n] = (double)row[i].n;
        d.y[d.n++] = row[i].phase_s[ph];
    }
    m->rms[ph] = fit_data(&d, p);
    m->fit.cell_s[ph] = p[0];
    m->fit.line_s[ph] = p[1];
}

/* Seconds per byte of a halo: exchanges of the runs with ranks, by bytes and messages. */
static void fit_copy(struct model *m, const struct row *row, int n)
{
    static struct data d;
    double p[2];
    d.n = 0;
    for (int i = 0; i < n; i++) {
        if (row[i].ranks == 1 || row[i].exchange_s <= 0) continue;
        d.x[d.n][1] = bt_cost_halo(&row[i].block, &d.x[d.n][0]);
        d.weight[d.n] = (double)row[i].n;
        d.y[d.n++] = row[i].exchange_s;
    }
    fit_data(&d, p);
    m->fit.copy_s_per_byte = p[0];
}

/* How much slower a core computes when all do: the largest class on all threads of one rank. */
static void fit_busy(struct model *m, const struct row *row, int n)
{
    const struct row *all = NULL, *one = NULL;
    for (int i = 0; i < n; i++)
        if (row[i].ranks == 1 &&
            (!all || row[i].n * 4096 + row[i].threads > all->n * 4096 + all->threads))
            all = &row[i];
    for (int i = 0; all && i < n; i++)
        if (row[i].n == all->n && row[i].ranks == 1 && row[i].threads == 1) one = &row[i];
    m->fit.busy = one ? fmax(1, (double)all->threads * all->step_s / one->step_s) : 1;
}

/* ------------------------------------------------------------------ what comes out */

static json_t *tell_parameters(const struct model *m)
{
    json_t *o = json_object();
    printf("%s, per phase: time = c cells + l lines\n",
           m->opt.reference ? "Those of docs/performance.md" : "Fitted to runs on one core");
    struct columns cells;
    columns_begin(&cells, "  -6 12 12 14");
    columns_row(&cells, "phase", "c ns", "l ns", "rms deviation", NULL);
    for (int ph = 0; ph < BT_COST_PHASES; ph++) {
        json_t *x = json_object();
        columns_cell(&cells, "%s", phase_name[ph]);
        columns_cell(&cells, "%.3f", 1e9 * m->fit.cell_s[ph]);
        columns_cell(&cells, "%.3f", 1e9 * m->fit.line_s[ph]);
        columns_cell(&cells, "%.1f %%", 100 * m->rms[ph]);
        js_set(x, "s_per_cell", js_real(m->fit.cell_s[ph]));
        js_set(x, "s_per_line", js_real(m->fit.line_s[ph]));
        js_set(x, "rms_deviation", js_real(m->rms[ph]));
        js_set(o, phase_name[ph], x);
    }
    columns_print(&cells, stdout);
    printf("  halo copies, waiting included: %.3f ns per byte; all cores busy: %.3f times slower\n",
           1e9 * m->fit.copy_s_per_byte, m->fit.busy);
    js_set(o, "copy_s_per_byte", js_real(m->fit.copy_s_per_byte));
    js_set(o, "busy_factor", js_real(m->fit.busy));
    return o;
}

static json_t *tell_comparison(const struct model *m, const struct row *row, int n)
{
    struct bt_cost_machine node = m->fit;
    node.network = node.inside;
    json_t *list = json_array();
    if (n == 0) return list;
    printf("\nThe model and what was measured, ms per step\n");
    struct columns cells;
    columns_begin(&cells, "  -5 7 -6 10 10 8");
    columns_row(&cells, "class", "rk x th", "decomp", "measured", "model", "off by", NULL);
    for (int i = 0; i < n; i++) {
        node.busy = row[i].ranks * row[i].threads == 1 ? 1 : m->fit.busy;
        const double s = bt_cost_step(&node, &row[i].block, row[i].threads, 1).step_s;
        json_t *x = json_object();
        columns_cell(&cells, "%s", row[i].cls);
        columns_cell(&cells, "%lld x%2lld", (long long)row[i].ranks, (long long)row[i].threads);
        columns_cell(&cells, "%s", row[i].decomp);
        columns_cell(&cells, "%.3f", 1e3 * row[i].step_s);
        columns_cell(&cells, "%.3f", 1e3 * s);
        columns_cell(&cells, "%.1f %%", 100 * (s / row[i].step_s - 1));
        js_set(x, "class", json_string(row[i].cls));
        js_set(x, "ranks", json_integer(row[i].ranks));
        js_set(x, "threads", json_integer(row[i].threads));
        js_set(x, "decomp", json_string(row[i].decomp));
        js_set(x, "measured_s_per_step", js_real(row[i].step_s));
        js_set(x, "model_s_per_step", js_real(s));
        json_array_append_new(list, x);
    }
    columns_print(&cells, stdout);
    return list;
}

/* One step of a decomposition; false when it leaves a rank without a cell. */
static bool predict(const struct model *m, const char *decomp, int64_t size, int ranks,
                    struct bt_cost *t, char grid[40])
{
    struct bt_decomp d;
    if (bt_decomp_make(decomp, size, ranks, 0, &d) < 0) {
        err_clear();
        return false;
    }
    const struct bt_cost_block b = bt_cost_block(&d, 1);
    bt_decomp_name(&d, grid);
    *t = bt_cost_step(&m->fit, &b, 1, 1);
    return true;
}

static json_t *cost_json(const struct bt_cost *t, const char *grid)
{
    json_t *o = json_object();
    js_set(o, "grid", json_string(grid));
    js_set(o, "s_per_step", js_real(t->step_s));
    js_set(o, "work_s", js_real(t->work_s));
    js_set(o, "exchange_s", js_real(t->exchange_s));
    js_set(o, "pipe_s", js_real(t->pipe_s));
    return o;
}

static void tell_times(const struct bt_cost *t, const char *grid, double ideal_s,
                       struct columns *cells, json_t *to, const char *key)
{
    json_t *o = cost_json(t, grid);
    columns_cell(cells, "%.3f", 1e3 * t->step_s);
    columns_cell(cells, "%.3f", 1e3 * t->exchange_s);
    columns_cell(cells, "%.3f", 1e3 * t->pipe_s);
    columns_cell(cells, "%.1f", 100 * ideal_s / t->step_s);
    js_set(o, "parallel_efficiency", js_real(ideal_s / t->step_s));
    js_set(to, key, o);
}

static json_t *tell_ranks(const struct model *m, int64_t size, int ranks, double one_s,
                          struct columns *cells)
{
    struct bt_cost slabs, cubes;
    char grid1[40], grid3[40] = "";
    json_t *o = json_object();
    const bool have1 = predict(m, "1d:z", size, ranks, &slabs, grid1);
    const bool have3 = predict(m, "3d", size, ranks, &cubes, grid3);
    js_set(o, "ranks", json_integer(ranks));
    columns_cell(cells, "%d", ranks);
    if (have1) tell_times(&slabs, grid1, one_s / ranks, cells, o, "1d");
    for (int i = 0; !have1 && i < 4; i++)
        columns_cell(cells, "-");
    columns_cell(cells, "%s", grid3);
    if (have3) tell_times(&cubes, grid3, one_s / ranks, cells, o, "3d");
    columns_row(cells, NULL);
    return o;
}

/* The fewest ranks, of 2^k and 3 2^k, from which on cubes stay ahead of slabs. */
static int crossover(const struct model *m, int64_t size)
{
    int from = 0;
    for (int k = 4; k <= 8192; k *= 2)
        for (int ranks = k; ranks <= k + k / 2; ranks += k / 2) {
            struct bt_cost slabs, cubes;
            char grid[40];
            if (!predict(m, "3d", size, ranks, &cubes, grid)) continue;
            const bool ahead =
                !predict(m, "1d:z", size, ranks, &slabs, grid) || cubes.step_s < slabs.step_s;
            if (!ahead) from = 0;
            if (ahead && from == 0) from = ranks;
        }
    return from;
}

/* One rank per node, per socket and per core, on 64 to 65536 cores. */
static json_t *tell_splits(const struct model *m, int64_t size, double one_s)
{
    struct bt_cost_machine node = m->fit;
    struct columns cells;
    json_t *list = json_array();
    node.network.s_per_byte = 1e-9 / m->opt.link_gbytes_per_s;
    printf("  Nodes of %lld cores on %lld sockets, a link of %g GB/s each, one rank per ...\n",
           (long long)m->opt.cores, (long long)m->opt.sockets, m->opt.link_gbytes_per_s);
    columns_begin(&cells, "  5 7 9 9 9  -9 7");
    columns_row(&cells, "nodes", "cores", "node", "socket", "core", "best", "eff %", NULL);
    for (int64_t cores = 64; cores <= 65536; cores *= 2) {
        struct bt_cost_split split[BT_COST_SPLITS];
        static const char *const per[BT_COST_SPLITS] = {"node", "socket", "core"};
        const int64_t nodes = cores / m->opt.cores;
        int best = 0, k = 0;
        if (nodes == 0 || nodes * m->opt.cores != cores) continue;
        const int n =
            bt_cost_splits(&node, "3d", size, nodes, m->opt.cores, m->opt.sockets, split, &best);
        if (n == 0) continue;
        columns_cell(&cells, "%lld", (long long)nodes);
        columns_cell(&cells, "%lld", (long long)cores);
        for (int i = 0; i < BT_COST_SPLITS; i++) {
            const bool have = k < n && strcmp(split[k].per, per[i]) == 0;
            if (have) {
                columns_cell(&cells, "%.3f", 1e3 * split[k].cost.step_s);
                json_t *x = json_object();
                js_set(x, "nodes", json_integer(nodes));
                js_set(x, "per", json_string(per[i]));
                js_set(x, "ranks", json_integer(split[k].ranks));
                js_set(x, "threads", json_integer(split[k].threads));
                js_set(x, "s_per_step", js_real(split[k].cost.step_s));
                js_set(x, "best", json_boolean(k == best));
                json_array_append_new(list, x);
                k++;
            } else {
                columns_cell(&cells, "-");
            }
        }
        columns_cell(&cells, "%s", split[best].per);
        columns_cell(&cells, "%.1f", 100 * one_s / (double)cores / split[best].cost.step_s);
        columns_row(&cells, NULL);
    }
    columns_print(&cells, stdout);
    return list;
}

static int tell_class(const struct model *m, char cls, json_t *to)
{
    struct bt_problem p;
    struct bt_cost one;
    char grid[40];
    TRY(bt_problem_class(cls, &p));
    const int64_t size = p.n;
    ERR_ASSERT(predict(m, "1d:z", size, 1, &one, grid)); /* one rank can have all cells */
    json_t *o = json_object(), *list = json_array();
    printf(
        "\nPREDICTED, not measured: class %c, N = %lld, ms per step; efficiency against one core "
        "of a busy node\n",
        cls, (long long)size);
    struct columns cells;
    columns_begin(&cells, "  5 9 7 7 5  8 9 7 7 5");
    columns_row(&cells, "ranks", "1-D", "halo", "pipe", "eff %", "grid", "3-D", "halo", "pipe",
                "eff %", NULL);
    for (int ranks = 64; ranks <= 65536; ranks *= 2)
        json_array_append_new(list, tell_ranks(m, size, ranks, one.step_s, &cells));
    columns_print(&cells, stdout);
    const int from = crossover(m, size);
    printf("  3-D is faster from %d ranks on.\n", from);
    const char name[2] = {cls, '\0'};
    js_set(o, "class", json_string(name));
    js_set(o, "n", json_integer(size));
    js_set(o, "crossover_ranks", from ? json_integer(from) : json_null());
    js_set(o, "ranks", list);
    if (m->opt.cores > 0) js_set(o, "splits", tell_splits(m, size, one.step_s));
    json_array_append_new(to, o);
    return 0;
}

/* The machine on which an entry of the table of kernels was timed, and the block that everybody waits for. Returns 1,
 * 0 where the entry is of another build or of a smaller block, or ERR_USAGE. */
static int kernels_entry(const struct model *m, const json_t *e, struct bt_cost_machine *here,
                         struct bt_cost_block *b)
{
    static const enum bt_cost_phase sweep[3] = {BT_COST_XI, BT_COST_ETA, BT_COST_ZETA};
    const char *const where = m->opt.kernels, *grid;
    int64_t n, ranks, cells[3];
    double halo_bytes;
    struct bt_decomp d;
    struct bt_charge cost;
    if (strcmp(store_text(e, "build"), nht1_build) != 0 ||
        sscanf(store_text(e, "shape"), "%" SCNd64 "x%" SCNd64 "x%" SCNd64, &cells[0], &cells[1],
               &cells[2]) != 3)
        return 0;
    *here = m->fit;
    TRY(js_get_int(e, where, "n", 6, 1 << 20, &n));
    TRY(js_get_int(e, where, "ranks", 1, 1 << 30, &ranks));
    TRY(js_get_int(e, where, "lanes", 1, 64, &here->lanes));
    TRY(js_get_text(e, where, "grid", &grid));
    if (bt_decomp_make(grid, n, (int)ranks, 0, &d) < 0) {
        err_clear(); /* its message speaks of an option */
        return err_set(ERR_USAGE, "%s: grid %s: \"4x4x4\" expected", where, grid);
    }
    *b = bt_cost_block(&d, 1);
    if (memcmp(b->n, cells, sizeof cells) != 0) return 0;
    bt_charge_read(e, &cost);
    here->busy = 1;
    for (int ph = 0; ph < BT_COST_PHASES; ph++)
        here->cell_s[ph] = here->line_s[ph] = 0; /* the right-hand side is part of xi here */
    for (int q = 0; q < 3; q++)
        here->cell_s[sweep[q]] =
            (cost.forward_s[q] + cost.backward_s[q]) / (double)(here->lanes * b->n[q]);
    bt_cost_halo(b, &halo_bytes);
    here->copy_s_per_byte = halo_bytes > 0 ? (cost.pack_s + cost.unpack_s) / halo_bytes : 0;
    return 1;
}

/* A step of every block of a table of kernels, largest blocks alone. */
static int tell_kernels(const struct model *m, const json_t *root, json_t *to)
{
    const json_t *e;
    size_t i;
    struct columns cells;
    printf("PREDICTED, not measured: ms per step, computing as timed for a simulation\n");
    columns_begin(&cells, "  6 -10 9 9 8 8");
    columns_row(&cells, "N", "grid", "step", "work", "halo", "pipe", NULL);
    json_array_foreach(json_object_get(root, "entries"), i, e)
    {
        struct bt_cost_machine here;
        struct bt_cost_block b;
        const int found = kernels_entry(m, e, &here, &b);
        if (found < 0) return found;
        if (found == 0) continue;
        const struct bt_cost t = bt_cost_step(&here, &b, 1, 1);
        const char *const grid = store_text(e, "grid");
        columns_cell(&cells, "%lld", (long long)b.size);
        columns_cell(&cells, "%s", grid);
        columns_cell(&cells, "%.3f", 1e3 * t.step_s);
        columns_cell(&cells, "%.3f", 1e3 * t.work_s);
        columns_cell(&cells, "%.3f", 1e3 * t.exchange_s);
        columns_cell(&cells, "%.3f", 1e3 * t.pipe_s);
        json_t *o = cost_json(&t, grid);
        js_set(o, "n", json_integer(b.size));
        js_set(o, "kernel", json_incref(json_object_get(e, "kernel")));
        json_array_append_new(to, o);
    }
    columns_print(&cells, stdout);
    return 0;
}

static int kernels_file(const struct model *m)
{
    json_t *root = NULL, *list = json_array();
    int rc = bt_charge_table(m->opt.kernels, &root);
    if (rc == 0) rc = tell_kernels(m, root, list);
    if (rc == 0 && m->opt.json) {
        json_t *o = json_object();
        js_set(o, "schema", json_string(SCHEMA));
        js_set(o, "options", conf_json(&program, &m->opt));
        js_set(o, "blocks", json_incref(list));
        rc = js_result(m->opt.json, o);
        json_decref(o);
    }
    json_decref(list);
    json_decref(root);
    return rc;
}

static int write_results(const struct model *m, const struct row *row, int n)
{
    json_t *o = json_object(), *list = json_array();
    int rc = 0;
    js_set(o, "schema", json_string(SCHEMA));
    js_set(o, "options", conf_json(&program, &m->opt));
    js_set(o, "parameters", tell_parameters(m));
    js_set(o, "comparison", tell_comparison(m, row, n));
    js_set(o, "predictions", list);
    printf("\nNetwork assumed for the predictions: latency %g us, %g GB/s per rank, %g us of work "
           "per message\n",
           m->opt.latency_us, m->opt.gbytes_per_s, m->opt.overhead_us);
    for (const char *c = m->opt.classes; *c && rc == 0; c++)
        rc = tell_class(m, *c, list);
    if (rc == 0 && m->opt.json) rc = js_result(m->opt.json, o);
    json_decref(o);
    return rc;
}

/* What the options say of the machine; the fits give the rest. */
static void machine_from(const struct options *o, struct bt_cost_machine *m)
{
    *m = bt_cost_reference;
    m->overhead_s = 1e-6 * o->overhead_us;
    m->team_s = 1e-6 * o->team_us;
    m->remote = o->remote;
    m->network = (struct bt_cost_link){1e-6 * o->latency_us, 1e-9 / o->gbytes_per_s};
    m->inside = (struct bt_cost_link){1e-6 * o->node_latency_us, 1e-9 / o->node_gbytes_per_s};
    m->lanes = o->lanes;
    m->group = o->group;
}

static int model_file(const void *opts, const struct conf_list *args)
{
    static struct row row[ROWS_MAX];
    struct model m = {.opt = *(const struct options *)opts};
    json_t *bench = NULL;
    machine_from(&m.opt, &m.fit);
    if (m.opt.kernels && !m.opt.reference && args->n == 0) return kernels_file(&m);
    if (m.opt.reference && !m.opt.kernels && args->n == 0) return write_results(&m, row, 0);
    if (m.opt.reference || m.opt.kernels || args->n != 1)
        return err_set(ERR_USAGE,
                       "give one of: the result of make bench, BENCH.json; --kernels; --reference");
    TRY(js_read(args->item[0], &bench));
    const int n = rows_read(args->item[0], bench, row);
    int rc = n;
    if (n > 0) {
        for (int ph = 0; ph < BT_COST_PHASES; ph++)
            fit_phase(&m, (enum bt_cost_phase)ph, row, n);
        fit_copy(&m, row, n);
        fit_busy(&m, row, n);
        rc = write_results(&m, row, n);
    }
    json_decref(bench);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o;
    return start_program(&program, argc, argv, &o, model_file);
}
