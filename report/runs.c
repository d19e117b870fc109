/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/runs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/stat.h"
#include "base/units.h"
#include "report/metrics.h"
#include "report/text.h"

#define COMPUTE        "none"
#define NOWHERE        "none" /* file system of a writer that leaves no serial file */
#define CI_RUNS_MIN    3
#define OUTLIER_LIMIT  3.5
#define BOOTSTRAP_SEED 1993

static int no_memory(void)
{
    return err_set(ERR_NOMEM, "no memory for the runs of the results");
}

static double positive(double x)
{
    return x > 0 ? x : NAN;
}

/* Norms that are not the published ones, or a file that does not hold what it should. */
static bool is_wrong(const json_t *json)
{
    const char *proof = doc_text(json, "proof.state");
    return json_is_false(doc_at(json, "norms.ok")) || strcmp(proof, "wrong") == 0 ||
           strcmp(proof, "failed") == 0;
}

static struct run run_of(const struct doc *doc, const json_t *json)
{
    const char *writer = doc_text(json, "driver");
    return (struct run){.doc = doc,
                        .json = json,
                        .writer = writer[0] ? writer : "unknown",
                        .t_t_s = positive(doc_real(json, "t_t_s")),
                        .bytes = doc_real(json, "bytes"),
                        .write_rate = positive(doc_real(json, "write_rate_bytes_per_s")),
                        .t_c_s = positive(doc_real(json, "t_c_s")),
                        .writes = strcmp(writer, COMPUTE) != 0,
                        .verified = doc_true(json, "verified"),
                        .wrong = is_wrong(json),
                        .page_cache = doc_true(json, "cache.page_cache"),
                        .official = doc_true(json, "official"),
                        .group = -1,
                        .cell = -1};
}

static int count_runs(const struct docs *docs)
{
    size_t n = 0;
    for (int i = 0; i < docs->n; i++)
        n += json_array_size(json_object_get(docs->doc[i].root, "runs"));
    return n < INT32_MAX ? (int)n : INT32_MAX;
}

/* A run that came to its end by itself has a T_T. */
static bool finished(const struct run *r)
{
    const json_t *resumed = json_object_get(r->json, "resumed");
    return r->t_t_s > 0 && (!resumed || json_is_null(resumed)) &&
           !json_is_false(json_object_get(r->json, "completed"));
}

static void take_runs(struct runs *runs, const struct doc *doc, int room)
{
    const json_t *json;
    size_t i;
    if (strcmp(doc->kind, "nht1-bt") != 0) return;
    json_array_foreach(json_object_get(doc->root, "runs"), i, json)
    {
        const struct run r = run_of(doc, json);
        if (!finished(&r))
            runs->unfinished_n++;
        else if (runs->runs_n < room)
            runs->run[runs->runs_n++] = r;
    }
}

/* The file system of a run; "" where nothing was written, or not known. */
static const char *fs_of(const json_t *run)
{
    const char *fs = doc_text(run, "file.file_system");
    return strcmp(fs, NOWHERE) == 0 ? "" : fs;
}

/* That of the first run of a result that has one: its other runs belong to the same system. */
static const char *fs_of_result(const json_t *root)
{
    const char *fs = "";
    const json_t *run;
    size_t i;
    json_array_foreach(json_object_get(root, "runs"), i, run)
    {
        if (!fs[0]) fs = fs_of(run);
    }
    return fs;
}

