/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of b_eff: bandwidth over message size, methods and patterns compared. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "report/beff.h"

#define BORDER_BYTES 4096 /* where the two halves of the size axis meet */

static struct figure *figure_for(const char *stem, const char *key, const char *title)
{
    char name[64];
    num_print(name, sizeof name, "%s%s", stem, key);
    return figure_new(name, title);
}

/* "64 B", "4 KiB", "98.6 MB": a size for the axis. */
static void tick_size(struct figure *f, double bytes)
{
    static const char *const unit[] = {"B", "KiB", "MiB"};
    char text[32];
    double x = bytes;
    int u = 0;
    for (; x >= 1024 && u < 2; u++)
        x /= 1024;
    num_print(text, sizeof text, x == floor(x) ? "%.0f %s" : "%.1f %s", x, unit[u]);
    figure_tick(f, bytes, text);
}

/* One curve over the sizes of a half, MB/s of a process; at: the member of an entry of by_size. */
static void curve(struct figure *f, const json_t *root, const char *label, const char *at,
                  bool upper)
{
    size_t i;
    const json_t *size;
    const double n = doc_real(root, "system.ranks");
    figure_series(f, label, FIGURE_LINE_POINTS);
    json_array_foreach(doc_at(root, "by_size"), i, size)
    {
        const double bytes = doc_real(size, "message_bytes");
        if (upper ? bytes >= BORDER_BYTES : bytes <= BORDER_BYTES)
            figure_point(f, bytes, doc_real(size, at) / n / BEFF_MB);
    }
}

/* A panel for sizes up to 4 KiB, or from there on: each is a half of the axis on which the mean
 * over sizes is taken. */
static void half(struct figure *f, const json_t *root, bool upper)
{
    static const double ticks[2][4] = {{1, 16, 256, BORDER_BYTES}, {BORDER_BYTES, 65536, 1 << 20}};
    const double last = upper ? doc_real(root, "memory.lmax_bytes") : INFINITY;
    figure_panel(f, &(struct figure_panel){.title = upper ? "from 4 KiB to L_max" : "1 B to 4 KiB",
                                           .x = {.label = "message size", .log = 2},
                                           .y = {.label = "MB/s per process", .log = 10}});
    for (int i = 0; i < 4; i++)
        if (ticks[upper][i] > 0 && ticks[upper][i] < last / 3) tick_size(f, ticks[upper][i]);
    if (upper) tick_size(f, last);
}

void beff_fig_sizes(struct report *r, const json_t *root, const char *key)
{
    struct figure *f = figure_for("beff-sizes", key, "Bandwidth against message size");
    for (int upper = 0; upper < 2; upper++) {
        half(f, root, upper);
        curve(f, root, "rings", "rings_bytes_per_s", upper);
        curve(f, root, "random", "random_bytes_per_s", upper);
    }
    page_figure(
        r->page, f,
        "Bandwidth of a process while all of them send, geometric means over the patterns, "
        "best method. The sizes are as far apart as they count: b_eff is the mean height of "
        "these curves. Where random lies below rings, neighbours are nearer than others.");
}

void beff_fig_methods(struct report *r, const json_t *root, const char *key)
{
    static const char *const method[] = {"sendrecv", "nonblocking", "alltoallv"};
    char at[64];
    struct figure *f = figure_for("beff-methods", key, "Methods against message size");
    for (int upper = 0; upper < 2; upper++) {
        half(f, root, upper);
        for (int m = 0; m < 3; m++) {
            num_print(at, sizeof at, "by_method.%s.all_bytes_per_s", method[m]);
            curve(f, root, method[m], at, upper);
        }
    }
    page_figure(r->page, f,
                "The same, rings and random patterns together, by method: MPI_Sendrecv, "
                "MPI_Isend with MPI_Irecv, MPI_Alltoallv.");
}

/* MB/s of a process that takes part: mean over sizes, or at the last one. */
static double pattern_value(const json_t *pattern, bool at_lmax)
{
    const json_t *sizes = doc_at(pattern, "by_size_bytes_per_s");
    const size_t n = json_array_size(sizes);
    const json_t *last = n > 0 ? json_array_get(sizes, n - 1) : NULL;
    const double bytes_per_s = at_lmax && json_is_number(last) ? json_number_value(last)
                               : at_lmax                       ? NAN
                                                               : doc_real(pattern, "bytes_per_s");
    /* In a ping-pong one of the two sends at a time. */
    const bool alone = strcmp(doc_text(pattern, "name"), "ping-pong") == 0;
    return bytes_per_s / (alone ? 1 : doc_real(pattern, "processes_n")) / BEFF_MB;
}

/* The random patterns are one row, from the least to the most; x: the row. */
static void random_row(struct figure *f, const json_t *patterns, double x, bool at_lmax)
{
    size_t i;
    const json_t *p;
    double low = INFINITY, high = -INFINITY, logs = 0;
    int n = 0;
    json_array_foreach(patterns, i, p)
    {
        const double value = pattern_value(p, at_lmax);
        if (strcmp(doc_text(p, "kind"), "random") != 0 || !(value > 0)) continue;
        low = fmin(low, value);
        high = fmax(high, value);
        logs += log(value);
        n++;
    }
    if (n > 0) figure_interval(f, x, exp(logs / n), low, high);
}

/* The name of a pattern; of two processes all rings are the same, and get a number. */
static void pattern_tick(struct figure *f, const json_t *patterns, size_t at, double x)
{
    char text[80];
    const char *name = doc_text(json_array_get(patterns, at), "name");
    int same = 0, number = 0;
    for (size_t i = 0; i < json_array_size(patterns); i++) {
        if (strcmp(doc_text(json_array_get(patterns, i), "name"), name) != 0) continue;
        same++;
        if (i <= at) number++;
    }
    if (same > 1)
        num_print(text, sizeof text, "%s, no. %d", name, number);
    else
        num_print(text, sizeof text, "%s", name);
    figure_tick(f, x, text);
}

static void pattern_rows(struct figure *f, const json_t *patterns, bool at_lmax)
{
    size_t i;
    const json_t *p;
    double x = 1;
    bool random = false;
    figure_series(f, at_lmax ? "at L_max" : "mean over sizes", FIGURE_POINTS);
    json_array_foreach(patterns, i, p)
    {
        const bool is_random = strcmp(doc_text(p, "kind"), "random") == 0;
        if (is_random && random) continue;
        if (is_random) {
            random_row(f, patterns, x, at_lmax);
            random = true;
        } else {
            figure_point(f, x, pattern_value(p, at_lmax));
        }
        if (!at_lmax && is_random) figure_tick(f, x, "random");
        if (!at_lmax && !is_random) pattern_tick(f, patterns, i, x);
        x++;
    }
}

void beff_fig_patterns(struct report *r, const json_t *root, const char *key)
{
    const json_t *patterns = doc_at(root, "patterns");
    struct figure *f = figure_for("beff-patterns", key, "Patterns");
    figure_panel(f, &(struct figure_panel){.x = {.label = "pattern"},
                                           .y = {.label = "MB/s per process", .log = 10},
                                           .across = true});
    pattern_rows(f, patterns, false);
    pattern_rows(f, patterns, true);
    page_figure(r->page, f,
                "Bandwidth of a process that takes part, best method: rings, random patterns "
                "(geometric mean, least and most), then the patterns that are not in b_eff. A ring "
                "is named by its rings: ring-2*4&+1 has two rings of four, the others of one more; "
                "ring-1*2fix is one ring of two. In the ping-pong one process sends at a time.");
}
