/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writers at one processor count: ranked, and where their time goes. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "report/bt.h"
#include "report/metrics.h"

#define MB 1e6

int fig_writers(const struct runs *runs, const struct group *g, int64_t processors, int *out)
{
    int n = 0;
    for (int i = 0; i < g->cells_n && n < FIG_WRITERS_MAX; i++) {
        const struct cell *c = &runs->cell[g->cell[i]];
        if (c->writes && c->processors == processors) out[n++] = g->cell[i];
    }
    return n;
}

static const char *key_name(const char *stem, const char *key, char buf[64])
{
    num_print(buf, 64, "%s%s", stem, key);
    return buf;
}

void fig_counts_as(struct table *t, const struct cell *c)
{
    table_cell(t, "%s%s%s%s", c->verified ? "verified" : "not verified",
               c->official ? ", official NHT-1" : "",
               c->drops        ? ", drops the data"
               : !c->serial    ? ", parts of a file"
               : c->page_cache ? ", page cache"
                               : "",
               c->oversubscribed ? ", oversubscribed" : "");
}

static void ranking_row(struct table *t, const struct cell *c)
{
    char name[CELL_NAME_MAX], zeta[TEXT_NUMBER_MAX];
    table_cell(t, "%s", cell_name(c, name));
    table_value(t, c->n, num_print(name, sizeof name, "%d", c->n) > 0 ? name : "");
    table_number(t, c->median_s);
    table_number(t, c->lo_s);
    table_number(t, c->hi_s);
    table_number(t, c->best_s);
    table_value(t, c->zeta, text_percent(c->zeta, zeta));
    table_number(t, c->r_io / MB);
    table_number(t, c->write_rate / MB);
    fig_counts_as(t, c);
}

static struct table *ranking_table(const struct runs *runs, const int *cell, int n,
                                   const char *name)
{
    static const char *const header[] = {"writer",
                                         "runs",
                                         "T_T in s",
                                         "from",
                                         "to",
                                         "best",
                                         "zeta",
                                         "R_IO in MB/s",
                                         "writing in MB/s",
                                         "what it counts as"};
    struct table *t = table_new(name, "Writers by median T_T, with its confidence interval");
    for (size_t i = 0; i < sizeof header / sizeof header[0]; i++)
        table_column(t, header[i]);
    for (int i = 0; i < n; i++)
        ranking_row(t, &runs->cell[cell[i]]);
    return t;
}

static struct figure *ranking_figure(const struct runs *runs, const int *cell, int n,
                                     const char *name)
{
    char label[CELL_NAME_MAX];
    struct figure *f = figure_new(name, "Writers by run time");
    figure_panel(f, &(struct figure_panel){.x = {.label = ""},
                                           .y = {.label = "T_T in s, median and its interval"},
                                           .across = true,
                                           .no_key = true});
    figure_series(f, "T_T", FIGURE_POINTS);
    for (int i = 0; i < n; i++) {
        const struct cell *c = &runs->cell[cell[i]];
        figure_tick(f, i, cell_name(c, label));
        figure_interval(f, i, c->median_s, c->lo_s, c->hi_s);
    }
    if (isfinite(runs->cell[cell[0]].t_c_s)) figure_level(f, runs->cell[cell[0]].t_c_s, "T_C");
    return f;
}

/* Whether the intervals of two cells lie apart. */
static bool apart(const struct cell *fast, const struct cell *slow)
{
    return fast->hi_s < slow->lo_s;
}

/* Those that leave a serial file. Returns how many. */
static int writing(const struct runs *runs, const int *cell, int n, int *out)
{
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (runs->cell[cell[i]].serial) out[kept++] = cell[i];
    return kept;
}

/* What a run with dumps takes when nothing is written. */
static void floor_words(struct report *r, const int *cell, int n)
{
    char name[CELL_NAME_MAX], percent[TEXT_NUMBER_MAX];
    for (int i = 0; i < n; i++) {
        const struct cell *c = &r->runs.cell[cell[i]];
        if (!c->drops || !isfinite(c->zeta)) continue;
        if (c->zeta < 0) {
            page_text(r->page, PAGE_PLAIN,
                      "%s takes the data and drops them: T_T = %.4g s, less than T_C, which is "
                      "not the best time of this system; measure it again with --tc measure.",
                      cell_name(c, name), c->median_s);
            continue;
        }
        page_text(r->page, PAGE_PLAIN,
                  "%s takes the data and drops them: T_T = %.4g s, zeta = %s. So much is what "
                  "handing over the data costs, and how far the system's usual times lie above its "
                  "best one, T_C; only what is above it is writing.",
                  cell_name(c, name), c->median_s, text_percent(c->zeta, percent));
    }
}

