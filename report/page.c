/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/page.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/stop.h"
#include "report/page_impl.h"

struct page *page_new(const char *title)
{
    struct page *p = calloc(1, sizeof *p);
    if (p) p->title = strdup(title);
    if (p && p->title) return p;
    free(p);
    return NULL;
}

static void part_free(struct page_part *part)
{
    free(part->text);
    free(part->id);
    table_free(part->table);
    figure_free(part->figure);
}

void page_free(struct page *p)
{
    if (!p) return;
    for (int i = 0; i < p->parts_n; i++)
        part_free(&p->part[i]);
    free(p->part);
    free(p->title);
    free(p);
}

/* Takes what the part owns. */
static void add(struct page *p, struct page_part part)
{
    if (p && p->parts_n == p->room) {
        const int room = p->room ? 2 * p->room : 64;
        struct page_part *wider = realloc(p->part, (size_t)room * sizeof *wider);
        if (wider) p->part = wider;
        if (wider) p->room = room;
    }
    if (!p || !part.text || p->parts_n == p->room) {
        if (p) p->failed = true;
        part_free(&part);
        return;
    }
    p->part[p->parts_n++] = part;
}

void page_section(struct page *p, int level, const char *id, const char *title)
{
    char *copy = strdup(id);
    add(p,
        (struct page_part){
            .kind = PAGE_SECTION, .level = level, .id = copy, .text = copy ? strdup(title) : NULL});
}

void page_text(struct page *p, enum page_mark mark, const char *fmt, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0) text = NULL;
    va_end(args);
    add(p, (struct page_part){.kind = PAGE_PARAGRAPH, .mark = mark, .text = text});
}

void page_code(struct page *p, const char *text)
{
    add(p, (struct page_part){.kind = PAGE_CODE, .text = strdup(text)});
}

void page_table(struct page *p, struct table *t)
{
    if (table_ok(t) && table_rows(t) == 0) {
        table_free(t);
        return;
    }
    add(p, (struct page_part){
               .kind = PAGE_TABLE, .table = t, .text = table_ok(t) ? strdup("") : NULL});
}

void page_figure(struct page *p, struct figure *f, const char *caption)
{
    if (f && !figure_has_points(f)) {
        figure_free(f);
        return;
    }
    add(p,
        (struct page_part){.kind = PAGE_FIGURE, .figure = f, .text = f ? strdup(caption) : NULL});
}

bool page_ok(const struct page *p)
{
    return p && !p->failed;
}

int page_figures(const struct page *p)
{
    int n = 0;
    for (int i = 0; i < p->parts_n; i++)
        n += p->part[i].kind == PAGE_FIGURE;
    return n;
}

int page_draw(struct page *p, const char *directory, bool draw, enum progress_mode mode)
{
    struct progress *shown =
        draw ? progress_begin(mode, "Drawing", "figure", page_figures(p)) : NULL;
    int rc = 0, done = 0;
    for (int i = 0; rc >= 0 && i < p->parts_n; i++) {
        if (p->part[i].kind != PAGE_FIGURE) continue;
        rc = figure_make(p->part[i].figure, directory, draw);
        progress_update(shown, ++done);
        if (stop_requested()) {
            err_clear();
            rc = err_set(ERR_INTERRUPT, "interrupted; nothing was written");
        }
    }
    progress_end(shown);
    return rc;
}

static int csv_file(const struct table *t, const char *directory)
{
    struct text text;
    char *path = text_print("%s/%s.csv", directory, table_name(t));
    int rc = path ? text_begin(&text) : err_set(ERR_NOMEM, "no memory for the name of a table");
    if (rc == 0) {
        table_csv(t, text.to);
        rc = text_save(&text, path);
    }
    free(path);
    return rc;
}

int page_csv(const struct page *p, const char *directory)
{
    for (int i = 0; i < p->parts_n; i++)
        if (p->part[i].kind == PAGE_TABLE) TRY(csv_file(p->part[i].table, directory));
    return 0;
}
