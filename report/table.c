/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

enum { COLUMNS_MAX = 24 };

struct cell {
    char *text;
    double value; /* of a number */
    bool is_number;
};

struct table {
    char *name, *caption;
    char *header[COLUMNS_MAX];
    int columns_n, cells_n, room;
    struct cell *cell; /* row by row */
    bool failed;
};

struct table *table_new(const char *name, const char *caption)
{
    struct table *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->name = strdup(name);
    t->caption = strdup(caption);
    t->failed = !t->name || !t->caption;
    return t;
}

void table_free(struct table *t)
{
    if (!t) return;
    for (int i = 0; i < t->columns_n; i++)
        free(t->header[i]);
    for (int i = 0; i < t->cells_n; i++)
        free(t->cell[i].text);
    free(t->cell);
    free(t->name);
    free(t->caption);
    free(t);
}

void table_column(struct table *t, const char *header)
{
    if (!t || t->columns_n == COLUMNS_MAX) return;
    t->header[t->columns_n] = strdup(header);
    t->failed = t->failed || !t->header[t->columns_n];
    t->columns_n++;
}

/* Takes the text. */
static void add(struct table *t, char *text, double value, bool is_number)
{
    if (t->cells_n == t->room) {
        const int room = t->room ? 2 * t->room : 64;
        struct cell *wider = realloc(t->cell, (size_t)room * sizeof *wider);
        if (wider) t->cell = wider;
        if (wider) t->room = room;
    }
    if (!text || t->cells_n == t->room) {
        t->failed = true;
        free(text);
        return;
    }
    t->cell[t->cells_n++] = (struct cell){text, value, is_number};
}

void table_cell(struct table *t, const char *fmt, ...)
{
    va_list args;
    char *text = NULL;
    if (!t) return;
    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0) text = NULL;
    va_end(args);
    add(t, text, NAN, false);
}

void table_value(struct table *t, double x, const char *shown)
{
    if (t) add(t, strdup(shown), x, true);
}

void table_number(struct table *t, double x)
{
    char buf[TEXT_NUMBER_MAX];
    table_value(t, x, text_number(x, buf));
}

bool table_ok(const struct table *t)
{
    return t && !t->failed;
}

int table_rows(const struct table *t)
{
    return t->columns_n > 0 ? (t->cells_n + t->columns_n - 1) / t->columns_n : 0;
}

const char *table_name(const struct table *t)
{
    return t->name;
}

static const struct cell *cell_at(const struct table *t, int row, int column)
{
    static char nothing[] = "";
    static const struct cell empty = {.text = nothing, .value = NAN};
    const int i = row * t->columns_n + column;
    return i < t->cells_n ? &t->cell[i] : &empty;
}

void table_html(const struct table *t, FILE *to)
{
    fputs("<div class=\"table\"><table>\n<caption>", to);
    text_html_prose(to, t->caption);
    fputs("</caption>\n<thead><tr>", to);
    for (int c = 0; c < t->columns_n; c++) {
        fputs("<th scope=\"col\">", to);
        text_html_prose(to, t->header[c]);
        fputs("</th>", to);
    }
    fputs("</tr></thead>\n<tbody>\n", to);
    for (int r = 0; r < table_rows(t); r++) {
        fputs("<tr>", to);
        for (int c = 0; c < t->columns_n; c++) {
            const struct cell *cell = cell_at(t, r, c);
            fputs(cell->is_number ? "<td class=\"n\">" : "<td>", to);
            text_html(to, cell->text);
            fputs("</td>", to);
        }
        fputs("</tr>\n", to);
    }
    fputs("</tbody></table></div>\n", to);
}

void table_markdown(const struct table *t, FILE *to)
{
    text_markdown(to, t->caption);
    fputs("\n\n|", to);
    for (int c = 0; c < t->columns_n; c++) {
        fputc(' ', to);
        text_markdown(to, t->header[c]);
        fputs(" |", to);
    }
    fputs("\n|", to);
    for (int c = 0; c < t->columns_n; c++)
        fputs(cell_at(t, 0, c)->is_number ? "---:|" : "---|", to);
    for (int r = 0; r < table_rows(t); r++) {
        fputs("\n|", to);
        for (int c = 0; c < t->columns_n; c++) {
            fputc(' ', to);
            text_markdown(to, cell_at(t, r, c)->text);
            fputs(" |", to);
        }
    }
    fputs("\n\n", to);
}

void table_csv(const struct table *t, FILE *to)
{
    char buf[NUM_TEXT_MAX];
    for (int c = 0; c < t->columns_n; c++) {
        if (c > 0) fputc(',', to);
        text_csv(to, t->header[c]);
    }
    fputc('\n', to);
    for (int r = 0; r < table_rows(t); r++) {
        for (int c = 0; c < t->columns_n; c++) {
            const struct cell *cell = cell_at(t, r, c);
            if (c > 0) fputc(',', to);
            if (!cell->is_number)
                text_csv(to, cell->text);
            else if (isfinite(cell->value))
                fputs(num_real(cell->value, buf), to);
        }
        fputc('\n', to);
    }
}
