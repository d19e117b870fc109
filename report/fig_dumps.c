/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs dump by dump, with the ranks that were slowest. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/stat.h"
#include "report/bt.h"

enum { TIMELINES_MAX = 4, NOTES_MAX = 3, ROWS_MAX = 5, POINTS_MAX = 300 };

/* What is known of a dump: seconds in the writer, post and wait together. */
struct dump {
    int64_t step, rank; /* rank: the slowest one */
    const char *host;
    double start_s, most_s, middle_s, least_s;
};

static double both(const json_t *dump, const char *what)
{
    const double post = doc_real(json_object_get(dump, "post_s"), what);
    const double wait = doc_real(json_object_get(dump, "wait_s"), what);
    return (isfinite(post) ? post : 0) + (isfinite(wait) ? wait : 0);
}

static struct dump dump_of(const json_t *json)
{
    const double post = doc_real(json, "post_s.max"), wait = doc_real(json, "wait_s.max");
    const json_t *longer = json_object_get(json, wait > post ? "wait_s" : "post_s");
    return (struct dump){.step = doc_int(json, "step", 0),
                         .rank = doc_int(longer, "slowest_rank", -1),
                         .host = doc_text(longer, "slowest_host"),
                         .start_s = doc_real(json, "start_s"),
                         .most_s = both(json, "max"),
                         .middle_s = both(json, "median"),
                         .least_s = both(json, "min")};
}

/* malloc'ed; n: [out]. NULL without memory or dumps. */
static struct dump *dumps_of(const struct run *run, int *n)
{
    const json_t *dumps = json_object_get(run->json, "dumps");
    *n = (int)json_array_size(dumps);
    struct dump *d = *n > 0 ? malloc((size_t)*n * sizeof *d) : NULL;
    for (int i = 0; d && i < *n; i++)
        d[i] = dump_of(json_array_get(dumps, (size_t)i));
    return d;
}

static int slowest_first(const void *a, const void *b)
{
    const struct dump *x = a, *y = b;
    return (x->most_s < y->most_s) - (x->most_s > y->most_s);
}

/* Seconds, or milliseconds where the longest dump takes less than half a second. */
static const struct unit {
    const char *label;
    double per_s;
} units[] = {{"time in the writer in s", 1}, {"time in the writer in ms", 1000}};

static const struct unit *unit_of(const struct dump *d, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, d[i].most_s);
    return &units[most < 0.5];
}

/* Neighbouring dumps as one, so that a long run has at most POINTS_MAX: the slowest, the fastest,
 * and the median of the first. In place; returns how many are left. */
static int thin(struct dump *d, int n)
{
    const int per = (n + POINTS_MAX - 1) / POINTS_MAX;
    int kept = 0;
    for (int i = 0; i < n; i++) {
        if (i % per == 0) {
            d[kept++] = d[i];
            continue;
        }
        struct dump *into = &d[kept - 1];
        if (d[i].most_s > into->most_s) {
            into->most_s = d[i].most_s;
            into->start_s = d[i].start_s;
        }
        into->least_s = fmin(into->least_s, d[i].least_s);
    }
    return kept;
}

static void line(struct figure *f, const char *label, const struct dump *d, int n, size_t member)
{
    const double scale = unit_of(d, n)->per_s;
    figure_series(f, label, n > POINTS_MAX / 2 ? FIGURE_LINE : FIGURE_LINE_POINTS);
    for (int i = 0; i < n; i++) {
        double y;
        memcpy(&y, (const char *)&d[i] + member, sizeof y);
        figure_point(f, d[i].start_s, scale * y);
    }
}

/* One rank has one curve, two have no rank between them. */
static struct figure *timeline(const char *name, const struct cell *c, const struct dump *d, int n)
{
    char writer[CELL_NAME_MAX];
    cell_name(c, writer);
    char title[CELL_NAME_MAX + 32];
    num_print(title, sizeof title, "Dump by dump: %s", writer);
    struct figure *f = figure_new(name, title);
    figure_panel(f, &(struct figure_panel){
                        .x = {.label = "start of the dump, in s after the start of the clock"},
                        .y = {.label = unit_of(d, n)->label, .from_zero = true}});
    line(f, c->ranks > 1 ? "slowest rank" : "the rank", d, n, offsetof(struct dump, most_s));
    if (c->ranks > 2) line(f, "median", d, n, offsetof(struct dump, middle_s));
    if (c->ranks > 1) line(f, "fastest rank", d, n, offsetof(struct dump, least_s));
    return f;
}

