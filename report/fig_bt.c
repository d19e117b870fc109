/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures 1 to 5 of [F93], for this system with the published ones beside it. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/stat_fit.h"
#include "report/bt.h"
#include "report/metrics.h"
#include "report/published.h"

#define MB          1e6
#define OVERSUB     "more processors than cores"
#define CURVE_STEPS 60

void scaling_of(const struct runs *runs, const struct group *g, struct scaling *out)
{
    int64_t p[SCALING_MAX];
    *out = (struct scaling){.n = runs_processors(runs, g, p, SCALING_MAX)};
    for (int i = 0; i < out->n; i++) {
        const int best = runs_best(runs, g, p[i]);
        out->processors[i] = (double)p[i];
        out->t_c_s[i] = runs_t_c(runs, g, p[i]);
        out->alone_s[i] = runs_alone(runs, g, p[i]);
        out->best[i] = best < 0 ? NULL : &runs->cell[best];
    }
}

static struct figure *figure_for(const char *stem, const char *key, const char *title)
{
    char name[64];
    num_print(name, sizeof name, "%s%s", stem, key);
    return figure_new(name, title);
}

static void tick_number(struct figure *f, double x)
{
    char buf[NUM_TEXT_MAX];
    figure_tick(f, x, num_real(x, buf));
}

static void tick_processors(struct figure *f, const struct scaling *s)
{
    for (int i = 0; i < s->n; i++)
        tick_number(f, s->processors[i]);
}

/* A value of a cell and its interval, as functions of T_T. */
typedef double cell_value(const struct cell *c, double t_t_s);

static double value_t_t(const struct cell *c, double t_t_s)
{
    (void)c;
    return t_t_s;
}

static double value_rate(const struct cell *c, double t_t_s)
{
    return c->r_io * c->median_s / t_t_s / MB;
}

static double value_zeta(const struct cell *c, double t_t_s)
{
    return 100 * metric_zeta(t_t_s, c->t_c_s);
}

static void cell_point(struct figure *f, double x, const struct cell *c, cell_value *value)
{
    const double a = value(c, c->lo_s), b = value(c, c->hi_s);
    figure_interval(f, x, value(c, c->median_s), fmin(a, b), fmax(a, b));
}

static void best_points(struct figure *f, const struct scaling *s, cell_value *value)
{
    for (int i = 0; i < s->n; i++)
        if (s->best[i]) cell_point(f, s->processors[i], s->best[i], value);
}

/* Rings around what was measured with more processors than there are. */
static void rings(struct figure *f, const struct scaling *s, cell_value *value)
{
    figure_series(f, OVERSUB, FIGURE_RINGS);
    for (int i = 0; i < s->n; i++)
        if (s->best[i] && s->best[i]->oversubscribed)
            figure_point(f, s->processors[i], value(s->best[i], s->best[i]->median_s));
}

/* The Y-MP at N = 102, the only system of 1993 with several processor counts. */
enum ymp { YMP_T_C, YMP_T_T, YMP_R_IO, YMP_ZETA };

static double ymp_value(const struct published *p, enum ymp what)
{
    const double of[] = {[YMP_T_C] = p->t_c_s,
                         [YMP_T_T] = p->t_t_s,
                         [YMP_R_IO] = p->r_io / MB,
                         [YMP_ZETA] = 100 * p->zeta};
    return of[what];
}

static bool is_ymp(const struct published *p)
{
    return p->n == 102 && strcmp(p->system, PUBLISHED_YMP) == 0;
}

static void ymp_points(struct figure *f, enum ymp what)
{
    int n;
    const struct published *p = published_rows(&n);
    for (int i = 0; i < n; i++)
        if (is_ymp(&p[i])) figure_point(f, (double)p[i].processors, ymp_value(&p[i], what));
}

static void ymp_ticks(struct figure *f)
{
    int n;
    const struct published *p = published_rows(&n);
    for (int i = 0; i < n; i++)
        if (is_ymp(&p[i])) tick_number(f, (double)p[i].processors);
}

