/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sections about nht1-bt: a problem at a time, then what was published in 1993. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/num.h"
#include "base/units.h"
#include "report/bt.h"
#include "report/metrics.h"
#include "report/published.h"

#define MB         1e6
#define GROUPS_MAX 12

static void scaling_row(struct table *t, double processors, double t_c_s, const struct cell *c)
{
    char name[CELL_NAME_MAX], buf[TEXT_NUMBER_MAX];
    num_print(buf, sizeof buf, "%.0f", processors);
    table_value(t, processors, buf);
    table_number(t, t_c_s);
    table_cell(t, "%s", c ? cell_name(c, name) : "-");
    table_number(t, c ? c->median_s : NAN);
    table_number(t, c ? c->lo_s : NAN);
    table_number(t, c ? c->hi_s : NAN);
    table_value(t, c ? c->zeta : NAN, text_percent(c ? c->zeta : NAN, buf));
    table_number(t, c ? c->r_io / MB : NAN);
    table_cell(t, "%s", c && c->oversubscribed ? "oversubscribed" : "");
}

static void scaling_table(struct report *r, const struct group *g, const char *key)
{
    static const char *const header[] = {"processors", "T_C in s",     "fastest writer",
                                         "T_T in s",   "from",         "to",
                                         "zeta",       "R_IO in MB/s", ""};
    struct scaling s;
    char name[64];
    scaling_of(&r->runs, g, &s);
    num_print(name, sizeof name, "processors%s", key);
    struct table *t = table_new(name, "By processors");
    for (size_t i = 0; i < sizeof header / sizeof header[0]; i++)
        table_column(t, header[i]);
    for (int i = 0; i < s.n; i++)
        scaling_row(t, s.processors[i], s.t_c_s[i], s.best[i]);
    page_table(r->page, t);
}

static void heading(struct report *r, const struct group *g, const char *id)
{
    char name[GROUP_NAME_MAX], title[GROUP_NAME_MAX + 64], bytes[UNITS_TEXT_MAX];
    num_print(title, sizeof title, "%s", group_name(g, name));
    if (r->runs.groups_n > 1)
        num_print(title, sizeof title, "%s, --sync %.16s, %.16s", name, g->sync, g->layout);
    page_section(r->page, 2, id, title);
    page_text(r->page, PAGE_PLAIN, "%" PRId64 " dumps, %s in all, layout %s, --sync %s; %s%s%s.",
              g->dumps_n, units_bytes(40.0 * pow((double)g->n, 3) * (double)g->dumps_n, bytes),
              g->layout[0] ? g->layout : "unknown", g->sync[0] ? g->sync : "unknown",
              g->cpu[0] ? g->cpu : "processor unknown", g->fs[0] ? ", file system " : "", g->fs);
}

/* Figures over processors say nothing about a single count. */
static void figures(struct report *r, const struct group *g, const char *key)
{
    int64_t p[2];
    const bool scales = runs_processors(&r->runs, g, p, 2) > 1;
    if (!scales && key[0] == '\0')
        page_text(r->page, PAGE_PLAIN,
                  "Figures 2, 4 and 5 (against processors) need results on two numbers of "
                  "processors or more: runs/study processors.");
    fig_groups(r, g, key);
    if (scales) fig_times(r, g, key);
    fig_systems(r, g, key);
    if (!scales || runs_best(&r->runs, g, 0) < 0) return;
    fig_rate(r, g, key);
    fig_overhead(r, g, key);
}

/* The processor count that writers are shown side by side at: that of the fastest; of a group that
 * has but writers that leave no serial file, their largest. 0: none. */
static int64_t writers_at(const struct runs *runs, const struct group *g)
{
    const int best = runs_best(runs, g, 0);
    int64_t most = 0;
    if (best >= 0) return runs->cell[best].processors;
    for (int i = 0; i < g->cells_n; i++)
        if (runs->cell[g->cell[i]].writes) most = runs->cell[g->cell[i]].processors;
    return most;
}

static void group(struct report *r, const struct group *g, const char *key)
{
    char id[32], title[80];
    num_print(id, sizeof id, "bt%s", key);
    heading(r, g, id);
    scaling_table(r, g, key);
    figures(r, g, key);
    const int64_t processors = writers_at(&r->runs, g);
    if (processors == 0) return;
    num_print(id, sizeof id, "writers%s", key);
    num_print(title, sizeof title, "Writers on %" PRId64 " processor%s", processors,
              units_plural(processors));
    page_section(r->page, 3, id, title);
    fig_ranking(r, g, processors, key);
    fig_phases(r, g, processors, key);
    fig_timelines(r, g, processors, key);
}