/* Whether a note at a dump would stand upon that of a slower one. */
static bool is_crowded(const struct dump *sorted, int n, int i)
{
    double first = INFINITY, last = -INFINITY;
    for (int k = 0; k < n; k++) {
        first = fmin(first, sorted[k].start_s);
        last = fmax(last, sorted[k].start_s);
    }
    bool near = i >= NOTES_MAX;
    for (int k = 0; k < i; k++)
        near = near || fabs(sorted[k].start_s - sorted[i].start_s) < 0.12 * (last - first);
    return near;
}

/* The slowest dumps, named in the figure and as rows of the table. sorted: slowest first. */
static void name_slowest(struct figure *f, struct table *t, const char *writer,
                         const struct dump *sorted, int n)
{
    double *most = malloc((size_t)n * sizeof *most), middle = NAN;
    char note[32];
    for (int i = 0; most && i < n; i++)
        most[i] = sorted[i].most_s;
    if (!most || stat_median(most, n, &middle) < 0) err_clear();
    free(most);
    for (int i = 0; i < n && i < ROWS_MAX; i++) {
        const struct dump *d = &sorted[i];
        num_print(note, sizeof note, "rank %" PRId64, d->rank);
        if (d->rank >= 0 && !is_crowded(sorted, n, i))
            figure_note(f, d->start_s, unit_of(sorted, n)->per_s * d->most_s, note);
        table_cell(t, "%s", writer);
        table_cell(t, "%" PRId64, d->step);
        table_number(t, d->most_s);
        table_number(t, d->most_s / middle);
        table_cell(t, "%" PRId64, d->rank);
        table_cell(t, "%s", d->host);
    }
}

/* The rank that was slowest most often, and how often. */
static int64_t usual_slowest(const struct dump *d, int n, int *times)
{
    int64_t rank = -1;
    *times = 0;
    for (int i = 0; i < n; i++) {
        int count = 0;
        for (int k = 0; k < n; k++)
            count += d[k].rank == d[i].rank;
        if (count > *times) {
            *times = count;
            rank = d[i].rank;
        }
    }
    return rank;
}

static const char *host_of(const struct dump *d, int n, int64_t rank)
{
    for (int i = 0; i < n; i++)
        if (d[i].rank == rank) return d[i].host;
    return "";
}

static void one(struct report *r, struct table *t, const struct cell *c, const char *name)
{
    char writer[CELL_NAME_MAX], caption[CELL_NAME_MAX + 256];
    int n, times;
    struct dump *d = dumps_of(c->typical, &n);
    if (!d) return;
    cell_name(c, writer);
    const int64_t rank = usual_slowest(d, n, &times);
    const char *host = host_of(d, n, rank);
    struct dump *sorted = dumps_of(c->typical, &n);
    struct figure *f = timeline(name, c, d, thin(d, n));
    if (sorted) {
        qsort(sorted, (size_t)n, sizeof *sorted, slowest_first);
        name_slowest(f, t, writer, sorted, n);
    }
    num_print(
        caption, sizeof caption,
        "%s, the run nearest to its median: time that ranks spent in the writer, dump by dump. "
        "Slowest most often: rank %" PRId64 " on %.64s, in %d of %d dumps.",
        writer, rank, host[0] ? host : "this host", times, n);
    page_figure(r->page, f, caption);
    free(sorted);
    free(d);
}

void fig_timelines(struct report *r, const struct group *g, int64_t processors, const char *key)
{
    static const char *const header[] = {
        "writer", "step", "slowest rank's time in s", "times the median dump", "rank", "host"};
    int cell[FIG_WRITERS_MAX];
    char name[64];
    const int n = fig_writers(&r->runs, g, processors, cell);
    num_print(name, sizeof name, "slowest-dumps%s", key);
    struct table *t = table_new(name, "Slowest dumps and ranks");
    for (size_t i = 0; i < sizeof header / sizeof header[0]; i++)
        table_column(t, header[i]);
    for (int i = 0, drawn = 0; i < n && drawn < TIMELINES_MAX; i++) {
        if (r->runs.cell[cell[i]].drops) continue;
        num_print(name, sizeof name, "dumps%s-%d", key, ++drawn);
        one(r, t, &r->runs.cell[cell[i]], name);
    }
    page_table(r->page, t);
}