/* What a power law through the counts that the cores allow says of a quantity, value[i] of count i
 * (NaN: unknown); "" with fewer than two. */
static void words_power(const struct scaling *s, const double *value, const char *what, char *buf,
                        size_t size)
{
    double x[SCALING_MAX], y[SCALING_MAX];
    struct stat_power w;
    char sd[48] = "";
    int n = 0;
    for (int i = 0; i < s->n; i++)
        if (value[i] > 0 && !(s->best[i] && s->best[i]->oversubscribed)) {
            x[n] = s->processors[i];
            y[n++] = value[i];
        }
    buf[0] = '\0';
    if (n < 2 || stat_fit_power(x, y, n, &w) < 0) {
        err_clear();
        return;
    }
    if (isfinite(w.exponent_sd))
        num_print(sd, sizeof sd, " (standard deviation %.2f)", w.exponent_sd);
    num_print(buf, size,
              " On the %d processor counts that the cores allow, %s goes with their number to the "
              "power of %.2f%s",
              n, what, w.exponent, sd);
}

void fig_times(struct report *r, const struct group *g, const char *key)
{
    struct scaling s;
    char caption[700], words[256];
    bool over = false;
    const struct figure_axis x = {.label = "processors", .log = 2},
                             y = {.label = "time in s", .log = 10};
    scaling_of(&r->runs, g, &s);
    struct figure *f = figure_for("fig2-times", key, "Figure 2: T_C and T_T against processors");
    figure_panel(f, &(struct figure_panel){.title = "this system", .x = x, .y = y});
    tick_processors(f, &s);
    figure_series(f, "computing only", FIGURE_LINE_POINTS);
    for (int i = 0; i < s.n; i++)
        figure_point(f, s.processors[i], s.alone_s[i]);
    figure_series(f, "with writing", FIGURE_LINE_POINTS);
    best_points(f, &s, value_t_t);
    rings(f, &s, value_t_t);
    for (int i = 0; i < s.n; i++) {
        if (!s.best[i] || !s.best[i]->oversubscribed) continue;
        figure_point(f, s.processors[i], s.alone_s[i]);
        over = true;
    }
    figure_panel(f, &(struct figure_panel){.title = "Cray Y-MP, N = 102, 1993", .x = x, .y = y});
    ymp_ticks(f);
    figure_series(f, "computing only", FIGURE_LINE_POINTS);
    ymp_points(f, YMP_T_C);
    figure_series(f, "with writing", FIGURE_LINE_POINTS);
    ymp_points(f, YMP_T_T);
    words_power(&s, s.t_c_s, "T_C", words, sizeof words);
    num_print(caption, sizeof caption,
              "Run times against processors (ranks x threads): T_C computing only, T_T with "
              "writing, median of the fastest writer. Beside it the Y-MP of [F93].%s%s%s",
              words, words[0] ? "; -1 would be perfect." : "",
              over ? " Ringed counts share the cores: drawn is what was measured with as many, "
                     "table and zeta go by T_C, the best of the cores."
                   : "");
    page_figure(r->page, f, caption);
}

void fig_rate(struct report *r, const struct group *g, const char *key)
{
    struct scaling s;
    double rate[SCALING_MAX];
    char caption[512], words[256];
    scaling_of(&r->runs, g, &s);
    struct figure *f = figure_for("fig4-rate", key, "Figure 4: R_IO against processors");
    figure_panel(f, &(struct figure_panel){.x = {.label = "processors", .log = 2},
                                           .y = {.label = "R_IO in MB/s", .log = 10}});
    figure_series(f, "this system (fastest writer)", FIGURE_LINE_POINTS);
    best_points(f, &s, value_rate);
    figure_series(f, "Cray Y-MP, N = 102, 1993", FIGURE_LINE_POINTS);
    ymp_points(f, YMP_R_IO);
    rings(f, &s, value_rate);
    for (int i = 0; i < s.n; i++)
        rate[i] = s.best[i] ? s.best[i]->r_io : NAN;
    words_power(&s, rate, "R_IO", words, sizeof words);
    num_print(caption, sizeof caption,
              "R_IO = bytes written / T_T: what the application gets, computing included, and so a "
              "measure of the whole system.%s%s",
              words, words[0] ? "; 1 would be perfect." : "");
    page_figure(r->page, f, caption);
}

