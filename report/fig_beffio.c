/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sections about nht1-beffio: for each result the value, its validity, the bandwidths over
 * chunk sizes as in [RK01] figure 3, and over partitions as in figure 4. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "report/report.h"

#define MB   1e6
#define ONCE "read by one call only"

/* One result. */
struct result {
    struct report *r;
    const json_t *root, *partitions;
    char key[16]; /* tells its figures from other results' */
};

static const json_t *item(const json_t *array, size_t i)
{
    return json_array_get(array, i);
}

static struct figure *figure_for(const struct result *b, const char *stem, const char *title)
{
    char name[64];
    num_print(name, sizeof name, "beffio-%s%s", stem, b->key);
    return figure_new(name, title);
}

static double procs_of(const json_t *partition)
{
    return (double)doc_int(partition, "procs", 0);
}

/* --- over chunk sizes ------------------------------------------------------------------------ */

/* Where a position of the table stands on the axis; NaN for none. */
static double axis_x(const struct result *b, int64_t position)
{
    const json_t *axis = doc_at(b->root, "axis");
    for (size_t i = 0; i < json_array_size(axis); i++)
        if (doc_int(item(axis, i), "position", 0) == position) return doc_real(item(axis, i), "x");
    return NAN;
}

static void axis_ticks(const struct result *b, struct figure *f)
{
    const json_t *axis = doc_at(b->root, "axis");
    for (size_t i = 0; i < json_array_size(axis); i++) {
        const char *name = doc_text(item(axis, i), "name");
        const char *plus = strchr(name, '+');
        figure_tick(f, doc_real(item(axis, i), "x"), plus ? plus : name);
    }
}

/* The pattern of a type at a position; NULL when there is none that is right. */
static const json_t *pattern_at(const json_t *type, int64_t position)
{
    const json_t *patterns = doc_at(type, "patterns");
    for (size_t i = 0; i < json_array_size(patterns); i++) {
        const json_t *p = item(patterns, i);
        if (doc_int(p, "position", 0) == position && doc_int(p, "wrong_n", 0) == 0) return p;
    }
    return NULL;
}

enum { POSITIONS = 7 };

static void chunk_series(const struct result *b, struct figure *f, const json_t *type)
{
    figure_series(f, doc_text(type, "name"), FIGURE_LINE_POINTS);
    for (int64_t pos = 1; pos <= POSITIONS; pos++)
        figure_point(f, axis_x(b, pos), doc_real(pattern_at(type, pos), "bytes_per_s") / MB);
}

static void chunk_rings(const struct result *b, struct figure *f, const json_t *types)
{
    figure_series(f, ONCE, FIGURE_RINGS);
    for (size_t t = 0; t < json_array_size(types); t++)
        for (int64_t pos = 1; pos <= POSITIONS; pos++) {
            const json_t *p = pattern_at(item(types, t), pos);
            if (doc_true(p, "single_read"))
                figure_point(f, axis_x(b, pos), doc_real(p, "bytes_per_s") / MB);
        }
}

static void chunk_panel(const struct result *b, struct figure *f, const json_t *access)
{
    const json_t *types = doc_at(access, "types");
    figure_panel(f, &(struct figure_panel){.title = doc_text(access, "access"),
                                           .x = {.label = "chunk size on disk in bytes"},
                                           .y = {.label = "bandwidth in MB/s", .log = 10}});
    axis_ticks(b, f);
    /* Pairs stand closer than their names, which take room from the key. */
    figure_gnuplot(f, "set xtics rotate by 90 right; set bmargin 12");
    for (size_t t = 0; t < json_array_size(types); t++)
        chunk_series(b, f, item(types, t));
    chunk_rings(b, f, types);
}

/* How many partitions up to this one have its number of processes: -N may name one twice. */
static int same_before(const struct result *b, size_t at)
{
    int same = 0;
    for (size_t i = 0; i <= at; i++)
        if (procs_of(item(b->partitions, i)) == procs_of(item(b->partitions, at))) same++;
    return same;
}

static void chunk_figure(const struct result *b, size_t at)
{
    const json_t *partition = item(b->partitions, at);
    const json_t *accesses = doc_at(partition, "accesses");
    char stem[32], title[96];
    const int n = (int)procs_of(partition);
    const int same = same_before(b, at);
    int used = num_print(stem, sizeof stem, "chunks-%d", n);
    if (same > 1) num_print(stem + used, sizeof stem - (size_t)used, "-again%d", same - 1);
    num_print(title, sizeof title, "Bandwidth over chunk size, %d process%s", n,
              n == 1 ? "" : "es");
    struct figure *f = figure_for(b, stem, title);
    for (size_t a = 0; a < json_array_size(accesses); a++)
        chunk_panel(b, f, item(accesses, a));
    page_figure(
        b->r->page, f,
        "Bandwidth of all processes together for each pattern type, over the chunk size, on "
        "a pseudo-logarithmic axis; +8: 8 bytes more than the size to its left, which are "
        "the non-wellformed sizes.");
}

/* --- over partitions ------------------------------------------------------------------------- */

static void partition_panel(struct figure *f, const char *title)
{
    figure_panel(f, &(struct figure_panel){.title = title,
                                           .x = {.label = "processes", .log = 2},
                                           .y = {.label = "bandwidth in MB/s", .log = 10}});
}

static void partition_ticks(const struct result *b, struct figure *f)
{
    char buf[NUM_TEXT_MAX];
    for (size_t i = 0; i < json_array_size(b->partitions); i++) {
        const double n = procs_of(item(b->partitions, i));
        figure_tick(f, n, num_real(n, buf));
    }
}

/* Member of the d-th value of a partition. */
static const json_t *value_of(const json_t *partition, size_t d)
{
    return item(doc_at(partition, "values"), d);
}