static void ranking_words(struct report *r, const int *cell, int n)
{
    char a[CELL_NAME_MAX], b[CELL_NAME_MAX];
    const struct cell *first, *second;
    int kept[FIG_WRITERS_MAX];
    if (writing(&r->runs, cell, n, kept) < 2) return;
    first = &r->runs.cell[kept[0]];
    second = &r->runs.cell[kept[1]];
    cell_name(first, a);
    cell_name(second, b);
    if (!isfinite(first->hi_s) || !isfinite(second->lo_s))
        page_text(r->page, PAGE_PLAIN,
                  "%s is the fastest here, %s follows; fewer than 3 runs of each say nothing about "
                  "chance (--repeat 5).",
                  a, b);
    else if (apart(first, second))
        page_text(r->page, PAGE_PLAIN, "%s is the fastest, ahead of %s by more than the intervals.",
                  a, b);
    else
        page_text(r->page, PAGE_PLAIN,
                  "%s and %s cannot be told apart: their intervals overlap. More runs narrow them.",
                  a, b);
}

void fig_ranking(struct report *r, const struct group *g, int64_t processors, const char *key)
{
    int cell[FIG_WRITERS_MAX];
    char name[64], caption[256];
    const int n = fig_writers(&r->runs, g, processors, cell);
    if (n == 0) return;
    const struct cell *first = &r->runs.cell[cell[0]];
    ranking_words(r, cell, n);
    floor_words(r, cell, n);
    num_print(
        caption, sizeof caption,
        "T_T of each writer on %" PRId64 " processor%s, fastest first%s%s.", processors,
        units_plural(processors),
        isfinite(first->t_c_s) ? "; the dashed line is T_C, the same run without writing" : "",
        isfinite(first->t_c_s) && first->oversubscribed ? " on the cores that there are" : "");
    if (n > 1)
        page_figure(r->page, ranking_figure(&r->runs, cell, n, key_name("writers", key, name)),
                    caption);
    page_table(r->page, ranking_table(&r->runs, cell, n, key_name("writers", key, name)));
}

/* What the phases of a run are for. */
static const struct purpose {
    const char *label;
    const char *phase[7];
} purposes[] = {
    {"computing", {"exchange", "rhs", "xi", "eta", "zeta", "pipe_wait", NULL}},
    {"staging", {"stage", "digest", NULL}},
    {"writing", {"write", NULL}},
    {"waiting for data under way", {"drain", NULL}},
    {"flushing and closing", {"sync", "close", NULL}},
    {"agreeing, waiting for ranks", {"agree", "manifest", "stop", "idle", NULL}},
};
enum { PURPOSES = sizeof purposes / sizeof purposes[0] };

/* Seconds of a run for one purpose, mean over ranks, so that purposes add up to the time of the
 * run; median where an older result has no mean. */
static double purpose_s(const struct run *run, const struct purpose *p)
{
    double sum = 0;
    for (int i = 0; p->phase[i]; i++) {
        const json_t *phase = json_object_get(doc_at(run->json, "phases_s"), p->phase[i]);
        const double mean = doc_real(phase, "mean");
        const double s = isfinite(mean) ? mean : doc_real(phase, "median");
        if (s > 0) sum += s;
    }
    return sum;
}

/* Where the block of a purpose begins in the row of a run. */
static double before_s(const struct run *run, int purpose)
{
    double sum = 0;
    for (int i = 0; i < purpose; i++)
        sum += purpose_s(run, &purposes[i]);
    return sum;
}

void fig_phases(struct report *r, const struct group *g, int64_t processors, const char *key)
{
    int cell[FIG_WRITERS_MAX];
    char name[64], label[CELL_NAME_MAX];
    const int n = fig_writers(&r->runs, g, processors, cell);
    struct figure *f = figure_new(key_name("phases", key, name), "Where the time of a run goes");
    figure_panel(f, &(struct figure_panel){.x = {.label = ""},
                                           .y = {.label = "time in s, mean over ranks"},
                                           .across = true});
    for (int i = 0; i < n; i++)
        figure_tick(f, i, cell_name(&r->runs.cell[cell[i]], label));
    for (int p = 0; p < PURPOSES; p++) {
        figure_series(f, purposes[p].label, FIGURE_BLOCKS);
        for (int i = 0; i < n; i++) {
            const struct run *run = r->runs.cell[cell[i]].typical;
            const double low = before_s(run, p), s = purpose_s(run, &purposes[p]);
            if (s > 0) figure_interval(f, i, s, low, low + s);
        }
    }
    page_figure(r->page, f,
                "Phases of the run nearest to its median, means over ranks, which add up to T_T. "
                "Computing holds the waiting of ranks for their neighbours. What a writer with a "
                "thread of its own does beside the computation is not in them.");
}