/* zeta in percent of the counts that the cores allow, and the fit through them. */
struct overhead {
    int n;
    double x[SCALING_MAX], zeta[SCALING_MAX];
    bool fitted, crosses;
    struct stat_poly fit;
    double at, at_sd;
};

/* A parabola, as zeta of the Y-MP bends; a line where there are too few counts. */
static void fit_overhead(struct overhead *o)
{
    if (o->n < 2) return;
    const int degree = o->n >= 4 ? 2 : 1;
    o->fitted = stat_fit_poly(o->x, o->zeta, NULL, o->n, degree, &o->fit) == 0;
    err_clear();
    if (o->fitted)
        o->crosses = stat_poly_reaches(&o->fit, 100 * METRIC_GOAL, o->x[0], 2 * o->x[o->n - 1],
                                       &o->at, &o->at_sd);
}

static void overhead_here(const struct scaling *s, struct overhead *o)
{
    *o = (struct overhead){0};
    for (int i = 0; i < s->n; i++) {
        const struct cell *c = s->best[i];
        if (!c || c->oversubscribed || !isfinite(c->zeta)) continue;
        o->x[o->n] = s->processors[i];
        o->zeta[o->n++] = 100 * c->zeta;
    }
    fit_overhead(o);
}

static void overhead_ymp(struct overhead *o)
{
    int n;
    const struct published *p = published_rows(&n);
    *o = (struct overhead){0};
    for (int i = 0; i < n; i++)
        if (is_ymp(&p[i])) {
            o->x[o->n] = (double)p[i].processors;
            o->zeta[o->n++] = 100 * p[i].zeta;
        }
    fit_overhead(o);
}

static void draw_fit(struct figure *f, const struct overhead *o)
{
    figure_series(f, "fit", FIGURE_LINE);
    for (int i = 0; o->fitted && o->n > 2 && i <= CURVE_STEPS; i++) {
        const double x = o->x[0] + (o->x[o->n - 1] - o->x[0]) * i / CURVE_STEPS;
        figure_point(f, x, stat_poly_at(&o->fit, x, NULL));
    }
    figure_level(f, 100 * METRIC_GOAL, "goal: 10 %");
}

static bool all_above(const struct overhead *o, double level)
{
    for (int i = 0; i < o->n; i++)
        if (o->zeta[i] <= level) return false;
    return true;
}

static void words_crossing(const struct overhead *o, const char *who, char *buf, size_t size)
{
    char sd[48] = "";
    if (isfinite(o->at_sd)) num_print(sd, sizeof sd, " (standard deviation %.1f)", o->at_sd);
    if (o->n > 0 && all_above(o, 100 * METRIC_GOAL))
        num_print(buf, size, "On %s zeta is above 10 %% at every processor count.", who);
    else if (o->n < 2)
        num_print(buf, size, "There are too few processor counts of %s for a fit.", who);
    else if (o->crosses)
        num_print(buf, size, "On %s the %s reaches 10 %% at %.1f processors%s%s.", who,
                  o->fit.degree == 2 ? "fitted parabola" : "fitted line", o->at, sd,
                  o->at > o->x[o->n - 1] ? ", beyond what was measured" : "");
    else
        num_print(buf, size,
                  "On %s no fit comes up to 10 %% between %.0f and %.0f processors, twice what was "
                  "measured.",
                  who, o->x[0], 2 * o->x[o->n - 1]);
}

