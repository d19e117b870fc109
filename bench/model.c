/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A model of the time of one step over N, ranks and decomposition (docs/performance.md): fitted to
 * the result of `make bench`, compared with it, and carried on to machines that are not at hand.
 *
 *   step      exchange + right-hand side + three sweeps
 *   work      a = c cells + l lines, per phase; cells count the lanes that are padding
 *   exchange  messages x latency + bytes (copy + 1 / bandwidth)
 *   sweep     trip + (groups - 1) each, where ranks share the lines:
 *   busy      work of a group + 4 overhead
 *   trip      busy + (parts - 1) (busy + 2 latency + bytes of a group / bandwidth), up the chain and down
 *   each      busy, or what the link takes, or trip / window where no more groups than that may be under way
 *
 * c, l and copy are least-squares fits; latency, overhead and bandwidth are options. */
#include <gsl/gsl_multifit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/columns.h"
#include "base/conf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/start.h"
#include "base/version.h"
#include "bt/solver/decomp.h"
#include "bt/solver/plan.h"
#include "bt/solver/problem.h"

#define SCHEMA   "nht1-model/1"
#define ROWS_MAX 1024

/* Bytes handed on per lane of a batch, up and down. */
#define CARRY_BYTES (8.0 * (BT_CARRY + BT_NCOMP))

enum phase { RHS, XI, ETA, ZETA, PHASES };
static const char *const phase_name[PHASES] = {"rhs", "xi", "eta", "zeta"};