static void value_series(const struct result *b, struct figure *f, size_t d)
{
    char label[64];
    const json_t *first = value_of(item(b->partitions, 0), d);
    num_print(label, sizeof label, "definition %s%s", doc_text(first, "definition"),
              doc_true(first, "headline") ? "" : " (computed)");
    figure_series(f, label, FIGURE_LINE_POINTS);
    for (size_t i = 0; i < json_array_size(b->partitions); i++) {
        const json_t *p = item(b->partitions, i);
        figure_point(f, procs_of(p), doc_real(value_of(p, d), "bytes_per_s") / MB);
    }
}

static void values_figure(const struct result *b)
{
    struct figure *f = figure_for(b, "partitions", "b_eff_io over partition sizes");
    partition_panel(f, NULL);
    partition_ticks(b, f);
    for (size_t d = 0; d < 3; d++)
        value_series(b, f, d);
    page_figure(
        b->r->page, f,
        "The value of each partition under the three definitions. The run was scheduled for "
        "one of them; the others are computed from the same measurements. The value of the "
        "system is the largest.");
}

static const json_t *type_of(const json_t *partition, size_t access, size_t type)
{
    return item(doc_at(item(doc_at(partition, "accesses"), access), "types"), type);
}

static void types_panel(const struct result *b, struct figure *f, size_t access)
{
    const json_t *first = item(b->partitions, 0);
    partition_panel(f, doc_text(item(doc_at(first, "accesses"), access), "access"));
    partition_ticks(b, f);
    for (size_t t = 0; t < 5; t++) {
        figure_series(f, doc_text(type_of(first, access, t), "name"), FIGURE_LINE_POINTS);
        for (size_t i = 0; i < json_array_size(b->partitions); i++) {
            const json_t *p = item(b->partitions, i);
            figure_point(f, procs_of(p), doc_real(type_of(p, access, t), "bytes_per_s") / MB);
        }
    }
}

static void types_figure(const struct result *b)
{
    struct figure *f = figure_for(b, "types", "Pattern types over partition sizes");
    for (size_t a = 0; a < 3; a++)
        types_panel(b, f, a);
    page_figure(b->r->page, f,
                "Bytes over time from opening till closing of each type's file, all patterns.");
}

/* --- text and table -------------------------------------------------------------------------- */

static void table_values(const struct result *b)
{
    char name[32];
    num_print(name, sizeof name, "beffio%s", b->key);
    struct table *t = table_new(name, "Values of the partitions, in MB/s");
    const char *const heads[] = {"processes", "write", "rewrite", "read", "0.5", "1.x", "2.1"};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        table_column(t, heads[i]);
    for (size_t i = 0; i < json_array_size(b->partitions); i++) {
        const json_t *p = item(b->partitions, i);
        table_cell(t, "%d", (int)procs_of(p));
        for (size_t a = 0; a < 3; a++)
            table_number(t, doc_real(item(doc_at(p, "accesses"), a), "bytes_per_s") / MB);
        for (size_t d = 0; d < 3; d++)
            table_number(t, doc_real(value_of(p, d), "bytes_per_s") / MB);
    }
    page_table(b->r->page, t);
}

/* The partition that the value of the system comes from. */
static const json_t *best_partition(const struct result *b)
{
    for (size_t i = 0; i < json_array_size(b->partitions); i++)
        if (procs_of(item(b->partitions, i)) == doc_real(b->root, "b_eff_io.procs"))
            return item(b->partitions, i);
    return NULL;
}

static void criteria_text(const struct result *b)
{
    const json_t *best = best_partition(b), *list = doc_at(best, "criteria");
    const bool valid = doc_true(best, "valid");
    page_text(b->r->page, valid ? PAGE_GOOD : PAGE_BAD, "%s by definition %s.",
              valid ? "Valid" : "Not valid", doc_text(b->root, "b_eff_io.definition"));
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(doc_text(item(list, i), "verdict"), "met") != 0)
            page_text(b->r->page, PAGE_CARE, "%s: %s.", doc_text(item(list, i), "verdict"),
                      doc_text(item(list, i), "words"));
    page_text(b->r->page, PAGE_PLAIN,
              "The memory of the system takes %.3g minutes to write and %.3g minutes to read; the "
              "coffee-cup rule allows 10.",
              doc_real(best, "coffee_cup.write_min"), doc_real(best, "coffee_cup.read_min"));
}

static void section(const struct result *b)
{
    char id[32], title[128];
    num_print(id, sizeof id, "beffio%s", b->key);
    const int n = (int)doc_int(b->root, "b_eff_io.procs", 0);
    num_print(title, sizeof title, "b_eff_io = %.1f MB/s on %d process%s, definition %s",
              doc_real(b->root, "b_eff_io.bytes_per_s") / MB, n, n == 1 ? "" : "es",
              doc_text(b->root, "b_eff_io.definition"));
    page_section(b->r->page, 2, id, title);
    criteria_text(b);
    table_values(b);
    for (size_t i = 0; i < json_array_size(b->partitions); i++)
        if (doc_true(item(b->partitions, i), "completed")) chunk_figure(b, i);
    values_figure(b);
    types_figure(b);
}

int part_beffio(struct report *r)
{
    int count = 0;
    for (int i = 0; i < r->docs->n; i++) {
        const struct doc *doc = &r->docs->doc[i];
        if (strcmp(doc->kind, "nht1-beffio") != 0) continue;
        struct result b = {
            .r = r, .root = doc->root, .partitions = doc_at(doc->root, "partitions")};
        if (!json_is_object(doc_at(doc->root, "b_eff_io"))) continue;
        if (count++ > 0) num_print(b.key, sizeof b.key, "-%d", count);
        section(&b);
    }
    return 0;
}