void fig_overhead(struct report *r, const struct group *g, const char *key)
{
    struct scaling s;
    struct overhead here, ymp;
    char caption[700], one[256], two[256];
    const struct figure_axis x = {.label = "processors", .log = 2}, y = {.label = "zeta in %"};
    scaling_of(&r->runs, g, &s);
    overhead_here(&s, &here);
    overhead_ymp(&ymp);
    struct figure *f = figure_for("fig5-overhead", key, "Figure 5: zeta against processors");
    figure_panel(f, &(struct figure_panel){.title = "this system", .x = x, .y = y});
    tick_processors(f, &s);
    figure_series(f, "zeta", FIGURE_LINE_POINTS);
    best_points(f, &s, value_zeta);
    rings(f, &s, value_zeta);
    draw_fit(f, &here);
    figure_panel(f, &(struct figure_panel){.title = "Cray Y-MP, N = 102, 1993", .x = x, .y = y});
    ymp_ticks(f);
    figure_series(f, "zeta", FIGURE_LINE_POINTS);
    ymp_points(f, YMP_ZETA);
    draw_fit(f, &ymp);
    words_crossing(&here, "this system", one, sizeof one);
    words_crossing(&ymp, "the Y-MP", two, sizeof two);
    num_print(caption, sizeof caption,
              "zeta = T_T / T_C - 1, what writing costs as a share of the computation, fastest "
              "writer; NAS's goal is at most 10 %%. %s %s ([F93] reads off about 5.)",
              one, two);
    page_figure(r->page, f, caption);
}

static int by_token_group(const void *a, const void *b)
{
    const struct cell *x = *(const struct cell *const *)a, *y = *(const struct cell *const *)b;
    return (x->token_group > y->token_group) - (x->token_group < y->token_group);
}

/* The runs of token that differ from one in nothing but the group size. */
static int token_cells(const struct runs *runs, const struct group *g, const struct cell *like,
                       const struct cell **out)
{
    int n = 0;
    for (int i = 0; i < g->cells_n && n < SCALING_MAX; i++) {
        const struct cell *c = &runs->cell[g->cell[i]];
        if (c->token_group > 0 && c->processors == like->processors && c->ranks == like->ranks &&
            c->nodes == like->nodes && strcmp(c->variant, like->variant) == 0)
            out[n++] = c;
    }
    qsort(out, (size_t)n, sizeof *out, by_token_group);
    return n;
}

/* The configuration with the most group sizes, on the fewest processors of those. Returns how many:
 * below 2 there is nothing to compare. */
static int token_sizes(const struct runs *runs, const struct group *g, const struct cell **out)
{
    int most = 0;
    for (int i = 0; i < g->cells_n; i++) {
        const struct cell *c = &runs->cell[g->cell[i]];
        const struct cell *with[SCALING_MAX];
        const int n = c->token_group > 0 ? token_cells(runs, g, c, with) : 0;
        if (n <= most) continue;
        most = n;
        memcpy(out, with, (size_t)n * sizeof *with);
    }
    return most;
}

/* Said once, and only if no problem has the figure. */
static void no_groups(struct report *r, const char *key)
{
    const struct cell *cell[SCALING_MAX];
    if (key[0] != '\0') return;
    for (int i = 0; i < r->runs.groups_n; i++)
        if (token_sizes(&r->runs, &r->runs.group[i], cell) >= 2) return;
    page_text(r->page, PAGE_PLAIN,
              "Figure 1 (run time against group size) needs the writer token with two --group "
              "sizes or more on the same processors; these results have none.");
}