static void published_row(struct table *t, const struct published *p)
{
    static const char *const note[] = {[PUBLISHED_PLAIN] = "",
                                       [PUBLISHED_ODD] =
                                           "the printed values do not agree with each other",
                                       [PUBLISHED_SCALED] = "extrapolated from 25 steps"};
    char buf[TEXT_NUMBER_MAX];
    const double rate = metric_r_io(p->n, p->dumps_n, p->t_t_s);
    const double zeta = metric_zeta(p->t_t_s, p->t_c_s);
    table_cell(t, "%s, %s", p->system, p->program);
    table_cell(t, "%" PRId64, p->n);
    table_cell(t, "%" PRId64, p->processors);
    table_number(t, p->t_c_s);
    table_number(t, p->t_t_s);
    num_print(buf, sizeof buf, "%.0f", p->r_io);
    table_value(t, p->r_io, buf);
    num_print(buf, sizeof buf, "%.0f", rate);
    table_value(t, rate, buf);
    num_print(buf, sizeof buf, "%.3f", p->zeta);
    table_value(t, p->zeta, buf);
    num_print(buf, sizeof buf, "%.3f", zeta);
    table_value(t, zeta, buf);
    table_cell(t, "%s", note[p->note]);
}

static void published(struct report *r)
{
    static const char *const header[] = {
        "system",          "N",          "processors", "T_C in s",   "T_T in s",
        "R_IO in bytes/s", "recomputed", "zeta",       "recomputed", ""};
    int n;
    const struct published *p = published_rows(&n);
    page_section(r->page, 2, "published", "Published in 1993");
    struct table *t = table_new("published-1993", "Tables 2 to 6 of [F93], with R_IO and zeta "
                                                  "computed again from T_T and T_C");
    for (size_t i = 0; i < sizeof header / sizeof header[0]; i++)
        table_column(t, header[i]);
    for (int i = 0; i < n; i++)
        published_row(t, &p[i]);
    page_table(r->page, t);
    page_text(r->page, PAGE_PLAIN,
              "[F93] S. A. Fineberg, Implementing the NHT-1 Application I/O Benchmark, Report "
              "RND-93-007, NASA Ames Research Center, May 1993.");
}

/* All problems in one table: different N are a scaling, too. */
static void overview(struct report *r)
{
    static const char *const header[] = {"problem",        "layout, --sync", "processors",
                                         "fastest writer", "T_T in s",       "T_C in s",
                                         "zeta",           "R_IO in MB/s",   "what it counts as"};
    char name[GROUP_NAME_MAX], buf[TEXT_NUMBER_MAX];
    if (r->runs.groups_n < 2) return;
    page_section(r->page, 2, "problems", "All problems");
    struct table *t = table_new("problems", "The fastest writer of each problem");
    for (size_t i = 0; i < sizeof header / sizeof header[0]; i++)
        table_column(t, header[i]);
    for (int i = 0; i < r->runs.groups_n; i++) {
        const struct group *g = &r->runs.group[i];
        const int best = runs_best(&r->runs, g, 0);
        if (best < 0) continue;
        const struct cell *c = &r->runs.cell[best];
        table_cell(t, "%s", group_name(g, name));
        table_cell(t, "%s, %s", g->layout, g->sync);
        num_print(buf, sizeof buf, "%" PRId64, c->processors);
        table_value(t, (double)c->processors, buf);
        table_cell(t, "%s", cell_name(c, name));
        table_number(t, c->median_s);
        table_number(t, c->t_c_s);
        table_value(t, c->zeta, text_percent(c->zeta, buf));
        table_number(t, c->r_io / MB);
        fig_counts_as(t, c);
    }
    page_table(r->page, t);
}

int part_bt(struct report *r)
{
    overview(r);
    for (int i = 0; i < r->runs.groups_n && i < GROUPS_MAX; i++) {
        char key[16] = "";
        if (i > 0) num_print(key, sizeof key, "-%d", i + 1);
        group(r, &r->runs.group[i], key);
    }
    if (r->runs.groups_n > GROUPS_MAX)
        page_text(r->page, PAGE_CARE, "%d more problems stand in the table of all problems only.",
                  r->runs.groups_n - GROUPS_MAX);
    if (r->runs.groups_n > 0) published(r);
    return 0;
}