static struct group group_of(const struct doc *doc)
{
    const json_t *root = doc->root;
    const int64_t steps = doc_int(root, "problem.steps", 0);
    const int64_t interval = doc_int(root, "problem.interval", 0);
    return (struct group){
        .first = doc,
        .cls = doc_text(root, "problem.class"),
        .layout = doc_text(root, "problem.layout"),
        .sync = doc_text(root, "options.sync"),
        .cpu = doc_text(root, "system.cpu.model"),
        .fs = fs_of_result(root),
        .n = doc_int(root, "problem.n", 0),
        .steps = steps,
        .interval = interval,
        .dumps_n = doc_int(root, "problem.dumps_n", interval > 0 ? steps / interval : 0),
        .dt = doc_real(root, "problem.dt"),
        .last = doc_true(root, "problem.last"),
    };
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* Not known on both sides counts as the same. */
static bool same_dt(const struct group *a, const struct group *b)
{
    return a->dt == b->dt || (isnan(a->dt) && isnan(b->dt));
}

/* The file system is known of runs that write only. */
static bool same_fs(const char *a, const char *b)
{
    return !a[0] || !b[0] || strcmp(a, b) == 0;
}

/* What T_C depends on, beside the cores. */
static bool same_computing(const struct group *a, const struct group *b)
{
    return a->n == b->n && a->steps == b->steps && same_dt(a, b) && same_text(a->cpu, b->cpu);
}

static bool same_group(const struct group *a, const struct group *b)
{
    return same_computing(a, b) && a->interval == b->interval && a->dumps_n == b->dumps_n &&
           a->last == b->last && same_text(a->layout, b->layout) && same_text(a->sync, b->sync) &&
           same_fs(a->fs, b->fs);
}

static int group_find(struct runs *runs, const struct run *r)
{
    struct group g = group_of(r->doc);
    const char *fs = fs_of(r->json);
    if (fs[0]) g.fs = fs;
    for (int i = 0; i < runs->groups_n; i++)
        if (same_group(&runs->group[i], &g)) {
            if (!runs->group[i].fs[0]) runs->group[i].fs = g.fs;
            return i;
        }
    runs->group[runs->groups_n] = g;
    return runs->groups_n++;
}

/* Options that make another configuration of the same writer, with the value of no interest. The
 * decomposition that was chosen for a run stands in its "decomp". */
static const struct variant {
    const char *option, *usual;
} variants[] = {{"decomp", "auto"}, {"isa", ""},     {"aggregators", "0"}, {"buffer", "8388608"},
                {"staging", "2"},   {"direct", "0"}, {"hint", "[]"}};

/* The value of an option as a text. */
static void option_text(const json_t *v, char *buf, size_t size)
{
    buf[0] = '\0';
    if (json_is_string(v))
        snprintf(buf, size, "%s", json_string_value(v));
    else if (json_is_integer(v))
        snprintf(buf, size, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    else if (json_is_boolean(v))
        snprintf(buf, size, "%d", json_is_true(v));
    else if (json_is_array(v)) {
        char *text = json_dumps(v, JSON_COMPACT);
        snprintf(buf, size, "%s", text ? text : "");
        free(text);
    }
}

static char *variant_of(const struct doc *doc)
{
    struct text t;
    char *out = NULL, value[160];
    if (text_begin(&t) < 0) return NULL;
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
        const json_t *options = json_object_get(doc->root, "options");
        const json_t *v = json_object_get(options, variants[i].option);
        option_text(v, value, sizeof value);
        if (!v || json_is_null(v) || same_text(value, variants[i].usual)) continue;
        fprintf(t.to, "%s--%s %s", ftell(t.to) > 0 ? " " : "", variants[i].option, value);
    }
    return text_end(&t, &out) < 0 ? NULL : out;
}

/* A new cell for a run; its variant is taken. */
static struct cell cell_of(const struct run *r, char *variant)
{
    const json_t *root = r->doc->root;
    const bool nowhere = r->writes && same_text(doc_text(r->json, "file.file_system"), NOWHERE);
    struct cell c = {.group = r->group,
                     .writer = r->writer,
                     .variant = variant,
                     .ranks = doc_int(root, "system.ranks", 1),
                     .threads = doc_int(root, "system.threads", 1),
                     .nodes = doc_int(root, "system.nodes", 1),
                     .cores = doc_int(root, "system.cores_of_nodes", 0),
                     .cores_in_use = doc_int(root, "system.cores_in_use", 0),
                     .writes = r->writes,
                     .serial = !nowhere,
                     .drops = nowhere && doc_text(r->json, "file.run_id")[0] == '\0',
                     .verified = true,
                     .official = true};
    if (same_text(r->writer, "token")) c.token_group = doc_int(root, "options.group", 0);
    if (c.token_group > c.ranks) c.token_group = c.ranks;
    c.processors = c.ranks * c.threads;
    c.oversubscribed = c.cores > 0 && c.processors > c.cores;
    return c;
}

static bool same_cell(const struct cell *a, const struct cell *b)
{
    return a->group == b->group && a->ranks == b->ranks && a->threads == b->threads &&
           a->nodes == b->nodes && a->token_group == b->token_group &&
           same_text(a->writer, b->writer) && same_text(a->variant, b->variant);
}

static int cell_find(struct runs *runs, const struct run *r)
{
    char *variant = variant_of(r->doc);
    if (!variant) return no_memory();
    const struct cell c = cell_of(r, variant);
    for (int i = 0; i < runs->cells_n; i++)
        if (same_cell(&runs->cell[i], &c)) {
            free(variant);
            return i;
        }
    runs->cell[runs->cells_n] = c;
    return runs->cells_n++;
}

/* Room for every run in its cell; the cells' times are one array, each cell's part as long as its
 * number of runs. */
static int fill_cells(struct runs *runs)
{
    for (int i = 0; i < runs->runs_n; i++)
        runs->cell[runs->run[i].cell].n++;
    for (int i = 0; i < runs->cells_n; i++) {
        struct cell *c = &runs->cell[i];
        c->t_t_s = malloc((size_t)c->n * sizeof *c->t_t_s);
        if (!c->t_t_s) return no_memory();
        c->n = 0;
    }
    for (int i = 0; i < runs->runs_n; i++) {
        const struct run *r = &runs->run[i];
        struct cell *c = &runs->cell[r->cell];
        c->t_t_s[c->n++] = r->t_t_s;
        c->verified = c->verified && r->verified;
        c->official = c->official && r->official;
        c->page_cache = c->page_cache || r->page_cache;
    }
    return 0;
}

/* The key of T_C: processor, nodes, cores in use, problem. */
static bool same_t_c(const struct group *a, const struct cell *x, const struct group *b,
                     const struct cell *y)
{
    return same_computing(a, b) && x->nodes == y->nodes && x->cores_in_use == y->cores_in_use;
}

/* Best T_C that the results know for a cell: of its own and other groups, since layout and --sync
 * have no part in it. A T_C counts when its result says that it was verified. */
static double best_t_c(const struct runs *runs, const struct cell *c)
{
    double best = NAN;
    for (int i = 0; i < runs->runs_n; i++) {
        const struct run *r = &runs->run[i];
        if (!same_t_c(&runs->group[c->group], c, &runs->group[r->group], &runs->cell[r->cell]))
            continue;
        best = fmin(best, r->t_c_s);
        if (!r->writes && r->verified) best = fmin(best, r->t_t_s);
    }
    return best;
}

static const struct run *nearest(const struct runs *runs, int cell)
{
    const struct run *best = NULL;
    const double median = runs->cell[cell].median_s;
    for (int i = 0; i < runs->runs_n; i++) {
        const struct run *r = &runs->run[i];
        if (r->cell != cell) continue;
        if (!best || fabs(r->t_t_s - median) < fabs(best->t_t_s - median)) best = r;
    }
    return best;
}

static int cell_statistics(struct runs *runs, int i, double level)
{
    struct cell *c = &runs->cell[i];
    const struct group *g = &runs->group[c->group];
    struct stat_summary s;
    TRY(stat_summary(c->t_t_s, c->n, &s));
    c->median_s = s.median;
    c->best_s = s.min;
    c->lo_s = c->hi_s = NAN;
    if (c->n >= CI_RUNS_MIN)
        TRY(stat_median_ci(c->t_t_s, c->n, level, BOOTSTRAP_SEED, &c->lo_s, &c->hi_s));
    c->outliers_n = stat_outliers(c->t_t_s, c->n, OUTLIER_LIMIT);
    if (c->outliers_n < 0) return c->outliers_n;
    c->typical = nearest(runs, i);
    c->t_c_s = best_t_c(runs, c);
    /* The fastest rank counts: others may have waited for one that wrote. */
    c->slowness = doc_real(c->typical->json, "overlap.compute_s.min") / c->t_c_s;
    c->write_rate = c->typical->write_rate;
    c->zeta = c->writes ? metric_zeta(c->median_s, c->t_c_s) : NAN;
    c->r_io = c->writes ? metric_r_io(g->n, g->dumps_n, c->median_s) : NAN;
    return 0;
}

/* Cells in the order of reports. qsort has no room for the runs, so that they stand here. */
static int cell_order(const void *a, const void *b, void *from)
{
    const struct runs *runs = from;
    const struct cell *x = &runs->cell[*(const int *)a], *y = &runs->cell[*(const int *)b];
    if (x->processors != y->processors) return x->processors < y->processors ? -1 : 1;
    if (x->writes != y->writes) return y->writes - x->writes;
    return (x->median_s > y->median_s) - (x->median_s < y->median_s);
}

/* Cells of a group at one processor count that differ in ranks or nodes say so in their names.
 * cell: n numbers of them. */
static void mark_shapes(struct runs *runs, const int *cell, int n)
{
    const struct cell *first = &runs->cell[cell[0]];
    bool shaped = false;
    for (int i = 1; i < n; i++) {
        const struct cell *c = &runs->cell[cell[i]];
        shaped = shaped || c->ranks != first->ranks || c->nodes != first->nodes;
    }
    for (int i = 0; i < n; i++)
        runs->cell[cell[i]].shaped = shaped;
}

static int group_cells(struct runs *runs, int i)
{
    struct group *g = &runs->group[i];
    g->cell = calloc((size_t)runs->cells_n, sizeof *g->cell);
    if (!g->cell) return no_memory();
    g->cells_n = 0;
    for (int c = 0; c < runs->cells_n; c++)
        if (runs->cell[c].group == i) g->cell[g->cells_n++] = c;
    qsort_r(g->cell, (size_t)g->cells_n, sizeof *g->cell, cell_order, runs);
    for (int from = 0, to; from < g->cells_n; from = to) {
        const int64_t processors = runs->cell[g->cell[from]].processors;
        for (to = from; to < g->cells_n && runs->cell[g->cell[to]].processors == processors;)
            to++;
        mark_shapes(runs, g->cell + from, to - from);
    }
    return 0;
}

static bool group_is_official(const struct runs *runs, const struct group *g)
{
    for (int i = 0; i < g->cells_n; i++)
        if (runs->cell[g->cell[i]].official) return true;
    return false;
}

static bool group_before(const struct runs *runs, const struct group *a, const struct group *b)
{
    const bool x = group_is_official(runs, a), y = group_is_official(runs, b);
    if (x != y) return x;
    return a->n != b->n ? a->n > b->n : a->cells_n > b->cells_n;
}

/* Few groups: by insertion. Numbers of groups in runs and cells are not used afterwards. */
static void group_sort(struct runs *runs)
{
    for (int i = 1; i < runs->groups_n; i++)
        for (int k = i; k > 0 && group_before(runs, &runs->group[k], &runs->group[k - 1]); k--) {
            const struct group g = runs->group[k];
            runs->group[k] = runs->group[k - 1];
            runs->group[k - 1] = g;
        }
}

static int make_room(struct runs *runs, int room)
{
    const size_t n = room > 0 ? (size_t)room : 1;
    runs->run = calloc(n, sizeof *runs->run);
    runs->cell = calloc(n, sizeof *runs->cell);
    runs->group = calloc(n, sizeof *runs->group);
    return runs->run && runs->cell && runs->group ? 0 : no_memory();
}

/* Runs with wrong content have no part in statistics. */
static void drop_wrong(struct runs *runs)
{
    int kept = 0;
    for (int i = 0; i < runs->runs_n; i++)
        if (!runs->run[i].wrong) runs->run[kept++] = runs->run[i];
    runs->wrong_n = runs->runs_n - kept;
    runs->runs_n = kept;
}

int runs_collect(struct runs *runs, const struct docs *docs, double level)
{
    const int room = count_runs(docs);
    *runs = (struct runs){0};
    TRY(make_room(runs, room));
    for (int i = 0; i < docs->n; i++)
        take_runs(runs, &docs->doc[i], room);
    drop_wrong(runs);
    for (int i = 0; i < runs->runs_n; i++) {
        struct run *r = &runs->run[i];
        r->group = group_find(runs, r);
        r->cell = cell_find(runs, r);
        if (r->cell < 0) return r->cell;
    }
    TRY(fill_cells(runs));
    for (int i = 0; i < runs->cells_n; i++)
        TRY(cell_statistics(runs, i, level));
    for (int i = 0; i < runs->groups_n; i++)
        TRY(group_cells(runs, i));
    group_sort(runs);
    return 0;
}

void runs_free(struct runs *runs)
{
    for (int i = 0; i < runs->cells_n; i++) {
        free(runs->cell[i].variant);
        free(runs->cell[i].t_t_s);
    }
    for (int i = 0; i < runs->groups_n; i++)
        free(runs->group[i].cell);
    free(runs->group);
    free(runs->cell);
    free(runs->run);
    *runs = (struct runs){0};
}

/* Whether a cell is a better headline than another one; honest conditions before time. */
static bool better(const struct cell *a, const struct cell *b)
{
    if (a->oversubscribed != b->oversubscribed) return !a->oversubscribed;
    if (a->verified != b->verified) return a->verified;
    return a->median_s < b->median_s;
}

int runs_best(const struct runs *runs, const struct group *g, int64_t processors)
{
    int best = -1;
    for (int i = 0; i < g->cells_n; i++) {
        const struct cell *c = &runs->cell[g->cell[i]];
        if (!c->writes || !c->serial || (processors && c->processors != processors)) continue;
        if (best < 0 || better(c, &runs->cell[best])) best = g->cell[i];
    }
    return best;
}

int runs_processors(const struct runs *runs, const struct group *g, int64_t *out, int room)
{
    int n = 0;
    for (int i = 0; i < g->cells_n; i++) {
        const int64_t p = runs->cell[g->cell[i]].processors;
        if ((n == 0 || out[n - 1] != p) && n < room) out[n++] = p;
    }
    return n;
}

double runs_t_c(const struct runs *runs, const struct group *g, int64_t processors)
{
    double best = NAN;
    for (int i = 0; i < g->cells_n; i++)
        if (runs->cell[g->cell[i]].processors == processors)
            best = fmin(best, runs->cell[g->cell[i]].t_c_s);
    return best;
}

static double alone_in(const struct runs *runs, const struct group *g, int64_t processors)
{
    double best = NAN;
    for (int i = 0; i < g->cells_n; i++) {
        const struct cell *c = &runs->cell[g->cell[i]];
        if (!c->writes && c->processors == processors) best = fmin(best, c->best_s);
    }
    return best;
}

/* Layout and --sync have no part in it, so that all groups of the problem are looked at. */
double runs_alone(const struct runs *runs, const struct group *g, int64_t processors)
{
    double best = NAN;
    bool over = false;
    for (int i = 0; i < g->cells_n; i++) {
        const struct cell *c = &runs->cell[g->cell[i]];
        over = over || (c->processors == processors && c->oversubscribed);
    }
    if (!over) return runs_t_c(runs, g, processors);
    for (int i = 0; i < runs->groups_n; i++) {
        const struct group *o = &runs->group[i];
        if (same_computing(o, g)) best = fmin(best, alone_in(runs, o, processors));
    }
    return best;
}

const char *cell_name(const struct cell *c, char buf[CELL_NAME_MAX])
{
    char group[40] = "", shape[80] = "", nodes[40] = "";
    if (c->token_group > 0) num_print(group, sizeof group, ", group %" PRId64, c->token_group);
    if (c->shaped)
        num_print(shape, sizeof shape, ", %" PRId64 " rank%s x %" PRId64 " thread%s", c->ranks,
                  units_plural(c->ranks), c->threads, units_plural(c->threads));
    if (c->shaped && c->nodes > 1)
        num_print(nodes, sizeof nodes, " on %" PRId64 " nodes", c->nodes);
    num_print(buf, CELL_NAME_MAX, "%s%s%s%s%s%s", c->writer, group, shape, nodes,
              c->variant[0] ? " " : "", c->variant);
    return buf;
}

const char *group_name(const struct group *g, char buf[GROUP_NAME_MAX])
{
    char cls[16] = "";
    if (g->cls[0] && g->cls[0] != 'U') num_print(cls, sizeof cls, ", class %.8s", g->cls);
    num_print(buf, GROUP_NAME_MAX, "N = %" PRId64 "%s, %" PRId64 " steps, a dump every %" PRId64,
              g->n, cls, g->steps, g->interval);
    return buf;
}