void fig_groups(struct report *r, const struct group *g, const char *key)
{
    const struct cell *cell[SCALING_MAX];
    char caption[400], series[CELL_NAME_MAX];
    const int n = token_sizes(&r->runs, g, cell);
    if (n < 2) {
        no_groups(r, key);
        return;
    }
    struct figure *f = figure_for("fig1-groups", key, "Figure 1: T_T against group size");
    figure_panel(f,
                 &(struct figure_panel){.x = {.label = "ranks that may write at a time", .log = 2},
                                        .y = {.label = "T_T in s"}});
    num_print(series, sizeof series, "token %s%s%" PRId64 " ranks", cell[0]->variant,
              cell[0]->variant[0] ? ", " : "on ", cell[0]->ranks);
    figure_series(f, series, FIGURE_LINE_POINTS);
    const struct cell *best = cell[0];
    for (int i = 0; i < n; i++) {
        cell_point(f, (double)cell[i]->token_group, cell[i], value_t_t);
        tick_number(f, (double)cell[i]->token_group);
        if (cell[i]->median_s < best->median_s) best = cell[i];
    }
    const double alone = runs_alone(&r->runs, g, best->processors);
    if (isfinite(alone)) figure_level(f, alone, alone == best->t_c_s ? "T_C" : "computing only");
    num_print(
        caption, sizeof caption,
        "Grouped writing: rank r waits for a token of rank r - group. Shortest median here: group "
        "%" PRId64 " with %.3g s; on the iPSC/860 of [F93] it was 16 of 128.%s",
        best->token_group, best->median_s,
        best->oversubscribed ? " Measured with more processors than cores." : "");
    page_figure(r->page, f, caption);
}

/* A row of Figure 3. */
struct system_row {
    const char *name;
    double t_c_s, t_t_s, rate;
};

/* Of the same problem: N, steps (60 at N = 12, else 200) and dumps. */
static int published_systems(const struct group *g, struct system_row *row)
{
    static const char *const system[] = {PUBLISHED_YMP, PUBLISHED_CM2, PUBLISHED_IPSC};
    int rows = 0;
    for (size_t i = 0; i < sizeof system / sizeof system[0]; i++) {
        const struct published *p = published_best(system[i], g->n);
        if (p && p->dumps_n == g->dumps_n && g->steps == (g->n == 12 ? 60 : 200))
            row[rows++] = (struct system_row){system[i], p->t_c_s, p->t_t_s, p->r_io / MB};
    }
    return rows;
}

static void system_panel(struct figure *f, const char *label, const struct system_row *row, int n,
                         double value(const struct system_row *))
{
    figure_panel(f, &(struct figure_panel){.title = "",
                                           .x = {.label = ""},
                                           .y = {.label = label, .log = 10},
                                           .across = true,
                                           .no_key = true});
    for (int i = 0; i < n; i++)
        figure_tick(f, i, row[i].name);
    figure_series(f, "1993", FIGURE_POINTS);
    for (int i = 1; i < n; i++)
        figure_point(f, i, value(&row[i]));
    figure_series(f, "this system", FIGURE_POINTS);
    figure_point(f, 0, value(&row[0]));
}

static double row_t_c(const struct system_row *row)
{
    return row->t_c_s;
}

static double row_t_t(const struct system_row *row)
{
    return row->t_t_s;
}

static double row_rate(const struct system_row *row)
{
    return row->rate;
}

void fig_systems(struct report *r, const struct group *g, const char *key)
{
    struct system_row row[4] = {{.name = "this system"}};
    char caption[400];
    const int best = runs_best(&r->runs, g, 0);
    const int n = 1 + published_systems(g, row + 1);
    if (best < 0) return;
    if (n == 1 || g->interval * g->dumps_n != g->steps) {
        page_text(r->page, PAGE_PLAIN,
                  "Figure 3 (systems side by side) needs a problem that was published in 1993: "
                  "N = 12 with 6 dumps in 60 steps, N = 64 or 102 with 40 dumps in 200 (classes "
                  "S, A, B).");
        return;
    }
    const struct cell *c = &r->runs.cell[best];
    row[0].t_c_s = c->t_c_s;
    row[0].t_t_s = c->median_s;
    row[0].rate = c->r_io / MB;
    struct figure *f = figure_for("fig3-systems", key, "Figure 3: systems side by side");
    system_panel(f, "T_C in s", row, n, row_t_c);
    system_panel(f, "T_T in s", row, n, row_t_t);
    system_panel(f, "R_IO in MB/s", row, n, row_rate);
    num_print(caption, sizeof caption,
              "This system (processors: %" PRId64
              ", median of writer %.60s) beside the systems of [F93] "
              "at N = %" PRId64 ", each with its fastest run. The axes are logarithmic.",
              c->processors, c->writer, g->n);
    page_figure(r->page, f, caption);
}