struct options {
    double latency_us, overhead_us, gbytes_per_s;
    double node_latency_us, node_gbytes_per_s;
    int64_t lanes, group;
    const char *classes, *json;
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
    {.name = "classes",
     .arg = "LETTERS",
     .def = "DE",
     .help = "Classes to predict.",
     AT(classes),
     .group = "What is reported"},
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

struct network {
    double latency_s, overhead_s, s_per_byte;
};

struct model {
    struct options opt;
    double c[PHASES], l[PHASES]; /* seconds per padded cell, per line */
    double copy;                 /* seconds per byte of a halo, both copies */
    double busy;                 /* times slower when all cores work */
    double rms[PHASES];          /* relative deviation of the fits */
};

/* The largest block of a decomposition: what everybody waits for. */
struct block {
    int64_t n[3];    /* interior cells */
    int64_t full[3]; /* with boundary planes */
    int parts[3];
    int64_t size; /* N */
};

static struct block block_of(const struct bt_decomp *d)
{
    struct block b = {.size = d->n};
    for (int q = 0; q < 3; q++) {
        b.parts[q] = d->p[q];
        for (int p = 0; p < d->p[q]; p++) {
            const int64_t lo = bt_decomp_first(d->n, d->p[q], p);
            const int64_t hi = bt_decomp_first(d->n, d->p[q], p + 1);
            const int64_t n = (hi < d->n - 1 ? hi : d->n - 1) - (lo > 1 ? lo : 1);
            if (n > b.n[q]) b.n[q] = n;
            if (hi - lo > b.full[q]) b.full[q] = hi - lo;
        }
    }
    return b;
}

/* Direction of a phase; the right-hand side runs along x. */
static int direction_of(enum phase ph)
{
    return ph <= XI ? 0 : ph == ETA ? 1 : 2;
}

static int64_t batches_of(const struct block *b, int q, int64_t lanes)
{
    return bt_plan_batches(q, b->n, lanes);
}

static double cells_of(const struct block *b, enum phase ph, int64_t lanes)
{
    if (ph == RHS) return (double)(bt_plan_div_up(b->n[0], lanes) * lanes * b->n[1] * b->n[2]);
    return (double)(batches_of(b, direction_of(ph), lanes) * lanes * b->n[direction_of(ph)]);
}

static double lines_of(const struct block *b, enum phase ph, int64_t lanes)
{
    return cells_of(b, ph, lanes) / (double)b->n[direction_of(ph)];
}

/* Seconds of a phase's arithmetic on one core of a busy computer. */
static double work_s(const struct model *m, const struct block *b, enum phase ph)
{
    const int64_t lanes = m->opt.lanes;
    return m->c[ph] * cells_of(b, ph, lanes) + m->l[ph] * lines_of(b, ph, lanes);
}

/* Batches in a message, as the solver chooses with one thread unless told otherwise. */
static int64_t group_of(const struct model *m, const struct block *b, int q)
{
    const int64_t lanes = m->opt.lanes;
    if (m->opt.group > 0) return m->opt.group;
    return bt_plan_group(b->size, b->parts[q], batches_of(b, q, lanes), lanes, 1);
}

/* Groups that the lowest rank of a chain may have between elimination and back substitution. */
static int64_t window_of(const struct model *m, const struct block *b, int q)
{
    const int64_t lanes = m->opt.lanes;
    return bt_plan_window(b->size, b->parts[q], 0, batches_of(b, q, lanes), lanes,
                          group_of(m, b, q));
}

/* What a divided direction costs beside its work: the way up and down the chain, and a rank that may
 * have no more groups under way waits for the first of them to come back. */
static double pipe_s(const struct model *m, const struct block *b, int q, double work,
                     const struct network *net)
{
    if (b->parts[q] == 1) return 0;
    const int64_t batches = batches_of(b, q, m->opt.lanes), g = group_of(m, b, q);
    const double groups = (double)bt_plan_div_up(batches, g),
                 bytes = CARRY_BYTES * (double)m->opt.lanes;
    const double busy = work / groups + 4 * net->overhead_s;
    const double there_and_back = busy + (b->parts[q] - 1) * (busy + 2 * net->latency_s +
                                                              bytes * (double)g * net->s_per_byte);
    const double link = 8.0 * BT_CARRY * (double)(m->opt.lanes * g) * net->s_per_byte;
    const double each = fmax(fmax(busy, link), there_and_back / (double)window_of(m, b, q));
    return there_and_back + (groups - 1) * each - work;
}

/* Messages that a rank in the middle sends, and their bytes. */
static double halo(const struct block *b, double *bytes)
{
    double messages = 0;
    *bytes = 0;
    for (int q = 0; q < 3; q++) {
        const double sides = b->parts[q] == 1 ? 0 : b->parts[q] == 2 ? 1 : 2;
        const double face = (double)(b->full[(q + 1) % 3] * b->full[(q + 2) % 3]);
        messages += sides;
        *bytes += sides * 2 * 5 * 8 * face;
    }
    return messages;
}

struct times {
    double work_s, exchange_s, pipe_s, step_s;
};

static struct times step_of(const struct model *m, const struct block *b, int threads, double busy,
                            const struct network *net)
{
    struct times t = {0};
    double bytes, w[PHASES];
    const double messages = halo(b, &bytes);
    for (int ph = 0; ph < PHASES; ph++) {
        w[ph] = work_s(m, b, (enum phase)ph) * busy / threads;
        t.work_s += w[ph];
    }
    t.exchange_s =
        messages * (net->latency_s + 2 * net->overhead_s) + bytes * (m->copy + net->s_per_byte);
    t.pipe_s = pipe_s(m, b, 0, w[RHS] + w[XI], net) + pipe_s(m, b, 1, w[ETA], net) +
               pipe_s(m, b, 2, w[ZETA], net);
    t.step_s = t.work_s + t.exchange_s + t.pipe_s;
    return t;
}

/* ------------------------------------------------------------------ measurements */

struct row {
    const char *cls, *decomp;
    int64_t n, steps, ranks, threads;
    double step_s, exchange_s, phase_s[PHASES];
    struct block block;
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
    row->block = block_of(&d);
    row->step_s = median_s / (double)row->steps;
    row->exchange_s = phase_of(r, "exchange");
    for (int ph = 0; ph < PHASES; ph++)
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
static void fit_phase(struct model *m, enum phase ph, const struct row *row, int n)
{
    static struct data d;
    double p[2];
    d.n = 0;
    for (int i = 0; i < n; i++) {
        if (row[i].ranks * row[i].threads != 1 || row[i].phase_s[ph] <= 0) continue;
        d.x[d.n][0] = cells_of(&row[i].block, ph, m->opt.lanes);
        d.x[d.n][1] = lines_of(&row[i].block, ph, m->opt.lanes);
        d.weight[d.n] = (double)row[i].n;
        d.y[d.n++] = row[i].phase_s[ph];
    }
    m->rms[ph] = fit_data(&d, p);
    m->c[ph] = p[0];
    m->l[ph] = p[1];
}

/* Seconds per byte of a halo: exchanges of the runs with ranks, by bytes and messages. */
static void fit_copy(struct model *m, const struct row *row, int n)
{
    static struct data d;
    double p[2];
    d.n = 0;
    for (int i = 0; i < n; i++) {
        if (row[i].ranks == 1 || row[i].exchange_s <= 0) continue;
        d.x[d.n][1] = halo(&row[i].block, &d.x[d.n][0]);
        d.weight[d.n] = (double)row[i].n;
        d.y[d.n++] = row[i].exchange_s;
    }
    fit_data(&d, p);
    m->copy = p[0];
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
    m->busy = one ? fmax(1, (double)all->threads * all->step_s / one->step_s) : 1;
}

/* ------------------------------------------------------------------ what comes out */

static json_t *tell_parameters(const struct model *m)
{
    json_t *o = json_object();
    printf("Fitted to runs on one core, per phase: time = c cells + l lines\n");
    struct columns cells;
    columns_begin(&cells, "  -6 12 12 14");
    columns_row(&cells, "phase", "c ns", "l ns", "rms deviation", NULL);
    for (int ph = 0; ph < PHASES; ph++) {
        json_t *x = json_object();
        columns_cell(&cells, "%s", phase_name[ph]);
        columns_cell(&cells, "%.3f", 1e9 * m->c[ph]);
        columns_cell(&cells, "%.3f", 1e9 * m->l[ph]);
        columns_cell(&cells, "%.1f %%", 100 * m->rms[ph]);
        js_set(x, "s_per_cell", js_real(m->c[ph]));
        js_set(x, "s_per_line", js_real(m->l[ph]));
        js_set(x, "rms_deviation", js_real(m->rms[ph]));
        js_set(o, phase_name[ph], x);
    }
    columns_print(&cells, stdout);
    printf("  halo copies, waiting included: %.3f ns per byte; all cores busy: %.3f times slower\n",
           1e9 * m->copy, m->busy);
    js_set(o, "copy_s_per_byte", js_real(m->copy));
    js_set(o, "busy_factor", js_real(m->busy));
    return o;
}

static json_t *tell_comparison(const struct model *m, const struct row *row, int n)
{
    const struct network node = {1e-6 * m->opt.node_latency_us, 1e-6 * m->opt.overhead_us,
                                 1e-9 / m->opt.node_gbytes_per_s};
    json_t *list = json_array();
    printf("\nThe model and what was measured, ms per step\n");
    struct columns cells;
    columns_begin(&cells, "  -5 7 -6 10 10 8");
    columns_row(&cells, "class", "rk x th", "decomp", "measured", "model", "off by", NULL);
    for (int i = 0; i < n; i++) {
        const double busy = row[i].ranks * row[i].threads == 1 ? 1 : m->busy;
        const double s = step_of(m, &row[i].block, (int)row[i].threads, busy, &node).step_s;
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
                    struct times *t, char grid[40])
{
    const struct network net = {1e-6 * m->opt.latency_us, 1e-6 * m->opt.overhead_us,
                                1e-9 / m->opt.gbytes_per_s};
    struct bt_decomp d;
    if (bt_decomp_make(decomp, size, ranks, 0, &d) < 0) {
        err_clear();
        return false;
    }
    const struct block b = block_of(&d);
    bt_decomp_name(&d, grid);
    *t = step_of(m, &b, 1, m->busy, &net);
    return true;
}

static void tell_times(const struct times *t, const char *grid, double ideal_s,
                       struct columns *cells, json_t *to, const char *key)
{
    json_t *o = json_object();
    columns_cell(cells, "%.3f", 1e3 * t->step_s);
    columns_cell(cells, "%.3f", 1e3 * t->exchange_s);
    columns_cell(cells, "%.3f", 1e3 * t->pipe_s);
    columns_cell(cells, "%.1f", 100 * ideal_s / t->step_s);
    js_set(o, "grid", json_string(grid));
    js_set(o, "s_per_step", js_real(t->step_s));
    js_set(o, "work_s", js_real(t->work_s));
    js_set(o, "exchange_s", js_real(t->exchange_s));
    js_set(o, "pipe_s", js_real(t->pipe_s));
    js_set(o, "parallel_efficiency", js_real(ideal_s / t->step_s));
    js_set(to, key, o);
}

static json_t *tell_ranks(const struct model *m, int64_t size, int ranks, double one_s,
                          struct columns *cells)
{
    struct times slabs, cubes;
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
            struct times slabs, cubes;
            char grid[40];
            if (!predict(m, "3d", size, ranks, &cubes, grid)) continue;
            const bool ahead =
                !predict(m, "1d:z", size, ranks, &slabs, grid) || cubes.step_s < slabs.step_s;
            if (!ahead) from = 0;
            if (ahead && from == 0) from = ranks;
        }
    return from;
}

static int tell_class(const struct model *m, char cls, json_t *to)
{
    struct bt_problem p;
    struct times one;
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
    json_array_append_new(to, o);
    return 0;
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

static int model_file(const void *opts, const struct conf_list *args)
{
    static struct row row[ROWS_MAX];
    struct model m = {.opt = *(const struct options *)opts};
    json_t *bench = NULL;
    if (args->n != 1) return err_set(ERR_USAGE, "give the result of make bench, BENCH.json");
    TRY(js_read(args->item[0], &bench));
    const int n = rows_read(args->item[0], bench, row);
    int rc = n;
    if (n > 0) {
        for (int ph = 0; ph < PHASES; ph++)
            fit_phase(&m, (enum phase)ph, row, n);
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
