/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/columns.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/plain.h"

/* A column of the picture. */
struct column {
    int gap;   /* bytes of the picture before it that are copied */
    int width; /* of the widest cell */
    bool left;
    const char *before; /* those bytes */
};

static int read_picture(const char *picture, struct column *column)
{
    int n = 0;
    while (*picture) {
        struct column *c = &column[n++];
        ERR_ASSERT(n <= COLUMNS_MAX);
        c->before = picture;
        c->gap = (int)strcspn(picture, "-0123456789");
        picture += c->gap;
        c->left = *picture == '-';
        char *end;
        c->width = (int)strtol(picture + c->left, &end, 10);
        picture = end;
    }
    return n;
}

void columns_begin(struct columns *t, const char *picture)
{
    struct column column[COLUMNS_MAX];
    *t = (struct columns){.picture = picture, .n = read_picture(picture, column)};
}

static void add(struct columns *t, char *text)
{
    if (t->cells_n == t->room) {
        const int room = t->room > 0 ? 2 * t->room : 8 * t->n;
        char **cell = realloc(t->cell, (size_t)room * sizeof *cell);
        if (cell) {
            t->cell = cell;
            t->room = room;
        }
    }
    t->lost = t->lost || !text || t->cells_n == t->room;
    if (t->lost)
        free(text);
    else
        t->cell[t->cells_n++] = plain_text(text);
}

void columns_cell(struct columns *t, const char *fmt, ...)
{
    char *text;
    va_list args;
    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0) text = NULL;
    va_end(args);
    add(t, text);
}

void columns_row(struct columns *t, ...)
{
    va_list args;
    va_start(args, t);
    for (const char *text = va_arg(args, const char *); text; text = va_arg(args, const char *))
        add(t, strdup(text));
    va_end(args);
    while (!t->lost && t->cells_n % t->n != 0)
        add(t, strdup(""));
}

/* Characters of a text in UTF-8. */
static int width_of(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static void print_row(const struct columns *t, const struct column *column, int first, FILE *to)
{
    int blanks = 0; /* that are due before the next text */
    for (int c = 0; c < t->n; c++) {
        const char *text = t->cell[first + c];
        const int pad = column[c].width - width_of(text);
        for (int i = 0; i < column[c].gap; i++) {
            const bool sign = first == 0 && column[c].before[i] != ' ';
            if (sign) fprintf(to, "%*s%c", blanks, "", column[c].before[i]);
            blanks = sign ? 0 : blanks + 1;
        }
        if (!column[c].left) blanks += pad;
        if (*text) {
            fprintf(to, "%*s%s", blanks, "", text);
            blanks = 0;
        }
        if (column[c].left) blanks += pad;
    }
    fputc('\n', to);
}

void columns_print(struct columns *t, FILE *to)
{
    struct column column[COLUMNS_MAX] = {0};
    (void)read_picture(t->picture, column);
    for (int i = 0; i < t->cells_n; i++) {
        struct column *c = &column[i % t->n];
        const int width = width_of(t->cell[i]);
        if (width > c->width) c->width = width;
    }
    if (t->lost) fprintf(to, "(no memory to print this table)\n");
    for (int i = 0; !t->lost && i + t->n <= t->cells_n; i += t->n)
        print_row(t, column, i, to);
    for (int i = 0; i < t->cells_n; i++)
        free(t->cell[i]);
    free(t->cell);
    *t = (struct columns){.picture = t->picture, .n = t->n};
}
